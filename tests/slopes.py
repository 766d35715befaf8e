"""Derivatives against differences of the values."""

import numpy as np


def slopes_agree(value, slope, at, *, step=1e-6, rel=1e-6, ways=5, imaginary=False):
    """Assert that slope is the derivative of value at a place, along some random ways.

    value: of an array as `at`, a number or an array. slope: the gradient, of the shape of `at`, or
    derivatives (size of the value, size of `at`). imaginary: by a complex step, which loses no
    digits; value must then take complex arrays.
    """
    at, rng = np.asarray(at, float), np.random.default_rng(0)
    for _ in range(ways):
        way = rng.standard_normal(at.shape)
        if imaginary:
            found = np.ravel(value(at + 1e-30j * way)).imag / 1e-30
        else:
            found = np.ravel(np.subtract(value(at + step * way), value(at - step * way))) / 2 / step
        expected = np.reshape(slope, (len(found), -1)) @ way.ravel()
        scale = np.abs(np.reshape(slope, (len(found), -1))).max() * np.linalg.norm(way)
        assert np.allclose(found, expected, rtol=0, atol=rel * scale), (found, expected)
