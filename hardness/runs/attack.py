"""An attack on instances of a family: how often it finds the secret, and what that takes."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hardness.oracles import Budget
from hardness.runs.columns import runs_frame
from hardness.runs.planned import Do, Planned, here
from hardness.runs.run import Run, require_support, run
from hardness.upper import ATTACKS, learner_spec, parse_learner
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.files import Folder
from instances.result import Result, TableRow
from instances.spec import require_stored

if TYPE_CHECKING:
    from pandas import DataFrame

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True, repr=False)
class AttackResult(Result):
    """The runs of one attack, on fresh instances of a family or on the instance of a folder."""

    spec: str
    learner: str
    runs: tuple[Run, ...]

    @property
    def judged(self) -> int:
        """How many runs there are of which it is known whether the secret was found."""
        return sum(known(r) for r in self.runs)

    @property
    def recovered(self) -> int:
        """In how many runs the secret was found."""
        return sum(r.secret_recovered is True for r in self.runs)

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds on the rate of success (Clopper and Pearson)."""
        from scipy.stats import binomtest

        if not self.judged:
            return 0.0, 1.0
        found = binomtest(self.recovered, self.judged).proportion_ci(CONFIDENCE, "exact")
        return float(found.low), float(found.high)

    @property
    def seconds(self) -> float:
        """The median time of a run."""
        return statistics.median(r.usage.seconds for r in self.runs)

    @property
    def examples(self) -> float:
        """The median number of examples of a run."""
        return statistics.median(r.usage.examples for r in self.runs)

    @property
    def peak_bytes(self) -> int:
        """The largest memory of a process that ran it."""
        return max(r.usage.peak_bytes for r in self.runs)

    def _summary(self) -> tuple[str, list[TableRow]]:
        low, high = self.interval
        row = {
            "attack": self.learner,
            "found": f"{self.recovered}/{self.judged}",
            "examples": self.examples,
            "seconds": self.seconds,
            "known": f"rate in [{low:.2f}, {high:.2f}], {CONFIDENCE:.0%}",
        }
        return self.spec, [row]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write the attack as JSON."""
        return {
            "spec": self.spec,
            "learner": self.learner,
            "recovered": self.recovered,
            "judged": self.judged,
            "success_interval": list(self.interval),
            "confidence": CONFIDENCE,
            "median_seconds": self.seconds,
            "median_examples": self.examples,
            "peak_bytes": self.peak_bytes,
            "runs": [r.to_dict() for r in self.runs],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Attacks(Result):
    """Several attacks on one family; not_run: why others could not be."""

    spec: str
    attacks: tuple[AttackResult, ...]
    not_run: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Write all of them as JSON."""
        attacks = [one.to_dict() for one in self.attacks]
        return {"spec": self.spec, "attacks": attacks, "not_run": self.not_run}

    def _summary(self) -> tuple[str, list[TableRow]]:
        return self.spec, [row for one in self.attacks for row in one._summary()[1]]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of all runs: one row a run."""
        return runs_frame(run for one in self.attacks for run in one.runs)


def known(found: Run) -> bool:
    """Return whether it is known if a run found the secret: not where nobody knows it."""
    return found.secret_recovered is not None or found.risk is not None


def attacks_on(family: Family) -> tuple[str, ...]:
    """Name the attacks that run on a family: learners that look for the secret itself.

    >>> from instances import parse
    >>> "elimination" in attacks_on(parse("parity:d=16,m=3"))
    True
    """
    return tuple(name for name in ATTACKS if not parse_learner(name).supports(family))


def attack(
    name: str,
    target: Family | Folder,
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    do: Do = here,
    progress: Callable[[int], None] = lambda done: None,
) -> AttackResult:
    """Run one attack on instances of several seeds, or on the one of a folder.

    do: who does the runs; the result does not depend on it, seconds and memory apart. Raises
    ToolkitError where the attack cannot run on the family, or a run cannot be done.

    >>> from instances import parse
    >>> attack("elimination", parse("parity:d=16,m=3"), seeds=2).recovered
    2
    """
    learner, budget = parse_learner(name), budget or Budget()
    if isinstance(target, Folder):
        found = run(learner, target, budget, first_seed)
        progress(1)
        return AttackResult(spec=target.family.spec, learner=learner_spec(learner), runs=(found,))
    if seeds < 1:
        raise UsageError(f"{seeds} seeds given: at least one is needed")
    require_stored(target, "its instances cannot be attacked in other processes")
    require_support(learner, target)
    planned = [
        Planned(spec=target.spec, learner=name, seed=seed, budget=budget)
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs: dict[int, Run] = {}
    for index, done in do(planned):
        if isinstance(done, ToolkitError):
            raise done
        runs[index] = done
        progress(1)
    return AttackResult(
        spec=target.spec,
        learner=learner_spec(learner),
        runs=tuple(runs[i] for i in range(seeds)),
    )
