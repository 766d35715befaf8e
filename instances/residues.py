"""Residues mod q: centred ones, primes, powers of two."""

from flint import fmpz


def centred(value: int, q: int) -> int:
    """Reduce mod q to -q/2 .. (q-1)/2.

    >>> centred(7, 8), centred(4, 8), centred(3, 8)
    (-1, -4, 3)
    """
    return (value + q // 2) % q - q // 2


def is_power_of_two(q: int) -> bool:
    """Return whether q is 1, 2, 4, ..."""
    return q > 0 and not q & (q - 1)


def next_prime(q: int) -> int:
    """Find the least prime above q.

    >>> next_prime(12)
    13
    """
    q += 1
    while not is_prime(q):
        q += 1
    return q


def is_prime(q: int) -> bool:
    """Return whether q is a prime, proven.

    >>> is_prime(3329), is_prime(3328)
    (True, False)
    """
    return bool(fmpz(q).is_prime())
