"""The dual attack that guesses a part of the secret and finds another by a Fourier transform.

Idea: zeta entries are guessed, t are switched to the modulus p and found by one transform for each
guess; the lattice has the other k = n - zeta - t.

Success: S, with e^D e^(t (pi sigma_s/p)^2/3) (sqrt(2 ln(T p^t/(1 - S))) + z)^2/2 vectors for T
guesses; z is the normal quantile of S. At S = 1/2 the factor is the published ln(2 T p^t).

Cost: the vectors, and T (32^2 t p^(t+1) + 4 160 N) operations for N vectors.

Searched: beta, zeta, t, p and m.

Heuristics: as of `dual`; values of wrong guesses count as independent, which [DP23] contests. T is
the expected number of guesses, the likeliest first [Arikan96]: (sum of sqrt Pr)^(2 zeta).

Source: [MATZOV22, Arikan96]
"""

import math

import numpy as np

from hardness.lwe.models import Array, Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack
from hardness.lwe.scan import scan, spread, window
from hardness.lwe.short_vectors import (
    LARGEST_BLOCK,
    MULTIPLY,
    TABLE,
    Priced,
    ShortVectors,
    refined,
)
from hardness.lwe.success import log_single


@attack("dual_hybrid", "heuristic model", "MATZOV22, Arikan96", reduces=True)
def dual_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = dual_hybrid(resolve_instance("ml-kem-512").parameters, DEFAULT)
    >>> round(best.rop, 1)
    138.7
    """
    lattice, n, law = ShortVectors(parameters, setting), parameters.n, parameters.secret

    def price(beta: Integers, m: Integers, out: Integers, zeta: Integers, p: Integers) -> Priced:
        k, t, log_p = n - out, np.maximum(out - zeta, 0), np.log2(p)
        guesses = zeta * law.guesses
        ln_turn = math.log(math.pi) + law.ln_deviation - log_p * math.log(2)
        noise = t * np.exp(np.minimum(2 * ln_turn, 700.0)) / 3 / math.log(2)
        count = lattice.loss(beta, m, np.maximum(k, 1)) + noise
        count = count + log_single(guesses + t * log_p, setting.success)
        transform = MULTIPLY + np.log2(np.maximum(t, 1)) + (t + 1) * log_p
        guess = guesses + np.logaddexp2(np.where(t > 0, transform, -np.inf), TABLE + count)
        return lattice.price(
            beta, m, k, np.where((k < 1) | (zeta > out), np.inf, count), guess, 0.0
        )

    def best(beta: Integers, out: Integers, zeta: Integers, p: Integers) -> Array:
        m = lattice.samples(beta, np.maximum(n - out, 1))
        return price(beta, m, out, zeta, p)["rop"]

    whole, rop = lattice.scanned(best, [0], [0], [2])
    widest = law.ln_deviation / math.log(2) + math.log2(3 * math.sqrt(rop)) + 2  # log2 of p
    zeta = spread(0, min(n - 1, (rop - TABLE) / max(law.guesses, 1e-9)), 6)
    out = spread(0, min(n - 1, max(1, rop - MULTIPLY)), 12)
    p = spread(2, 2 ** min(max(widest, 3), rop / 2, parameters.log2_q, 60), 8, dense=7)
    beta = np.linspace(max(2, whole[0] // 2), whole[0] + 2, 20).astype(np.int64)
    point, bits = scan(best, np.unique(beta), out, zeta, p, few=12)
    point = point if bits < rop else whole
    ranges = [(0, n - 1), (0, n - 1), (2, int(p[-1]))]
    bounds = [(2, LARGEST_BLOCK), *ranges]

    def near(point: tuple[int, ...], part: float) -> list[Integers]:
        """List values around a point: a part of each, all at least of a few."""
        reach = [max(least, int(part * v)) for v, least in zip(point, (3, 12, 8), strict=False)]
        every = zip(point, reach, bounds, strict=False)
        return [window(v, far, *ends, max(1, far // 4) if part else 1) for v, far, ends in every]

    tried = []
    for p in window(point[3], max(2, point[3] // 2), *ranges[2], max(1, point[3] // 3)):
        start, bits = point, math.inf
        for part in (0.15, 0.04, 0.01):  # in finer grids, of each p alone
            start, bits = scan(best, *near(start, part), [p], few=3)
        tried.append((bits, start))
    point = min(tried)[1]
    around = window(point[3], max(1, point[3] // 8), *ranges[2], max(1, point[3] // 16))
    point, _ = scan(best, *near(point, 0.0), around, few=12)
    m = int(lattice.samples(np.array(point[0]), n - point[1]))
    (both, guessed, modulus), fields = refined(price, point, m, lattice, ranges)
    fields |= {"zeta": guessed, "t": both - guessed, "space": guessed * law.guesses}
    return fields | {"p": modulus if both > guessed else None}
