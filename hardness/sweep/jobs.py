"""What a sweep is made of: jobs, each named by a hash of its content and written as JSON."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from hardness.lower import BoundParameters, certify
from hardness.oracles import Budget
from hardness.runs.run import OracleName, Run, run
from hardness.upper import Learner, learner_spec, parse_learner
from hardness.upper.isolated import SubprocessLearner
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.family import Family
from instances.lazy import Imported
from instances.spec import file_of, parse_stored

KINDS = Imported(
    "hardness.sweep",
    {
        "run": "jobs.RunJob",
        "certificate": "jobs.CertificateJob",
    },
)


def content_key(kind: str, content: dict[str, Any]) -> str:
    """Hash what a result depends on to 32 hexadecimal digits.

    >>> content_key("run", {"a": 1, "b": 2}) == content_key("run", {"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_content(kind, content).encode()).hexdigest()[:32]


def _content(kind: str, content: dict[str, Any]) -> str:
    return json.dumps([kind, content], sort_keys=True, separators=(",", ":"), allow_nan=False)


class Job(ABC):
    """A piece of work whose result depends on its content alone: a frozen record.

    kind: its name in JSON.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def label(self) -> str:
        """What progress is counted by: the learner, or the kind of what is computed."""

    @property
    def key(self) -> str:
        """The content key of the job: 32 hexadecimal digits."""
        return content_key(self.kind, self.to_dict())

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Write the job; `read_job` reads it."""

    @abstractmethod
    def do(self) -> dict[str, Any]:
        """Do the work: JSON, the same wherever it is done but for times and memory.

        Raises ToolkitError where it cannot be done here.
        """


def read_job(data: dict[str, Any]) -> Job:
    """Read a job with its kind, {"kind": ..., ...}; raises KeyError for an unknown kind.

    >>> spec = "parity:d=8,m=2,noise=0,rho=2"
    >>> job = CertificateJob(spec=spec, terms=BoundParameters(), revision=1)
    >>> read_job({"kind": job.kind, **job.to_dict()}) == job
    True
    """
    given = dict(data)
    job: Job = KINDS[given.pop("kind")].from_json(given)
    return job


@dataclass(frozen=True, kw_only=True)
class RunJob(Job):
    """One learner on one instance: spec and learner in canonical form.

    seed: of both axes, the instance's and the learner's. oracle, tau: how queries are answered,
    None for a learner that asks none. origin, family: of a user's learner and a user's family, the
    SHA-256 of the file.
    """

    kind: ClassVar[str] = "run"

    spec: str
    learner: str
    seed: int
    budget: Budget = field(default_factory=Budget)
    oracle: OracleName | None = None
    tau: Fraction | None = None
    revisions: tuple[int, int]  # of the family and of the learner
    origin: str | None = None
    family: str | None = None

    @property
    def label(self) -> str:
        """The learner."""
        return self.learner

    def to_dict(self) -> dict[str, Any]:
        """Write the job."""
        return {
            "spec": self.spec,
            "learner": self.learner,
            "seed": self.seed,
            "budget": _budget_json(self.budget),
            "oracle": self.oracle,
            "tau": None if self.tau is None else str(self.tau),
            "revisions": list(self.revisions),
            "origin": self.origin,
        } | ({"family": self.family} if self.family else {})

    def require_own(self, run: Run, where: object) -> Run:
        """Return a run that stands under the key of the job; raises DamagedFile for another's."""
        if (run.spec, run.learner, run.seed) != (self.spec, self.learner, self.seed) or (
            _budget_json(run.budget) != _budget_json(self.budget)
        ):
            raise DamagedFile(
                f"{where} holds a run of {run.learner} on {run.spec}, seed {run.seed}, under the "
                f"key of another job, {self.key}: it was changed"
            )
        return run

    @staticmethod
    def from_json(data: dict[str, Any]) -> "RunJob":
        """Read a job."""
        read = {
            "budget": Budget(**data["budget"]),
            "tau": None if data["tau"] is None else Fraction(data["tau"]),
            "revisions": tuple(data["revisions"]),
        }
        return RunJob(**data | read)

    def do(self) -> dict[str, Any]:
        """Run the learner: a Run as JSON; raises ToolkitError where it is not what was planned."""
        learner, family = parse_learner(self.learner), parse_stored(self.spec)
        found = (family.revision, learner.revision)
        if found != self.revisions:
            raise ToolkitError(
                f"{self.learner} on {self.spec} has revisions {found} here and {self.revisions} "
                "where the sweep was planned: install the same version everywhere"
            )
        _require_planned(family, self.family)
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
        revisions=(family.revision, learner.revision),
        origin=origin(learner),
        family=file_of(family.name),
    )


def key_by_seed(job: RunJob) -> Callable[[int], str]:
    """Return what hashes a job with another seed: its key, in a tenth of the time.

    >>> one = run_job("parity:d=8,m=2", parse_learner("queries"), 7, Budget(queries=9))
    >>> key_by_seed(replace(one, seed=0))(7) == one.key
    True
    """
    text = _content(job.kind, replace(job, seed=0).to_dict())
    before, after = text.split(_SEED)
    start, end = hashlib.sha256((before + _SEED[:-2]).encode()), ("," + after).encode()

    def key(seed: int) -> str:
        found = start.copy()
        found.update(b"%d%b" % (seed, end))
        return found.hexdigest()[:32]

    return key


_SEED = '"seed":0,'  # quotes inside of JSON strings are escaped: it stands there once


def origin(learner: Learner) -> str | None:
    """Return the SHA-256 of the file of a user's learner."""
    if not isinstance(learner, SubprocessLearner):
        return None
    try:
        return hashlib.sha256(learner.file.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{learner.spec} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, kw_only=True)
class CertificateJob(Job):
    """The certificate of a family, for terms: spec in canonical form.

    file: the SHA-256 of the file of a user's family.
    """

    kind: ClassVar[str] = "certificate"
    label: ClassVar[str] = "certificates"

    spec: str
    terms: BoundParameters
    revision: int  # of the family
    file: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the job."""
        data = {"spec": self.spec, "terms": self.terms.to_dict(), "revision": self.revision}
        return data | ({"file": self.file} if self.file else {})

    @staticmethod
    def from_json(data: dict[str, Any]) -> "CertificateJob":
        """Read a job."""
        return CertificateJob(**data | {"terms": BoundParameters.from_json(data["terms"])})

    def do(self) -> dict[str, Any]:
        """Certify: a certificate as JSON; raises ToolkitError for another file of the family."""
        family = parse_stored(self.spec)
        _require_planned(family, self.file)
        return certify(family, self.terms).to_dict()


def _require_planned(family: Family, sha256: str | None) -> None:
    if file_of(family.name) != sha256:
        raise ToolkitError(f"the file of {family.name} is not the one of the sweep's plan")


def _budget_json(budget: Budget) -> dict[str, float]:
    """Write a budget in one form: 60 seconds and 60.0 are equal, and so must be their keys."""
    given = {k: v for k, v in vars(budget).items() if v is not None}
    return {k: float(v) if k.endswith("seconds") else v for k, v in given.items()}
