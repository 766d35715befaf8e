"""Learners as distinguishers: labels of a random member, or coins?

In every trial a learner gets examples of one world, the real one with a fresh member or the uniform
one with coins for labels, and its hypothesis is tested on further examples of the same world. Let
v_i = y_i - k be a label's factor less what everyone knows, R the range of the levels, and u_i the
hypothesis' factor, clipped, less the same. The distinguisher accepts where

    score = sum_i v_i u_i / ((R/2) sqrt(sum_i u_i^2)) > sqrt(2 ln(1/alarm)).

Among coins the v_i are independent of tokens and hypothesis and have mean 0, so it accepts with
probability `alarm` at most, whatever the hypothesis is [Hoe63]: the threshold is fixed before
anything is seen. A hypothesis need not be calibrated, as it would for its loss to be below that of
who knows the family alone; where it is, v u exceeds u^2 on average.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.distinction import WORLDS, Distinction, Play, Score, World, threshold
from hardness.runs.processes import execute
from hardness.runs.run import attempt, require_support
from hardness.upper import Failed, Learner, learner_spec
from hardness.upper.learner import Predict
from instances.capabilities import CODED
from instances.coded import Coded, as_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Family, Instance
from instances.streams import generator
from instances.uniform import Uniform, no_coins

_BATCH_NUMBERS = 1 << 21
_MAX_TRIALS = 100_000

Array = NDArray[np.float64]


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
    """Play a learner against "labels of a random member, or coins", half of the trials each.

    budget: of every trial, a minute where none is given: among coins some attacks search for ever.
    heldout: fresh examples that a hypothesis is tested on. The result does not depend on `jobs`,
    seconds apart. Raises UsageError or ToolkitError for what cannot be played, before it starts.

    >>> from hardness.upper import parse_learner
    >>> from instances import parse
    >>> found = distinguish(parse_learner("elimination"), parse("parity:d=12,m=3"), trials=20)
    >>> found.advantage, found.interval[0] > 0.2
    (1.0, True)
    """
    if not (2 <= trials <= _MAX_TRIALS and trials % 2 == 0):
        raise UsageError(f"{trials} trials given: an even number from 2 to {_MAX_TRIALS}")
    if not (0 < confidence < 1 and 0 < alarm < 1):
        raise UsageError(f"confidence {confidence}, alarm {alarm} given: both between 0 and 1")
    if heldout < 100 or jobs < 1:
        raise UsageError(f"{heldout} held-out examples, {jobs} jobs given: at least 100 and 1")
    coded = require_playable(learner, family)
    budget = budget or Budget(seconds=60)
    tasks = [
        Task(
            learner=learner,
            family=coded,
            world=world,
            seed=trial_seed(seed, family, world, trial),
            budget=budget,
            heldout=heldout,
            alarm=alarm,
        )
        for trial in range(trials // 2)
        for world in WORLDS
    ]
    plays: list[Play | None] = [None] * trials
    for index, found in execute(play, tasks, jobs):
        plays[index] = found
        progress(1)
    return Distinction(
        spec=family.spec,
        learner=learner_spec(learner),
        seed=seed,
        plays=tuple(p for p in plays if p is not None),
        confidence=confidence,
        alarm=alarm,
        heldout=heldout,
    )


def require_playable(learner: Learner, family: Family) -> Coded:
    """Refuse a learner or a family that no trial can be played with; raises ToolkitError."""
    if learner.access == "queries":
        raise UsageError(f"{learner.name} asks statistical queries: coins give examples only")
    require_support(learner, family)
    reason = no_coins(family)
    if reason:
        raise ToolkitError(reason)
    return CODED.need(family)


@dataclass(frozen=True, kw_only=True)
class Task:
    """All that a trial depends on."""

    learner: Learner
    family: Coded
    world: World
    seed: int
    budget: Budget
    heldout: int
    alarm: float


def trial_seed(seed: int, family: Family, world: World, trial: int) -> int:
    """Return the seed of a trial's instance, or of its coins, and of the learner's own coins."""
    return int(generator(seed, "distinguish", family.spec, world, trial).integers(2**62))


def play(task: Task) -> Play:
    """Let the learner learn in the task's world, and test what it found on further examples."""
    family, seed = task.family, task.seed
    source: Instance | Uniform
    source = family.instance(seed) if task.world == "real" else Uniform(family=family, seed=seed)
    hypothesis, usage = attempt(task.learner, ExampleOracle(source, Meter(task.budget)), seed)
    outcome = hypothesis.outcome
    try:
        found = score(hypothesis.predict, source, task.heldout)
    except Failed as failed:
        found, outcome = score(family.known, source, task.heldout), failed.outcome
    finally:
        hypothesis.close()
    return Play(
        world=task.world,
        accepted=found.value > threshold(task.alarm),
        score=found,
        outcome=outcome.value if outcome else None,
        usage=usage,
    )


def score(predict: Predict, source: Instance | Uniform, count: int) -> Score:
    """Test predictions on `count` held-out examples of a source; invalid ones count as none."""
    family = CODED.need(source.family)
    known, labels, given = [], [], []
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    for start in range(0, count, batch):
        drawn = as_coded(source.examples(start, min(batch, count - start), axis="heldout"))
        rows = family.open(drawn.words)
        known.append(family.expected(drawn.words[rows]))
        labels.append(family.factors[drawn.codes[rows]])
        given.append(_factors(family, predict, drawn.x, rows, known[-1]))
    k, y, h = (np.concatenate(each) for each in (known, labels, given))
    v, u = y - k, h - k
    low, high = (float(end(family.factors)) for end in (np.min, np.max))
    half = (high - low) / 2
    length = math.sqrt(float(u @ u))
    sign, guess = (y - low) / half - 1, (h - low) / half - 1
    two = len(family.factors) == 2
    return Score(
        value=float(v @ u) / (half * length) if length else 0.0,
        tested=len(y),
        loss=float(((v - u) ** 2).sum() / (v**2).sum()),
        agreement=float((sign * guess).mean()) if two else None,
        bit_loss=float(((sign - guess) ** 2).mean()) if two else None,
    )


def _factors(
    family: Coded, predict: Predict, x: NDArray[Any], rows: NDArray[np.bool_], known: Array
) -> Array:
    """Evaluate the clipped factor of predictions on open tokens, averaged over both rows: (n,)."""
    with np.errstate(all="ignore"):  # what overflows is not finite, and is refused here
        given = np.asarray(predict(x))
    valid = given.shape == x.shape and given.dtype.kind in "fiu" and bool(np.isfinite(given).all())
    if not valid:
        return known
    opened = x[rows]
    clipped = family.clip(opened, given[rows].astype(np.float64))
    return np.asarray((opened[:, :, 0] * clipped[:, :, 0]).mean(axis=1))
