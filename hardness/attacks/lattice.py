"""What lattice attacks share: reduction by LLL (flint) and BKZ 2.0 (fpylll), sizes, restarts.

A basis is a (d, d) int64 array, a vector a row.
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
_SMALL = 800  # bits of a row: bases below are reduced by LLL at once, in 0.1 s or so
_ROWS = 8  # that LLL takes in at a time else
_TOURS = 2  # with a block size, at most
_DOUBLE = 180  # the largest dimension where the Gram-Schmidt vectors are kept in float64
_EXPECTED = 30  # restarts until a search gives up, for each that it takes on average
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


def dropped_coordinates(n: int, zeta: int, restart: int) -> NDArray[np.int64]:
    """Draw the coordinates that a restart leaves out of its lattice: zeta of n, ascending.

    They are the same for all learners and seeds.

    >>> dropped_coordinates(8, 3, restart=2).tolist()
    [4, 5, 7]
    """
    return np.sort(generator(0, "try", n, zeta, restart).permutation(n)[:zeta])


def max_restarts(secrets: Secrets, zeta: int, weight: int = 0) -> int:
    """Count the restarts after which a search gives up: 30 times those that it takes on average.

    A restart succeeds if at most `weight` of its zeta dropped coordinates are not 0. Without zeta
    there is nothing to restart.

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
    return math.ceil(_EXPECTED / max(float(right), 2.0**-57))


def reduce(basis: Basis, blocks: Iterable[int], seed: int) -> Iterator[tuple[int, Basis]]:
    """Reduce a basis by LLL, then by BKZ with each of these blocks; yield block and basis.

    The first is LLL's, block 2. Blocks of BKZ are above 2. The same seed gives the same bases.
    Raises ToolkitError if BKZ is asked for and the extra `lattice` is missing. [LLL82, CN11]

    >>> basis = np.array([[0, 0, 97], [0, 1, 40], [1, 0, 15]])
    >>> [(block, reduced[0].tolist()) for block, reduced in reduce(basis, [], seed=0)]
    [(2, [1, 2, -2])]
    """
    rows: list[list[int]] = []
    bits = len(basis) * math.log2(max(2, int(abs(basis).max())))
    step = len(basis) if bits < _SMALL else _ROWS
    for start in range(0, len(basis), step):  # between them Ctrl-C is heard
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
    precision = "double" if len(rows) <= _DOUBLE else "long double"
    reduction = BKZReduction(fpylll.GSO.Mat(matrix, float_type=precision))
    flags = fpylll.BKZ.MAX_LOOPS | fpylll.BKZ.GH_BND
    for block in blocks:
        size = min(block, len(rows))
        reduction(fpylll.BKZ.Param(size, STRATEGIES, flags=flags, max_loops=_TOURS))
        reduced = np.zeros(basis.shape, np.int64)
        matrix.to_matrix(reduced)
        yield block, reduced


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


@dataclass(frozen=True, kw_only=True)
class LatticeAttack(SecretSearch):
    """An attack by reduced lattices, each of some samples and all coordinates but zeta.

    block: of the reduction, 2 for LLL alone; larger ones need the extra `lattice`. samples: of a
    lattice, 0 for the best number. zeta: coordinates that a restart drops, at random places.
    """

    block: Annotated[int, Range(LLL_BLOCK, LARGEST_BLOCK)] = LLL_BLOCK
    zeta: Annotated[int, Range(0)] = 0

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return why labels are no b = <a, s> + e mod q with a small error e, or None."""
        if forms.noisy_parities:
            return "it needs labels that say about where <a, s> mod q is, of lwe or lwr"
        error = Samples.none(forms).error
        if error is None or len(error.values) == 1:
            return "its labels have no error: use modlinear"
        return None

    @abstractmethod
    def lattice_samples(self, forms: Modular) -> int:
        """Count the samples of a lattice, if there are enough."""

    def require_lattice(self, forms: Modular) -> None:
        """Refuse what cannot be reduced here: without fpylll, or for want of memory."""
        if self.block > LLL_BLOCK:
            require_fpylll()
        d = self.lattice_samples(forms) + forms.n - self.zeta + 1
        require_memory(100 * d * d, f"a lattice of dimension {d}")
