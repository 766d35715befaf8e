"""What users bring: an instance of a layer on tokens of a law, both given; a run on examples.

Such a run is judged on what was held out.
"""

import hashlib
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from hardness.oracles import Budget
from hardness.runs.names import short
from hardness.runs.risk import SOLVED_BELOW
from hardness.runs.run import Run, judged, learn_once
from hardness.upper import Learner, Outcome
from instances.arguments import located
from instances.errors import UsageError
from instances.family import Instance
from instances.files import load_layer
from instances.layer import AttentionLayer
from instances.owndata import Split
from instances.teacher import teach

_TOKENS = 2  # of an example


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
    >>> from hardness.upper import parse_learner
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
    >>> found.outcome.value, found.held_out_error.value < 1e-12
    ('fitted', True)
    """
    hypothesis, usage = learn_once(learner, data, budget, seed)
    if hypothesis.outcome is Outcome.EXAMPLES_SPENT and usage.examples == len(data.held):
        failed = Outcome.DEGENERATE if hypothesis.details.get("failed") else None
        hypothesis = replace(hypothesis, outcome=failed)
    how: dict[str, Any] = {"data": data.to_dict()}
    return judged(learner, data.family, seed, budget, hypothesis, usage, None, how, data.hold_out)
