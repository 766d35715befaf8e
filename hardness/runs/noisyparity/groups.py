"""Tests of low degree for a noisy parity, by how many whole examples they look at together.

A polynomial of degree D in the (z, label) of open examples that moves at all takes t = D/(m + 1)
whole examples at a time. Written with the members' average, its best such part is the sum over all
groups of up to t examples of the product of their labels times K_m(weight of the product of their
z), K_m a Krawtchouk polynomial: a group costs an operation or two. [BBHLS21]
"""

import math
from fractions import Fraction

from flint import fmpq

from hardness.lower.named.ratio import Ratio
from instances.threshold import rational


def ratio(size: int, fade: Fraction, groups: int) -> Ratio:
    """Give the low-degree ratio of `size` orthonormal signs on up to `groups` open examples.

    Its squared norm less 1 is sum_{s=1..t} C(examples, s) fade^(2s) / M, for dense members of lpn
    too, which have no one degree.

    >>> ratio(math.comb(99, 4), Fraction(4, 5), 1).advantage(200)
    16/470547
    >>> ratio(455, Fraction(1), 2).least_examples()
    30
    """
    square = rational(fade) ** 2
    return Ratio(moments=tuple(square**s / fmpq(size) for s in range(1, groups + 1)))


def log_groups(examples: int, groups: int) -> float:
    """Compute ln C(examples, groups), the groups of a test.

    >>> round(math.exp(log_groups(10, 3)))
    120
    """
    rest = math.lgamma(max(examples - groups, 0) + 1)
    return math.lgamma(examples + 1) - math.lgamma(groups + 1) - rest
