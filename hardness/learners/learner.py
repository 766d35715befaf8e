"""The protocol of learners: their oracle, the hypothesis they return, and outcomes of runs."""

from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Resource
from instances.family import Family, Secret
from instances.layer import AttentionLayer
from instances.parameters import canonical, require_declared

Access = Literal["examples", "queries", "values", "either"]  # either: it chooses while it runs
# What a learner sees (see runs/registry.py); "examples": a learner from a file chooses its view.
View = Literal["tokens", "z", "queries", "values", "examples", "nothing"]
Predict = Callable[[NDArray[Any]], NDArray[np.float64]]


class Outcome(Enum):
    """How a run ended; `advice` says what to do, and `details["reason"]` the reason if known."""

    SOLVED = "solved"
    UNIDENTIFIED = "function found, heads not identified"
    PARTIAL = "partial"
    LEARNED_NOTHING = "learned nothing"
    FITTED = "fitted"
    UNJUDGED = "not judged"
    NO_CLAIM = "no claim"
    STAGE_FAILED = "stage failed"
    EXAMPLES_SPENT = "examples spent"
    QUERIES_SPENT = "queries spent"
    VALUES_SPENT = "membership queries spent"
    SECONDS_SPENT = "seconds spent"
    MEMORY_SPENT = "memory spent"
    CRASHED = "crashed"
    INVALID = "invalid hypothesis"
    COULD_NOT_RUN = "could not run"

    @property
    def advice(self) -> str:
        """One sentence of advice."""
        return _ADVICE[self]


_ADVICE = {
    Outcome.SOLVED: "the whole interval of the risk lies below 0.05",
    Outcome.UNIDENTIFIED: "the whole interval of the risk lies below 0.05, but a head is missing "
    "or off by more than a quarter: other heads compute nearly the same labels, so use the layer "
    "as a function and read nothing from its heads",
    Outcome.PARTIAL: "the error is below that of the baseline: give more examples or time, or "
    "report it as partly learned within this budget",
    Outcome.LEARNED_NOTHING: "nothing better than knowing the family alone was shown: for "
    "statistical-query learners see the certificate, for others give more examples or a richer "
    "model",
    Outcome.FITTED: "the error on the held-out examples says how well, label noise included; of "
    "other layers it says nothing",
    Outcome.UNJUDGED: "no secret is known, so the risk is not known; what the samples "
    "say of a claimed secret stands beside the claim",
    Outcome.NO_CLAIM: "it ran to its end and names no secret: mend what the reason says, else give "
    "more examples (a larger samples= if it was set), another seed or a stronger learner",
    Outcome.STAGE_FAILED: "the learner could not go on: the details say which stage, why, and how "
    "many examples it needs if more would do",
    Outcome.EXAMPLES_SPENT: "no examples are left: raise --budget-examples, give a folder with "
    "more samples, or report it as not learned within it",
    Outcome.QUERIES_SPENT: "the query budget is spent: raise --budget-queries, or report it as "
    "not learned within it",
    Outcome.VALUES_SPENT: "the next membership queries are more than the budget has left: raise "
    "--budget-values, or report it as not learned within it",
    Outcome.SECONDS_SPENT: "the time budget is spent: raise --budget-seconds, or --budget-cpu if "
    "the reason names it, or report it as not learned within it",
    Outcome.MEMORY_SPENT: "the learner took more memory than it may: raise --budget-memory, or "
    "report it as not learned within it",
    Outcome.CRASHED: "it ended before it gave a hypothesis or its predictions: the reason says "
    "how; mend the learner, or run it again if the machine ended it",
    Outcome.INVALID: "the hypothesis is not a function of tokens with finite values of the right "
    "shape: mend the learner, and toss all coins while learning",
    Outcome.COULD_NOT_RUN: "nothing was run: the reason says what is missing here, or what the "
    "learner does not take",
}


DIVERGED = "training left the range of float64: lower the rate"
SPENT: dict[Resource, Outcome] = {n: Outcome[f"{n.upper()}_SPENT"] for n in get_args(Resource)}


class Failed(Exception):
    """A learner or a hypothesis failed: `outcome` says how, `details` has the particulars."""

    def __init__(self, outcome: Outcome, details: dict[str, Any]) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome
        self.details = details

    def __reduce__(self) -> tuple[Any, ...]:
        return Failed, (self.outcome, self.details)


@dataclass(frozen=True, kw_only=True, eq=False)
class Hypothesis:
    """What a learner returns.

    predict: maps tokens (n, k, d) to labels (n, k, d); may raise Failed. secret: the claimed
    member. outcome: why the learner stopped; None if it finished. details: numbers to keep. layer:
    the attention layer that was found, if any. model: the trained torch module, or its weights by
    name for a learner from a file. close: frees the resources of `predict` after the run is judged,
    and returns further details.
    """

    predict: Predict
    secret: Secret | None = None
    outcome: Outcome | None = None
    details: dict[str, Any] = field(default_factory=dict)
    layer: AttentionLayer | None = None
    model: Any = None
    close: Callable[[], dict[str, Any]] = dict


class Learner(Protocol):
    """A learner: a frozen dataclass whose fields are its parameters.

    Built-in learners that use examples state their input in `view`: "tokens" or "z". A learner that
    computes for long between draws, queries and values has `computes_long = True` and runs in a
    child process. It may call `oracle.meter.offer(hypothesis)` at any time: the last offer becomes
    the run's hypothesis if a budget is spent before the learner ends.
    """

    revision: ClassVar[int]  # raised when the output changes
    about: ClassVar[str]

    @property
    def access(self) -> Access:
        """The kind of oracle that it needs; a ClassVar of built-in learners."""

    @property
    def name(self) -> str:
        """The name of the learner; a ClassVar of built-in learners."""

    def supports(self, family: Family) -> str | None:
        """Return None, or the reason why the learner cannot run on the family."""

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Learn from an oracle of the kind that `access` states."""


class BuiltIn:
    """The base of built-in learners: frozen dataclasses that declare their parameters.

    By default they learn from examples, support every family, and do not compute for long.
    """

    revision: ClassVar[int] = 1
    access: ClassVar[Access] = "examples"
    computes_long: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_declared(self)

    def supports(self, family: Family) -> str | None:
        """Return None, or the reason why it cannot run on a family."""
        return None


def no_softmax_heads(family: Family, name: str, heads: int) -> str | None:
    """Return why a learner cannot fit softmax heads (heads=0: as the layers have); else None."""
    if family.kind == "linear":
        return "it fits softmax attention; `lifted` learns linear attention"
    if not (heads or family.layer_heads):
        return f"nobody knows how many heads to fit: say {name}:heads=2, or another number"
    return None


def innermost(learner: Any) -> Any:
    """Return the learner that a decoder wraps, or the learner itself."""
    while getattr(learner, "name", "") == "decode":
        learner = learner.learner
    return learner


def learner_spec(learner: Learner) -> str:
    """Write a learner's canonical spec, with all parameters sorted; a plug-in's as given."""
    given: str | None = getattr(learner, "spec", None)
    if given or not is_dataclass(learner):
        return given or str(learner.name)
    return canonical(learner, learner.name)


def member(
    family: Family, secret: Secret, outcome: Outcome | None = None, **details: Any
) -> Hypothesis:
    """Build the hypothesis that the instance is the member of a secret."""
    predict = partial(family.mean, secret)
    return Hypothesis(predict=predict, secret=secret, outcome=outcome, details=details)


def nothing(family: Family, outcome: Outcome | None = None, **details: Any) -> Hypothesis:
    """Build the baseline: a prediction from the family alone."""
    return Hypothesis(predict=family.known, outcome=outcome, details=details)


def ended_early(oracle: Any, outcome: Outcome, **details: Any) -> Hypothesis:
    """Build the hypothesis of a run that ended early: the last offer, else the baseline."""
    offered: Hypothesis | None = oracle.meter.offered
    if offered is None or outcome not in (*SPENT.values(), Outcome.MEMORY_SPENT):
        return nothing(oracle.family, outcome, **details)
    return replace(offered, outcome=outcome, details=offered.details | details)
