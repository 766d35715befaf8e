"""Verification: sampled against certified correlations, the real layer against the formula.

Nothing here trusts the certificate: correlations come from the heads as float64 computes them, or
for LWE-style families from E[Y|X] by its formula, and the layer is evaluated as a layer.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.correlation import SampledGram, exact_gram, gather, require_gram, sampled
from hardness.lower.formula import (
    Draw,
    LayerCheck,
    StoredCheck,
    check_layer,
    check_stored,
    noise_rate,
)
from hardness.lower.residues import (
    Responses,
    certified_gram,
    choose_independent,
    uneven,
)
from instances import tokens
from instances.coded import Coded, as_coded
from instances.errors import Refuted, UsageError
from instances.family import Family, Secret
from instances.files import Folder
from instances.modular import Modular
from instances.streams import BitStream, generator, key
from instances.symmetric import Symmetric

_SHOWN = 5
_READ = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A pair of members whose sampled correlation is not the certified one."""

    first: Secret
    second: Secret
    certified: float
    sampled: float

    def __str__(self) -> str:
        return (
            f"{list(self.first)} and {list(self.second)}: certified {self.certified:g}, "
            f"sampled {self.sampled:.4g}"
        )


@dataclass(frozen=True, kw_only=True)
class Verification:
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

    @property
    def agrees(self) -> bool:
        """Whether everything agrees."""
        stored = self.stored is None or self.stored.agrees
        return not self.disagreements and self.layer.agrees and stored

    def to_json(self) -> dict[str, Any]:
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
            "disagreeing_pairs": [
                {
                    "first": list(p.first),
                    "second": list(p.second),
                    "certified": p.certified,
                    "sampled": p.sampled,
                }
                for p in self.disagreeing
            ],
            "layer": {
                "members": layer.members,
                "tokens": layer.tokens,
                "error": layer.error,
                "tolerance": layer.tolerance,
                "worst_member": list(layer.worst),
                "agrees": layer.agrees,
            },
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
                f"the layer of member {list(self.layer.worst)} differs from the label formula by "
                f"{self.layer.error:.3g}, allowed is {self.layer.tolerance:.3g}"
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
    if not isinstance(family, Symmetric | Modular):
        raise UsageError(f"{family.name} given: there is nothing certified to verify yet")
    require_gram(min(members, family.size))
    own = folder.hidden.secret if folder and folder.hidden else None
    chosen = choose_members(family, members, seed, own)
    draw, samples = _tokens(family, samples, seed, folder)
    layer = check_layer(family, chosen, draw, samples)
    # Two statements in one verdict: each gets half of what may go wrong.
    each = 1 - (1 - confidence) / 2 if own and noise_rate(family) else confidence
    if isinstance(family, Modular):
        add = Responses(family, chosen)
        gram = gather(family, chosen, add, add.largest, draw, samples, each, progress)
        gram = replace(gram, radius=gram.radius + uneven(family))
        certified = certified_gram(family, chosen)
    else:
        gram = sampled(family, chosen, draw, samples, each, progress)
        certified = exact_gram(family, chosen)
    deviation = np.triu(np.abs(gram.gram - certified))
    wrong = np.argwhere(deviation > gram.radius)
    order = np.argsort(-deviation[tuple(wrong.T)])[:_SHOWN]
    return Verification(
        spec=family.spec,
        confidence=confidence,
        gram=gram,
        pairs=len(chosen) * (len(chosen) + 1) // 2,
        worst=float(deviation.max()),
        disagreeing=tuple(
            Pair(
                first=chosen[i],
                second=chosen[j],
                certified=float(certified[i, j]),
                sampled=float(gram.gram[i, j]),
            )
            for i, j in wrong[order]
        ),
        disagreements=len(wrong),
        layer=layer,
        stored=check_stored(folder, own, each) if folder and own else None,
        unchecked=folder.count if folder and not own else 0,
    )


def _tokens(family: Coded, samples: int, seed: int, folder: Folder | None) -> tuple[Draw, int]:
    """The tokens to sample on, and how many: those of a folder if it has any, else fresh ones."""
    if folder is None or not folder.count:
        stream = BitStream(key(seed, "tokens", "verify"))
        return lambda start, count: tokens.boolean(stream, start, count, 2, family.d), samples
    # Shards are read in long runs: the sampling asks for short ones, in order.
    stored, first, held = folder, 0, as_coded(folder.examples(0, min(samples, _READ)))

    def draw(start: int, count: int) -> NDArray[np.uint64]:
        nonlocal first, held
        if not first <= start <= start + count <= first + len(held):
            first, held = start, as_coded(stored.examples(start, max(count, _READ)))
        return np.asarray(held.words[start - first : start - first + count])

    return draw, min(samples, folder.count)


def choose_members(
    family: Symmetric | Modular, members: int, seed: int, own: Secret | None = None
) -> tuple[Secret, ...]:
    """Draw different members, `own` first; all of them where there are no more.

    Of an LWE-style family: members that are independent in pairs.
    """
    if members < 1:
        raise UsageError(f"--members {members} given: at least 1 is needed")
    if isinstance(family, Modular):
        return choose_independent(family, members, seed, own)
    rng = generator(seed, "members", family.spec)
    wanted = min(members, family.size)
    found: dict[Secret, None] = {own: None} if own else {}
    while len(found) < wanted:
        found[family.draw(rng)] = None
    return tuple(found)[:wanted]
