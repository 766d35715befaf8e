"""How a finished job becomes a row: the run that it was, or the run that could not be."""

from hardness.compare.climb import bound_by
from hardness.compare.engines import Failure, Finished
from hardness.compare.jobs import RunJob
from hardness.compare.machine import machine, versions
from hardness.compare.run import Run
from hardness.compare.store.rows import Bound, RunRow
from hardness.oracles import Usage
from hardness.upper import Outcome

# Ends of a learner's own process that a signal, a library which is not there or another load on the
# machine can make as well as the learner itself.
_PASSING = (
    Outcome.CRASHED,
    Outcome.BROKE_OFF,
    Outcome.NOT_LOADED,
    Outcome.TOO_MANY_PROCESSES,
)
_OUTCOMES: dict[Failure, Outcome] = {
    "died": Outcome.CRASHED,
    "overdue": Outcome.OVERDUE,
    "memory": Outcome.MEMORY_SPENT,
    "raised": Outcome.RAISED,
    "refused": Outcome.REFUSED,
}


def run_row(job: RunJob, finished: Finished) -> RunRow:
    """Make the row of a run, also of one that its worker did not live to end.

    >>> from fractions import Fraction
    >>> from hardness.oracles import Budget
    >>> job = RunJob(spec="parity:d=8,m=2,noise=0,rho=2", learner="trivial", seed=0,
    ...              budget=Budget(), revisions=(1, 1))
    >>> row = run_row(job, Finished(key=job.key, failure="overdue", why="60 s", attempts=3))
    >>> row.run.outcome.value, row.bound, row.reproducible
    ('overdue', 'machine', False)
    """
    bound: Bound
    if finished.result is None:
        run, bound = _failed(job, finished), _bound(finished)
    else:
        run = Run.from_json(finished.result)
        bound = "machine" if run.outcome in _PASSING else bound_by(run, job.budget)
    return RunRow(key=job.key, run=run, budget=job.budget, bound=bound, attempts=finished.attempts)


def _bound(finished: Finished) -> Bound:
    # What raises does so again; all else is this machine's doing.
    return "none" if finished.failure == "raised" else "machine"


def _failed(job: RunJob, finished: Finished) -> Run:
    family, learner = job.revisions
    how = {} if job.oracle is None else {"tau": str(job.tau), "oracle": job.oracle}
    return Run(
        spec=job.spec,
        learner=job.learner,
        seed=job.seed,
        outcome=_OUTCOMES[finished.failure or "died"],
        risk=None,
        usage=Usage(examples=0, queries=0, seconds=float(finished.seconds), peak_bytes=0),
        secret_recovered=None,
        details={"why": finished.why, **how},
        revisions={"family": family, "learner": learner},
        versions=versions(),
        machine=machine(),
    )
