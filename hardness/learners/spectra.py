"""Walsh-Hadamard spectra of functions of z, and comparisons of two spectra.

A function q of z_1 .. z_n is the sum of q^(T) chi_T(z) over the sets T of coordinates, with
q^(T) = E[q chi_T]. Weights are sums of squares q^(T)^2, by Parseval of the sum E[q^2].

If z_0 = -1, a label of two boolean tokens is X[l, 0] times a factor. The factor of a member is a
function of z = X_1 * X_2 alone. A prediction F has the factor X[0,0] F(X)[0,0], which may depend on
X_1 too; its mean over X_1 is the nearest function of z. Row 1 of an attention layer gives the same,
as the layer treats all rows alike.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Predict
from hardness.numerics.walsh import LARGEST_LEVELS, walsh_hadamard
from instances import tokens
from instances.errors import ToolkitError, UsageError
from instances.family import Secret, require
from instances.limits import require_memory
from instances.lwe import Modular
from instances.sets import Symmetric
from instances.streams import BitStream, key

Array = NDArray[np.float64]

# A smaller share of the whole weight is rounding: heads that cancel lose digits in float64.
NEGLIGIBLE = 1e-20
EXACT_UP_TO = 11  # the largest d at which `factor` takes every X_1: two million pairs
MAX_DRAWS = 4096
_DEFAULT_DRAWS, _MOST_PAIRS = 16, 1 << 22
_BATCH_NUMBERS = 1 << 21
_BATCH_SETS = 1 << 20
_BATCH_EXAMPLES = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Degrees:
    """The least and the highest degree with weight, and the mean degree, weighted by weight."""

    least: int
    highest: int
    mean: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The Walsh coefficients of a function of z_1 .. z_n: (2^n,) float64, made read-only.

    Bit j-1 of an index is 1 where coordinate j is in T. Raises UsageError for another shape or
    values that are not finite.

    >>> parity = spectrum(np.array([1.0, -1.0, -1.0, 1.0]))
    >>> parity.n, parity.coefficient((1, 2)), parity.weights.tolist()
    (2, 1.0, [0.0, 0.0, 1.0])
    >>> parity.degrees, parity.top(1), parity.influences.tolist()
    (Degrees(least=2, highest=2, mean=2.0), [((1, 2), 1.0)], [1.0, 1.0])
    """

    coefficients: Array

    def __post_init__(self) -> None:
        values = self.coefficients
        require(
            values.dtype == np.float64 and values.ndim == 1 and values.size.bit_count() == 1,
            f"coefficients must be float64 (2^n,), got {values.dtype} {values.shape}",
        )
        require(bool(np.isfinite(values).all()), "coefficients must be finite")
        values.setflags(write=False)

    @property
    def n(self) -> int:
        """The number of coordinates, numbered 1 .. n."""
        return self.coefficients.size.bit_length() - 1

    def coefficient(self, subset: Secret) -> float:
        """Return q^(T) of a set of coordinates; raises UsageError outside 1 .. n."""
        require(
            all(1 <= j <= self.n for j in subset),
            f"coordinates must be between 1 and {self.n}, got {subset}",
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
        """Whether each degree has more weight than rounding: (n+1,)."""
        return np.asarray(self.weights > NEGLIGIBLE * self.norm)

    @property
    def degrees(self) -> Degrees | None:
        """The range of degrees with weight; None for the function 0."""
        degrees = np.flatnonzero(self.present)
        if not len(degrees):
            return None
        mean = float(self.weights @ np.arange(self.n + 1)) / self.norm
        return Degrees(least=int(degrees[0]), highest=int(degrees[-1]), mean=mean)

    @property
    def information_exponent(self) -> int | None:
        """The least degree k >= 1 with weight; None for a constant."""
        degrees = np.flatnonzero(self.present[1:])
        return int(degrees[0]) + 1 if len(degrees) else None

    @cached_property
    def influences(self) -> Array:
        """The weight of all sets that contain coordinate j, for j = 1 .. n: (n,)."""
        out, folded = np.zeros(self.n), self.coefficients**2
        for j in reversed(range(self.n)):
            without, having = folded.reshape(2, -1)
            out[j] = having.sum()
            folded = without + having
        return out

    def top(self, count: int) -> list[tuple[Secret, float]]:
        """Return the largest coefficients with their sets: at most `count`, none negligible.

        Coefficients that differ only by rounding are ordered by degree, then by index.

        >>> [s for s, _ in spectrum(np.array([1.0, 1, 1, -1])).top(3)]
        [(), (1,), (2,)]
        """
        require(count >= 1, f"count must be at least 1, got {count}")
        largest = max(float(np.abs(part).max()) for _, part in self._parts()) or 1.0
        kept = np.empty(0, np.int64)
        for start, part in self._parts():
            sizes = np.abs(part)
            sets = np.flatnonzero(sizes > (NEGLIGIBLE * self.norm) ** 0.5)
            if len(sets) > count:
                least = np.partition(sizes[sets], -count)[-count]
                sets = sets[sizes[sets] >= least - 2e-9 * largest]
            kept = np.concatenate([kept, sets + start])
            # One order on all sets, so that the result does not depend on the parts.
            rounded = np.rint(np.abs(self.coefficients[kept]) / largest * 1e9)
            kept = kept[np.lexsort((kept, np.bitwise_count(kept), -rounded))][:count]
        subsets = [tuple(j + 1 for j in range(self.n) if i >> j & 1) for i in kept.tolist()]
        return list(zip(subsets, self.coefficients[kept].tolist(), strict=True))

    @property
    def sets(self) -> NDArray[np.int64]:
        """The indices of the coefficients that exceed rounding."""
        least = (NEGLIGIBLE * self.norm) ** 0.5
        return np.concatenate([np.flatnonzero(np.abs(p) > least) + s for s, p in self._parts()])

    def _parts(self) -> Iterator[tuple[int, Array]]:
        for start in range(0, self.coefficients.size, _BATCH_SETS):
            yield start, self.coefficients[start : start + _BATCH_SETS]


def spectrum(table: Array) -> Spectrum:
    """Transform a table (2^n,), bit j-1 of an index 1 where z_j = -1; raises UsageError."""
    coefficients = np.array(table, np.float64)
    if coefficients.ndim != 1 or not coefficients.size:
        raise UsageError(f"a table must have the shape (2^n,), got {coefficients.shape}")
    walsh_hadamard(coefficients)
    coefficients /= coefficients.size
    return Spectrum(coefficients=coefficients)


def row_spectra(predict: Predict, k: int, d: int) -> list[Spectrum]:
    """Return the spectra of the first output row of a function of k boolean tokens, by column.

    predict: (n, k, d) -> (n, k, d). Coordinate j of token i is coordinate (i - 1) d + j of the kd.
    Raises UsageError and TooLarge beyond kd = 26.

    >>> spectra = row_spectra(lambda x: x * x[:, ::-1], k=2, d=1)
    >>> [column.weights.tolist() for column in spectra]
    [[0.0, 0.0, 1.0]]
    """
    bits = k * d
    require(bits <= LARGEST_LEVELS, f"kd must be at most {LARGEST_LEVELS}, got k={k}, d={d}")
    require_memory((16 * (d + 2)) << bits, f"Walsh spectra of rows of {k} tokens")
    table, shifts = np.empty((d, 1 << bits)), np.arange(k, dtype=np.uint64) * np.uint64(d)
    for start in range(0, 1 << bits, _BATCH_EXAMPLES):
        index = np.arange(start, min(start + _BATCH_EXAMPLES, 1 << bits), dtype=np.uint64)
        words = index[:, None] >> shifts & np.uint64((1 << d) - 1)
        table[:, start : start + _BATCH_EXAMPLES] = predict(tokens.unpack(words[..., None], d))[
            :, 0
        ].T
    return [spectrum(column) for column in table]


def together(columns: Sequence[Spectrum]) -> Spectrum:
    """Combine the spectra of a vector's entries: norms of the coefficients; weights add up.

    A single spectrum is returned unchanged.

    >>> f = spectrum(np.array([3.0, -3.0]))
    >>> together([f, spectrum(np.array([4.0, -4.0]))]).weights.tolist()
    [0.0, 25.0]
    """
    if len(columns) == 1:
        return columns[0]
    return Spectrum(coefficients=np.sqrt(sum(column.coefficients**2 for column in columns)))


def residue_spectrum(family: Modular, secret: Secret) -> Spectrum:
    """Return the spectrum of an LWE-style member's mean factor, a function of the bits of a.

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

    With label noise it is the spectrum of E[Y|X]. Raises UsageError and TooLarge beyond d = 27.

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
    """A comparison of a function q with a target f, by degree k: arrays (n+1,).

    shared: E[q_k f_k]. part: shared / the target's weight: 1 if q_k = f_k, 0 if they are
    orthogonal, nan if the target has no weight. residual: E[(q_k - f_k)^2].
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


def learned(q: Sequence[Spectrum], target: Sequence[Spectrum]) -> Learned:
    """Compare the spectra of a vector's entries with a target's; raises UsageError for other n.

    >>> f = [spectrum(np.array([1.0, 1, 1, -1]))]
    >>> q = [spectrum(np.array([1.0, 0, 0, -1]))]
    >>> learned(q, f).part.tolist(), learned(q, f).residual.tolist(), learned(q, f).correlation
    ([0.0, 1.0, 0.0], [0.25, 0.0, 0.25], 0.5)
    """
    pairs, combined = list(zip(q, target, strict=True)), together(target)
    common = np.sum([shared(entry, f) for entry, f in pairs], axis=0)
    part = np.full(combined.n + 1, np.nan)
    np.divide(common, combined.weights, out=part, where=combined.present)
    residuals = [
        Spectrum(coefficients=entry.coefficients - f.coefficients).weights for entry, f in pairs
    ]
    return Learned(shared=common, part=part, residual=np.sum(residuals, axis=0))


def shared(q: Spectrum, f: Spectrum) -> Array:
    """Return E[q_k f_k] for k = 0 .. n: (n+1,); raises UsageError for different n."""
    require(q.n == f.n, f"two functions must have equally many coordinates, got {q.n} and {f.n}")
    return _by_degree(f.n, lambda part: q.coefficients[part] * f.coefficients[part])


def _by_degree(n: int, values: Callable[[slice], Array]) -> Array:
    """Sum values over the sets of each degree: (n+1,); values: maps a slice of sets to values."""
    out = np.zeros(n + 1)
    for start in range(0, 1 << n, _BATCH_SETS):
        part = slice(start, min(1 << n, start + _BATCH_SETS))
        degree = np.bitwise_count(np.arange(part.start, part.stop))
        out += np.bincount(degree, weights=values(part), minlength=n + 1)
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class Factor:
    """A prediction's factor where z_0 = -1, averaged over X_1.

    table: (2^(d-1),) float64; bit j-1 of an index is 1 where z_j = -1. draws: the number of X_1
    drawn for each z; None if every X_1 was used. beyond: the mean over z of the factor's variance
    over X_1, which no function of z explains; an unbiased estimate with draws.
    """

    table: Array
    draws: int | None
    beyond: float

    @property
    def surplus(self) -> float:
        """The expected increase of the table's mean square by random draws; 0 without draws.

        Draws are independent for each z, so it spreads evenly over all Walsh coefficients.
        """
        return self.beyond / self.draws if self.draws else 0.0


def require_table(d: int) -> None:
    """Refuse a d at which tables over z are too large; raises UsageError, TooLarge."""
    n = d - 1
    require(n >= 1, f"d must be at least 2, got {d}")
    require(
        n <= LARGEST_LEVELS,
        f"d must be at most {LARGEST_LEVELS + 1}, got {d}: functions of z_1 .. z_{n} have 2^{n} "
        f"Walsh coefficients, and at most 2^{LARGEST_LEVELS} are computed",
    )
    # For two spectra, one table, and temporary arrays of twice its size.
    require_memory(40 << n, f"Walsh spectra of functions of {n} coordinates")


def require_draws(draws: int | None) -> None:
    """Refuse a number of draws out of range; raises UsageError."""
    require(
        draws is None or 2 <= draws <= MAX_DRAWS,
        f"draws must be between 2 and {MAX_DRAWS}, got {draws}",
    )


def factor(
    predict: Predict,
    d: int,
    draws: int | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Factor:
    """Tabulate E[X[0,0] F(X)[0,0] | z] where z_0 = -1.

    predict: (n, 2, d) tokens -> (n, 2, d) labels. draws: the number of X_1 for each z, from their
    own stream; None uses every X_1 if d <= 11, else 16 of them, or fewer for a long table.
    progress: called with the number of table entries done since the last call. Raises UsageError
    and TooLarge for d or draws out of range, ToolkitError for predictions not finite or of the
    wrong shape.

    >>> from instances import parse
    >>> family = parse("parity:d=3,m=2")
    >>> exact = factor(family.layer((1, 2)), d=3)
    >>> exact.table.round(9).tolist(), exact.beyond < 1e-20
    ([1.0, -1.0, -1.0, 1.0], True)
    """
    require_table(d)
    require_draws(draws)
    size = 1 << d - 1
    if draws is None and d > EXACT_UP_TO:
        draws = max(2, min(_DEFAULT_DRAWS, _MOST_PAIRS // size))
    each, stream = draws or 1 << d, BitStream(key(seed, "tokens", "factor"))
    table, variance = np.empty(size), 0.0
    rows = _BATCH_NUMBERS // (2 * d * each) or 1
    for start in range(0, size, rows):
        stop = min(size, start + rows)
        index = np.arange(start, stop, dtype=np.uint64)[:, None]
        if draws:
            first = tokens.boolean(stream, start * draws, (stop - start) * draws, 1, d)
            first = first.reshape(stop - start, draws)
        else:
            first = np.broadcast_to(np.arange(each, dtype=np.uint64), (stop - start, each))
        values = _factors(predict, first, first ^ (index << np.uint64(1) | np.uint64(1)), d)
        table[start:stop] = values.mean(axis=1)
        variance += float(values.var(axis=1, ddof=1 if draws else 0).sum())
        progress(stop - start)
    return Factor(table=table, draws=draws, beyond=variance / size)


def _factors(
    predict: Predict, first: NDArray[np.uint64], second: NDArray[np.uint64], d: int
) -> Array:
    """Compute X[0,0] F(X)[0,0] of packed tokens X_1, X_2: (rows, draws) each."""
    x = tokens.unpack(np.stack([first.reshape(-1), second.reshape(-1)], axis=1)[..., None], d)
    with np.errstate(all="ignore"):  # values that are not finite are refused below
        y: NDArray[Any] = np.asarray(predict(x))
    if y.shape != x.shape or y.dtype.kind not in "fiu":
        raise ToolkitError(f"the prediction gave {y.dtype} {y.shape} for tokens {x.shape}")
    values = np.asarray(x[:, 0, 0] * y[:, 0, 0], np.float64)
    if not np.isfinite(values).all():
        raise ToolkitError("the prediction gave values that are not finite: it has no spectrum")
    return values.reshape(first.shape)
