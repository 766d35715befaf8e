import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.check.residues import read_residues
from hardness.lower import BoundParameters, certify, verify
from hardness.lower.modular import Independent
from instances import UsageError, parse
from instances.errors import Refuted
from tests.conftest import sealed

SPECS = [
    "lwr:n=64,q=256,p=2,secret=binary,h=6",
    "lwr:n=5,q=16,p=2,secret=uniform,h=2",
    "lwr:n=6,q=64,p=8,secret=cbd,spread=3,h=3",
    "lwr:n=4,q=7,p=7,secret=ternary",
    "lwe:n=40,q=1601,alpha=0.005",
    "lwe:n=3,q=17,sigma=1,bits=7",
    "lwe:n=9,q=3329,error=cbd,eta=2,secret=gaussian,spread=3,h=4",
    "lwe:n=9,q=64,error=uniform,width=3,secret=ternary,h=2",
    "lwe:n=6,q=31,error=none,secret=binary",
    "lpn:n=64,noise=0.1",
    "lpn:n=20,noise=0,h=4",
    "window:n=5,q=16,parts=2,secret=ternary",
    "window:n=5,q=16,parts=8,secret=uniform,h=3",
    "lwr:n=5,q=2,p=2,secret=uniform,h=2",
    "lwe:n=5,q=256,error=none,secret=cbd,spread=40,h=2",
    "lwr:n=3,q=4096,p=2,secret=cbd,spread=40",
]


@pytest.mark.parametrize("spec", SPECS)
def test_certificates_are_accepted(spec):
    family = parse(spec)
    assert family.hardness.evidence == "exact"
    data = json.loads(json.dumps(certify(family).to_dict()))
    assert len(check(data).statements) == 6


def test_values_are_those_of_the_formulas():
    made = certify(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"))
    assert made.value("sq-dimension") == made.value("orthogonal-members") == "74974368"
    # The parity of the same size, without noise, has the same bounds.
    from hardness.lower import stat_queries, vstat_queries

    assert int(made.value("stat-queries")) == stat_queries(74974368, Fraction(0), BoundParameters())
    assert int(made.value("vstat-queries")) == vstat_queries(
        74974368, Fraction(0), BoundParameters()
    )
    # Errors are those that are drawn: a rate rounded to a multiple of 2^-64.
    noise = Fraction(int(Fraction(1, 10) * 2**64), 2**64)
    made = certify(parse("lpn:n=64,noise=0.1"))
    assert int(made.value("stat-queries")) == stat_queries(2**64 - 1, noise, BoundParameters())
    assert int(made.value("vstat-queries")) == vstat_queries(2**64 - 1, noise, BoundParameters())


@given(
    st.sampled_from(SPECS),
    st.fractions(Fraction(1, 500), 1, max_denominator=500),
    st.fractions(0, Fraction(3, 4), max_denominator=9),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
    st.integers(1, 10**5),
)
@settings(max_examples=40, deadline=None)
def test_any_terms_are_accepted(spec, tau, risk, success, vstat):
    terms = BoundParameters(tau=tau, vstat=vstat, risk=risk, success=success)
    assert len(check(certify(parse(spec), terms).to_dict()).statements) == 6


def swapped(counts):
    """Two counts exchanged: they still add up."""
    counts[0], counts[len(counts) // 2] = counts[len(counts) // 2], counts[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: swapped(d["evidence"]["errors"]["counts"]),
        lambda d: d["evidence"]["errors"].update(counts=[str(2**64)], least=0),
        lambda d: d.update(spec=d["spec"].replace("n=3", "n=4")),
        lambda d: d.update(spec=d["spec"].replace("q=17", "q=19")),
        lambda d: d.update(spec=d["spec"].replace("q=17", "q=15")),
        lambda d: d.update(spec=d["spec"].replace("bits=7", "bits=0")),
        lambda d: d.update(spec=d["spec"].replace("bits=7", "bits=6")),
        lambda d: d.update(spec=d["spec"].replace("bits=7", "bits=007")),
        lambda d: d.update(spec=d["spec"].replace("sigma=1", "sigma=1.1")),
        lambda d: d.update(spec=d["spec"].replace("alpha=0", "alpha=1")),
        lambda d: d.update(spec=d["spec"].replace("error=gaussian", "error=none")),
        lambda d: d.update(spec=d["spec"].replace("secret=uniform", "secret=ternary")),
        lambda d: d.update(spec=d["spec"].replace("h=0", "h=2")),
        lambda d: d.update(spec=d["spec"].replace("lwe:", "lwr:")),
    ],
)
def test_a_forged_certificate_is_refused(change):
    data = json.loads(json.dumps(certify(parse("lwe:n=3,q=17,sigma=1,bits=7")).to_dict()))
    change(data)
    with pytest.raises(Refuted) as found:
        check(sealed(data))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("lwe:n=40,q=17,sigma=1,bits=6", "bits of at least 11"),
        ("lwe:n=4,q=97,sigma=1,secret=gaussian,spread=0.1", "at least 1/8"),
        ("lwe:n=4,q=65537,sigma=5000", "lower the error"),
        ("lwe:n=4,q=2,error=cbd,eta=1", "do not depend on the secret"),
    ],
)
def test_what_cannot_be_certified_says_why(spec, word):
    family = parse(spec)
    assert family.hardness.evidence == "assumption"
    assert word in family.hardness.why
    for refuse in (certify, verify):
        with pytest.raises(UsageError, match=word):
            refuse(family)


def test_a_risk_beyond_the_density_is_refused():
    with pytest.raises(UsageError, match="raise bits"):
        certify(parse("lwe:n=3,q=17,sigma=1,bits=7"), BoundParameters(risk=Fraction(9, 10)))


def test_a_hypothesis_of_relative_risk_fits_few_members():
    """The mean of two orthonormal members has relative risk 1/2 on both: K = 2 there."""
    found = Independent(family=replace(parse("lwr:n=3,q=8,p=2,secret=binary")))
    assert found.right_about(Fraction(1, 2)) == 2
    assert found.right_about(Fraction(49, 100)) == 1


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("count", lambda right: lambda family: replace(right(family), size=right(family).size + 1)),
        ("count", lambda right: lambda family: replace(right(family), alike=3)),
        ("chi_square", lambda right: lambda family: right(family) / 2),
        ("count", lambda right: lambda family: replace(right(family), reach=7)),
        ("modulus", lambda right: lambda family: right(family) + 1),
    ],
)
@pytest.mark.parametrize("spec", ["lwe:n=9,q=3329,error=cbd,eta=2,secret=ternary", SPECS[0]])
def test_a_maker_that_errs_is_found_out(spec, name, wrong, monkeypatch):
    from hardness.lower import modular

    monkeypatch.setattr(modular, name, wrong(getattr(modular, name)))
    with pytest.raises(Refuted):
        check(certify(parse(spec)).to_dict())


@st.composite
def any_spec(draw):
    q = draw(st.sampled_from([2, 3, 4, 7, 8, 31, 97, 256, 3329, 65537, 2**40]))
    n = draw(st.integers(1, 40))
    secret = draw(
        st.sampled_from(["binary", "ternary", "uniform", "gaussian,spread=0.4", "cbd,spread=2"])
    )
    head = f"n={n},h={draw(st.integers(0, n))},q={q},secret={secret}"
    if q % 2:
        head += f",bits={draw(st.integers((q - 1).bit_length(), 120))}"
    size = q if q % 2 else 2 ** draw(st.integers(1, q.bit_length() - 1))
    label = ["sigma=1", "alpha=0.01", "error=uniform,width=2", "error=cbd,eta=2", "error=none"]
    body = st.sampled_from([f"lwr:p={size}", f"window:parts={size}", *(f"lwe:{x}" for x in label)])
    return f"{draw(body)},{head}"


@given(any_spec())
@settings(max_examples=80, deadline=None)
def test_what_is_called_exact_is_certified_and_accepted(spec):
    try:
        family = parse(spec)
    except UsageError:
        return  # out of range
    if family.hardness.evidence == "exact":
        check(json.loads(json.dumps(certify(family).to_dict())))
    else:
        with pytest.raises(UsageError, match="given"):
            certify(family)


@pytest.mark.parametrize(
    ("spec", "how"),
    [
        ("lwr:n=6,q=8,p=2,secret=binary", "orthogonal"),
        ("lwe:n=6,q=31,error=none,secret=binary", "of small enough correlation"),
    ],
)
def test_members_of_a_prime_are_not_called_orthogonal(spec, how):
    said = check(certify(parse(spec)).to_dict()).statements
    assert f"SQ-DIM is exactly 63: all members are {how}, and there are no more" in said


@pytest.mark.parametrize(
    ("head", "q"), [("lwr:p=2", 64), ("lwr:p=4", 64), ("lwe:error=none", 61), ("lwr:p=2", 2)]
)
@pytest.mark.parametrize("h", [0, 1, 2, 3])
def test_maker_and_checker_count_every_kind_of_secret_alike(head, q, h):
    kinds = ["binary", "uniform"]
    if q > 2:
        kinds += ["ternary", "cbd,spread=1", "cbd,spread=9"]
        kinds += ["gaussian,spread=0.2", "gaussian,spread=2"]
    for kind in kinds:
        spec = f"{head},n=3,q={q},h={h},secret={kind}"
        assert len(check(certify(parse(spec)).to_dict()).statements) == 6, spec


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("p=2", "p=3"),
        ("p=2", "p=1"),
        ("q=16", "q=15"),
        ("h=0", "h=6"),
        ("n=5", "n=05"),
        ("n=5", "n=0"),
    ],
)
def test_the_checker_reads_no_spec_that_is_out_of_range(old, new):
    spec = parse("lwr:n=5,q=16,p=2,secret=ternary").spec
    assert read_residues(spec).levels == 2
    with pytest.raises(Refuted):
        read_residues(spec.replace(old, new))
