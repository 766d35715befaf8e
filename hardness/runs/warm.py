"""Getting a process ready to be measured."""

from contextlib import suppress

from hardness.oracles import Budget
from hardness.runs.run import learn_once
from hardness.upper import parse_learner
from hardness.upper.isolated import Foreign
from instances.errors import ToolkitError
from instances.spec import parse_stored


def warm(spec: str, learners: tuple[str, ...]) -> None:
    """Load and compile what learners need, so that the first of their times holds none of it.

    Each learns for a second at most on an instance that is not measured. Those from files start a
    process for each run, and need it not.
    """
    for name in learners:
        learner = parse_learner(name)
        if not isinstance(learner, Foreign):
            with suppress(ToolkitError, MemoryError):  # the run that is measured says it
                learn_once(learner, parse_stored(spec).instance(0), Budget(seconds=1.0))
