"""The primal attack: the secret is in the shortest vector of a lattice. [ADPS16]

Kannan's embedding [Kannan87]: both the unknown x and the errors e of b = A x + e mod q are short.
They are scaled to the same deviation and centred, which is what makes a small secret cheaper than a
uniform one [BG14]; where the secret is not shorter than the errors, n errors take its place, as in
the normal form [ACPS09]. Reduction goes in steps between which the clock is looked at: LLL by
flint, BKZ by fpylll.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Meter, Spent
from hardness.upper.attack import Attack, believed, gather, needed, no_lattice
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.modlinear import independent, inverse
from instances.errors import ToolkitError, UsageError
from instances.family import Secret, require
from instances.integers import Integers
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples, samples

LLL_BLOCK = 2
LARGEST_BLOCK = 80
_ROWS = 8  # that LLL takes in between two looks at the clock
_PRUNED = 30  # larger blocks are enumerated with pruning, and reduced before
_SUCCESS = 0.9  # of a pruned enumeration
_GSA = 1.013  # root-Hermite factor of the bases that pruning is made for
_TOURS = 2  # at most, of each block size: what the next one does better
_DOUBLE = 160  # the largest dimension where the Gram-Schmidt vectors are kept in float64
_DELTAS = {2: 1.0219, 5: 1.0186, 10: 1.0162, 15: 1.0149, 20: 1.0142, 28: 1.0133, 40: 1.0129}
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


def root_hermite(block: int) -> float:
    """The root-Hermite factor that blocks of this size reach, measured in the literature. [APS15]

    >>> root_hermite(2) > root_hermite(20) > root_hermite(60)
    True
    """
    if block > 50:
        b = float(block)
        inner = (np.pi * b) ** (1 / b) * b / (2 * np.pi * np.e)
        return float(inner ** (1 / (2 * b - 2)))
    return float(np.interp(block, list(_DELTAS), list(_DELTAS.values())))


def lll(basis: fmpz_mat, meter: Meter) -> fmpz_mat:
    """Reduce a basis (d, d), rows, by LLL, a few rows more each time; raises Spent. [LLL82]"""
    rows = basis.tolist()
    done: list[Any] = []
    for start in range(0, len(rows), _ROWS):
        meter.require_time()
        done = fmpz_mat(done + rows[start : start + _ROWS]).lll().tolist()
    return fmpz_mat(done)


def bkz(
    basis: fmpz_mat, blocks: Iterable[int], meter: Meter, seed: int
) -> Iterator[tuple[int, fmpz_mat]]:
    """Reduce an LLL-reduced basis by BKZ with growing blocks, and yield it after each tour.

    Raises Spent, or ToolkitError where the extra `lattice` is missing. [SE94, CN11]
    """
    fpylll = require_fpylll()
    from fpylll.algorithms.bkz2 import BKZReduction

    fpylll.FPLLL.set_random_seed(seed)
    rows = fpylll.IntegerMatrix.from_matrix([[int(v) for v in row] for row in basis.tolist()])
    kind = "double" if rows.nrows <= _DOUBLE else "long double"
    gso = fpylll.GSO.Mat(rows, float_type=kind)
    gso.update_gso()
    work = BKZReduction(gso)
    for block in blocks:
        parameters = _parameters(min(block, rows.nrows))
        for _ in range(_TOURS):
            clean = True
            for kappa in range(rows.nrows - 1):
                meter.require_time()
                size = min(parameters.block_size, rows.nrows - kappa)
                clean &= work.svp_reduction(kappa, size, parameters)
            yield block, fmpz_mat([list(row) for row in rows])
            if clean:
                break


def require_fpylll() -> Any:
    """Import fpylll; raises ToolkitError where the extra is not installed."""
    try:
        import fpylll
    except ImportError as error:
        raise ToolkitError(
            "BKZ needs fpylll, which is not installed: pip install 'hardness-toolkit[lattice]', or "
            f"take block={LLL_BLOCK}, which is LLL alone"
        ) from error
    return fpylll


def _parameters(block: int) -> Any:
    from fpylll import BKZ

    strategies = [_strategy(size) for size in range(block + 1)]
    return BKZ.Param(block_size=block, strategies=strategies, flags=BKZ.GH_BND)


@cache
def _strategy(size: int) -> Any:
    """A strategy by hand: the file of default ones is not in the wheels of fpylll. [CN11]"""
    from fpylll import Pruning
    from fpylll.fplll.bkz_param import Strategy
    from fpylll.util import gaussian_heuristic

    if size <= _PRUNED:
        return Strategy(size)
    profile = [_GSA ** (-4 * i) for i in range(size)]
    pruning = Pruning.run(
        1.1 * gaussian_heuristic(profile),  # what GH_BND allows for
        2.0 ** (size / 2),
        [profile],
        _SUCCESS,
        flags=Pruning.GRADIENT | Pruning.HALF,
    )
    return Strategy(size, preprocessing_block_sizes=[size - 20], pruning_parameters=[pruning])


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
            for block, basis in self._reduce(lattice, oracle, int(rng.integers(1 << 31))):
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

    def _reduce(
        self, lattice: Embedding, oracle: ExampleOracle, seed: int
    ) -> Iterator[tuple[int, fmpz_mat]]:
        basis = lll(lattice.basis(), oracle.meter)
        yield LLL_BLOCK, basis
        if self.block > LLL_BLOCK:
            blocks = [*range(self.start, self.block, _STEP), self.block]
            yield from bkz(basis, blocks, oracle.meter, seed)


def recover(lattice: Embedding, basis: fmpz_mat) -> Secret | None:
    """Find a basis vector that holds a secret which the samples show; None where there is none."""
    for i in range(basis.nrows()):
        if abs(int(basis[i, basis.ncols() - 1])) != lattice.shape.tau:
            continue
        secret = lattice.read([int(basis[i, j]) for j in range(basis.ncols())])
        if secret is not None and believed(lattice.samples, secret):
            return secret
    return None
