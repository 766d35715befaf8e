from .learner import (
    Failed as Failed,
    Hypothesis as Hypothesis,
    Learner as Learner,
    Outcome as Outcome,
    learner_spec as learner_spec,
    member as member,
    nothing as nothing,
)
from .registry import (
    ATTACKS as ATTACKS,
    LAYERED as LAYERED,
    LEARNERS as LEARNERS,
    fresh_learner as fresh_learner,
    parse_learner as parse_learner,
)
