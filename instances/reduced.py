"""The reduced view of examples: z, and the unknown part of the label, where it shows.

It needs tokens and labels alone: z = X_1 * X_2, and where z_0 = -1 the label is
X[l, 0] times an unknown factor.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.coded import as_coded
from instances.family import Examples


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """z of the examples with z_0 = -1, packed (n, words) with coordinate 0 cleared, and codes (n,).

    values: (n,) float64, the factor of the label less its public part.
    """

    words: NDArray[np.uint64]
    codes: NDArray[np.unsignedinteger[Any]]
    values: NDArray[np.float64]
    d: int

    def __len__(self) -> int:
        return len(self.codes)

    def z(self) -> NDArray[np.float64]:
        """Unpack z: (n, d) of +-1, coordinate 0 being +1."""
        return tokens.unpack(self.words, self.d).astype(np.float64)

    def signs(self) -> NDArray[np.int8]:
        """Unpack z without coordinate 0: (n, d - 1) of +-1."""
        return tokens.unpack(self.words, self.d)[:, 1:]


def reduce(examples: Examples) -> Reduced:
    """Keep the examples whose label is unknown; raises UsageError for families without such.

    >>> from instances.spec import parse
    >>> found = reduce(parse("lwr:n=2,q=4,p=2,secret=binary").instance(0).examples(0, 100))
    >>> found.z().shape == (len(found), 5), set(found.values.tolist())
    (True, {1.0, -1.0})
    """
    packed = as_coded(examples)
    family = packed.family
    unknown = family.open(packed.words)
    words, codes = packed.words[unknown], packed.codes[unknown]
    z = words[:, 0] ^ words[:, 1]
    z[:, 0] &= ~np.uint64(1)
    values = family.factors[codes] - family.expected(words)
    return Reduced(words=z, codes=codes, values=values, d=family.d)
