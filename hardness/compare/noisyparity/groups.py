"""Tests of low degree for a noisy parity: from how many examples, and what one of them costs.

A polynomial of degree D in the (z, label) of open examples that moves at all takes t = D/(m + 1)
whole examples at a time. Written with the members' average, its best such part is the sum over all
groups of up to t examples of the product of their labels times K_m(weight of the product of their
z), K_m a Krawtchouk polynomial. [BBHLS21]
"""

import math
from fractions import Fraction


def advantage(size: int, fade: Fraction, examples: int, groups: int) -> Fraction:
    """Compute the squared norm less 1 of the low-degree likelihood ratio, from open examples.

    sum_{s=1..t} C(examples, s) fade^(2s) / M, degree t (m + 1).

    >>> advantage(math.comb(99, 4), Fraction(4, 5), 200, 1)
    Fraction(16, 470547)
    """
    square = fade**2
    total = sum(math.comb(examples, s) * square**s for s in range(1, groups + 1))
    return Fraction(total) / size


def threshold(size: int, fade: Fraction, groups: int) -> int:
    """Find the least number of open examples with a squared norm less 1 of at least 1, exactly.

    With fewer, no test of degree below (t + 1)(m + 1) tells a random member from coins with a
    ratio of mean difference to standard deviation of 1.

    >>> threshold(455, Fraction(1), 1), threshold(455, Fraction(1), 2)
    (455, 30)
    """
    high = 1
    while advantage(size, fade, high, groups) < 1:
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        found = advantage(size, fade, middle, groups) >= 1
        low, high = (low, middle) if found else (middle, high)
    return high
