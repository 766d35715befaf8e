"""Verification: sampled correlations compared with certified ones, and layers with formulas.

Nothing here trusts a certificate: labels are evaluated by their formula, and layers as layers.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.gram import Draw, Progress, Sample, SampledGram, of_family, of_members, sampled
from hardness.bounds.independent import grown_clique, largest_set
from hardness.bounds.members import Members
from instances import tokens
from instances.coded import Coded, as_coded
from instances.dense import require_dense
from instances.errors import Refuted
from instances.family import Family, Secret
from instances.files import Folder
from instances.result import Result, TableRow

_REPORTED_PAIRS = 5  # of members whose correlations disagree most
_READ_EXAMPLES = 1 << 20  # stored examples that are read at once
_CHECKED_MEMBERS = 4  # whose layers are compared with the formula
_CHECKED_EXAMPLES = 1024  # on at most so many examples
_LAYER_BYTES = 1 << 28  # larger layers are not built
_MOST_FLOPS = 5e9  # of the comparison with layers


def _as_json(member: Any) -> Any:
    """Write a member for JSON: a secret as a list, a name as it is."""
    return list(member) if isinstance(member, tuple) else member


@dataclass(frozen=True, kw_only=True)
class LayerCheck:
    """The layer compared with the formula on some members and inputs; 0 members if it is too large.

    error: the largest absolute difference, found at `worst_member`. tolerance: the difference that
    rounding allows.
    """

    members: int = 0
    inputs: int = 0
    error: float = 0.0
    tolerance: float = 0.0
    worst_member: list[Any]

    @property
    def agrees(self) -> bool:
        """Whether layer and formula differ only by rounding."""
        return self.error <= self.tolerance


@dataclass(frozen=True, kw_only=True)
class StoredCheck:
    """Stored labels compared with the formula: how many differ, and how many noise allows."""

    examples: int
    different: int
    allowed: float

    @property
    def agrees(self) -> bool:
        """Whether noise explains all differences, with the stated confidence."""
        return self.different <= self.allowed


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """Sampled correlations of members, compared with certified or enumerated ones.

    largest: the largest |correlation| of two different members, sampled, and exact if it is known,
    by a certificate or by enumeration (`known`). worst: the largest difference between a sampled
    and an exact correlation. dimension: N members with pairwise |correlation| at most 1/N, with the
    confidence. Their number is the empirical SQ dimension, which bounds no number of queries.
    """

    spec: str
    confidence: float  # of all statistical statements together
    gram: SampledGram
    where: str  # what points are
    largest: tuple[float, float | None]
    known: Literal["certified", "enumerated"]
    worst: float | None = None
    disagreeing: tuple[dict[str, Any], ...] = ()  # the pairs that disagree most
    disagreements: int = 0
    dimension: tuple[Any, ...]
    layer: LayerCheck | None = None
    stored: StoredCheck | None = None
    unchecked: int = 0  # stored labels that were not checked, as the folder has no secret part

    @property
    def pairs(self) -> int:
        """The number of correlations, including those of members with themselves."""
        size = len(self.gram.members)
        return size * (size + 1) // 2

    @property
    def agrees(self) -> bool:
        """Whether correlations, layer and stored labels all agree."""
        checks = [check.agrees for check in (self.layer, self.stored) if check]
        return not self.disagreements and all(checks)

    def _rows(self) -> list[TableRow]:
        known = (f"sampled, {self.confidence:.0%}", self.gram.inequality, self.gram.condition)
        rows: list[TableRow] = [
            {
                "compared": f"{self.pairs} correlations",
                "largest deviation": self.worst,
                "allowed": self.gram.radius,
                "known": ", ".join(filter(None, known)),
            }
        ]
        if self.layer:
            rows.append(
                {
                    "compared": "layer with formula",
                    "largest deviation": self.layer.error,
                    "allowed": self.layer.tolerance,
                    "known": f"on {self.layer.inputs} inputs of {self.layer.members} members",
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Write the verification as JSON."""
        gram, layer, stored = self.gram, self.layer, self.stored
        return {
            "spec": self.spec,
            "agrees": self.agrees,
            "members": len(gram.members),
            "pairs": self.pairs,
            "samples": gram.samples,
            "samples_used": gram.used,
            "confidence": self.confidence,
            "inequality": gram.inequality,
            "condition": gram.condition or None,
            "radius": gram.radius,
            "largest": {"sampled": self.largest[0], self.known: self.largest[1]},
            "largest_deviation": self.worst,
            "disagreements": self.disagreements,
            "disagreeing_pairs": list(self.disagreeing),
            "sq_dimension": {
                "empirical": len(self.dimension),
                "members": list(map(_as_json, self.dimension)),
                "confidence": self.confidence,
                "bounds_queries": False,
            },
            "layer": layer and {**vars(layer), "agrees": layer.agrees},
            "stored_unchecked": self.unchecked,
            "stored": stored and {**vars(stored), "agrees": stored.agrees},
        }

    def require(self) -> None:
        """Raise Refuted unless everything agrees; the message names the disagreement."""
        if self.disagreeing:
            worst = self.disagreeing[0]
            raise Refuted(
                f"{self.disagreements} of {self.pairs} correlations are not the certified ones "
                f"(radius {self.gram.radius:.4g}); the worst pair is {worst['first']} and "
                f"{worst['second']}: certified {worst['certified']:g}, sampled "
                f"{worst['sampled']:.4g}"
            )
        if self.layer and not self.layer.agrees:
            raise Refuted(
                f"the layer of member {self.layer.worst_member}, or what its codes say, differs "
                f"from the label formula by {self.layer.error:.3g}, allowed is "
                f"{self.layer.tolerance:.3g}"
            )
        if self.stored and not self.stored.agrees:
            raise Refuted(
                f"{self.stored.different} of {self.stored.examples} stored labels are not those of "
                f"the secret; noise explains at most {self.stored.allowed:.0f}"
            )


def verify(
    source: Family | Members,
    members: int = 500,
    samples: int = 200_000,
    confidence: float = 0.99,
    seed: int = 0,
    folder: Folder | None = None,
    progress: Progress = lambda done: None,
) -> Verification:
    """Sample the correlations of `members` members and check the layer of a few of them.

    With a folder, its stored tokens are the sample (at most `samples` of them), its secret is one
    of the members, and its stored labels are compared with the formula.
    """
    each, checks = confidence, dict[str, Any]()
    if isinstance(source, Members):
        sample = of_members(source, seed)
    else:
        secret = folder.hidden.secret if folder and folder.hidden else None
        stored = _stored_tokens(folder) if folder and folder.count else None
        samples = min(samples, folder.count) if folder and folder.count else samples
        sample = of_family(source, members, seed, secret, stored)
        if secret and (source if isinstance(source, Coded) else require_dense(source)).error_rate:
            each = 1 - (1 - confidence) / 2  # of each of two statements
        checks = {
            "layer": check_layer(source, sample, samples, seed, stored)
            if source.layer_heads
            else None,
            "stored": check_stored(folder, secret, each) if folder and secret else None,
            "unchecked": folder.count if folder and not secret else 0,
        }
    gram = sampled(sample, samples, each, progress)
    return Verification(
        spec=sample.spec,
        confidence=confidence,
        gram=gram,
        where=sample.where,
        known=sample.known,
        dimension=tuple(sample.members[i] for i in dimension(gram.gram, gram.radius)),
        **_compared(gram, sample.certified),
        **checks,
    )


def _compared(gram: SampledGram, certified: NDArray[np.float64] | None) -> dict[str, Any]:
    """Compare sampled with certified correlations: the fields of a Verification, by name."""
    largest = np.triu(np.abs(gram.gram), k=1).max()
    if certified is None:
        return {"largest": (float(largest), None)}
    off = np.triu(np.abs(gram.gram - certified))
    wrong = np.argwhere(off > gram.radius)
    order = np.argsort(-off[tuple(wrong.T)], kind="stable")[:_REPORTED_PAIRS]
    pairs = [
        {
            "first": _as_json(gram.members[i]),
            "second": _as_json(gram.members[j]),
            "certified": float(certified[i, j]),
            "sampled": float(gram.gram[i, j]),
        }
        for i, j in wrong[order]
    ]
    return {
        "largest": (float(largest), float(np.triu(np.abs(certified), k=1).max())),
        "worst": float(off.max()),
        "disagreeing": tuple(pairs),
        "disagreements": len(wrong),
    }


def dimension(correlations: NDArray[np.float64], radius: float) -> tuple[int, ...]:
    """Find N members with pairwise |correlation| + radius at most 1/N, for a large N.

    >>> dimension(np.array([[1, 0.1, 0.4], [0.1, 1, 0.1], [0.4, 0.1, 1]]), 0.1)
    (0, 1)
    """
    size = len(correlations)
    caps = np.floor(1 / np.maximum(np.abs(correlations) + radius, 1 / size))
    np.fill_diagonal(caps, size)
    return tuple(largest_set(size, lambda number: grown_clique(caps >= number, number)))


# ---- layers and stored labels


def _stored_tokens(folder: Folder) -> Draw:
    """Return a function that reads a folder's tokens, many at once for several short requests."""
    coded = isinstance(folder.family, Coded)
    first = 0
    block: NDArray[Any] = np.empty(0)  # the tokens read last, from `first` on

    def draw(start: int, count: int) -> NDArray[Any]:
        nonlocal first, block
        if not first <= start <= start + count <= first + len(block):
            examples = folder.examples(start, max(count, min(_READ_EXAMPLES, folder.count - start)))
            first, block = start, as_coded(examples).words if coded else examples.x
        return block[start - first : start - first + count]

    return draw


def check_layer(
    family: Family, sample: Sample, samples: int, seed: int, stored: Draw | None = None
) -> LayerCheck:
    """Compare layers and codes of the first few members with the formula, on some tokens.

    Layers over `_LAYER_BYTES` are not built, except for hidden sets, which have few heads.
    """
    coded, chosen = family if isinstance(family, Coded) else None, sample.members[:_CHECKED_MEMBERS]
    large = 16 * family.layer_heads * family.d**2 > _LAYER_BYTES
    if coded and family.hidden_sets is None and large:
        return LayerCheck(worst_member=list(chosen[0]))
    dense: Any = coded or require_dense(family)
    cost = len(chosen) * family.layer_heads * 8 * family.d**2
    count = min(samples, max(32, min(_CHECKED_EXAMPLES, int(_MOST_FLOPS // cost))))
    words = stored(0, count) if stored else dense.inputs(seed, "verify", 0, count)
    x = tokens.unpack(words, family.d) if coded else words
    error, worst, allowed = -1.0, chosen[0], 0.0
    for secret in chosen:
        layer = family.layer(secret)
        out = layer(x)
        off = np.abs(out - dense.computed(secret, x)).max()
        if coded:  # examples are drawn by `codes`, risks are computed by `label`
            drawn = coded.decode(x, coded.codes(secret, words, np.zeros(len(words), np.bool_)))
            off = max(off, np.abs(drawn - coded.label(secret, x)).max())
        allowed = max(allowed, dense.layer_tolerance(layer))
        if not off <= error:
            error, worst = float(off), secret
    return LayerCheck(
        members=len(chosen), inputs=len(x), error=error, tolerance=allowed, worst_member=list(worst)
    )


def check_stored(folder: Folder, secret: Secret, confidence: float) -> StoredCheck:
    """Count the stored labels that differ from the formula of the secret."""
    family = folder.family
    coded = family if isinstance(family, Coded) else None
    real = coded or require_dense(family)
    different = opened = 0
    for shard in folder.shards:
        examples = folder.shard(shard)
        if coded:
            packed = as_coded(examples)
            clean = coded.codes(secret, packed.words, np.zeros(len(packed), np.bool_))
            different += int((clean != packed.codes).sum())
            opened += int(coded.open(packed.words).sum())
        else:
            apart = np.abs(examples.y - family.label(secret, examples.x)).max(axis=(1, 2))
            different += int((apart > real.layer_tolerance(family.layer(secret))).sum())
            opened += len(examples)
    rate = real.error_rate
    slack = math.sqrt(opened * math.log(1 / (1 - confidence)) / 2) if rate else 0.0
    allowed = rate * opened + slack
    return StoredCheck(examples=folder.count, different=different, allowed=allowed)
