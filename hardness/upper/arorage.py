"""Arora and Ge's attack: labels with few possible errors are zeros of polynomials. [AG11]

Every sample gives one polynomial equation in the secret, of the degree of the number of errors;
with as many samples as there are monomials the equations are solved as linear ones, a column for
each monomial. y = c - <a, s> mod q is one of 0 .. w-1. Over a prime q the product of (y - v)
vanishes, which has degree w in s. For q = 2^l residues are no field and that product is even
anyway; divided by w! it is a binomial coefficient, and C(y, w) mod 2 = [z^w] (1+z)^c (1+z)^(-<a,s>)
over GF(2) vanishes. It has degree w in the bits of s if bit b counts for 2^b, since (1+z)^(2^b) =
1 + z^(2^b). That gives the lowest bits of s, by which the errors are known: the rest is linear
algebra.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from hardness.kernels import System
from hardness.oracles import ExampleOracle, Meter, Spent
from hardness.upper.attack import Attack, believed, gather, needed, no_lattice
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.modlinear import independent, solve
from instances.capabilities import LINEAR_FORMS
from instances.family import require
from instances.integers import Integers
from instances.limits import require_memory
from instances.modular import Modular
from instances.residues import is_power_of_two, is_prime
from instances.samples import Samples, samples

Integral = NDArray[np.int64]
_MOST_ERRORS = 60  # a polynomial of Bits has a bit for each, in one word
_SPARE = 32  # equations more than unknowns
_NUMBER_BYTES = 64  # of a residue, as numpy, Python and flint hold it
_ROWS = 256  # equations over GF(2) that are written at once
_TIMED_ROWS = 400  # of an elimination over a prime field: a second or less
_STUCK = 3  # times that no equation is new, until some bits are taken to show in no label
_LEFT_OUT = 0.01  # the chance that the errors left out do occur


@dataclass(frozen=True, kw_only=True)
class Field:
    """Equations over a prime field, w < q: C(n+w, w) - 1 monomials of degree 1 .. w.

    >>> found = Field(n=2, w=2, q=17)
    >>> found.monomials, found.singles
    (5, [0, 2])
    >>> rows, right = found(np.array([[3, 5]]), np.array([4]))  # (4 - 3x - 5y)(3 - 3x - 5y) = 0
    >>> rows.tolist(), right.tolist()
    ([[13, 9, 16, 15, 8]], [5])
    """

    n: int
    w: int
    q: int

    @property
    def monomials(self) -> int:
        """The number of unknowns of the linear equations."""
        return math.comb(self.n + self.w, self.w) - 1

    @property
    def singles(self) -> list[int]:
        """Which unknowns are the entries of the secret."""
        return [math.comb(i + self.w, self.w) - 1 for i in range(self.n)]

    def __call__(self, a: Integral, c: Integral) -> tuple[Integral, Integral]:
        """Write the equations of samples: (N, n), (N,) -> (N, monomials), (N,), mod q.

        The unknown of a monomial is it times its multinomial coefficient, which is 1 for entries.
        """
        columns, degrees = np.ones((len(a), 1), np.int64), np.zeros(1, np.int64)
        for i in range(self.n):
            more, degree = columns, degrees
            while len(degree):
                more = more[:, degree < self.w] * a[:, i : i + 1] % self.q
                degree = degree[degree < self.w] + 1
                columns = np.concatenate([columns, more], axis=1)
                degrees = np.concatenate([degrees, degree])
        columns = columns * self._powers(c)[:, degrees] % self.q
        return columns[:, 1:], -columns[:, 0] % self.q

    def _powers(self, c: Integral) -> Integral:
        """The coefficients of the product of c - v - t by powers of t: (N,) -> (N, w+1)."""
        out = np.zeros((len(c), self.w + 1), np.int64)
        out[:, 0] = 1
        for v in range(self.w):
            lower = np.pad(out[:, :-1], ((0, 0), (1, 0)))
            out = (out * ((c - v) % self.q)[:, None] - lower) % self.q
        return out


@dataclass(frozen=True, kw_only=True)
class Bits:
    """Equations over GF(2) for q a power of two above w; the lowest `depth` bits of s are unknown.

    >>> found = Bits(n=3, w=2, depth=2)
    >>> found.monomials, found.singles  # a bit of the units, pairs of such, bits of the twos
    (9, [0, 1, 2, 4, 5, 8])
    """

    n: int
    w: int
    depth: int

    @property
    def monomials(self) -> int:
        """The number of unknowns: sets of bits of a weight up to w, but the empty one."""
        return self._counts[-1] - 1

    @property
    def singles(self) -> list[int]:
        """Which unknowns are bits: those of entry 0, from the lowest, then those of entry 1 ..."""
        return [count - 1 for count in self._counts[:-1]]

    def __call__(self, a: Integral, c: Integral) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Write the equations of samples: (N, n), (N,) -> packed (N, words), bits (N,)."""
        period = 1 << self.w.bit_length()
        # A polynomial of degree up to w is a number, its coefficient of z^j in bit j.
        power = np.array([self._power(x) for x in range(period)], np.uint64)
        columns, weights = power[c % period][:, None], np.zeros(1, np.int64)
        for k, weight in enumerate(self._weights):
            factor = power[-weight * a[:, k // self.depth] % period] ^ np.uint64(1)
            light = weights + weight <= self.w
            columns = np.concatenate([columns, self._times(columns[:, light], factor)], axis=1)
            weights = np.concatenate([weights, weights[light] + weight])
        bits = ((columns >> np.uint64(self.w)) & np.uint64(1)).astype(np.uint8)
        return _pack(bits[:, 1:]), bits[:, 0]

    @cached_property
    def _weights(self) -> list[int]:
        return [1 << b for _ in range(self.n) for b in range(self.depth)]

    @cached_property
    def _counts(self) -> list[int]:
        """The number of sets of the first 0, 1, 2, ... bits, the empty one among them."""
        sizes = [1] + [0] * self.w  # by weight
        out = [1]
        for weight in self._weights:
            sizes = [s + (sizes[j - weight] if j >= weight else 0) for j, s in enumerate(sizes)]
            out.append(sum(sizes))
        return out

    def _power(self, x: int) -> int:
        """(1+z)^x mod 2 up to z^w: by Lucas, z^j where the bits of j are among those of x."""
        return sum(1 << j for j in range(self.w + 1) if not j & ~x)

    def _times(self, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
        out = np.zeros_like(left)
        for j in range(self.w + 1):
            bit = (right >> np.uint64(j)) & np.uint64(1)
            out ^= (left << np.uint64(j)) * bit[:, None]
        return out & np.uint64((1 << (self.w + 1)) - 1)


def _pack(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 64)))
    octets = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(octets).view("<u8").astype(np.uint64)


Equations = Field | Bits


class Window(NamedTuple):
    """Errors low .. low + w - 1; all others have the probability `tail`."""

    low: int
    w: int
    tail: float


@dataclass(frozen=True, kw_only=True)
class AroraGe(Attack):
    """Linearises for the `errors` likeliest errors; 0: for as many as almost all samples have.

    flint's elimination is not interrupted: 2000 monomials take about two seconds, and the time
    grows with their cube.
    """

    name: ClassVar[str] = "arora-ge"
    about: ClassVar[str] = "Arora-Ge: few possible errors, C(n+w, w) examples or so"

    errors: int = 0

    def __post_init__(self) -> None:
        require(
            self.errors == 0 or 2 <= self.errors <= _MOST_ERRORS,
            f"errors={self.errors} given: 2 to {_MOST_ERRORS} errors, or 0 to count them",
        )

    def unfit(self, forms: Modular) -> str | None:
        """Return that there are no errors, or as many as residues; None where they are between."""
        if (reason := no_lattice(forms)) is not None:
            return reason
        if not (is_prime(forms.q) or is_power_of_two(forms.q)):
            return f"its q = {forms.q} is neither a prime nor a power of two"
        if self._window(forms) is None:
            return f"too many errors are likely: fewer than q = {forms.q}, at most {_MOST_ERRORS}"
        return None

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Linearise, solve, and check the secret by the samples."""
        family, window = oracle.family, self._window(forms)
        if window is None:
            return nothing(family)
        system = equations(forms, window.w)
        size = system.monomials
        details: dict[str, Any] = {"errors": window.w, "left_out": window.tail, "monomials": size}
        require_memory(_memory(system), f"arora-ge with {size} monomials")
        try:
            if isinstance(system, Field):
                found, residues = _by_field(oracle, system, window)
            else:
                found, residues = _by_bits(oracle, system, window)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], **details)
        secret = None if residues is None else forms.secrets.lift(residues)
        if secret is None or not believed(found, secret):
            return nothing(family, Outcome.NOISY, samples=len(found), **details)
        return member(family, family.from_linear(secret), samples=len(found), **details)

    def _window(self, family: Modular) -> Window | None:
        """The least window of errors that leaves out none of the samples with 99 %."""
        error = Samples.none(family).error
        most = min(_MOST_ERRORS, family.q - 1)
        if error is None or self.errors > most:
            return None
        if self.errors:
            return widest(error, self.errors)
        for w in range(2, most + 1):
            window = widest(error, w)
            if window.tail * (equations(family, w).monomials + _SPARE) <= _LEFT_OUT:
                return window
        return None


def equations(family: Modular, w: int) -> Equations:
    """Build the equations for w errors in a row."""
    if family.q % 2:
        return Field(n=family.n, w=w, q=family.q)
    depth = 1 if family.secret == "binary" else w.bit_length()
    return Bits(n=family.n, w=w, depth=depth)


def widest(error: Integers, w: int) -> Window:
    """Find the w neighbours that errors fall on most likely.

    >>> from instances.integers import centred_binomial
    >>> widest(centred_binomial(2), 3)
    Window(low=-1, w=3, tail=0.125)
    """
    chances = dict(zip(error.values, error.weights, strict=True))

    def mass(low: int) -> Any:
        return sum(chances.get(v, 0) for v in range(low, low + w))

    low = max(error.values, key=mass)
    return Window(low=low, w=w, tail=float(1 - mass(low)))


def _by_field(
    oracle: ExampleOracle, system: Field, window: Window
) -> tuple[Samples, list[int] | None]:
    """Solve over a prime field: the samples, and the secret's residues if there is just one."""
    size = system.monomials
    found = gather(
        oracle, max(size + _SPARE, needed(LINEAR_FORMS.need(oracle.family))), samples, every=True
    )
    rows, right = system(found.a, found.b - window.low)
    whole = np.concatenate([rows, right[:, None]], axis=1)
    _require_time(oracle.meter, whole, system.q)
    reduced, rank = _rref(whole, system.q)
    if rank != size or int(reduced[size - 1, size - 1]) != 1:
        return found, None
    return found, [int(reduced[i, size]) for i in system.singles]


def _require_time(meter: Meter, whole: NDArray[np.int64], q: int) -> None:
    """Raise Spent where the elimination, which nothing can stop, would not end in time.

    It is timed on a few rows first: with all of them it takes (rows/few)^1.5 times as long or less.
    """
    meter.require_time()
    if meter.budget.seconds is None or len(whole) <= _TIMED_ROWS:
        return
    before = meter.seconds
    _rref(whole[:_TIMED_ROWS], q)
    whole_time = (meter.seconds - before) * (len(whole) / _TIMED_ROWS) ** 1.5
    if meter.seconds + whole_time > meter.budget.seconds:
        raise Spent("seconds")


def _rref(rows: NDArray[np.int64], q: int) -> tuple[nmod_mat, int]:
    reduced, rank = nmod_mat(len(rows), rows.shape[1], rows.ravel().tolist(), q).rref()
    return reduced, int(rank)


def _by_bits(
    oracle: ExampleOracle, system: Bits, window: Window
) -> tuple[Samples, list[int] | None]:
    """Solve for the lowest bits over GF(2), then for the rest: as _by_field, for q = 2^l."""
    family = LINEAR_FORMS.need(oracle.family)
    batch = min(_ROWS, system.monomials + _SPARE)
    linear = System(system.monomials)
    found, stuck = Samples.none(family), 0
    # Some monomials have the coefficients of others, so that the rank stays below their number.
    while not linear.determined()[system.singles].all() or len(found) < needed(family):
        fresh, rank = gather(oracle, batch, samples, every=True), linear.rank
        found = Samples.join((found, fresh))
        contradictions = linear.add(*system(fresh.a, fresh.b - window.low))
        stuck = 0 if linear.rank > rank else stuck + 1
        if contradictions or (stuck > _STUCK and len(found) >= needed(family)):
            return found, None
    bits = linear.solution()[system.singles].reshape(family.n, system.depth)
    low = (bits.astype(np.int64) << np.arange(system.depth)).sum(axis=1)
    if family.secret == "binary":
        return found, low.tolist()
    while len(independent(found.a, family.q)) < family.n:
        found = Samples.join((found, gather(oracle, _SPARE, samples, every=True)))
    error = (found.b - window.low - found.a @ low) % (1 << system.depth) + window.low
    return found, list(solve(found.a, found.b - error, family.q))


def _memory(system: Equations) -> int:
    size = system.monomials
    if isinstance(system, Field):
        return _NUMBER_BYTES * (size + _SPARE) * size
    return size * size // 2 + 32 * _ROWS * size  # two copies, packed; equations being written
