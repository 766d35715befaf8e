"""The primal attack by bounded distance decoding.

Idea: b is near a vector of the lattice of samples and secret, at the distance of errors and secret.

Success: the last eta vectors of a basis that BKZ-beta reduced hold the projected error as the
shortest vector of dimension eta + 1 (Kannan's embedding), and Babai's rounding is right in the
other d - eta coordinates, each with probability P[|x| < r_j/2] for a normal x and Gram-Schmidt norm
r_j.

Cost: K (BKZ-beta + one call for a shortest vector of dimension eta + 1 + (d - eta)^2) operations, K
repetitions of that probability.

Searched: all beta, d and eta that may cost less than the best so far; of very many d, some.

Heuristics: the shape of reduced bases; the Gaussian heuristic for the last block [LP11].

Source: [PosVir21]
"""

import numpy as np

from hardness.lwe.decoding import Decoding, Priced, decoded
from hardness.lwe.models import Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack


@attack("bdd", "heuristic model", "PosVir21", reduces=True)
def bdd(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = bdd(resolve_instance("ml-kem-512").parameters, DEFAULT)
    >>> best.beta, best.eta, best.d, round(best.rop, 2)
    (389, 422, 1005, 140.2)
    """
    lattice = Decoding(parameters, setting)

    def price(beta: Integers, zeta: Integers, _: Integers, d: Integers, more: Integers) -> Priced:
        line = lattice.line(beta, zeta, d)
        eta = lattice.last_block(beta, line, more)
        able = lattice.valid(beta, zeta, d) & (lattice.room(zeta, d) >= 0) & (eta < d)
        eta = np.minimum(eta, d - 1)
        ln_prob = lattice.babai(beta, line, eta, d)[:, 0]
        each = np.logaddexp2(lattice.call(eta), 2 * np.log2(d - eta))
        costs = lattice.repeated(beta, zeta, d, able=able, ln_prob=ln_prob, each=each)
        return costs | {"space": np.zeros(len(eta)), "eta": eta}

    return decoded(lattice, price)
