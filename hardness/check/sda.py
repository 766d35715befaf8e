"""SDA of a certificate: multipliers of a linear program, sets of high average, closest pairs."""

from typing import Any

from flint import fmpq, fmpz, fmpz_poly

from hardness.check.reading import integer, listed, number, rational, refuse
from hardness.check.scheme import Scheme

_DUAL = {"gamma", "inner", "average", "caps", "enough"}


def check_dual(scheme: Scheme, dual: dict[str, Any]) -> int:
    """Verify the multipliers inequality by inequality; return what they prove enough.

    For the inner distribution a of a set of s members: a_0 = 1, 0 <= a_i <= v_i, sum a = s, and
    1 + sum_i a_i E_i(k)/v_i >= 0 for every k. [Del73]
    """
    if set(dual) != _DUAL:
        refuse(f"a bound on every set must have {', '.join(sorted(_DUAL))}")
    m, gamma = scheme.family.chosen, rational(dual["gamma"])
    y, w = ([rational(v) for v in listed(dual[key])] for key in ("inner", "caps"))
    u, enough = rational(dual["average"]), integer(dual["enough"])
    if len(y) > len(scheme.eigenvalues) - 1 or len(w) != m or min([u, *y, *w]) < 0:
        refuse("multipliers are missing, too many, or negative")
    for i in range(1, m + 1):
        v, c = scheme.valencies[i], scheme.c[m - i] / scheme.c[-1]
        inner = sum((a * scheme.distances[i][k] for k, a in enumerate(y, 1)), fmpq(0))
        if gamma < 1 and w[i - 1] - inner - u * v * (c - gamma) < v:
            refuse(f"the multipliers do not bound sets with members at distance {i}")
    # Sets of average above gamma have fewer than `most` members, or at most that many if the
    # average has no multiplier; for gamma >= 1 there are none.
    most = 1 + sum(y, fmpq(0)) + sum(w, fmpq(0)) + u * (1 - gamma)
    good = enough >= most if u > 0 else enough > most
    if gamma >= 1:
        good = enough >= 1
    if not (good or enough > scheme.family.size) or enough < 1:
        refuse(f"sets of {enough} members are not shown to have average at most gamma")
    return enough


def check_above(scheme: Scheme, above: dict[str, Any] | None, gamma: fmpq) -> int:
    """Count the pairs of the sets exhibited; return the end that they give."""
    n, m = scheme.family.ground, scheme.family.chosen
    if above is None:
        return scheme.family.size
    if set(above) != {"fixed", "block", "met", "size"}:
        refuse("the correlated sets must say fixed, block, met and size")
    a = number(above["fixed"], 0, m - 1, "fixed")
    k = number(above["block"], 0, n - a, "block")
    j = number(above["met"], 0, m, "met")
    size = integer(above["size"])
    if a == k == j == 0:  # any `size` members: their pairs of equal ones make 1/size
        if not 1 <= size <= scheme.family.size or not gamma * size < 1:
            refuse(f"{size} members do not have average above gamma by their equal pairs alone")
    else:
        count, total = _pairs(scheme, n - a, m - a, a, k, j)
        if count != size:
            refuse(f"the correlated sets are {count}, not {size}")
        if total <= gamma * scheme.c[-1] * fmpq(count) ** 2:
            refuse("the average correlation of the sets exhibited is not above gamma")
    return (scheme.family.size - 1) // size


def _pairs(scheme: Scheme, n: int, m: int, a: int, k: int, j: int) -> tuple[int, fmpq]:
    """Count sets that meet a block of k in at least j, and add c(a + overlap) over pairs."""
    places = [b for b in range(j, min(k, m) + 1) if m - b <= n - k]
    total, count = fmpq(0), fmpz(0)
    for one in places:
        sets = fmpz.bin_uiui(k, one) * fmpz.bin_uiui(n - k, m - one)
        count += sets
        inside, outside = _Overlaps(k, one), _Overlaps(n - k, m - one)
        met = fmpz_poly([0])
        for two in places:
            met += inside.of(two) * outside.of(m - two)
        total += sets * sum((met[t] * scheme.c[a + t] for t in range(met.degree() + 1)), fmpq(0))
    return int(count), total


class _Overlaps:
    """How many sets meet a fixed set of `one` of `ground` places in p places, for every p."""

    def __init__(self, ground: int, one: int) -> None:
        self._one = one
        self._chosen = [fmpz.bin_uiui(one, p) for p in range(one + 1)]
        self._rest = ground - one
        self._others: list[fmpz] = []

    def of(self, two: int) -> fmpz_poly:
        """For sets of `two` places: the coefficient of x^p."""
        while len(self._others) <= two:
            x = len(self._others)
            self._others.append(fmpz.bin_uiui(self._rest, x) if x <= self._rest else fmpz(0))
        return fmpz_poly(
            [self._chosen[p] * self._others[two - p] for p in range(min(self._one, two) + 1)]
        )


def closest(scheme: Scheme, pairs: int) -> fmpq:
    """The average correlation of the `pairs` closest ordered pairs of members."""
    left, total = fmpz(pairs), fmpq(0)
    for c, v in zip(scheme.c[::-1], scheme.valencies, strict=True):
        taken = min(left, v * scheme.family.size)
        total += c * taken
        left -= taken
    return total / (scheme.c[-1] * pairs)
