"""A test of what bounds assume of a user's family: functions, listed once, drawn uniformly."""

import math
from collections import Counter
from itertools import islice

import numpy as np

from instances.coded import MOST_MEMBERS, Coded
from instances.errors import UsageError
from instances.family import Family
from instances.spec import built_in
from instances.streams import generator

_REFUSAL_PROBABILITY = 1e-6  # of a uniform draw, by both tests together
_MIN_DRAWS, _MAX_DRAWS = 5_000, 20_000
_REPEATED_MEMBERS = 8  # members whose codes are computed again
_REPEATED_POINTS = 1 << 12  # points of each of these members


def require_uniform(family: Family) -> None:
    """Refuse a user's family of up to 5000 listed members that are not drawn uniformly.

    Raises UsageError if a member is listed twice, if its codes depend on the order of points, or if
    a drawn secret is not listed. Also if a member is drawn too seldom or too often for the binomial
    distribution, or too few different members are drawn for McDiarmid's inequality. A uniform draw
    is refused with probability at most 1e-6.

    >>> from instances import parse
    >>> require_uniform(parse("parity:d=8,m=3"))
    """
    size = 0 if built_in(family) else family.size or 0
    listed = family.members() if 0 < size <= MOST_MEMBERS else None
    if listed is None:
        return
    from scipy.stats import binom

    if coded := family.factor:
        listed = iter(coded.listed_members(MOST_MEMBERS))
        _require_functions(coded)
    members = {secret: i for i, secret in enumerate(listed)}
    # With so many draws a uniform draw almost surely gives every member.
    enough = math.ceil(size * math.log(4 * size / _REFUSAL_PROBABILITY))
    draws = min(_MAX_DRAWS, max(_MIN_DRAWS, enough))
    rng = generator(0, "uniform", family.seed_spec)
    drawn = Counter(tuple(map(int, family.draw(rng))) for _ in range(draws))
    counts = np.zeros(len(members), np.int64)
    for secret, count in drawn.items():
        place = members.get(secret)
        if place is None:
            place = next((i for s, i in members.items() if family.same(s, secret)), None)
        if place is None:
            raise _refusal(family, f"gives {str(list(secret))[:60]}, which `members` does not list")
        counts[place] += count
    tail = np.minimum(binom.cdf(counts, draws, 1 / size), binom.sf(counts - 1, draws, 1 / size))
    worst = int(tail.argmin())
    if tail[worst] < _REFUSAL_PROBABILITY / (4 * size):
        secret_text = str(list(list(members)[worst]))[:60]
        raise _refusal(
            family,
            f"gives {secret_text} {counts[worst]} times in {draws}, not about {draws / size:.3g}",
        )
    different = np.count_nonzero(counts)
    expected = -size * math.expm1(draws * math.log1p(-1 / size)) if size > 1 else 1.0
    if expected - different > math.sqrt(draws * math.log(2 / _REFUSAL_PROBABILITY) / 2):
        raise _refusal(
            family,
            f"gives {different} different members in {draws} draws, not about {expected:.0f}",
        )


def _require_functions(family: Coded) -> None:
    """Compare codes of the same points in three orders, for a few members; raises UsageError."""
    words = family.table_points(0, min(1 << family.d - 1, _REPEATED_POINTS))
    order = np.random.default_rng(0).permutation(len(words))
    for secret in islice(family.listed_members(MOST_MEMBERS), _REPEATED_MEMBERS):
        first, *again = (
            family.codes(secret, words[at], np.zeros(len(words), np.bool_))[np.argsort(at)]
            for at in (np.arange(len(words)), order, np.arange(len(words))[::-1])
        )
        if any((first != other).any() for other in again):
            raise UsageError(
                f"{family.spec[:200]}: member {str(list(secret))[:60]} has other "
                "values at the same points in another order: bounds are of functions of one point"
            )


def _refusal(family: Family, subject: str) -> UsageError:
    return UsageError(
        f"{family.spec[:200]}: `draw` {subject}: bounds are of a uniform draw, fix `draw` or "
        "`members`"
    )
