"""Jobs: their keys stand in stores, so they stay what they are."""

import json
from fractions import Fraction

import pytest

from hardness.lower import Terms
from hardness.oracles import Budget
from hardness.sweep.gram import gram_cut
from hardness.sweep.jobs import KINDS, CertificateJob, read_job, run_job
from hardness.upper import parse_learner

CUT = gram_cut("parity:d=64,m=8", 4096, 10**8, seed=3)
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
        spec="parity:d=8,m=2,noise=0,rho=3", terms=Terms(), revision=1
    ),
    "b43ecd8cbf185c13eb4c423f350d67c7": CUT.part(0),
    "86f8e437123737bcf78325c582481665": CUT.part(7),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_stores_and_what_is_written_stay(key):
    job = KEYS[key]
    assert job.key == key
    again = read_job(json.loads(json.dumps({"kind": job.kind, **job.to_json()})))
    assert (again, again.key, again.label) == (job, key, job.label)


def test_every_kind_of_job_has_a_known_key():
    assert {job.kind for job in KEYS.values()} == set(KINDS)
    assert CUT.key == "84105ba3e51bb6294209e9e4dcd223b4"
