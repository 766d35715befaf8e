"""The runs of a group cell by cell: all that a job is but its seed, and quick keys of seeds."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hardness.oracles import Budget
from hardness.sweep.jobs import RunJob, origin
from hardness.upper import parse_learner
from instances.spec import file_of, kind_of

if TYPE_CHECKING:  # sweeps import this module
    from hardness.sweep.file import Runs

_SEED = '"seed":0,'  # quotes inside of JSON strings are escaped: it stands there once


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A learner on a spec within a budget: the jobs of all its seeds; `first` is that of seed 0."""

    first: RunJob

    @property
    def spec(self) -> str:
        """The canonical spec."""
        return self.first.spec

    @property
    def learner(self) -> str:
        """The canonical learner."""
        return self.first.learner

    @property
    def budget(self) -> Budget:
        """The budget of every run."""
        return self.first.budget

    def job(self, seed: int) -> RunJob:
        """Make the job of a seed."""
        return replace(self.first, seed=seed)

    def keys(self, seeds: Iterable[int]) -> Iterator[str]:
        """Hash the content of jobs: `job(seed).key` of each seed, without making the jobs.

        >>> from hardness.sweep.jobs import run_job
        >>> one = run_job("parity:d=8,m=2", parse_learner("queries"), 0, Budget(queries=9))
        >>> list(Cell(first=one).keys([7])) == [Cell(first=one).job(7).key]
        True
        """
        start, end = self._around
        for seed in seeds:
            found = start.copy()
            found.update(b"%d%b" % (seed, end))
            yield found.hexdigest()[:32]

    @cached_property
    def _around(self) -> tuple[Any, bytes]:
        """What is hashed before the seed, and the text behind it."""
        content = [self.first.kind, replace(self.first, seed=0).to_json()]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        before, after = text.split(_SEED)
        return hashlib.sha256((before + _SEED[:-2]).encode()), ("," + after).encode()


def cells(runs: "Runs") -> Iterator[Cell]:
    """List the cells of a group: pairs in their order, within a pair the budgets in theirs.

    No spec is read again: they are canonical. Raises UsageError for a learner's file that is gone.
    """
    known: dict[str, tuple[int, bool, str | None]] = {}
    for spec, name in runs.pairs:
        if name not in known:
            learner = parse_learner(name)
            known[name] = (learner.revision, learner.access != "examples", origin(learner))
        revision, asks, whose = known[name]
        kind: Any = kind_of(spec.partition(":")[0])
        for budget in runs.budgets:
            first = RunJob(
                spec=spec,
                learner=name,
                seed=0,
                budget=budget,
                oracle=runs.oracle if asks else None,
                tau=runs.tau if asks else None,
                revisions=(kind.revision, revision),
                origin=whose,
                family=file_of(kind.name),
            )
            yield Cell(first=first)
