"""The primal attack by Babai's rounding behind guesses that meet in the middle.

Idea: zeta entries of the secret are guessed as sums of two halves of a guess; halves whose targets
Babai's rounding maps alike are found by sorting, |S|^(1/2) of them.

Success: the entries have at most w that are not 0, Babai's rounding is right in all d coordinates,
P[|x| < r_j/2] each, and both halves are rounded alike, E[max(0, 1 - |x|/r_j)] each.

Cost: K (BKZ-beta + |S|^(1/2) d^2), K repetitions of the joint probability.

Searched: beta, zeta and w on a grid; in turns all beta and d, and guesses near the best. |S| is at
most what the lattice tells apart.

Heuristics: the shape of reduced bases; halves count as independent, and |S|^(1/2) favours the
attack: a half of weight w/2 has more.

Source: [HG07, Wun19], Babai's probability [LP11]
"""

import numpy as np

from hardness.lwe.decoding import Decoding, Guesses, Priced, decoded
from hardness.lwe.models import Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack


@attack("bdd_mitm_hybrid", "heuristic model", "HG07, Wun19, LP11", reduces=True)
def bdd_mitm_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> best = bdd_mitm_hybrid(sparse, DEFAULT)
    >>> round(best.rop, 1)
    109.3
    """
    lattice, guesses = Decoding(parameters, setting), Guesses(parameters)

    def price(beta: Integers, zeta: Integers, weight: Integers, d: Integers, _: Integers) -> Priced:
        space, ln_guessed = guesses.sets(zeta, weight)
        able = lattice.valid(beta, zeta, d) & (space <= lattice.room(zeta, d))
        space, eta = np.where(able, space, 0.0), np.zeros_like(d)
        inside, meeting = lattice.babai(beta, lattice.line(beta, zeta, d), eta, d).T
        ln_prob = ln_guessed + inside + np.where(weight > 0, meeting, 0.0)
        each = space / 2 + 2 * np.log2(d)
        costs = lattice.repeated(beta, zeta, d, able=able, ln_prob=ln_prob, each=each)
        return costs | {"space": space, "eta": eta}

    return decoded(lattice, price, guesses, root=2)
