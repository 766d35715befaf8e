"""Measures HKZ-reduced bases of random lattices, for hardness/cost/hkz.csv.

Run as `python benchmarks/hkz.py > hardness/cost/hkz.csv`, with the extra `lattice`. Lattices are
those of Goldstein and Mayer, of a prime of 450 bits, as [CN11] takes them. A basis that a tour of
BKZ with one block of all dimensions leaves as it is, is HKZ-reduced.
"""

import math
import sys

import numpy as np
from fpylll import BKZ, FPLLL, GSO, LLL, IntegerMatrix

DIMENSION = 45
LATTICES = 100


def profile(seed: int) -> np.ndarray:
    """Return ln ||b_i*|| of an HKZ-reduced basis of a lattice of volume 1, (d,)."""
    FPLLL.set_random_seed(seed)
    basis = IntegerMatrix.random(DIMENSION, "qary", k=1, bits=10 * DIMENSION)
    LLL.reduction(basis)
    for block in (20, 30, DIMENSION):
        BKZ.reduction(basis, BKZ.Param(block))
    gso = GSO.Mat(basis, float_type="double")
    gso.update_gso()
    lengths = np.array([math.log(gso.get_r(i, i)) / 2 for i in range(DIMENSION)])
    return lengths - lengths.mean()


def main() -> None:
    found = []
    for seed in range(1, LATTICES + 1):
        found.append(profile(seed))
        print(seed, found[-1][0], file=sys.stderr, flush=True)
    means, errors = np.mean(found, 0), np.std(found, 0, ddof=1) / math.sqrt(LATTICES)
    print(f"# Measured on {LATTICES} random lattices: python benchmarks/hkz.py")
    print("place,ln_norm,error")
    for i, (mean, error) in enumerate(zip(means, errors, strict=True)):
        print(f"{i},{mean:.5f},{error:.5f}")


if __name__ == "__main__":
    main()
