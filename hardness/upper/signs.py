"""Open examples of two-valued symmetric functions as signs, and when they show a hidden set."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.capabilities import SCHEME
from instances.family import Examples, Secret
from instances.reduced import reduce
from instances.symmetric import Symmetric
from instances.tokens import mask


@dataclass(frozen=True, kw_only=True, eq=False)
class Signs:
    """z packed (N, words), coordinate 0 cleared, and signs (N,): 1 for the label's larger value.

    >>> from instances import parse
    >>> instance = parse("parity:d=20,m=3,noise=0.1").instance(0)
    >>> found = signs(instance.examples(0, 400))
    >>> found.evidence(instance.hidden.secret) > 40
    True
    """

    family: Symmetric
    words: NDArray[np.uint64]
    signs: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.signs)

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
