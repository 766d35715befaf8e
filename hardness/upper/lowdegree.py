"""Least squares on all monomials of z up to a degree: blind to all parts of higher degree.

What is fitted is the label less its public part.
"""

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.learner import SPENT, Hypothesis, View, nothing
from hardness.upper.reduced import predictor
from instances.capabilities import CODED, SCHEME
from instances.family import Family, Secret, require
from instances.limits import require_memory
from instances.reduced import reduce
from instances.symmetric import to_float

_BLOCK = 1 << 12


@dataclass(frozen=True, kw_only=True)
class LowDegree:
    """Fits a polynomial of degree `degree` to `oversample` examples a monomial."""

    name: ClassVar[str] = "lowdegree"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "z"
    about: ClassVar[str] = "least squares on monomials of z up to a degree"

    degree: int = 2
    oversample: int = 8

    def __post_init__(self) -> None:
        require(self.degree >= 0, f"degree={self.degree} given: it must be at least 0")
        require(self.oversample >= 2, f"oversample={self.oversample} given: at least 2 is needed")

    def supports(self, family: Family) -> str | None:
        """Two-token families whose labels have one unknown factor."""
        return CODED.missing(family)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Solve the normal equations, then scale the fit by what fresh examples say of it."""
        family = CODED.need(oracle.family)
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
                wanted = min(_BLOCK, family.enough(self.oversample * size - used))
                block = reduce(oracle.draw(wanted))
                features = _monomials(block.z(), columns)
                gram += features.T @ features
                moment += features.T @ block.values
                used += len(block)
            coefficients = np.asarray(np.linalg.lstsq(gram, moment, rcond=1e-10)[0], np.float64)
            held_out = reduce(oracle.draw(_BLOCK))
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], monomials=size, examples_used=used)
        fitted = _monomials(held_out.z(), columns) @ coefficients
        square = max(float(fitted @ fitted), 1e-300)
        scale = float(np.clip(float(fitted @ held_out.values) / square, 0.0, 1.0))
        coefficients = scale * coefficients
        top = int(np.argmax(np.abs(coefficients)))
        return Hypothesis(
            predict=predictor(family, lambda z: _monomials(z, columns) @ coefficients),
            secret=_claimed(family, monomials[top], float(coefficients[top])),
            details={"monomials": size, "degree": degree, "scale": scale},
        )


def _claimed(family: Family, monomial: Secret, coefficient: float) -> Secret | None:
    """The hidden set whose own coefficient this is, within a factor of two."""
    scheme = SCHEME.of(family)
    if scheme is None or len(monomial) != scheme.m:
        return None
    peak = float(1 - 2 * family.noise) * to_float(scheme.fourier[scheme.m])
    return monomial if peak and coefficient / peak > 0.5 else None


def _ground(family: Family) -> range:
    return range(1, family.d)


def _columns(monomials: list[Secret], degree: int) -> NDArray[np.intp]:
    """Index arrays (size, degree); coordinate 0, which is +1 in the reduced view, fills up."""
    out = np.zeros((len(monomials), max(degree, 1)), np.intp)
    for row, monomial in zip(out, monomials, strict=True):
        row[: len(monomial)] = monomial
    return out


def _monomials(z: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = z[:, columns[:, 0]]
    for k in range(1, columns.shape[1]):
        out = out * z[:, columns[:, k]]
    return out
