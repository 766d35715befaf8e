"""What a sweep's rows and figures claim: what counts as a run, and of what."""

from dataclasses import replace
from fractions import Fraction

import pytest
from scipy.stats import beta

from hardness.lower import certify
from hardness.oracles import Budget
from hardness.runs.rows import CertificateRow
from hardness.runs.run import Run
from hardness.sweep.figures import phase
from hardness.sweep.jobs import Finished, run_job
from hardness.upper import Outcome, parse_learner
from instances import parse

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


def cells(rows):
    return phase(rows, []).data["cells"]


def test_the_phase_diagram_has_the_claims_of_certificates():
    data = certify(parse(SPEC)).to_dict()
    kept = CertificateRow(key="00" * 32, spec=SPEC, terms={}, certificate=data)
    [found] = phase([], [kept]).data["certified"]
    assert found["claims"]["sq-dimension"]["value"] == "21"


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


def test_cells_hold_runs_of_one_kind_alone():
    rows = [row("queries", seed, QUERIES, tau=Fraction(1, t)) for seed in (0, 1) for t in (5, 10)]
    rows.append(replace(rows[0], revisions=rows[0].revisions | {"learner": 99}))
    found = cells(rows)
    assert [(c["tau"], c["revisions"]["learner"] == 99, c["runs"]) for c in found] == [
        ("1/10", False, 2),
        ("1/5", False, 2),
        ("1/5", True, 1),
    ]
    assert cells(reversed(rows)) == found


def test_runs_that_were_cut_may_have_gone_either_way():
    solved = [row(seed=seed) for seed in range(4)]
    as_other = {"learner": solved[0].learner, "revisions": solved[0].revisions}
    nothing = [replace(row("trivial", seed), **as_other) for seed in (4, 5)]
    ended = (nothing[0], solved[0], solved[1])
    cut = [replace(one, outcome=Outcome.OVERDUE) for one in ended]
    rows: list[Run] = [*solved, *nothing, *cut]
    (cell,) = cells(rows)
    assert (cell["runs"], cell["solved"], cell["not_run"]) == (6, 4, 3)
    # The ends of Clopper and Pearson are quantiles of beta distributions.
    wanted = [beta.ppf(0.025, 4, 6), beta.ppf(0.975, 8, 2)]
    assert cell["interval"] == pytest.approx(wanted)
    (cell,) = cells(cut)
    assert (cell["runs"], cell["interval"], cell["median_examples"]) == (0, [0.0, 1.0], None)
