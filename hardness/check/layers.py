"""Do the heads of the layer that a spec builds compute the labels of its hidden sets, exactly?"""

from fractions import Fraction

from flint import fmpq

from hardness.check.verdict import refuse
from instances.capabilities import PROVED_AS, SCHEME
from instances.family import Family
from instances.threshold import rational


def check_layer(family: Family) -> None:
    """Evaluate the exact heads of hidden sets for every count; raises Refuted.

    B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i), x_h = rho^2h, is g(h) for every h; a head that counts
    nothing has h = 0.
    """
    sets = PROVED_AS.of(family) or SCHEME.need(family)
    rho = rational(sets.rho)
    for h, value in enumerate(sets.values):
        total = sum((head.response(rho ** (2 * h)) for head in sets.heads), fmpq(0))
        if total != rational(Fraction(value)):
            refuse(f"the heads of its spec do not compute its labels: B({h}) is not {value}")
