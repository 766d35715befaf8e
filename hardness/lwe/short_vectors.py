"""Short vectors of the dual lattice, which tell samples of LWE from uniform ones.

A vector (x, y) with x^T A = y mod q makes <x, b> = <y, s> + <x, e>, small if x and y are short.
Lattice reduction finds such vectors for m samples and k entries of the secret. With y scaled by
sigma_s/sigma_e both parts weigh the same [Albrecht17]: dimension d = m + k, volume (q
sigma_s/sigma_e)^k. From vectors of length L, those that the cost model has many of, the cosine of 2
pi <x, b>/q has the mean e^(-D/2), D = (2 pi sigma_e L/q)^2. [MR09, EJK20]
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hardness.lwe.models import Array, Integers, Setting, log_delta
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate
from hardness.lwe.scan import TOYS, Cost, refine, scan, spread

MULTIPLY, ADD = 2 * math.log2(32), math.log2(5 * 32)  # operations of 32-bit numbers [MATZOV22]
TABLE = 2 + ADD  # to enter a vector's value
LARGEST_BLOCK = 1 << 14
WIDE = "secret and errors are so wide for q that no short vectors tell samples from uniform ones"
_SMALL_N = 64
_MOST_LN = 700.0  # of a float64
Priced = dict[str, Array]  # rop, and what else an estimate says: red, guess, count, ..


class ShortVectors:
    """The dual lattices of a problem, for arrays of block sizes, of samples and of entries k.

    shift: ln by which the secret's k entries are wider than as a whole.
    """

    def __init__(self, parameters: LweParameters, setting: Setting) -> None:
        """Read off what the lattices depend on."""
        self.parameters, self.model, self.success = parameters, setting.model, setting.success
        self.rows = math.inf if parameters.rows is None else parameters.rows
        if parameters.no_lattice or parameters.error is None:
            raise NoEstimate(parameters.no_lattice)
        relative = parameters.error.ln_deviation - parameters.ln_q
        self.ln_scaled = parameters.secret.ln_deviation - relative  # of q sigma_s/sigma_e
        self.ln_error = math.log(2 * math.pi) + relative
        self.most = float(setting.model.cost(LARGEST_BLOCK, LARGEST_BLOCK))
        if self.ln_scaled <= 0:
            raise NoEstimate(WIDE)

    def samples(self, beta: Any, k: Any, shift: Any = 0.0) -> Integers:
        """Find the m of the shortest vectors: k ln(q sigma_s/sigma_e) = d^2 ln delta."""
        scaled = np.maximum(0.0, np.add(self.ln_scaled, shift))
        d = np.maximum(np.rint(np.sqrt(k * scaled / log_delta(beta))), beta)
        return np.clip(d - k, 1, self.rows).astype(np.int64)

    def loss(self, beta: Integers, m: Integers, k: Integers | int, shift: Any = 0.0) -> Array:
        """Compute D/ln 2, log2 of the vectors that the noise asks for; infinity for no lattice."""
        d = np.add(m, k)
        ratio, _ = self.model.short(beta, d)
        ln_length = ratio + (d - 1) * log_delta(beta) + k / d * np.add(self.ln_scaled, shift)
        bits = np.exp(np.minimum(2 * (ln_length + self.ln_error), _MOST_LN)) / math.log(2)
        return np.where((beta <= d) & (m <= self.rows) & (k >= 1), bits, np.inf)

    def price(
        self, beta: Integers, m: Integers, k: Integers | int, count: Array, guess: Array, tries: Any
    ) -> Priced:
        """Compute log2 of tries (2^count vectors + guess); count infinite if there is none."""
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
        """Scan block sizes where nothing is guessed; raises NoEstimate if no vectors tell."""
        point, rop = scan(best, self.blocks(self.most), *axes)
        if not rop < self.most:
            raise NoEstimate(WIDE)
        return point, rop

    def blocks(self, bits: float) -> Integers:
        """List block sizes of a coarse grid, of which one call costs at most 2^bits."""
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
    """Search m too, from that of the shortest vectors and from fewer.

    point: beta and other parameters, within `ranges`. Returned are those others, and the fields of
    an estimate at the point of least cost.
    """
    beta, *others = point
    small = lattice.parameters.n <= _SMALL_N  # with blocks that cost models say little of
    sizes, blocks = ({m, *spread(1, m, 10).tolist()}, {beta, *TOYS}) if small else ({m}, {beta})
    starts = np.array([(block, size, *others) for size in sizes for block in blocks])
    top = int(min(2 * m + 64, lattice.rows))
    ends = np.array([(2, LARGEST_BLOCK), (1, top), *ranges]).T
    steps = np.tile(
        [4, max(1, m // 16), *(min(2, high - low) for low, high in ranges)], (len(starts), 1)
    )
    (beta, m, *others), _ = refine(lambda *at: price(*at)["rop"], starts, steps, ends)
    prices = price(*(np.array([v]) for v in (beta, m, *others)))
    at = {key: float(np.ravel(value)[0]) for key, value in prices.items()}
    return others, {
        **{key: at[key] for key in ("rop", "red", "guess")},
        "standing": "contested",
        "note": f"2^{max(0.0, at['count']):.1f} short vectors",
        "mem": at["number"] + math.log2(at["sieve"]),
        "sample_bits": float(lattice.parameters.label_bits(m)),
        "prob": lattice.success,
        "delta": math.exp(float(log_delta(beta))),
        "beta": beta,
        "sieve": int(at["sieve"]),
        "d": int(at["k"]) + m,
        "m": m,
        "search": "scan of all parameters",
    }
