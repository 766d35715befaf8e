"""Dual attacks: short vectors of the dual lattice distinguish LWE samples from uniform ones.

For a vector (x, y) with x^T A = y mod q, <x, b> = <y, s> + <x, e> is small if x and y are short.
Lattice reduction finds such vectors for m samples and k entries of the secret. y is scaled by
sigma_s/sigma_e, so that both parts contribute equally [Albrecht17]. The dimension is d = m + k and
the volume (q sigma_s/sigma_e)^k. For vectors of length L, of which the cost model gives many, the
cosine of 2 pi <x, b>/q has mean e^(-D/2) with D = (2 pi sigma_e L/q)^2. [MR09, EJK20]
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardness.lwe.decoding import Guesses
from hardness.lwe.models import Array, Integers, Setting, log_delta
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate, attack
from hardness.lwe.scan import TOYS, Cost, refine, scan, spread, window
from hardness.lwe.success import log_distinguishing, log_repetitions, log_single

MULTIPLY, ADD = 2 * math.log2(32), math.log2(5 * 32)  # operations of 32-bit numbers [MATZOV22]
TABLE = 2 + ADD  # log2 of the operations to add the value of a vector
LARGEST_BLOCK = 1 << 14
TOO_WIDE = (
    "secret and errors are so wide for q that no short vectors tell samples from uniform ones"
)
_SMALL_N = 64  # n up to which more starting points are refined
_MOST_LN = 700.0  # the exponential of a larger number is beyond float64
Priced = dict[str, Array]  # rop and other fields of estimates: red, guess, count, ..


class ShortVectors:
    """The dual lattices of a problem, for arrays of block sizes beta, samples m and entries k.

    shift: ln of the deviation of the k entries over that of the whole secret.
    """

    def __init__(self, parameters: LweParameters, setting: Setting) -> None:
        """Take from the parameters what all lattices have; raises NoEstimate if there are none."""
        self.parameters, self.model, self.success = parameters, setting.model, setting.success
        self.rows = math.inf if parameters.rows is None else parameters.rows
        if parameters.no_lattice or parameters.error is None:
            raise NoEstimate(parameters.no_lattice)
        relative = parameters.error.ln_deviation - parameters.ln_q
        self.ln_scaled = parameters.secret.ln_deviation - relative  # of q sigma_s/sigma_e
        self.ln_error = math.log(2 * math.pi) + relative
        self.most = float(setting.model.cost(LARGEST_BLOCK, LARGEST_BLOCK))
        if self.ln_scaled <= 0:
            raise NoEstimate(TOO_WIDE)

    def samples(self, beta: Any, k: Any, shift: Any = 0.0) -> Integers:
        """Return the m with the shortest vectors: k ln(q sigma_s/sigma_e) = d^2 ln delta."""
        scaled = np.maximum(0.0, np.add(self.ln_scaled, shift))
        d = np.maximum(np.rint(np.sqrt(k * scaled / log_delta(beta))), beta)
        return np.clip(d - k, 1, self.rows).astype(np.int64)

    def loss(self, beta: Integers, m: Integers, k: Integers | int, shift: Any = 0.0) -> Array:
        """Compute D/ln 2, log2 of the factor e^D of needed vectors; infinite without a lattice."""
        d = np.add(m, k)
        ratio, _ = self.model.short(beta, d)
        ln_length = ratio + (d - 1) * log_delta(beta) + k / d * np.add(self.ln_scaled, shift)
        bits = np.exp(np.minimum(2 * (ln_length + self.ln_error), _MOST_LN)) / math.log(2)
        return np.where((beta <= d) & (m <= self.rows) & (k >= 1), bits, np.inf)

    def price(
        self, beta: Integers, m: Integers, k: Integers | int, count: Array, guess: Array, tries: Any
    ) -> Priced:
        """Compute log2 of tries (2^count vectors + guess); an infinite count is infinite cost."""
        able = np.isfinite(count)
        vectors = self.model.vectors(beta, m + k, np.where(able, count, 0.0))
        rop = np.logaddexp2(vectors.cost, np.where(able, guess, 0.0)) + tries
        rop = np.maximum(rop, self.parameters.reading(m))
        return {
            "rop": np.where(able, rop, np.inf),
            "red": vectors.cost + tries,
            "guess": guess + tries,
            "count": count,
            "number": vectors.number,
            "sieve": vectors.sieve,
            "k": k,
        }

    def scanned(self, best: Cost, *axes: ArrayLike) -> tuple[tuple[int, ...], float]:
        """Scan block sizes, with other axes; raises NoEstimate if no short vectors distinguish."""
        point, rop = scan(best, self.blocks(self.most), *axes)
        if not rop < self.most:
            raise NoEstimate(TOO_WIDE)
        return point, rop

    def blocks(self, bits: float) -> Integers:
        """List block sizes of a coarse grid for which one call costs at most 2^bits."""
        sizes = spread(2, LARGEST_BLOCK, 400, dense=512).astype(float)
        sizes = sizes[np.minimum(*(self.model.call(sizes, x * sizes) for x in (1, 2))) <= bits]
        return spread(2, sizes.max(initial=2), 100, dense=20)


def refined(
    price: Callable[..., Priced],
    point: tuple[int, ...],
    m: int,
    lattice: ShortVectors,
    ranges: Sequence[tuple[int, int]] = (),
) -> tuple[list[int], Fields]:
    """Refine a point together with m: return its parameters except beta, and an estimate's fields.

    point: beta and other parameters, within `ranges`. m: of the shortest vectors; for small n,
    smaller m are starting points too.
    """
    beta, *others = point
    small = lattice.parameters.n <= _SMALL_N  # blocks are small, and costs irregular
    sizes, blocks = ({m, *spread(1, m, 10).tolist()}, {beta, *TOYS}) if small else ({m}, {beta})
    starts = np.array([(block, size, *others) for size in sizes for block in blocks])
    top = int(min(2 * m + 64, lattice.rows))
    ends = np.array([(2, LARGEST_BLOCK), (1, top), *ranges]).T
    steps = np.tile(
        [4, max(1, m // 16), *(min(2, high - low) for low, high in ranges)], (len(starts), 1)
    )
    (beta, m, *others), _ = refine(lambda *axes: price(*axes)["rop"], starts, steps, ends)
    prices = price(*(np.array([v]) for v in (beta, m, *others)))
    costs = {key: float(np.ravel(value)[0]) for key, value in prices.items()}
    return others, {
        **{key: costs[key] for key in ("rop", "red", "guess")},
        "standing": "disputed",
        "note": f"2^{max(0.0, costs['count']):.1f} short vectors",
        "mem": costs["number"] + math.log2(costs["sieve"]),
        "sample_bits": float(lattice.parameters.label_bits(m)),
        "prob": lattice.success,
        "delta": math.exp(float(log_delta(beta))),
        "beta": beta,
        "sieve": int(costs["sieve"]),
        "d": int(costs["k"]) + m,
        "m": m,
        "search": "scan of all parameters",
    }


@attack("dual", "heuristic model", "MR09, Albrecht17, EJK20", reduces=True)
def dual(parameters: LweParameters, setting: Setting) -> Fields:
    """The dual attack: short vectors of the dual lattice distinguish samples from uniform ones.

    Idea: cosines of 2 pi <x, b>/q over 2^count short vectors have mean e^(-D/2) on samples, and
    mean 0 on uniform labels.

    Success: S on samples and on uniform labels, with 2 z^2 e^D vectors, where z is the normal
    quantile of S. Cosines have variance 1/2, and the threshold is in the middle.

    Cost: that of the vectors by the cost model, and 4 160 operations for each.

    Searched: beta and m. The lattice has all entries of the secret.

    Heuristics: the shape of reduced bases, vectors of one length, independent cosines.

    Source: [MR09, Albrecht17, EJK20]

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = dual(resolve_instance("ml-kem-512").parameters, DEFAULT)
    >>> best.beta, best.d, round(best.rop, 1)
    (423, 1014, 149.6)
    """
    lattice, n = ShortVectors(parameters, setting), parameters.n

    def price(beta: Integers, m: Integers) -> Priced:
        count = lattice.loss(beta, m, n) + log_distinguishing(setting.success)
        return lattice.price(beta, m, n, count, count + TABLE, 0.0)

    def best(beta: Integers) -> np.ndarray:
        return price(beta, lattice.samples(beta, n))["rop"]

    (beta,), _ = lattice.scanned(best)
    m = int(lattice.samples(np.array(beta), n))
    _, fields = refined(price, (beta,), m, lattice)
    more = f"tells samples from uniform ones by {fields['note']}"
    return fields | {"standing": "published", "note": more}


@attack("dual_hybrid", "heuristic model", "MATZOV22, Arikan96", reduces=True)
def dual_hybrid(parameters: LweParameters, setting: Setting) -> Fields:
    """The dual attack that guesses one part of the secret and finds another by Fourier transform.

    Idea: zeta entries are guessed. t entries are switched to the modulus p, and found by one
    transform for each guess. The lattice has the other k = n - zeta - t.

    Success: S, with e^D e^(t (pi sigma_s/p)^2/3) (sqrt(2 ln(T p^t/(1 - S))) + z)^2/2 vectors for
    T guesses; z is the normal quantile of S. At S = 1/2 the factor is the published ln(2 T p^t).

    Cost: the vectors, and T (32^2 t p^(t+1) + 4 160 N) operations for N vectors.

    Searched: beta, zeta, t, p and m.

    Heuristics: as of `dual`; values of wrong guesses count as independent, which [DP23] contests.
    T is the expected number of guesses, the likeliest first [Arikan96]: (sum of sqrt Pr)^(2
    zeta).

    Source: [MATZOV22, Arikan96]

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

    unguessed, rop = lattice.scanned(best, [0], [0], [2])
    widest = law.ln_deviation / math.log(2) + math.log2(3 * math.sqrt(rop)) + 2  # log2 of p
    zeta = spread(0, min(n - 1, (rop - TABLE) / max(law.guesses, 1e-9)), 6)
    out = spread(0, min(n - 1, max(1, rop - MULTIPLY)), 12)
    p = spread(2, 2 ** min(max(widest, 3), rop / 2, parameters.log2_q, 60), 8, dense=7)
    beta = np.linspace(max(2, unguessed[0] // 2), unguessed[0] + 2, 20).astype(np.int64)
    point, bits = scan(best, np.unique(beta), out, zeta, p, few=12)
    point = point if bits < rop else unguessed
    ranges = [(0, n - 1), (0, n - 1), (2, int(p[-1]))]
    bounds = [(2, LARGEST_BLOCK), *ranges]

    def near(point: tuple[int, ...], part: float) -> list[Integers]:
        """List values around each coordinate of a point, within a fraction `part` of it."""
        reach = [max(least, int(part * v)) for v, least in zip(point, (3, 12, 8), strict=False)]
        axes = zip(point, reach, bounds, strict=False)
        return [window(v, far, *ends, max(1, far // 4) if part else 1) for v, far, ends in axes]

    tried = []
    for p in window(point[3], max(2, point[3] // 2), *ranges[2], max(1, point[3] // 3)):
        start, bits = point, math.inf
        for part in (0.15, 0.04, 0.01):  # finer and finer grids, for each p on its own
            start, bits = scan(best, *near(start, part), [p], few=3)
        tried.append((bits, start))
    point = min(tried)[1]
    around = window(point[3], max(1, point[3] // 8), *ranges[2], max(1, point[3] // 16))
    point, _ = scan(best, *near(point, 0.0), around, few=12)
    m = int(lattice.samples(np.array(point[0]), n - point[1]))
    (both, guessed, modulus), fields = refined(price, point, m, lattice, ranges)
    fields |= {"zeta": guessed, "t": both - guessed, "space": guessed * law.guesses}
    return fields | {"p": modulus if both > guessed else None}


@attack("dual_guess", "heuristic model", "EJK20, Arikan96", reduces=True)
def dual_guess(parameters: LweParameters, setting: Setting) -> Fields:
    """The dual attack that scores guesses of a part of the secret one by one.

    Idea: zeta entries are guessed. The score of a guess is the sum of the cosines of all vectors of
    the lattice of the other n - zeta entries.

    Success: S, with 8 e^D (ln |S| - ln ln(1/P)) vectors for |S| guesses. For a sparse secret, the
    zeta places are drawn K times, until v to w of their entries are not 0. P and the K draws get
    sqrt(S) each. The lattice is for a weight of at most h - v, and the guesses are all of weight at
    most w.

    Cost: K (the vectors + 2 N |S|) operations for N vectors. A guess is made from one with an entry
    less by one addition for each vector, and one more adds its cosine.

    Searched: beta, zeta, v, w and m.

    Heuristics: as of `dual`; values of wrong guesses count as independent, which [DP23] contests.
    Of independent entries the likeliest are guessed first, T = (sum of sqrt Pr)^(2 zeta)
    [Arikan96].

    Source: [EJK20, Arikan96]

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
        """Compute `shift` of the other entries, if at least `low` guessed ones are not 0."""
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

    unguessed, rop = lattice.scanned(best, [0], [0], [0])
    zeta = spread(0, min(n - 1, rop / max(law.guesses, 1e-9)), 40)
    low = more = np.zeros(1, np.int64)
    if h is not None:
        guesses.limit(rop)
        zeta = np.unique(np.linspace(0, n - 1, 32).astype(np.int64))
        low = more = spread(0, guesses.columns - 1, 6, dense=3)
    ranges = [(0, n - 1), (0, int(low[-1])), (0, int(more[-1]))]
    point, bits = scan(best, lattice.blocks(rop), zeta, low, more, few=12)
    point = point if bits <= rop else unguessed
    near = [  # axes of a finer grid around the best point
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
