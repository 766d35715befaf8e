"""Lattice reduction in steps between which the clock is looked at: LLL by flint, BKZ by fpylll."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from flint import fmpz_mat

from hardness.oracles import Meter
from instances.errors import ToolkitError

LLL_BLOCK = 2
_ROWS = 8  # that LLL takes in between two looks at the clock
_PRUNED = 30  # larger blocks are enumerated with pruning, and reduced before
_SUCCESS = 0.9  # of a pruned enumeration
_GSA = 1.013  # root-Hermite factor of the bases that pruning is made for
_TOURS = 2  # at most, of each block size: what the next one does better
_DOUBLE = 160  # the largest dimension where the Gram-Schmidt vectors are kept in float64
_DELTAS = {2: 1.0219, 5: 1.0186, 10: 1.0162, 15: 1.0149, 20: 1.0142, 28: 1.0133, 40: 1.0129}


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
