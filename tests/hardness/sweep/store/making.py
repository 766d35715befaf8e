"""Rows for the tests of stores."""

import dataclasses
from functools import cache

from msgspec.structs import replace

from hardness.lower import BoundParameters, certify
from hardness.oracles import Budget
from hardness.runs.rows import (
    CertificateRow,
    Row,
    SweepRow,
)
from hardness.runs.run import Run, run
from hardness.sweep.jobs import run_job
from hardness.upper import Outcome, parse_learner
from instances import parse

BUDGET = Budget(examples=100, seconds=2.5)
NAMES = ("trivial", "elimination", "lowdegree")
SPEC = "parity:d=10,m=2,noise=0,rho=2"

TERMS = BoundParameters()
CERTIFICATE = certify(parse(SPEC), TERMS).to_dict()


def key(i: int) -> str:
    """Of the job that `made_run(i)` was."""
    spec, name = SPEC.replace("d=10", f"d={9 + i % 2}"), NAMES[i % 3]
    return run_job(spec, parse_learner(name), i // 6, BUDGET).key


@cache
def base(learner: str) -> Run:
    return run(parse_learner(learner), parse(SPEC).instance(0), BUDGET)


def made_run(i: int, **changed: object) -> Run:
    one = base(NAMES[i % 3])
    one = replace(one, seed=i // 6, spec=SPEC.replace("d=10", f"d={9 + i % 2}"))
    if i % 10 == 9:
        one = replace(
            one,
            outcome=Outcome.CRASHED,
            risk=None,
            secret_recovered=None,
            details={"why": "signal 9"},
        )
    return replace(one, key=key(i), **changed)


def rows(count: int) -> list[Row]:
    """Runs, and one or two of every other kind."""
    return [
        *(made_run(i) for i in range(count)),
        CertificateRow(key="c" * 32, spec=SPEC, terms=TERMS.to_dict(), certificate=CERTIFICATE),
    ]


def sweep(**changed: object) -> SweepRow:
    one = SweepRow(
        name="small",
        text="[sweep]",
        engine="local",
        slots=2,
        state="running",
        planned={"trivial": 3},
        done={"trivial": 1},
        failed={},
        started=1.0,
        updated=2.0,
        climbs={"climbs 1": {"base_seed": 2**63 + 1}},
    )
    return dataclasses.replace(one, **changed)
