"""One run: a learner on an instance within a budget, and what came of it."""

import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import msgspec
import numpy as np

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
from hardness.runs.columns import runs_frame
from hardness.runs.machine import machine, versions
from hardness.runs.names import brief_spec, short
from hardness.runs.risk import Risk, measure
from hardness.upper import (
    Failed,
    Hypothesis,
    Learner,
    Outcome,
    learner_spec,
    nothing,
)
from hardness.upper.learner import SPENT
from instances.capabilities import CODED, QUESTIONS, REAL_LABELS
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family, Instance
from instances.files import Folder
from instances.layer import AttentionLayer
from instances.result import Result, TableRow
from instances.streams import generator

if TYPE_CHECKING:
    from pandas import DataFrame

    from hardness.oracles import ValueOracle
    from hardness.runs.misfit import Misfit

OracleName = Literal["samples", "exact"]
# What ended a run: a part of its budget that is the same everywhere, or one that is not (seconds,
# memory), or the machine: its worker died, was ended at a hard limit, or it did not fit.
Bound = Literal["none", "examples", "queries", "values", "seconds", "memory", "machine"]
SOLVED_BELOW = 0.05
_ROUNDING = 1e-9
OVERTIME = 1.25  # a built-in learner looks at the clock between draws, and stops a little late
_TRUTH_NUMBERS = 1 << 22  # of all Theta_i: their distances then take less than a second
# By the risk alone, or the misfit.
JUDGED = (Outcome.SOLVED, Outcome.PARTIAL, Outcome.LEARNED_NOTHING, Outcome.FITTED)
_FOUND = (Outcome.SOLVED, Outcome.UNIDENTIFIED)  # the function, whatever its heads
_TIMED = (Outcome.SECONDS_SPENT, Outcome.CPU_SPENT)
# Ends that a signal, a library which is not there or another load on the machine can make as well
# as the learner itself, and those that the hard limits of a sweep make.
MACHINE = (
    Outcome.CRASHED,
    Outcome.BROKE_OFF,
    Outcome.NOT_LOADED,
    Outcome.TOO_MANY_PROCESSES,
    Outcome.OVERDUE,
    Outcome.REFUSED,
)
_NO_LIMIT = Budget()


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(Result):
    """What a learner did on an instance within a budget; risk is None where it was not measured.

    attempts: how often a worker process was started for it. key: the content key of its job, where
    it was one. layer: the one that the learner found, where it finds layers; not in JSON, nor of
    runs that other processes did. misfit: on data of a user, in place of a risk.
    """

    spec: str
    learner: str
    seed: int
    budget: Budget
    outcome: Outcome
    risk: Risk | None
    usage: Usage
    secret_recovered: bool | None
    details: dict[str, Any]
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str
    attempts: int = 1
    key: str = field(default="", compare=False)
    layer: AttentionLayer | None = field(default=None, compare=False)
    misfit: "Misfit | None" = None

    _words: ClassVar[str] = "hardness.report.run.run_words"

    @property
    def passed(self) -> bool:
        """Whether it solved its instance, whatever it ended with.

        The whole 95 % interval of its relative risk lies below 0.05.
        """
        return judge(self.risk, known=True) is Outcome.SOLVED

    @property
    def advice(self) -> str:
        """One sentence of advice: none to spend more, where what was spent did."""
        if self.passed and self.outcome in SPENT.values():
            return f"the budget is spent, and {Outcome.SOLVED.advice}"
        return self.outcome.advice

    @property
    def late(self) -> bool:
        """Whether it took clearly longer than it might: over 1.25 times its seconds.

        Of a user's learner the time that its predictions took counts too: it could learn there.
        """
        predicting = self.details.get("predict_seconds", 0.0)
        if not isinstance(predicting, int | float) or not predicting >= 0:
            return True
        most = self.budget.seconds
        return most is not None and self.usage.seconds + predicting > OVERTIME * most

    @property
    def solved(self) -> bool:
        """Whether it passed, in time, and was not ended from outside."""
        return self.passed and not self.late and self.bound != "machine"

    @property
    def bound(self) -> Bound:
        """What ended it: a part of its budget, time before the others, the machine, or itself.

        >>> from hardness.upper import parse_learner
        >>> from instances import parse
        >>> instance = parse("parity:d=16,m=3").instance(0)
        >>> run(parse_learner("lowdegree"), instance, Budget(examples=50)).bound
        'examples'
        """
        usage, budget, outcome = self.usage, self.budget, self.outcome
        if outcome in MACHINE:
            return "machine"
        if outcome in _TIMED or (budget.seconds is not None and usage.seconds > budget.seconds):
            return "seconds"
        if outcome is Outcome.MEMORY_SPENT:
            return "machine" if budget.memory_bytes is None else "memory"
        if budget.examples is not None and usage.examples >= budget.examples:
            return "examples"
        if outcome is Outcome.EXAMPLES_SPENT:
            return "examples"
        if budget.queries is not None and usage.queries >= budget.queries:
            return "queries"
        if outcome is Outcome.QUERIES_SPENT:
            return "queries"
        spent = budget.values is not None and usage.values >= budget.values
        return "values" if spent or outcome is Outcome.VALUES_SPENT else "none"

    @property
    def reproducible(self) -> bool:
        """Whether it ends the same on any machine, times and memory apart."""
        return self.bound in ("none", "examples", "queries", "values")

    def _summary(self) -> tuple[str, list[TableRow]]:
        risk, usage, misfit = self.risk, self.usage, self.misfit
        known, measure, value = "not measured", "risk", risk and risk.value
        if misfit:
            measure, value = "misfit", misfit.value
            known = f"in [{misfit.low:.3g}, {misfit.high:.3g}] at {misfit.confidence:.0%}"
            known += f", {misfit.kind}, from {misfit.examples} held-out examples"
            known = "; ".join(filter(None, (known, misfit.remark)))
        if risk:
            known = f"in [{risk.low:.3g}, {risk.high:.3g}] at {risk.confidence:.0%}"
            known += f", from {risk.examples} fresh examples"
        found = "compared" if self.secret_recovered is not None else "none was claimed"
        if self.secret_recovered is None and "claimed_secret" in self.details:
            from hardness.runs.claim import brief_claim

            found = brief_claim(self.details)
        title = f"{short(self.learner)} on {brief_spec(self.spec)}, seed {self.seed}"
        return f"{title}: {self.outcome.value}", [
            {"measure": measure, "value": value, "known": known},
            {"measure": "secret recovered", "value": self.secret_recovered, "known": found},
            {"measure": "examples", "value": usage.examples, "known": "counted"},
            {"measure": "queries", "value": usage.queries, "known": "counted"},
            *(
                [{"measure": "values", "value": usage.values, "known": "counted"}]
                * bool(usage.values)
            ),
            {"measure": "seconds", "value": usage.seconds, "known": "measured here"},
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of one row, with the columns of a store's runs."""
        found = runs_frame([self])
        if self.misfit:
            for name in ("high", "low", "value"):
                found.insert(0, f"misfit_{name}", [getattr(self.misfit, name)])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Write the run as JSON; the field names are a contract."""
        return {
            "spec": self.spec,
            "learner": self.learner,
            "seed": self.seed,
            "budget": {k: v for k, v in vars(self.budget).items() if v is not None},
            "outcome": self.outcome.value,
            "advice": self.advice,
            "risk": self.risk and self.risk.value,
            "risk_interval": [self.risk.low, finite(self.risk.high)] if self.risk else None,
            "risk_confidence": self.risk and self.risk.confidence,
            "risk_examples": self.risk and self.risk.examples,
            "risk_unclipped": self.risk and self.risk.unclipped,
            **({"misfit": self.misfit.to_dict()} if self.misfit else {}),
            "usage": {
                "examples": self.usage.examples,
                "queries": self.usage.queries,
                "values": self.usage.values,
                "seconds": self.usage.seconds,
                "peak_bytes": self.usage.peak_bytes,
            },
            "secret_recovered": self.secret_recovered,
            "details": {k: finite(v) for k, v in self.details.items()},
            "revisions": self.revisions,
            "versions": self.versions,
            "machine": self.machine,
        }

    @staticmethod
    def from_json(data: Any, budget: Budget = _NO_LIMIT, **known: Any) -> "Run":
        """Read a run; raises ValueError for what is none.

        budget: of runs in files that do not say it with each. known: fields that JSON does not
        hold.
        """
        found = msgspec.convert(data, _Written)
        risk = _risk(found)
        misfit = None if found.misfit is None else _misfit(found.misfit)
        own = found.spec.partition(":")[0] == "data"
        if (risk if own else misfit) is not None:
            raise ValueError("a risk on data of a user, or a misfit on an instance")
        by_risk = Outcome.SOLVED if found.outcome in _FOUND else found.outcome
        if by_risk in JUDGED and by_risk is not judge(risk, True, misfit):
            raise ValueError(f"an outcome '{found.outcome.value}' does not follow from its risk")
        return Run(
            spec=found.spec,
            learner=found.learner,
            seed=found.seed,
            budget=budget if found.budget is None else Budget(**found.budget),
            outcome=found.outcome,
            risk=risk,
            usage=found.usage.record(),
            secret_recovered=found.secret_recovered,
            details=found.details,
            revisions=found.revisions,
            versions=found.versions,
            machine=found.machine,
            misfit=misfit,
            **known,
        )


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Finite = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class _Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    examples: _Count
    queries: _Count
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e9)]
    peak_bytes: _Count
    values: _Count = 0  # none in files from before there were any

    def record(self) -> Usage:
        return Usage(**{name: getattr(self, name) for name in self.__struct_fields__})


class _Written(msgspec.Struct, frozen=True):
    """A run as JSON."""

    spec: str
    learner: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    outcome: Outcome
    usage: _Usage
    secret_recovered: bool | None
    details: dict[str, Any]
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str
    risk: _Finite | None
    risk_interval: tuple[_Finite, _Finite | None] | None
    risk_confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None
    risk_examples: Annotated[int, msgspec.Meta(gt=0, le=2**63 - 1)] | None
    risk_unclipped: _Finite | None
    misfit: dict[str, Any] | None = None
    budget: (
        dict[
            Literal["examples", "queries", "values", "seconds", "cpu_seconds", "memory_bytes"], Any
        ]
        | None
    ) = None


def _risk(found: _Written) -> Risk | None:
    """Take the risk of a run; raises ValueError where its parts do not fit."""
    value, interval = found.risk, found.risk_interval
    confidence, examples = found.risk_confidence, found.risk_examples
    if value is None:
        if interval or confidence or examples:
            raise ValueError("an interval, confidence or examples of a risk that is not there")
        return None
    if interval is None or confidence is None or examples is None:
        raise ValueError(f"a risk of {value} without its interval, confidence or examples")
    low, high = interval[0], math.inf if interval[1] is None else interval[1]
    if not low * (1 - _ROUNDING) <= value <= high * (1 + _ROUNDING):
        raise ValueError(f"a risk of {value} in [{low}, {high}]")
    return Risk(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        examples=examples,
        unclipped=found.risk_unclipped,
    )


def _misfit(data: Any) -> "Misfit":
    from hardness.runs.misfit import Misfit

    return Misfit.read(data)


def run(
    learner: Learner,
    source: Instance | Folder,
    budget: Budget,
    seed: int = 0,
    oracle: OracleName = "samples",
    tau: Fraction = Fraction(1, 10),
) -> Run:
    """Run a learner on an instance or a folder; raises ToolkitError where it cannot start.

    >>> from hardness.upper import parse_learner
    >>> from instances import parse
    >>> run(parse_learner("elimination"), parse("parity:d=20,m=3").instance(0), Budget()).outcome
    <Outcome.SOLVED: 'solved'>
    """
    hypothesis, usage = learn_once(learner, source, budget, seed, oracle, tau)
    instance = source.instance if isinstance(source, Folder) else source
    how: dict[str, Any] = dict(answered(learner, oracle, tau))
    if isinstance(source, Folder) and not instance and hypothesis.secret is not None:
        from hardness.runs.claim import fit

        how["fit"] = fit(source, hypothesis.secret)
    return judged(learner, source.family, seed, budget, hypothesis, usage, instance, how)


def answered(
    learner: Learner, oracle: OracleName = "samples", tau: Fraction = Fraction(1, 10)
) -> dict[str, str]:
    """Write down how a learner's queries were answered, if it asks any or might have."""
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
    """Do the learning of a run alone: its hypothesis and what it used; raises ToolkitError.

    >>> from hardness.upper import parse_learner
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
    """Refuse a family that a learner cannot run on; raises UsageError with the reason."""
    reason = learner.supports(family)
    if reason:
        raise UsageError(f"{learner.name} cannot run on {family}: {reason}")


def attempt(learner: Learner, oracle: Any, seed: int) -> tuple[Hypothesis, Usage]:
    """Let a learner learn from an oracle; where it does not catch Spent, it has learned nothing."""
    rng = generator(seed, "learner", learner_spec(learner))
    restart_peak()
    try:
        # A diverging learner overflows; the run says so by its outcome.
        with np.errstate(over="ignore", invalid="ignore"):
            hypothesis = learner.learn(oracle, rng)
    except Spent as spent:
        hypothesis = nothing(oracle.family, SPENT[spent.resource])
    except Failed as failed:
        hypothesis = nothing(oracle.family, failed.outcome, **failed.details)
    return hypothesis, oracle.meter.usage()


def judged(
    learner: Learner,
    family: Family,
    seed: int,
    budget: Budget,
    hypothesis: Hypothesis,
    usage: Usage,
    instance: Instance | None,
    how: dict[str, Any],
    held_out: Examples | None = None,
) -> Run:
    """Measure a hypothesis on an instance, or held-out examples, if any, and write the run down."""
    outcome, details = hypothesis.outcome, dict(hypothesis.details)
    risk: Risk | None = None
    misfit: Misfit | None = None
    try:
        if outcome is Outcome.NOT_LOADED:
            pass
        elif instance:
            risk = measure(instance, hypothesis.predict)
        elif held_out is not None:
            from hardness.runs.misfit import measure_misfit  # which loads scipy

            misfit = measure_misfit(held_out, hypothesis.predict, seed)
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
        from hardness.upper.matching import match  # which loads scipy

        real = REAL_LABELS.of(family)
        seen = real.seen if real else None
        shown = {"seen": [basis.shape[1] for basis in seen]} if seen else {}
        paired = match(hypothesis.layer, truth, seen)
        details["truth"] = paired.to_dict() | shown
        solved = not outcome and judge(risk, known=True) is Outcome.SOLVED
        if solved and real and not paired.identified:  # a hidden set is no layer
            outcome = Outcome.UNIDENTIFIED
    return Run(
        spec=family.spec,
        learner=learner_spec(learner),
        seed=seed,
        budget=budget,
        outcome=outcome or judge(risk, bool(instance or held_out), misfit),
        risk=risk,
        usage=usage,
        secret_recovered=recovered,
        details=details | how,
        revisions={"family": family.revision, "learner": learner.revision},
        versions=versions(),
        machine=machine(),
        layer=hypothesis.layer,
        misfit=misfit,
    )


def layer_of(instance: Instance) -> AttentionLayer | None:
    """Build the true layer to compare heads with; None where it is large or beyond float64.

    And where labels are not its outputs, but those of a map on top of it.
    """
    family = instance.family
    if family.layer_heads * family.d**2 > _TRUTH_NUMBERS:
        return None
    if (coded := CODED.of(family)) and coded.outer_text:
        return None
    try:
        return instance.layer()
    except ToolkitError:
        return None


def judge(risk: Risk | None, known: bool, misfit: "Misfit | None" = None) -> Outcome:
    """Name the outcome of a learner that ran to its end by its risk, or its misfit."""
    if misfit is not None:
        return Outcome.FITTED if misfit.high < 1 else Outcome.LEARNED_NOTHING
    if risk is None:
        return Outcome.INVALID if known else Outcome.UNJUDGED
    if risk.high <= SOLVED_BELOW:
        return Outcome.SOLVED
    return Outcome.LEARNED_NOTHING if risk.high >= 1 else Outcome.PARTIAL


def finite(value: Any) -> Any:
    """JSON has no infinity: put None in its place, at any depth."""
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _oracle(
    learner: Learner,
    source: Instance | Folder,
    instance: Instance | None,
    meter: Meter,
    name: OracleName,
    tau: Fraction,
) -> "ExampleOracle | QueryOracle | ValueOracle | ChoiceOracle":
    if name not in get_args(OracleName):
        raise UsageError(f"oracle {name!r} given: one of {', '.join(get_args(OracleName))}")
    if learner.access == "examples":
        return _examples(source, instance, meter)
    if learner.access == "values":
        QUESTIONS.need(source.family)
        if instance is None:
            raise ToolkitError(
                f"{learner.name} asks for labels of tokens of its choice: the folder has no secret "
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
    from hardness.oracles import ValueOracle  # which few runs need

    return ValueOracle(instance, meter)


def _examples(source: Instance | Folder, instance: Instance | None, meter: Meter) -> ExampleOracle:
    stored = isinstance(source, Folder) and (source.count or instance is None)
    if stored and not source.count:  # type: ignore[union-attr]
        raise ToolkitError("the folder has neither examples nor a secret part to draw from")
    return ExampleOracle(source if stored or instance is None else instance, meter)
