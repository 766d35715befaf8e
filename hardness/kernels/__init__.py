"""Loops with no opinions on packed words: counts, parities, GF(2)."""

from hardness.kernels.counts import counts
from hardness.kernels.gf2 import System

__all__ = ["System", "counts"]
