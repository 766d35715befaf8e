"""Loops with no opinions on packed words and long vectors: counts, GF(2), Gram, Walsh-Hadamard."""

from hardness.kernels import onebit, walsh
from hardness.kernels.gf2 import System
from hardness.kernels.planes import counts

__all__ = ["System", "counts", "onebit", "walsh"]
