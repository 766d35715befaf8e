"""Attention of other kinds than softmax: what it computes, and which statements it keeps."""

import numpy as np
import pytest

from hardness.check import check
from hardness.lower import certify
from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from instances import AttentionLayer, UsageError, parse
from instances.errors import Refuted
from instances.fineprint import off_lattice
from tests.conftest import sealed

KINDS = ("hardmax", "power2", "power4", "power8")


def by_hand(layer, x):
    """The layer, one row of one example at a time."""
    out = np.zeros(x.shape)
    for n, example in enumerate(x):
        for row in range(len(example)):
            for theta, w in zip(layer.theta, layer.w, strict=True):
                logits = example[row] @ theta @ example.T
                if layer.kind == "hardmax":
                    weights = (logits == logits.max()).astype(float)
                else:
                    weights = logits ** int(layer.kind[5:])
                out[n, row] += (weights / weights.sum()) @ example @ w
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_its_formula(kind):
    layer = parse(f"nice:m=2,k=3,d=5,tokens=gaussian,attention={kind}").instance(0).layer()
    x = np.random.default_rng(0).standard_normal((50, 3, 5))
    assert layer.kind == kind
    assert np.abs(layer(x) - by_hand(layer, x)).max() < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_equal_logits_share_the_weight(kind):
    layer = AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None], kind=kind)
    assert layer(np.array([[[1.0, 2.0], [3.0, 4.0]]])).tolist() == [[[2.0, 3.0], [2.0, 3.0]]]


def test_another_attention_or_another_family_is_refused():
    data = certify(parse("hardmax:d=9,m=2")).to_dict()
    for change in (
        {"problem": {**data["problem"], "view": "one-head"}},
        {"about": {"spec": "parity:d=9,m=2,noise=0,rho=3"}},
    ):
        with pytest.raises(Refuted):
            check(sealed({**data, **change}))


def test_an_even_power_cannot_tell_opposite_tokens_from_equal_ones():
    """Diagonal heads weigh a token and its negative alike, so no parity of a full set is theirs."""
    rng = np.random.default_rng(1)
    theta = np.stack([np.diag(rng.standard_normal(5)) for _ in range(3)])
    layer = AttentionLayer(theta=theta, w=rng.standard_normal((3, 5, 5)), kind="power2")
    x = rng.choice([-1.0, 1.0], (20, 1, 5))
    assert np.abs(layer(np.concatenate([x, -x], axis=1))).max() < 1e-12


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
