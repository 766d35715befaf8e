import json
import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.lower import BoundParameters, certify
from instances import DamagedFile, Parity, parse
from instances.errors import Refuted
from tests.conftest import sealed

SPECS = ["parity:d=8,m=3", "parity:d=9,m=4,noise=0.1", "parity:d=1000,m=21", "parity:d=1000,m=20"]


@pytest.mark.parametrize("spec", SPECS)
def test_certificates_are_accepted(spec):
    data = json.loads(json.dumps(certify(parse(spec)).to_dict()))
    assert len(check(data).statements) == 5


@given(
    st.integers(2, 300),
    st.data(),
    st.fractions(0, Fraction(2, 5), max_denominator=20),
    st.fractions(Fraction(1, 500), 1, max_denominator=500),
    st.fractions(0, Fraction(4, 5), max_denominator=9),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
)
@settings(max_examples=60, deadline=None)
def test_any_terms_are_accepted(d, data, noise, tau, risk, success):
    family = Parity(d=d, m=data.draw(st.integers(1, min(d - 1, 12))), noise=noise)
    goal = BoundParameters(
        tau=tau, vstat=data.draw(st.integers(1, 10**5)), risk=risk, success=success
    )
    check(certify(family, goal).to_dict())


def test_any_single_digit_changed_is_refused():
    text = json.dumps(certify(parse("parity:d=12,m=4,noise=0.2")).to_dict())
    for place in [m.start() for m in re.finditer(r"\d", text)]:
        digit = text[place]
        changed = text[:place] + str((int(digit) + 1) % 10) + text[place + 1 :]
        with pytest.raises((Refuted, DamagedFile)):  # the latter for the format's own version
            check(json.loads(changed))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(spec="parity:d=13,m=4,noise=0.2,rho=3"),
        lambda d: d.update(spec="parity:d=12,m=4,noise=0.1,rho=3"),
        lambda d: d.update(spec="majority:d=12,m=4"),
        lambda d: d["claims"].append(dict(d["claims"][0])),
        lambda d: d["claims"][1].update(quantity="every-learner-dimension"),
        lambda d: d["claims"][1].update(value="1e9"),
        lambda d: d["claims"][2].update(value="25/2"),  # it is 25
        lambda d: d["claims"][2]["parameters"].update(success="1/9"),
        lambda d: d["claims"][2]["parameters"].update(risk="5/4"),
        lambda d: d["evidence"]["heads"].extend([{"u": "1", "a": "0", "counts": False}] * 9),
        lambda d: d.update(spec="parity:d=1_2,m=4,noise=0.2,rho=3"),
        lambda d: d.update(spec="parity:d=12,m=4,noise=1e-300000000,rho=3"),
        lambda d: d.update(spec=f"parity:d={10**30},m=4,noise=0.2,rho=3"),
        lambda d: d.update(spec="parity:d=1000000000000,m=400000000000,noise=0.2,rho=3"),
        lambda d: d.update(spec=["parity"]),
        lambda d: d["claims"][4].update(value="1000000000000000"),
    ],
)
def test_a_forged_certificate_is_refused(change):
    data = json.loads(json.dumps(certify(parse("parity:d=12,m=4,noise=0.2")).to_dict()))
    change(data)
    with pytest.raises(Refuted) as found:
        check(sealed(data))
    assert "\n" not in str(found.value)


def test_heads_that_leak_are_refused(monkeypatch):
    """A family whose first threshold moved: its own certificate does not check."""
    from dataclasses import replace

    from instances import symmetric
    from instances.families.parity import signs

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
    with pytest.raises(DamagedFile, match="this version"):
        check(
            sealed(
                {**certify(parse("parity:d=8,m=3")).to_dict(), "format": "hardness-certificate/9"}
            )
        )
