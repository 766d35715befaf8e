"""Learning curves about thresholds: the risk of all instances within fixed budgets.

Runs of a search are none of these: where they stopped was chosen by how they ended, so a median of
their risks would be biased. The budgets here follow from the median threshold alone.
"""

from collections.abc import Callable
from dataclasses import replace

from hardness.runs.least import Least, Point
from hardness.runs.planned import Do, Planned, here
from instances.errors import ToolkitError


def with_curve(
    found: Least, do: Do = here, progress: Callable[[int], None] = lambda done: None
) -> Least:
    """Run every learner on all instances of every size within each of the budgets, from anew.

    Raises ToolkitError where a run could not be done.

    >>> from hardness.runs.least import least
    >>> made = with_curve(least("parity:d=6,m=2", None, ("elimination",), seeds=6))
    >>> [(one.n, len(one.risks)) for one in made.curve][-1]
    (308, 6)
    """
    places = [(cell, n) for cell in found.cells for n in cell.around]
    tasks = [
        Planned(
            spec=cell.spec,
            learner=cell.learner,
            seed=seed,
            budget=replace(found.budget, **{found.unit: n}),
            tau=found.tau,
        )
        for cell, n in places
        for seed in range(found.seed, found.seed + found.seeds)
    ]
    done = {}
    for index, one in do(tasks):
        if isinstance(one, ToolkitError):
            raise one
        done[index] = one
        progress(1)
    points = []
    for i, (cell, n) in enumerate(places):
        runs = [done[i * found.seeds + k] for k in range(found.seeds)]
        risks = tuple(run.risk.value if run.risk else None for run in runs)
        passed = sum(run.passed for run in runs)
        points.append(Point(spec=cell.spec, learner=cell.learner, n=n, risks=risks, passed=passed))
    return found.updated(curve=tuple(points))
