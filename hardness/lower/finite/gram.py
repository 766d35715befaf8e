"""Gram matrices of real functions: by enumeration of the cube, by their spectra, by sampling.

A point of the cube {-1, +1}^n has an index: bit j is 1 where coordinate j is -1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.lower.finite.caps import Caps, caps, exact_caps
from hardness.lower.finite.graph import Bracket, sq_dimension, sq_dimension_exact
from instances import tokens
from instances.errors import UsageError
from instances.limits import require_memory

Evaluate = Callable[[NDArray[Any]], NDArray[Any]]  # (count, n) points -> (M, count) values
_MOST = 26  # coordinates of a cube that is enumerated
_CHUNK = 1 << 16
_VALUES = 1 << 24  # of all members on the points of one chunk
_EXACT = 2**53  # integers below are exact in float64
_UNIT = 2.0**-53
_LEAST = 1e-280  # a mean square below may be wrong by underflow


@dataclass(frozen=True, kw_only=True, eq=False)
class Gram:
    """Inner products of all pairs of members, and how well they are known.

    values: (M, M). int64: sums over all 2^n points, exact. float64: means, each within `radius` of
    the true one. correlation_radius: the same for `correlations`. Where `confidence` is given, both
    hold with that probability for all pairs at once, else always.

    >>> Gram(values=np.eye(2), radius=0.1, correlation_radius=0.3, method="spectra").kind
    'interval'
    """

    values: NDArray[Any]
    radius: float
    correlation_radius: float
    method: Literal["enumeration", "spectra", "sampling"]
    n: int | None = None  # coordinates of the cube
    samples: int | None = None
    confidence: float | None = None

    @property
    def kind(self) -> Literal["exact", "interval", "statistical"]:
        """How the values are known."""
        if self.confidence is not None:
            return "statistical"
        return "exact" if self.values.dtype.kind == "i" else "interval"

    @property
    def correlations(self) -> NDArray[np.float64]:
        """The inner products of the members divided by their norms, (M, M), 1 on the diagonal."""
        return normalised(self.values)

    def caps(self) -> tuple[Caps, Caps]:
        """Bound the caps of all pairs from below and above; the same where the kind is exact.

        >>> gram = by_enumeration(lambda x: np.array([x[:, 0], x.sum(axis=1)]), "ab", 4)
        >>> gram.caps()[0].tolist()
        [[2, 2], [2, 2]]
        """
        if self.kind == "exact":
            found, _ = exact_caps(self.values)
            return found, found
        return caps(self.correlations, self.correlation_radius)

    def sq_dimension(self, steps: int = 200_000) -> Bracket:
        """Bracket SQ-DIM of the members, by the exact values where they are.

        >>> by_enumeration(lambda x: x.T, "abcde", 5).sq_dimension().lower
        5
        """
        if self.kind == "exact":
            return sq_dimension_exact(self.values, steps)
        return sq_dimension(self.correlations, self.correlation_radius, steps)


def by_enumeration(evaluate: Evaluate, members: Sequence[object], n: int) -> Gram:
    """Sum the products of all pairs over all 2^n points of the cube.

    evaluate takes points (count, n), int8, -1 or +1, and gives the values of all members on them,
    (M, count). members: their names, for messages. Exact where all values are integers and their
    squares add up to less than 2^53; otherwise the radius bounds the rounding of the sums, with the
    values taken as they are. Raises UsageError for n above 26, for a value that is not finite, a
    wrong shape, a norm of 0; TooLarge before anything is computed.

    >>> majority = lambda x: np.array([x[:, 0], np.sign(x.sum(axis=1))])
    >>> gram = by_enumeration(majority, ("dictator", "majority"), 3)
    >>> gram.values.tolist(), gram.kind
    ([[8, 4], [4, 8]], 'exact')
    """
    _require_cube(n)
    size, chunk = _require_members(members)
    gram = np.zeros((size, size))
    whole = True
    for start in range(0, 1 << n, chunk):
        index = np.arange(start, min(start + chunk, 1 << n), dtype=np.uint64)
        values = _values(evaluate(tokens.unpack(index[:, None], n)), members, len(index))
        whole = whole and bool((values == np.rint(values)).all())
        gram += _products(values)
    return of_cube(gram, whole, members, n, min(chunk, 1 << n) + -(-(1 << n) // chunk))


def by_spectra(spectra: NDArray[Any], members: Sequence[object] | None = None) -> Gram:
    """Sum the products of Walsh-Hadamard coefficients, which is the same by Parseval.

    spectra: (M, 2^n). Integers are the sums of f times a character over all points, and give exact
    values; floats are the means. Raises as by_enumeration does.

    >>> by_spectra(np.array([[0, 8, 0, 0], [0, 4, 4, 0]])).values.tolist()
    [[16, 8], [8, 8]]
    """
    given = np.asarray(spectra)
    n = given.shape[-1].bit_length() - 1 if given.ndim == 2 else -1
    if n < 0 or given.shape[1] != 1 << n:
        raise UsageError(f"spectra of shape {given.shape} given: (M, 2^n) is needed")
    names = range(len(given)) if members is None else members
    _require_cube(n)
    _require_members(names, 1 << n)
    values = _values(given, names, 1 << n)
    whole = given.dtype.kind in "iu"
    gram = _products(values)
    points = 1 << n
    if whole and np.diagonal(gram).max(initial=0) < _EXACT:
        if (gram % points).any():
            raise UsageError("integer spectra given that are not sums of integer functions")
        gram /= points
    elif whole:
        gram /= points  # a power of 2: no rounding
        whole = False
    else:
        gram *= points
    return of_cube(gram, whole, names, n, points, "spectra")


def by_sampling(
    evaluate: Evaluate,
    members: Sequence[object],
    draw: Callable[[int, int], NDArray[Any]],
    samples: int,
    confidence: float,
    bound: float,
) -> Gram:
    """Estimate the means of the products of all pairs from `samples` independent points.

    draw(start, count) gives points start .. start+count-1, evaluate the values of all members on
    them, (M, count), at most `bound` in size. With probability at least `confidence` all M(M+1)/2
    means are within the radius: Hoeffding's inequality and a union bound [Hoe63]. Raises UsageError
    where a value is above the bound or not finite, and where the samples are too few to tell a norm
    from 0; TooLarge before anything is computed.

    >>> from instances.streams import generator
    >>> draw = lambda start, count: generator(0, str(start)).choice([-1, 1], (count, 3))
    >>> gram = by_sampling(lambda x: x.T, "abc", draw, 10_000, confidence=0.99, bound=1)
    >>> round(gram.radius, 3), gram.kind
    (0.038, 'statistical')
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} given: it must be between 0 and 1")
    if samples < 1:
        raise UsageError(f"samples={samples} given: at least 1 is needed")
    if not 0 < bound < 1e100:
        raise UsageError(f"bound={bound} given: it must be above 0 and below 1e100")
    size, chunk = _require_members(members)
    gram = np.zeros((size, size))
    for start in range(0, samples, chunk):
        count = min(chunk, samples - start)
        values = _values(evaluate(draw(start, count)), members, count)
        above = (np.abs(values) > bound).any(axis=1)
        if above.any():
            i = int(above.argmax())
            worst = np.abs(values[i]).max()
            raise UsageError(f"{member_name(members, i)} has the value {worst:g}, above {bound=}")
        gram += _products(values)
    terms = min(chunk, samples) - (-samples // chunk)
    return of_samples(gram, members, samples, confidence, bound, terms)


def of_samples(
    sums: NDArray[np.float64],
    members: Sequence[object],
    samples: int,
    confidence: float,
    bound: float,
    terms: int,
) -> Gram:
    """Make the Gram matrix of sums (M, M) over samples, added with `terms` roundings each.

    bound: of a member's norm at any point. Raises UsageError where a norm may be 0.
    """
    gram = sums / samples
    radius = hoeffding(len(sums), samples, confidence, bound) + _gamma(terms + 1) * 2 * bound**2
    norms = np.diagonal(gram)
    if (norms <= radius).any():
        i = int(norms.argmin())
        raise UsageError(
            f"{member_name(members, i)} has the mean square {norms[i]:.4g}, known to within "
            f"{radius:.4g}, so it may be 0: raise the samples or leave it out"
        )
    return Gram(
        values=gram,
        radius=radius,
        correlation_radius=spread(gram, radius),
        method="sampling",
        samples=samples,
        confidence=confidence,
    )


def hoeffding(size: int, samples: int, confidence: float, bound: float) -> float:
    """Bound how far all means of products of `size` members are off at once. [Hoe63]

    >>> round(hoeffding(3, 10_000, 0.99, 1.0), 3)
    0.038
    """
    entries = size * (size + 1) / 2
    return bound**2 * math.sqrt(2 * math.log(2 * entries / (1 - confidence)) / samples)


def _require_cube(n: int) -> None:
    if not 0 <= n <= _MOST:
        raise UsageError(
            f"n={n} given: the cube is enumerated for n from 0 to {_MOST}; sample beyond"
        )


def _require_members(members: Sequence[object], points: int = 0) -> tuple[int, int]:
    """Count the members and the points of a chunk, or refuse what does not fit."""
    size = len(members)
    if not size:
        raise UsageError("no members given: at least 1 is needed")
    chunk = points or min(_CHUNK, max(1 << 8, _VALUES // size))
    require_memory(40 * size**2 + 32 * size * chunk, f"a Gram matrix of {size} members")
    return size, chunk


def member_name(members: Sequence[object], i: int) -> str:
    """Name a member, for messages."""
    return f"member {i} ({members[i]})"


def _values(given: Any, members: Sequence[object], count: int) -> NDArray[np.float64]:
    """Check the values of all members on `count` points; (M, count), float64."""
    rows = list(given) if np.iterable(given) else []
    if len(rows) != len(members):
        raise UsageError(f"{len(rows)} rows of values given: {len(members)} members need one each")
    for i, row in enumerate(rows):
        if np.shape(row) != (count,):
            raise UsageError(
                f"{member_name(members, i)} has values of shape {np.shape(row)} on {count} points"
            )
    values = np.asarray(given)
    if values.dtype.kind not in "biuf":
        raise UsageError(f"values of type {values.dtype} given: real numbers are needed")
    values = values.astype(np.float64)
    wrong = ~np.isfinite(values).all(axis=1)
    if wrong.any():
        i = int(wrong.argmax())
        bad = values[i][~np.isfinite(values[i])][0]
        raise UsageError(f"{member_name(members, i)} has the value {bad}: values must be finite")
    return values


def _products(values: NDArray[np.float64]) -> NDArray[np.float64]:
    # Sums that overflow are refused by of_cube; by_sampling has a bound.
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return values @ values.T


def _gamma(terms: int) -> float:
    """Bound the relative rounding of a sum of products, in any order of adding [Hig02].

    For `terms` roundings on the way of each product: |error| <= gamma * sum |products|, and that
    sum is at most the product of the norms, by Cauchy and Schwarz.
    """
    return terms * _UNIT / (1 - terms * _UNIT)


def of_cube(
    sums: NDArray[Any],
    whole: bool,
    members: Sequence[object],
    n: int,
    terms: int,
    method: Literal["enumeration", "spectra"] = "enumeration",
) -> Gram:
    """Make the Gram matrix of sums over 2^n points, added with at most `terms` roundings each."""
    norms = np.diagonal(sums)
    if not np.isfinite(norms).all():
        i = int(np.argmin(np.isfinite(norms)))
        raise UsageError(f"{member_name(members, i)} has squares that overflow: scale it down")
    if (norms == 0).any():
        i = int(np.argmax(norms == 0))
        raise UsageError(f"{member_name(members, i)} has the norm 0: it correlates with nothing")
    # Integers: by Cauchy and Schwarz no partial sum is above the largest norm, so all are exact.
    if whole and norms.max() < _EXACT:
        return Gram(
            values=sums.astype(np.int64), radius=0.0, correlation_radius=0.0, method=method, n=n
        )
    means = sums / (1 << n)
    if (np.diagonal(means) < _LEAST).any():
        i = int(np.diagonal(means).argmin())
        raise UsageError(f"{member_name(members, i)} has squares that underflow: scale it up")
    gamma = _gamma(terms + 3)
    # An entry is off by at most gamma sqrt(g_ii g_jj), a norm by the factor 1 +- gamma: so their
    # quotient by 2 gamma / (1 - gamma) at most, and a few roundings of its own.
    return Gram(
        values=means,
        radius=float(gamma * np.diagonal(means).max() / (1 - gamma)),
        correlation_radius=2 * gamma / (1 - gamma) + 8 * _UNIT,
        method=method,
        n=n,
    )


def normalised(values: NDArray[Any]) -> NDArray[np.float64]:
    """Divide inner products (M, M) by the norms: 1 on the diagonal."""
    norms = np.sqrt(np.diagonal(values).astype(np.float64))
    found = values / np.outer(norms, norms)
    np.fill_diagonal(found, 1.0)
    return found


def spread(gram: NDArray[np.float64], radius: float) -> float:
    """How far the true correlations may be from those of `gram`, each entry within a radius.

    Interval arithmetic: entry / (norm norm), each of the three at the end that is worst.
    """
    norms = np.diagonal(gram)
    least, most = np.sqrt(norms - radius), np.sqrt(norms + radius)
    smallest, largest = np.outer(least, least), np.outer(most, most)
    found = normalised(gram)
    high, low = gram + radius, gram - radius
    high = np.minimum(np.where(high > 0, high / smallest, high / largest), 1.0)
    low = np.maximum(np.where(low < 0, low / smallest, low / largest), -1.0)
    off = np.maximum(high - found, found - low)
    np.fill_diagonal(off, 0.0)  # 1, whatever the norm is
    return float(off.max()) * (1 + 1e-12) + 8 * _UNIT
