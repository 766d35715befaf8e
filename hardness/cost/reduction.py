"""What lattice reduction reaches, and what it costs: root Hermite factors and cost models.

All functions take block sizes beta and dimensions d as numbers or arrays, which broadcast. Costs
are log2 of operations, lengths natural logarithms.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import lfilter, lfiltic
from scipy.special import gammaln

from hardness.cost.success import SUCCESS
from instances.family import require

Array = NDArray[np.float64]

FORMULA_FROM = 60  # the least block size that the formula is used for
_MEASURED_TO = 45  # the largest whose measured value is used, before a line to the formula
_SURE = 1e-12  # of failure: roots of 1 less it are still below 1
_FAR = 1e300  # ln of lengths that no vector has
SIEVE_WIDTH = 0.2075  # log2 of the vectors that a sieve holds, per dimension: sqrt(4/3) [BDGL16]


def _formula(beta: Array) -> Array:
    inner = np.log(np.pi * beta) / beta + np.log(beta / (2 * np.pi * np.e))
    return inner / (2 * (beta - 1))


def _knots() -> tuple[Array, Array]:
    """Read measured values, but those above one of a smaller block size, and end at the formula."""
    table = np.loadtxt(
        Path(__file__).with_name("delta.csv"), delimiter=",", skiprows=2, usecols=(0, 1)
    )
    beta, measured = table[table[:, 0] <= _MEASURED_TO].T
    falls = np.append(True, measured[1:] < np.minimum.accumulate(measured)[:-1])
    last = np.array([float(FORMULA_FROM)])
    return np.append(beta[falls], last), np.append(measured[falls], _formula(last))


_KNOTS, _LOG_DELTA = _knots()


def log_delta(beta: ArrayLike) -> Array:
    """Compute ln of the root Hermite factor of BKZ of block size beta, 2 and more. [Chen13]

    From 60 on delta = ((pi beta)^(1/beta) beta/(2 pi e))^(1/(2 (beta - 1))); up to 45 ln delta is
    interpolated between the measured values of delta.csv, and a line joins the two. It
    falls strictly.

    >>> round(float(np.exp(log_delta(406))), 6)
    1.003941
    """
    beta = np.asarray(beta, float)
    return np.where(
        beta >= FORMULA_FROM,
        _formula(np.maximum(beta, FORMULA_FROM)),
        np.interp(beta, _KNOTS, _LOG_DELTA),
    )


class Vectors(NamedTuple):
    """Short vectors of a lattice, all of about one length, and what they cost."""

    ln_ratio: Array  # of their length to that of the first of a basis, delta^(d - 1) Vol^(1/d)
    cost: Array  # log2 of operations
    number: Array  # log2 of how many there are, at least as many as asked for
    sieve: Array  # dimension of the sieve that holds them


@dataclass(frozen=True, kw_only=True)
class Model:
    """A cost model of BKZ: one call of an oracle for shortest vectors, times the calls.

    call, calls: log2 of them, of (beta, d); lll: whether LLL, d^3 operations, comes first, and is
    all that block size 2 costs; many: how many short vectors are found; width: log2 of the vectors
    that one call holds.
    """

    name: str
    source: str
    quantum: bool = False
    call: Callable[[Array, Array], Array]
    calls: Callable[[Array, Array], Array]
    lll: bool
    many: Callable[["Model", Array, Array, Array], Vectors]
    width: Callable[[Array], Array]

    def cost(self, beta: ArrayLike, d: ArrayLike) -> Array:
        """Compute log2 of the operations of BKZ of block size beta on a lattice of dimension d.

        >>> round(float(MATZOV.cost(406, 998)), 2)
        143.77
        """
        beta, d = np.asarray(beta, float), np.asarray(d, float)
        reduction = self.call(beta, d) + self.calls(beta, d)
        if not self.lll:
            return reduction
        lll = 3 * np.log2(d)
        return np.where(beta > 2, np.logaddexp2(reduction, lll), lll)

    def vectors(self, beta: ArrayLike, d: ArrayLike, count: ArrayLike) -> Vectors:
        """Find what 2^count short vectors of a lattice reduced with block size beta cost.

        >>> found = MATZOV.vectors(320, 1948, 68.8)
        >>> int(found.sieve), round(float(found.cost), 1)
        (333, 122.4)
        """
        beta, d = np.asarray(beta, float), np.asarray(d, float)
        return self.many(self, beta, d, np.asarray(count, float))

    def memory(self, beta: ArrayLike) -> Array:
        """Compute log2 of the vectors that are held at a time."""
        return self.width(np.asarray(beta, float))


def _one_call(beta: Array, d: Array) -> Array:
    return np.zeros(np.broadcast(beta, d).shape)


def _tours(beta: Array, d: Array) -> Array:
    """Count 8 d calls where a block is less than the lattice, and one where it is all of it."""
    return np.where(beta < d, np.log2(8 * d), 0.0)


def free_dimensions(beta: ArrayLike) -> Array:
    """Compute by how many dimensions less than beta a sieve finds a shortest vector. [Ducas18]

    f = beta ln(4/3)/ln(beta/(2 pi e)); the formula is for large beta, and f is in proportion to
    beta below 40, where the formula would have it rise again.
    """
    beta = np.asarray(beta, float)
    bounded = np.maximum(beta, 40.0)
    return beta * math.log(4 / 3) / np.log(bounded / (2 * np.pi * np.e))


def _sieve_width(beta: Array) -> Array:
    return SIEVE_WIDTH * beta


def _free_width(beta: Array) -> Array:
    return SIEVE_WIDTH * (beta - free_dimensions(beta))


def _no_width(beta: Array) -> Array:
    return np.zeros(beta.shape)


def _held(dimension: Array) -> Array:
    """Compute log2 of the vectors that a sieve holds, a whole number of them."""
    held = SIEVE_WIDTH * dimension
    return np.where(held < 50, np.log2(np.floor(np.exp2(np.minimum(held, 50.0)))), held)


def _times(count: Array, held: Array) -> Array:
    """Compute log2 of how often 2^held vectors are taken for 2^count."""
    ratio = np.maximum(count - held, 0.0)
    return np.where(ratio < 50, np.log2(np.ceil(np.exp2(np.minimum(ratio, 50.0)))), ratio)


def _from_last_sieve(model: Model, beta: Array, d: Array, count: Array) -> Vectors:
    """Take the vectors that the last sieve of the reduction holds, sqrt(4/3) times as long."""
    sieve = beta if model.width is _sieve_width else beta - np.floor(free_dimensions(beta))
    held = _held(sieve)
    again = _times(count, held)
    ratio = np.full(np.broadcast(beta, d, count).shape, math.log(4 / 3) / 2)
    return Vectors(ratio, model.cost(beta, d) + again, held + again, sieve)


def _from_basis(model: Model, beta: Array, d: Array, count: Array) -> Vectors:
    """Take the first of a basis; for more, randomise it and reduce it by LLL. [Albrecht17]"""
    one = count <= 0
    shape = np.broadcast(beta, d, count).shape
    ratio = np.where(one, 0.0, math.log(2))
    cost = np.where(
        one, model.cost(beta, d), np.logaddexp2(model.cost(beta, d), count + 3 * np.log2(d))
    )
    return Vectors(
        np.broadcast_to(ratio, shape),
        cost,
        np.broadcast_to(np.maximum(count, 0.0), shape),
        np.broadcast_to(beta, shape),
    )


def _enumeration(fit: Callable[[Array], Array], cycles: float, least: float) -> Callable:
    """Make a call of a fit of the nodes of enumeration, which rises from block size `least` on."""

    def call(beta: Array, d: Array) -> Array:
        return fit(np.maximum(beta, least)) + math.log2(cycles)

    return call


def _chengu(beta: Array) -> Array:
    return 0.270188776350190 * beta * np.log(beta) - 1.0192050451318417 * beta + 16.10305135200765


_chengu_call = _enumeration(_chengu, 100, 16)


def roomy_dimension(beta: ArrayLike) -> NDArray[np.int64]:
    """Compute the least dimension, over 3/2 beta, from which on enumeration can be cheaper."""
    return 3 * np.asarray(beta, np.int64) // 2 + 1


def _extended(
    near: tuple[float, float], far: tuple[float, float], switch: int
) -> Callable[[Array, Array], Array]:
    """Make a call of enumeration with preprocessing in larger blocks, 64 cycles a node.

    The second fit holds where that larger block is within the lattice. Both rise from 22 on.
    """

    def call(beta: Array, d: Array) -> Array:
        b = np.maximum(beta, 22.0)
        small = 0.1839 * b * np.log2(b) - near[0] * b + near[1]
        large = 0.125 * b * np.log2(b) - far[0] * b + far[1]
        return np.where((1.5 * beta >= d) | (beta <= switch), small, large) + 6

    return call


def _plain(
    name: str, slope: float, source: str, *, constant: float = 0.0, quantum: bool = False
) -> Model:
    """Make a model of 2^(slope beta + constant) a call: one call, or with LLL and 8 d of them."""

    def call(beta: Array, d: Array) -> Array:
        return slope * beta + constant

    return Model(
        name=name,
        source=source,
        quantum=quantum,
        call=call,
        calls=_tours if constant else _one_call,
        lll=bool(constant),
        many=_from_last_sieve,
        width=_sieve_width,
    )


def _bdgl(beta: Array, d: Array) -> Array:
    return np.where(beta <= 90, 0.387, 0.292) * beta + 16.4


def _gates(name: str, slope: float, constant: float, source: str, *, long: bool) -> Model:
    """Make a model of sieves of 2^(slope dimension + constant) gates with dimensions for free.

    A sieve is progressive: in all dimensions up to the last, 1/(1 - 2^-slope) = C times the last;
    so is the reduction, C (d - beta) calls in all. Below 20 it is enumeration. long: whether the
    many vectors come from one more sieve, as large as costs what the reduction does, or from the
    last of the reduction.
    """
    log_c = -math.log2(-math.expm1(-slope * math.log(2)))

    def sieve(dimension: Array) -> Array:
        return log_c + slope * dimension + constant

    def call(beta: Array, d: Array) -> Array:
        return np.where(beta < 20, _chengu_call(beta, d), sieve(beta - free_dimensions(beta)))

    def calls(beta: Array, d: Array) -> Array:
        return np.where(beta < 20, _tours(beta, d), log_c + np.log2(np.maximum(d - beta, 1)))

    def many(model: Model, beta: Array, d: Array, count: Array) -> Vectors:
        last = beta - np.floor(free_dimensions(beta))
        more = (log_c + np.log2(np.maximum(d - beta, 1))) / slope
        size = np.where(beta < d, np.minimum(d, np.floor(last + more)), last)
        shape = np.broadcast(beta, d, count).shape
        # One vector of a basis is the first; a sieve of a dimension below 2 is none.
        size = np.maximum(size, 2.0)
        ratio = math.log(4 / 3) / 2 + (size - 1) * (log_delta(size) - log_delta(beta))
        held = _held(size)
        again = _times(count, held)
        cost = np.logaddexp2(model.cost(beta, d), sieve(size)) + again
        return Vectors(np.broadcast_to(ratio, shape), cost, held + again, size)

    return Model(
        name=name,
        source=source,
        call=call,
        calls=calls,
        lll=True,
        many=many if long else _from_last_sieve,
        width=_free_width,
    )


ADPS16 = _plain("adps16", 0.292, "ADPS16")
BDGL16 = Model(
    name="bdgl16",
    source="BDGL16",
    call=_bdgl,
    calls=_tours,
    lll=True,
    many=_from_last_sieve,
    width=_sieve_width,
)
CHENGU12 = Model(
    name="chengu12",
    source="CheNgu12",
    call=_chengu_call,
    calls=_tours,
    lll=True,
    many=_from_basis,
    width=_no_width,
)
MATZOV = _gates("matzov", 0.29613500308205365, 20.387885985467914, "MATZOV22", long=True)

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        ADPS16,
        _plain("adps16-quantum", 0.265, "ADPS16", quantum=True),
        _plain("adps16-paranoid", SIEVE_WIDTH, "ADPS16"),
        BDGL16,
        _plain("laamospol14", 0.265, "LaaMosPol14", constant=16.4, quantum=True),
        CHENGU12,
        Model(
            name="abfksw20",
            source="ABFKSW20",
            call=_extended((0.995, 16.25), (0.547, 10.4), 92),
            calls=_tours,
            lll=True,
            many=_from_basis,
            width=_no_width,
        ),
        Model(
            name="ablr21",
            source="ABLR21",
            call=_extended((1.077, 29.12), (0.654, 25.84), 97),
            calls=_tours,
            lll=True,
            many=_from_basis,
            width=_no_width,
        ),
        MATZOV,
        _gates("kyber", 0.2988026130564745, 26.011121212891872, "Kyber21, AGPS20", long=False),
        _gates("gj21", 0.2988026130564745, 26.011121212891872, "GJ21, AGPS20", long=True),
        _plain("chaloy21", 0.2570, "ChaLoy21", quantum=True),
    )
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is assumed of lattice reduction, and the probability with which attacks are to succeed.

    success: from 1/2 to 1 - 1e-12.
    """

    model: Model
    shape: str = "gsa"
    success: float = SUCCESS

    def __post_init__(self) -> None:
        """Refuse a probability that no attack or every coin has; raises UsageError."""
        require(
            0.5 <= self.success <= 1 - _SURE,
            f"success={self.success!r} given: a probability from 0.5 to 1 - 1e-12",
        )


DEFAULT = Setting(model=MATZOV)
ROUGH = Setting(model=ADPS16)


# ---- shapes of reduced bases


class Lattice(NamedTuple):
    """The Gram-Schmidt vectors of a q-ary lattice before reduction; numbers or arrays, broadcast.

    m: how many have length q; tail: how many stand after them; ln_tail: the mean of their lengths'
    logarithms, below ln_q.
    """

    m: ArrayLike
    tail: ArrayLike
    ln_q: ArrayLike
    ln_tail: ArrayLike

    @property
    def ln_volume(self) -> Array:
        """The logarithm of the volume."""
        return np.multiply(self.m, self.ln_q) + np.multiply(self.tail, self.ln_tail)


def cut_line(shape: str, lattice: Lattice, beta: ArrayLike) -> tuple[Array, Array, Array]:
    """Compute ln of the last length on a shape's line, and between which two it is cut off.

    Lengths fall by delta^-2 from one to the next, and where the line is cut off the volume stays.
    It is linear in the last length, piece by piece: Newton's steps, or halving.
    """
    d, slope = np.add(lattice.m, lattice.tail), 2 * log_delta(beta)
    volume = lattice.ln_volume
    last = volume / d - (d - 1) * slope / 2
    if shape == "gsa":
        return last, np.array(-_FAR), np.array(_FAR)
    never = volume / d - d * slope  # the mean is at most as much more
    ends = lattice.ln_tail if shape == "zgsa" else never, lattice.ln_q
    given = np.broadcast_arrays(last, *ends, d, slope, volume)
    last, low, high, d, slope, volume = (np.array(one, float) for one in given)
    below, above = np.minimum(low, volume / d) - slope * d, np.maximum(volume / d, high)
    for _ in range(64):
        start = np.clip(np.ceil((low - last) / slope), 0, d)
        end = np.clip(np.floor((high - last) / slope) + 1, start, d)
        inner = (end - start) * (last + slope * (start + end - 1) / 2)
        missing = volume - start * low - (d - end) * high - inner
        if (abs(missing) <= 1e-13 * abs(volume) + 1e-12).all():
            break
        below, above = np.where(missing > 0, last, below), np.where(missing > 0, above, last)
        newton = last + missing / np.maximum(end - start, 1)
        last = np.where((newton > below) & (newton < above), newton, (below + above) / 2)
    return last, low, high


def _cut(shape: str, lattice: Lattice, beta: Array, place: Array) -> Array:
    last, low, high = cut_line(shape, lattice, beta)
    return np.clip(last + 2 * log_delta(beta) * place, low, high)


@lru_cache(maxsize=16)
def log_first(largest: int) -> Array:
    """Compute ln of the first length of HKZ-reduced lattices of dimensions 1 .. largest, volume 1.

    From 46 dimensions on by the Gaussian heuristic; below, as in the last block of the 45 measured.
    """
    with open(Path(__file__).with_name("hkz.csv")) as file:
        norms = np.loadtxt(file, delimiter=",", skiprows=2)[:, 1]
    dimension = np.arange(1.0, max(largest, len(norms)) + 1)
    heuristic = (gammaln(dimension / 2 + 1) - dimension / 2 * math.log(math.pi)) / dimension
    last = norms[::-1]
    means = np.cumsum(last) / dimension[: len(last)]
    return np.append(last - means, heuristic[len(last) :])


@lru_cache(maxsize=256)
def _settled(beta: int, d: int) -> tuple[Array, Array]:
    """Compute lengths that tours of BKZ leave as they are, less the last, and their sums, (d,).

    Index 0 is the last vector. The first of each block is as long as that of a random lattice of
    the block's volume; far from the end that is a line.
    """
    first = log_first(beta)[:beta]
    h = np.arange(1.0, beta + 1)
    mean = np.append(0.0, np.cumsum(first[1:] / (h[1:] - 1)))
    found = mean + first
    if d > beta:
        more = min(d - beta, 16 * beta)
        weights = np.append(1.0, np.full(beta - 1, -1 / (beta - 1)))
        state = lfiltic([1.0], weights, found[:0:-1])
        rise = np.full(more, first[-1] * beta / (beta - 1))
        found = np.append(found, lfilter([1.0], weights, rise, zi=state)[0])
        slope = 2 * first[-1] / (beta - 1)
        found = np.append(found, found[-1] + slope * np.arange(1, d - len(found) + 1))
    return found[:d], np.append(0.0, np.cumsum(found[:d]))


def settled(m: int, tail: int, ln_q: float, ln_tail: float, beta: int) -> Array:
    """Compute ln of all lengths that tours leave as they are, the last first, (m + tail,)."""
    d = m + tail
    shape, sums = _settled(min(beta, d), 1 << (d - 1).bit_length())
    head = np.arange(m + 1)  # vectors of length q that stay
    last = ((m - head) * ln_q + tail * ln_tail - sums[d - head]) / (d - head)
    fits = last + shape[d - head - 1] <= ln_q
    kept = int(np.argmax(fits)) if fits.any() else m
    return np.append(last[kept] + shape[: d - kept], np.full(kept, ln_q))


def _simulated(lattice: Lattice, beta: Array, place: Array) -> Array:
    given = np.broadcast_arrays(*lattice, beta, place)
    every = zip(*(x.flat for x in given), strict=True)
    found = [
        settled(int(m), int(tail), ln_q, ln_tail, int(block))[int(at)]
        for m, tail, ln_q, ln_tail, block, at in every
    ]
    return np.reshape(found, given[0].shape)


SHAPES: dict[str, Callable[[Lattice, Array, Array], Array]] = {
    **{name: partial(_cut, name) for name in ("gsa", "lgsa", "zgsa")},
    "cn11": _simulated,
}


def log_norm(shape: str, lattice: Lattice, beta: ArrayLike, place: ArrayLike) -> Array:
    """Compute ln of a Gram-Schmidt vector's length after BKZ of block size beta.

    place: how many vectors stand after it, 0 for the last. shape: gsa, a line in the logarithms;
    lgsa, a line whose head is cut off at q; zgsa, one whose end also is, at the tail's length;
    cn11, what tours of BKZ leave as it is.

    >>> lattice = Lattice(m=485, tail=513, ln_q=np.log(3329), ln_tail=0.0)
    >>> round(float(log_norm("gsa", lattice, 406, 405)), 3)
    3.206
    """
    return SHAPES[shape](lattice, np.asarray(beta, float), np.asarray(place, float))
