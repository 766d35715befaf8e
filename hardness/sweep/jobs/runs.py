"""A run of a learner as a job: its key is the content of everything the run depends on."""

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from hardness.oracles import Budget
from hardness.runs.run import OracleName, run
from hardness.sweep.jobs.job import content_key
from hardness.upper import Learner, learner_spec, parse_learner
from hardness.upper.isolated import Foreign
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.spec import file_of, parse_stored


@dataclass(frozen=True, kw_only=True)
class RunJob:
    """One learner on one instance: spec and learner in canonical form.

    seed: of both axes, the instance's and the learner's. oracle, tau: how queries are answered,
    None for a learner that asks none. origin: what a learner of one's own is, by the SHA-256 of
    its file or by the package it came with; None for the learners here. family: the SHA-256 of the
    file of a user's family.
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
    def key(self) -> str:
        """The content key of the run."""
        return content_key(self.kind, self.to_json())

    @property
    def label(self) -> str:
        """The learner."""
        return self.learner

    def to_json(self) -> dict[str, Any]:
        """Write the job."""
        return {
            "spec": self.spec,
            "learner": self.learner,
            "seed": self.seed,
            "budget": _written(self.budget),
            "oracle": self.oracle,
            "tau": None if self.tau is None else str(self.tau),
            "revisions": list(self.revisions),
            "origin": self.origin,
        } | ({"family": self.family} if self.family else {})

    @staticmethod
    def from_json(data: dict[str, Any]) -> "RunJob":
        """Read a job."""
        family, learner = data["revisions"]
        return RunJob(
            spec=data["spec"],
            learner=data["learner"],
            seed=data["seed"],
            budget=Budget(**data["budget"]),
            oracle=data["oracle"],
            tau=None if data["tau"] is None else Fraction(data["tau"]),
            revisions=(family, learner),
            origin=data["origin"],
            family=data.get("family"),
        )

    def do(self) -> dict[str, Any]:
        """Run the learner: a Run as JSON; raises ToolkitError where it cannot run here."""
        learner, family = self.resolve()
        done = run(
            learner,
            family.instance(self.seed),
            self.budget,
            seed=self.seed,
            oracle=self.oracle or "samples",
            tau=self.tau or Fraction(1, 10),
        )
        said = (done.details.get("sha256"), done.details.get("package"), None)
        if self.origin and any(said) and self.origin not in said:
            raise ToolkitError(f"{self.learner} is not the one that the sweep was planned with")
        return done.to_json()

    def resolve(self) -> tuple[Learner, Family]:
        """Find learner and family; raises ToolkitError for revisions that were not planned."""
        learner = parse_learner(self.learner)
        family = parse_stored(self.spec)
        found = (family.revision, learner.revision)
        if found != self.revisions:
            raise ToolkitError(
                f"{self.learner} on {self.spec} has revisions {found} here and {self.revisions} "
                "where the sweep was planned: install the same version everywhere"
            )
        if file_of(family.name) != self.family:
            raise ToolkitError(f"the file of {family.name} is not the one of the sweep's plan")
        return learner, family


def run_job(
    spec: str,
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
    family = parse_stored(spec)
    asks = learner.access != "examples"
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


def origin(learner: Learner) -> str | None:
    """Say what a learner of one's own is: the SHA-256 of its file, or its package and version."""
    if not isinstance(learner, Foreign):
        return None
    if learner.file is None:
        return learner.package
    try:
        return hashlib.sha256(learner.file.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{learner.spec} cannot be read: {error.strerror}") from error


def _written(budget: Budget) -> dict[str, float]:
    """Write a budget in one form: 60 seconds and 60.0 are equal, and so must be their keys."""
    given = {k: v for k, v in vars(budget).items() if v is not None}
    return {k: float(v) if k.endswith("seconds") else v for k, v in given.items()}
