"""The distributions (laws) of secrets and errors of LWE-style instances.

A law on integers is exactly what is sampled: its probabilities are multiples of 2^-64, and a value
is a function of one random 64-bit word. A secret is a vector of Z_q^n with centred entries. At
least one entry is a unit of Z_q, as otherwise <a, s> does not take all values. With h > 0 exactly h
of its entries are not 0.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, product

import numpy as np
from numpy.typing import NDArray

from instances.errors import ToolkitError
from instances.family import Secret, require
from instances.residues import centred, is_power_of_two

FEW_UNITS = 3  # up to which a secret is reported as an easy one
_WORD_COUNT = 1 << 64
_MAX_SIGMA = 1 << 16
_MOST_DRAWS = 10_000


@dataclass(frozen=True, kw_only=True)
class Integers:
    """A law on the ascending integers `values`, with probabilities `counts` / 2^64 above 0.

    kind: the name of the law, such as "gaussian".

    >>> coin = integers({0: Fraction(1, 2), 1: Fraction(1, 2)})
    >>> coin.draw(np.array([0, 2**63 - 1, 2**63], np.uint64)).tolist()
    [0, 0, 1]
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]
    kind: str = field(default="", compare=False, repr=False)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probabilities in float64."""
        return np.array(self.counts, np.float64) / 2.0**64

    def residues(self, q: int) -> Counter[int]:
        """Return the probability of each residue mod q, in multiples of 2^-64.

        >>> uniform((0, 4)).residues(4) == {0: 2**64}
        True
        """
        out: Counter[int] = Counter()
        for value, count in zip(self.values, self.counts, strict=True):
            out[value % q] += count
        return out

    @cached_property
    def mean(self) -> float:
        """The mean."""
        return float(self._moment(1))

    @cached_property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(self._moment(2) - self._moment(1) ** 2)

    def _moment(self, power: int) -> Fraction:
        pairs = zip(self.values, self.counts, strict=True)
        return Fraction(sum(v**power * c for v, c in pairs), _WORD_COUNT)

    def information(self, q: int) -> float:
        """Compute the bits that t + e mod q reveals of a uniform t: log2 q minus the entropy of e.

        With x = q Pr[e] - 1 it is the mean over Z_q of (1 + x) ln(1 + x) - x, converted to bits.
        These terms have one sign, so they keep their digits if errors are nearly uniform. A term is
        1 for an e of probability 0.

        >>> uniform([0]).information(8), uniform(range(8)).information(8)
        (3.0, 0.0)
        """
        from scipy.special import xlog1py

        counts = self.residues(q).values()
        x = np.array([(q * count - _WORD_COUNT) / _WORD_COUNT for count in counts])
        nats = float(np.sum(xlog1py(1 + x, x) - x)) + (q - len(counts))
        return nats / (q * math.log(2))

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        return np.array(list(accumulate(self.counts[:-1])), np.uint64)

    def draw(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Turn uniform 64-bit words (...) into values (...)."""
        return np.array(self.values, np.int64)[np.searchsorted(self._ends, words, side="right")]

    def without_zero(self) -> "Integers":
        """Return the law conditioned on a value other than 0."""
        kept = {v: c for v, c in zip(self.values, self.counts, strict=True) if v}
        total = sum(kept.values())
        return integers({v: Fraction(c, total) for v, c in kept.items()}, self.kind)


def integers(weights: dict[int, Fraction], kind: str = "") -> Integers:
    """Round probabilities that sum to 1 to multiples of 2^-64; the largest takes the remainder."""
    counts = {v: math.floor(w * _WORD_COUNT) for v, w in sorted(weights.items())}
    likeliest = max(counts, key=lambda v: counts[v])
    counts[likeliest] += _WORD_COUNT - sum(counts.values())
    kept = {v: c for v, c in counts.items() if c}
    return Integers(values=tuple(kept), counts=tuple(kept.values()), kind=kind)


def uniform(values: Sequence[int]) -> Integers:
    """Make the uniform law on integers.

    >>> uniform(range(-1, 2)).values
    (-1, 0, 1)
    """
    return integers(dict.fromkeys(values, Fraction(1, len(values))), "uniform")


def centred_binomial(eta: int | Fraction) -> Integers:
    """Make the law of the difference of two sums of eta random bits: variance eta/2. [ADPS16]

    >>> centred_binomial(2).deviation
    1.0
    """
    require(
        1 <= eta <= 64 and eta == int(eta),
        f"eta must be an integer between 1 and 64, got {eta}",
    )
    eta = int(eta)
    reach = range(-eta, eta + 1)
    return integers({v: Fraction(math.comb(2 * eta, eta + v), 4**eta) for v in reach}, "cbd")


def gaussian(sigma: Fraction | float) -> Integers:
    """Make the discrete Gaussian: weights exp(-x^2 / (2 sigma^2)), cut off below 2^-64.

    >>> round(gaussian(3).deviation, 9)
    3.0
    """
    s = float(sigma)
    require(
        0 < s <= _MAX_SIGMA,
        f"sigma must be above 0 and at most {_MAX_SIGMA}, got {s:g}",
    )
    reach = math.ceil(s * math.sqrt(2 * 66 * math.log(2))) + 1
    weights = [Fraction(math.exp(-(x * x) / (2 * s * s))) for x in range(reach + 1)]
    total = weights[0] + 2 * sum(weights[1:])
    return integers({x: weights[abs(x)] / total for x in range(-reach, reach + 1)}, "gaussian")


def bernoulli(rate: Fraction) -> Integers:
    """Make the law of a bit that is 1 with probability `rate`."""
    return integers({0: 1 - rate, 1: rate}, "flips")


ENTRIES: dict[str, Callable[[Fraction], Integers | None]] = {  # the law of an entry, of `spread`
    "binary": lambda _: uniform((0, 1)),
    "ternary": lambda _: uniform((-1, 0, 1)),
    "uniform": lambda _: None,  # on all of Z_q
    "gaussian": gaussian,  # spread: the standard deviation
    "cbd": centred_binomial,  # spread: eta
}


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """The law of a secret; raises UsageError out of range.

    kind: a key of `ENTRIES`. h: the number of nonzero entries, or 0 for any. spread: the parameter
    of `gaussian` and `cbd`; 0 for the other kinds.

    >>> Secrets(kind="binary", n=64, q=256, h=6).size == math.comb(64, 6)
    True
    """

    kind: str
    n: int
    q: int
    h: int = 0
    spread: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        require(
            0 <= self.h <= self.n,
            f"h must be between 1 and n = {self.n}, or 0 to leave it open, got {self.h}",
        )
        require(
            bool(self.spread) == (self.kind in ("gaussian", "cbd")),
            "spread must be the standard deviation for secret=gaussian, eta for secret=cbd, and 0 "
            f"for other secrets, got {self.spread} for secret={self.kind}",
        )
        reach = self.values[-1] if self.entries else 1
        require(
            reach > 0,
            f"spread={float(self.spread):g} is too small for secret={self.kind}: all entries are 0",
        )
        require(
            self.kind in ("binary", "uniform") or 2 * reach < self.q,
            f"q must be at least {2 * reach + 1} for secret={self.kind} with entries up to "
            f"{reach}, got {self.q}",
        )

    @cached_property
    def entries(self) -> Integers | None:
        """The law of one entry, not conditioned on h; None for uniform on all of Z_q."""
        return ENTRIES[self.kind](self.spread)

    @cached_property
    def values(self) -> range:
        """The possible values of an entry, ascending."""
        if self.entries:
            return range(self.entries.values[0], self.entries.values[-1] + 1)
        return range(-(self.q // 2), -(-self.q // 2))

    @cached_property
    def entry_law(self) -> Integers | None:
        """The law by which entries are drawn: `entries`, given h conditioned on not being 0."""
        return self.entries.without_zero() if self.h and self.entries else self.entries

    @cached_property
    def law(self) -> dict[int, int] | None:
        """The weights of values in `entry_law`, as coprime integers; None for uniform on Z_q.

        >>> Secrets(kind="ternary", n=3, q=5).law, Secrets(kind="ternary", n=3, q=5, h=2).law
        ({-1: 1, 0: 1, 1: 1}, {-1: 1, 1: 1})
        """
        law = self.entry_law
        if law is None:
            return None
        if self.kind in ("binary", "ternary"):  # 1/3 is not a multiple of 2^-64
            return dict.fromkeys(law.values, 1)
        common = math.gcd(*law.counts)
        return {v: c // common for v, c in zip(law.values, law.counts, strict=True)}

    @property
    def moments(self) -> tuple[float, float]:
        """The mean and the standard deviation of an entry at a random position."""
        share = self.h / self.n if self.h else 1.0
        if self.entry_law is None:
            square = share * (self.q * (self.q + 1) if self.h else self.q**2 - 1) / 12
            return 0.0, math.sqrt(square)
        mean, deviation = self.entry_law.mean, self.entry_law.deviation
        square = share * (mean**2 + deviation**2)
        return share * mean, math.sqrt(max(0.0, square - (share * mean) ** 2))

    @property
    def size(self) -> int:
        """The number of secrets; each has at least one unit among its entries."""
        nonzero = len(self.values) - 1
        if self.entries:
            units = sum(map(self.is_unit, self.values))
        elif is_power_of_two(self.q):
            units = self.q // 2
        else:
            from flint import fmpz

            units = int(fmpz(self.q).euler_phi())
        nonunits = nonzero - units
        if self.h:
            return math.comb(self.n, self.h) * (nonzero**self.h - nonunits**self.h)
        return (nonzero + 1) ** self.n - (nonunits + 1) ** self.n

    def listed(self) -> Iterator[Secret]:
        """List all secrets lazily: by the number of nonzero entries, their positions, their values.

        >>> list(Secrets(kind="ternary", n=2, q=4, h=1).listed())
        [(-1, 0), (1, 0), (0, -1), (0, 1)]
        """
        values = [v for v in self.values if v]
        for weight in (self.h,) if self.h else range(1, self.n + 1):
            for places in combinations(range(self.n), weight):
                for inner in product(values, repeat=weight):
                    if any(map(self.is_unit, inner)):
                        yield self._at(places, inner)

    def is_unit(self, value: int) -> bool:
        """Return whether a residue is a unit of Z_q."""
        return math.gcd(value, self.q) == 1

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a secret, repeatedly until one of its entries is a unit."""
        for _ in range(_MOST_DRAWS):
            places = range(self.n)
            if self.h:
                places = rng.choice(self.n, size=self.h, replace=False).tolist()
            secret = self._at(places, self._entries(rng, len(places)))
            if any(map(self.is_unit, secret)):
                return secret
        raise ToolkitError(f"no secret with a unit of Z_{self.q} among its entries was drawn")

    def _entries(self, rng: np.random.Generator, count: int) -> Iterable[int]:
        law = self.entry_law
        if law is None:
            numbers = rng.integers(1 if self.h else 0, self.q, size=count)
            return [centred(int(v), self.q) for v in numbers]
        if self.kind == "ternary":  # exactly uniform on three values, not in multiples of 2^-64
            return [law.values[i] for i in rng.integers(len(law.values), size=count)]
        return map(int, law.draw(rng.integers(0, 2**64, size=count, dtype=np.uint64)))

    def _at(self, places: Sequence[int], values: Iterable[int]) -> Secret:
        out = [0] * self.n
        for place, value in zip(places, values, strict=True):
            out[place] = value
        return tuple(out)

    def allows(self, secret: Secret) -> bool:
        """Return whether a vector is a secret of this kind."""
        also = {1} if self.q == 2 and not self.entries else set()  # the same residue as -1
        return (
            len(secret) == self.n
            and all(v in self.values or v in also for v in secret)
            and (not self.h or sum(v != 0 for v in secret) == self.h)
            and any(map(self.is_unit, secret))
        )

    def require(self, secret: Secret) -> None:
        """Refuse a vector that is not a secret of this kind; raises UsageError."""
        fixed = f", {self.h} of them not 0" if self.h else ""
        require(
            self.allows(secret),
            f"the secret must have {self.n} {self.kind} entries mod {self.q}{fixed}, at least one "
            f"a unit, got {str(secret)[:60]}",
        )

    def lift(self, residues: Iterable[int]) -> Secret | None:
        """Find the secret with given residues mod q; None if there is none of this kind.

        >>> Secrets(kind="ternary", n=3, q=5).lift([4, 0, 1])
        (-1, 0, 1)
        """
        low = self.values[0]
        secret = tuple((v - low) % self.q + low for v in residues)
        return secret if self.allows(secret) else None

    def ends(self, length: int) -> tuple[int, int]:
        """Bound the contribution of one entry to t: its smallest and its largest value."""
        if self.entries is None and self.q > 1 << 16:  # a bound that all entries keep
            return -length * (self.q // 2), length * (self.q // 2)
        w = centred(np.array(self.values), self.q)
        low = high = np.zeros(len(w), np.int64)
        for _ in range(length):
            low, high = low + np.minimum(w, 0), high + np.maximum(w, 0)
            w = centred(2 * w, self.q)
        return int(low.min()), int(high.max())

    def flags(self, secret: Secret) -> tuple[str, ...]:
        """List the reasons why a secret is an easy one."""
        units = sum(map(self.is_unit, secret))
        weight = sum(v != 0 for v in secret)
        few_units = (
            f"{units} of {self.n} entries are units of Z_{self.q}: labels have coefficients of "
            "low degree, and few candidates fit"
        )
        few = f"{weight} of {self.n} entries are not 0: brute force finds them"
        return (few_units,) * (units <= FEW_UNITS) + (few,) * (weight <= FEW_UNITS)
