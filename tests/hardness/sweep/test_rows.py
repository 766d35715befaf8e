"""What a sweep's rows claim: what counts as a run, and of what."""

from fractions import Fraction

import pytest

from hardness.oracles import Budget
from hardness.sweep.jobs import Finished, run_job
from hardness.upper import Outcome, parse_learner

SPEC, EXAMPLES = "parity:d=8,m=2", Budget(examples=3000)
QUERIES = Budget(queries=500)
OWN = """
class Dies:
    name, access = "dies", "either"

    def learn(self, oracle, rng):
        import os
        import signal
        os.kill(os.getpid(), signal.SIGKILL)
"""


def row(learner="elimination", seed=0, budget=EXAMPLES, **how):
    job = run_job(SPEC, parse_learner(learner), seed, budget, **how)
    return job.row(Finished(result=job.do()))


@pytest.mark.parametrize(
    "outcome",
    [Outcome.CRASHED, Outcome.BROKE_OFF, Outcome.NOT_LOADED, Outcome.TOO_MANY_PROCESSES],
)
def test_what_ended_a_learners_own_process_is_no_result_of_the_learner(outcome):
    job = run_job(SPEC, parse_learner("trivial"), 0, Budget(examples=9))
    ended = job.do() | {"outcome": outcome.value}
    found = job.row(Finished(result=ended))
    assert (found.bound, found.reproducible) == ("machine", False)


def test_a_learner_from_a_file_says_how_queries_are_answered_and_is_marked(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    found = row(f"{file}:Dies", tau=Fraction(1, 7), oracle="exact")
    assert (found.details["tau"], found.details["oracle"]) == ("1/7", "exact")
    assert (found.outcome, found.reproducible) == (Outcome.CRASHED, False)
    job = run_job(SPEC, parse_learner(f"{file}:Dies"), 0, Budget(), tau=Fraction(1, 7))
    failed = job.row(Finished(failure="died"))
    assert failed.details["tau"] == "1/7"
