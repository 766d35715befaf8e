"""The law of the secrets of LWE-style instances: binary, ternary, uniform, Gaussian or cbd entries.

A secret is a vector of Z_q^n, its entries centred, of which at least one is a unit of Z_q: else
<a, s> does not take all values. With h > 0 exactly h of its entries are not 0.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product

import numpy as np

from instances.errors import ToolkitError, UsageError
from instances.family import Secret, require
from instances.integers import Integers, centred_binomial, gaussian, uniform
from instances.residues import centred, factors

KINDS = ("binary", "ternary", "uniform", "gaussian", "cbd")
FEW_UNITS = 3
_TRIES = 10_000


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """The law of a secret; raises UsageError out of range.

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
        require(
            bool(self.spread) == (self.kind in ("gaussian", "cbd")),
            f"spread={self.spread} given with secret={self.kind}: the standard deviation of "
            "gaussian or eta of cbd goes there, and 0 for other secrets",
        )
        if self.kind == "cbd":
            require(self.spread.denominator == 1, f"spread={self.spread} given: eta is an integer")
        if self.entries is not None:
            reach = max(map(abs, self.entries.values))
            require(
                reach > 0,
                f"spread={float(self.spread):g} given with secret={self.kind}: all entries are 0, "
                "raise it",
            )
            require(
                self.kind == "binary" or 2 * reach < self.q,
                f"q={self.q} given with secret={self.kind}: entries up to {reach} need q of at "
                f"least {2 * reach + 1}",
            )

    @cached_property
    def entries(self) -> Integers | None:
        """The law of one entry, not conditioned on h; None for uniform on all of Z_q."""
        match self.kind:
            case "binary":
                return uniform((0, 1))
            case "ternary":
                return uniform((-1, 0, 1))
            case "gaussian":
                return gaussian(self.spread)
            case "cbd":
                return centred_binomial(int(self.spread))
        return None

    @property
    def values(self) -> Sequence[int]:
        """What an entry may be, ascending."""
        return self.entries.values if self.entries else range(-(self.q // 2), -(-self.q // 2))

    @cached_property
    def drawn(self) -> Integers | None:
        """The law of an entry that is drawn: with h, of one that is not 0; None as `entries`."""
        return self.entries.without_zero() if self.h and self.entries else self.entries

    @cached_property
    def law(self) -> dict[int, int] | None:
        """How often each value is `drawn`, in proportion; None for all of Z_q alike.

        >>> Secrets(kind="ternary", n=3, q=5).law, Secrets(kind="ternary", n=3, q=5, h=2).law
        ({-1: 1, 0: 1, 1: 1}, {-1: 1, 1: 1})
        """
        if self.drawn is None:
            return None
        if self.kind in ("binary", "ternary"):  # thirds are no multiples of 2^-64
            return dict.fromkeys(self.drawn.values, 1)
        common = math.gcd(*self.drawn.counts)
        return {v: c // common for v, c in zip(self.drawn.values, self.drawn.counts, strict=True)}

    @property
    def rms(self) -> float:
        """The root of the mean square of an entry."""
        share = math.sqrt(self.h / self.n) if self.h else 1.0
        if self.drawn is not None:
            return share * self.drawn.rms
        others = self.q * (self.q + 1) if self.h else self.q**2 - 1
        return share * math.sqrt(others / 12)

    @property
    def moments(self) -> tuple[float, float]:
        """The mean and the deviation of an entry, h of n of which are not 0."""
        mean = (self.h / self.n if self.h else 1.0) * self.drawn.mean if self.drawn else 0.0
        return mean, math.sqrt(max(0.0, self.rms**2 - mean**2))

    @property
    def size(self) -> int:
        """The number of secrets: with at least one unit among their entries."""
        if self.entries is None:
            others = self.q - 1
            units = math.prod((p - 1) * p ** (e - 1) for p, e in factors(self.q))
        else:
            others = sum(v != 0 for v in self.values)
            units = sum(map(self.is_unit, self.values))
        dull = others - units
        if self.h:
            return math.comb(self.n, self.h) * (others**self.h - dull**self.h)
        return (others + 1) ** self.n - (dull + 1) ** self.n

    def listed(self) -> Iterator[Secret]:
        """List all secrets lazily: by how many entries are not 0, by their places, by their values.

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
        """Draw a secret: again, where none of its entries is a unit."""
        for _ in range(_TRIES):
            places = range(self.n)
            if self.h:
                places = rng.choice(self.n, size=self.h, replace=False).tolist()
            found = self._at(places, self._entries(rng, len(places)))
            if any(map(self.is_unit, found)):
                return found
        raise ToolkitError(f"no secret with a unit of Z_{self.q} among its entries was drawn")

    def _entries(self, rng: np.random.Generator, count: int) -> Iterable[int]:
        if self.drawn is None:
            found = rng.integers(1 if self.h else 0, self.q, size=count)
            return [centred(int(v), self.q) for v in found]
        if self.kind == "ternary":  # by its law, and not by multiples of 2^-64
            return [self.drawn.values[i] for i in rng.integers(len(self.drawn.values), size=count)]
        return map(int, self.drawn.draw(rng.integers(0, 2**64, size=count, dtype=np.uint64)))

    def _at(self, places: Sequence[int], values: Iterable[int]) -> Secret:
        out = [0] * self.n
        for place, value in zip(places, values, strict=True):
            out[place] = value
        return tuple(out)

    def require(self, secret: Secret) -> None:
        """Refuse what is no secret of this kind; raises UsageError."""
        allowed = set(self.values) if self.entries else self.values
        signless = self.q == 2 and not self.entries  # 1 and -1 are the same residue
        require(
            len(secret) == self.n
            and all(v in allowed or signless for v in secret)
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
        names = {v % self.q: v for v in self.entries.values} if self.entries else {}
        found = tuple(names.get(v % self.q, centred(v, self.q)) for v in residues)
        try:
            self.require(found)
        except UsageError:
            return None
        return found

    def ends(self, length: int) -> tuple[int, int]:
        """Bound what one entry adds to t: the sums of its negative, of its positive weights."""
        if self.entries is None and self.q > 1 << 16:  # a bound that all entries keep
            return -length * (self.q // 2), length * (self.q // 2)
        w = centred(np.array(self.values), self.q)
        low = high = np.zeros(len(w), np.int64)
        for _ in range(length):
            low, high = low + np.minimum(w, 0), high + np.maximum(w, 0)
            w = centred(2 * w, self.q)
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
