"""Measures the root Hermite factors of BKZ with small blocks, for hardness/cost/delta.csv.

Run as `python benchmarks/delta.py > hardness/cost/delta.csv`, with the extra `lattice`. Each trial
takes a random q-ary lattice of dimension 160 and volume q^80, q of 20 bits, reduces it by LLL and
then by BKZ with growing blocks, and measures after each. Tours of one block size end where the
slope of the profile has not become flatter for five tours [CN11], or at a limit. Blocks are
enumerated with pruning for a success probability of 0.9, above 46 of one half, made by hand since the wheels of
fpylll hold no file of strategies.

ln delta is -1/2 the slope of ln ||b_i*||, a line fitted to all i but those within max(10, beta) of
an end of the basis: what the geometric series assumption takes. The head of the basis is flatter
[YD17] and the last block is HKZ-reduced, so (||b_1||/vol^(1/d))^(1/d), in `log_first`, is smaller.
Errors are standard errors of the mean over trials.
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

DIMENSION = 160
BITS = 20  # of the modulus
# Block size: how many trials, and the largest number of tours of each.
PLAN = {
    2: (12, 0),
    5: (12, 100),
    10: (12, 100),
    15: (12, 50),
    20: (12, 50),
    25: (12, 50),
    30: (12, 30),
    35: (12, 30),
    40: (12, 20),
    45: (8, 16),
    50: (4, 12),
    55: (3, 10),
    60: (2, 8),
}
_PRUNED = 30  # larger blocks are enumerated with pruning [CN11]
_PREPROCESSED = 46  # larger blocks are reduced before
_SHAPE = 1.0125  # the root Hermite factor of blocks that pruning is made for


@cache
def strategy(size: int) -> Strategy:
    """How a block is enumerated; an odd one as the even one above it, which the pruner does better."""
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
        flags = BKZ.MAX_LOOPS | BKZ.AUTO_ABORT | BKZ.BOUNDED_LLL
        if beta > _PRUNED:
            flags |= BKZ.GH_BND
        strategies = [strategy(size) for size in range(beta + 1)]
        parameters = BKZ.Param(beta, strategies=strategies, flags=flags, max_loops=tours)
        BKZReduction(self.gso, self.lll, parameters)()
        self.seconds = time.process_time() - start

    def profile(self) -> np.ndarray:
        """Return ln ||b_i*||, (d,)."""
        self.gso.update_gso()
        return np.array([math.log(self.gso.get_r(i, i)) / 2 for i in range(DIMENSION)])


def measured(beta: int, profile: np.ndarray) -> tuple[float, float]:
    """Return ln delta by the slope of the middle, and by the first vector."""
    edge = max(10, beta)
    places = np.arange(edge, DIMENSION - edge)
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
