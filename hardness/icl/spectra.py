"""Sampled spectra of S: evidence for exact losses that does not share their algebra."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.errors import UsageError
from instances.limits import require_memory
from instances.streams import generator

Array = NDArray[np.float64]
_BLOCK = 1 << 22  # numbers drawn at a time


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A mean over sampled prompts with its standard error.

    The tails are heavy: a power of the largest eigenvalue, rare and large. Where these carry the
    mean, the standard error is itself too small.
    """

    mean: float
    error: float
    count: int


def spectra(n: int, d: int, count: int, seed: int) -> Array:
    """Draw the eigenvalues (count, d), ascending, of S = (1/n) sum_i x_i x_i^T, x ~ N(0, I_d).

    >>> spectra(20, 5, 3, 0).shape
    (3, 5)
    """
    if min(n, d, count) < 1:
        raise UsageError(f"n={n}, d={d}, count={count} given: each must be at least 1")
    block = max(1, min(count, _BLOCK // (n * d)))
    require_memory(8 * (count * d + 3 * block * n * d), f"{count} spectra")
    draws = generator(seed, "spectra", n, d)
    out = np.zeros((count, d))
    for start in range(0, count, block):
        x = draws.standard_normal((min(block, count - start), n, d))
        turned = x.transpose(0, 2, 1)
        inner = np.matmul(x, turned) if n < d else np.matmul(turned, x)  # the smaller; else 0
        out[start : start + block, max(0, d - n) :] = np.linalg.eigvalsh(inner / n)
    return out


def loss_on(values: Array, p: ArrayLike, q: ArrayLike, n: int, noise: float = 0.0) -> Sampled:
    """Average the loss of scalars p, q (L,) over spectra (count, d) of n points."""
    if len(values) < 2:
        raise UsageError(f"{len(values)} spectra given: an error needs at least 2 samples")
    g, u, net = np.ones_like(values), np.ones_like(values), np.zeros_like(values)
    for a, b in zip(np.asarray(p, float), np.asarray(q, float), strict=True):
        net, u = net - b * u * g, u * (1 - b * values * g)
        g = g * (1 - a * b * values * g) ** 2
    each = (u**2 + noise**2 / n * values * net**2).sum(axis=1)
    error = float(each.std(ddof=1) / np.sqrt(len(each)))
    return Sampled(mean=float(each.mean()), error=error, count=len(each))
