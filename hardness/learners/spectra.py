"""Walsh-Hadamard spectra of functions of z, and how much of one is in another.

A function q of z_1 .. z_n is the sum of q^(T) chi_T(z) over the sets T of coordinates, with
q^(T) = E[q chi_T]. Weights are sums of squares q^(T)^2, by Parseval of the sum E[q^2].
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardness.learners.factor import require_table
from hardness.learners.learner import Predict
from hardness.numerics.walsh import LARGEST_LEVELS, walsh_hadamard
from instances import tokens
from instances.errors import UsageError
from instances.family import Secret, require
from instances.limits import require_memory
from instances.lwe import Modular
from instances.sets import Symmetric

Array = NDArray[np.float64]

# Of the whole weight: less is rounding, of tables computed in float64 by heads that may cancel.
NEGLIGIBLE = 1e-20
_CHUNK = 1 << 20
_ROWS = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Degrees:
    """The least and the highest degree with weight, and the mean degree, weighted."""

    least: int
    highest: int
    mean: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The Walsh coefficients of a function of z_1 .. z_n: (2^n,) float64, made read-only.

    Bit j-1 of an index is 1 where coordinate j is in T. Raises UsageError for another shape or
    values that are not finite.

    >>> found = spectrum(np.array([1.0, -1.0, -1.0, 1.0]))
    >>> found.n, found.coefficient((1, 2)), found.weights.tolist()
    (2, 1.0, [0.0, 0.0, 1.0])
    >>> found.degrees, found.top(1), found.influences.tolist()
    (Degrees(least=2, highest=2, mean=2.0), [((1, 2), 1.0)], [1.0, 1.0])
    """

    coefficients: Array

    def __post_init__(self) -> None:
        given = self.coefficients
        require(
            given.dtype == np.float64 and given.ndim == 1 and given.size.bit_count() == 1,
            f"coefficients of {given.dtype} {given.shape} given: float64 (2^n,) is needed",
        )
        require(bool(np.isfinite(given).all()), "coefficients that are not finite given")
        given.setflags(write=False)

    @property
    def n(self) -> int:
        """The number of coordinates, numbered 1 .. n."""
        return self.coefficients.size.bit_length() - 1

    def coefficient(self, subset: Secret) -> float:
        """Return q^(T) of a set of coordinates; raises UsageError outside 1 .. n."""
        require(
            all(1 <= j <= self.n for j in subset),
            f"subset {subset} given: coordinates are 1 .. {self.n}",
        )
        return float(self.coefficients[sum(1 << j - 1 for j in set(subset))])

    @cached_property
    def weights(self) -> Array:
        """The weight of each degree 0 .. n: (n+1,)."""
        return _by_degree(self.n, lambda part: self.coefficients[part] ** 2)

    @property
    def norm(self) -> float:
        """The whole weight, E[q^2]."""
        return float(self.weights.sum())

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which degrees have more weight than rounding explains: (n+1,)."""
        return np.asarray(self.weights > NEGLIGIBLE * self.norm)

    @property
    def degrees(self) -> Degrees | None:
        """The range of degrees with weight; None for the function 0."""
        found = np.flatnonzero(self.present)
        if not len(found):
            return None
        mean = float(self.weights @ np.arange(self.n + 1)) / self.norm
        return Degrees(least=int(found[0]), highest=int(found[-1]), mean=mean)

    @property
    def information_exponent(self) -> int | None:
        """The least degree k >= 1 with weight; None for a constant."""
        found = np.flatnonzero(self.present[1:])
        return int(found[0]) + 1 if len(found) else None

    @cached_property
    def influences(self) -> Array:
        """The weight of all sets that contain coordinate 1 .. n: (n,), 0 where q ignores it."""
        out = np.zeros(self.n)
        folded = self.coefficients**2
        for j in reversed(range(self.n)):
            without, having = folded.reshape(2, -1)
            out[j] = having.sum()
            folded = without + having
        return out

    def top(self, count: int) -> list[tuple[Secret, float]]:
        """Return the largest coefficients with their sets, at most `count`, none negligible.

        Those that differ by rounding alone come in the order of degree, then of index.

        >>> [s for s, _ in spectrum(np.array([1.0, 1, 1, -1])).top(3)]
        [(), (1,), (2,)]
        """
        require(count >= 1, f"top {count} given: at least 1")
        largest = max(float(np.abs(part).max()) for _, part in self._parts()) or 1.0
        kept = np.empty(0, np.int64)
        for start, part in self._parts():
            sizes = np.abs(part)
            found = np.flatnonzero(sizes > (NEGLIGIBLE * self.norm) ** 0.5)
            if len(found) > count:
                least = np.partition(sizes[found], -count)[-count]
                found = found[sizes[found] >= least - 2e-9 * largest]
            kept = np.concatenate([kept, found + start])
            # One order on all sets, so that cutting parts and cutting the whole agree.
            rounded = np.rint(np.abs(self.coefficients[kept]) / largest * 1e9)
            kept = kept[np.lexsort((kept, np.bitwise_count(kept), -rounded))][:count]
        return [(_subset(int(i)), float(self.coefficients[i])) for i in kept]

    @property
    def sets(self) -> NDArray[np.int64]:
        """The indices of the coefficients that are more than rounding."""
        least = (NEGLIGIBLE * self.norm) ** 0.5
        return np.concatenate([np.flatnonzero(np.abs(p) > least) + s for s, p in self._parts()])

    def dot(self, other: "Spectrum") -> float:
        """Return E[q f], the correlation of two functions; raises UsageError if their n differ."""
        return float(shared(self, other).sum())

    def _parts(self) -> Iterator[tuple[int, Array]]:
        for start in range(0, self.coefficients.size, _CHUNK):
            yield start, self.coefficients[start : start + _CHUNK]


def spectrum(table: Array) -> Spectrum:
    """Transform a table of values (2^n,), bit j-1 of an index 1 where z_j = -1.

    The table is kept. Raises UsageError where it is no such table or n > 26.
    """
    coefficients = np.array(table, np.float64)
    if coefficients.ndim != 1 or not coefficients.size:
        raise UsageError(f"a table of shape {coefficients.shape} given: (2^n,) is needed")
    walsh_hadamard(coefficients)
    coefficients /= coefficients.size
    return Spectrum(coefficients=coefficients)


def row_spectra(predict: Predict, k: int, d: int) -> list[Spectrum]:
    """Transform the first row of a function of k tokens of -1 and +1, one spectrum for a column.

    predict: (n, k, d) -> (n, k, d). Coordinate j of token i is coordinate (i - 1) d + j of the kd.
    Raises UsageError and TooLarge beyond kd = 26.

    >>> found = row_spectra(lambda x: x * x[:, ::-1], k=2, d=1)
    >>> [one.weights.tolist() for one in found]
    [[0.0, 0.0, 1.0]]
    """
    bits = k * d
    require(bits <= LARGEST_LEVELS, f"k={k}, d={d} given: kd may be up to {LARGEST_LEVELS}")
    require_memory((16 * (d + 2)) << bits, f"Walsh spectra of rows of {k} tokens")
    table, shifts = np.empty((d, 1 << bits)), np.arange(k, dtype=np.uint64) * np.uint64(d)
    for start in range(0, 1 << bits, _ROWS):
        index = np.arange(start, min(start + _ROWS, 1 << bits), dtype=np.uint64)
        words = index[:, None] >> shifts & np.uint64((1 << d) - 1)
        table[:, start : start + _ROWS] = predict(tokens.unpack(words[..., None], d))[:, 0].T
    return [spectrum(column) for column in table]


def together(columns: Sequence[Spectrum]) -> Spectrum:
    """Take the norms of a vector's coefficients, of one entry itself: weights add up.

    >>> f = spectrum(np.array([3.0, -3.0]))
    >>> together([f, spectrum(np.array([4.0, -4.0]))]).weights.tolist()
    [0.0, 25.0]
    """
    if len(columns) == 1:
        return columns[0]
    return Spectrum(coefficients=np.sqrt(sum(one.coefficients**2 for one in columns)))


def residue_spectrum(family: Modular, secret: Secret) -> Spectrum:
    """Transform E of the factor of an LWE-style member, a function of the bits of a.

    Raises UsageError and TooLarge beyond d = 27.

    >>> from instances import parse
    >>> family = parse("lwr:n=2,q=4,p=2,secret=binary")
    >>> residue_spectrum(family, (1, 0)).top(2), residue_spectrum(family, (1, 1)).weights.tolist()
    ([((2,), 1.0)], [0.0, 0.0, 0.25, 0.5, 0.25])
    """
    weights = family.weights(secret)
    require_table(family.d)
    t = np.zeros(1, np.int32)
    for weight in weights:
        t = np.concatenate([t, (t + int(weight)) % family.q])
    return spectrum(family.response[t])


def member_spectrum(family: Symmetric, secret: Secret) -> Spectrum:
    """Build the spectrum of a member's factor in closed form: g^_|T| for the subsets T of S.

    With label noise it is that of E[Y|X]. Raises UsageError and TooLarge beyond d = 27.

    >>> from instances import parse
    >>> member_spectrum(parse("profile:g=majority,d=6,m=3"), (1, 2, 4)).weights.tolist()
    [0.0, 0.75, 0.0, 0.25, 0.0, 0.0]
    """
    family.require_member(secret)
    require_table(family.d)
    # A coefficient of the label has the factor 1/2 of z_0 = -1.
    exact = [2 * family.coefficient(secret, secret[:k]) for k in range(family.m + 1)]
    values = np.array([float(value) for value in exact])
    subsets = np.zeros(1, np.int64)
    for j in secret:
        subsets = np.concatenate([subsets, subsets | 1 << j - 1])
    coefficients = np.zeros(1 << family.d - 1)
    coefficients[subsets] = values[np.bitwise_count(subsets)]
    return Spectrum(coefficients=coefficients)


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """How much of a target f is in q, degree by degree: arrays (n+1,).

    shared: E[q_k f_k]. part: shared over the target's weight, 1 where q_k is f_k and 0 where they
    are orthogonal, nan where the target has no weight. residual: E[(q_k - f_k)^2].
    """

    shared: Array
    part: Array
    residual: Array

    @property
    def correlation(self) -> float:
        """E[q f]."""
        return float(self.shared.sum())

    @property
    def distance(self) -> float:
        """E[(q - f)^2]."""
        return float(self.residual.sum())


def learned(q: Spectrum, target: Spectrum) -> Learned:
    """Compare a function with a target; raises UsageError if they are of different n.

    >>> f = spectrum(np.array([1.0, 1, 1, -1]))
    >>> q = spectrum(np.array([1.0, 0, 0, -1]))
    >>> learned(q, f).part.tolist(), learned(q, f).residual.tolist(), learned(q, f).correlation
    ([0.0, 1.0, 0.0], [0.25, 0.0, 0.25], 0.5)
    """
    return learned_rows([q], [target])


def learned_rows(q: Sequence[Spectrum], target: Sequence[Spectrum]) -> Learned:
    """Compare the columns of a vector with those of a target, as `learned` does numbers."""
    pairs, whole = list(zip(q, target, strict=True)), together(target)
    both = np.sum([shared(one, f) for one, f in pairs], axis=0)
    part = np.full(whole.n + 1, np.nan)
    np.divide(both, whole.weights, out=part, where=whole.present)
    squares = [_distance(one.coefficients, f.coefficients, f.n) for one, f in pairs]
    return Learned(shared=both, part=part, residual=np.sum(squares, axis=0))


def _distance(q: Array, f: Array, n: int) -> Array:
    return _by_degree(n, lambda part: (q[part] - f[part]) ** 2)


def shared(q: Spectrum, f: Spectrum) -> Array:
    """Return E[q_k f_k] for k = 0 .. n: (n+1,); raises UsageError if they are of different n."""
    require(q.n == f.n, f"functions of {q.n} and of {f.n} coordinates given: they must agree")
    return _by_degree(f.n, lambda part: q.coefficients[part] * f.coefficients[part])


def _by_degree(n: int, values: Callable[[slice], Array]) -> Array:
    """Sum values of the sets of each degree: (n+1,); values gives those of a part of the sets."""
    out = np.zeros(n + 1)
    for start in range(0, 1 << n, _CHUNK):
        part = slice(start, min(1 << n, start + _CHUNK))
        degree = np.bitwise_count(np.arange(part.start, part.stop))
        out += np.bincount(degree, weights=values(part), minlength=n + 1)
    return out


def _subset(index: int) -> Secret:
    return tuple(j + 1 for j in range(index.bit_length()) if index >> j & 1)
