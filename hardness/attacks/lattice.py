"""Common parts of lattice attacks: reduction by LLL (flint) and BKZ 2.0 (fpylll), restarts.

A basis is a (d, d) int64 array of row vectors.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from hardness.attacks.core import SecretSearch
from instances.errors import ToolkitError
from instances.limits import require_memory
from instances.lwe import Modular
from instances.parameters import Range
from instances.samples import Samples
from instances.secrets import Secrets
from instances.streams import generator

LLL_BLOCK = 2
LARGEST_BLOCK = 80
# Pruned radii for blocks of up to LARGEST_BLOCK, as fplll reads them; benchmarks/pruning.py makes
# them.
STRATEGIES = str(Path(__file__).with_name("pruning.json"))
_SMALL_BITS = 800  # of a basis row: below it LLL takes all rows at once, in 0.1 s
_LLL_ROWS = 8  # rows that LLL adds at a time otherwise
_TOURS = 2  # at most, for each block size
_DOUBLE_DIMENSION = 180  # up to which Gram-Schmidt vectors are in float64
_RESTART_FACTOR = 30  # a search gives up after this multiple of the expected restarts
_DELTAS = {2: 1.0219, 5: 1.0186, 10: 1.0162, 15: 1.0149, 20: 1.0142, 28: 1.0133, 40: 1.0129}

Basis = NDArray[np.int64]


def root_hermite(block: int) -> float:
    """Return the root-Hermite factor of a block size, as measured in the literature. [APS15]

    >>> root_hermite(2) > root_hermite(20) > root_hermite(60)
    True
    """
    if block > 50:
        b = float(block)
        inner = (np.pi * b) ** (1 / b) * b / (2 * np.pi * np.e)
        return float(inner ** (1 / (2 * b - 2)))
    return float(np.interp(block, list(_DELTAS), list(_DELTAS.values())))


def dropped_coordinates(n: int, zeta: int, restart: int) -> NDArray[np.int64]:
    """Draw the coordinates that a restart drops from its lattice: zeta of n, ascending.

    They do not depend on learner and seed.

    >>> dropped_coordinates(8, 3, restart=2).tolist()
    [4, 5, 7]
    """
    return np.sort(generator(0, "try", n, zeta, restart).permutation(n)[:zeta])


def max_restarts(secrets: Secrets, zeta: int, weight: int = 0) -> int:
    """Return how many restarts a search makes: 30 times the expected number.

    A restart succeeds if at most `weight` of its zeta dropped coordinates are not 0. With zeta = 0
    there is a single run.

    >>> law = Secrets(kind="binary", n=4, q=7, h=2)
    >>> max_restarts(law, 1), max_restarts(Secrets(kind="binary", n=4, q=7), 1)
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
    return math.ceil(_RESTART_FACTOR / max(float(right), 2.0**-57))


def reduce(basis: Basis, blocks: Iterable[int], seed: int) -> Iterator[tuple[int, Basis]]:
    """Reduce a basis by LLL, then by BKZ with each of these blocks; yield block and basis.

    The first pair is LLL's, with block 2. Blocks of BKZ are above 2. Equal seeds give equal bases.
    Raises ToolkitError if BKZ is asked for and the extra `lattice` is missing. [LLL82, CN11]

    >>> basis = np.array([[0, 0, 97], [0, 1, 40], [1, 0, 15]])
    >>> [(block, reduced[0].tolist()) for block, reduced in reduce(basis, [], seed=0)]
    [(2, [1, 2, -2])]
    """
    rows: list[list[int]] = []
    bits = len(basis) * math.log2(max(2, int(abs(basis).max())))
    step = len(basis) if bits < _SMALL_BITS else _LLL_ROWS
    for start in range(0, len(basis), step):  # Ctrl-C is handled between steps
        more = fmpz_mat(rows + basis[start : start + step].tolist()).lll()
        rows = [[int(v) for v in row] for row in more.tolist()]
    yield LLL_BLOCK, np.array(rows, np.int64)
    blocks = [block for block in blocks if block > LLL_BLOCK]
    if not blocks:
        return
    fpylll = require_fpylll()
    from fpylll.algorithms.bkz2 import BKZReduction

    fpylll.FPLLL.set_random_seed(seed)
    matrix = fpylll.IntegerMatrix.from_matrix(rows)
    precision = "double" if len(rows) <= _DOUBLE_DIMENSION else "long double"
    reduction = BKZReduction(fpylll.GSO.Mat(matrix, float_type=precision))
    flags = fpylll.BKZ.MAX_LOOPS | fpylll.BKZ.GH_BND
    for block in blocks:
        size = min(block, len(rows))
        reduction(fpylll.BKZ.Param(size, STRATEGIES, flags=flags, max_loops=_TOURS))
        reduced = np.zeros(basis.shape, np.int64)
        matrix.to_matrix(reduced)
        yield block, reduced


def require_fpylll() -> Any:
    """Import fpylll; raises ToolkitError if the extra is not installed."""
    try:
        import fpylll
    except ImportError as error:
        raise ToolkitError(
            "BKZ needs fpylll, which is not installed: pip install 'hardness-toolkit[lattice]', "
            "or take block=2, which is LLL alone"
        ) from error
    return fpylll


@dataclass(frozen=True, kw_only=True)
class LatticeAttack(SecretSearch):
    """An attack by reduced lattices, each of some samples and all coordinates but zeta.

    block: of the reduction, 2 for LLL alone; larger ones need the extra `lattice`. samples: of a
    lattice, 0 for the best number. zeta: how many random coordinates a restart drops.
    """

    block: Annotated[int, Range(LLL_BLOCK, LARGEST_BLOCK)] = LLL_BLOCK
    zeta: Annotated[int, Range(0)] = 0

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return None for labels <a, s> + e mod q with a small error e, else the reason."""
        if forms.noisy_parities:
            return "it needs labels that say about where <a, s> mod q is, of lwe or lwr"
        error = Samples.none(forms).error
        if error is None or len(error.values) == 1:
            return "its labels have no error: use modlinear"
        return None

    @abstractmethod
    def lattice_samples(self, forms: Modular) -> int:
        """Return the number of samples of a lattice, if there are enough."""

    def require_lattice(self, forms: Modular) -> None:
        """Refuse a lattice that cannot be reduced here, for lack of fpylll or of memory."""
        if self.block > LLL_BLOCK:
            require_fpylll()
        d = self.lattice_samples(forms) + forms.n - self.zeta + 1
        require_memory(100 * d * d, f"a lattice of dimension {d}")
