"""The learner protocol: what a learner gets, what it gives back, and what it ended with."""

from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Resource
from instances.family import Family, Secret
from instances.layer import AttentionLayer
from instances.parameters import canonical

Access = Literal["examples", "queries", "values", "either"]  # either: it chooses as it runs
# What a learner sees, as runs/classes.py says; "examples": one from a file chooses how it looks.
View = Literal["tokens", "z", "queries", "values", "examples", "nothing"]
Predict = Callable[[NDArray[Any]], NDArray[np.float64]]


class Outcome(Enum):
    """What a run ended with; `advice` tells the user what to do about it."""

    SOLVED = "solved"
    UNIDENTIFIED = "function found, heads not identified"
    PARTIAL = "partial"
    LEARNED_NOTHING = "learned nothing"
    EXAMPLES_SPENT = "examples spent"
    QUERIES_SPENT = "queries spent"
    VALUES_SPENT = "values spent"
    SECONDS_SPENT = "seconds spent"
    NOISY = "labels are noisy"
    TOLERANCE = "tolerance too large"
    INCONSISTENT = "answers fit no member"
    NOT_FOUND = "no secret found"
    AMBIGUOUS = "several secrets fit"
    DEGENERATE = "a stage failed"
    DIVERGED = "diverged"
    INVALID = "invalid hypothesis"
    RANDOMISED = "randomised predictions"
    FITTED = "fitted"
    UNJUDGED = "not judged"
    UNSUPPORTED = "not supported"
    NOT_LOADED = "not loaded"
    RAISED = "raised"
    EXITED = "exited"
    CRASHED = "crashed"
    BROKE_OFF = "broke off"
    CPU_SPENT = "cpu seconds spent"
    MEMORY_SPENT = "memory spent"
    OVERDUE = "overdue"
    REFUSED = "could not run"

    @property
    def advice(self) -> str:
        """One sentence of advice."""
        return _ADVICE[self]


_ADVICE = {
    Outcome.SOLVED: "the whole interval of the risk lies below 0.05",
    Outcome.UNIDENTIFIED: "the whole interval of the risk lies below 0.05, but a head is missing "
    "or off by more than a quarter: other heads compute nearly the same labels, so use the layer "
    "as a function and read nothing from its heads",
    Outcome.PARTIAL: "something was learned: give more examples or time, or report it as "
    "partly learned within this budget",
    Outcome.LEARNED_NOTHING: "nothing better than knowing the family alone was shown: for "
    "statistical-query learners see the certificate, for others give more examples or a richer "
    "model",
    Outcome.EXAMPLES_SPENT: "no examples are left: raise --budget-examples, give a folder with "
    "more samples, or report it as not learned within it",
    Outcome.QUERIES_SPENT: "the query budget is spent: raise --budget-queries, or report it as "
    "not learned within it",
    Outcome.VALUES_SPENT: "the next membership queries are more than the budget has left: raise "
    "--budget-values, or report it as not learned within it",
    Outcome.SECONDS_SPENT: "the time budget is spent: raise --budget-seconds, or report it as "
    "not learned within it",
    Outcome.NOISY: "the labels fit no member: elimination needs labels without noise, try "
    "`queries` where the family is small",
    Outcome.TOLERANCE: "answers within the tolerance may hide every member, as bounds say: a "
    "learner needs a lower --tau",
    Outcome.INCONSISTENT: "every member is further than tau from some answer: sampled answers fail "
    "once in a million or so, try another seed; else the oracle is broken",
    Outcome.NOT_FOUND: "no secret was met that the samples confirm: the labels may be no member's; "
    "else give more samples, another seed or a stronger attack",
    Outcome.AMBIGUOUS: "several secrets fit, since columns of A depend on each other or too few "
    "samples are independent: only entries in which those that were tried agree are claimed; give "
    "more samples",
    Outcome.DEGENERATE: "a stage found nothing to hold on to: the details say which, why, and how "
    "many examples it needs if more would do",
    Outcome.DIVERGED: "training left the range of float64, so its risk is that of knowing the "
    "family alone: lower the rate",
    Outcome.INVALID: "the hypothesis gave values that are not finite or of the wrong shape: mend "
    "the learner",
    Outcome.RANDOMISED: "the same tokens got other labels when they were asked for again, in other "
    "batches: toss all coins while learning, or predict the mean over them, whose risk is never "
    "larger",
    Outcome.FITTED: "the error on the held-out examples says how well, label noise included; of "
    "other layers it says nothing",
    Outcome.UNJUDGED: "the folder has no secret part, so the risk is not known; what its samples "
    "say of a claimed secret stands beside the claim",
    Outcome.UNSUPPORTED: "the learner does not take this family, or asked for what this oracle "
    "does not give: the details say why",
    Outcome.NOT_LOADED: "the learner's file or class could not be loaded: the details say why, "
    "`hardness learners check` says more",
    Outcome.RAISED: "the learner raised an exception, or ran out of what the system gives: the "
    "details name it and its line",
    Outcome.EXITED: "the learner ended its own process before it gave a hypothesis: return one",
    Outcome.CRASHED: "a signal ended the learner's process: compiled code in it is broken, or it "
    "was killed from outside; the details name the signal",
    Outcome.BROKE_OFF: "the learner's process closed its connection, or wrote into it: it must "
    "leave descriptors alone that it did not open",
    Outcome.CPU_SPENT: "the processor time is spent: raise --budget-cpu, or report it as not "
    "learned within it",
    Outcome.MEMORY_SPENT: "the learner took more memory than it may: raise --budget-memory, or "
    "report it as not learned within it",
    Outcome.OVERDUE: "the run was ended from outside at its hard limit of seconds: give it a "
    "budget of seconds, or a larger limit",
    Outcome.REFUSED: "the run could not be done here: the details say why, often that it does not "
    "fit in memory",
}


SPENT: dict[Resource, Outcome] = {
    "examples": Outcome.EXAMPLES_SPENT,
    "queries": Outcome.QUERIES_SPENT,
    "values": Outcome.VALUES_SPENT,
    "seconds": Outcome.SECONDS_SPENT,
}


class Failed(Exception):
    """A hypothesis could not be evaluated: `outcome` says what happened, `details` more of it."""

    def __init__(self, outcome: Outcome, details: dict[str, Any]) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome
        self.details = details


@dataclass(frozen=True, kw_only=True, eq=False)
class Hypothesis:
    """What a learner gives back.

    predict: (n, k, d) tokens -> (n, k, d) labels; may raise Failed. secret: the member it claims.
    outcome: why it stopped, None where it ran to its end. details: numbers worth keeping. layer:
    the one found, of a learner that finds layers. close: lets go of what predict needs when all is
    measured, and returns further details.
    """

    predict: Predict
    secret: Secret | None = None
    outcome: Outcome | None = None
    details: dict[str, Any] = field(default_factory=dict)
    layer: AttentionLayer | None = None
    close: Callable[[], dict[str, Any]] = dict


class Learner(Protocol):
    """A learner: a frozen dataclass whose fields are its parameters.

    Those built in that learn from examples say in `view` what they see of them: "tokens" or "z".
    A learner that computes for long between draws, queries and values has `computes_long = True`
    and runs in a child process. When it has something better than nothing it calls
    `oracle.meter.offer(hypothesis)`: the run's hypothesis, if a budget is spent before it ends.
    """

    revision: ClassVar[int]  # raised when the output changes
    about: ClassVar[str]

    @property
    def access(self) -> Access:
        """What it gets; a ClassVar of the learners here."""

    @property
    def name(self) -> str:
        """What it is called; a ClassVar of the learners here."""

    def supports(self, family: Family) -> str | None:
        """Return None, or the reason why the learner cannot run on the family."""

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Learn from an oracle of examples, queries, values or all of them, as `access` says."""


def innermost(learner: Any) -> Any:
    """Give the learner that a decoder asks, or the learner itself."""
    while getattr(learner, "name", "") == "decode":
        learner = learner.of
    return learner


def learner_spec(learner: Learner) -> str:
    """Write a learner's canonical name: parameters filled in, sorted; a plug-in's as given."""
    named: str | None = getattr(learner, "spec", None)
    if named or not is_dataclass(learner):
        return named or str(learner.name)
    return canonical(learner, learner.name)


def member(
    family: Family, secret: Secret, outcome: Outcome | None = None, **details: Any
) -> Hypothesis:
    """Build the hypothesis that the instance is a certain member."""
    return Hypothesis(
        predict=lambda x: family.mean(secret, x), secret=secret, outcome=outcome, details=details
    )


def nothing(family: Family, outcome: Outcome | None = None, **details: Any) -> Hypothesis:
    """Build the baseline: the best hypothesis from the family alone."""
    return Hypothesis(predict=family.known, outcome=outcome, details=details)
