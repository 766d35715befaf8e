"""The climbs of a store as a stress test: what was written of them, and the runs of every rung."""

from collections.abc import Iterable, Sequence
from typing import Any

from hardness.lower import Certificate
from hardness.oracles import Budget
from hardness.runs.certified import Certifier
from hardness.runs.rows import FigureRow
from hardness.runs.run import Run
from hardness.runs.stress import (
    TERMS,
    Climb,
    RungBounds,
    Stress,
    Trials,
    instance_seeds,
    rung_bounds,
)
from instances.errors import DamagedFile, ToolkitError
from instances.ladders import ladder_of

Data = dict[str, Any]


def climbs(figure: FigureRow, rows: Iterable[Run], certifier: Certifier) -> Stress:
    """Give the climbs of a store as a stress test; raises DamagedFile where runs are missing.

    The runs of a rung are those with its seeds; what was written of them must follow from them.
    """
    try:
        return _stress(figure.data, rows, certifier)
    except (LookupError, TypeError, ValueError, AttributeError, ToolkitError) as error:
        raise DamagedFile(
            f"{figure.name[:100]} is damaged: {type(error).__name__} {' '.join(str(error).split())}"
        ) from error


def _stress(data: Data, rows: Iterable[Run], certifier: Certifier) -> Stress:
    ladder = ladder_of([str(spec) for spec in data["rungs"]])
    asked = {one["learner"] for one in data["climbs"]}
    found: dict[tuple[str, str, int], list[Run]] = {}
    for row in rows:
        if row.learner in asked:
            found.setdefault((row.learner, row.spec, row.seed), []).append(row)
    climbs = [_climb(one, found, data["base_seed"], data["seeds"]) for one in data["climbs"]]
    every = {trials.budget for climb in climbs for trials in climb.rungs}
    return Stress(
        ladder=ladder,
        climbs=tuple(climbs),
        certified=tuple(_certified(str(spec), certifier) for spec in data["rungs"]),
        seeds=data["seeds"],
        base_seed=data["base_seed"],
        drawn=False,
        budget=every.pop() if len(every) == 1 else Budget(),  # no limit where rungs differ
        finished=True,
    )


def _climb(one: Data, found: dict[tuple[str, str, int], list[Run]], base: int, seeds: int) -> Climb:
    rungs = []
    for said in one["rungs"]:
        spec, passes = said["spec"], said["passes"]
        keys = [(one["learner"], spec, seed) for seed in instance_seeds(base, spec, seeds)]
        budgets = [[row.budget for row in found[key]] for key in keys]
        common = [b for b in budgets[0] if all(b in other for other in budgets)]
        every = [_trials(spec, budget, keys, found) for budget in common]
        fitting = [trials for trials in every if trials.passes == passes]
        if not fitting:
            raise ValueError(f"its {passes} passes on {spec} are not of its runs")
        rungs.append(fitting[0])
    return Climb(
        learner=one["learner"],
        asked=one["asked"],
        reference=one["reference"] is True,
        rungs=tuple(rungs),
        unsupported=one["unsupported"],
    )


def _trials(
    spec: str,
    budget: Budget,
    keys: Sequence[tuple[str, str, int]],
    found: dict[tuple[str, str, int], list[Run]],
) -> Trials:
    runs = [next(row for row in found[key] if row.budget == budget) for key in keys]
    return Trials(spec=spec, budget=budget, trials=tuple(runs))


def _certified(spec: str, certifier: Certifier) -> RungBounds:
    made = certifier.one(spec, TERMS)
    if not isinstance(made, Certificate):
        return RungBounds(spec=spec, evidence="none", why=made)
    return rung_bounds(spec, made, "")
