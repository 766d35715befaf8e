"""Codes of a certificate: are there so many sets so far apart, and how many may there be?"""

import itertools
import math
from typing import Any

from flint import fmpz

from hardness.check.reading import listed, number, refuse
from hardness.check.scheme import Scheme
from instances.strict import shown

_MOST_SETS = 1 << 14
_MOST_Q = 1_000_003


def check_code(scheme: Scheme, code: dict[str, Any], t: int, size: int) -> None:
    """Require `size` different sets of pairwise overlap at most t."""
    n, m = scheme.family.ground, scheme.family.chosen
    kind = code["kind"]
    fields = {"kind", "overlap", "size"}
    if kind == "listed":
        if set(code) != fields | {"sets"} or len(listed(code["sets"])) != size:
            refuse("a listed code must give all its sets")
        if size > _MOST_SETS:
            refuse(f"a code of more than {_MOST_SETS} sets is not checked set by set")
        masks = []
        for members in code["sets"]:
            places = {number(j, 0, n - 1, "a place of a set") for j in listed(members)}
            if len(places) != m or len(members) != m:
                refuse(f"a set of the code does not have {m} different places")
            masks.append(sum(1 << j for j in places))
        for one, two in itertools.combinations(masks, 2):
            if (one & two).bit_count() > t:
                refuse(f"two sets of the code have an overlap above {t}")
    elif kind == "disjoint":
        if set(code) != fields or size * m > n:
            refuse(f"there are no {size} disjoint sets of {m} places among {n}")
    elif kind == "all":
        if set(code) != fields or t != m - 1 or size > scheme.family.size:
            refuse(f"there are only {scheme.family.size} sets, of overlap up to {m - 1}")
    elif kind == "reed-solomon":
        q = number(code["q"], 2, min(n, _MOST_Q), "q of a Reed-Solomon code")
        prime = all(q % p for p in range(2, math.isqrt(q) + 1))
        # Two polynomials of degree at most t over a field agree in at most t of m places.
        if set(code) != fields | {"q"} or not (prime and m <= q and q * m <= n):
            refuse("a Reed-Solomon code needs a prime q with m <= q and q m <= n")
        if size > q ** (t + 1):
            refuse(f"there are only q^{t + 1} polynomials of degree at most {t}")
    else:
        refuse(f"{shown(kind)} is not a kind of code that is checked here")


def most_members(scheme: Scheme, count: int) -> int:
    """Bound how many members of pairwise correlation at most 1/count there are, by Johnson."""
    c, m = scheme.c, scheme.family.chosen
    fitting = [t for t in range(m) if c[t] * count <= c[-1]]
    return johnson(scheme.family.ground, m, fitting[-1]) if fitting else 1


def johnson(n: int, m: int, t: int) -> int:
    """Johnson's bound on m-subsets of n places of overlap at most t, from t = 0 upwards. [Joh62]"""
    if t >= m:
        return int(fmpz.bin_uiui(n, m))
    bound = None
    for step in range(t, -1, -1):  # A(n-step, m-step, t-step), the smallest first
        ground, weight, overlap = n - step, m - step, t - step
        new = ground // weight if bound is None else ground * bound // weight
        if weight**2 > ground * overlap:
            new = min(new, ground * (weight - overlap) // (weight**2 - ground * overlap))
        bound = max(1, min(new, int(fmpz.bin_uiui(ground, weight))))
    return bound or 1
