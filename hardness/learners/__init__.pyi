from .learner import (
    Failed as Failed,
    Hypothesis as Hypothesis,
    Learner as Learner,
    Outcome as Outcome,
    learner_spec as learner_spec,
    member as member,
    nothing as nothing,
)
