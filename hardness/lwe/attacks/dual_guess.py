"""The dual attack that scores guesses of a part of the secret one by one.

Idea: zeta entries are guessed, and each guess has the sum of cosines of all vectors of the lattice
of the other n - zeta entries for its score.

Success: S, with 8 e^D (ln |S| - ln ln(1/P)) vectors for |S| guesses. For a sparse secret the places
are drawn, K times, until v to w of them are not 0: P and the K draws have sqrt(S) each, the lattice
is that of the weight h - v at most, and S holds all guesses of weight at most w.

Cost: K (the vectors + 2 N |S|) operations for N vectors: a guess comes from one with an entry less
by an addition a vector, and its cosine is added.

Searched: beta, zeta, v, w and m.

Heuristics: as of `dual`; values of wrong guesses count as independent, which [DP23] contests. Of
independent entries the likeliest are guessed first, T = (sum of sqrt Pr)^(2 zeta) [Arikan96].

Source: [EJK20, Arikan96]
"""

import math
from typing import Any

import numpy as np

from hardness.lwe.decoding import Guesses
from hardness.lwe.models import Array, Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack
from hardness.lwe.scan import scan, spread, window
from hardness.lwe.short_vectors import (
    LARGEST_BLOCK,
    Priced,
    ShortVectors,
    refined,
)
from hardness.lwe.success import log_repetitions


@attack("dual_guess", "heuristic model", "EJK20, Arikan96", reduces=True)
def dual_guess(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> best = dual_guess(sparse, DEFAULT)
    >>> round(best.rop, 1)
    108.9
    """
    lattice, n, law = ShortVectors(parameters, setting), parameters.n, parameters.secret
    guesses, h = Guesses(parameters), law.weight
    part = setting.success if h is None else math.sqrt(setting.success)

    def shift(zeta: Any, low: Any) -> Any:
        """Compute ln by which the rest is wider, if `low` entries that are not 0 are guessed."""
        return 0.0 if h is None else law.ln_deviation_without(n, zeta, low) - law.ln_deviation

    def price(beta: Integers, m: Integers, zeta: Integers, low: Integers, more: Integers) -> Priced:
        if h is None:
            space, tries, valid = zeta * law.guesses, np.zeros(len(zeta)), zeta < n
        else:
            space, ln_prob = guesses.sets(zeta, low + more)
            valid = np.isfinite(space) & (low < h)
            space = np.where(valid, space, 0.0)
            inside = np.exp(ln_prob) - np.exp(guesses.sets(zeta, low - 1)[1])
            valid &= inside > 0
            tries = log_repetitions(np.log(np.where(valid, inside, 1.0)), part)
        count = lattice.loss(beta, m, n - zeta, shift(zeta, low)) + 3
        count = count + np.log2(space * math.log(2) - math.log(-math.log(part)))
        count = np.where(valid, count, np.inf)
        return lattice.price(beta, m, n - zeta, count, 1 + space + count, tries)

    def best(beta: Integers, *split: Integers) -> Array:
        m = lattice.samples(beta, n - split[0], shift(*split[:2]))
        return price(beta, m, *split)["rop"]

    whole, rop = lattice.scanned(best, [0], [0], [0])
    zeta = spread(0, min(n - 1, rop / max(law.guesses, 1e-9)), 40)
    low = more = np.zeros(1, np.int64)
    if h is not None:
        guesses.limit(rop)
        zeta = np.unique(np.linspace(0, n - 1, 32).astype(np.int64))
        low = more = spread(0, guesses.columns - 1, 6, dense=3)
    ranges = [(0, n - 1), (0, int(low[-1])), (0, int(more[-1]))]
    point, bits = scan(best, lattice.blocks(rop), zeta, low, more, few=12)
    point = point if bits <= rop else whole
    near = [  # once more, in a finer grid
        window(value, reach, low, high, step)
        for value, reach, step, (low, high) in zip(
            point,
            (15, 1 + n // 16, 3, 3),
            (3, 1 + n // 256, 1, 1),
            [(2, LARGEST_BLOCK), *ranges],
            strict=True,
        )
    ]
    point, _ = scan(best, *near, few=12)
    m = int(lattice.samples(np.array(point[0]), n - point[1], shift(*point[1:3])))
    (guessed, least, wider), fields = refined(price, point, m, lattice, ranges)
    fields["zeta"], heavy = guessed, least + wider
    if h is None:
        return fields
    sparse = f"; {least} to {heavy} of {guessed} guessed coordinates are not 0"
    return fields | {"note": fields["note"] + sparse, "weight": heavy}
