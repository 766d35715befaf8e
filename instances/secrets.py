"""Secrets of LWE-style instances: binary, ternary, uniform, Gaussian or centred binomial.

A secret is a vector of Z_q^n, its entries centred, of which at least one is a unit of Z_q: else
<a, s> does not take all values. With h > 0 exactly h of its entries are not 0.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from instances.errors import ToolkitError, UsageError
from instances.family import Secret, require
from instances.integers import Integers, centred_binomial, gaussian, uniform

KINDS = ("binary", "ternary", "uniform", "gaussian", "cbd")
FEW_UNITS = 3
_TRIES = 10_000


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """The distribution of a secret; raises UsageError out of range.

    spread: the standard deviation of `gaussian`, eta of `cbd`; 0 for the other kinds.

    >>> Secrets(kind="binary", n=64, q=256, h=6).size == math.comb(64, 6)
    True
    """

    kind: str
    n: int
    q: int
    h: int = 0
    spread: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        require(self.kind in KINDS, f"secret={self.kind} given: one of {', '.join(KINDS)}")
        require(
            0 <= self.h <= self.n,
            f"h={self.h} given with n={self.n}: h, the number of entries that are not 0, must be "
            "between 1 and n, or 0 to leave it open (labels of s = 0 would not depend on tokens)",
        )
        wide = self.kind in ("gaussian", "cbd")
        require(
            bool(self.spread) == wide,
            f"spread={self.spread} given with secret={self.kind}: the standard deviation of "
            "gaussian or eta of cbd goes there, and 0 for other secrets",
        )
        if self.kind == "cbd":
            require(self.spread.denominator == 1, f"spread={self.spread} given: eta is an integer")
        if self.entries is not None:
            reach = max(map(abs, self.entries.values))
            require(
                self.kind == "binary" or 2 * reach < self.q,
                f"q={self.q} given with secret={self.kind}: entries up to {reach} need q of at "
                f"least {2 * reach + 1}",
            )

    @cached_property
    def entries(self) -> Integers | None:
        """The distribution of one entry, not conditioned on h; None for uniform on all of Z_q."""
        if self.kind == "binary":
            return uniform((0, 1))
        if self.kind == "ternary":
            return uniform((-1, 0, 1))
        if self.kind == "gaussian":
            return gaussian(self.spread)
        if self.kind == "cbd":
            return centred_binomial(int(self.spread))
        return None

    @cached_property
    def law(self) -> dict[int, int] | None:
        """How often each value is drawn for an entry, in proportion; None for all of Z_q alike.

        With h, for an entry that is not 0.

        >>> Secrets(kind="ternary", n=3, q=5).law, Secrets(kind="ternary", n=3, q=5, h=2).law
        ({-1: 1, 0: 1, 1: 1}, {-1: 1, 1: 1})
        """
        if self.entries is None:
            return None
        drawn = self.entries.without_zero() if self.h else self.entries
        if self.kind in ("binary", "ternary"):
            return dict.fromkeys(drawn.values, 1)
        common = math.gcd(*drawn.counts)
        return {v: c // common for v, c in zip(drawn.values, drawn.counts, strict=True)}

    @property
    def rms(self) -> float:
        """The root of the mean square of an entry."""
        if self.h:
            inner = self.entries.without_zero() if self.entries else None
            one = inner.rms if inner else math.sqrt(self.q * (self.q + 1) / 12)
            return math.sqrt(self.h / self.n) * one
        return self.entries.rms if self.entries else math.sqrt((self.q**2 - 1) / 12)

    @property
    def size(self) -> int:
        """The number of secrets: with at least one unit among their entries."""
        if self.entries is None:
            others, even = self.q - 1, (self.q // 2 - 1 if self.q % 2 == 0 else 0)
        else:
            found = [v for v in self.entries.values if v]
            others, even = len(found), sum(not self.is_unit(v) for v in found)
        if self.h:
            return math.comb(self.n, self.h) * (others**self.h - even**self.h)
        return (others + 1) ** self.n - (even + 1) ** self.n

    def listed(self) -> Iterator[Secret]:
        """List all secrets lazily: by how many entries are not 0, by their places, by their values.

        >>> list(Secrets(kind="ternary", n=2, q=4, h=1).listed())
        [(-1, 0), (1, 0), (0, -1), (0, 1)]
        """
        half = self.q // 2
        values = self.entries.values if self.entries else range(-half, self.q - half)
        for weight in (self.h,) if self.h else range(1, self.n + 1):
            for places in combinations(range(self.n), weight):
                for inner in _vectors(values, weight):
                    if any(map(self.is_unit, inner)):
                        out = [0] * self.n
                        for place, value in zip(places, inner, strict=True):
                            out[place] = value
                        yield tuple(out)

    def is_unit(self, value: int) -> bool:
        """Return whether a residue is a unit of Z_q, q a prime or a power of two."""
        return math.gcd(value, self.q) == 1

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a secret: again, where none of its entries is a unit."""
        for _ in range(_TRIES):
            found = self._draw(rng)
            if any(map(self.is_unit, found)):
                return found
        raise ToolkitError(f"no secret with a unit of Z_{self.q} among its entries was drawn")

    def _draw(self, rng: np.random.Generator) -> Secret:
        if not self.h:
            return tuple(self._entries(rng, self.n, self.entries))
        inner = self.entries.without_zero() if self.entries else None
        out = [0] * self.n
        places = rng.choice(self.n, size=self.h, replace=False)
        for place, value in zip(places, self._entries(rng, self.h, inner), strict=True):
            out[int(place)] = value
        return tuple(out)

    def _entries(self, rng: np.random.Generator, count: int, of: Integers | None) -> list[int]:
        if self.kind == "ternary" and of is not None:  # thirds are no multiples of 2^-64
            return [of.values[i] for i in rng.integers(len(of.values), size=count)]
        if of is not None:
            words = rng.integers(0, 2**64, size=count, dtype=np.uint64)
            return [int(v) for v in of.draw(words)]
        drawn = rng.integers(1 if self.h else 0, self.q, size=count)
        half = self.q // 2
        return [(int(v) + half) % self.q - half for v in drawn]

    def require(self, secret: Secret) -> None:
        """Refuse what is no secret of this kind; raises UsageError."""
        half = self.q // 2
        allowed = set(self.entries.values) if self.entries else None
        require(
            len(secret) == self.n
            and all(-half <= v <= (self.q - 1) // 2 or self.q == 2 for v in secret)
            and (allowed is None or all(v in allowed for v in secret))
            and (not self.h or sum(v != 0 for v in secret) == self.h)
            and any(map(self.is_unit, secret)),
            f"secret {str(secret)[:60]} given: {self.n} {self.kind} entries mod {self.q}"
            + (f", {self.h} of them not 0" if self.h else "")
            + " and at least one a unit, are needed",
        )

    def lift(self, residues: Iterable[int]) -> Secret | None:
        """Find the secret with given residues mod q; None where there is none of this kind.

        >>> Secrets(kind="ternary", n=3, q=5).lift([4, 0, 1])
        (-1, 0, 1)
        """
        half = self.q // 2
        names = {v % self.q: v for v in self.entries.values} if self.entries else {}
        found = tuple(names.get(v % self.q, (v + half) % self.q - half) for v in residues)
        try:
            self.require(found)
        except UsageError:
            return None
        return found

    def ends(self, length: int) -> tuple[int, int]:
        """Bound what one entry adds to t: the sums of its negative, of its positive weights."""
        half = self.q // 2
        if self.entries is None:
            if self.q > 1 << 16:  # a bound that all entries keep
                return -length * half, length * half
            values = np.arange(self.q)
        else:
            values = np.array([v % self.q for v in self.entries.values])
        low, high = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
        for b in range(length):
            w = (values * pow(2, b, self.q) + half) % self.q - half
            low += np.minimum(w, 0)
            high += np.maximum(w, 0)
        return int(low.min()), int(high.max())

    def flags(self, secret: Secret) -> tuple[str, ...]:
        """Say what makes a secret an easy one."""
        found = []
        units = sum(map(self.is_unit, secret))
        if units <= FEW_UNITS:
            found.append(
                f"{units} of {self.n} entries are units of Z_{self.q}: labels have coefficients of "
                f"low degree, and few candidates fit"
            )
        weight = sum(v != 0 for v in secret)
        if weight <= FEW_UNITS:
            found.append(f"{weight} of {self.n} entries are not 0: brute force finds them")
        return tuple(found)


def _vectors(values: Sequence[int], count: int) -> Iterator[Secret]:
    """Equal product(values without 0, repeat=count), which keeps all values in memory."""
    if not count:
        yield ()
        return
    for value in values:
        if value:
            for rest in _vectors(values, count - 1):
                yield (value, *rest)
