"""What users bring: an instance of a layer on tokens of a law, both given; a run on examples.

Such a run is judged on what was held out, beside baselines that saw the same examples.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hardness.oracles import Budget
from hardness.runs.misfit import measure_misfit
from hardness.runs.names import short
from hardness.runs.risk import SOLVED_BELOW
from hardness.runs.run import Run, judged, learn_once
from hardness.upper import Failed, Learner, Outcome, learner_spec, parse_learner
from hardness.upper.lifted import Cubic
from instances.arguments import located
from instances.errors import ToolkitError, UsageError
from instances.family import Instance
from instances.files import load_layer
from instances.layer import AttentionLayer
from instances.owndata import Split
from instances.teacher import teach

_TOKENS = 2  # of an example
_WORK = 1e11  # operations of a least-squares baseline: some five seconds


def taught(
    teacher: AttentionLayer | str | PathLike[str],
    tokens: str = "gaussian",
    k: int | None = None,
    noise: Fraction = Fraction(0),
    seed: int = 0,
) -> tuple[Instance, dict[str, Any]]:
    """Make an instance of a given layer, and the details of a run on it; raises ToolkitError.

    teacher: a layer, or the file of one. k: tokens of an example, 2 by default.

    >>> import numpy as np
    >>> made = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> instance, details = taught(made)
    >>> instance.family.k, details["teacher"]["tokens"]
    (2, 'gaussian')
    """
    layer, source = teacher, "an AttentionLayer"
    if isinstance(layer, str | PathLike):
        path = Path(located("teacher", layer))
        if not path.exists():
            raise UsageError(f"{path} given: there is no such file")
        layer, source = load_layer(path), str(path)
    if not isinstance(layer, AttentionLayer):
        raise UsageError(
            f"{type(layer).__name__} given: the file of a layer or an AttentionLayer is needed; "
            "AttentionLayer.from_torch(module) and .from_qkvo(q, k, v, o) make one"
        )
    instance = teach(layer, tokens, k or _TOKENS, noise, seed)
    return instance, {
        "teacher": {
            "source": source,
            "sha256": hashlib.sha256(layer.theta.tobytes() + layer.w.tobytes()).hexdigest(),
            "tokens": instance.family.token_text,
        }
    }


def verdict(found: Run, instance: Instance) -> dict[str, Any]:
    """Say what a run found of the layer that taught it.

    Heads are found where the whole interval of the risk lies below 0.05 and each Theta_i and W_i
    is within the tolerance, relative to its norm, of one that was found, in any order. Q_i, K_i,
    V_i and O_i are known by their products alone.

    >>> from hardness.runs import run
    >>> from instances import parse
    >>> instance, _ = taught(parse("nice:m=1,k=2,d=4").instance(0).layer())
    >>> verdict(run(parse_learner("levenberg"), instance, Budget()), instance)["found"]
    'heads found'
    """
    from hardness.upper.matching import OFF  # which loads scipy

    truth = found.details.get("truth")
    errors = [*truth["theta_errors"], *truth["w_errors"]] if truth else []
    alone, worst = errors.count(None) // 2, max((e for e in errors if e is not None), default=0.0)
    said = ""
    if not found.passed:
        said = f"the risk is not shown to be below {SOLVED_BELOW}"
    elif not truth:
        said = f"{short(found.learner)} gives no heads, or too many to compare"
    elif alone or worst > OFF:
        said = (
            f"{alone} of them have no partner" if alone else f"one is {worst:.2g} of its norm off"
        )
    ends = ("heads found", Outcome.UNIDENTIFIED.value, "neither")
    end = ends[bool(said) + (not found.passed)]
    return {"found": end, "because": said, "tolerance": OFF}


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
