"""Certificates about named learners with a number that is out of range are refused."""

import json
from fractions import Fraction

import pytest

from hardness.check import check
from hardness.claims.named import MANY_VALUES
from hardness.lower import BoundParameters
from hardness.lower.named import (
    BatchDescent,
    Kernel,
    LowDegree,
    NoisyDescent,
    RoundedDescent,
    certify_named,
)
from instances import parse
from instances.errors import Refuted
from tests.conftest import sealed

NOISY = NoisyDescent(steps=5, clip=Fraction(1), std=Fraction(3))
VACUOUS = NoisyDescent(steps=10**6, clip=Fraction(1), std=Fraction(3))
ROUNDED = RoundedDescent(clip=Fraction(1), grid=Fraction(3), parameters=4)
RATIO = LowDegree(degree=6, examples=9)
EASY = {"success": Fraction(1, 100)}  # guessing reaches it: no step is needed


def certificate(asked, spec="parity:d=8,m=3", **terms):
    return json.loads(
        json.dumps(certify_named(parse(spec), [asked], BoundParameters(**terms)).to_dict())
    )


def of(data, name):
    return next(c for c in data["claims"] if c["quantity"] == name)


@pytest.mark.parametrize(
    ("asked", "terms", "name", "value", "given"),
    [
        (NOISY, {}, "gd-noise-success", "2", {}),
        (VACUOUS, {}, "gd-noise-success", "2", {}),
        (NOISY, {}, "gd-noise-success", None, {"clip": "-1"}),
        (NOISY, {}, "gd-noise-success", None, {"noise-std": "-3"}),
        (NOISY, {}, "gd-noise-success", None, {"steps": "-5"}),
        (NOISY, EASY, "gd-noise-steps", None, {"success": "0"}),
        (NOISY, EASY, "gd-noise-steps", None, {"success": "-1"}),
        (NOISY, {"success": Fraction(1)}, "gd-noise-steps", "9999999", {"success": "5/4"}),
        (ROUNDED, EASY, "gd-grid-steps", None, {"parameters": "0"}),
        (ROUNDED, EASY, "gd-grid-steps", None, {"parameters": "-4"}),
        (ROUNDED, EASY, "gd-grid-steps", None, {"grid": "0"}),
        (BatchDescent(batch=2, state_bits=1), EASY, "gd-batch-steps", None, {"batch": "0"}),
        (BatchDescent(batch=2, state_bits=1), EASY, "gd-batch-steps", None, {"state-bits": "0"}),
        (Kernel(features=2), {}, "kernel-error", "1", {"features": "0"}),
        (Kernel(features=35), {}, "kernel-error", "0", {"features": "36"}),
        (Kernel(), {"success": Fraction(4, 15)}, "kernel-features", "8", {}),  # 7 just reach it
        (Kernel(), {}, "kernel-features", "0", {"risk": "1"}),
        (Kernel(), {}, "kernel-features", "0", {"success": "0"}),
        (Kernel(), {}, "kernel-features", "-1", {"success": "-1/40"}),
        (Kernel(), {"risk": Fraction(0)}, "kernel-features", "35", {"risk": "-1/4"}),
        (RATIO, {}, "low-degree-advantage", "0", {"sample_degree": "0"}),
        (RATIO, {}, "low-degree-examples", "0", {"sample_degree": "0"}),
        (RATIO, {}, "low-degree-advantage", "0", {"examples": "0"}),
        (RATIO, {}, "low-degree-advantage", None, {"sample_degree": "10"}),
        (LowDegree(degree=36, examples=9), {}, "low-degree-advantage", None, {"degree": "37"}),
        (RATIO, {}, "low-degree-examples", "0", {}),
        (RATIO, {}, "low-degree-examples", "-1", {}),
    ],
)
def test_a_number_out_of_range_is_refused(asked, terms, name, value, given):
    data = certificate(asked, **terms)
    claim = of(data, name)
    claim["value"] = claim["value"] if value is None else value
    claim["parameters"].update(given)
    with pytest.raises(Refuted):
        check(sealed(data))


@pytest.mark.parametrize("name", ["gd-noise-steps", "kernel-features", "low-degree-examples"])
def test_half_of_a_number_is_no_number(name):
    asked = {"gd": NOISY, "kernel": Kernel(), "low": RATIO}[name.split("-")[0]]
    for share in (Fraction(2, 3), Fraction(9, 10), Fraction(1, 2), Fraction(1, 3)):
        data = certificate(asked, success=share)
        claim = of(data, name)
        if int(claim["value"]) % 2:
            claim["value"] += "/2"
            with pytest.raises(Refuted):
                check(sealed(data))
            return
        if name.startswith("low"):
            claim["value"] = f"{2 * int(claim['value']) - 1}/2"
            with pytest.raises(Refuted):
                check(sealed(data))
            return
    pytest.fail("no odd number was met")


@pytest.mark.parametrize("off", [Fraction(1), Fraction(5), Fraction(-1), Fraction(1, 10)])
def test_the_last_digit_of_a_success_probability_counts(off):
    data = certificate(NOISY)
    claim = of(data, "gd-noise-success")
    excess = Fraction(claim["value"]) - Fraction(1, 35)
    unit = Fraction(1, 10**13)
    assert (excess / unit).denominator == 1 <= 100 * excess < 10
    claim["value"] = str(Fraction(claim["value"]) + off * unit)
    with pytest.raises(Refuted):
        check(sealed(data))


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        ("parity:d=8,m=3", {"more": "0"}),
        ("parity:d=8,m=3", {"about": ["kernel", "kernel"]}),
        ("parity:d=8,m=3", {"about": ["kernel", "gd"]}),
        ("parity:d=8,m=3", {"about": []}),
        ("parity:d=8,m=3", {"about": ["gd", "kernel"], "no_claim": {"gd": MANY_VALUES["gd"]}}),
        ("profile:g=h**2,d=8,m=3", {"no_claim": {"gd": MANY_VALUES["gd"]}}),
        ("profile:g=h**2,d=8,m=3", {"about": ["gd", "kernel"], "no_claim": {"gd": "too hard"}}),
        ("parity:d=8,m=3", {"eigenvalues": ["1", "1", "1"]}),
        ("parity:d=8,m=3", {"problem": None}),
    ],
)
def test_other_evidence_is_refused(spec, change):
    data = certificate(Kernel(features=2), spec)
    data["evidence"].update(change)
    with pytest.raises(Refuted):
        check(sealed(data))


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        ("parity:d=8,m=3", {"values": ["1", "-1", "1", "1"]}),
        ("parity:d=8,m=3", {"places": 8}),
        ("parity:d=8,m=3", {"noise": "1/9"}),
        ("parity:d=8,m=3", {"kind": "residues"}),
        ("lwe:n=3,q=17,sigma=1", {"n": 4}),
        ("lwe:n=3,q=17,sigma=1", {"errors": None}),
        ("lwe:n=3,q=17,sigma=1", {"errors": [0, [str(2**64)]]}),
        ("lwe:n=3,q=17,sigma=1", {"secret": {"kind": "binary", "weight": 0, "most": 1}}),
    ],
)
def test_the_problem_of_another_family_is_refused(spec, change):
    """Errors do not change what is said of kernels, nor noise: the problem is held to the spec."""
    data = certificate(Kernel(features=2), spec)
    check(sealed(data))
    data["evidence"]["problem"].update(change)
    with pytest.raises(Refuted):
        check(sealed(data))


def test_another_number_of_label_values_is_refused():
    data = certificate(Kernel())
    of(data, "information-floor")["parameters"]["levels"] = "3"
    with pytest.raises(Refuted, match="one of 2 values"):
        check(sealed(data))
