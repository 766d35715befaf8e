"""Covariances by name: "diag(1,2,4)", "power(1)", "toeplitz(0.5)", "rotated(1,4)", or a file.

rotated(...) turns the eigenvalues into a random basis that depends on the seed alone, so the same
text is the same matrix everywhere.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances import numbers
from instances.errors import DamagedFile, UsageError
from instances.parameters import split_list
from instances.streams import generator

Array = NDArray[np.float64]
_LARGEST_CONDITION = 1e12
_FORMS = "identity, diag(..), power(a), toeplitz(r), rotated(..) or a file .npy, .csv or .txt"


def covariance(text: str, d: int, name: str, seed: int = 0) -> Array:
    """Read a covariance, (d, d); raises UsageError for other matrices.

    identity. diag(v, ..): d variances. power(a): variances 1, 2^-a, .., d^-a. toeplitz(r): entries
    r^|i-j|. rotated(v, ..): d variances in a random basis. Else a file of numbers.

    >>> covariance("toeplitz(0.5)", 2, "sigma").tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    named = re.fullmatch(r"\s*([a-z]+)\s*(?:\((.*)\))?\s*", text)
    if named and (form := named[1]) in _MAKERS:
        given = [
            numbers.parse(v, float, f"{name}: {form}") for v in split_list(named[2] or "") if v
        ]
        takes, most, make = _MAKERS[form]
        count = d if takes is None else takes
        if takes == 1 and (len(given) != 1 or not 0 <= given[0] <= most):
            raise UsageError(f"{name} {form} given: {form} takes one number from 0 to {most:g}")
        if len(given) != count:
            needed = f"d = {d} values are" if takes is None else "none is"
            raise UsageError(f"{name} {form} of {len(given)} values given: {needed} needed")
        return positive(make(given, d, seed), d, name)
    if Path(text).suffix in (".npy", ".csv", ".txt"):
        return positive(_read(Path(text)), d, name)
    raise UsageError(f"{name} {text!r} given: one of {_FORMS} is needed")


def positive(matrix: Any, d: int, name: str) -> Array:
    """Check that a matrix is a covariance of full rank; raises UsageError."""
    found = np.array(matrix, np.float64)
    if found.shape != (d, d):
        raise UsageError(f"{name} of shape {found.shape} given: d = {d} needs ({d}, {d})")
    if not np.isfinite(found).all():
        raise UsageError(f"{name} has entries that are not finite")
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
            f"{name} has a condition number of {values[-1] / values[0]:.6g}: at most 1e12 can be "
            "computed with"
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


# How many numbers a form takes, None for d of them; the most that one may be; the matrix.
_MAKERS: dict[str, tuple[int | None, float, Callable[[list[float], int, int], Array]]] = {
    "identity": (0, math.inf, lambda given, d, seed: np.eye(d)),
    "diag": (None, math.inf, lambda given, d, seed: np.diag(given)),
    "power": (1, 10, lambda given, d, seed: np.diag(np.arange(1, d + 1) ** -given[0])),
    "toeplitz": (1, 1, lambda given, d, seed: given[0] ** abs(np.arange(d) - np.c_[:d])),
    "rotated": (None, math.inf, _rotated),
}


def _read(path: Path) -> Array:
    try:
        if path.suffix == ".npy":
            found = np.load(path, allow_pickle=False)
        else:
            separator = "," if path.suffix == ".csv" else None
            found = np.loadtxt(path, delimiter=separator, ndmin=2)
    except FileNotFoundError as error:
        raise UsageError(f"{path} given: there is no such file") from error
    except (OSError, ValueError, EOFError) as error:
        raise DamagedFile(f"{path} holds no matrix of numbers ({error})") from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiu":
        raise DamagedFile(f"{path} holds no matrix of real numbers")
    return found
