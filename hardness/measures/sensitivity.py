"""How often a symmetric function changes when bits flip: for values of any kind. [ODo14]"""

from collections.abc import Hashable, Sequence

from hardness.measures.levels import level_weights
from hardness.measures.weights import stability, total_influence
from instances.threshold import Rational


def noise_sensitivity(values: Sequence[Hashable], delta: Rational) -> Rational:
    """Compute Pr[g(z) != g(z')], z uniform and each bit of z' flipped with probability delta.

    values: g(0) .. g(m). Pr[g = g'] is the stability of the level sets at 1 - 2 delta.

    >>> from flint import fmpq
    >>> noise_sensitivity([1, -1, 1], fmpq(1, 10)), noise_sensitivity([0, 1, 2], fmpq(1, 10))
    (9/50, 37/200)
    """
    return 1 - stability(level_weights(values), 1 - 2 * delta)


def average_sensitivity(values: Sequence[Hashable]) -> Rational:
    """Compute how many of the m coordinates change g(z) when they are flipped, on average over z.

    Flipping z_i changes 1_v with probability 4 Inf_i(1_v), and a change of g changes two of them.
    For the values +-1 it is the total influence.

    >>> average_sensitivity([1, -1, 1, -1]), average_sensitivity([1, 1, -1, -1])
    (3, 3/2)
    """
    return 2 * total_influence(level_weights(values))
