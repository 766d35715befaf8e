"""Does a learner of one's own keep to the protocol? Checked in a process of its own, as it runs.

What would end a run is a failure; what makes its results worth less is a warning.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hardness.learners import Failed, Hypothesis, Learner, Outcome
from hardness.learners.learner import innermost
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import Budget, Spent
from hardness.runs.record import Record, json_of
from hardness.runs.registry import parse_learner
from hardness.runs.run import Run, learn_once, run
from instances.disk import one_line
from instances.errors import ToolkitError, UsageError
from instances.family import Family, Instance
from instances.result import TableRow
from instances.spec import parse_stored

Level = Literal["ok", "warning", "failure"]
SPECS = (
    *("parity:d=8,m=1", "profile:g=majority,d=9,m=3", "lwr:n=4,q=8,p=2,secret=binary"),
    *("lpn:n=8,noise=0.1", "nice:m=1,k=2,d=6", "linear:m=1,k=2,d=4"),
)
_SECONDS, _TOKENS = 20.0, 257
_BUDGET = Budget(examples=1000, seconds=_SECONDS)
_BY_ITSELF = (  # outcomes of a learner that ran to an end of its own
    *(Outcome.SOLVED, Outcome.UNIDENTIFIED, Outcome.PARTIAL, Outcome.LEARNED_NOTHING),
    *(Outcome.NO_CLAIM, Outcome.STAGE_FAILED),
    *(Outcome.EXAMPLES_SPENT, Outcome.QUERIES_SPENT, Outcome.VALUES_SPENT),
)


class Finding(Struct, frozen=True, kw_only=True):
    """What one check found."""

    check: str
    level: Level
    found: str


class Conformance(Record, frozen=True, kw_only=True):
    """What all checks of a learner found; it conforms where none of them failed."""

    learner: str
    described: dict[str, Any]
    findings: tuple[Finding, ...]

    def _rows(self) -> list[TableRow]:
        return [json_of(one) for one in self.findings]

    @property
    def conforms(self) -> bool:
        """Whether no check failed."""
        return all(one.level != "failure" for one in self.findings)

    def require(self) -> None:
        """Raise ToolkitError with the first failure: for a test of one's own."""
        for one in self.findings:
            if one.level == "failure":
                raise ToolkitError(f"{self.learner}: {one.check}: {one.found}")

    def to_dict(self) -> dict[str, Any]:
        """Write the findings as JSON, and whether it conforms."""
        return {**super().to_dict(), "conforms": self.conforms}


def conformance(
    name: str, specs: tuple[str, ...] = SPECS, progress: Callable[[int], None] = lambda done: None
) -> Conformance:
    """Check a learner "path.py:Name" on small instances of some families.

    Takes some ten runs in processes of their own. Raises UsageError for a built-in learner.

    >>> conformance("elimination")
    Traceback (most recent call last):
    ...
    instances.errors.UsageError: 'elimination': it is built in; a learner of one's own is...
    """
    learner = innermost(parse_learner(name))
    if not isinstance(learner, SubprocessLearner):
        raise UsageError(
            f"'{name}': it is built in; a learner of one's own is checked, as path.py:Name"
        )
    families = _families(specs)
    learner.supports(families[0])  # the file is there
    try:
        described = learner.describe()
    except Failed as failed:
        reason = _outcome_words(failed.outcome, failed.details)
        finding = Finding(check="loads", level="failure", found=reason)
        return Conformance(learner=name, described={}, findings=(finding,))
    return _checked(name, learner, described, families, progress)


def check_learner(learner: Any, specs: tuple[str, ...] = SPECS) -> Conformance:
    """Check that your object keeps to the protocol of learners, as `learners check` does.

    It runs in this process.

    Parameters
    ----------
    learner : object
        A function learn(x, y), an estimator, a torch module, or what has learn(oracle, rng).
    specs : tuple of str
        Small families to try it on.

    Returns
    -------
    Conformance
        What each check came to.

    Raises
    ------
    ToolkitError
        With the first check that fails, as scikit-learn's check_estimator does.

    Examples
    --------
    >>> def zero(x, y):
    ...     return lambda x: 0.0 * x
    >>> check_learner(zero, ("parity:d=8,m=1",)).conforms
    True
    """
    from hardness.learners.plugins import adapt

    made = _Guarded(adapt(learner, "the object given"))
    told = {name: getattr(made, name) for name in ("name", "about", "access", "revision")}
    result = _checked(made.name, made, told, _families(specs), lambda done: None)
    result.require()
    return result


class _Guarded:
    """An object of a user: what it raises is how its run ends, as that of a file."""

    def __init__(self, inner: Learner) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def supports(self, family: Family) -> None:
        """Every family: what the object says, its run does."""

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Learn, raising Failed alone."""
        with _failing("supports"):
            reason = self._inner.supports(oracle.family)
        if reason:
            raise Failed(Outcome.COULD_NOT_RUN, {"stage": "supports", "reason": reason})
        with _failing("learn"):
            made = deepcopy(self._inner).learn(oracle, rng)
        return replace(made, predict=_failing("predict")(made.predict))


@contextmanager
def _failing(stage: str) -> Iterator[None]:
    try:
        yield
    except (Failed, Spent):
        raise
    except Exception as error:
        reason = f"{type(error).__name__} in {stage}: {one_line(error, 500)}"
        raise Failed(Outcome.CRASHED, {"stage": stage, "reason": reason}) from error


def _families(specs: tuple[str, ...]) -> list[Family]:
    if not specs:
        raise UsageError("no specs: a learner is checked on at least one family")
    return [parse_stored(spec) for spec in specs]


def _checked(
    name: str,
    learner: Any,
    described: dict[str, Any],
    families: list[Family],
    progress: Callable[[int], None],
) -> Conformance:
    findings = [Finding(check="loads", level="ok", found=described["name"])]
    for finding in _findings(learner, families):
        findings.append(finding)
        progress(1)
    return Conformance(learner=name, described=described, findings=tuple(findings))


def _findings(learner: Any, families: list[Family]) -> Iterator[Finding]:
    taken: list[Family] = []
    for family in families:
        trial = run(learner, family.instance(0), _BUDGET)
        if trial.details.get("stage") == "supports":
            reason = f"not taken: {trial.details.get('reason')}"
            yield Finding(check=family.name, level="ok", found=reason)
            continue
        taken.append(family)
        finding = _tried(family.name, trial)
        yield finding
        if finding.level == "failure":
            return  # what comes then would be the same again
    if not taken:
        names = ", ".join(family.name for family in families)
        yield Finding(check="families", level="failure", found=f"it takes none of {names}")
        return
    family = taken[0]
    yield _again(learner, family)
    for check, budget in {
        "budget of 1": Budget(examples=1, values=1, seconds=_SECONDS),
        "budget of 30": Budget(examples=30, values=30, seconds=_SECONDS),
        "budget of a second": Budget(seconds=1.0),
    }.items():
        yield _tried(check, run(learner, family.instance(0), budget), softly=True)


def _tried(check: str, trial: Run, softly: bool = False) -> Finding:
    """Say how a run for a check ended; softly: where it broke, that is a warning."""
    used = f"{trial.examples} examples, {trial.queries} queries"
    used += f", {trial.membership_queries} values" if trial.membership_queries else ""
    ended = f"{_outcome_words(trial.outcome, trial.details)}; {used}, {trial.seconds:.1f} s"
    level: Level = "ok"
    if trial.outcome is Outcome.SECONDS_SPENT:
        level = "warning" if "ended" in trial.details else "ok"
    elif trial.outcome not in _BY_ITSELF:
        level = "warning" if softly else "failure"
    return Finding(check=check, level=level, found=ended)


def _again(learner: Any, family: Family) -> Finding:
    """The same coins and examples must give the same predictions."""
    check = "same seed, same result"
    one, other = (_predictions(learner, family) for _ in range(2))
    if one is None or other is None:
        return Finding(check=check, level="warning", found="no predictions to compare")
    if np.array_equal(one, other):
        return Finding(check=check, level="ok", found="two runs predict the same, bit for bit")
    apart = float(np.abs(one - other).max())
    differ = f"two runs differ by up to {apart:.3g}: take all coins from rng"
    return Finding(check=check, level="warning", found=differ)


def _predictions(learner: Learner, family: Family) -> NDArray[np.float64] | None:
    """Learn, and predict on tokens: (n, k, d); None where there is no prediction."""
    instance: Instance = family.instance(1)
    hypothesis: Hypothesis = learn_once(learner, instance, _BUDGET, seed=1)[0]
    try:
        return hypothesis.predict(instance.examples(0, _TOKENS, axis="conformance").x)
    except Failed:
        return None
    finally:
        hypothesis.close()


def _outcome_words(outcome: Outcome, details: dict[str, Any]) -> str:
    """Say what happened in one line."""
    told = ", ".join(str(details[k]) for k in ("reason", "ended") if k in details)
    return outcome.value + (f" ({told})" if told else "")
