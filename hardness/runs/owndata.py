"""One run on data of a user, judged on what was held out, beside baselines that saw the same."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hardness.oracles import Budget
from hardness.runs.misfit import measure_misfit
from hardness.runs.run import Run, judged, learn_once
from hardness.upper import Failed, Learner, Outcome, learner_spec, parse_learner
from hardness.upper.features import Cubic
from instances.errors import ToolkitError
from instances.owndata import Split

_WORK = 1e11  # operations of a least-squares baseline: some five seconds


def run_on_data(learner: Learner, data: Split, budget: Budget, seed: int = 0) -> Run:
    """Run a learner on the part of the data that is not held out; raises ToolkitError.

    What it found is measured on the rest. A learner that took all examples there were is judged by
    what it found; where a stage of it failed, the outcome says so.

    >>> from hardness.upper import parse_learner
    >>> from instances import parse
    >>> from instances.owndata import split
    >>> drawn = parse("nice:m=1,k=2,d=4").instance(0).examples(0, 1000)
    >>> found = run_on_data(parse_learner("staged"), split(drawn.x, drawn.y), Budget())
    >>> found.outcome.value, found.misfit.value < 1e-12
    ('fitted', True)
    """
    hypothesis, usage = learn_once(learner, data, budget, seed)
    if hypothesis.outcome is Outcome.EXAMPLES_SPENT and usage.examples == len(data.held):
        failed = Outcome.DEGENERATE if hypothesis.details.get("failed") else None
        hypothesis = replace(hypothesis, outcome=failed)
    how: dict[str, Any] = {"data": data.to_dict()}
    found = judged(learner, data.family, seed, budget, hypothesis, usage, None, how, data.hold_out)
    if found.misfit is None:
        return found
    baselines = list(_baselines(data, budget, seed))
    return found.updated(details=found.details | {"baselines": baselines})


def _baselines(data: Split, budget: Budget, seed: int) -> Iterator[dict[str, Any]]:
    """Fit the mean label, the best linear map and cubic features, and judge them alike."""
    mean = data.held.y.mean(axis=0)
    found = measure_misfit(data.hold_out, lambda x: np.broadcast_to(mean, x.shape), seed)
    yield {"name": "mean label", "examples": len(data.held), "misfit": found and found.to_dict()}
    family, n = data.family, len(data.held)
    rows = -(-n * family.k // (2 * family.d))
    yield _fitted("linear map", f"linear:oversample={rows}", data, budget, seed)
    # The features of linear attention, where there are enough examples to tell them apart.
    features = Cubic(k=family.k, d=family.d)
    least = features.examples(family.token_text == "boolean")
    most = min(n, int(_WORK / (2 * family.k * (features.count + family.d) ** 2)))
    if most >= least:
        name = f"lifted:features=cubic,oversample={min(most / least, 1e6):.12f}"
        yield _fitted("cubic features", name, data, budget, seed)
    else:
        why = f"{features.count} features need {least} examples"
        why += f": {n} are there" if n < least else ", which takes too long here"
        yield {"name": "cubic features", "misfit": None, "reason": why}


def _fitted(what: str, name: str, data: Split, budget: Budget, seed: int) -> dict[str, Any]:
    learner = parse_learner(name)
    found = {"name": what, "learner": learner_spec(learner), "misfit": None}
    try:
        if reason := learner.supports(data.family):
            return found | {"reason": reason}
        hypothesis, usage = learn_once(learner, data, Budget(seconds=budget.seconds), seed)
        if hypothesis.outcome is Outcome.SECONDS_SPENT:
            return found | {"reason": "the time budget was spent"}
        misfit = measure_misfit(data.hold_out, hypothesis.predict, seed)
    except (ToolkitError, Failed) as error:
        return found | {"reason": str(error)}
    return found | {"examples": usage.examples, "misfit": misfit and misfit.to_dict()}
