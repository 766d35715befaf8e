"""Measures the root Hermite factors of BKZ with small blocks, for hardness/cost/delta.csv.

Run as `python benchmarks/delta.py > hardness/cost/delta.csv`, with the extra `lattice`: about 20
minutes on one core. Each trial takes a random q-ary lattice of dimension 140 and volume q^70, q of
20 bits, reduces it by LLL and then by BKZ with growing blocks, and measures after the tours of
each. Small blocks take many tours, since the profile settles slowly; with large blocks the tours
are few, as in attacks. Blocks above 30 are enumerated with pruning for a success probability of
0.9, above 46 of one half, by strategies made here, since the wheels of fpylll hold none.

log_delta is -1/2 the slope of ln ||b_i*||, a line fitted from i = max(10, beta/2) to
d - max(10, beta): what the geometric series assumption takes. The head of the basis is flatter
[YD17] and its last block is HKZ-reduced, so that (||b_1||/vol^(1/d))^(1/d), whose logarithm is
log_first, is smaller. Errors are standard errors of the mean over trials.
"""

import math
import sys
import time
from functools import cache

import numpy as np
from fpylll import BKZ, FPLLL, GSO, LLL, IntegerMatrix, Pruning
from fpylll.fplll.bkz import BKZReduction
from fpylll.fplll.bkz_param import Strategy
from fpylll.util import gaussian_heuristic

DIMENSION = 140
BITS = 20  # of the modulus
PLAN = {  # block size: trials, tours
    2: (4, 0),
    5: (4, 60),
    10: (4, 60),
    15: (4, 60),
    20: (4, 60),
    25: (4, 60),
    30: (4, 60),
    35: (4, 40),
    40: (4, 30),
    45: (4, 20),
    50: (3, 12),
    55: (2, 8),
}
_PRUNED = 30  # larger blocks are enumerated with pruning [CN11]
_PREPROCESSED = 46  # larger blocks are reduced before
_SHAPE = 1.0125  # the root Hermite factor of blocks that pruning is made for


@cache
def strategy(size: int) -> Strategy:
    """Return how a block is enumerated: an odd one as the even one above, pruned better."""
    if size <= _PRUNED:
        return Strategy(size)
    even = size + size % 2
    profile = [_SHAPE ** (-4 * i) for i in range(even)]
    pruning = Pruning.run(
        1.1 * gaussian_heuristic(profile),
        2.0 ** (even / 2),
        [profile],
        0.9 if size <= _PREPROCESSED else 0.51,
        flags=Pruning.GRADIENT,
    )
    coefficients = pruning.coefficients[:size]
    before = [even - 26] if size > _PREPROCESSED else []
    return Strategy(
        size,
        preprocessing_block_sizes=before,
        pruning_parameters=[
            Pruning.PruningParams(pruning.gh_factor, coefficients, pruning.expectation)
        ],
    )


class Trial:
    """A lattice under reduction, its seconds and what was measured of it."""

    def __init__(self, seed: int):
        FPLLL.set_random_seed(seed)
        self.seed = seed
        start = time.process_time()
        basis = IntegerMatrix.random(DIMENSION, "qary", k=DIMENSION // 2, bits=BITS)
        LLL.reduction(basis)
        self.gso = GSO.Mat(basis, float_type="double")
        self.gso.update_gso()
        self.lll = LLL.Reduction(self.gso)
        self.lll()
        self.seconds = time.process_time() - start

    def reduce(self, beta: int, tours: int) -> None:
        start = time.process_time()
        FPLLL.set_random_seed(1000 * self.seed + beta)
        flags = BKZ.MAX_LOOPS | BKZ.BOUNDED_LLL
        if beta > _PRUNED:
            flags |= BKZ.GH_BND
        strategies = [strategy(size) for size in range(beta + 1)]
        parameters = BKZ.Param(beta, strategies=strategies, flags=flags, max_loops=tours)
        BKZReduction(self.gso, self.lll, parameters)()
        self.seconds = time.process_time() - start

    def profile(self) -> np.ndarray:
        self.gso.update_gso()
        return np.array([math.log(self.gso.get_r(i, i)) / 2 for i in range(DIMENSION)])


def measured(beta: int, profile: np.ndarray) -> tuple[float, float]:
    """Return ln delta by the slope of the middle, and by the first vector."""
    places = np.arange(max(10, beta // 2), DIMENSION - max(10, beta))
    slope = np.polyfit(places, profile[places], 1)[0]
    return -slope / 2, (profile[0] - profile.mean()) / DIMENSION


def main() -> None:
    print("# Measured on random q-ary lattices: python benchmarks/delta.py")
    print("beta,log_delta,error,log_first,error_first,dimension,trials,seconds")
    trials: list[Trial] = []
    for beta, (count, tours) in PLAN.items():
        found, seconds = [], []
        for i in range(count):
            if beta == 2:
                trials.append(Trial(i + 1))
            else:
                trials[i].reduce(beta, tours)
            found.append(measured(beta, trials[i].profile()))
            seconds.append(trials[i].seconds)
            print(beta, i, found[-1], round(seconds[-1], 1), file=sys.stderr, flush=True)
        values = np.array(found)
        means, errors = values.mean(0), values.std(0, ddof=1) / math.sqrt(count)
        print(
            f"{beta},{means[0]:.6f},{errors[0]:.6f},{means[1]:.6f},{errors[1]:.6f},"
            f"{DIMENSION},{count},{np.median(seconds):.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
