"""How heavy the tails of stochastic gradients are, against Gaussian noise of their covariance.

For batches drawn at fixed layers, |g - mean g| is compared with the norm of a Gaussian vector with
the covariance of g: its law depends on the eigenvalues alone, and its kurtosis E|.|^4 / (E|.|^2)^2
is 1 + 2 sum_i v_i^2 / (sum_i v_i)^2. Norms that vary much are no sign of heavy tails by themselves:
a few large eigenvalues do that too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.icl.sampled import loss_and_gradient, sample
from instances.prompts import Prompts
from instances.streams import generator

Array = NDArray[np.float64]
_GAUSSIAN = 20_000  # norms drawn of the Gaussian of the same covariance
LEVELS = (0.5, 0.9, 0.99, 0.999)


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Quantiles of the noise norm over its median, at LEVELS; those of the Gaussian beside them."""

    batch: int
    draws: int
    relative: float  # median of the noise norm over the norm of the mean gradient
    quantiles: list[float]
    gaussian: list[float]
    kurtosis: float  # E|.|^4 / (E|.|^2)^2
    gaussian_kurtosis: float
    shares: list[float]  # log-spaced from 1 to 1/draws
    ratios: list[float]  # what a norm over its median exceeds in that share of the draws
    gaussian_ratios: list[float]


def tails(
    theta: Array,
    law: Prompts,
    batch: int,
    draws: int,
    seed: int,
    axis: str,
    shape: float | None = None,
) -> Tails:
    """Draw gradients of batches at the layers theta and compare their norms with Gaussian ones.

    >>> law = Prompts(n=9, sigma=np.eye(2), task=np.eye(2))
    >>> found = tails(np.full((1, 2, 2, 2), 0.1), law, 1, 300, 0, "example")
    >>> found.quantiles[2] > 2 * found.gaussian[2]
    True
    """
    rng = generator(seed, "icl", "noise", axis)
    found = np.array(
        [loss_and_gradient(theta, sample(law, rng, batch, shape))[1].ravel() for _ in range(draws)]
    )
    mean = found.mean(axis=0)
    noise = found - mean
    norms = np.sqrt((noise**2).sum(axis=1))
    values = np.linalg.svd(noise, compute_uv=False) ** 2 / (draws - 1)
    values = values[values > 1e-12 * values[0]]
    like = np.sqrt(rng.standard_normal((_GAUSSIAN, len(values))) ** 2 @ values)
    ratios, gaussian = norms / np.median(norms), like / np.median(like)
    shares = np.geomspace(1, 1 / draws, 60)
    return Tails(
        batch=batch,
        draws=draws,
        relative=float(np.median(norms) / np.sqrt((mean**2).sum())),
        quantiles=np.quantile(ratios, LEVELS).tolist(),
        gaussian=np.quantile(gaussian, LEVELS).tolist(),
        kurtosis=float((norms**4).mean() / (norms**2).mean() ** 2),
        gaussian_kurtosis=float(1 + 2 * (values**2).sum() / values.sum() ** 2),
        shares=shares.tolist(),
        ratios=np.quantile(ratios, 1 - shares).tolist(),
        gaussian_ratios=np.quantile(gaussian, 1 - shares).tolist(),
    )
