"""Check whether a user's learner follows the protocol of learners, in a process of its own.

A defect that would end a run is a failure. A defect that only makes results less useful is a
warning.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from msgspec import Struct, field
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
_SECONDS, _EXAMPLES = 20.0, 257  # of a run, and to compare predictions on
_BUDGET = Budget(examples=1000, seconds=_SECONDS)
_REGULAR_OUTCOMES = (  # of a learner that ended by itself or spent a count of its budget
    *(Outcome.SOLVED, Outcome.UNIDENTIFIED, Outcome.PARTIAL, Outcome.LEARNED_NOTHING),
    *(Outcome.NO_CLAIM, Outcome.STAGE_FAILED),
    *(Outcome.EXAMPLES_SPENT, Outcome.QUERIES_SPENT, Outcome.VALUES_SPENT),
)


class Finding(Struct, frozen=True, kw_only=True):
    """The result of one check: its level, and a sentence about it."""

    check: str
    level: Level
    message: str = field(name="found")


class Conformance(Record, frozen=True, kw_only=True):
    """The results of all checks of a learner; it conforms if none of them is a failure.

    described: what the learner reports of itself.
    """

    learner: str
    described: dict[str, Any]
    findings: tuple[Finding, ...]

    def _rows(self) -> list[TableRow]:
        return [json_of(finding) for finding in self.findings]

    @property
    def conforms(self) -> bool:
        """Whether no check failed."""
        return all(finding.level != "failure" for finding in self.findings)

    def require(self) -> None:
        """Raise ToolkitError with the first failure, for use in a user's tests."""
        for finding in self.findings:
            if finding.level == "failure":
                raise ToolkitError(f"{self.learner}: {finding.check}: {finding.message}")

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON, and whether the learner conforms."""
        return {**super().to_dict(), "conforms": self.conforms}


def conformance(
    name: str, specs: tuple[str, ...] = SPECS, progress: Callable[[int], None] = lambda done: None
) -> Conformance:
    """Check a learner "path.py:Name" on small instances of some families.

    This takes about ten runs, each in a process of its own. Raises UsageError for a built-in
    learner.

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
    learner.supports(families[0])  # raises UsageError if its file does not exist
    try:
        described = learner.describe()
    except Failed as failed:
        message = _outcome_words(failed.outcome, failed.details)
        finding = Finding(check="loads", level="failure", message=message)
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
        The result of each check.

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

    guarded = _Guarded(adapt(learner, "the object given"))
    described = {name: getattr(guarded, name) for name in ("name", "about", "access", "revision")}
    result = _checked(guarded.name, guarded, described, _families(specs), lambda done: None)
    result.require()
    return result


class _Guarded:
    """A user's object as a learner: its exceptions end the run, as for a learner in a file."""

    def __init__(self, inner: Learner) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def supports(self, family: Family) -> None:
        """Accept every family; `learn` asks the object, so that its exceptions end the run."""

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Let the object learn; raises Failed for any of its exceptions."""
        with _failing("supports"):
            reason = self._inner.supports(oracle.family)
        if reason:
            raise Failed(Outcome.COULD_NOT_RUN, {"stage": "supports", "reason": reason})
        with _failing("learn"):
            hypothesis = deepcopy(self._inner).learn(oracle, rng)
        return replace(hypothesis, predict=_failing("predict")(hypothesis.predict))


@contextmanager
def _failing(stage: str) -> Iterator[None]:
    """Turn exceptions of the block into Failed, with the stage in its details."""
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
    findings = [Finding(check="loads", level="ok", message=described["name"])]
    for finding in _findings(learner, families):
        findings.append(finding)
        progress(1)
    return Conformance(learner=name, described=described, findings=tuple(findings))


def _findings(learner: Any, families: list[Family]) -> Iterator[Finding]:
    supported: list[Family] = []
    for family in families:
        trial = run(learner, family.instance(0), _BUDGET)
        if trial.details.get("stage") == "supports":
            message = f"not taken: {trial.details.get('reason')}"
            yield Finding(check=family.name, level="ok", message=message)
            continue
        supported.append(family)
        finding = _finding_of_run(family.name, trial)
        yield finding
        if finding.level == "failure":
            return  # further checks would fail for the same reason
    if not supported:
        names = ", ".join(family.name for family in families)
        yield Finding(check="families", level="failure", message=f"it takes none of {names}")
        return
    family = supported[0]
    yield _check_repeatable(learner, family)
    for check, budget in {
        "budget of 1": Budget(examples=1, values=1, seconds=_SECONDS),
        "budget of 30": Budget(examples=30, values=30, seconds=_SECONDS),
        "budget of a second": Budget(seconds=1.0),
    }.items():
        trial = run(learner, family.instance(0), budget)
        yield _finding_of_run(check, trial, warn_only=True)


def _finding_of_run(check: str, trial: Run, warn_only: bool = False) -> Finding:
    """Describe how a run for a check ended; warn_only: a run that broke off is only a warning."""
    used = f"{trial.examples} examples, {trial.queries} queries"
    used += f", {trial.membership_queries} values" if trial.membership_queries else ""
    message = f"{_outcome_words(trial.outcome, trial.details)}; {used}, {trial.seconds:.1f} s"
    level: Level = "ok"
    if trial.outcome is Outcome.SECONDS_SPENT:
        level = "warning" if "ended" in trial.details else "ok"
    elif trial.outcome not in _REGULAR_OUTCOMES:
        level = "warning" if warn_only else "failure"
    return Finding(check=check, level=level, message=message)


def _check_repeatable(learner: Any, family: Family) -> Finding:
    """Check that two runs with equal seed and examples give equal predictions."""
    check = "same seed, same result"
    first, second = (_predictions(learner, family) for _ in range(2))
    if first is None or second is None:
        return Finding(check=check, level="warning", message="no predictions to compare")
    if np.array_equal(first, second):
        return Finding(check=check, level="ok", message="two runs predict the same, bit for bit")
    difference = float(np.abs(first - second).max())
    message = f"two runs differ by up to {difference:.3g}: take all coins from rng"
    return Finding(check=check, level="warning", message=message)


def _predictions(learner: Learner, family: Family) -> NDArray[np.float64] | None:
    """Learn and predict: return labels (n, k, d) of fresh examples, None if prediction failed."""
    instance: Instance = family.instance(1)
    hypothesis: Hypothesis = learn_once(learner, instance, _BUDGET, seed=1)[0]
    try:
        return hypothesis.predict(instance.examples(0, _EXAMPLES, axis="conformance").x)
    except Failed:
        return None
    finally:
        hypothesis.close()


def _outcome_words(outcome: Outcome, details: dict[str, Any]) -> str:
    """Describe how a run ended in one line."""
    reasons = ", ".join(str(details[k]) for k in ("reason", "ended") if k in details)
    return outcome.value + (f" ({reasons})" if reasons else "")
