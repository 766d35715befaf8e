"""Attention of other kinds than softmax: which statements it keeps."""

import pytest

from hardness.check import check
from hardness.lower import certify
from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from instances import UsageError, parse
from instances.errors import Refuted
from instances.fineprint import off_lattice
from tests.conftest import sealed


def test_another_attention_or_another_family_is_refused():
    data = certify(parse("hardmax:d=9,m=2")).to_dict()
    for change in (
        {"problem": {**data["problem"], "view": "one-head"}},
        {"about": {"spec": "parity:d=9,m=2,noise=0,rho=3"}},
    ):
        with pytest.raises(Refuted):
            check(sealed({**data, **change}))


def test_dials_leave_old_specs_alone_and_do_what_they_say():
    plain = parse("nice:m=1,k=2,d=9")
    assert "attention" not in plain.spec
    assert "lattice" not in plain.spec
    apart = [
        off_lattice(parse(f"nice:m=1,k=2,d=9,lattice={t}").instance(0).layer().w[0])
        for t in (0, 0.5, 1)
    ]
    assert apart[0] > 0.2 > apart[1] > 0.1 > apart[2] == 0
    for wrong in ("lattice=2", "attention=linear", "attention=power4,parity=0.5"):
        with pytest.raises(UsageError, match=" given"):
            parse(f"nice:m=1,k=2,d=9,{wrong}")


def test_powers_are_flagged_by_the_stage_that_counts_heads():
    instance = parse("nice:m=2,k=2,d=8,attention=power4").instance(0)
    found = run(parse_learner("staged:examples=20000,polish=20"), instance, Budget())
    assert found.outcome is Outcome.DEGENERATE
    assert "span" in found.details["failed"]
