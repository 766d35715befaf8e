"""The two-sample statistic in both worlds, members and coins, against its predicted advantage.

In every repetition f is computed on so many open examples of a fresh member, and on as many whose
signs are coins of the same mean, independent of the tokens. The advantage is the difference of the
means over the standard deviation among coins; hardness/measures/pairs.py predicts it exactly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.kernels.pairsums import pair_sums
from hardness.lower.record import text
from hardness.measures.pairs import PairStatistic
from hardness.runs.distinguish import WORLDS, World
from hardness.runs.processes import execute
from hardness.upper.signs import Signs, signs
from instances import tokens
from instances.capabilities import SCHEME
from instances.coded import CodedExamples
from instances.errors import UsageError
from instances.family import Examples, Family, require
from instances.integers import Integers, bernoulli
from instances.krawtchouk import column
from instances.streams import BitStream, generator, key
from instances.symmetric import Symmetric, to_float
from instances.threshold import Rational

_MOST_REPETITIONS = 1_000_000
_MOST_PAIRS = 1e12  # in all: an hour
_MOST_PLACES = 100_000
_MOST_BITS = 900  # of a value of the kernel: sums of so many stay within float64
_TASKS = 50  # repetitions of a world are cut into so many tasks
_NORMAL = 1.959963984540054  # standard deviations that a normal lies within with 95 %

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTest:
    """What the statistic came to: values (repetitions,) in each world, and what was predicted.

    opened: open examples, z_0 = -1, in each repetition. shared: the part of the predicted mean that
    is there for who knows the family alone.
    """

    spec: str
    level: int
    opened: int
    repetitions: int
    seed: int
    predicted: float  # the advantage: the root of an exact rational, in float64
    mean: Rational  # of members, exact
    null_variance: Rational  # among coins, exact
    member_variance: Rational  # exact
    shared: Rational
    members: Array
    coins: Array

    @property
    def advantage(self) -> float:
        """The measured difference of the means over the measured deviation among coins."""
        return float((self.members.mean() - self.coins.mean()) / self.coins.std(ddof=1))

    @property
    def standard_error(self) -> float:
        """Of the measured advantage, from the sample by the delta method."""
        deviation = self.coins.std(ddof=1)
        member = (self.members - self.members.mean()) / deviation
        coin = (self.coins - self.coins.mean()) / deviation
        influence = coin + self.advantage / 2 * (coin**2 - 1)
        return float(math.sqrt((member.var() + influence.var()) / (self.repetitions - 1)))

    @property
    def interval(self) -> tuple[float, float]:
        """The measured advantage at 95 %, as of a normal variable."""
        radius = _NORMAL * self.standard_error
        return self.advantage - radius, self.advantage + radius

    @property
    def ratio(self) -> float:
        """Measured over predicted."""
        return self.advantage / self.predicted

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, rationals as text; the field names are a contract."""
        return {
            "spec": self.spec,
            "level": self.level,
            "open_examples": self.opened,
            "repetitions": self.repetitions,
            "seed": self.seed,
            "predicted": {
                "advantage": self.predicted,
                "mean": {"member": text(self.mean), "coins": "0"},
                "variance": {
                    "member": text(self.member_variance),
                    "coins": text(self.null_variance),
                },
                "shared": text(self.shared),
                "method": "exact moments; the advantage is the root of a rational, in float64",
            },
            "measured": {
                "advantage": self.advantage,
                "standard_error": self.standard_error,
                "interval": list(self.interval),
                "confidence": 0.95,
                "mean": {"member": float(self.members.mean()), "coins": float(self.coins.mean())},
                "variance": {
                    "member": float(self.members.var(ddof=1)),
                    "coins": float(self.coins.var(ddof=1)),
                },
                "method": "normal interval by the delta method",
            },
        }


def pair_test(
    family: Family,
    opened: int,
    repetitions: int = 1000,
    seed: int = 0,
    level: int = 0,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> PairTest:
    """Compute the statistic on `opened` open examples, `repetitions` times in each world.

    level: of the kernel, 0 for the one of the largest advantage. The result does not depend on
    `jobs`. Raises UsageError for families other than parities and two-valued profiles, fewer than 2
    open examples or 10 repetitions, and what takes too long.

    >>> from instances import parse
    >>> found = pair_test(parse("parity:d=12,m=2"), opened=40, repetitions=100)
    >>> round(found.predicted, 2), 3 < found.advantage < 5
    (3.77, True)
    """
    statistic = PairStatistic.of(family, level)
    _require(statistic, opened, repetitions)
    require(jobs >= 1, f"{jobs} jobs given: at least 1 is needed")
    size = -(-repetitions // _TASKS)
    tasks = [
        (world, range(start, min(start + size, repetitions)))
        for world in WORLDS
        for start in range(0, repetitions, size)
    ]
    parts: dict[int, Array] = {}
    work = partial(repeat, SCHEME.need(family), statistic.level, opened, seed)
    for index, part in execute(work, tasks, jobs):
        parts[index] = part
        progress(len(part))
    values = np.concatenate([parts[index] for index in range(len(tasks))])
    if not np.ptp(values[repetitions:]):
        raise UsageError(
            f"{opened} open examples, {repetitions} repetitions given: coins always came to "
            f"{values[-1]:g}, so that there is no deviation: ask for more of both"
        )
    return PairTest(
        spec=family.spec,
        level=statistic.level,
        opened=opened,
        repetitions=repetitions,
        seed=seed,
        predicted=statistic.advantage(opened),
        mean=statistic.mean(opened),
        null_variance=statistic.null_variance(opened),
        member_variance=statistic.member_variance(opened),
        shared=statistic.shared,
        members=values[:repetitions],
        coins=values[repetitions:],
    )


def _require(statistic: PairStatistic, opened: int, repetitions: int) -> None:
    """Refuse what has no pairs or takes too long; raises UsageError."""
    require(opened >= 2, f"{opened} open examples given: at least 2 make a pair")
    require(
        10 <= repetitions <= _MOST_REPETITIONS,
        f"{repetitions} repetitions given: 10 to {_MOST_REPETITIONS} are allowed",
    )
    require(
        statistic.n < _MOST_PLACES,
        f"d={statistic.n + 1} given: at most {_MOST_PLACES} here, the kernel is tabulated by "
        "distance",
    )
    pairs = 2 * repetitions * math.comb(opened, 2)
    require(
        pairs <= _MOST_PAIRS,
        f"{opened} open examples given: {Decimal(pairs):.1e} pairs in all repetitions, at most "
        f"{_MOST_PAIRS:.0e}: ask for fewer examples or repetitions",
    )
    require(
        statistic.terms.bit_length() <= _MOST_BITS,
        f"d={statistic.n + 1} given: the kernel at level {statistic.level} goes beyond float64, "
        f"and the advantage is {statistic.advantage(opened):.1e}: take smaller d or m",
    )


def repeat(
    family: Symmetric, level: int, opened: int, seed: int, task: tuple[World, range]
) -> Array:
    """Compute the statistic in a world once for each of some repetitions: (repetitions,)."""
    world, repetitions = task
    statistic = PairStatistic.of(family, level)
    mu, table = statistic.mu, np.array(column(statistic.n, level), np.float64)
    coins = bernoulli(Fraction(int((1 - mu).p), 2 * int((1 - mu).q)))  # code 1: the smaller value
    found = np.zeros(len(repetitions))
    for i, repetition in enumerate(repetitions):
        fresh = generator(seed, "pair test", family.spec, world, repetition)
        drawn_seed = int(fresh.integers(2**62))
        drawn = (
            family.instance(drawn_seed).examples
            if world == "real"
            else Coins(family=family, seed=drawn_seed, coins=coins).examples
        )
        met = first_open(drawn, opened)
        values: Array = met.signs.astype(np.float64)[:, None] - to_float(mu)
        found[i] = pair_sums(met.words, values, table)[0]
    return found


@dataclass(frozen=True, kw_only=True)
class Coins:
    """Tokens of a family whose codes, where a label is unknown, are independent draws of `coins`.

    For parities it is instances.uniform.Uniform; here, profiles have coins too: of the same mean,
    which is not all that everyone knows of their labels.
    """

    family: Symmetric
    seed: int
    coins: Integers

    def examples(self, start: int, count: int) -> CodedExamples:
        """Return examples start .. start+count-1."""
        stream = BitStream(key(self.seed, "tokens", "examples"))
        words = tokens.boolean(stream, start, count, self.family.k, self.family.d)
        drawn = self.coins.draw(BitStream(key(self.seed, "coins", "examples")).words(start, count))
        codes = np.where(self.family.open(words), drawn, 0).astype(self.family.code_type)
        return CodedExamples(family=self.family, words=words, codes=codes)


def first_open(drawn: Callable[[int, int], Examples], count: int) -> Signs:
    """Take the first `count` open examples of a stream."""
    size = 2 * count + 8 * math.isqrt(count) + 8
    found = signs(drawn(0, size))
    while len(found) < count:  # about never: five standard deviations
        size *= 2
        found = signs(drawn(0, size))
    return found.cut(count)
