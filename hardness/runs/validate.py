"""Checks of runs that were stored: of what cannot be, on their instances and as risks are measured.

Costs, and the risk of one learner or another, are their author's word: run the learner again on the
same seed to check them.
"""

from hardness.runs.risk import CONFIDENCE, possible
from hardness.runs.run import Run
from instances.spec import parse_stored


def inconsistency(run: Run) -> str | None:
    """Say why a run on the instance of its seed cannot have been; None where it can.

    >>> from dataclasses import replace
    >>> from hardness.runs.run import run
    >>> from hardness.oracles import Budget
    >>> from hardness.upper import parse_learner
    >>> from instances import parse
    >>> one = run(parse_learner("elimination"), parse("parity:d=8,m=2").instance(0), Budget())
    >>> inconsistency(one), inconsistency(replace(one, secret_recovered=False))
    (None, 'it claims a secret that is that of its seed, and says that it is not')
    """
    for name in ("examples", "queries", "values"):
        most = getattr(run.budget, name)
        if most is not None and getattr(run.usage, name) > most:
            return f"a run took more {name} than its budget of {most}"
    if run.risk:
        if run.risk.confidence != CONFIDENCE:
            return f"a risk is known with confidence {run.risk.confidence}, not {CONFIDENCE}"
        if not possible(parse_stored(run.spec), run.risk):
            return (
                f"a risk of {run.risk.value:.3g} in [{run.risk.low:.3g}, {run.risk.high:.3g}] "
                f"by {run.risk.examples} examples is not possible"
            )
    return _recovery(run)


def _recovery(run: Run) -> str | None:
    """Hold a claimed secret against that of the seed."""
    claimed = run.details.get("claimed_secret")
    if claimed is None or run.secret_recovered is None:
        both = claimed is None and run.secret_recovered is None
        return None if both else "a secret was recovered and not claimed, or claimed and not judged"
    if type(claimed) is not list or any(type(part) is not int for part in claimed):
        return "a claimed secret is no list of integers"
    family = parse_stored(run.spec)
    right = family.same(tuple(claimed), family.instance(run.seed).hidden.secret)
    if right is not run.secret_recovered:
        which = "that" if right else "not that"
        return f"it claims a secret that is {which} of its seed, and says that it is" + (
            " not" if right else ""
        )
    return None
