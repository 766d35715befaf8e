"""A sampled Gram matrix in parts of members x samples, with the numbers of `hardness verify`.

Part 0 compares the layers of a few members with the label formula. Every other part is one strip
of members against all members from the strip on, over one run of the samples: strip by strip, and
for each the samples in turn.
"""

import base64
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hardness.lower.correlation import (
    SampledGram,
    deviation,
    feed,
    require_confidence,
    require_used,
)
from hardness.lower.formula import check_layer
from hardness.lower.grams import Grams, grams_of
from hardness.lower.verify import Comparison, compare, fresh
from hardness.runs.rows import ArtifactRow, PartRow
from hardness.sweep.jobs import Job, content_key
from instances.errors import ToolkitError, UsageError
from instances.family import Secret
from instances.spec import parse_stored
from instances.strict import loads, one_line

# A part takes some ten seconds: products of bits are a hundred times as fast as of floats.
_BITS = (1 << 22, 1 << 24)  # products in a strip, tokens in a run
_FLOATS = (1 << 20, 1 << 21)
_STEP = 64  # rows of a strip are a multiple of it
_INT32 = 1 << 31


@dataclass(frozen=True, kw_only=True)
class _Sampled:
    """Members of a family, drawn by a seed (all of them where there are fewer)."""

    kind: ClassVar[str]
    label: ClassVar[str] = "gram"

    spec: str
    members: int
    seed: int
    revision: int  # of the family

    @property
    def key(self) -> str:
        """The content key."""
        return content_key(self.kind, self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Write all that the result depends on."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(**data)

    @property
    def grams(self) -> Grams:
        """The family's; raises ToolkitError where it is not of the revision that was planned."""
        family = parse_stored(self.spec)
        if family.revision != self.revision:
            raise ToolkitError(
                f"{self.spec} has revision {family.revision} here and {self.revision} where the "
                "sweep was planned: install the same version everywhere"
            )
        return grams_of(family)

    @property
    def chosen(self) -> tuple[Secret, ...]:
        """The members, those of `verify`."""
        return _members(self.spec, self.members, self.seed)


@lru_cache(maxsize=4)
def _members(spec: str, members: int, seed: int) -> tuple[Secret, ...]:
    return grams_of(parse_stored(spec)).choose(members, seed)


@dataclass(frozen=True, kw_only=True)
class LayerPart(_Sampled, Job):
    """The real layers of the first few members against the label formula."""

    kind: ClassVar[str] = "gram-layer"

    samples: int

    def do(self) -> dict[str, Any]:
        """Compare: {"content": base64 of JSON}."""
        family = self.grams.family
        found = check_layer(family, self.chosen, fresh(family, self.seed), self.samples)
        return _content(json.dumps(found.to_dict(), sort_keys=True).encode())


@dataclass(frozen=True, kw_only=True)
class BlockPart(_Sampled, Job):
    """Sums of products of members row .. stop-1 with all from `row` on, over a run of tokens."""

    kind: ClassVar[str] = "gram-block"

    row: int
    stop: int
    start: int  # the first token
    count: int

    def do(self) -> dict[str, Any]:
        """Add up: {"content": base64 of .npz}, the sums and how many tokens were used."""
        grams, chosen = self.grams, self.chosen
        add = grams.adder(chosen[self.row :], self.stop - self.row)
        draw = fresh(grams.family, self.seed)
        used = feed(grams.family, add, draw, self.start, self.count)
        return _content(pack({"used": np.array(used), **add.parts()}))


def _content(content: bytes) -> dict[str, Any]:
    return {"content": base64.b64encode(content).decode()}


@dataclass(frozen=True, kw_only=True)
class GramCut(_Sampled):
    """A sampled Gram matrix, cut: strips of `rows` members, runs of `run` tokens."""

    kind: ClassVar[str] = "gram"

    samples: int
    confidence: float
    rows: int
    run: int

    @property
    def strips(self) -> range:
        """The first members of the strips."""
        return range(0, len(self.chosen), self.rows)

    @property
    def runs(self) -> range:
        """The first tokens of the runs."""
        return range(0, self.samples, self.run)

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return 1 + len(self.strips) * len(self.runs)

    def part(self, index: int) -> Job:
        """Make a part: the check of layers, then strip by strip."""
        sampled = {name: getattr(self, name) for name in ("spec", "members", "seed", "revision")}
        if not index:
            return LayerPart(**sampled, samples=self.samples)
        strip, run = divmod(index - 1, len(self.runs))
        row, start = self.strips[strip], self.runs[run]
        return BlockPart(
            **sampled,
            row=row,
            stop=min(row + self.rows, len(self.chosen)),
            start=start,
            count=min(self.run, self.samples - start),
        )

    def content(self, result: dict[str, Any]) -> bytes:
        """Keep the bytes that a part gave."""
        return base64.b64decode(result["content"], validate=True)

    def assemble(self, parts: Iterator[PartRow]) -> ArtifactRow:
        """Add up the runs of each strip in turn, and compare it with the certified correlations.

        Raises ToolkitError where a part is missing or damaged, UsageError where no token was used.
        """
        contents = _in_order(parts, self.key)
        layer = loads(next(contents))
        arrays = {"members": npy(np.array(self.chosen, np.int64))}
        used: int | None = None
        found = Comparison(worst=0.0, disagreements=0, pairs=())
        radius = 0.0
        for row in self.strips:
            try:
                sums, there = self._strip(contents)
                if used not in (None, there):
                    raise ToolkitError(f"parts of {self.key} do not belong together")
                used = there
                compared, radius = self._compare(row, sums, used)
            except ToolkitError:
                raise
            except (LookupError, TypeError, ValueError) as error:
                said = one_line(error)
                raise ToolkitError(f"parts of {self.key} are damaged: {said}") from error
            found += compared
            arrays |= {f"{name}_{row}": npy(values) for name, values in sums.items()}
        return ArtifactRow(
            key=self.key,
            kind=self.kind,
            spec=self.spec,
            content=self._record(layer, used or 0, radius, found),
            arrays=arrays,
        )

    def _strip(self, contents: Iterator[bytes]) -> tuple[dict[str, NDArray[Any]], int]:
        """Add up the runs of a strip, in their order: sums, and the tokens used."""
        sums: dict[str, NDArray[Any]] = {}
        used = 0
        for _ in self.runs:
            given = unpack(next(contents))
            used += int(given.pop("used"))
            for name, values in given.items():
                if name in sums:
                    sums[name] += values
                else:
                    sums[name] = values.astype(np.result_type(values, np.int64))
        return sums, used

    def _compare(
        self, row: int, sums: dict[str, NDArray[Any]], used: int
    ) -> tuple[Comparison, float]:
        """Compare a strip that begins at a member; with the radius."""
        require_used(used, self.samples)
        grams, chosen = self.grams, self.chosen
        rows = len(sums["products"])
        add = grams.adder(chosen[row:], rows)
        radius = deviation(add, len(chosen), used, self.confidence) + grams.bias
        gram = add.value(sums, used) / used
        wanted = grams.exact(chosen[row:], rows)
        return compare(gram, wanted, radius, chosen[row:]), radius

    def _record(
        self, layer: dict[str, Any], used: int, radius: float, found: Comparison
    ) -> dict[str, Any]:
        """Write what `verify` writes, with where the matrix stands."""
        size = len(self.chosen)
        return {
            "spec": self.spec,
            "agrees": not found.disagreements and layer["agrees"],
            "members": size,
            "pairs": size * (size + 1) // 2,
            "samples": self.samples,
            "samples_used": used,
            "confidence": self.confidence,
            "inequality": SampledGram.inequality,
            "radius": radius,
            "largest_deviation": found.worst,
            "disagreements": found.disagreements,
            "disagreeing_pairs": [pair.to_dict() for pair in found.pairs],
            "layer": layer,
            "seed": self.seed,
            "strips": list(self.strips),
            "arrays": "products_I (rows, M - I): sums over the samples used, members I.. against "
            "members I.., entries below the diagonal left 0; sums_I (M - I) of each member alone, "
            "where products are of signs +-1: B = middle + half s",
        }


def gram_cut(
    spec: str, members: int, samples: int, confidence: float = 0.99, seed: int = 0
) -> GramCut:
    """Cut a sampled Gram matrix; raises UsageError for what `verify` refuses.

    >>> cut = gram_cut("parity:d=64,m=8", members=4096, samples=10**8)
    >>> cut.parts, cut.rows, cut.run == 2**24
    (25, 1024, True)
    """
    family = parse_stored(spec)
    grams = grams_of(family)
    require_confidence(confidence)
    if samples < 1:
        raise UsageError(f"samples={samples} given: at least 1 is needed")
    chosen = _members(family.spec, members, seed)
    size = len(chosen)
    products, run = _BITS if grams.adder(chosen[:1]).whole else _FLOATS
    rows = max(1, min(products // size, size + _STEP - 1) // _STEP) * _STEP
    return GramCut(
        spec=family.spec,
        members=members,
        seed=seed,
        revision=family.revision,
        samples=samples,
        confidence=confidence,
        rows=rows,
        run=run,
    )


def _in_order(parts: Iterator[PartRow], key: str) -> Iterator[bytes]:
    """Give the contents of parts 0, 1, ...; raises ToolkitError where the next is not there."""
    expected = 0
    for row in parts:
        if (row.artifact, row.number) != (key, expected):
            break
        yield row.content
        expected += 1
    raise ToolkitError(f"part {expected} of {key} is missing: run the sweep again with --resume")


def npy(values: NDArray[Any]) -> bytes:
    """Write an array as a .npy file; integers as int32 where that holds them.

    >>> np.load(io.BytesIO(npy(np.arange(3)))).dtype
    dtype('int32')
    """
    out = io.BytesIO()
    if values.dtype == np.int64 and np.abs(values).max(initial=0) < _INT32:
        values = values.astype(np.int32)
    np.lib.format.write_array(out, np.asarray(values, order="C"), allow_pickle=False)
    return out.getvalue()


def pack(arrays: dict[str, NDArray[Any]]) -> bytes:
    """Write arrays as a .npz file, lightly compressed: the same bytes for the same arrays.

    >>> unpack(pack({"a": np.arange(3)}))["a"].tolist()
    [0, 1, 2]
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), npy(values), zipfile.ZIP_DEFLATED, 1)
    return out.getvalue()


def unpack(content: bytes) -> dict[str, NDArray[Any]]:
    """Read what `pack` wrote; raises ToolkitError for bytes that are damaged."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (ValueError, OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise ToolkitError(f"arrays that were kept are damaged: {error}") from error
