"""Kannan's embedding of LWE samples: a lattice whose shortest vector holds the secret. [Kannan87]

Both the unknown x and the errors e of b = A x + e mod q are short. They are scaled to the same
deviation and centred, which is what makes a small secret cheaper than a uniform one [BG14]; where
the secret is not shorter than the errors, n errors take its place, as in the normal form [ACPS09].
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from hardness.upper.modlinear import independent, inverse
from instances.errors import UsageError
from instances.family import Secret
from instances.integers import Integers
from instances.modular import Modular
from instances.samples import Samples

_GRAIN = 4  # scaled numbers are rounded: an error of one counts for four


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How unknowns x and errors e are scaled: w x - c of both has about the deviation of tau."""

    wx: int
    cx: int
    we: int
    ce: int
    tau: int

    @property
    def ratio(self) -> float:
        """How much shorter x is than e before scaling."""
        return self.wx / self.we


@dataclass(frozen=True, kw_only=True, eq=False)
class Embedding:
    """b = A x + e mod q, (m, n), with short x and e; s = back - through x mod q, or s = x."""

    samples: Samples  # all of them: by these a secret is believed
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    shape: Shape
    back: nmod_mat | None
    through: nmod_mat | None

    def basis(self) -> fmpz_mat:
        """Write the basis (m + n + 1 rows): q-vectors, one row for each unknown, the target."""
        (m, n), q, f = self.a.shape, self.samples.family.q, self.shape
        rows = np.zeros((m + n + 1, m + n + 1), np.int64)
        rows[:m, n : n + m] = f.we * q * np.eye(m, dtype=np.int64)
        rows[m : m + n, :n] = f.wx * np.eye(n, dtype=np.int64)
        rows[m : m + n, n : n + m] = f.we * _half(-self.a.T, q)
        rows[-1, :n] = -f.cx
        rows[-1, n : n + m] = f.we * _half(self.b, q) - f.ce
        rows[-1, -1] = f.tau
        return fmpz_mat(rows.tolist())

    def read(self, row: list[int]) -> Secret | None:
        """Read a secret of the family off a lattice vector; None where it holds none."""
        n, f, family = self.a.shape[1], self.shape, self.samples.family
        if abs(row[-1]) != f.tau:
            return None
        sign = 1 if row[-1] > 0 else -1
        scaled = [sign * v + f.cx for v in row[:n]]
        if any(v % f.wx for v in scaled):
            return None
        x = [v // f.wx for v in scaled]
        if self.back is None or self.through is None:
            return family.secrets.lift(x)
        found = self.back - self.through * nmod_mat(n, 1, x, family.q)
        return family.secrets.lift(int(v) for v in found.entries())


def embed(found: Samples, count: int) -> Embedding:
    """Embed `count` of the samples, or as many as there are; raises UsageError at a low rank."""
    family = found.family
    a, b, q = found.a, found.b, family.q
    if short_secret(found):
        return Embedding(
            samples=found, a=a[:count], b=b[:count], shape=shape(found), back=None, through=None
        )
    rows = independent(a, q)
    if len(rows) < family.n:
        raise UsageError(f"{len(found)} samples of rank {len(rows)} given: {family.n} are needed")
    through = inverse(a[rows], q)
    back = through * nmod_mat(len(rows), 1, b[rows].tolist(), q)
    others = np.setdiff1d(np.arange(len(found)), rows)[:count]
    if not len(others):
        raise UsageError(f"{len(found)} samples given: more than n = {family.n} are needed")
    rest = nmod_mat(len(others), family.n, a[others].ravel().tolist(), q)
    left = np.array([int(v) for v in (rest * through).entries()], np.int64)
    right = np.array([int(v) for v in (rest * back).entries()], np.int64)
    return Embedding(
        samples=found,
        a=-left.reshape(len(others), family.n) % q,
        b=(b[others] - right) % q,
        shape=shape(found),
        back=back,
        through=through,
    )


def short_secret(found: Samples) -> bool:
    """Return whether the secret's entries are shorter than the errors."""
    return _secret(found.family)[1] < _error(found).deviation


def shape(found: Samples) -> Shape:
    """Choose the scaling of samples."""
    error = _error(found)
    mean, deviation = error.mean, error.deviation
    if short_secret(found):
        mean, deviation = _secret(found.family)
    ratio = error.deviation / max(deviation, 1 / (2 * found.family.n))
    wx, we = max(1, round(_GRAIN * ratio)), _GRAIN  # errors may all be 0
    cx, ce = round(wx * mean), round(we * error.mean)
    tau = max(1, round(we * error.deviation))
    common = math.gcd(wx, we, cx, ce)
    return Shape(
        wx=wx // common,
        cx=cx // common,
        we=we // common,
        ce=ce // common,
        tau=max(1, round(tau / common)),
    )


def best_count(found: Samples, delta: float) -> int:
    """The number of samples m for which a reduction of root-Hermite factor delta works best.

    It maximises the gap ln Vol^(1/d) - d ln delta, d = m + n + 1, Vol = q^m ratio^n. [MR09]
    """
    family = found.family
    low = family.n * math.log(shape(found).ratio)

    def gap(m: int) -> float:
        d = m + family.n + 1
        return (m * math.log(family.q) + low) / d - d * math.log(delta)

    m = 1
    while gap(m + 1) > gap(m):
        m += 1
    return m


def _error(found: Samples) -> Integers:
    if found.error is None:
        raise UsageError(f"{found.family} given: its labels have no error, use modlinear")
    return found.error


def _secret(family: Modular) -> tuple[float, float]:
    """The mean and the deviation of an entry of the secret, h entries of which are not 0."""
    kind = family.secrets
    if kind.drawn is None:
        return 0.0, kind.rms
    mean = (kind.h / kind.n if kind.h else 1.0) * kind.drawn.mean
    return mean, math.sqrt(max(0.0, kind.rms**2 - mean**2))


def _half(values: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    return (values + q // 2) % q - q // 2
