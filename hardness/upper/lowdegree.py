"""Least squares on all monomials of z up to a degree: blind to all parts of higher degree.

What is fitted is the label less what everyone knows of it.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.learner import SPENT, Hypothesis, nothing
from hardness.upper.reduced import Reduced, as_symmetric, only_symmetric, reduce
from instances.family import Family, Secret, require
from instances.limits import require_memory
from instances.symmetric import to_float

_BLOCK = 1 << 12


@dataclass(frozen=True, kw_only=True)
class LowDegree:
    """Fits a polynomial of degree `degree` to `oversample` examples a monomial."""

    name: ClassVar[str] = "lowdegree"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    about: ClassVar[str] = "least squares on monomials of z up to a degree"

    degree: int = 2
    oversample: int = 8

    def __post_init__(self) -> None:
        require(self.degree >= 0, f"degree={self.degree} given: it must be at least 0")
        require(self.oversample >= 2, f"oversample={self.oversample} given: at least 2 is needed")

    def supports(self, family: Family) -> str | None:
        """Symmetric functions of hidden sets."""
        return only_symmetric(family)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Solve the normal equations, then scale the fit by what fresh examples say of it."""
        family = as_symmetric(oracle.family)
        degree = min(self.degree, family.d - 1)
        size = 0
        for k in range(degree + 1):
            size += math.comb(family.d - 1, k)
            require_memory(24 * size * (size + _BLOCK), f"{size:.3g} monomials of degree {degree}")
        monomials = [
            s for k in range(degree + 1) for s in itertools.combinations(_ground(family), k)
        ]
        columns = _columns(monomials, degree)
        gram, moment = np.zeros((size, size)), np.zeros(size)
        used = 0
        try:
            while used < self.oversample * size:
                wanted = min(_BLOCK, 2 * (self.oversample * size - used))
                block = reduce(oracle.draw(wanted))
                features, values = _features(block, columns)
                gram += features.T @ features
                moment += features.T @ values
                used += len(block)
            coefficients = np.asarray(np.linalg.lstsq(gram, moment, rcond=1e-10)[0], np.float64)
            held_out = reduce(oracle.draw(_BLOCK))
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], monomials=size, examples_used=used)
        features, values = _features(held_out, columns)
        fitted = features @ coefficients
        scale = float(
            np.clip(float(fitted @ values) / max(float(fitted @ fitted), 1e-300), 0.0, 1.0)
        )
        coefficients = scale * coefficients
        top = int(np.argmax(np.abs(coefficients)))
        claimed: Secret | None = None
        peak = float(1 - 2 * family.noise) * to_float(family.fourier[family.m])
        if peak and len(monomials[top]) == family.m and coefficients[top] / peak > 0.5:
            claimed = monomials[top]
        return Hypothesis(
            predict=lambda x: _predict(family, columns, coefficients, x),
            secret=claimed,
            details={"monomials": size, "degree": degree, "scale": scale},
        )


def _ground(family: Family) -> range:
    return range(1, family.d)


def _columns(monomials: list[Secret], degree: int) -> NDArray[np.intp]:
    """Index arrays (size, degree); coordinate 0, which is +1 in the reduced view, fills up."""
    out = np.zeros((len(monomials), max(degree, 1)), np.intp)
    for row, monomial in zip(out, monomials, strict=True):
        row[: len(monomial)] = monomial
    return out


def _features(
    block: Reduced, columns: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _monomials(block.z(), columns), block.values


def _monomials(z: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = z[:, columns[:, 0]]
    for k in range(1, columns.shape[1]):
        out = out * z[:, columns[:, k]]
    return out


def _predict(
    family: Family,
    columns: NDArray[np.intp],
    coefficients: NDArray[np.float64],
    x: NDArray[Any],
) -> NDArray[np.float64]:
    out = family.known(x)
    z = (x[:, 0] * x[:, 1]).astype(np.float64)
    unknown = np.flatnonzero(z[:, 0] < 0)
    z[:, 0] = 1.0
    for start in range(0, len(unknown), _BLOCK):
        rows = unknown[start : start + _BLOCK]
        values = _monomials(z[rows], columns) @ coefficients
        out[rows, :, 0] += x[rows, :, 0] * values[:, None]
    return out
