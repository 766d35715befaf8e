"""Lattice reduction, and places that are left out of it: LLL by flint, BKZ by fpylll.

A basis is a (d, d) int64 array, a vector a row. Reduction goes in steps between which the clock is
looked at, and gives the basis back after each tour, so that a search may end where it has found
what it looks for.
"""

import math
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from hardness.oracles import Meter
from instances.errors import ToolkitError
from instances.secrets import Secrets
from instances.streams import generator

LLL_BLOCK = 2
LARGEST_BLOCK = 80
_PATIENCE = 30  # times the tries that it takes on average
_ROWS = 8  # that LLL takes in between two looks at the clock
_SMALL = 800  # bits of a row: bases below are reduced in one step, of 0.1 s or so
_PRUNED = 30  # larger blocks are enumerated with pruning, and reduced before
_SUCCESS = 0.9  # of a pruned enumeration
_GSA = 1.013  # root-Hermite factor of the bases that pruning is made for
TOURS = 2  # at most, of each block size: what the next one does better
_DOUBLE = 160  # the largest dimension where the Gram-Schmidt vectors are kept in float64
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
    same seed gives the same bases. Raises Spent, or ToolkitError where the extra `lattice` is
    missing. [LLL82, SE94, CN11]

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
    done: list[Any] = []
    small = len(basis) * math.log2(max(2, int(abs(basis).max()))) < _SMALL
    step = len(basis) if small else _ROWS
    for start in range(0, len(basis), step):
        meter.require_time()
        more = basis[start : start + step].tolist()
        done = [[int(v) for v in row] for row in fmpz_mat(done + more).lll().tolist()]
    return np.array(done, np.int64)


def _bkz(
    basis: Basis, blocks: Iterable[int], meter: Meter, seed: int
) -> Iterator[tuple[int, Basis]]:
    """Reduce an LLL-reduced basis with growing blocks."""
    fpylll = require_fpylll()
    from fpylll.algorithms.bkz2 import BKZReduction

    fpylll.FPLLL.set_random_seed(seed)
    rows = fpylll.IntegerMatrix.from_matrix(basis.tolist())
    kind = "double" if rows.nrows <= _DOUBLE else "long double"
    gso = fpylll.GSO.Mat(rows, float_type=kind)
    gso.update_gso()
    work = BKZReduction(gso)
    for block in blocks:
        parameters = _parameters(min(block, rows.nrows))
        for _ in range(TOURS):
            clean = True
            for kappa in range(rows.nrows - 1):
                meter.require_time()
                size = min(parameters.block_size, rows.nrows - kappa)
                clean &= work.svp_reduction(kappa, size, parameters)
            out = np.zeros(basis.shape, np.int64)
            rows.to_matrix(out)
            yield block, out
            if clean:
                break


def require_fpylll(what: str = "BKZ", instead: str = "block=2, which is LLL alone") -> Any:
    """Import fpylll; raises ToolkitError where the extra is not installed."""
    try:
        import fpylll
    except ImportError as error:
        raise ToolkitError(
            f"{what} needs fpylll, which is not installed: pip install "
            f"'hardness-toolkit[lattice]', or take {instead}"
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
