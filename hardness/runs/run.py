"""One run: a learner on an instance within a budget, and what came of it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

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
from hardness.runs.machine import machine, versions
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
from instances.errors import ToolkitError, UsageError
from instances.family import Family, Instance
from instances.files import Folder
from instances.layer import AttentionLayer
from instances.streams import generator
from instances.strict import shown

OracleName = Literal["samples", "exact"]
SOLVED_BELOW = 0.05
_TRUTH_NUMBERS = 1 << 22  # of all Theta_i: their distances then take less than a second
JUDGED = (Outcome.SOLVED, Outcome.PARTIAL, Outcome.LEARNED_NOTHING)  # by the risk alone


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a learner did on an instance; risk is None where it could not be measured."""

    spec: str
    learner: str
    seed: int
    outcome: Outcome
    risk: Risk | None
    usage: Usage
    secret_recovered: bool | None
    details: dict[str, Any]
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str

    def to_json(self) -> dict[str, Any]:
        """Write the run as JSON; the field names are a contract."""
        return {
            "spec": self.spec,
            "learner": self.learner,
            "seed": self.seed,
            "outcome": self.outcome.value,
            "advice": self.outcome.advice,
            "risk": self.risk and self.risk.value,
            "risk_interval": [self.risk.low, finite(self.risk.high)] if self.risk else None,
            "risk_confidence": self.risk and self.risk.confidence,
            "risk_examples": self.risk and self.risk.examples,
            "risk_unclipped": self.risk and self.risk.unclipped,
            "usage": {
                "examples": self.usage.examples,
                "queries": self.usage.queries,
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
    def from_json(data: dict[str, Any]) -> "Run":
        """Read a run; raises KeyError, TypeError or ValueError for what is none."""
        usage = Usage(**data["usage"])
        counts = (usage.examples, usage.queries, usage.peak_bytes)
        if any(type(n) is not int or not 0 <= n < 2**63 for n in counts):
            raise ValueError(f"a usage of {counts}")
        if type(usage.seconds) is not float or not 0 <= usage.seconds < 1e9:
            raise ValueError(f"a usage of {usage.seconds} seconds")
        if not isinstance(data["secret_recovered"], bool | None):
            raise ValueError(f"secret_recovered {data['secret_recovered']!r}")
        return Run(
            spec=str(data["spec"]),
            learner=str(data["learner"]),
            seed=_seed(data["seed"]),
            outcome=Outcome(data["outcome"]),
            risk=Risk.from_json(data),
            usage=usage,
            secret_recovered=data["secret_recovered"],
            details=dict(data["details"]),
            revisions=_typed(data["revisions"], int),
            versions=_typed(data["versions"], str),
            machine=str(data["machine"]),
        )


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
    how = answered(learner, oracle, tau)
    return judged(learner, source.family, seed, hypothesis, usage, instance, how)


def answered(
    learner: Learner, oracle: OracleName = "samples", tau: Fraction = Fraction(1, 10)
) -> dict[str, str]:
    """Write down how a learner's queries were answered, if it asks any or might have."""
    return {"tau": str(tau), "oracle": oracle} if learner.access != "examples" else {}


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
        raise UsageError(f"{learner.name} cannot run on {family.spec}: {reason}")


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
    hypothesis: Hypothesis,
    usage: Usage,
    instance: Instance | None,
    how: dict[str, Any],
) -> Run:
    """Measure a hypothesis on an instance, if there is one, and write the run down."""
    outcome, details = hypothesis.outcome, dict(hypothesis.details)
    risk: Risk | None = None
    try:
        risk = measure(instance, hypothesis.predict) if instance else None
    except Failed as failed:
        outcome, details = failed.outcome, details | failed.details
    finally:
        details |= hypothesis.close()
    recovered = None
    if instance and hypothesis.secret is not None:
        recovered = family.same(hypothesis.secret, instance.hidden.secret)
    if hypothesis.secret is not None:
        details["claimed_secret"] = list(hypothesis.secret)
    if instance and hypothesis.against and (truth := layer_of(instance)):
        details["truth"] = hypothesis.against(truth)
    return Run(
        spec=family.spec,
        learner=learner_spec(learner),
        seed=seed,
        outcome=outcome or judge(risk, known=instance is not None),
        risk=risk,
        usage=usage,
        secret_recovered=recovered,
        details=details | how,
        revisions={"family": family.revision, "learner": learner.revision},
        versions=versions(),
        machine=machine(),
    )


def layer_of(instance: Instance) -> AttentionLayer | None:
    """Build the true layer to compare heads with; None where it is large or beyond float64."""
    family = instance.family
    if family.layer_heads * family.d**2 > _TRUTH_NUMBERS:
        return None
    try:
        return instance.layer()
    except ToolkitError:
        return None


def judge(risk: Risk | None, known: bool) -> Outcome:
    """Name the outcome of a learner that ran to its end by its risk."""
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


def _seed(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"a seed of {shown(value)}")
    return value


def _typed(values: Any, kind: type) -> dict[str, Any]:
    found = dict(values)
    if any(type(value) is not kind for value in found.values()):
        raise ValueError(f"{str(found)[:80]} are not {kind.__name__} by name")
    return found


def _oracle(
    learner: Learner,
    source: Instance | Folder,
    instance: Instance | None,
    meter: Meter,
    name: OracleName,
    tau: Fraction,
) -> ExampleOracle | QueryOracle | ChoiceOracle:
    if name not in get_args(OracleName):
        raise UsageError(f"oracle {name!r} given: one of {', '.join(get_args(OracleName))}")
    if learner.access == "examples":
        return _examples(source, instance, meter)
    ask = SampledOracle if name == "samples" else ExactOracle
    queries = ask(instance, tau, meter) if instance else None
    if learner.access == "either":
        private = (source.path,) if isinstance(source, Folder) and source.hidden else ()
        return ChoiceOracle(_examples(source, instance, meter), queries, private)
    if queries is None:
        raise ToolkitError(
            f"{learner.name} asks statistical queries, which need fresh examples: the folder has "
            "no secret part to draw them from"
        )
    return queries


def _examples(source: Instance | Folder, instance: Instance | None, meter: Meter) -> ExampleOracle:
    stored = isinstance(source, Folder) and (source.count or instance is None)
    if stored and not source.count:  # type: ignore[union-attr]
        raise ToolkitError("the folder has neither examples nor a secret part to draw from")
    return ExampleOracle(source if stored or instance is None else instance, meter)
