"""A sweep as its file says it, read and checked; nothing is enumerated yet."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from hardness.lower import Terms
from hardness.oracles import Budget
from hardness.runs.run import OracleName
from hardness.sweep.engines import Limits
from instances.ladders import Ladder


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Every learner on every spec, seed and budget.

    specs, learners: canonical, without repetitions. left_out: pairs (learner, reason) that cannot
    run, with the number of specs. certify: whether specs of families with exact evidence are
    certified too, for `terms`.
    """

    title: str  # as in messages: "runs 1"
    pairs: Sequence[tuple[str, str]]  # (spec, learner) that can run, in the order of the file
    seeds: range | tuple[int, ...]
    budgets: tuple[Budget, ...]
    oracle: OracleName = "samples"
    tau: Fraction = Fraction(1, 10)
    certify: bool = True
    left_out: tuple[tuple[str, str, int], ...] = ()  # (learner, reason, specs)

    @property
    def terms(self) -> Terms:
        """What certificates are about."""
        return Terms(tau=self.tau)

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.pairs) * len(self.seeds) * len(self.budgets)


@dataclass(frozen=True, kw_only=True)
class Climb:
    """Learners on a ladder: as `stress` does, each until it passes on none of a rung's seeds.

    base_seed: None to draw it from the operating system when the sweep starts. budget: stands in
    place of that of every rung.
    """

    title: str
    ladder: Ladder
    learners: tuple[str, ...]
    seeds: int
    base_seed: int | None
    budget: Budget

    @property
    def count(self) -> int:
        """How many runs there are at most."""
        return len(self.learners) * self.seeds * len(self.ladder.rungs)


@dataclass(frozen=True, kw_only=True)
class Gram:
    """A sampled Gram matrix of members of a family, in blocks of members and samples."""

    title: str
    spec: str
    members: int
    samples: int
    confidence: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep: its groups in the order of the file, and the hard limits of every attempt.

    >>> Sweep(name="empty", text="").count
    0
    """

    name: str
    text: str  # of the file
    runs: tuple[Runs, ...] = ()
    climbs: tuple[Climb, ...] = ()
    grams: tuple[Gram, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def sha256(self) -> str:
        """What a store knows the sweep by: the hash of its file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def count(self) -> int:
        """How many runs there are, at most where some learners may stop climbing."""
        return sum(g.count for g in self.runs) + sum(g.count for g in self.climbs)
