"""Sampling members of LWE-style families: which, and their correlations."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.modular import Independent
from instances import tokens
from instances.errors import UsageError
from instances.family import Secret
from instances.modular import Modular, modulus, obstacle
from instances.streams import generator

_TRIES = 40  # draws for each member that is asked for
_NUMBERS = 1 << 22


def choose_independent(
    family: Modular, members: int, seed: int, own: Secret | None = None
) -> tuple[Secret, ...]:
    """Draw members that are independent in pairs, `own` first, at most as many as asked for.

    Raises UsageError for a family without a certificate.

    >>> from instances import parse
    >>> len(choose_independent(parse("lwr:n=3,q=8,p=2,secret=ternary"), members=50, seed=0))
    13
    """
    reason = obstacle(family)
    if reason:
        raise UsageError(f"{family} given: there is nothing certified to verify: {reason}")
    rng = generator(seed, "members", family.spec)
    found: dict[Secret, Secret] = {representative(family, own): own} if own else {}
    for _ in range(_TRIES * members):
        if len(found) >= members:
            break
        secret = family.draw(rng)
        found.setdefault(representative(family, secret), secret)
    return tuple(found.values())[:members]


def representative(family: Modular, secret: Secret) -> Secret:
    """Return what alike secrets have in common, and no others: a multiple with an entry of 1."""
    m = modulus(family)
    unit = next(v for v in secret if math.gcd(v, m) == 1)
    return tuple(v * pow(unit, -1, m) % m for v in secret)


def certified_gram(
    family: Modular, members: tuple[Secret, ...], rows: int | None = None
) -> NDArray[np.float64]:
    """Build the Gram matrix of independent members where a is uniform: (M, M), or some rows."""
    size = len(members)
    return float(family.response.var()) * np.eye(size if rows is None else rows, size)


def uneven(family: Modular) -> float:
    """Bound what tokens add to an entry of that Gram matrix, a not being quite uniform."""
    least, most = Independent(family=family).density
    return float(max(most - 1, 1 - least)) * float(family.response.var())


class Responses:
    """Adds up products of members' responses to <a, s> mod q, less their mean."""

    rounding = 0.0
    whole = False

    def __init__(self, family: Modular, members: tuple[Secret, ...], rows: int) -> None:
        """Take members of a family whose Z_q can be tabulated; rows: as in `sums`."""
        self._family = family
        self._table = family.response - family.mean_factor
        self._weights = np.stack([family.weights(s) for s in members], axis=1).astype(np.float64)
        self._sums = np.zeros((rows, len(members)))
        self.chunk = max(64, _NUMBERS // max(family.d, len(members)))

    @property
    def bound(self) -> float:
        """A bound on a product."""
        return float(np.abs(self._table).max()) ** 2

    def samples(self, z: NDArray[np.uint64]) -> None:
        """Add packed z (n, words)."""
        bits = (tokens.unpack(z, self._family.d)[:, 1:] < 0).astype(np.float64)
        t = (bits @ self._weights).astype(np.int64)  # sums stay below 2^53
        values = self._table[t % self._family.q]
        self._sums += values[:, : len(self._sums)].T @ values

    def parts(self) -> dict[str, NDArray[Any]]:
        """The products (rows, M), 0 below the diagonal."""
        return {"products": np.triu(self._sums)}

    def value(self, parts: dict[str, NDArray[Any]], used: int) -> NDArray[np.float64]:
        """The products as they are."""
        return np.asarray(parts["products"], np.float64)
