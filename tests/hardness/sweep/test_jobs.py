"""Jobs: their keys stand in stores, so they stay what they are."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.lower import BoundParameters
from hardness.oracles import Budget
from hardness.sweep.jobs import KINDS, CertificateJob, RunJob, key_by_seed, read_job, run_job
from hardness.upper import parse_learner

KEYS = {
    "8f2e2d5874fd15351da72b99daffb94b": run_job(
        "parity:d=8,m=2",
        parse_learner("queries"),
        2,
        Budget(queries=200, seconds=60),
        tau=Fraction(1, 7),
    ),
    "44235fc14a4dd9fdf57cabd40a6da398": run_job(
        "parity:d=16,m=2", parse_learner("elimination"), 1, Budget(examples=2000)
    ),
    "a59ad324d6c8691491004badd451fed3": CertificateJob(
        spec="parity:d=8,m=2,noise=0,rho=3", terms=BoundParameters(), revision=1
    ),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_stores_and_what_is_written_stay(key):
    job = KEYS[key]
    assert job.key == key
    again = read_job(json.loads(json.dumps({"kind": job.kind, **job.to_dict()})))
    assert (again, again.key, again.label) == (job, key, job.label)


def test_every_kind_of_job_has_a_known_key():
    assert {job.kind for job in KEYS.values()} == set(KINDS)


def test_equal_budgets_are_one_key():
    learner = parse_learner("trivial")
    budgets = [Budget(seconds=s, cpu_seconds=s) for s in (60, 60.0)]
    assert len({run_job("parity:d=8,m=2", learner, 0, budget).key for budget in budgets}) == 1


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
def test_keys_by_seed_are_those_of_the_jobs(job, seeds):
    assert list(map(key_by_seed(job), seeds)) == [replace(job, seed=seed).key for seed in seeds]
