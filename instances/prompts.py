"""Prompts of in-context linear regression: n labelled points and a query, of one hidden task.

x ~ N(0, sigma), w ~ N(0, task), y = <w, x> + noise * N(0, 1); a learner reads (x_1, y_1) .. (x_n,
y_n) and x_{n+1}, and must say <w, x_{n+1}>. [ACDS23]
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances import tokens
from instances.covariance import covariance, positive, root
from instances.errors import UsageError
from instances.streams import BitStream, key

Array = NDArray[np.float64]
MOST_D, MOST_N = 256, 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnPrompts:
    """Prompts: x (count, n+1, d), the query last; y (count, n); target (count,), w (count, d)."""

    x: Array
    y: Array  # of the n points, with their noise
    target: Array  # <w, x_{n+1}>, without
    w: Array

    def __len__(self) -> int:
        return len(self.w)

    @property
    def gram(self) -> Array:
        """S = (1/n) sum_i x_i x_i^T over the n points: (count, d, d)."""
        points = self.x[:, :-1]
        return np.asarray(np.einsum("cni,cnj->cij", points, points) / points.shape[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Prompts:
    """The law of prompts: sigma and task (d, d), n points, the standard deviation of label noise.

    Raises UsageError for n < 1, a sigma or task that is not positive definite, shapes that
    disagree.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> law.draw(0, "train", 0, 3).x.shape
    (3, 21, 5)
    """

    n: int
    sigma: Array
    task: Array
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MOST_N:
            raise UsageError(f"n={self.n} given: a prompt has between 1 and {MOST_N} points")
        if not 0 <= self.noise <= 1000:
            raise UsageError(f"noise={self.noise} given: at least 0 and at most 1000 is needed")
        shape = np.shape(self.sigma)
        if len(shape) != 2 or shape[0] != shape[1] or not 1 <= shape[0] <= MOST_D:
            raise UsageError(
                f"sigma of shape {shape} given: (d, d) with d from 1 to {MOST_D} is needed"
            )
        for name in ("sigma", "task"):
            checked = positive(getattr(self, name), shape[0], name)
            checked.setflags(write=False)
            object.__setattr__(self, name, checked)

    @classmethod
    def named(cls, d: int, n: int, sigma: str, task: str, noise: float, seed: int = 0) -> "Prompts":
        """Read sigma and task by name; the task may be "inverse", that of sigma.

        >>> Prompts.named(2, 20, "diag(1,4)", "inverse", 0.0).task.tolist()
        [[1.0, 0.0], [0.0, 0.25]]
        """
        if not 1 <= d <= MOST_D:
            raise UsageError(f"d={d} given: the dimension must be between 1 and {MOST_D}")
        spread = covariance(sigma, d, "sigma", seed)
        if task.strip() == "inverse":
            inverse = root(spread, -1.0)
            return cls(n=n, sigma=spread, task=(inverse + inverse.T) / 2, noise=noise)
        return cls(n=n, sigma=spread, task=covariance(task, d, "task", seed), noise=noise)

    @property
    def d(self) -> int:
        """The dimension of a point."""
        return int(self.sigma.shape[0])

    @property
    def isotropic(self) -> bool:
        """Return whether whitened tasks are isotropic: task = sigma^-1, up to a factor."""
        product = self.sigma @ self.task
        level = np.trace(product) / self.d
        return bool(np.abs(product - level * np.eye(self.d)).max() <= 1e-9 * level)

    @property
    def inverse(self) -> bool:
        """Return whether task = sigma^-1, up to rounding: whitened tasks are N(0, I)."""
        return self.isotropic and abs(self.power - self.d) <= 1e-9 * self.d

    @property
    def power(self) -> float:
        """E <w, x>^2 = tr(sigma task), the loss of predicting 0."""
        return float(np.trace(self.sigma @ self.task))

    @cached_property
    def _roots(self) -> tuple[Array, Array]:
        return root(self.sigma, 0.5), root(self.task, 0.5)

    def draw(self, seed: int, axis: str, start: int, count: int) -> DrawnPrompts:
        """Draw prompts start .. start+count-1 of a named stream, the same however it is cut."""
        if start < 0 or count < 0:
            raise UsageError(f"prompts {start} .. +{count} asked for: both must be at least 0")
        wide, tall = self._roots
        streams = {
            part: BitStream(key(seed, "prompts", axis, part)) for part in ("x", "w", "noise")
        }
        x = _mix(tokens.gaussian(streams["x"], start, count, self.n + 1, self.d), wide)
        w = _mix(tokens.gaussian(streams["w"], start, count, 1, self.d), tall)[:, 0]
        products = (x * w[:, None]).sum(axis=2)
        y = products[:, :-1].copy()
        if self.noise:
            y += self.noise * tokens.gaussian(streams["noise"], start, count, self.n, 1)[:, :, 0]
        return DrawnPrompts(x=x, y=y, target=products[:, -1].copy(), w=w)


def _mix(z: ArrayLike, matrix: Array) -> Array:
    """Multiply rows by a symmetric matrix, without BLAS: it rounds by the number of rows."""
    rows = np.asarray(z)
    out = rows[..., :1] * matrix[0]
    for j in range(1, len(matrix)):
        out += rows[..., j : j + 1] * matrix[j]
    return np.asarray(out)
