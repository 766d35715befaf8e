"""The reduced view of examples: z, and the unknown part of the label, where it shows.

Everyone can compute it from tokens and labels: z = X_1 * X_2, and where z_0 = -1 the label is
X[l, 0] times an unknown factor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.upper.learner import Predict
from instances import tokens
from instances.coded import Coded, as_coded
from instances.errors import UsageError
from instances.family import Examples, Family
from instances.symmetric import Symmetric

_AT_ONCE = 1 << 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """z of the examples with z_0 = -1, packed (n, words) with coordinate 0 cleared, and codes (n,).

    values: (n,) float64, the factor of the label less what everyone knows of it.
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


def reduce(examples: Examples) -> Reduced:
    """Keep the examples whose label is unknown; raises UsageError for families without such.

    >>> from instances import parse
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


def predictor(
    family: Family, surprise: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Predict:
    """Make predictions of a function of z: what is known, and where z_0 = -1 X[l,0] times it more.

    surprise: (n, d) of +-1, coordinate 0 being +1 -> (n,), the factor less what everyone knows.
    """

    def predict(x: NDArray[Any]) -> NDArray[np.float64]:
        out = family.known(x)
        unknown = np.flatnonzero(x[:, 0, 0] != x[:, 1, 0])
        for start in range(0, len(unknown), _AT_ONCE):
            rows = unknown[start : start + _AT_ONCE]
            z = (x[rows, 0] * x[rows, 1]).astype(np.float64)
            z[:, 0] = 1.0
            out[rows, :, 0] += x[rows, :, 0] * surprise(z)[:, None]
        return out

    return predict


def only_coded(family: Family) -> str | None:
    """Say why a learner of one factor a label cannot run on another family."""
    if isinstance(family, Coded):
        return None
    return f"it learns two-token families whose labels have one unknown factor, not {family.name}"


def as_symmetric(family: Family) -> Symmetric:
    """Narrow a family to symmetric functions of hidden sets; raises UsageError for another."""
    if not isinstance(family, Symmetric):
        raise UsageError(f"{family.spec} given: only symmetric functions of hidden sets go here")
    return family
