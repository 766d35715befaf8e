"""Prompts of in-context linear regression: n labelled points and a query, of one hidden task.

x ~ N(0, sigma), w ~ N(0, task), y = <w, x> + noise * N(0, 1). A learner reads (x_1, y_1) ..
(x_n, y_n) and x_{n+1}, and must predict <w, x_{n+1}>. Covariances have names or are in files.
[ACDS23]
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances import numbers, tokens
from instances.arrayfile import read_arrays, read_rows
from instances.disk import read_text
from instances.errors import UsageError, require
from instances.parameters import split_list
from instances.result import Result, TableRow, flat
from instances.streams import BitStream, generator, key

Array = NDArray[np.float64]
MOST_D, MOST_N = 256, 1_000_000
_MOST_TEXT = 1 << 24  # bytes of a covariance in a file
_MOST_NUMBERS = 1 << 36  # drawn for one result, mixed ones counted 1 + d/16 times: ten minutes
_LARGEST_CONDITION = 1e12
_FORMS = "identity, diag(..), power(a), toeplitz(r), rotated(..) or a file .npy, .csv or .txt"


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnPrompts:
    """Prompts: x (count, n+1, d), the query last; y (count, n); target (count,), w (count, d)."""

    x: Array
    y: Array  # labels of the n points, with noise
    target: Array  # <w, x_{n+1}>, without noise
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
            raise UsageError(f"n must be between 1 and {MOST_N}, got {self.n}")
        if not 0 <= self.noise <= 1000:
            raise UsageError(f"noise must be between 0 and 1000, got {self.noise}")
        shape = np.shape(self.sigma)
        if len(shape) != 2 or shape[0] != shape[1] or not 1 <= shape[0] <= MOST_D:
            raise UsageError(f"sigma must be (d, d), d from 1 to {MOST_D}, got {shape}")
        for name in ("sigma", "task"):
            checked = positive(getattr(self, name), shape[0], name)
            checked.setflags(write=False)
            object.__setattr__(self, name, checked)

    @classmethod
    def named(cls, d: int, n: int, sigma: str, task: str, noise: float, seed: int = 0) -> "Prompts":
        """Read sigma and task by name; the task "inverse" is the inverse of sigma.

        >>> Prompts.named(2, 20, "diag(1,4)", "inverse", 0.0).task.tolist()
        [[1.0, 0.0], [0.0, 0.25]]
        """
        require(1 <= d <= MOST_D, f"d must be between 1 and {MOST_D}, got {d}")
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
        """Draw prompts start .. start+count-1 of a named stream; batches do not change them."""
        if start < 0 or count < 0:
            raise UsageError(f"prompts {start} .. +{count} asked for: both must be at least 0")
        wide, tall = self._roots
        parts = ("x", "w", "noise")
        streams = {part: BitStream(key(seed, "prompts", axis, part)) for part in parts}
        x = _mix(tokens.gaussian(streams["x"], start, count, self.n + 1, self.d), wide)
        w = _mix(tokens.gaussian(streams["w"], start, count, 1, self.d), tall)[:, 0]
        products = (x * w[:, None]).sum(axis=2)
        y = products[:, :-1].copy()
        if self.noise:
            y += self.noise * tokens.gaussian(streams["noise"], start, count, self.n, 1)[:, :, 0]
        return DrawnPrompts(x=x, y=y, target=products[:, -1].copy(), w=w)


def _mix(z: ArrayLike, matrix: Array) -> Array:
    """Multiply rows by a symmetric matrix, without BLAS, whose rounding depends on the batch."""
    rows = np.asarray(z)
    out = rows[..., :1] * matrix[0]
    for j in range(1, len(matrix)):
        out += rows[..., j : j + 1] * matrix[j]
    return np.asarray(out)


def require_draws(count: int, n: int, d: int) -> None:
    """Refuse prompts that would take long to draw: `count` of n points; raises UsageError.

    >>> require_draws(100_000, 20, 5)
    """
    if count * (n + 1) * d * (1 + d / 16) > _MOST_NUMBERS:
        raise UsageError(f"{count} prompts at n={n}, d={d} take long: lower n, d or the samples")


def covariance(text: str, d: int, name: str, seed: int = 0) -> Array:
    """Read a covariance, (d, d); raises UsageError for other matrices.

    identity. diag(v, ..): d variances. power(a): variances 1, 2^-a, .., d^-a. toeplitz(r): entries
    r^|i-j|. rotated(v, ..): d variances in a random basis. Else a file of numbers.

    >>> covariance("toeplitz(0.5)", 2, "sigma").tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    named = re.fullmatch(r"\s*([a-z]+)\s*(?:\((.*)\))?\s*", text)
    if named and (form := named[1]) in _MAKERS:
        listed = filter(None, split_list(named[2] or ""))
        given = [numbers.parse(v, float, f"{name}: {form}") for v in listed]
        takes, most, make = _MAKERS[form]
        count = d if takes is None else takes
        if takes == 1 and (len(given) != 1 or not 0 <= given[0] <= most):
            raise UsageError(f"{name} {form} takes one number between 0 and {most:g}, got {text}")
        if len(given) != count:
            needed = f"d = {d} values" if takes is None else "no value"
            raise UsageError(f"{name} {form} takes {needed}, got {len(given)}")
        return positive(make(given, d, seed), d, name)
    if Path(text).suffix in (".npy", ".csv", ".txt"):
        return positive(_read(Path(text)), d, name)
    raise UsageError(f"{name} must be one of {_FORMS}, got {text!r}")


def positive(matrix: Any, d: int, name: str) -> Array:
    """Check that a matrix is a covariance of full rank; raises UsageError."""
    found = np.array(matrix, np.float64)
    require(found.shape == (d, d), f"{name} must have the shape ({d}, {d}), got {found.shape}")
    require(bool(np.isfinite(found).all()), f"{name} has entries that are not finite")
    size = float(np.abs(found).max())
    if not 1e-100 < size < 1e100:
        raise UsageError(f"{name} has entries up to {size:.3g}: between 1e-100 and 1e100 is needed")
    gap = float(np.abs(found - found.T).max())
    if gap > 1e-12 * size:
        raise UsageError(f"{name} is not symmetric: entries differ by {gap:.3g} from the transpose")
    found = (found + found.T) / 2
    values = np.linalg.eigvalsh(found)
    if values[0] <= 0:
        raise UsageError(
            f"{name} is not positive definite: its least eigenvalue is {values[0]:.3g}; all must "
            "be above 0"
        )
    if values[-1] > _LARGEST_CONDITION * values[0]:
        raise UsageError(
            f"{name} has condition {values[-1] / values[0]:.6g}: at most 1e12 is taken"
        )
    return found


def root(matrix: Array, power: float) -> Array:
    """Raise a positive definite matrix to a real power.

    >>> root(np.diag([4.0, 9.0]), -0.5).round(3).tolist()
    [[0.5, 0.0], [0.0, 0.333]]
    """
    values, basis = np.linalg.eigh(matrix)
    return np.asarray((basis * values**power) @ basis.T)


def _rotated(values: list[float], d: int, seed: int) -> Array:
    basis, triangle = np.linalg.qr(generator(seed, "basis").standard_normal((d, d)))
    basis *= np.sign(np.diag(triangle))
    turned = (basis * np.array(values)) @ basis.T
    return np.asarray((turned + turned.T) / 2)


# For each form: how many numbers it takes (None for d), their limit, the matrix.
_MAKERS: dict[str, tuple[int | None, float, Callable[[list[float], int, int], Array]]] = {
    "identity": (0, math.inf, lambda given, d, seed: np.eye(d)),
    "diag": (None, math.inf, lambda given, d, seed: np.diag(given)),
    "power": (1, 10, lambda given, d, seed: np.diag(np.arange(1, d + 1) ** -given[0])),
    "toeplitz": (1, 1, lambda given, d, seed: given[0] ** abs(np.arange(d) - np.c_[:d])),
    "rotated": (None, math.inf, _rotated),
}


def _read(path: Path) -> Array:
    if path.suffix == ".npy":
        return read_arrays(path)[0][""]
    lines = enumerate(read_text(path, _MOST_TEXT).splitlines(), 1)
    rows = {number: line for number, line in lines if line.strip()}
    return read_rows(path, rows, "," if path.suffix == ".csv" else None)


Count = Annotated[int, msgspec.Meta(ge=1)]
Matrix = list[list[float]]


class Study(Result, msgspec.Struct, frozen=True, kw_only=True, dict=True, tag_field="kind"):
    """A study of prompts of n points in dimension d; its kind, as `icl optimum`, is its command."""

    d: Count
    n: Count
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"format": 1, **msgspec.to_builtins(self)}

    def _listed(self) -> Iterable[dict[str, Any]]:
        """The single results of a study that has several."""
        return ()

    def _rows(self) -> list[TableRow]:
        every = [flat(msgspec.to_builtins(one)) for one in self._listed()] or [flat(self.to_dict())]
        names = dict.fromkeys(name for one in every for name in one)
        return [{name: one.get(name) for name in names} for one in every]


class OfLaw(Study, frozen=True, kw_only=True):
    """A study of a law of prompts; power: the loss of predicting 0."""

    noise: float
    sigma: Matrix
    task: Matrix
    power: float


def of_law(law: Prompts) -> dict[str, Any]:
    """Return the fields of `OfLaw` for a law."""
    found = {"d": law.d, "n": law.n, "noise": law.noise, "power": law.power}
    return {**found, "sigma": law.sigma.tolist(), "task": law.task.tolist()}
