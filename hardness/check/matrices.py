"""Matrices of a certificate as they are given, and the radius of sampled ones."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.check.reading import listed, number, refuse
from instances.parameters import fraction, plain


def read_square(rows: Any, size: int, more: int, kind: type) -> NDArray[Any]:
    """Read the rows below the diagonal, with it where `more` is 1, of a symmetric matrix."""
    if [len(listed(row)) for row in listed(rows)] != [i + more for i in range(size)]:
        refuse(f"a matrix is not the lower half of {size} rows")
    if any(type(v) is not kind for row in rows for v in row):
        refuse(f"a matrix has an entry that is not of type {kind.__name__}")
    out = np.zeros((size, size), np.int64 if kind is int else np.float64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
        out[: len(row), i] = row
    if kind is float and not np.isfinite(out).all():
        refuse("a matrix has an entry that is not finite")
    return out


def check_radius(correlations: NDArray[np.float64], given: dict[str, Any], centred: bool) -> None:
    """Hoeffding's radius of inner products, then interval arithmetic entry by entry."""
    size = len(correlations)
    confidence = fraction(given["confidence"], "confidence")
    samples = number(given["samples"], 1, 10**15, "the number of samples")
    number(given["seed"], 0, 1 << 64, "the seed")
    if any(type(v) is not float for v in listed(given["norms"])):
        refuse("a norm is not a number")
    norms, bound = np.array(given["norms"], np.float64), given["bound"]
    if plain(confidence) != given["confidence"] or not 0 < confidence < 1:
        refuse("the confidence is not between 0 and 1")
    if type(bound) is not float or not 0 < bound < 1e100 or norms.shape != (size,):
        refuse("the bound or the norms are not valid")
    pairs = size * (size + 1)
    r = bound**2 * math.sqrt(2 * math.log(pairs / (1 - float(confidence))) / samples)
    r *= 4 if centred else 1
    if not (np.isfinite(norms) & (norms > r)).all():
        refuse("a member may have the norm 0")
    low, high = np.sqrt(norms - r), np.sqrt(norms + r)
    product = np.abs(correlations) * np.sqrt(np.outer(norms, norms))
    most = np.minimum((product + r) / np.outer(low, low), 1.0) - np.abs(correlations)
    down = product - r
    least = np.where(down < 0, down / np.outer(low, low), down / np.outer(high, high))
    off = np.maximum(most, np.abs(correlations) - np.maximum(least, -1.0))
    np.fill_diagonal(off, 0.0)
    needed, radius = float(off.max()), given["radius"]
    step = 10.0 ** (math.floor(math.log10(radius)) - 3) if radius > 0 else 0.0
    if not needed <= radius <= needed + 1.01 * step or float(f"{radius:.3e}") != radius:
        refuse("the radius does not follow from samples, confidence, bound and norms")
