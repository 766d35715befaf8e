"""The dual attack: short vectors of the dual lattice tell samples from uniform ones.

Idea: cosines of 2 pi <x, b>/q over 2^count short vectors have the mean e^(-D/2) on samples, else 0.

Success: S for samples and for uniform labels: 2 z^2 e^D vectors, z the normal quantile of S;
cosines have variance 1/2 and the threshold stands midway.

Cost: the vectors of the cost model, and 4 160 operations for each.

Searched: beta and m. All of the secret is in the lattice.

Heuristics: the shape of reduced bases, vectors of one length, independent cosines.

Source: [MR09, Albrecht17, EJK20]
"""

import numpy as np

from hardness.lwe.models import Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack
from hardness.lwe.short_vectors import TABLE, Priced, ShortVectors, refined
from hardness.lwe.success import log_told


@attack("dual", "heuristic model", "MR09, Albrecht17, EJK20", reduces=True)
def dual(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = dual(resolve_instance("ml-kem-512").parameters, DEFAULT)
    >>> best.beta, best.d, round(best.rop, 1)
    (423, 1014, 149.6)
    """
    lattice, n = ShortVectors(parameters, setting), parameters.n

    def price(beta: Integers, m: Integers) -> Priced:
        count = lattice.loss(beta, m, n) + log_told(setting.success)
        return lattice.price(beta, m, n, count, count + TABLE, 0.0)

    def best(beta: Integers) -> np.ndarray:
        return price(beta, lattice.samples(beta, n))["rop"]

    (beta,), _ = lattice.scanned(best)
    m = int(lattice.samples(np.array(beta), n))
    _, fields = refined(price, (beta,), m, lattice)
    more = f"tells samples from uniform ones by {fields['note']}"
    return fields | {"standing": "published", "note": more}
