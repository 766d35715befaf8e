"""Certificates of parities: accepted, and refused when something in them is changed."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.check.problems import hidden_set
from hardness.lower import BoundParameters, certify
from hardness.lower.hidden_sets import certify_hidden_sets, pose
from hardness.lower.proof import Proof
from instances import DamagedFile, Parity, parse, symmetric
from instances.errors import Refuted
from instances.families.parity import signs
from tests import closed
from tests.conftest import sealed
from tests.proofs import claimed, plain, proves, refused, refused_alone, step


@given(
    st.integers(2, 300),
    st.data(),
    st.fractions(0, Fraction(2, 5), max_denominator=20),
    st.fractions(Fraction(1, 500), 1, max_denominator=500),
    st.fractions(0, Fraction(4, 5), max_denominator=9),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
)
@settings(max_examples=60, deadline=None)
def test_any_terms_are_accepted_with_the_values_of_the_formulas(d, data, noise, tau, risk, success):
    family = Parity(d=d, m=data.draw(st.integers(1, min(d - 1, 12))), noise=noise)
    vstat = data.draw(st.integers(1, 10**5))
    terms = BoundParameters(tau=tau, vstat=vstat, risk=risk, success=success)
    made = certify(family, terms)
    assert len(check(plain(made)).statements) == 5
    assert made.value("pairwise-correlation") == "0"
    assert made.integer("sq-dimension") == family.size
    assert made.integer("information-floor") == closed.information_floor(family.size, terms)
    for name in ("stat", "vstat"):
        queries = closed.parity_queries(family.size, noise, terms, name)
        if queries is not None:
            assert made.integer(f"{name}-queries") == queries
        else:
            guess = Fraction(min(closed.orthogonal(terms), family.size), family.size)
            assert Fraction(made.value(f"{name}-success")) == guess


@pytest.mark.parametrize("spec", ["parity:d=1000,m=21", "parity:d=1000,m=20", "parity:d=5,m=4"])
def test_large_parities_and_single_members_are_accepted(spec):
    assert len(check(plain(certify(parse(spec)))).statements) == 5


def test_any_single_digit_changed_is_refused():
    text = json.dumps(certify(parse("parity:d=12,m=4,noise=0.2")).to_dict())
    for place in [m.start() for m in re.finditer(r"\d", text)]:
        digit = text[place]
        changed = text[:place] + str((int(digit) + 1) % 10) + text[place + 1 :]
        with pytest.raises((Refuted, DamagedFile)):  # the latter for the format's own version
            check(json.loads(changed))


def named(spec):
    """Say that it is of another family."""
    return lambda d: d["about"].update(spec=spec)


SPEC = "parity:d=12,m=4,noise=0.2"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # The family is another one than the problem's.
        (named("parity:d=13,m=4,noise=0.2,rho=3"), "not that of its"),
        (named("parity:d=12,m=4,noise=0.1,rho=3"), "not that of its"),
        (named("majority:d=12,m=4"), "refused"),
        (named("parity:d=1_2,m=4,noise=0.2,rho=3"), "refused"),
        (named("parity:d=12,m=4,noise=1e-300000000,rho=3"), "refused"),
        (named(f"parity:d={10**30},m=4,noise=0.2,rho=3"), "refused"),
        (named(f"parity:d={10**12},m={10**11},noise=0.2,rho=3"), "refused"),
        (named(["parity"]), "refused"),
        (lambda d: d["about"].update(more="words"), "other fields"),
        (lambda d: proves(d)["problem"].update(places=12), "refused"),
        (lambda d: (d["problem"].update(places=12), proves(d)), "not that of its spec"),
        (lambda d: (d["problem"].update(noise="1/10"), proves(d)), "not that of its spec"),
        # Claims that do not follow.
        (lambda d: d["goal"]["claims"].append(dict(d["goal"]["claims"][0])), "refused"),
        (lambda d: d["goal"].update(claims=[]), "refused"),
        (lambda d: d.update(more="words"), "fields"),
        (lambda d: d["goal"].update(more="words"), "goal"),
        (lambda d: claimed(d, "stat-queries").update(more="words"), "fields"),
        (lambda d: d["goal"].update(conditions="All learners."), "refused"),
        (lambda d: claimed(d, "sq-dimension").update(quantity="every-dimension"), "refused"),
        (lambda d: claimed(d, "sq-dimension").update(value="1e9"), "as claimed"),
        (lambda d: claimed(d, "stat-queries").update(value="26"), "as claimed"),
        (lambda d: claimed(d, "stat-queries").update(says="at least 25"), "as claimed"),
        (lambda d: claimed(d, "stat-queries").update(step=7), "refused"),
        (lambda d: claimed(d, "stat-queries").update(step=9), "refused"),
        (lambda d: claimed(d, "stat-queries")["terms"].update(success="1/9"), "as claimed"),
        (lambda d: claimed(d, "information-floor").update(value="9"), "as claimed"),
        # Steps that are none.
        (lambda d: step(d, "fit").update(risk="5/4"), "step 5: "),
        (lambda d: step(d, "fit").update(risk="1/3"), "as claimed"),
        (lambda d: step(d, "ask").update(term="0"), "step 3: "),
        (lambda d: step(d, "ask").update(term="2"), "step 3: "),
        (lambda d: step(d, "ask").update(oracle="any", term="100"), "step 3: "),
        (lambda d: step(d, "ask").update(oracle="vstat", term="0"), "step 3: "),
        (lambda d: step(d, "ask").update(oracle="vstat", term="1/2"), "step 3: "),
        (lambda d: step(d, "ask").update(oracle="vstat", term="3/2"), "step 3: "),
        (lambda d: step(d, "queries").update(success="3/2"), "step 6: "),
        (lambda d: step(d, "queries").update({"from": [1, 5]}), "step "),
        (lambda d: step(d, "queries").update({"from": [1, 3, 5]}), "step "),
        (lambda d: step(d, "queries").update({"from": [1, 5, 6]}), "step "),
        (lambda d: step(d, "queries").update({"from": [1, 5, 0]}), "step "),
        (lambda d: step(d, "queries").update(more="1"), "step "),
        (lambda d: step(d, "characters").update(rule="laws"), "step "),
        (lambda d: step(d, "characters").update(rule="believe"), "step "),
        (lambda d: d["steps"].insert(0, {"rule": "subsets", "from": []}), "refused"),
    ],
)
def test_a_forged_certificate_is_refused(change, words):
    refused(plain(certify(parse(SPEC))), change, words)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"values": ["1", "-1", "1", "-1"]}, "values"),
        ({"values": ["1"] * 5}, "values"),
        ({"values": ["1", "-1", "1", "-1", "2/2"]}, "lowest terms"),
        ({"values": ["1", "1", "-1", "-1", "1"]}, "step 2: "),  # not orthogonal
        ({"values": ["-1", "1", "-1", "1", "-1"]}, "step 2: "),
        ({"noise": "1/2"}, "noise"),
        ({"noise": "-1/9"}, "range"),
        ({"places": 3}, "chosen"),
        ({"places": 0}, "places"),
        ({"places": True}, "places"),
        ({"places": 12}, "conditions"),
        ({"chosen": 0}, "chosen"),
        ({"more": "0"}, "fields"),
        ({"kind": "subsets"}, "kind"),
    ],
)
def test_a_problem_that_is_none_is_refused(changed, words):
    """The rule that takes members for orthogonal looks at the labels, not at the name."""
    data = plain(certify(parse(SPEC)))
    refused(data, lambda d: d["problem"].update(changed))
    refused_alone(data, lambda d: d["problem"].update(changed), words)


def test_as_a_profile_it_says_the_same():
    family = parse(SPEC)
    posed = pose(Proof(hidden_set(family), {"spec": family.spec}), orthogonal=False)
    made = certify_hidden_sets(posed, BoundParameters())
    assert check(plain(made)).spec == made.spec
    assert made.value("sq-dimension") == "330"


def test_heads_that_leak_are_refused(monkeypatch):
    """A family whose first threshold moved: its own certificate does not check."""
    right = symmetric.exact_heads(signs(4), Fraction(3))
    moved = (replace(right[0], u=right[0].u * 2), *right[1:])
    monkeypatch.setattr(symmetric, "exact_heads", lambda values, rho: moved)
    with pytest.raises(Refuted, match="do not compute"):
        check(certify(parse("parity:d=12,m=4")).to_dict())


def test_long_rationals_are_accepted_as_they_are_made():
    noise = f"{10**36 + 7}/{10**37 + 9}"
    check(certify(parse(f"parity:d=12,m=3,noise={noise}")).to_dict())


def test_what_is_no_certificate_is_called_so():
    for data in ({}, {"format": "hardness-secret/1"}, {"format": 3}):
        with pytest.raises(DamagedFile, match="no certificate"):
            check(data)
    other = {**certify(parse("parity:d=8,m=3")).to_dict(), "format": "hardness-certificate/9"}
    with pytest.raises(DamagedFile, match="this version"):
        check(sealed(other))
