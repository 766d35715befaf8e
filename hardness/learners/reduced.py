"""Predictions made of a function of z, the reduced view of tokens, or of the tokens."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Predict
from instances import tokens
from instances.coded import require_coded
from instances.family import Family

_AT_ONCE = 1 << 12


def product(x: NDArray[Any]) -> NDArray[np.float64]:
    """Multiply the two tokens: (n, 2, d) of +-1 -> z (n, d), coordinate 0 being +1."""
    z = (x[:, 0] * x[:, 1]).astype(np.float64)
    z[:, 0] = 1.0
    return z


def predictor(
    family: Family,
    surprise: Callable[[NDArray[Any]], NDArray[np.float64]],
    inputs: Callable[[NDArray[Any]], NDArray[Any]] = product,
) -> Predict:
    """Make predictions of a function of z: labels of what it adds to the factor that is known.

    surprise: `inputs` of n tokens -> (n,), the factor of the label less its public part.
    """
    coded = require_coded(family)

    def predict(x: NDArray[Any]) -> NDArray[np.float64]:
        words = tokens.pack(x)
        factor = np.array(coded.expected(words), np.float64)
        unknown = np.flatnonzero(coded.open(words))
        for start in range(0, len(unknown), _AT_ONCE):
            rows = unknown[start : start + _AT_ONCE]
            factor[rows] += surprise(inputs(x[rows]))
        return coded.labelled(x, factor)

    return predict


def known_factor(family: Family, z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate the public factor where z_0 = -1: (n, d), coordinate 0 any -> (n,)."""
    x = np.ones((len(z), 2, family.d), np.int8)
    x[:, 1] = z
    x[:, 1, 0] = -1
    return require_coded(family).expected(tokens.pack(x))
