"""Parts of a sampled Gram matrix: sums of products of a strip of members, over a run of tokens."""

import base64
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from hardness.lower.correlation import feed
from hardness.lower.formula import check_layer
from hardness.lower.grams import Grams, grams_of
from hardness.lower.verify import fresh
from hardness.sweep.jobs.arrays import pack
from hardness.sweep.jobs.job import content_key
from instances.errors import ToolkitError
from instances.family import Secret
from instances.spec import parse_stored


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What is sampled: `members` members of a family (fewer where there are fewer), by a seed."""

    spec: str
    members: int
    seed: int
    revision: int  # of the family

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


@dataclass(frozen=True, kw_only=True)
class LayerPart:
    """The real layers of the first few members against the label formula."""

    kind: ClassVar[str] = "gram-layer"
    label: ClassVar[str] = "gram"

    of: Sampling
    samples: int

    @property
    def key(self) -> str:
        """The content key of the part."""
        return content_key(self.kind, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write the part."""
        return {**asdict(self.of), "samples": self.samples}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "LayerPart":
        """Read a part."""
        samples, of = _split(data, "samples")
        return LayerPart(of=Sampling(**of), **samples)

    def do(self) -> dict[str, Any]:
        """Compare: {"content": base64 of JSON}."""
        family = self.of.grams.family
        found = check_layer(family, self.of.chosen, fresh(family, self.of.seed), self.samples)
        return _text(json.dumps(found.to_json(), sort_keys=True).encode())


@dataclass(frozen=True, kw_only=True)
class BlockPart:
    """Sums of products of members row .. stop-1 with all from `row` on, over a run of tokens."""

    kind: ClassVar[str] = "gram-block"
    label: ClassVar[str] = "gram"

    of: Sampling
    row: int
    stop: int
    start: int  # the first token
    count: int

    @property
    def key(self) -> str:
        """The content key of the part."""
        return content_key(self.kind, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write the part."""
        place = {"row": self.row, "stop": self.stop, "start": self.start, "count": self.count}
        return {**asdict(self.of), **place}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "BlockPart":
        """Read a part."""
        place, of = _split(data, "row", "stop", "start", "count")
        return BlockPart(of=Sampling(**of), **place)

    def do(self) -> dict[str, Any]:
        """Add up: {"content": base64 of .npz}, the sums and how many tokens were used."""
        grams, chosen = self.of.grams, self.of.chosen
        add = grams.adder(chosen[self.row :], self.stop - self.row)
        draw = fresh(grams.family, self.of.seed)
        used = feed(grams.family, add, draw, self.start, self.count)
        return _text(pack({"used": np.array(used), **add.parts()}))


@lru_cache(maxsize=4)
def _members(spec: str, members: int, seed: int) -> tuple[Secret, ...]:
    return grams_of(parse_stored(spec)).choose(members, seed)


def _split(data: dict[str, Any], *names: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return {n: data[n] for n in names}, {n: v for n, v in data.items() if n not in names}


def _text(content: bytes) -> dict[str, Any]:
    return {"content": base64.b64encode(content).decode()}
