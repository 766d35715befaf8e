"""The primal attack by bounded distance decoding, alone and behind guesses: three attacks.

Idea: b is near a vector of the lattice of samples and secret, at the distance of errors and secret.
Behind guesses of zeta entries of the secret BKZ reduces the lattice without these once, and each
guess is a target in it.

Success: Babai's rounding is right in the other coordinates than the last eta, each with probability
P[|x| < r_j/2] for a normal x and Gram-Schmidt norm r_j; the last eta vectors of a basis that
BKZ-beta reduced hold the projected error as the shortest vector of dimension eta + 1 (Kannan's
embedding). Guesses: the zeta entries, at random places, have at most w that are not 0
(hypergeometric; of the expected weight if entries are independent).

Cost: K (BKZ-beta + what the targets take), K repetitions of the joint probability.

Searched: all beta, d and eta that may cost less than the best so far; of very many d, some. Behind
guesses beta, zeta and w on a grid; in turns all beta, d and eta, and guesses near the best. The
number of guesses |S| is at most what the lattice tells apart.

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
    """Estimate one target: a call for a shortest vector of dimension eta + 1, and (d - eta)^2.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = bdd(resolve_instance("ml-kem-512").parameters, DEFAULT)
    >>> best.beta, best.eta, best.d, round(best.rop, 2)
    (389, 422, 1005, 140.2)
    """
    return _least(parameters, setting, root=0)


@attack("bdd_hybrid", "heuristic model", "ACW19, PosVir21, LP11", reduces=True)
def bdd_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate |S| targets of guesses, each decoded as that of `bdd`.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> round(bdd_hybrid(sparse, DEFAULT).rop, 1), round(bdd_mitm_hybrid(sparse, DEFAULT).rop, 1)
    (111.4, 109.3)
    """
    return _least(parameters, setting, root=1)


@attack("bdd_mitm_hybrid", "heuristic model", "HG07, Wun19, LP11", reduces=True)
def bdd_mitm_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate guesses that meet in the middle: |S|^(1/2) d^2 for the halves that are sorted.

    A guess is the sum of two halves, whose targets Babai's rounding in all d coordinates maps alike
    with probability E[max(0, 1 - |x|/r_j)] each. Halves count as independent, and |S|^(1/2) favours
    the attack: a half of weight w/2 has more.
    """
    return _least(parameters, setting, root=2)


def _least(parameters: LweParameters, setting: Setting, root: int) -> Fields:
    """Describe the least cost; root: of |S|, to which targets are decoded; 0 without guesses."""
    lattice, guesses = Decoding(parameters, setting), Guesses(parameters)

    def price(
        beta: Integers, zeta: Integers, weight: Integers, d: Integers, more: Integers
    ) -> Priced:
        """Compute log2 of K (BKZ-beta + 2^each), K tries of exp(ln_prob)."""
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
