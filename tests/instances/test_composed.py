"""Parities as a public map of one head: the map, its error, and what is said of the layer."""

import json

import numpy as np
import pytest

from hardness.check import check
from hardness.lower import certify, verify
from hardness.lower.measures import measures
from hardness.oracles import Budget
from hardness.report.charts.portrait import of_portrait
from hardness.runs import run
from hardness.upper import parse_learner
from instances import ToolkitError, parse
from instances.errors import Refuted
from instances.families.composed import Composed
from instances.inspect import inspect


@pytest.mark.parametrize(
    "spec",
    ["d=8,m=1", "d=9,m=3", "d=70,m=10,noise=0.1", "d=130,m=21", "d=90,m=66", "d=9,m=4,rho=2"],
)
def test_the_map_of_one_head_is_the_label_of_the_parity(spec):
    family = parse(f"composed:{spec}")
    twin = parse(f"parity:d={family.d},m={family.m},noise={family.noise}")
    secret = family.draw(np.random.default_rng(5))
    drawn = family.stream(secret, 3, "examples", 0, 600)
    same = twin.stream(secret, 3, "examples", 0, 600)
    assert (drawn.words == same.words).all()
    assert (drawn.y == same.y).all()
    layer = family.layer(secret)
    assert layer.m == family.layer_heads == 1
    off = np.abs(family.outer(layer(drawn.x)) - twin.label(secret, drawn.x)).max()
    assert off <= family.layer_error.error <= 1e-9
    assert off <= family.layer_tolerance(layer) * (1 + 1e-12)
    assert family.layer_error.exact


def test_the_map_is_odd_public_and_has_a_node_for_every_value():
    family = parse("composed:d=12,m=4")
    at, values = zip(*family.nodes, strict=True)
    assert list(values) == [0, 1, -1, 1, -1, 1, family.known_constant]
    assert list(at) == sorted(at)
    assert at[0] == 0 < at[1]
    assert at[-2] < 1 == at[-1]
    # tanh of what the head's logits are, an independent way to the responses
    steps = np.log(float(family.rho)) * (np.arange(5) + 1)
    assert np.allclose([float(r) for r in at[1:-1]], np.tanh(steps), rtol=1e-14)
    y = np.linspace(-1, 1, 401)
    assert (family.outer(-y) == -family.outer(y)).all()
    assert (
        abs(family.outer(np.array([float(r) for r in at])) - [float(v) for v in values]).max()
        < 1e-13
    )
    slopes = np.abs(np.diff(family.outer(y))).max() * 200
    assert slopes <= float(family.slope) * (1 + 1e-9)


def test_a_map_too_steep_for_float64_is_refused_but_not_its_certificate():
    for spec in ("composed:d=90,m=67", "composed:d=40,m=8,rho=3"):
        family = parse(spec)
        with pytest.raises(ToolkitError, match="lower rho"):
            family.instance(0).layer()
        check(json.loads(json.dumps(certify(family).to_dict())))


def test_its_certificate_is_that_of_the_parity_in_other_words():
    found, twin = (certify(parse(f"{name}:d=30,m=4")) for name in ("composed", "parity"))
    assert [(c.quantity, c.value) for c in found.claims] == [
        (c.quantity, c.value) for c in twin.claims
    ]
    said = check(json.loads(json.dumps(found.to_dict()))).conditions
    assert "One head" in said
    assert "piecewise-linear map" in said


def test_sampling_refuses_the_head_without_its_map():
    class Bare(Composed):
        def outer(self, y):
            return y

    with pytest.raises(Refuted, match="differs"):
        verify(Bare(d=9, m=2), members=4, samples=2000).require()


def test_what_is_said_of_the_layer_is_said_of_one_head():
    family = parse("composed:d=9,m=3")
    facts = inspect(family, family.instance(0)).facts
    assert facts["heads"] == len(facts["layer"]["heads"]) == 1
    assert "sum_abs_a" not in facts
    assert "P, odd and piecewise linear" in facts["on_top"]
    assert not [row for row in measures(family).rows if "approximate heads" in row.name]
    drawn = of_portrait(family)
    assert drawn["layer"] == pytest.approx([1, -1, 1, -1], abs=1e-8)
    assert drawn["layer_known"] == pytest.approx([drawn["known"]] * 4, abs=1e-8)
    assert len(drawn["heads"]) == 1
    assert drawn["sum"][::40] == pytest.approx(drawn["formula"], abs=1e-8)
    found = run(
        parse_learner("levenberg:restarts=1,examples=400,steps=3"), family.instance(0), Budget()
    )
    assert "truth" not in found.details  # the labels are not those of its layer
    solved = run(parse_learner("elimination"), family.instance(0), Budget())
    assert solved.secret_recovered
    assert solved.risk.high < 0.05
