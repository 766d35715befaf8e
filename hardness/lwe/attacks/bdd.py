"""The primal attack by bounded distance decoding, alone and after guesses: three attacks.

Idea: b is near a vector of the lattice of samples and secret, at the distance of errors and secret.
With guesses of zeta entries of the secret, BKZ reduces the lattice of the other entries once, and
each guess is a target in it.

Success: Babai's rounding must be right in all coordinates except the last eta. In coordinate j its
probability is P[|x| < r_j/2] for a normal x and the Gram-Schmidt norm r_j. In the last eta vectors,
the projected error must be the shortest vector of Kannan's embedding in dimension eta + 1. Of the
zeta guessed entries, at random places, at most w may be not 0. This probability is hypergeometric,
with the expected weight if entries are independent.

Cost: K (BKZ-beta + the cost of the targets), for K repetitions.

Searched: all beta, d and eta that may cost less than the best so far; if there are very many d,
some of them. With guesses, beta, zeta and w on a grid; then alternately all beta, d and eta, and
guesses near the best. The number of guesses |S| is at most that of targets the lattice separates.

Heuristics: the shape of reduced bases; the Gaussian heuristic for the last block [LP11]; guesses
are ordered by their weight alone.

Source: [PosVir21, ACW19, HG07, Wun19], Babai's probability [LP11]
"""

import numpy as np

from hardness.lwe.decoding import Decoding, Guesses, Priced, decoded
from hardness.lwe.models import Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack
from hardness.lwe.success import log_repetitions


@attack("bdd", "heuristic model", "PosVir21", reduces=True)
def bdd(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate one target, with a call in dimension eta + 1 and (d - eta)^2 operations of rounding.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = bdd(resolve_instance("ml-kem-512").parameters, DEFAULT)
    >>> best.beta, best.eta, best.d, round(best.rop, 2)
    (389, 422, 1005, 140.2)
    """
    return _cheapest(parameters, setting, root=0)


@attack("bdd_hybrid", "heuristic model", "ACW19, PosVir21, LP11", reduces=True)
def bdd_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate |S| targets, one for each guess, decoded as in `bdd`.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> round(bdd_hybrid(sparse, DEFAULT).rop, 1), round(bdd_mitm_hybrid(sparse, DEFAULT).rop, 1)
    (111.4, 109.3)
    """
    return _cheapest(parameters, setting, root=1)


@attack("bdd_mitm_hybrid", "heuristic model", "HG07, Wun19, LP11", reduces=True)
def bdd_mitm_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate guesses by meeting in the middle, with |S|^(1/2) d^2 operations for sorted halves.

    A guess is the sum of two halves. Babai's rounding in all d coordinates maps the targets of both
    to the same point with probability E[max(0, 1 - |x|/r_j)] in each coordinate. Halves are taken
    as independent. |S|^(1/2) favours the attack, since there are more halves of weight w/2.
    """
    return _cheapest(parameters, setting, root=2)


def _cheapest(parameters: LweParameters, setting: Setting, root: int) -> Fields:
    """Return the fields of the cheapest attack with |S|^(1/root) targets; root 0: no guesses."""
    lattice, guesses = Decoding(parameters, setting), Guesses(parameters)

    def price(
        beta: Integers, zeta: Integers, weight: Integers, d: Integers, more: Integers
    ) -> Priced:
        """Compute log2 of K (BKZ-beta + targets), with K tries of probability exp(ln_prob)."""
        (space, ln_guessed), line = guesses.sets(zeta, weight), lattice.line(beta, zeta, d)
        eta = np.zeros_like(d) if root == 2 else lattice.last_block(beta, line, more)
        able = lattice.valid(beta, zeta, d) & (space <= lattice.room(zeta, d)) & (eta < d)
        space, eta = np.where(able, space, 0.0), np.minimum(eta, d - 1)
        inside, meeting = lattice.babai(beta, line, eta, d).T
        if root == 2:
            inside, each = inside + np.where(weight > 0, meeting, 0.0), 2 * np.log2(d)
        else:
            each = np.logaddexp2(lattice.call(eta), 2 * np.log2(d - eta))
        ln_prob, each = ln_guessed + inside, each + space / max(root, 1)
        tries = log_repetitions(ln_prob, setting.success)
        red, svp = tries + lattice.model.cost(beta, d), tries + each
        rop = np.maximum(np.logaddexp2(red, svp), parameters.reading(d - lattice.n + zeta))
        costs = {"rop": np.where(able, rop, np.inf), "red": red, "svp": svp, "repetitions": tries}
        return costs | {"ln_prob": ln_prob, "space": space, "eta": eta}

    return decoded(lattice, price, guesses if root else None, root)
