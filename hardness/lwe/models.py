"""Models of lattice reduction: root Hermite factors, costs, and shapes of reduced bases.

Block sizes beta and dimensions d are numbers or arrays, which broadcast. Costs are log2 of
operations, and lengths are natural logarithms.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.lwe.success import SUCCESS
from instances.errors import unknown
from instances.family import require
from instances.text import cut

Array = NDArray[Any]  # of floats, or of truth values
Integers = NDArray[np.int64]

MOST_SUCCESS = 1 - 1e-12  # largest probability of success; its roots are still below 1
_BEYOND_LENGTHS = 1e300  # a logarithm beyond that of every length
SIEVE_WIDTH = 0.2075  # log2 of the vectors in a sieve, per dimension: sqrt(4/3) [BDGL16]
SMALL_BLOCK = 50  # below it cost models are not meaningful

# Root Hermite factors of small block sizes, as published estimates have them. [APS15]
_SMALL_BETA = np.array([2.0, 5, 10, 15, 20, 25, 28, 40])
_SMALL_LOG_DELTA = np.log([1.0219, 1.01862, 1.01616, 1.01485, 1.0142, 1.01342, 1.01331, 1.01295])


def _tabulated(formula: Callable[[Array], Array]) -> Callable[[ArrayLike], Array]:
    """Make a formula of block sizes look up integers below 2^14 in a table."""
    table = formula(np.arange(1 << 14))

    @wraps(formula)
    def value(beta: ArrayLike) -> Array:
        beta = np.asarray(beta)
        if beta.dtype == np.int64 and beta.size and beta.max() < len(table):
            return table[beta]
        return formula(beta)

    return value


@_tabulated
def log_delta(beta: Array) -> Array:
    """Compute ln of the root Hermite factor of BKZ with block size beta >= 2. [Chen13, APS15]

    Above 40, delta = ((pi beta)^(1/beta) beta/(2 pi e))^(1/(2 (beta - 1))). Up to 40, ln delta is
    interpolated between published values. It is strictly decreasing.

    >>> round(float(np.exp(log_delta(406))), 6)
    1.003941
    """
    large = np.maximum(beta, _SMALL_BETA[-1])
    formula = np.log(np.pi * large) / large + np.log(large / (2 * np.pi * np.e))
    small = np.interp(beta, _SMALL_BETA, _SMALL_LOG_DELTA)
    return np.where(beta > _SMALL_BETA[-1], formula / (2 * (large - 1)), small)


# ---- cost models


class Vectors(NamedTuple):
    """Short vectors of a lattice, all of about the same length, and their cost.

    ln_ratio: of their length to that of the first basis vector, delta^(d - 1) Vol^(1/d). cost: log2
    of operations. number: log2 of the number of vectors, at least as many as needed. sieve: the
    dimension of the sieve that contains them.
    """

    ln_ratio: Array
    cost: Array
    number: Array
    sieve: Array


def _log_c(slope: float) -> float:
    """Compute log2 of C, the cost of calls in all dimensions relative to the largest one."""
    return -math.log2(-math.expm1(-slope * math.log(2)))


@dataclass(frozen=True)
class Model:
    """A cost model of BKZ: the cost of one call for a shortest vector, times the number of calls.

    call: log2 of the operations of a call, as a function of (beta, d). calls: "one"; "tours" for
    8 d calls, or one if the block is the whole lattice; "progressive" for C (d - beta) calls with
    C = 1/(1 - 2^-slope). LLL is added except for "one". vectors_from: the source of many short
    vectors. slope, constant: of log2 of the gates of a sieve, linear in its dimension. If slope is
    above 0, dimensions for free are subtracted.
    """

    name: str
    source: str
    call: Callable[[Array, Array], Array]
    calls: Literal["one", "tours", "progressive"]
    vectors_from: Literal["basis", "last sieve", "one more sieve"] = "last sieve"
    slope: float = 0.0
    constant: float = 0.0

    def cost(self, beta: ArrayLike, d: ArrayLike) -> Array:
        """Compute log2 of the operations of BKZ with block size beta in dimension d.

        >>> round(float(MODELS["matzov"].cost(406, 998)), 2)
        143.77
        """
        beta, d = np.asarray(beta), np.asarray(d, float)
        call = self.call(beta, d)
        if self.calls == "one":
            return call + np.zeros(d.shape)
        number = np.where(beta < d, np.log2(8 * d), 0.0)
        if self.calls == "progressive":
            many = _log_c(self.slope) + np.log2(np.maximum(d - beta, 1))
            number = np.where(beta < _ENUMERATED, number, many)
        lll = 3 * np.log2(d)
        return np.where(beta > 2, np.logaddexp2(call + number, lll), lll)

    def short(self, beta: ArrayLike, d: ArrayLike) -> tuple[Array, Array]:
        """Return ln of the length of many short vectors over the first, and the sieve's dimension.

        From "basis" they are the first vectors of randomised bases, reduced by LLL [Albrecht17].
        From "last sieve" they are sqrt(4/3) times as long. From "one more sieve" they come from a
        sieve that costs as much as the reduction [GJ21].
        """
        beta, d = np.broadcast_arrays(np.asarray(beta, np.int64), np.asarray(d, np.int64))
        if self.vectors_from == "basis":
            return np.full(beta.shape, math.log(2)), beta
        ratio, size = np.full(beta.shape, math.log(4 / 3) / 2), beta
        if self.slope:
            size = beta - free_dimensions(beta).astype(np.int64)
        if self.vectors_from == "one more sieve":
            more = (_log_c(self.slope) + np.log2(np.maximum(d - beta, 1))) / self.slope
            size = np.where(beta < d, np.minimum(d, (size + more).astype(np.int64)), size)
            size = np.maximum(size, 2)  # the least dimension of a sieve
            ratio = ratio + (size - 1) * (log_delta(size) - log_delta(beta))
        return ratio, size

    def vectors(self, beta: ArrayLike, d: ArrayLike, count: ArrayLike) -> Vectors:
        """Compute the cost of 2^count short vectors after reduction with block size beta.

        >>> several = MODELS["matzov"].vectors(320, 1948, 68.8)
        >>> int(several.sieve), round(float(several.cost), 1)
        (333, 122.4)
        """
        ratio, size = self.short(beta, d)
        cost, count = self.cost(beta, d), np.asarray(count, float)
        if self.vectors_from == "basis":
            single, several = count <= 0, np.logaddexp2(cost, count + 3 * np.log2(d))
            number = np.maximum(count, 0.0) + np.zeros(size.shape)
            ln_ratio, total = np.where(single, 0.0, ratio), np.where(single, cost, several)
            return Vectors(ln_ratio, total, number, size)
        if self.vectors_from == "one more sieve":
            cost = np.logaddexp2(cost, _log_c(self.slope) + self.slope * size + self.constant)
        per_sieve = _whole(SIEVE_WIDTH * size, np.floor)
        sieves = _whole(np.maximum(count - per_sieve, 0.0), np.ceil)
        return Vectors(ratio, cost + sieves, per_sieve + sieves, size)

    def memory(self, beta: ArrayLike) -> Array:
        """Compute log2 of the vectors that one call stores.

        >>> [round(float(MODELS[name].memory(624)), 1) for name in ("adps16", "matzov")]
        [129.5, 119.1]
        """
        beta = np.asarray(beta, float)
        if self.vectors_from == "basis":
            return np.zeros(beta.shape)
        return SIEVE_WIDTH * (beta - free_dimensions(beta) if self.slope else beta)


def _whole(bits: Array, rounded: Callable[[Array], Array]) -> Array:
    """Round a number given by its log2; numbers of 2^50 or more are returned unchanged."""
    return np.where(bits < 50, np.log2(rounded(np.exp2(np.minimum(bits, 50.0)))), bits)


@_tabulated
def free_dimensions(beta: Array) -> Array:
    """Compute the number f of dimensions for free of a sieve with block size beta. [Ducas18]

    f = beta ln(4/3)/ln(beta/(2 pi e)) is a formula for large beta. Below 40 the formula would rise
    as beta falls, so f is taken proportional to beta.
    """
    return beta * math.log(4 / 3) / np.log(np.maximum(beta, 40.0) / (2 * np.pi * np.e))


_ENUMERATED = 20  # models of sieves with dimensions for free use enumeration below this block size


def _chengu(beta: Array, d: Array) -> Array:
    b = np.maximum(beta, 16.0)  # the fit is increasing from here
    nodes = 0.270188776350190 * b * np.log(b) - 1.0192050451318417 * b + 16.10305135200765
    return nodes + math.log2(100)


def _extended(near: tuple[float, float], far: tuple[float, float], switch: int) -> Callable:
    """Make the cost of a call of enumeration with preprocessing in larger blocks, 64 cycles a node.

    near, far: coefficients of two fits. The second applies above block size `switch` if the larger
    block is within the lattice. Both are increasing from 22.
    """

    def call(beta: Array, d: Array) -> Array:
        b = np.maximum(beta, 22.0)
        small = 0.1839 * b * np.log2(b) - near[0] * b + near[1]
        large = 0.125 * b * np.log2(b) - far[0] * b + far[1]
        return np.where((1.5 * beta >= d) | (beta <= switch), small, large) + 6

    return call


def roomy_dimension(beta: ArrayLike) -> Integers:
    """Compute the least dimension above 3/2 beta, from which enumeration can be cheaper."""
    return 3 * np.asarray(beta, np.int64) // 2 + 1


def _line(slope: float, constant: float = 0.0) -> Callable[[Array, Array], Array]:
    return lambda beta, d: slope * beta + constant


def _gates(slope: float, constant: float) -> Callable[[Array, Array], Array]:
    """Make the cost of sieves with 2^(slope dimension + constant) gates and dimensions for free."""

    @_tabulated
    def gates(beta: Array) -> Array:
        sieved = constant + slope * (beta - free_dimensions(beta))
        return np.where(beta < _ENUMERATED, _chengu(beta, beta), sieved + _log_c(slope))

    return lambda beta, d: gates(beta)


def _bdgl(beta: Array, d: Array) -> Array:
    return np.where(beta <= 90, 0.387, 0.292) * beta + 16.4


_MATZOV = 0.29613500308205365, 20.387885985467914  # slope and constant of a fit to gate counts
_AGPS = 0.2988026130564745, 26.011121212891872
_ABFK = _extended((0.995, 16.25), (0.547, 10.4), 92)
_ABLR = _extended((1.077, 29.12), (0.654, 25.84), 97)
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model("adps16", "ADPS16", _line(0.292), "one"),
        Model("adps16-quantum", "ADPS16", _line(0.265), "one"),
        Model("adps16-paranoid", "ADPS16", _line(SIEVE_WIDTH), "one"),
        Model("bdgl16", "BDGL16", _bdgl, "tours"),
        Model("laamospol14", "LaaMosPol14", _line(0.265, 16.4), "tours"),
        Model("chengu12", "CheNgu12", _chengu, "tours", "basis"),
        Model("abfksw20", "ABFKSW20", _ABFK, "tours", "basis"),
        Model("ablr21", "ABLR21", _ABLR, "tours", "basis"),
        Model("matzov", "MATZOV22", _gates(*_MATZOV), "progressive", "one more sieve", *_MATZOV),
        Model("kyber", "Kyber21, AGPS20", _gates(*_AGPS), "progressive", "last sieve", *_AGPS),
        Model("gj21", "GJ21, AGPS20", _gates(*_AGPS), "progressive", "one more sieve", *_AGPS),
        Model("chaloy21", "ChaLoy21", _line(0.2570), "one"),
    )
}
SHAPES = ("gsa", "lgsa", "zgsa")
_NAMED = {"default": "matzov", "rough": "adps16"}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The assumptions on lattice reduction, and the probability of success of attacks.

    success: from 1/2 to MOST_SUCCESS, which callers must check.
    """

    model: Model
    shape: str = "gsa"
    success: float = SUCCESS


def parse_setting(name: str, shape: str | None = None, success: float = SUCCESS) -> Setting:
    """Return the setting named default, rough, or by a cost model; raises UsageError.

    >>> parse_setting("rough").model.name, parse_setting("bdgl16", "zgsa").shape
    ('adps16', 'zgsa')
    """
    key = name.strip().lower()
    if _NAMED.get(key, key) not in MODELS:
        raise unknown("cost model", name, [*_NAMED, *MODELS])
    wrong = f"unknown shape '{cut(shape or '', 60)}': one of {', '.join(SHAPES)}"
    require(shape is None or shape.lower() in SHAPES, wrong)
    return Setting(
        model=MODELS[_NAMED.get(key, key)], shape=(shape or "gsa").lower(), success=success
    )


DEFAULT, ROUGH = parse_setting("default"), parse_setting("rough")


# ---- shapes of reduced bases


class Lattice(NamedTuple):
    """The Gram-Schmidt vectors of a q-ary lattice before reduction, as numbers or arrays.

    m: the number of vectors of length q. tail: the number of vectors after them. ln_tail: the mean
    logarithm of the lengths of the tail, below ln_q.
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
    """Compute the line of Gram-Schmidt logarithms of a shape: (last, low, high).

    The logarithms fall by 2 ln delta along the line, to `last`, and are clipped to [low, high].
    "gsa" does not clip them, "lgsa" clips the head at q, and "zgsa" also the end at the tail's
    length. Clipping must keep the volume, which is piecewise linear in `last`. So `last` is found
    by Newton's method, with bisection as a safeguard.
    """
    d, slope = np.add(lattice.m, lattice.tail), 2 * log_delta(beta)
    volume = lattice.ln_volume
    last = volume / d - (d - 1) * slope / 2
    if shape == "gsa":
        return last, np.array(-_BEYOND_LENGTHS), np.array(_BEYOND_LENGTHS)
    never = volume / d - d * slope  # below every value of the line, so nothing is clipped there
    ends = lattice.ln_tail if shape == "zgsa" else never, lattice.ln_q
    arrays = np.broadcast_arrays(last, *ends, d, slope, volume)
    last, low, high, d, slope, volume = (np.array(x, float) for x in arrays)
    below, above = np.minimum(low, volume / d) - slope * d, np.maximum(volume / d, high)
    for _ in range(64):
        start = np.clip(np.ceil((low - last) / slope), 0, d)
        end = np.maximum(start, np.minimum(np.floor((high - last) / slope) + 1, d))
        inner = (end - start) * (last + slope * (start + end - 1) / 2)
        missing = volume - start * low - (d - end) * high - inner
        wrong = abs(missing) > 1e-13 * abs(volume) + 1e-12
        if not wrong.any():
            break
        below, above = np.where(missing > 0, last, below), np.where(missing > 0, above, last)
        newton = last + missing / np.maximum(end - start, 1)
        newton = np.where((newton > below) & (newton < above), newton, (below + above) / 2)
        last = np.where(wrong, newton, last)
    return last, low, high


def log_norm(shape: str, lattice: Lattice, beta: ArrayLike, place: ArrayLike) -> Array:
    """Compute ln of the length of a Gram-Schmidt vector after BKZ; place: 0 for the last vector.

    >>> lattice = Lattice(m=485, tail=513, ln_q=np.log(3329), ln_tail=0.0)
    >>> round(float(log_norm("gsa", lattice, 406, 405)), 3)
    3.206
    """
    last, low, high = cut_line(shape, lattice, beta)
    return np.clip(last + 2 * log_delta(beta) * np.asarray(place, float), low, high)
