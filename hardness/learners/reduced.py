"""Predictions of labels from a function of z, the product of the two tokens, or of tokens."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Predict
from instances import tokens
from instances.coded import require_coded
from instances.family import Family

_BATCH_EXAMPLES = 1 << 12


def product(x: NDArray[Any]) -> NDArray[np.float64]:
    """Multiply the two tokens: (n, 2, d) of +-1 -> z (n, d), with coordinate 0 set to +1."""
    z = (x[:, 0] * x[:, 1]).astype(np.float64)
    z[:, 0] = 1.0
    return z


def predictor(
    family: Family,
    surprise: Callable[[NDArray[Any]], NDArray[np.float64]],
    inputs: Callable[[NDArray[Any]], NDArray[Any]] = product,
) -> Predict:
    """Make predictions of labels from a function of z that predicts the unknown factor.

    surprise: maps `inputs` of n informative tokens to (n,), the factor minus the baseline's factor.
    """
    coded = require_coded(family)

    def predict(x: NDArray[Any]) -> NDArray[np.float64]:
        words = tokens.pack(x)
        factor = np.array(coded.expected(words), np.float64)
        unknown = np.flatnonzero(coded.open(words))
        for start in range(0, len(unknown), _BATCH_EXAMPLES):
            rows = unknown[start : start + _BATCH_EXAMPLES]
            factor[rows] += surprise(inputs(x[rows]))
        return coded.labelled(x, factor)

    return predict


def known_factor(family: Family, z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate the baseline's factor where z_0 = -1; z_0 is ignored: (n, d) -> (n,)."""
    x = np.ones((len(z), 2, family.d), np.int8)
    x[:, 1] = z
    x[:, 1, 0] = -1
    return require_coded(family).expected(tokens.pack(x))
