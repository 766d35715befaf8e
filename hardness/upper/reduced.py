"""The reduced view of examples: bits of z and the sign of the unknown label part, where it shows.

Everyone can compute it from tokens and labels: z = X_1 * X_2, and where z_0 = -1 the label is
X[l, 0] times an unknown sign.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.family import Examples


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """z of the examples with z_0 = -1, packed (n, words) with coordinate 0 cleared, and bits (n,).

    A bit is 1 where the unknown sign is -1.
    """

    words: NDArray[np.uint64]
    bits: NDArray[np.uint8]
    d: int

    def __len__(self) -> int:
        return len(self.bits)

    def signs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Unpack: z as (n, d) of +-1 (coordinate 0 is +1), and the unknown sign (n,) as +-1."""
        signs = 1.0 - 2.0 * self.bits.astype(np.float64)
        return tokens.unpack(self.words, self.d).astype(np.float64), signs


def reduce(examples: Examples) -> Reduced:
    """Keep the examples whose label is unknown."""
    unknown = examples.family.open(examples.words)
    words = examples.words[unknown]
    z = words[:, 0] ^ words[:, 1]
    z[:, 0] &= ~np.uint64(1)
    return Reduced(words=z, bits=examples.bits[unknown], d=examples.family.d)
