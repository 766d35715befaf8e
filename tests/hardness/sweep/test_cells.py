"""Cells: keys without jobs equal the jobs' own."""

import subprocess
import sys
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hardness.oracles import Budget
from hardness.sweep.file import Runs
from hardness.sweep.jobs import RunJob, run_job
from hardness.sweep.plan import Cell, cells
from hardness.upper import parse_learner

LIMIT = st.none() | st.integers(1, 10**12)
NASTY = st.sampled_from(['"seed":0,', 'x","seed":0,"spec":"', "seed", "\\", "é\n", 'a"', '\\"'])
JOBS = st.builds(
    RunJob,
    spec=st.text(max_size=20) | NASTY,
    learner=st.text(max_size=20) | NASTY,
    seed=st.integers(0, 2**63 - 1),
    budget=st.builds(
        Budget, examples=LIMIT, queries=LIMIT, seconds=st.none() | st.floats(1e-3, 1e6)
    ),
    oracle=st.sampled_from([None, "samples", "exact"]),
    tau=st.none() | st.fractions(0, 1).map(Fraction),
    revisions=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    origin=st.none() | NASTY,
)


@given(JOBS, st.lists(st.integers(0, 2**63 - 1), max_size=4))
def test_keys_are_those_of_the_jobs(job, seeds):
    cell = Cell(first=job)
    assert cell.job(job.seed) == job
    assert list(cell.keys([job.seed, *seeds])) == [cell.job(s).key for s in [job.seed, *seeds]]


def test_cells_are_the_jobs_that_run_job_makes():
    budgets = (Budget(examples=9), Budget(queries=5, seconds=2.0))
    pairs = (
        ("parity:d=8,m=2,noise=0,rho=3", "queries"),
        ("parity:d=8,m=2,noise=0,rho=3", "elimination:checks=32"),
        ("nice:coherence=0,d=4,k=2,m=1,noise=0", "trivial"),
    )
    group = Runs(
        title="runs 1", pairs=pairs, seeds=range(3), budgets=budgets, oracle="exact",
        tau=Fraction(1, 7),
    )  # fmt: skip
    found = [cell.job(seed) for cell in cells(group) for seed in group.seeds]
    assert len(found) == group.count
    assert [job for job in found if "nice" not in job.spec] == [
        run_job(spec, parse_learner(name), seed, budget, "exact", Fraction(1, 7))
        for spec, name in pairs[:2]
        for budget in budgets
        for seed in range(3)
    ]


def test_a_learner_from_a_file_is_known_by_its_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = []
    for text in ("a = 1", "a = 2"):
        (tmp_path / "mine.py").write_text(text)
        pairs = (("parity:d=8,m=2,noise=0,rho=3", "mine.py:L"),)
        group = Runs(title="runs 1", pairs=pairs, seeds=range(1), budgets=(Budget(),))
        keys += list(next(cells(group)).keys(group.seeds))
    assert keys[0] != keys[1]


def test_the_module_can_be_the_first_that_is_imported():
    done = subprocess.run([sys.executable, "-c", "import hardness.sweep.plan"], check=False)
    assert done.returncode == 0
