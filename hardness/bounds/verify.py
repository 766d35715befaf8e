"""Verification: sampled correlations beside certified ones, and the real layer against the formula.

Nothing here trusts a certificate: labels are evaluated by their formula, and the layer as a layer.
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

_SHOWN = 5  # pairs
_READ = 1 << 20  # stored tokens
_LAYERS = 4
_LAYER_TOKENS = 1024
_LAYER_BYTES = 1 << 28
_FLOPS = 5e9


def _plain(member: Any) -> Any:
    """Write a secret as a list, and a name as it is."""
    return list(member) if isinstance(member, tuple) else member


@dataclass(frozen=True, kw_only=True)
class LayerCheck:
    """The real layer against the formula, on some members and inputs; 0 members: it is too large.

    error: the largest absolute difference, at the worst member; tolerance: what rounding allows.
    """

    members: int = 0
    inputs: int = 0
    error: float = 0.0
    tolerance: float = 0.0
    worst_member: list[Any]

    @property
    def agrees(self) -> bool:
        """Whether they are the same but for rounding."""
        return self.error <= self.tolerance


@dataclass(frozen=True, kw_only=True)
class StoredCheck:
    """Stored labels against the formula: how many are different; allowed: as noise explains."""

    examples: int
    different: int
    allowed: float

    @property
    def agrees(self) -> bool:
        """Whether noise explains all differences, with the confidence."""
        return self.different <= self.allowed


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """What sampling shows about members, compared with what is certified.

    largest: the largest correlation of two different members in size, sampled, and certified or
    over all points (`known`), where it is; worst: the largest difference of both. dimension:
    members of which any two have a correlation of at most 1/N in size, N being their number, with
    the confidence: the empirical SQ dimension, which bounds no number of queries.
    """

    spec: str
    confidence: float  # of everything statistical here at once
    gram: SampledGram
    where: str  # points are
    largest: tuple[float, float | None]
    known: Literal["certified", "enumerated"]
    worst: float | None = None
    disagreeing: tuple[dict[str, Any], ...] = ()  # the worst few pairs of members, in numbers
    disagreements: int = 0
    dimension: tuple[Any, ...]
    layer: LayerCheck | None = None
    stored: StoredCheck | None = None
    unchecked: int = 0  # stored labels that could not be checked, for want of the secret part

    @property
    def pairs(self) -> int:
        """How many correlations there are, those of members with themselves among them."""
        size = len(self.gram.members)
        return size * (size + 1) // 2

    @property
    def agrees(self) -> bool:
        """Whether everything agrees."""
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
                "members": list(map(_plain, self.dimension)),
                "confidence": self.confidence,
                "bounds_queries": False,
            },
            "layer": layer and {**vars(layer), "agrees": layer.agrees},
            "stored_unchecked": self.unchecked,
            "stored": stored and {**vars(stored), "agrees": stored.agrees},
        }

    def require(self) -> None:
        """Raise Refuted, with what disagrees, unless everything agrees."""
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

    With a folder its stored tokens are the sample (as many as there are, at most `samples`), its
    secret is one of the members, and its stored labels are compared with the formula.
    """
    each, checks = confidence, dict[str, Any]()
    if isinstance(source, Members):
        sample = of_members(source, seed)
    else:
        own = folder.hidden.secret if folder and folder.hidden else None
        stored = _stored_tokens(folder) if folder and folder.count else None
        samples = min(samples, folder.count) if folder and folder.count else samples
        sample = of_family(source, members, seed, own, stored)
        if own and (source if isinstance(source, Coded) else require_dense(source)).error_rate:
            each = 1 - (1 - confidence) / 2  # of two statements in one verdict
        checks = {
            "layer": check_layer(source, sample, samples, seed, stored)
            if source.layer_heads
            else None,
            "stored": check_stored(folder, own, each) if folder and own else None,
            "unchecked": folder.count if folder and not own else 0,
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
    """Say what is largest, and how far sampled correlations are from certified ones."""
    apart = np.triu(np.abs(gram.gram), k=1).max()
    if certified is None:
        return {"largest": (float(apart), None)}
    off = np.triu(np.abs(gram.gram - certified))
    wrong = np.argwhere(off > gram.radius)
    order = np.argsort(-off[tuple(wrong.T)], kind="stable")[:_SHOWN]
    pairs = [
        {
            "first": _plain(gram.members[i]),
            "second": _plain(gram.members[j]),
            "certified": float(certified[i, j]),
            "sampled": float(gram.gram[i, j]),
        }
        for i, j in wrong[order]
    ]
    return {
        "largest": (float(apart), float(np.triu(np.abs(certified), k=1).max())),
        "worst": float(off.max()),
        "disagreeing": tuple(pairs),
        "disagreements": len(wrong),
    }


def dimension(correlations: NDArray[np.float64], radius: float) -> tuple[int, ...]:
    """Find N members of which any two have |correlation| + radius at most 1/N, for a large N.

    >>> dimension(np.array([[1, 0.1, 0.4], [0.1, 1, 0.1], [0.4, 0.1, 1]]), 0.1)
    (0, 1)
    """
    size = len(correlations)
    caps = np.floor(1 / np.maximum(np.abs(correlations) + radius, 1 / size))
    np.fill_diagonal(caps, size)
    return tuple(largest_set(size, lambda number: grown_clique(caps >= number, number)))


# The layer, and what a folder holds


def _stored_tokens(folder: Folder) -> Draw:
    """The tokens of a folder: shards are read in long runs, the sampling asks for short ones."""
    coded = isinstance(folder.family, Coded)
    first = 0
    held: NDArray[Any] = np.empty(0)

    def draw(start: int, count: int) -> NDArray[Any]:
        nonlocal first, held
        if not first <= start <= start + count <= first + len(held):
            examples = folder.examples(start, max(count, min(_READ, folder.count - start)))
            first, held = start, as_coded(examples).words if coded else examples.x
        return held[start - first : start - first + count]

    return draw


def check_layer(
    family: Family, sample: Sample, samples: int, seed: int, stored: Draw | None = None
) -> LayerCheck:
    """Evaluate layer and codes of the first few members on some tokens and compare the formula.

    No member is built of a family whose layers are large, but for hidden sets, which have few
    heads.
    """
    coded, chosen = family if isinstance(family, Coded) else None, sample.members[:_LAYERS]
    large = 16 * family.layer_heads * family.d**2 > _LAYER_BYTES
    if coded and family.hidden_sets is None and large:
        return LayerCheck(worst_member=list(chosen[0]))
    dense: Any = coded or require_dense(family)
    cost = len(chosen) * family.layer_heads * 8 * family.d**2
    count = min(samples, max(32, min(_LAYER_TOKENS, int(_FLOPS // cost))))
    words = stored(0, count) if stored else dense.inputs(seed, "verify", 0, count)
    x = tokens.unpack(words, family.d) if coded else words
    error, worst, allowed = -1.0, chosen[0], 0.0
    for secret in chosen:
        layer = family.layer(secret)
        out = layer(x)
        off = np.abs(out - dense.computed(secret, x)).max()
        if coded:  # examples are drawn by codes, all else goes by the formula
            drawn = coded.decode(x, coded.codes(secret, words, np.zeros(len(words), np.bool_)))
            off = max(off, np.abs(drawn - coded.label(secret, x)).max())
        allowed = max(allowed, dense.layer_tolerance(layer))
        if not off <= error:
            error, worst = float(off), secret
    return LayerCheck(
        members=len(chosen), inputs=len(x), error=error, tolerance=allowed, worst_member=list(worst)
    )


def check_stored(folder: Folder, secret: Secret, confidence: float) -> StoredCheck:
    """Compare all stored labels with the formula of the secret: how many differ."""
    family = folder.family
    coded = family if isinstance(family, Coded) else None
    real = coded or require_dense(family)
    different = opened = 0
    for shard in folder.shards:
        examples = folder.shard(shard)
        if coded:
            held = as_coded(examples)
            clean = coded.codes(secret, held.words, np.zeros(len(held), np.bool_))
            different += int((clean != held.codes).sum())
            opened += int(coded.open(held.words).sum())
        else:
            apart = np.abs(examples.y - family.label(secret, examples.x)).max(axis=(1, 2))
            different += int((apart > real.layer_tolerance(family.layer(secret))).sum())
            opened += len(examples)
    rate = real.error_rate
    slack = math.sqrt(opened * math.log(1 / (1 - confidence)) / 2) if rate else 0.0
    allowed = rate * opened + slack
    return StoredCheck(examples=folder.count, different=different, allowed=allowed)
