"""One run: a learner on an instance within a budget, and what came of it."""

import math
import platform
from fractions import Fraction
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import msgspec
import numpy as np
from msgspec import structs

from hardness.learners import Failed, Hypothesis, Learner, Outcome, learner_spec
from hardness.learners.learner import SPENT, View, ended_early
from hardness.learners.remote import learn_in_child
from hardness.oracles import (
    Budget,
    ChoiceOracle,
    ExactOracle,
    ExampleOracle,
    Meter,
    QueryOracle,
    SampledOracle,
    Spent,
    Usage,
)
from hardness.oracles.budget import restart_peak
from hardness.runs.columns import COUNTED, parameters_of, runs_frame
from hardness.runs.heldout import HeldOutError, measure_held_out
from hardness.runs.names import brief_spec, short
from hardness.runs.record import Record, json_of
from hardness.runs.registry import recorded_view
from hardness.runs.risk import SOLVED_BELOW, Judge, Risk, measure
from instances.dense import Dense
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family, Instance
from instances.files import Folder
from instances.layer import AttentionLayer
from instances.numbers import outward
from instances.result import TableRow
from instances.spec import file_of
from instances.streams import generator

if TYPE_CHECKING:
    from pandas import DataFrame

    from hardness.oracles import ValueOracle

OracleName = Literal["samples", "exact"]
Cost = Literal["queries", "examples", "values", "seconds"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "values", "seconds")
# What ended a run: a count of its budget, which is the same on every machine; seconds or memory,
# which are not; or the machine itself. The last is for a worker that died or met a hard limit, and
# for a run that did not fit.
LimitedBy = Literal["none", "examples", "queries", "values", "seconds", "memory", "machine"]
# A run may take this multiple of its seconds: the clock is read between draws only, and a child
# process gets time to return what it has.
OVERTIME = 1.25
_TRUTH_NUMBERS = 1 << 22  # most numbers in all Theta_i; their distances then take below a second
# The counts of a budget, each with the outcome of a run that used it up.
_COUNTED: dict[Literal["examples", "queries", "values"], Outcome] = {
    "examples": Outcome.EXAMPLES_SPENT,
    "queries": Outcome.QUERIES_SPENT,
    "values": Outcome.VALUES_SPENT,
}


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Share = Annotated[float, msgspec.Meta(ge=0)]


class Run(Record, frozen=True, kw_only=True):
    """What a learner did on an instance within a budget: one row of a table of runs.

    key: the key of its job, empty if there was none. risk: the relative risk, None if it was not
    measured, with the ends and the confidence of its interval and the number of examples.
    held_out_error: replaces the risk on your data. seconds: of learning. memory: the peak of the
    process, in bytes. layer: found by the learner, if it finds layers. model: the torch module that
    it trained. layer and model are not in the JSON, and missing if another process did the run.
    """

    key: str = ""
    spec: str
    learner: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    budget: Budget
    outcome: Outcome
    risk: _Share | None = None
    risk_low: _Share | None = None
    risk_high: _Share | None = None
    risk_confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    risk_examples: _Count | None = None
    risk_unclipped: float | None = None
    held_out_error: HeldOutError | None = None
    examples: _Count
    queries: _Count
    membership_queries: _Count = 0
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
    memory: _Count
    secret_recovered: bool | None = None
    details: dict[str, Any]
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str
    layer: AttentionLayer | None = None
    model: Any = None

    _unfiled: ClassVar[tuple[str, ...]] = ("layer", "model")

    def __post_init__(self) -> None:
        low, high = self.risk_low, self.risk_high
        if low is not None and high is None:  # JSON has no infinite numbers
            structs.force_setattr(self, "risk_high", high := math.inf)
        if self.risk is not None and (low is None or high is None or not low <= high):
            raise ValueError(f"a risk of {self.risk} in [{low}, {high}]")

    def __eq__(self, other: object) -> bool:
        """Compare all fields that are in the JSON, except the key."""
        return isinstance(other, Run) and all(
            getattr(self, name) == getattr(other, name)
            for name in self.__struct_fields__
            if name not in ("key", *self._unfiled)
        )

    @property
    def family(self) -> str:
        """The name of the family."""
        return self.spec.partition(":")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the spec, as numbers where they are numbers, else as texts."""
        return parameters_of(self.spec)

    @property
    def sandboxed(self) -> bool | None:
        """Whether a learner from a file ran in a sandbox; None for other learners."""
        process = self.details.get("process")
        return None if process is None else process != "not sandboxed"

    def used(self, resource: str) -> Any:
        """Return the use of a resource: examples, queries, values or seconds."""
        return self.membership_queries if resource == "values" else getattr(self, resource)

    @property
    def passed(self) -> bool:
        """Whether the whole 95 % interval of the relative risk lies below 0.05.

        This does not depend on the outcome, which may be that a budget was spent.
        """
        high = None if self.risk is None else self.risk_high
        return judged_by(high) is Outcome.SOLVED

    @property
    def began(self) -> bool:
        """Whether the learner ran at all, that is, could be loaded."""
        return self.outcome is not Outcome.COULD_NOT_RUN or self.details.get("stage") != "load"

    @property
    def advice(self) -> str:
        """One sentence of advice, which does not ask for a larger budget if the run passed."""
        if self.passed and self.outcome in SPENT.values():
            return f"the budget is spent, and {Outcome.SOLVED.advice}"
        return self.outcome.advice

    @property
    def late(self) -> bool:
        """Whether it took over 1.25 times its seconds.

        For learners from files the seconds of predictions count too, since they could learn then.
        """
        predicting, most = self.details.get("predict_seconds", 0.0), self.budget.seconds
        if not isinstance(predicting, int | float) or not predicting >= 0:
            return True
        return most is not None and self.seconds + predicting > OVERTIME * most

    @property
    def view(self) -> View:
        """What its learner saw of the problem."""
        queried, chose = bool(self.queries), bool(self.membership_queries)
        details = self.details.get("reported", self.details)  # by a learner in a child process
        arrays = details.get("view") if isinstance(details, dict) else None
        return recorded_view(self.learner, self.spec, queried, chose, str(arrays))

    @property
    def solved(self) -> bool:
        """Whether it passed in time, and was not ended by the machine."""
        return self.passed and not self.late and self.limited_by != "machine"

    @property
    def limited_by(self) -> LimitedBy:
        """What ended it: a part of its budget, the machine, or "none" if it ended by itself.

        If several limits were reached, seconds and memory come first.

        >>> from hardness.runs.registry import parse_learner
        >>> from instances import parse
        >>> instance = parse("parity:d=16,m=3").instance(0)
        >>> run(parse_learner("lowdegree"), instance, Budget(examples=50)).limited_by
        'examples'
        """
        budget, outcome = self.budget, self.outcome
        if outcome is Outcome.COULD_NOT_RUN:  # with a stage, the learner itself refused
            return "none" if "stage" in self.details else "machine"
        if outcome is Outcome.CRASHED:  # an exception or an exit is the learner's own end
            return "none" if self.details.keys() & {"type", "exit_code"} else "machine"
        if outcome is Outcome.SECONDS_SPENT or (
            budget.seconds is not None and self.seconds > budget.seconds
        ):
            return "seconds"
        if outcome is Outcome.MEMORY_SPENT:
            return "machine" if budget.memory_bytes is None else "memory"
        for name, spent in _COUNTED.items():
            most = getattr(budget, name)
            if outcome is spent or (most is not None and self.used(name) >= most):
                return name
        return "none"

    @property
    def reproducible(self) -> bool:
        """Whether it ends the same on every machine, except for times and memory."""
        return self.limited_by in COUNTED

    def _rows(self) -> list[TableRow]:
        column, value, low, high = "risk", self.risk, self.risk_low, self.risk_high
        if error := self.held_out_error:
            column, value, low, high = "held-out error", error.value, error.low, error.high
        interval = None if low is None or high is None else f"[{outward(low, high, '.3g')}]"
        named = {"learner": short(self.learner), "spec": brief_spec(self.spec), "seed": self.seed}
        costs = {n: self.used(n) for n in ("examples", "queries", "values", "seconds")}
        measured = {column: value, "95 % interval": interval}
        return [{**named, "outcome": self.outcome.value, **measured, **costs}]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of one row."""
        frame = runs_frame([self])
        if self.held_out_error:
            for name in ("high", "low", "value"):
                frame.insert(0, f"held_out_error_{name}", [getattr(self.held_out_error, name)])
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON, with what is computed from it; the key names do not change."""
        return self.filed() | {name: json_of(getattr(self, name)) for name in _COMPUTED}

    def filed(self) -> dict[str, Any]:
        """Return the fields as JSON, without limits that are not set."""
        data = super().filed()
        data["budget"] = {k: v for k, v in data["budget"].items() if v is not None}
        if self.held_out_error is None:
            del data["held_out_error"]
        return data


_COMPUTED = ("advice", "family", "parameters", "passed", "limited_by", "reproducible", "sandboxed")


def run(
    learner: Learner,
    source: Instance | Folder,
    budget: Budget,
    seed: int = 0,
    oracle: OracleName = "samples",
    tau: Fraction = Fraction(1, 10),
    by: Judge = measure,
) -> Run:
    """Run a learner on an instance or a folder; raises ToolkitError if it cannot start.

    by: measures the risk of its hypothesis on the instance.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> run(parse_learner("elimination"), parse("parity:d=20,m=3").instance(0), Budget()).outcome
    <Outcome.SOLVED: 'solved'>
    """
    require_support(learner, source.family)
    details: dict[str, Any] = dict(answered(learner, oracle, tau))
    if isinstance(source, Folder) and not source.instance:
        from hardness.runs.claim import claimed, weigh

        weighed = weigh(source)
        trusted = weighed.folder if weighed else source
        hypothesis, usage = learn_once(learner, trusted, budget, seed, oracle, tau)
        hypothesis, fit = claimed(source, hypothesis)
        details |= fit | ({"notes": weighed.notes} if weighed and weighed.notes else {})
        instance = None
    else:
        hypothesis, usage = learn_once(learner, source, budget, seed, oracle, tau)
        instance = source.instance if isinstance(source, Folder) else source
    return judged(learner, source.family, seed, budget, hypothesis, usage, instance, details, by=by)


def answered(
    learner: Learner, oracle: OracleName = "samples", tau: Fraction = Fraction(1, 10)
) -> dict[str, str]:
    """Return oracle and tolerance as details of a run, for a learner that may ask queries."""
    asks = learner.access in ("queries", "either")
    return {"tau": str(tau), "oracle": oracle} if asks else {}


def learn_once(
    learner: Learner,
    source: Instance | Folder,
    budget: Budget,
    seed: int = 0,
    oracle: OracleName = "samples",
    tau: Fraction = Fraction(1, 10),
) -> tuple[Hypothesis, Usage]:
    """Let a learner learn, without measuring it: return its hypothesis and what it used.

    Raises ToolkitError if it cannot start.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> instance = parse("parity:d=20,m=3").instance(0)
    >>> hypothesis, _ = learn_once(parse_learner("elimination"), instance, Budget())
    >>> hypothesis.secret == instance.hidden.secret
    True
    """
    require_support(learner, source.family)
    instance = source.instance if isinstance(source, Folder) else source
    return attempt(learner, _oracle(learner, source, instance, Meter(budget), oracle, tau), seed)


def require_support(learner: Learner, family: Family) -> None:
    """Raise UsageError with the reason if a learner does not support a family."""
    reason = learner.supports(family)
    if reason:
        raise UsageError(f"{learner.name} cannot run on {family}: {reason}")


def attempt(learner: Learner, oracle: Any, seed: int) -> tuple[Hypothesis, Usage]:
    """Let a learner learn from an oracle: return its hypothesis and what it used.

    If its budget is spent or it fails, the last hypothesis that it offered to the oracle counts.
    """
    rng, learn = generator(seed, "learner", learner_spec(learner)), learner.learn
    listed = getattr(oracle.family, "listed", None)  # functions of few variables take no time
    if (
        getattr(learner, "computes_long", False)
        and not listed
        and oracle.meter.budget.needs_process
    ):
        learn = partial(learn_in_child, learner)
    restart_peak()
    try:
        # A diverging learner overflows, which the outcome of the run reports.
        with np.errstate(over="ignore", invalid="ignore"):
            hypothesis = learn(oracle, rng)
    except Spent as spent:
        hypothesis = ended_early(oracle, SPENT[spent.resource])
    except Failed as failed:
        hypothesis = ended_early(oracle, failed.outcome, **failed.details)
    return hypothesis, oracle.meter.usage()


def judged(
    learner: Learner,
    family: Family,
    seed: int,
    budget: Budget,
    hypothesis: Hypothesis,
    usage: Usage,
    instance: Instance | None,
    more: dict[str, Any],
    held_out: Examples | None = None,
    by: Judge = measure,
) -> Run:
    """Measure a hypothesis and make its run.

    It is measured on the instance, or on held-out examples, if there is one of them. more: details
    of the run in addition to those of the hypothesis.
    """
    outcome, details = hypothesis.outcome, dict(hypothesis.details)
    risk, error = None, None
    try:
        if outcome is Outcome.COULD_NOT_RUN and details.get("stage") == "load":
            pass
        elif instance:
            risk = by(instance, hypothesis.predict)
        elif held_out is not None:
            error = measure_held_out(held_out, hypothesis.predict, seed)
    except Failed as failed:
        outcome, details = failed.outcome, details | failed.details
    finally:
        details |= hypothesis.close()
    recovered = None
    if instance and hypothesis.secret is not None:
        recovered = family.same(hypothesis.secret, instance.hidden.secret)
    if hypothesis.secret is not None:
        details["claimed_secret"] = list(hypothesis.secret)
    if instance and hypothesis.layer and (truth := layer_of(instance)):
        from hardness.learners.fitting import match  # which loads scipy

        real = isinstance(family, Dense)
        seen = {"seen": [truth.d, truth.d - 1]} if truth.constant else {}
        paired = match(hypothesis.layer, truth)
        details["truth"] = paired.to_dict() | seen
        solved = not outcome and judge(risk, known=True) is Outcome.SOLVED
        if solved and real and not paired.identified:  # other families hide a set, not a layer
            outcome = Outcome.UNIDENTIFIED
    sha256, measured = file_of(family.name), dict[str, Any]()
    if risk:
        measured = {f"risk_{name}": value for name, value in structs.asdict(risk).items()}
        measured["risk"] = measured.pop("risk_value")
    return Run(
        spec=family.spec,
        learner=learner_spec(learner),
        seed=seed,
        budget=budget,
        outcome=outcome or judge(risk, bool(instance or held_out), error),
        **measured,
        examples=usage.examples,
        queries=usage.queries,
        membership_queries=usage.values,
        seconds=usage.seconds,
        memory=usage.peak_bytes,
        secret_recovered=recovered,
        details=details | more,
        revisions={"family": family.revision, "learner": learner.revision},
        versions=versions() | ({family.name: sha256} if sha256 else {}),
        machine=machine(),
        layer=hypothesis.layer,
        model=hypothesis.model,
        held_out_error=error,
    )


def layer_of(instance: Instance) -> AttentionLayer | None:
    """Build the true layer to compare heads with; None if it is large or beyond float64."""
    family = instance.family
    if family.layer_heads * family.d**2 > _TRUTH_NUMBERS:
        return None
    try:
        return instance.layer()
    except ToolkitError:
        return None


def judged_by(high: float | None) -> Outcome:
    """Return the outcome of a learner that ended by itself, from the upper end of its risk."""
    if high is None:
        return Outcome.INVALID
    if high <= SOLVED_BELOW:
        return Outcome.SOLVED
    return Outcome.LEARNED_NOTHING if high >= 1 else Outcome.PARTIAL


def judge(risk: Risk | None, known: bool, error: HeldOutError | None = None) -> Outcome:
    """Return the outcome of a learner that ended by itself, from its risk or held-out error.

    known: whether there was something to measure it on; then no risk means invalid predictions.
    """
    if error is not None:
        if error.high is None:
            return Outcome.UNJUDGED
        return Outcome.FITTED if error.high < 1 else Outcome.LEARNED_NOTHING
    if risk is None:
        return Outcome.INVALID if known else Outcome.UNJUDGED
    return judged_by(risk.high)


def _oracle(
    learner: Learner,
    source: Instance | Folder,
    instance: Instance | None,
    meter: Meter,
    name: OracleName,
    tau: Fraction,
) -> "ExampleOracle | QueryOracle | ValueOracle | ChoiceOracle":
    if name not in get_args(OracleName):
        raise UsageError(f"oracle {name!r}: one of {', '.join(get_args(OracleName))}")
    if learner.access == "examples":
        return _examples(source, instance, meter)
    if learner.access == "values":
        _ = source.family.questions or source.family.refuse("questions")
        if instance is None:
            raise ToolkitError(
                f"{learner.name} asks for labels of inputs of its choice: the folder has no secret "
                "part that knows them"
            )
        return _values(instance, meter)
    ask = SampledOracle if name == "samples" else ExactOracle
    queries = ask(instance, tau, meter) if instance else None
    if learner.access == "either":
        values = _values(instance, meter) if instance else None
        private = (source.path,) if isinstance(source, Folder) and source.hidden else ()
        return ChoiceOracle(_examples(source, instance, meter), queries, values, private)
    if queries is None:
        raise ToolkitError(
            f"{learner.name} asks statistical queries, which need fresh examples: the folder has "
            "no secret part to draw them from"
        )
    return queries


def _values(instance: Instance, meter: Meter) -> "ValueOracle":
    from hardness.oracles import ValueOracle  # few runs need it

    return ValueOracle(instance, meter)


def _examples(source: Instance | Folder, instance: Instance | None, meter: Meter) -> ExampleOracle:
    stored = isinstance(source, Folder) and (source.count or instance is None)
    if stored and not source.count:  # type: ignore[union-attr]
        raise ToolkitError("the folder has neither examples nor a secret part to draw from")
    return ExampleOracle(source if stored or instance is None else instance, meter)


# Machine and versions are stored in each run, since the last digits of float64 sums depend on them.

version = cache(metadata.version)  # reading it from a file takes as long as a short run


@cache
def machine() -> str:
    """Return the names of the operating system and the processor."""
    name = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2]
                break
    except OSError:
        pass  # not Linux: keep the name that Python gives
    return " ".join(f"{platform.system()} {platform.machine()} {name}".split())


def versions() -> dict[str, str]:
    """Return the versions that are stored in every run, by package.

    >>> sorted(versions())
    ['hardness', 'numpy', 'python']
    """
    return {
        "hardness": version("hardness-toolkit"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }
