"""Verification: sampled against certified correlations, the real layer against the formula.

Nothing here trusts the certificate: correlations come from the heads of hidden sets as float64
computes them, for other families from the formula of the factor, of E[Y|X] or of the signs that are
hidden, and the layer is evaluated as a layer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.correlation import SampledGram, gather, require_gram
from hardness.lower.formula import (
    LayerCheck,
    StoredCheck,
    check_layer,
    check_numbers,
    check_stored,
    check_stored_numbers,
)
from hardness.lower.grams import different, grams_of
from hardness.lower.signs import sampled_signs
from hardness.lower.sums import Draw
from instances.capabilities import CODED, HIDDEN_SIGNS, REAL_LABELS
from instances.coded import Coded, as_coded
from instances.errors import Refuted
from instances.family import Family, HiddenSigns, Secret
from instances.files import Folder
from instances.result import Result, TableRow

_SHOWN = 5
_READ = 1 << 20
_LAYER_TOKENS = 512


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A pair of members whose sampled correlation is not the certified one."""

    first: Secret
    second: Secret
    certified: float
    sampled: float

    @property
    def deviation(self) -> float:
        """How far they are apart."""
        return abs(self.sampled - self.certified)

    def to_dict(self) -> dict[str, Any]:
        """Write the pair."""
        return {
            "first": list(self.first),
            "second": list(self.second),
            "certified": self.certified,
            "sampled": self.sampled,
        }

    def __str__(self) -> str:
        return (
            f"{list(self.first)} and {list(self.second)}: certified {self.certified:g}, "
            f"sampled {self.sampled:.4g}"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """What sampling says about a family's certificate."""

    spec: str
    confidence: float  # of everything statistical here at once
    gram: SampledGram
    pairs: int
    worst: float  # largest |sampled - certified|
    disagreeing: tuple[Pair, ...]  # the worst few
    disagreements: int
    layer: LayerCheck
    stored: StoredCheck | None
    unchecked: int = 0  # stored labels that could not be checked, for want of the secret part
    where: str = "with z_0 = -1"  # tokens are used

    @property
    def agrees(self) -> bool:
        """Whether everything agrees."""
        stored = self.stored is None or self.stored.agrees
        return not self.disagreements and self.layer.agrees and stored

    def _summary(self) -> tuple[str, list[TableRow]]:
        said = "agrees" if self.agrees else "DOES NOT AGREE"
        gram = f"sampled, {self.confidence:.0%}, {self.gram.inequality}"
        layer = f"on {self.layer.tokens} tokens of {self.layer.members} members"
        return f"{self.spec}: {said}", [
            {
                "compared": f"{self.pairs} correlations",
                "largest deviation": self.worst,
                "allowed": self.gram.radius,
                "known": gram,
            },
            {
                "compared": "layer with formula",
                "largest deviation": self.layer.error,
                "allowed": self.layer.tolerance,
                "known": layer,
            },
        ]

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
            "radius": gram.radius,
            "largest_deviation": self.worst,
            "disagreements": self.disagreements,
            "disagreeing_pairs": [pair.to_dict() for pair in self.disagreeing],
            "layer": layer.to_dict(),
            "stored_unchecked": self.unchecked,
            "stored": stored
            and {
                "examples": stored.examples,
                "different": stored.different,
                "allowed": stored.allowed,
                "agrees": stored.agrees,
            },
        }

    def require(self) -> None:
        """Raise Refuted, with what disagrees, unless everything agrees."""
        if self.disagreeing:
            raise Refuted(
                f"{self.disagreements} of {self.pairs} correlations are not the certified ones "
                f"(radius {self.gram.radius:.4g}); the worst pair is {self.disagreeing[0]}"
            )
        if not self.layer.agrees:
            raise Refuted(
                f"the layer of member {list(self.layer.worst)}, or what its codes say, differs "
                f"from the label formula by {self.layer.error:.3g}, allowed is "
                f"{self.layer.tolerance:.3g}"
            )
        if self.stored and not self.stored.agrees:
            raise Refuted(
                f"{self.stored.different} of {self.stored.examples} stored labels are not those "
                f"of the secret; noise explains at most {self.stored.allowed:.0f}"
            )


def verify(
    family: Family,
    members: int = 500,
    samples: int = 200_000,
    confidence: float = 0.99,
    seed: int = 0,
    folder: Folder | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Sample the correlations of `members` members and check the layer of a few of them.

    With a folder its stored tokens are the sample (as many as there are, at most `samples`), its
    secret is one of the members, and its stored labels are compared with the formula.
    """
    if signs := HIDDEN_SIGNS.of(family):
        return _by_signs(family, signs, members, samples, confidence, seed, folder, progress)
    grams = grams_of(family)
    coded = CODED.need(family)  # hidden sets have grams of the profile that they are
    require_gram(members if coded.size is None else min(members, coded.size))
    own = folder.hidden.secret if folder and folder.hidden else None
    chosen = grams.choose(members, seed, own)
    draw, samples = _tokens(coded, samples, seed, folder)
    layer = check_layer(coded, chosen, draw, samples)
    # Two statements in one verdict: each gets half of what may go wrong.
    each = 1 - (1 - confidence) / 2 if own and coded.error_rate else confidence
    gram = gather(coded, chosen, grams.adder(chosen), draw, samples, each, progress)
    gram = replace(gram, radius=gram.radius + grams.bias)
    found = compare(gram.gram, grams.exact(chosen), gram.radius, chosen)
    return Verification(
        spec=family.spec,
        confidence=confidence,
        gram=gram,
        pairs=len(chosen) * (len(chosen) + 1) // 2,
        worst=found.worst,
        disagreeing=found.pairs,
        disagreements=found.disagreements,
        layer=layer,
        stored=check_stored(folder, own, each) if folder and own else None,
        unchecked=folder.count if folder and not own else 0,
    )


def _by_signs(
    family: Family,
    signs: HiddenSigns,
    members: int,
    samples: int,
    confidence: float,
    seed: int,
    folder: Folder | None,
    progress: Callable[[int], None],
) -> Verification:
    """Sample the correlations of hidden signs, of families whose labels are not codes."""
    dense = REAL_LABELS.need(family)
    require_gram(members)
    own = folder.hidden.secret if folder and folder.hidden else None
    chosen = different(family, family.size, members, seed, own)
    stored = folder if folder and folder.count else None
    samples = min(samples, stored.count) if stored else samples

    def draw(start: int, count: int) -> NDArray[Any]:
        if stored:
            return np.asarray(stored.examples(start, count).x)
        return dense.inputs(seed, "verify", start, count)

    layer = check_numbers(dense, chosen, draw(0, min(samples, _LAYER_TOKENS)))
    each = 1 - (1 - confidence) / 2 if own and dense.error_rate else confidence
    gram = sampled_signs(family, signs, chosen, draw, samples, each, progress)
    found = compare(gram.gram, family.sign_correlations(chosen), gram.radius, chosen)
    return Verification(
        spec=family.spec,
        confidence=confidence,
        gram=gram,
        pairs=len(chosen) * (len(chosen) + 1) // 2,
        worst=found.worst,
        disagreeing=found.pairs,
        disagreements=found.disagreements,
        layer=layer,
        stored=check_stored_numbers(dense, folder, own, each) if folder and own else None,
        unchecked=folder.count if folder and not own else 0,
        where="that show a hidden sign",
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How far sampled correlations of a strip are from the certified ones."""

    worst: float  # largest |sampled - certified|
    disagreements: int
    pairs: tuple[Pair, ...]  # the worst few that disagree, the worst first

    def __add__(self, other: "Comparison") -> "Comparison":
        """Put two strips together."""
        both = sorted((*self.pairs, *other.pairs), key=lambda p: -p.deviation)
        return Comparison(
            worst=max(self.worst, other.worst),
            disagreements=self.disagreements + other.disagreements,
            pairs=tuple(both[:_SHOWN]),
        )


def compare(
    found: NDArray[np.float64],
    wanted: NDArray[np.float64],
    radius: float,
    members: tuple[Secret, ...],
) -> Comparison:
    """Compare the upper triangles of correlations of the first members with all: (rows, M)."""
    off = np.triu(np.abs(found - wanted))
    wrong = np.argwhere(off > radius)
    order = np.argsort(-off[tuple(wrong.T)], kind="stable")[:_SHOWN]
    return Comparison(
        worst=float(off.max()),
        disagreements=len(wrong),
        pairs=tuple(
            Pair(
                first=members[i],
                second=members[j],
                certified=float(wanted[i, j]),
                sampled=float(found[i, j]),
            )
            for i, j in wrong[order]
        ),
    )


def _tokens(family: Coded, samples: int, seed: int, folder: Folder | None) -> tuple[Draw, int]:
    """The tokens to sample on, and how many: those of a folder if it has any, else fresh ones."""
    if folder is None or not folder.count:
        return fresh(family, seed), samples
    # Shards are read in long runs: the sampling asks for short ones, in order.
    stored, first, held = folder, 0, as_coded(folder.examples(0, min(samples, _READ)))

    def draw(start: int, count: int) -> NDArray[np.uint64]:
        nonlocal first, held
        if not first <= start <= start + count <= first + len(held):
            first, held = start, as_coded(stored.examples(start, max(count, _READ)))
        return np.asarray(held.words[start - first : start - first + count])

    return draw, min(samples, folder.count)


def fresh(family: Coded, seed: int) -> Draw:
    """The tokens of a seed to sample on."""
    return lambda start, count: family.inputs(seed, "verify", start, count)
