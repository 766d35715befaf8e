"""The primal attack by decoding behind guesses: zeta entries of the secret are guessed.

Idea: BKZ reduces the lattice without these entries once; each guess is a target in it.

Success: the zeta entries, at random places, have at most w that are not 0 (hypergeometric; of the
expected weight if entries are independent), and the target of the right guess is decoded as `bdd`
is.

Cost: K (BKZ-beta + |S| (one call of dimension eta + 1 + (d - eta)^2)), |S| guesses of weight at
most w, K repetitions of the joint probability.

Searched: beta, zeta and w on a grid; in turns all beta, d and eta, and guesses near the best. |S|
is at most what the lattice tells apart.

Heuristics: as of `bdd`; guesses are ordered by their weight alone.

Source: [ACW19, PosVir21], Babai's probability [LP11]
"""

import numpy as np

from hardness.lwe.decoding import Decoding, Guesses, Priced, decoded
from hardness.lwe.models import Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack


@attack("bdd_hybrid", "heuristic model", "ACW19, PosVir21, LP11", reduces=True)
def bdd_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> best = bdd_hybrid(sparse, DEFAULT)
    >>> round(best.rop, 1)
    111.4
    """
    lattice, guesses = Decoding(parameters, setting), Guesses(parameters)

    def price(
        beta: Integers, zeta: Integers, weight: Integers, d: Integers, more: Integers
    ) -> Priced:
        space, ln_guessed = guesses.sets(zeta, weight)
        line = lattice.line(beta, zeta, d)
        eta = lattice.last_block(beta, line, more)
        able = lattice.valid(beta, zeta, d) & (space <= lattice.room(zeta, d)) & (eta < d)
        space, eta = np.where(able, space, 0.0), np.minimum(eta, d - 1)
        ln_prob = ln_guessed + lattice.babai(beta, line, eta, d)[:, 0]
        each = space + np.logaddexp2(lattice.call(eta), 2 * np.log2(d - eta))
        costs = lattice.repeated(beta, zeta, d, able=able, ln_prob=ln_prob, each=each)
        return costs | {"space": space, "eta": eta}

    return decoded(lattice, price, guesses)
