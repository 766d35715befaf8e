"""The reduced view of examples: z, and the unknown part of the label, where it shows.

Everyone can compute it from tokens and labels: z = X_1 * X_2, and where z_0 = -1 the label is
X[l, 0] times an unknown factor.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.coded import as_coded
from instances.errors import UsageError
from instances.family import Examples, Family
from instances.symmetric import Symmetric


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """z of the examples with z_0 = -1, packed (n, words) with coordinate 0 cleared, and codes (n,).

    values: (n,) float64, the factor of the label less what everyone knows of it.
    """

    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]
    values: NDArray[np.float64]
    d: int

    def __len__(self) -> int:
        return len(self.codes)

    def z(self) -> NDArray[np.float64]:
        """Unpack z: (n, d) of +-1, coordinate 0 being +1."""
        return tokens.unpack(self.words, self.d).astype(np.float64)


def reduce(examples: Examples) -> Reduced:
    """Keep the examples whose label is unknown; raises UsageError for families without such."""
    family = as_symmetric(examples.family)
    packed = as_coded(examples)
    unknown = family.open(packed.words)
    words = packed.words[unknown]
    z = words[:, 0] ^ words[:, 1]
    z[:, 0] &= ~np.uint64(1)
    codes = packed.codes[unknown]
    levels = np.array([float(v) for v in family.levels])
    minus = np.bitwise_count(z).sum(axis=1, dtype=np.intp)
    values = levels[codes] - family.expected(minus)
    return Reduced(words=z, codes=codes, values=values, d=family.d)


def only_symmetric(family: Family) -> str | None:
    """Say why a learner of symmetric functions of hidden sets cannot run on another family."""
    if isinstance(family, Symmetric):
        return None
    return f"it learns symmetric functions of hidden sets, not {family.name}"


def as_symmetric(family: Family) -> Symmetric:
    """Narrow a family that `supports` has accepted; raises UsageError for another."""
    if not isinstance(family, Symmetric):
        raise UsageError(f"{family.spec} given: only symmetric functions of hidden sets go here")
    return family
