"""The primal attack: the secret is in the shortest vector of a lattice. [ADPS16]

Kannan's embedding [Kannan87]: both the unknown x and the errors e of b = A x + e mod q are short.
They are scaled to the same deviation and centred, which is what makes a small secret cheaper than a
uniform one [BG14]; where the secret is not shorter than the errors, n errors take its place, as in
the normal form [ACPS09].
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.attack import Attack, believed, gather, needed, no_lattice
from hardness.upper.lattice import (
    LARGEST_BLOCK,
    LLL_BLOCK,
    Basis,
    reduce,
    require_fpylll,
    root_hermite,
)
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.modlinear import independent, inverse
from instances.errors import UsageError
from instances.family import Secret, require
from instances.integers import Integers
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples, samples

_STEP = 4  # between block sizes
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

    def basis(self) -> Basis:
        """Write the basis (m + n + 1 rows): q-vectors, one row for each unknown, the target."""
        (m, n), q, f = self.a.shape, self.samples.family.q, self.shape
        rows = np.zeros((m + n + 1, m + n + 1), np.int64)
        rows[:m, n : n + m] = f.we * q * np.eye(m, dtype=np.int64)
        rows[m : m + n, :n] = f.wx * np.eye(n, dtype=np.int64)
        rows[m : m + n, n : n + m] = f.we * _half(-self.a.T, q)
        rows[-1, :n] = -f.cx
        rows[-1, n : n + m] = f.we * _half(self.b, q) - f.ce
        rows[-1, -1] = f.tau
        return rows

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


@dataclass(frozen=True, kw_only=True)
class Primal(Attack):
    """Reduces the embedding lattice with blocks start, start + 4, ..., block; 2 is LLL alone.

    Blocks above 2 need the extra `lattice`. A run that was cut short goes on where it was with
    `start`. samples: of the lattice; 0 for the number that is best for the block. It
    makes do with fewer where there are no more.
    """

    revision: ClassVar[int] = 2
    name: ClassVar[str] = "primal"
    about: ClassVar[str] = "primal lattice attack: Kannan's embedding, LLL, BKZ with block=20 or so"

    block: int = LLL_BLOCK
    start: int = 10
    samples: int = 0

    def __post_init__(self) -> None:
        require(
            LLL_BLOCK <= self.block <= LARGEST_BLOCK,
            f"block={self.block} given: 2, which is LLL alone, to {LARGEST_BLOCK}",
        )
        require(self.start >= 3, f"start={self.start} given: the first block of BKZ, at least 3")
        require(self.samples >= 0, f"samples={self.samples} given: at least 1, or 0 for the best")

    def unfit(self, forms: Modular) -> str | None:
        """Return that labels do not say about where <a, s> mod q is, with an error, or None."""
        return no_lattice(forms)

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Reduce with growing blocks until a basis vector holds a secret that samples show."""
        if self.block > LLL_BLOCK:
            require_fpylll()
        family = oracle.family
        try:
            lattice, wanted = self._embed(forms, oracle)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource])
        used = len(lattice.samples)
        details: dict[str, Any] = {
            "samples": used,
            "dimension": sum(lattice.a.shape) + 1,
            "block": 0,
        }
        try:
            blocks = [*range(self.start, self.block, _STEP), self.block]
            for block, basis in reduce(
                lattice.basis(), blocks, oracle.meter, int(rng.integers(1 << 31))
            ):
                details["block"] = block
                secret = recover(lattice, basis)
                if secret is not None:
                    return member(family, family.from_linear(secret), **details)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], **details)
        if used < wanted:
            details["samples_wanted"] = wanted
            return nothing(family, Outcome.EXAMPLES_SPENT, **details)
        return nothing(family, Outcome.NOT_FOUND, **details)

    def _embed(self, forms: Modular, oracle: ExampleOracle) -> tuple[Embedding, int]:
        """Embed the best number of samples, or all that there are, and say how many that takes."""
        found = gather(oracle, max(needed(forms), forms.n), samples)
        count = self.samples or best_count(found, root_hermite(self.block))
        d = forms.n + count + 1
        require_memory(100 * d * d, f"a lattice of dimension {d}")
        if len(found) < count + forms.n:
            try:
                found = Samples.join((found, gather(oracle, count + forms.n - len(found), samples)))
            except Spent as spent:  # what is there has to do
                if spent.resource != "examples":
                    raise
        while True:
            try:
                made = embed(found, count)
                return made, max(needed(forms), count + (forms.n if made.back is not None else 0))
            except UsageError:  # a low rank, likely for small n and q only
                found = Samples.join((found, gather(oracle, 8, samples, every=True)))


def recover(lattice: Embedding, basis: Basis) -> Secret | None:
    """Find a basis vector that holds a secret which the samples show; None where there is none."""
    for row in basis[abs(basis[:, -1]) == lattice.shape.tau].tolist():
        secret = lattice.read(row)
        if secret is not None and believed(lattice.samples, secret):
            return secret
    return None
