"""Other forms of a layer: the same function, by heads that are others."""

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from instances import UsageError, parse
from instances.forms import FORMS, formed
from instances.heads import Heads
from instances.teacher import teach
from instances.tokenlaw import law_of

OF = {
    "flipped": ["nice:m=3,k=2,d=7", "parity:d=9,m=3", "parity_position:d=8,m=2,w0=gaussian"],
    "split": ["nice:m=2,k=3,d=5", "hardmax:d=9,m=3", "tokens3:d=7,m=2", "lwr:n=3,q=8,p=2"],
    "padded": ["nice:m=2,k=3,d=5", "linear:m=2,k=2,d=4", "profile:g=majority,d=9,m=4"],
    "copies": ["parity:d=9,m=3", "parity:d=30,m=6", "profile:g=h**2,d=9,m=4"],
    "matched": ["parity:d=9,m=2", "parity:d=40,m=6,rho=2"],
    "moved": ["parity:d=9,m=3", "parity:d=30,m=7", "profile:g=majority,d=9,m=5"],
}


@pytest.mark.parametrize(("name", "spec"), [(n, s) for n, specs in OF.items() for s in specs])
def test_a_form_computes_the_same(name, spec):
    instance = parse(spec).instance(1)
    plain, other = instance.layer(), formed(instance, name)
    x = instance.examples(0, 3000).x
    scale = np.abs(plain(x)).max() + np.abs(other.w).sum(axis=0).max()
    assert np.abs(plain(x) - other(x)).max() <= 1e-12 * scale
    assert other.m != plain.m
    assert set(OF) == set(FORMS)


def test_an_antisymmetric_form_has_no_diagonal_on_the_set():
    instance = parse("parity:d=9,m=4").instance(0)
    theta = formed(instance, "matched").theta[:4][:, 1:, 1:]
    assert (theta == -theta.transpose(0, 2, 1)).all()
    assert theta.any()


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("flipped", "nice:m=2,k=3,d=5"),
        ("flipped", "linear:m=2,k=2,d=4"),
        ("matched", "parity:d=9,m=3"),
        ("matched", "profile:g=majority,d=9,m=4"),
        ("moved", "parity:d=9,m=4"),
        ("copies", "hardmax:d=9,m=3"),
        ("copies", "tokens3:d=9,m=2"),
        ("none", "parity:d=9,m=3"),
    ],
)
def test_a_form_that_is_not_there_is_one_line(name, spec):
    with pytest.raises(UsageError) as found:
        formed(parse(spec).instance(0), name)
    assert "\n" not in str(found.value)


def test_a_learner_finds_the_function_whatever_its_form():
    instance = parse("nice:m=2,k=2,d=6").instance(0)
    for name in ("split", "padded", "flipped"):
        taught = teach(Heads.of(formed(instance, name)), law_of("boolean", 6))
        assert run(parse_learner("levenberg:heads=2"), taught, Budget()).risk.value < 1e-20
