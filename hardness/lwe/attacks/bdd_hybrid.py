"""The primal attack by decoding behind guesses: zeta entries of the secret are guessed.

Idea: BKZ reduces the lattice without these entries once; each guess is a target in it.
Success: the zeta entries, at random places, have at most w that are not 0 (hypergeometric; of the
expected weight if entries are independent), and the target of the right guess is decoded as `bdd` is.
Cost: K (BKZ-beta + |S| (one call of dimension eta + 1 + (d - eta)^2)), |S| guesses of weight at most
w, K repetitions of the joint probability.
Searched: beta, zeta, d, eta, and all w. |S| is at most what the lattice tells apart.
Heuristics: as of `bdd`; guesses are ordered by their weight alone.
Source: [ACW19, PosVir21], Babai's probability [LP11]
"""

import numpy as np

from hardness.lwe.decoding import Decoding, Guesses, Priced, decoded, search
from hardness.lwe.models import Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate
from hardness.lwe.success import log_repetitions

SOURCE = "ACW19, PosVir21, LP11"


def bdd_hybrid(parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> best = bdd_hybrid(sparse, DEFAULT)
    >>> best.beta, best.zeta, round(best.rop, 1)
    (209, 409, 111.4)
    """
    lattice = Decoding(parameters, setting)
    if lattice.reason:
        return Estimate(
            name="bdd_hybrid", kind="heuristic model", source=SOURCE, reason=lattice.reason
        )
    guesses = Guesses(parameters)

    def price(beta: Integers, zeta: Integers, d: Integers, more: Integers) -> Priced:
        valid = lattice.valid(beta, zeta, d)
        d = np.maximum(d, 2)
        line = lattice.line(beta, zeta, d)
        eta = lattice.last_block(beta, line, more)
        valid &= eta < d
        eta = np.minimum(eta, d - 1)
        space, ln_guessed = guesses.sets(zeta)
        ln_prob = ln_guessed + lattice.babai(beta, line, eta, d)[:, :1]
        red = lattice.model.cost(beta, d)
        svp = space + np.logaddexp2(lattice.call(eta), 2 * np.log2(d - eta))[:, None]
        tries = log_repetitions(ln_prob, setting.success)
        rop = np.maximum(
            tries + np.logaddexp2(red[:, None], svp), lattice.reading(zeta, d)[:, None]
        )
        rop = np.where(valid[:, None] & (space <= lattice.room(zeta, d)[:, None]), rop, np.inf)
        best = np.arange(len(rop)), rop.argmin(axis=1)
        return {
            "rop": rop[best],
            "red": tries[best] + red,
            "svp": (tries + svp)[best],
            "repetitions": tries[best],
            "space": space[best],
            "ln_prob": ln_prob[best],
            "eta": eta,
            "weight": best[1],
        }

    point = search(lattice, price, guesses)
    return decoded("bdd_hybrid", SOURCE, lattice, price, point)
