"""Rows for the tests of stores, and child processes by fork, which need not import all again."""

import dataclasses
import sqlite3
from contextlib import closing
from functools import cache

from msgspec.structs import replace

from hardness.bounds import BoundParameters, certify
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs.registry import parse_learner
from hardness.runs.rows import CertificateRow, SweepRow
from hardness.runs.run import run
from hardness.sweep.jobs import run_job
from instances import parse

BUDGET = Budget(examples=100, seconds=2.5)
NAMES = ("trivial", "elimination", "lowdegree")
SPEC = "parity:d=10,m=2,noise=0,rho=2"
TERMS = BoundParameters()
CERTIFICATE = certify(parse(SPEC), TERMS).to_dict()


def _job(i):
    """The spec, the learner and the seed of a run by its number."""
    return SPEC.replace("d=10", f"d={9 + i % 2}"), NAMES[i % 3], i // 6


def key(i):
    """Of the job that `made_run(i)` was."""
    spec, name, seed = _job(i)
    return run_job(spec, parse_learner(name), seed, BUDGET).key


@cache
def _base(learner):
    return run(parse_learner(learner), parse(SPEC).instance(0), BUDGET)


def made_run(i, **changed):
    """A run as a sweep stores it; every tenth has crashed."""
    spec, name, seed = _job(i)
    one = replace(_base(name), seed=seed, spec=spec, key=key(i))
    if i % 10 == 9:
        changed = {"risk": None, "secret_recovered": None, "details": {"why": "signal 9"}} | changed
        changed.setdefault("outcome", Outcome.CRASHED)
    return replace(one, **changed)


def rows(count):
    """Runs and a certificate."""
    terms = TERMS.to_dict()
    row = CertificateRow(key="c" * 32, spec=SPEC, terms=terms, certificate=CERTIFICATE)
    return [*map(made_run, range(count)), row]


def sweep(**changed):
    one = SweepRow(
        name="small", text="[sweep]", engine="local", slots=2, planned={"trivial": 3},
        done={"trivial": 1}, started=1.0, updated=2.0,
        climbs={"climbs 1": {"base_seed": 2**63 + 1}},
    )  # fmt: skip
    return dataclasses.replace(one, **changed)


def edit(path, change):
    """Change a store behind its back, by one statement or several: how many rows the last hit."""
    with closing(sqlite3.connect(path)) as connection:
        for one in change.split("; "):
            hit = connection.execute(one).rowcount
        connection.commit()
        return hit
