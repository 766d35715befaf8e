"""Climbs of a sweep: each learner goes on to a rung when it passed on some seed of the last."""

from dataclasses import replace
from typing import Any

from hardness.compare.climb import Climb as Climbed
from hardness.compare.climb import Trials
from hardness.compare.engines import Finished
from hardness.compare.jobs import Job, RunJob, run_job
from hardness.compare.run import Run
from hardness.compare.store.rows import FigureRow, Row
from hardness.compare.stress import TERMS, instance_seeds, rung_budget
from hardness.compare.sweep.ends import run_row
from hardness.compare.sweep.record import Climb
from hardness.compare.sweep.strands import Known
from hardness.compare.sweep.tally import Tally
from hardness.upper import learner_spec, parse_learner
from instances.spec import parse_stored


class Climber:
    """One learner on its way up."""

    def __init__(
        self, group: Climb, base_seed: int, asked: str, known: Known, tally: Tally
    ) -> None:
        """Stand before the first rung."""
        self.learner = parse_learner(asked)
        self.climbed = Climbed(
            learner=learner_spec(self.learner), asked=asked, reference=False, rungs=()
        )
        self._group, self._base, self._known, self._tally = group, base_seed, known, tally
        self._jobs: dict[str, RunJob] = {}
        self._runs: dict[str, Run] = {}

    @property
    def over(self) -> bool:
        """Whether there is no rung left to try."""
        return not self.climbed.climbing or len(self.climbed.rungs) == len(self._group.ladder.rungs)

    def next(self) -> RunJob | None:
        """Return a run of this rung, or of one that follows where all of it was done before."""
        while not self.over:
            if not self._jobs and not self.enter():
                return None
            for key, job in self._jobs.items():
                row = None if key in self._runs else self._known.look(key)
                if row:
                    self._runs[key] = row.run
                elif self._known.begin(key):
                    return job
            if len(self._runs) < len(self._jobs):
                return None
            self._leave()
        return None

    def enter(self) -> bool:
        """Prepare the runs of the next rung, unless its family is not taken."""
        at = len(self.climbed.rungs)
        rung, spec = self._group.ladder.rungs[at], self._group.ladder.specs[at]
        reason = self.learner.supports(parse_stored(spec))
        if reason:
            self.climbed = replace(self.climbed, unsupported=reason)
            return False
        budget = rung_budget(rung, self._group.budget)
        seeds = instance_seeds(self._base, spec, self._group.seeds)
        jobs = [run_job(spec, self.learner, seed, budget, tau=TERMS.tau) for seed in seeds]
        self._jobs, self._runs = {job.key: job for job in jobs}, {}
        self._known.count(list(self._jobs), self.climbed.learner, self._tally)
        return True

    def _leave(self) -> None:
        """Write the trials of the rung down."""
        job = next(iter(self._jobs.values()))
        trials = tuple(self._runs[key] for key in self._jobs)
        rung = Trials(spec=job.spec, budget=job.budget, trials=trials)
        self.climbed = replace(self.climbed, rungs=(*self.climbed.rungs, rung))
        self._jobs = {}


class ClimbStrand:
    """All learners of a group, each on its own: jobs are counted as rungs are reached."""

    def __init__(
        self, group: Climb, base_seed: int, known: Known, tally: Tally, sweep: str
    ) -> None:
        """Let every learner stand before the first rung; sweep: the SHA-256 of its file."""
        self._group, self._base, self._sweep = group, base_seed, sweep
        self._climbers = [Climber(group, base_seed, name, known, tally) for name in group.learners]
        for climber in self._climbers:
            climber.enter()  # so that its runs are counted
        self._written = False

    def next(self) -> Job | None:
        """Return a run of the first learner that has one."""
        for climber in self._climbers:
            job = climber.next()
            if job:
                return job
        return None

    def take(self, job: Job, finished: Finished) -> list[Row]:
        """Write a run down; the climbers find it when they are asked for the next."""
        assert isinstance(job, RunJob)
        return [run_row(job, finished)]

    def last(self) -> list[Row]:
        """Write down how far each climbed, when all are over."""
        if self._written or not all(climber.over for climber in self._climbers):
            return []
        self._written = True
        group = self._group
        return [
            FigureRow(
                name=f"{group.title} of {self._sweep[:8]}",
                data={
                    "ladder": group.ladder.name,
                    "rungs": list(group.ladder.specs),
                    "seeds": group.seeds,
                    "base_seed": self._base,
                    "climbs": [_timeless(climber.climbed.to_json()) for climber in self._climbers],
                },
            )
        ]


def _timeless(climb: dict[str, Any]) -> dict[str, Any]:
    """Leave out the medians of times: equal runs give equal data."""
    rungs = [{k: v for k, v in rung.items() if k != "median_seconds"} for rung in climb["rungs"]]
    return climb | {"rungs": rungs}
