"""What a sweep is made of: jobs, each named by a hash of its content, and what is kept of each.

A kind of job is one record: it is written and read by itself, does its work in a worker process,
and says there what row a store keeps of it. To add one, write it and add its name to `AnyJob`: a
row of a new kind is one more table of the store, and what gives the jobs one more source of the
driver.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from hardness.bounds import BoundParameters, certify
from hardness.learners import Learner, Outcome, learner_spec
from hardness.learners.learner import innermost
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import Budget, Usage
from hardness.runs.least import Search, Threshold
from hardness.runs.planned import Planned
from hardness.runs.registry import fresh_learner, parse_learner
from hardness.runs.rows import CERTIFICATES, THRESHOLDS, CertificateRow, Row, ThresholdRow
from hardness.runs.run import OracleName, Run, machine, run, versions
from instances.disk import damage
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.spec import file_of, parse_stored

# died: its process ended, by a signal or by itself. overdue: over its hard limit of seconds.
# memory: over its hard limit. raised: an exception that is a fault. refused: a ToolkitError, such
# as a size that does not fit here.
Failure = Literal["died", "overdue", "memory", "raised", "refused"]
_OUTCOMES: dict[Failure, Outcome] = {
    "died": Outcome.CRASHED,
    "overdue": Outcome.CRASHED,
    "memory": Outcome.MEMORY_SPENT,
    "raised": Outcome.CRASHED,
    "refused": Outcome.COULD_NOT_RUN,
}


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of a job: `result` is what it gave, or None with the failure and why.

    attempts: from 1. seconds: of the last one, wall clock, of the job alone. where: host and
    process that did it.
    """

    result: dict[str, Any] | None = None
    failure: Failure | None = None
    why: str = ""
    attempts: int = 1
    seconds: float = 0.0
    where: str = ""


class Job(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", dict=True):
    """A piece of work whose result depends on its content alone.

    label: what progress is counted by, the learner or the kind of what is computed. spec: of the
    problem, in canonical form.
    """

    spec: str

    @property
    def label(self) -> str:
        """What progress is counted by."""
        raise NotImplementedError

    @cached_property
    def key(self) -> str:
        """The key in a store: 32 hexadecimal digits of the hash of what is stated.

        What is None is not stated, so that a new field leaves the keys of earlier jobs as they are.
        """
        return _hash(_stated(msgspec.to_builtins(self, enc_hook=str)))

    def payload(self) -> str:
        """Write the job; `read_job` reads it."""
        return msgspec.json.encode(self, enc_hook=str).decode()

    def do(self) -> dict[str, Any]:
        """Do the work: JSON, the same wherever it is done but for times and memory.

        Raises ToolkitError where it cannot be done here.
        """
        raise NotImplementedError

    def row(self, finished: Finished) -> Row | None:
        """Make what a store keeps of its end; None for nothing, and it is tried another time."""
        raise NotImplementedError

    def found(self, finished: Finished) -> Any:
        """Make what came of it, which a store keeps as a row."""
        return self.row(finished)


def _stated(value: Any) -> Any:
    """Leave out None, and write 60.0 as 60: what is equal has one key."""
    if isinstance(value, dict):
        return {name: _stated(one) for name, one in value.items() if one is not None}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class RunJob(Job, frozen=True, kw_only=True, tag="run"):
    """One learner on one instance: the learner in canonical form.

    seed: of both axes, the instance's and the learner's. oracle, tau: how queries are answered,
    None for a learner that asks none. origin, family: of a user's learner and a user's family, the
    SHA-256 of the file. group, axes: of a sweep, which group asked for it and what that varies,
    which are no part of its key.

    >>> job = run_job("parity:d=8,m=2", parse_learner("lowdegree"), 0, Budget(examples=100))
    >>> read_job(job.payload()) == job
    True
    """

    table: ClassVar[str] = "runs"

    learner: str
    seed: int
    budget: Budget
    oracle: OracleName | None = None
    tau: Fraction | None = None
    revisions: tuple[int, int]  # of the family and of the learner
    origin: str | None = None
    family: str | None = None
    group: str = ""
    axes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The learner."""
        return self.learner

    @cached_property
    def key(self) -> str:
        """The key in a store."""
        return self.keys(self.seed)

    @cached_property
    def keys(self) -> Callable[[int], str]:
        """What gives its key with another seed: all but the seed is hashed once."""
        content = _stated(msgspec.to_builtins(self, enc_hook=str))
        for name in ("seed", "group", "axes"):
            del content[name]
        cell = hashlib.sha256(_hash(content).encode())

        def key(seed: int) -> str:
            found = cell.copy()
            found.update(b" %d" % seed)
            return found.hexdigest()[:32]

        return key

    def with_seed(self, seed: int, **known: Any) -> "RunJob":
        """Make the job of another seed; known: its group and axes."""
        return msgspec.structs.replace(self, seed=seed, **known)

    def held(self, run: Run, where: object) -> Run:
        """Return the run that a store holds of it."""
        return run

    def do(self) -> dict[str, Any]:
        """Run the learner: a Run as JSON; raises ToolkitError where it is not what was planned."""
        learner, family = _planned(self)
        done = run(
            learner,
            family.instance(self.seed),
            self.budget,
            seed=self.seed,
            oracle=self.oracle or "samples",
            tau=self.tau or Fraction(1, 10),
        )
        if self.origin and done.details.get("sha256", self.origin) != self.origin:
            raise ToolkitError(f"{self.learner} is not the one that the sweep was planned with")
        return done.to_dict()

    def kept(self, found: Run) -> Run:
        """Make the row of what came of it."""
        return found.updated(key=self.key)

    def row(self, finished: Finished) -> Run:
        """Make the run, also where its worker did not live to end it.

        >>> job = RunJob(spec="parity:d=8,m=2,noise=0,rho=2", learner="trivial", seed=0,
        ...              budget=Budget(), revisions=(1, 1))
        >>> found = job.row(Finished(failure="overdue", why="60 s", attempts=3))
        >>> found.outcome.value, found.bound, found.reproducible
        ('crashed', 'machine', False)
        """
        known: Any = {"key": self.key, "attempts": finished.attempts}
        known |= {"group": self.group, "axes": self.axes}
        if finished.result is not None:
            try:
                return Run.read(finished.result, **known)
            except ValueError as error:
                finished = replace(finished, failure="raised", why=f"no run came of it: {error}")
        family, learner = self.revisions
        how = {} if self.oracle is None else {"tau": str(self.tau), "oracle": self.oracle}
        return Run(
            spec=self.spec,
            learner=self.learner,
            seed=self.seed,
            budget=self.budget,
            outcome=_OUTCOMES[finished.failure or "died"],
            risk=None,
            usage=Usage(examples=0, queries=0, seconds=float(finished.seconds), peak_bytes=0),
            secret_recovered=None,
            details={"reason": finished.why, **how},
            revisions={"family": family, "learner": learner},
            versions=versions(),
            machine=machine(),
            **known,
        )


class CertificateJob(Job, frozen=True, kw_only=True, tag="certificate"):
    """The certificate of a family, for terms.

    file: the SHA-256 of the file of a user's family.
    """

    label: ClassVar[str] = CERTIFICATES

    terms: BoundParameters
    revision: int  # of the family
    file: str | None = None

    def do(self) -> dict[str, Any]:
        """Certify: a certificate as JSON; raises ToolkitError for another file of the family."""
        family = parse_stored(self.spec)
        _require_planned(family, self.file)
        return certify(family, self.terms).to_dict()

    def row(self, finished: Finished) -> CertificateRow | None:
        """Keep the certificate."""
        if finished.result is None:
            return None
        terms = self.terms.to_dict()
        return CertificateRow(
            key=self.key, spec=self.spec, terms=terms, certificate=finished.result
        )


class SearchJob(Job, frozen=True, kw_only=True, tag="search"):
    """The whole search of one threshold; revisions, origin, family: as of a run's job."""

    label: ClassVar[str] = THRESHOLDS
    table: ClassVar[str] = THRESHOLDS

    asked: Search
    revisions: tuple[int, int]
    origin: str | None = None
    family: str | None = None

    @property
    def learner(self) -> str:
        """The learner."""
        return self.asked.learner

    def do(self) -> dict[str, Any]:
        """Search: a Threshold as JSON; raises ToolkitError where it is not what was planned."""
        if _origin(_planned(self)[0]) != self.origin:
            raise ToolkitError(f"{self.learner} is not the one that the sweep was planned with")
        return self.asked.do().filed()

    def found(self, finished: Finished) -> Threshold:
        """Make the threshold, also where its worker did not live to end it: no answer."""
        if finished.result is not None:
            return Threshold.read(finished.result)
        family, learner = self.revisions
        return Threshold(
            asked=self.asked,
            tried=(),
            seconds=float(finished.seconds),
            lost=finished.why or str(finished.failure),
            revisions={"family": family, "learner": learner},
            versions=versions(),
            machine=machine(),
        )

    def row(self, finished: Finished) -> ThresholdRow:
        """Keep the threshold."""
        return self.kept(self.found(finished))

    def kept(self, found: Threshold) -> ThresholdRow:
        """Make the row of what came of it."""
        return threshold_row(self.key, found)

    def held(self, row: ThresholdRow, where: Path) -> Threshold:
        """Return the threshold of the row that a store holds of it; raises DamagedFile."""
        with damage(where):
            return Threshold.read(row.threshold)


def threshold_row(key: str, found: Threshold) -> ThresholdRow:
    """Make the row of a threshold."""
    return ThresholdRow(
        key=key,
        spec=found.asked.spec,
        learner=found.asked.learner,
        unit=found.asked.unit,
        low=found.low,
        high=found.high,
        ended=found.end,
        threshold=found.filed(),
    )


AnyJob = RunJob | CertificateJob | SearchJob


def read_job(payload: str) -> AnyJob:
    """Read a job; raises ValueError for what is none.

    >>> job = CertificateJob(spec="parity:d=8,m=2", terms=BoundParameters(), revision=1)
    >>> read_job(job.payload()) == job
    True
    """
    return msgspec.json.decode(payload, type=AnyJob, dec_hook=_exact)


def _exact(kind: type[Fraction], given: str) -> Fraction:
    return kind(given)


def run_job(
    spec: str | Family,
    learner: Learner,
    seed: int,
    budget: Budget,
    oracle: OracleName = "samples",
    tau: Fraction = Fraction(1, 10),
) -> RunJob:
    """Make the job of a run: its canonical names, and the revisions that are here.

    >>> job = run_job("parity:m=2,d=8", parse_learner("lowdegree"), 0, Budget(examples=100))
    >>> job.spec, job.learner, job.oracle
    ('parity:d=8,m=2,noise=0,rho=3', 'lowdegree:degree=2,oversample=8', None)
    """
    family = parse_stored(spec) if isinstance(spec, str) else spec
    asks = learner.access in ("queries", "either")
    return RunJob(
        spec=family.spec,
        learner=learner_spec(learner),
        seed=seed,
        budget=budget,
        oracle=oracle if asks else None,
        tau=tau if asks else None,
        **_here(family, learner),
    )


def job_of(planned: Planned | Search) -> RunJob | SearchJob:
    """Make the job of a run or a search that is planned."""
    family, learner = parse_stored(planned.spec), parse_learner(planned.learner)
    if isinstance(planned, Planned):
        return run_job(family, learner, planned.seed, planned.budget, tau=planned.tau)
    return SearchJob(spec=family.spec, asked=planned, **_here(family, learner))


def _here(family: Family, learner: Learner) -> dict[str, Any]:
    """Say which family and learner a job is planned with."""
    return {
        "revisions": (family.revision, learner.revision),
        "origin": _origin(learner),
        "family": file_of(family.name),
    }


def _origin(learner: Learner) -> str | None:
    """Return the SHA-256 of the file of a user's learner."""
    learner = innermost(learner)
    if not isinstance(learner, SubprocessLearner):
        return None
    try:
        return hashlib.sha256(learner.file.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{learner.spec} cannot be read: {error.strerror}") from error


def _planned(job: RunJob | SearchJob) -> tuple[Learner, Family]:
    """Make the learner and the family of a job; raises ToolkitError for others than planned."""
    learner, family = fresh_learner(job.learner), parse_stored(job.spec)
    found = (family.revision, learner.revision)
    if found != job.revisions:
        raise ToolkitError(
            f"{job.learner} on {job.spec} has revisions {found} here and {job.revisions} "
            "where the sweep was planned: install the same version everywhere"
        )
    _require_planned(family, job.family)
    return learner, family


def _require_planned(family: Family, sha256: str | None) -> None:
    if file_of(family.name) != sha256:
        raise ToolkitError(f"the file of {family.name} is not the one of the sweep's plan")
