"""Learners as distinguishers of the labels of a random member from uniformly random labels.

In each trial a learner gets examples of one of two worlds. In the real world a fresh member labels
them, in the uniform world the labels are random. Its hypothesis is tested on further examples of
the same world. Let y_i be the factor of label i, k_i that of the baseline, R the range of the
levels, and v_i = y_i - k_i. Let u_i be the clipped factor of the hypothesis less k_i. The
distinguisher accepts if

    score = sum_i v_i u_i / ((R/2) sqrt(sum_i u_i^2)) > sqrt(2 ln(1/alarm)).

In the uniform world the v_i have mean 0 and are independent of tokens and hypothesis. So the
distinguisher accepts there with probability at most `alarm`, whatever the hypothesis is [Hoe63];
the threshold is fixed before any example is seen. The hypothesis need not be calibrated, as it
would have to be for a loss below that of the baseline. If it is, v u is u^2 on average.

The interval of the advantage subtracts the ends of the Clopper–Pearson intervals of both worlds
[CP34]. With two levels, write y = +-1 and h in [-1, 1]. Answering +1 with probability (1 + h)/2 is
right with probability 1/2 + E[hy]/2. Since E(y - h)^2 = 1 - 2 E[hy] + E h^2 and E h^2 >= (E[hy])^2,
a loss L = E(y - h)^2 implies E[hy] >= 1 - sqrt(L). The function h = (1 - sqrt(L)) y attains this
bound, which is at least (1 - L)/2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hardness.learners import Failed, Learner, learner_spec
from hardness.learners.learner import Predict
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.record import Record, json_of
from hardness.runs.risk import interval, valid_predictions
from hardness.runs.run import attempt, require_support
from hardness.runs.workers import execute
from instances.coded import Coded, CodedExamples, as_coded, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Family, Instance, require_examples
from instances.numbers import outward
from instances.result import TableRow, frame
from instances.secrets import Integers, integers
from instances.streams import BitStream, generator, key

if TYPE_CHECKING:
    from pandas import DataFrame

_BATCH_NUMBERS = 1 << 21
_MAX_TRIALS = 100_000

Array = NDArray[np.float64]
World = Literal["real", "uniform"]
WORLDS: tuple[World, World] = ("real", "uniform")


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """A source of examples whose labels are random and independent of the tokens.

    Tokens are drawn as those of an instance. If a label depends on the secret, its code is drawn
    from the probabilities `shares` of the family instead. For LWR these are uniform samples.

    >>> from instances import parse
    >>> family = parse("lwr:n=8,q=16,p=2,secret=binary,h=4")
    >>> drawn = Uniform(family=family, seed=0).examples(0, 1000)
    >>> drawn.x.shape, 200 < int(drawn.codes.sum()) < 300
    ((1000, 2, 33), True)
    """

    family: Coded
    seed: int

    @cached_property
    def _law(self) -> Integers:
        return integers(dict(enumerate(self.family.shares or ())))

    def examples(self, start: int, count: int, axis: str = "examples") -> CodedExamples:
        """Return examples start .. start+count-1 of a stream; the cut does not change them.

        axis: the name of the stream.
        """
        family = self.family
        require_examples(family, count)
        words = family.inputs(self.seed, axis, start, count)
        coins = BitStream(key(self.seed, "coins", axis)).words(start, count)
        drawn = self._law.draw(coins)
        codes = np.where(family.open(words), drawn, 0).astype(family.code_type)
        return CodedExamples(family=family, words=words, codes=codes)


class Score(Struct, frozen=True, kw_only=True):
    """The test of a hypothesis on held-out examples.

    score: compared with the threshold. tested: the number of informative held-out examples. loss:
    the squared loss on their labels, noise included, relative to that of the baseline. agreement,
    bit_loss: the means of hy and (y - h)^2 with y = +-1, None with more than two levels.
    """

    score: float
    tested: int
    loss: float
    agreement: float | None
    bit_loss: float | None


class Play(Score, frozen=True, kw_only=True):
    """One trial of a learner in one world.

    accepted: whether its hypothesis was accepted as that of the real world. outcome: None if the
    learner ended by itself.
    """

    world: World
    accepted: bool
    outcome: str | None
    examples: int
    seconds: float
    peak_bytes: int


class Distinction(Record, frozen=True, kw_only=True):
    """All trials of a learner, half of them in each world.

    alarm: the bound on the probability of accepting the uniform world. heldout: held-out examples
    of each trial, of which about half are informative. confidence: of the intervals.
    """

    spec: str
    learner: str
    seed: int
    confidence: float
    alarm: float
    heldout: int
    plays: tuple[Play, ...]

    def plays_in(self, world: World) -> list[Play]:
        """Return the trials in one world."""
        return [play for play in self.plays if play.world == world]

    def accepted(self, world: World) -> int:
        """Count the trials of a world that were accepted as real."""
        return sum(play.accepted for play in self.plays_in(world))

    def rate(self, world: World) -> float:
        """Return the measured fraction of accepted trials in a world."""
        return self.accepted(world) / len(self.plays_in(world))

    @property
    def threshold(self) -> float:
        """The score above which a hypothesis is accepted."""
        return threshold(self.alarm)

    @property
    def advantage(self) -> float:
        """The measured Pr[accept | real] - Pr[accept | uniform], with its sign."""
        return self.rate("real") - self.rate("uniform")

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the advantage, valid for any number of trials."""
        real, uniform = (self.accepted(world) for world in WORLDS)
        return advantage_interval(real, uniform, len(self.plays) // 2, self.confidence)

    def used(self, resource: Literal["examples", "seconds"], *worlds: World) -> float:
        """Return the total use of a resource by the trials in some worlds."""
        return sum(getattr(play, resource) for world in worlds for play in self.plays_in(world))

    @property
    def accuracy(self) -> float | None:
        """The accuracy of randomised rounding on held-out labels; None above two levels."""
        mean = self._mean("agreement")
        return None if mean is None else 0.5 + mean / 2

    @property
    def accuracy_interval(self) -> tuple[float, float] | None:
        """A confidence interval for the mean accuracy of the hypotheses of these trials. [Hoe63]"""
        if self.accuracy is None:
            return None
        tested = sum(play.tested for play in self.plays_in("real"))
        radius = math.sqrt(math.log(2 / (1 - self.confidence)) / (2 * tested))
        return max(0.0, self.accuracy - radius), min(1.0, self.accuracy + radius)

    @property
    def implied_accuracy(self) -> float | None:
        """A lower bound on the accuracy that follows from the squared loss on the same labels."""
        loss = self._mean("bit_loss")
        return None if loss is None else implied_accuracy(loss)

    def _mean(self, name: Literal["agreement", "bit_loss"]) -> float | None:
        pairs = [(getattr(p, name), p.tested) for p in self.plays_in("real")]
        if any(value is None for value, _ in pairs):
            return None
        return sum(v * n for v, n in pairs) / sum(n for _, n in pairs)

    def _rows(self) -> list[TableRow]:
        ends = f"in [{outward(*self.interval, '.3f')}] at {self.confidence:.0%}"
        trials = f"of {len(self.plays) // 2}"
        return [
            {"measure": "advantage", "value": self.advantage, "known": ends},
            *(
                {"measure": f"accepted, {world}", "value": self.rate(world), "known": trials}
                for world in WORLDS
            ),
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row a trial."""
        return frame([json_of(play) for play in self.plays])

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, with what follows from the trials; the field names are a contract."""
        follows = ("threshold", "advantage", "interval", "accuracy", "accuracy_interval")
        return {
            **super().to_dict(),
            **{name: json_of(getattr(self, name)) for name in (*follows, "implied_accuracy")},
            "trials": len(self.plays),
            "accepted": {world: self.accepted(world) for world in WORLDS},
            **{f"accept_{world}": self.rate(world) for world in WORLDS},
            "usage": {
                "examples": self.used("examples", *WORLDS),
                "seconds": self.used("seconds", *WORLDS),
                "peak_bytes": max(play.peak_bytes for play in self.plays),
            },
        }


def threshold(alarm: float) -> float:
    """Return the score that random labels reach with probability `alarm` at most.

    It is sqrt(2 ln(1/alarm)).

    >>> round(threshold(0.01), 3)
    3.035
    """
    return math.sqrt(2 * math.log(1 / alarm))


def implied_accuracy(loss: float) -> float:
    """Return a lower bound on the accuracy of randomised rounding from E(y - h)^2 with y = +-1.

    >>> implied_accuracy(1.0), implied_accuracy(0.25)
    (0.5, 0.75)
    """
    return max(0.0, 1 - math.sqrt(loss) / 2)


def advantage_interval(
    real: int, uniform: int, trials: int, confidence: float
) -> tuple[float, float]:
    """Return an interval for the difference of two probabilities.

    real, uniform: the accepted trials out of `trials` in each world. The ends of two
    Clopper–Pearson intervals, each at (1 + confidence)/2, are subtracted. Both hold together with
    at least the confidence. [CP34]

    >>> low, high = advantage_interval(10, 0, 10, 0.95)
    >>> round(low, 2), high
    (0.29, 1.0)
    """
    (r_low, r_high), (u_low, u_high) = (
        interval(count, trials, (1 + confidence) / 2) for count in (real, uniform)
    )
    return r_low - u_high, r_high - u_low


def distinguish(
    learner: Learner,
    family: Family,
    trials: int = 40,
    budget: Budget | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    heldout: int = 4096,
    alarm: float = 0.01,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> Distinction:
    """Let a learner distinguish a random member from random labels, half of the trials each.

    budget: of each trial, a minute if it is not given, since some attacks never stop on random
    labels. heldout: the fresh examples that a hypothesis is tested on. The result does not depend
    on `jobs`, except for seconds. Raises UsageError or ToolkitError before the first trial if no
    trial is possible.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> played = distinguish(parse_learner("elimination"), parse("parity:d=12,m=3"), trials=20)
    >>> played.advantage, played.interval[0] > 0.2
    (1.0, True)
    """
    if not (2 <= trials <= _MAX_TRIALS and trials % 2 == 0):
        raise UsageError(f"{trials} trials: an even number from 2 to {_MAX_TRIALS}")
    if not (0 < confidence < 1 and 0 < alarm < 1):
        raise UsageError(f"confidence {confidence}, alarm {alarm}: both between 0 and 1")
    if heldout < 100 or jobs < 1:
        raise UsageError(f"{heldout} held-out examples, {jobs} jobs: at least 100 and 1")
    coded = require_playable(learner, family)
    budget = budget or Budget(seconds=60)
    tasks = [
        (world, trial_seed(seed, family, world, trial))
        for trial in range(trials // 2)
        for world in WORLDS
    ]
    plays: dict[int, Play] = {}
    work = partial(play, learner, coded, budget, heldout, alarm)
    for index, trial in execute(work, tasks, jobs):
        plays[index] = trial
        progress(1)
    return Distinction(
        spec=family.spec,
        learner=learner_spec(learner),
        seed=seed,
        plays=tuple(plays[index] for index in range(trials)),
        confidence=confidence,
        alarm=alarm,
        heldout=heldout,
    )


def require_playable(learner: Learner, family: Family) -> Coded:
    """Return the family of coded labels; raises ToolkitError if no trial is possible with it."""
    if learner.access == "queries":
        raise UsageError(f"{learner.name} asks statistical queries: coins give examples only")
    if learner.access == "values":
        raise UsageError(f"{learner.name} asks membership queries: coins give examples only")
    require_support(learner, family)
    if not isinstance(family, Coded):
        reason = family.lacks("coded")
        raise UsageError(f"there are no coins to replace the labels: {reason}")
    if family.shares is None:
        raise ToolkitError(
            f"{family.name}: its labels depend on tokens in a way that all members share, so "
            "coins would differ from them for the family alone; take parity, lwr, lwe "
            "or lpn, or give the family `shares`, the chance of each level"
        )
    return family


def trial_seed(seed: int, family: Family, world: World, trial: int) -> int:
    """Return the seed of a trial: of its instance or random labels, and of the learner."""
    return int(generator(seed, "distinguish", family.seed_spec, world, trial).integers(2**62))


def play(
    learner: Learner,
    family: Coded,
    budget: Budget,
    heldout: int,
    alarm: float,
    trial: tuple[World, int],
) -> Play:
    """Let a learner learn in the world of a trial, and test its hypothesis on further examples."""
    world, seed = trial
    source = family.instance(seed) if world == "real" else Uniform(family=family, seed=seed)
    hypothesis, usage = attempt(learner, ExampleOracle(source, Meter(budget)), seed)
    outcome = hypothesis.outcome
    try:
        tested = score(hypothesis.predict, source, heldout)
    except Failed as failed:
        tested, outcome = score(family.known, source, heldout), failed.outcome
    finally:
        hypothesis.close()
    return Play(
        world=world,
        accepted=tested.score > threshold(alarm),
        outcome=outcome.value if outcome else None,
        examples=usage.examples,
        seconds=usage.seconds,
        peak_bytes=usage.peak_bytes,
        **structs.asdict(tested),
    )


def score(predict: Predict, source: Instance | Uniform, count: int) -> Score:
    """Test predictions on `count` held-out examples of a source.

    Invalid predictions are replaced by those of the baseline.
    """
    family = require_coded(source.family)
    known, labels, predicted = [], [], []
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    for start in range(0, count, batch):
        drawn = as_coded(source.examples(start, min(batch, count - start), axis="heldout"))
        rows = family.open(drawn.words)
        known.append(family.expected(drawn.words[rows]))
        labels.append(family.factors[drawn.codes[rows]])
        predicted.append(_factors(family, predict, drawn.x, rows, known[-1]))
    k, y, h = (np.concatenate(parts) for parts in (known, labels, predicted))
    v, u = y - k, h - k
    low, high = (float(end(family.factors)) for end in (np.min, np.max))
    half = (high - low) / 2
    length = math.sqrt(float(u @ u))
    sign, guess = (y - low) / half - 1, (h - low) / half - 1
    two = len(family.factors) == 2
    return Score(
        score=float(v @ u) / (half * length) if length else 0.0,
        tested=len(y),
        loss=float(((v - u) ** 2).sum() / (v**2).sum()),
        agreement=float((sign * guess).mean()) if two else None,
        bit_loss=float(((sign - guess) ** 2).mean()) if two else None,
    )


def _factors(
    family: Coded, predict: Predict, x: NDArray[Any], rows: NDArray[np.bool_], known: Array
) -> Array:
    """Return the clipped factor of predictions on informative examples: (n,).

    It is averaged over both tokens. known: returned instead if the predictions are invalid.
    """
    predictions = valid_predictions(predict, x)
    if predictions is None:
        return known
    signs = x[rows, :, 0]
    clipped = family.clip(signs, predictions[rows, :, 0].astype(np.float64))
    return np.asarray((signs * clipped).mean(axis=1))
