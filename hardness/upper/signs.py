"""Open examples of two-valued symmetric functions as signs, and when they show a hidden set."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardness.upper.attack import SPARE, enough
from instances.capabilities import SCHEME
from instances.family import Examples, Secret
from instances.reduced import reduce
from instances.symmetric import Symmetric
from instances.tokens import mask, unpack


@dataclass(frozen=True, kw_only=True, eq=False)
class Signs:
    """z packed (N, words), coordinate 0 cleared, and signs (N,): 1 for the label's larger value.

    >>> from instances import parse
    >>> instance = parse("parity:d=20,m=3,noise=0.1").instance(0)
    >>> found = signs(instance.examples(0, 400))
    >>> found.evidence(instance.hidden.secret) > wanted(instance.family)
    True
    """

    family: Symmetric
    words: NDArray[np.uint64]
    signs: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.signs)

    @cached_property
    def z(self) -> NDArray[np.int8]:
        """z_1 .. z_(d-1): (N, d-1)."""
        return unpack(self.words, self.family.d)[:, 1:]

    def cut(self, count: int) -> "Signs":
        """Return the first `count`."""
        return Signs(family=self.family, words=self.words[:count], signs=self.signs[:count])

    def evidence(self, secret: Secret) -> float:
        """Compute the bits by which the signs favour a hidden set over coins of the same mean."""
        inside = np.bitwise_count(self.words & mask(secret, self.family.d))
        expected = _profile(self.family)[inside.sum(axis=1, dtype=np.intp)]
        total = 0.0
        for (value, sign), bits in _bits(self.family).items():
            count = int(((expected == value) & (self.signs == sign)).sum())
            total += count * bits if count else 0.0
        return total


def signs(examples: Examples) -> Signs:
    """Keep the examples whose label is unknown; raises UsageError without `scheme`."""
    found = reduce(examples)
    return Signs(
        family=SCHEME.need(examples.family),
        words=found.words,
        signs=1 - 2 * found.codes.astype(np.int8),
    )


def wanted(family: Symmetric) -> float:
    """Count the bits from which a hidden set is believed: among coins any is with 2^-30 at most."""
    return math.log2(family.size) + SPARE


def telling(family: Symmetric) -> int:
    """Count the open examples by which the hidden set is believed, once it is found.

    >>> from instances import parse
    >>> telling(parse("parity:d=24,m=3")), telling(parse("parity:d=24,m=3,noise=0.1"))
    (42, 207)
    """
    bits = _bits(family)
    fade, middle = _fade(family), _middle(family)
    mean = square = 0.0
    for (value, sign), told in bits.items():
        chance = (1 + value * middle) / 2 * (1 + fade * value * sign) / 2
        if chance:
            mean, square = mean + chance * told, square + chance * told**2
    return enough(wanted(family), mean, math.sqrt(max(square - mean**2, 0.0)))


def _bits(family: Symmetric) -> dict[tuple[int, int], float]:
    """What a sign tells for a member of that value: log2 of its chance over that among coins."""
    fade, mu = _fade(family), _fade(family) * _middle(family)
    return {
        (value, sign): (math.log1p(edge) - math.log1p(mu * sign)) / math.log(2)
        if (edge := fade * value * sign) > -1
        else -math.inf
        for value in (-1, 1)
        for sign in (-1, 1)
    }


def _fade(family: Symmetric) -> float:
    return float(1 - 2 * family.noise)


def _middle(family: Symmetric) -> float:
    """The mean of a member's value as a sign."""
    m = family.m
    plus = sum(math.comb(m, h) for h, value in enumerate(_profile(family)) if value > 0)
    return 2 * plus / 2**m - 1


def _profile(family: Symmetric) -> NDArray[np.int8]:
    """The profile as signs, 1 for the larger value: (m+1,)."""
    high = max(family.values)
    return np.array([1 if value == high else -1 for value in family.values], np.int8)
