"""Jobs: their keys stand in stores, so they stay what they are."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.lower import BoundParameters
from hardness.oracles import Budget
from hardness.sweep.jobs import CertificateJob, RunJob, read_job, run_job
from hardness.upper import parse_learner

KEYS = {
    "431b38480c210e9246b3b442b1161e1c": run_job(
        "parity:d=8,m=2",
        parse_learner("queries"),
        2,
        Budget(queries=200, seconds=60),
        tau=Fraction(1, 7),
    ),
    "cc4ca78e5696831c2b263b3097681589": run_job(
        "parity:d=16,m=2", parse_learner("elimination"), 1, Budget(examples=2000)
    ),
    "6d0168732a69f718d1f56e99690a2a18": CertificateJob(
        spec="parity:d=8,m=2,noise=0,rho=3", terms=BoundParameters(), revision=1
    ),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_stores_and_what_is_written_stay(key):
    job = KEYS[key]
    assert job.key == key
    again = read_job(job.payload())
    assert (again, again.key, again.label) == (job, key, job.label)


def test_equal_budgets_are_one_key():
    learner = parse_learner("trivial")
    budgets = [Budget(seconds=s, cpu_seconds=s) for s in (60, 60.0)]
    assert len({run_job("parity:d=8,m=2", learner, 0, budget).key for budget in budgets}) == 1


LIMIT = st.none() | st.integers(1, 10**12)
NASTY = st.sampled_from(["", "\\", "é\n", 'a"', '\\"', " 7"])
JOBS = st.builds(
    RunJob,
    spec=NASTY,
    learner=NASTY,
    seed=st.integers(0, 2**70),
    budget=st.builds(Budget, examples=LIMIT, seconds=st.none() | st.floats(1e-3, 1e6)),
    oracle=st.sampled_from([None, "samples", "exact"]),
    tau=st.none() | st.fractions(0, 1).map(Fraction),
    revisions=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    origin=st.none() | NASTY,
)


@given(JOBS, JOBS)
def test_a_key_is_that_of_what_is_written(job, other):
    assert read_job(job.payload()) == job
    assert job.keys(other.seed) == job.with_seed(other.seed).key
    assert (job.key == other.key) is (job == other)
