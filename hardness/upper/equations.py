"""Hidden parities and LPN as one: noisy linear equations over GF(2), packed."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.capabilities import NOISY_PARITIES
from instances.coded import as_coded
from instances.family import Examples, Secret
from instances.modular import Modular
from instances.tokens import mask


@dataclass(frozen=True, kw_only=True, eq=False)
class Equations:
    """Equations <a, s> + e = b: words (N, words), bit j + 1 being a_j; codes (N,), the bits b.

    >>> from instances import parse
    >>> instance = parse("parity:d=20,m=3,noise=0.1").instance(0)
    >>> found = equations(instance.examples(0, 400))
    >>> bits = instance.family.to_linear(instance.hidden.secret)
    >>> bool(found.errors(bits) < 0.2 * len(found))
    True
    """

    family: Modular
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def errors(self, bits: Secret) -> int:
        """Count the equations that a secret of n bits fails."""
        support = tuple(j + 1 for j, bit in enumerate(bits) if bit)
        folded = np.bitwise_xor.reduce(self.words & mask(support, self.family.d), axis=1)
        return int(((np.bitwise_count(folded) & 1) ^ self.codes).sum())

    def evidence(self, bits: Secret) -> float:
        """Compute the bits by which the equations favour a secret over labels that are coins."""
        wrong, rate = self.errors(bits), float(self.family.noise)
        if wrong and not rate:
            return -math.inf
        right = (len(self) - wrong) * math.log2(2 * (1 - rate))
        return right + (wrong * math.log2(2 * rate) if wrong else 0)


def equations(examples: Examples) -> Equations:
    """Keep the examples whose label is unknown; raises UsageError without `noisy_parities`."""
    family = NOISY_PARITIES.need(examples.family)
    packed = as_coded(examples)
    opened = family.open(packed.words)
    words = packed.words[opened, 0] ^ packed.words[opened, 1]
    words[:, 0] &= ~np.uint64(1)
    return Equations(family=family, words=words, codes=packed.codes[opened].astype(np.uint8))
