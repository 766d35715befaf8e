"""A sampled Gram matrix in blocks of members x samples, with the numbers of `hardness verify`.

Part 0 compares the layers of a few members with the label formula. Every other part is one strip
of members against all members from the strip on, over one run of the samples; strip by strip, and
for each the samples in turn.
"""

import base64
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.lower.correlation import (
    SampledGram,
    deviation,
    require_confidence,
    require_used,
)
from hardness.lower.grams import grams_of
from hardness.lower.verify import Comparison, compare
from hardness.runs.rows import PartRow, WholeRow
from hardness.sweep.jobs.arrays import npy, unpack
from hardness.sweep.jobs.blocks import BlockPart, LayerPart, Sampling
from hardness.sweep.jobs.job import Job, content_key
from instances.errors import ToolkitError, UsageError
from instances.spec import parse_stored
from instances.strict import loads

# A part takes some ten seconds: products of bits are a hundred times as fast as of floats.
_BITS = (1 << 22, 1 << 24)  # products in a strip, tokens in a run
_FLOATS = (1 << 20, 1 << 21)
_STEP = 64  # rows of a strip are a multiple of it


@dataclass(frozen=True, kw_only=True)
class GramCut:
    """A sampled Gram matrix, cut: strips of `rows` members, runs of `run` tokens."""

    kind: ClassVar[str] = "gram"
    label: ClassVar[str] = "gram"

    of: Sampling
    samples: int
    confidence: float
    rows: int
    run: int

    @property
    def spec(self) -> str:
        """The family."""
        return self.of.spec

    @property
    def key(self) -> str:
        """The content key of the matrix."""
        return content_key(self.kind, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write what the matrix depends on."""
        return {
            **asdict(self.of),
            "samples": self.samples,
            "confidence": self.confidence,
            "rows": self.rows,
            "run": self.run,
        }

    @property
    def strips(self) -> range:
        """The first members of the strips."""
        return range(0, len(self.of.chosen), self.rows)

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
        if not index:
            return LayerPart(of=self.of, samples=self.samples)
        strip, run = divmod(index - 1, len(self.runs))
        row, start = self.strips[strip], self.runs[run]
        return BlockPart(
            of=self.of,
            row=row,
            stop=min(row + self.rows, len(self.of.chosen)),
            start=start,
            count=min(self.run, self.samples - start),
        )

    def content(self, result: dict[str, Any]) -> bytes:
        """Keep the bytes that a part gave."""
        return base64.b64decode(result["content"], validate=True)

    def assemble(self, parts: Iterator[PartRow]) -> WholeRow:
        """Add up the runs of each strip in turn, and compare it with the certified correlations.

        Raises ToolkitError where a part is missing or damaged, UsageError where no token was used.
        """
        contents = _in_order(parts, self.key)
        layer = loads(next(contents))
        arrays = {"members": npy(np.array(self.of.chosen, np.int64))}
        used: int | None = None
        found = Comparison(worst=0.0, disagreements=0, pairs=())
        radius = 0.0
        for row in self.strips:
            sums, there = self._strip(contents)
            if used not in (None, there):
                raise ToolkitError(f"parts of {self.key} do not belong together")
            used = there
            compared, radius = self._compare(row, sums, used)
            found += compared
            arrays |= {f"{name}_{row}": npy(values) for name, values in sums.items()}
        return WholeRow(
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
        grams, chosen = self.of.grams, self.of.chosen
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
        size = len(self.of.chosen)
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
            "disagreeing_pairs": [pair.to_json() for pair in found.pairs],
            "layer": layer,
            "seed": self.of.seed,
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
    of = Sampling(spec=family.spec, members=members, seed=seed, revision=family.revision)
    size = len(of.chosen)
    products, run = _BITS if grams.adder(of.chosen[:1]).whole else _FLOATS
    rows = max(1, min(products // size, size + _STEP - 1) // _STEP) * _STEP
    return GramCut(of=of, samples=samples, confidence=confidence, rows=rows, run=run)


def _in_order(parts: Iterator[PartRow], whole: str) -> Iterator[bytes]:
    """Give the contents of parts 0, 1, ...; raises ToolkitError where the next is not there."""
    expected = 0
    for row in parts:
        if (row.whole, row.index) != (whole, expected):
            break
        yield row.content
        expected += 1
    raise ToolkitError(f"part {expected} of {whole} is missing: run the sweep again with --resume")
