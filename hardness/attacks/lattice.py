"""Lattice reduction, and places that are left out of it: LLL by flint, BKZ by fpylll.

A basis is a (d, d) int64 array, a vector a row. Reduction goes in steps between which the clock is
looked at, and gives the basis back after each tour, so that a search may end where it has found
what it looks for.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from hardness.oracles import Meter, Spent
from instances.errors import ToolkitError
from instances.secrets import Secrets
from instances.streams import generator

LLL_BLOCK = 2
LARGEST_BLOCK = 80
_PATIENCE = 30  # times the tries that it takes on average
_ROWS = 8  # that LLL takes in between two looks at the clock
_SMALL = 800  # bits of a row: bases below are reduced in one step, of 0.1 s or so
_LONG = 2500  # bits of a row: above it a step may take seconds, and is ended where the time is over
_APART = """import sys, numpy as np
from hardness.attacks.lattice import _stepwise
entries = np.frombuffer(sys.stdin.buffer.read(), np.int64)
d = round(len(entries) ** 0.5)
sys.stdout.buffer.write(_stepwise(entries.reshape(d, d)).tobytes())"""
_TOURS = 2  # of a block size up to _PRUNED: small ones settle slowly
_PRUNED = 30  # larger blocks are enumerated with pruning
_PREPROCESSED = 40  # larger blocks are reduced before, by blocks of _LESS less
_LESS = 20
_SUCCESS = 0.5  # of a pruned enumeration, or less where that takes too many nodes
_GSA = 1.0125  # root-Hermite factor of the bases that pruning is made for
_RADIUS = 1.1  # square of the radius over that of the Gaussian heuristic, as fpylll has it
_NODES = 23  # log2 of the nodes of an enumeration for which pruning is made: some 0.2 seconds
_MOST_NODES = 24.5  # log2 of those that a block may take: it is cut where it would take more
_DOUBLE = 180  # the largest dimension where the Gram-Schmidt vectors are kept in float64
_DELTAS = {2: 1.0219, 5: 1.0186, 10: 1.0162, 15: 1.0149, 20: 1.0142, 28: 1.0133, 40: 1.0129}

Basis = NDArray[np.int64]


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


def left_out(n: int, zeta: int, index: int) -> NDArray[np.int64]:
    """Draw the places that try `index` of a search leaves out: zeta of n, ascending.

    They are the same in all runs, so that a search may be cut at any try. A learner's own random
    numbers are not: they differ with its parameters, where it goes on among them.

    >>> left_out(8, 3, index=2).tolist() == left_out(8, 3, index=2).tolist()
    True
    """
    return np.sort(generator(0, "try", n, zeta, index).permutation(n)[:zeta])


def tries(secrets: Secrets, zeta: int, weight: int = 0) -> int:
    """Count the tries until a search gives up: 30 times those until one is right, on average.

    A try is right where at most `weight` of its zeta places are not 0. Without zeta there is one.

    >>> tries(Secrets(kind="binary", n=4, q=7, h=2), 1), tries(Secrets(kind="binary", n=4, q=7), 1)
    (60, 60)
    """
    from scipy.stats import binom, hypergeom

    if not zeta:
        return 1
    if secrets.h:
        right = hypergeom.cdf(weight, secrets.n, secrets.h, zeta)
    else:
        zero = secrets.entries.residues(secrets.q)[0] / 2**64 if secrets.entries else 1 / secrets.q
        right = binom.cdf(weight, zeta, 1 - zero)
    return math.ceil(_PATIENCE / max(float(right), 2.0**-57))


def reduce(
    basis: Basis, blocks: Iterable[int], meter: Meter, seed: int
) -> Iterator[tuple[int, Basis]]:
    """Reduce a basis by LLL, then by BKZ with these blocks; yield block and basis after each tour.

    The first is LLL's, block 2. Blocks of BKZ are above 2; without them fpylll is not needed. The
    same seed gives the same bases. The clock is looked at before each block of a tour. Raises
    Spent, or ToolkitError where the extra `lattice` is missing. [LLL82, SE94, CN11]

    >>> from hardness.oracles import Budget
    >>> basis = np.array([[0, 0, 97], [0, 1, 40], [1, 0, 15]])
    >>> [(block, found[0].tolist()) for block, found in reduce(basis, [], Meter(Budget()), 0)]
    [(2, [1, 2, -2])]
    """
    reduced = _lll(basis, meter)
    yield LLL_BLOCK, reduced
    blocks = [block for block in blocks if block > LLL_BLOCK]
    if blocks:
        yield from _bkz(reduced, blocks, meter, seed)


def _lll(basis: Basis, meter: Meter) -> Basis:
    """Reduce a basis, a few rows more each time; raises Spent."""
    left = meter.left()
    if left == math.inf or _bits(basis) < _LONG:
        return _stepwise(basis, meter.require_time)
    try:  # no step can be interrupted from within
        done = subprocess.run(
            [sys.executable, "-c", _APART],
            input=basis.tobytes(),
            capture_output=True,
            timeout=left,
            check=True,
        )
    except subprocess.TimeoutExpired as over:
        raise Spent("seconds") from over
    return np.frombuffer(done.stdout, np.int64).reshape(basis.shape).copy()


def _bits(basis: Basis) -> float:
    return len(basis) * math.log2(max(2, int(abs(basis).max())))


def _stepwise(basis: Basis, check: Callable[[], None] = lambda: None) -> Basis:
    """Reduce a basis, with a look at the clock between steps; what `check` raises passes through.

    >>> _stepwise(np.array([[0, 97], [1, 40]])).tolist()
    [[5, 6], [-12, 5]]
    """
    done: list[Any] = []
    step = len(basis) if _bits(basis) < _SMALL else _ROWS
    for start in range(0, len(basis), step):
        check()
        more = basis[start : start + step].tolist()
        done = [[int(v) for v in row] for row in fmpz_mat(done + more).lll().tolist()]
    return np.array(done, np.int64)


def _bkz(
    basis: Basis, blocks: Iterable[int], meter: Meter, seed: int
) -> Iterator[tuple[int, Basis]]:
    """Reduce an LLL-reduced basis by BKZ, a tour or _TOURS for each block."""
    fpylll = require_fpylll()
    from fpylll.fplll.bkz import BKZReduction

    fpylll.FPLLL.set_random_seed(seed)
    rows, d = fpylll.IntegerMatrix.from_matrix(basis.tolist()), len(basis)
    gso = fpylll.GSO.Mat(rows, float_type="double" if d <= _DOUBLE else "long double")
    lll = fpylll.LLL.Reduction(gso)
    lll()
    work = BKZReduction(gso, lll, fpylll.BKZ.Param(LLL_BLOCK))
    for block in (beta for beta in blocks for _ in range(_TOURS if beta <= _PRUNED else 1)):
        for size in range(min(block, d) + 1):  # each some 0.1 seconds, the first time
            meter.require_time()
            _strategy(size)
        for kappa in range(d - 1):
            end = min(kappa + block, d)
            if end - kappa > _PREPROCESSED:
                for k in range(kappa, end - 1):
                    _shorten(work, k, min(end - k, end - kappa - _LESS), meter)
            _shorten(work, kappa, end - kappa, meter)
        out = np.zeros(basis.shape, np.int64)
        rows.to_matrix(out)
        yield block, out


def _shorten(work: Any, kappa: int, size: int, meter: Meter) -> None:
    """Put a short vector of a block at its head; the block is cut where that would take long."""
    meter.require_time()
    while size > _PREPROCESSED and _nodes(work.M, kappa, size) > _MOST_NODES:
        size -= 1
    work.svp_reduction(kappa, size, _parameters(size))


def _nodes(gso: Any, kappa: int, size: int) -> float:
    """Bound log2 of the nodes of a pruned enumeration, by what the profile is to that assumed.

    On k levels there are R^k / (||b_1*|| .. ||b_k*||) nodes but for a factor, of the last k
    vectors, [CN11].
    """
    gso.update_gso()
    there = np.log([gso.get_r(i, i) for i in range(kappa, kappa + size)])
    assumed = -4 * math.log(_GSA) * np.arange(size)
    gap = (there - there.mean()) - (assumed - assumed.mean())
    more = -np.cumsum(gap[::-1]) / 2  # R is that of the Gaussian heuristic in both
    _, nodes = _pruning(size + size % 2)
    return float(nodes + max(0.0, more.max()) / math.log(2))


def require_fpylll() -> Any:
    """Import fpylll; raises ToolkitError where the extra is not installed."""
    try:
        import fpylll
    except ImportError as error:
        raise ToolkitError(
            "BKZ needs fpylll, which is not installed: pip install 'hardness-toolkit[lattice]', "
            "or take block=2, which is LLL alone"
        ) from error
    return fpylll


@cache
def _parameters(block: int) -> Any:
    from fpylll import BKZ

    strategies = [_strategy(size) for size in range(block + 1)]
    flags = BKZ.GH_BND | BKZ.BOUNDED_LLL
    least = 2.0**-20  # one enumeration a call: what it misses the next tour finds
    return BKZ.Param(block, strategies=strategies, flags=flags, min_success_probability=least)


@cache
def _strategy(size: int) -> Any:
    """A strategy by hand: the file of default ones is not in the wheels of fpylll. [CN11]"""
    from fpylll import Pruning
    from fpylll.fplll.bkz_param import Strategy

    if size <= _PRUNED:
        return Strategy(size)
    found, _ = _pruning(size + size % 2)
    pruning = Pruning.PruningParams(found.gh_factor, found.coefficients[:size], found.expectation)
    return Strategy(size, pruning_parameters=[pruning])


@cache
def _pruning(size: int) -> tuple[Any, float]:
    """Prune an enumeration of an even size, and count log2 of its nodes."""
    from fpylll import Pruning
    from fpylll.util import gaussian_heuristic

    profile, success = [_GSA ** (-4 * i) for i in range(size)], _SUCCESS
    radius = _RADIUS * gaussian_heuristic(profile)
    while True:
        overhead = 2.0 ** (size / 2)
        found = Pruning.run(radius, overhead, [profile], success, flags=Pruning.GRADIENT)
        nodes = math.log2(sum(found.detailed_cost))
        if nodes <= _NODES:
            return found, nodes
        success /= 4
