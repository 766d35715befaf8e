"""How many minima the landscape of one layer has, exactly, where the task is isotropic.

There every b lies on one curve of `stationary` up to a rotation, so the loss, minimised over A, is
one rational function of u in [0, inf]; its derivative is a polynomial over a square.
"""

from typing import Any

from hardness.icl.onelayer import exact_eigenvalues, simple
from instances.prompts import Prompts


def exact_dips(law: Prompts) -> int | None:
    """Count the local minima with 0 < u <= inf, of certified real roots; None where not isotropic.

    The curve rises at u = 0, the optimum, so roots of odd multiplicity are maxima and minima in
    turn; after an odd number of them it falls, and u = inf, the layer of rank one, is a minimum.
    In d = 1 that is the optimum too, written in another way.

    >>> import numpy as np
    >>> [exact_dips(Prompts(n=n, sigma=np.eye(5), task=np.eye(5))) for n in (20, 88, 89, 10**6)]
    [0, 0, 1, 1]
    """
    kappa, noise = exact_eigenvalues(law), simple(law.noise)
    if kappa is None or noise is None or len(set(kappa)) > 1:
        return None
    from flint import fmpq, fmpq_poly

    d, n = law.d, law.n
    level = fmpq(kappa[0].numerator, kappa[0].denominator)
    variance = d * level + fmpq(noise.numerator, noise.denominator) ** 2
    labels = (n + 1) * level / n + variance / n
    mixed = variance + 2 * level / n
    fourth = (variance**2 + 2 * d * level**2) * fmpq(n + 2, n)
    u = fmpq_poly([0, 1])
    first = u * fmpq(n + 2, n)
    top = first * u - 2 * mixed * u + fourth
    bottom = (first + labels) * (labels * u + fourth) - u * (mixed + labels) ** 2
    rest = u / n + labels
    slope: Any = (
        bottom**2 * (d - 1) / n - (top.derivative() * bottom - top * bottom.derivative()) * rest**2
    )
    crossings = sum(
        1
        for root, multiplicity in slope.numer().complex_roots()
        if multiplicity % 2 and root.imag == 0 and root.real > 0
    )
    return (crossings + 1) // 2
