"""The two-sample test as a learner: a score for every coordinate from all pairs of open examples.

With v_i a sign less its mean, z_i, and K_l the sum of chi_T(z_i) chi_T(z_j) over T of l places,

    score_a = sum_{i<j} v_i v_j sum_{|T| = level, a in T} chi_T(z_i) chi_T(z_j)

has mean C(N,2) fade^2 s^_level^2 C(m-1, level-1) for a in S, and 0 for others, with a spread near
sqrt(C(N,2) C(n-1, level-1)). The m largest scores are the claim, which the same examples must then
confirm. It is a low-degree polynomial method: scores are polynomials of degree 2 (level + 1), the
kind that low-degree bounds are about; sorting them and checking one set are not. It takes of the
order of sqrt(C(n-1, level-1)) / fade^2 examples, times a logarithm, and in time their square times
d. For a parity that is about what trying all sets takes, which needs far fewer examples; profiles
with parts of low degree are cheap. Nothing here is elimination over GF(2), so that noise costs a
power of 1/fade and no more.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from hardness.kernels.pairsums import Array, strips
from hardness.measures.pairs import PairStatistic
from hardness.oracles import ExampleOracle
from hardness.upper.attack import gather
from hardness.upper.learner import Hypothesis, Outcome, View, member, nothing
from hardness.upper.signs import Signs, signs, telling, wanted
from instances import tokens
from instances.capabilities import SCHEME
from instances.family import Family, Secret, require
from instances.krawtchouk import column
from instances.limits import require_memory
from instances.symmetric import Symmetric, to_float

_MOST = 2.0**46  # products of a pair and a coordinate: about an hour
_BEYOND = 1 << 400  # examples: no more is told apart
_PLACES = 1000  # at which a distribution is summed up
_NORMAL = 1 << 20  # degrees of freedom from which a sum of squares is normal
_RARELY = 0.01  # how often the learner, by its own prediction, fails for want of examples
# Seconds on one core with AVX-512, measured at d = 17 .. 1001: within 15 % of all.
_PER_PAIR, _PER_WORD, _PER_PRODUCT = 1.2e-9, 8e-10, 4.2e-11


@dataclass(frozen=True, kw_only=True)
class PairsPlan:
    """What the learner takes at a level to fail with probability `miss`: a heuristic prediction.

    opened: examples with z_0 = -1; examples: with z_0 of both signs.
    """

    level: int
    miss: float
    opened: int
    d: int

    @property
    def examples(self) -> int:
        """Examples with z_0 of both signs, on average."""
        return 2 * self.opened

    @property
    def pairs(self) -> int:
        """Pairs of open examples."""
        return math.comb(self.opened, 2)

    @property
    def operations(self) -> int:
        """Products of a pair and a coordinate."""
        return self.pairs * self.d

    @property
    def seconds(self) -> float:
        """About how long it takes on one core of a machine with AVX-512."""
        words = tokens.words_per_token(self.d)
        return self.pairs * (_PER_PAIR + words * _PER_WORD + self.d * _PER_PRODUCT)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Scores coordinates by pairs of `samples` open examples (0: as `pairs_cost` predicts).

    level: of the kernel, 0 for the one that takes the fewest examples.
    """

    name: ClassVar[str] = "pairs"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "z"
    about: ClassVar[str] = "two-sample test: sums over pairs of a kernel of their distance"

    samples: int = 0
    level: int = 0

    def __post_init__(self) -> None:
        for name in ("samples", "level"):
            given = getattr(self, name)
            require(given >= 0, f"{name}={given} given: at least 0")

    def supports(self, family: Family) -> str | None:
        """Parities and two-valued profiles that take at most 2^46 products."""
        scheme = SCHEME.of(family)
        if scheme is None:
            return SCHEME.missing(family)
        if not scheme.two_valued:
            return f"it learns parities and two-valued profiles, not {family.name} of more values"
        if self.level and self.level not in (there := _levels(scheme)):
            return f"level={self.level} given: the profile has parts at {_listed(there)} only"
        bits = math.log2(self.samples or pairs_cost(family, self.level, _RARELY).opened)
        operations = 2 * bits - 1 + math.log2(family.d)
        if operations > math.log2(_MOST):
            return (
                f"its 2^{bits:.1f} open examples make 2^{operations:.1f} products of a pair and a "
                "coordinate, at most 2^46 are tried"
            )
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Score all coordinates, and claim the m best where the examples confirm them."""
        family = SCHEME.need(oracle.family)
        plan = pairs_cost(family, self.level, _RARELY)
        found = gather(oracle, self.samples or plan.opened, signs)
        statistic = PairStatistic.of(family, plan.level)
        total = np.zeros(family.d - 1)
        for part in strips(found.words, _values(found, statistic), tables(statistic)[1]):
            total += part
            oracle.meter.require_time()
        order = np.argsort(-total, kind="stable")
        best = tuple(sorted(int(a) + 1 for a in order[: family.m]))
        return _conclude(found, best, plan)


@lru_cache(maxsize=64)
def pairs_cost(family: Family, level: int = 0, miss: float = 1 / 3) -> PairsPlan:
    """Predict what the learner takes to succeed with probability 1 - miss: a heuristic.

    The least number of open examples by `success`, and at least those that confirm a secret. Raises
    UsageError for families of more than two values and levels at which the profile has no part.

    >>> from instances import parse
    >>> pairs_cost(parse("parity:d=24,m=3,noise=0.1")).level
    3
    """
    symmetric = SCHEME.need(family)
    require(symmetric.two_valued, f"{family} given: two-valued profiles go here")
    require(0 < miss < 1, f"miss={miss} given: a probability between 0 and 1")
    choices = [level] if level else _levels(symmetric)
    found = [PairStatistic.of(symmetric, one) for one in choices]
    opened, best = 0, 0
    for one in sorted(found, key=lambda one: one.strength, reverse=True):
        if not best or success(one, opened - 1) >= 1 - miss:  # else it takes no fewer
            opened, best = _opened(one, miss), one.level
    opened = max(opened, telling(symmetric))
    return PairsPlan(level=best, miss=miss, opened=opened, d=family.d)


def tables(statistic: PairStatistic) -> tuple[Array, Array]:
    """Tabulate P and Q by the distance 0 .. n: each (n+1,).

    The sum of chi_T(z) chi_T(z') over T of `level` places with a in T is P(dist) + z_a z'_a Q(dist)
    for every a, so that P adds the same to all scores.

    >>> from instances import parse
    >>> tables(PairStatistic.of(parse("parity:d=5,m=2")))[1].tolist()
    [1.5, 2.0, 0.0, -2.0, -1.5]
    """
    # z_a z'_a times the kernel of the n - 1 other places, at their distance.
    others = column(statistic.n - 1, statistic.level - 1)
    equal, different = [*others, 0], [0, *(-value for value in others)]
    both = [(a + b, a - b) for a, b in zip(equal, different, strict=True)]
    common, own = zip(*both, strict=True)
    return np.array(common, np.float64) / 2, np.array(own, np.float64) / 2


def _levels(family: Symmetric) -> list[int]:
    """The levels at which a profile has a part."""
    return [k for k, value in enumerate(family.fourier) if k and value]


def _listed(levels: list[int]) -> str:
    return ", ".join(map(str, levels))


def success(statistic: PairStatistic, opened: int) -> float:
    """Predict how often the m largest scores of `opened` open examples are those of S: a heuristic.

    Scores, less the part that all have in common, are taken for independent: beyond S for centred
    sums of squares, of S for normal, of their true means and nearly their true variances.

    >>> from instances import parse
    >>> one = PairStatistic.of(parse("parity:d=24,m=3,noise=0.1"))
    >>> [round(success(one, count), 2) for count in (40, 80, 160)]
    [0.04, 0.32, 0.93]
    """
    from scipy.special import chdtr, ndtri

    n, m, level = statistic.n, statistic.m, statistic.level
    inside, around = math.comb(m - 1, level - 1), math.comb(max(n - 2, 0), level - 1)
    signal = to_float(statistic.edge * inside)  # the mean of a pair's term in the score of a in S
    if not signal or not around:
        return float(around == 0)  # all coordinates, or none that is seen
    # In units of the spread among coins: the mean, and the variance that single examples add.
    unit = math.exp(math.log(signal / to_float(1 - statistic.mu**2)) - math.log(around) / 2)
    mean = unit * math.sqrt(opened / 2) * math.sqrt(opened - 1)
    spread = math.sqrt(1 + 2 * unit**2 / signal * opened)
    place = (np.arange(_PLACES) + 0.5) / _PLACES
    least = mean + spread * ndtri(-np.expm1(np.log1p(-place) / m))  # the least score of S
    degrees = float(min(around, opened, _NORMAL))
    below = chdtr(degrees, np.maximum(degrees + least * math.sqrt(2 * degrees), 0.0))
    return float((below ** (n - m)).mean())


def _opened(statistic: PairStatistic, miss: float) -> int:
    """Find the least number of open examples with a success of 1 - miss."""
    low, high = 1, 2
    while success(statistic, high) < 1 - miss:
        low, high = high, 2 * high
        if high > _BEYOND:
            return _BEYOND
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if success(statistic, middle) < 1 - miss else (low, middle)
    return high


def _values(found: Signs, statistic: PairStatistic) -> Array:
    """v_i z_ia for every open example and coordinate: (N, d-1)."""
    numbers = len(found) * (found.family.d - 1)
    require_memory(10 * numbers, f"{len(found)} open examples of {found.family}")
    return found.z * (found.signs - to_float(statistic.mu))[:, None]


def _conclude(found: Signs, best: Secret, plan: PairsPlan) -> Hypothesis:
    """Give the claim as a hypothesis where the examples confirm it, else none."""
    family = found.family
    evidence, bits = found.evidence(best), wanted(family)
    details: dict[str, Any] = {
        "level": plan.level,
        "samples": len(found),
        "planned": plan.opened,
    }
    if evidence > -math.inf:
        details |= {"evidence": round(evidence, 2), "evidence_wanted": round(bits, 2)}
    if evidence >= bits:
        return member(family, best, **details)
    short = len(found) < plan.opened
    return nothing(family, Outcome.EXAMPLES_SPENT if short else Outcome.NOT_FOUND, **details)
