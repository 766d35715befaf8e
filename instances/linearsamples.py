"""Samples (a, <a, s> + e) mod q that labels of a family give: what attacks on it see of it."""

import math
from dataclasses import dataclass

import numpy as np

from instances.integers import Integers
from instances.secrets import Secrets


@dataclass(frozen=True, kw_only=True)
class LinearSamples:
    """Secrets, errors (None where there are none) and what a label says of <a, s>.

    width: how many values in a row an error of rounding takes, uniformly. information: the bits
    that one label tells of <a, s> at most.
    """

    secrets: Secrets
    errors: Integers | None
    information: float
    width: int = 1


def told(errors: Integers | None, q: int) -> float:
    """Compute the bits that <a, s> + e mod q tells of a uniform <a, s>: log2 q less e's entropy.

    With x = q Pr[e] - 1 it is the mean of (1 + x) ln(1 + x) - x over Z_q, in bits: terms of one
    sign, which keep their digits where errors are nearly uniform, and are 1 where e is not drawn.

    >>> told(None, 8)
    3.0
    """
    from scipy.special import xlog1py

    if errors is None:
        return math.log2(q)
    counts = errors.residues(q).values()
    x = np.array([(q * count - 2**64) / 2**64 for count in counts])
    found = float(np.sum(xlog1py(1 + x, x) - x)) + (q - len(counts))
    return found / (q * math.log(2))
