"""Certificates about low-degree polynomials: accepted, and refused when they are changed."""

from dataclasses import replace

import pytest

from hardness.check import check
from hardness.lower.named import LowDegree, NoClaim, certify_named
from instances import parse
from instances.errors import Refuted, UsageError
from tests.conftest import sealed

ASKED = [
    ("parity:d=100,m=4,noise=1/10", LowDegree(degree=10, examples=200)),
    ("parity:d=100,m=4", LowDegree(degree=4, examples=200)),
    ("profile:d=21,g=majority,m=5,noise=1/10", LowDegree(degree=6, examples=9)),
    ("profile:d=21,g=mod(3),m=6", LowDegree(degree=12, examples=50, sample_degree=2)),
    ("profile:d=21,g=[2,2,-7,2],m=3,noise=1/4", LowDegree(degree=9, examples=10**30)),
]


@pytest.mark.parametrize(("spec", "asked"), ASKED)
def test_certificates_are_accepted(spec, asked):
    statements = check(certify_named(parse(spec), [asked]).to_dict()).statements
    assert len(statements) == 5
    assert all("degree at most" in line for line in statements[:4])


def test_another_noise_is_refused():
    spec, asked = ASKED[0]
    data = certify_named(parse(spec), [asked]).to_dict()
    data["spec"] = data["spec"].replace("noise=0.1", "noise=0.2")
    with pytest.raises(Refuted, match="not that of its spec"):
        check(sealed(data))
    data["evidence"]["problem"]["noise"] = "1/5"
    with pytest.raises(Refuted, match="the advantage"):
        check(sealed(data))


def test_a_bound_of_one_or_more_is_called_vacuous():
    data = certify_named(parse("parity:d=10,m=2"), [LowDegree(degree=6, examples=100)]).to_dict()
    assert "vacuous" in check(data).statements[0]


def test_bad_requests_are_refused_in_one_line():
    family = parse("parity:d=100,m=4")
    beyond = [{"degree": 0}, {"examples": 0}, {"sample_degree": 0}, {"sample_degree": 11}]
    for wrong in [*beyond, {"examples": 10**1000 + 1}]:
        with pytest.raises(UsageError, match="given"):
            LowDegree(**{"degree": 5, "examples": 10, **wrong})
    with pytest.raises(UsageError, match=r"up to examples \* \(m \+ 1\) = 50"):
        certify_named(family, [LowDegree(degree=51, examples=10)])
    certify_named(family, [LowDegree(degree=50, examples=10)])
    with pytest.raises(UsageError, match="takes long"):
        certify_named(
            parse("profile:g=majority,d=200,m=60"), [LowDegree(degree=300, examples=1000)]
        )
    with pytest.raises(UsageError, match="fewer digits"):
        certify_named(
            parse(f"parity:d=2,m=1,noise=0.{'4' * 36}"), [LowDegree(degree=12345, examples=10**5)]
        )
    with pytest.raises(NoClaim, match="more than two values"):
        certify_named(parse("profile:g=h**2,d=20,m=4"), [LowDegree(degree=5, examples=10)])


def test_a_degree_beyond_that_of_so_many_examples_is_quick():
    asked = LowDegree(degree=10**6, sample_degree=3)
    found = certify_named(parse("parity:d=9,m=1,noise=0.1"), [asked])
    whole = certify_named(parse("parity:d=9,m=1,noise=0.1"), [replace(asked, degree=6)])
    assert found.value("low-degree-examples") == whole.value("low-degree-examples")
    check(found.to_dict())


def changed_examples(spec, **numbers):
    """A certificate whose threshold for examples of the layer was changed."""
    data = certify_named(parse(spec), [LowDegree(degree=4)]).to_dict()
    claim = next(c for c in data["claims"] if c["quantity"] == "low-degree-examples")
    claim["value"] = numbers.pop("value", claim["value"])
    claim["parameters"].update({key: str(value) for key, value in numbers.items()})
    return sealed(data)


def test_a_degree_far_beyond_the_examples_is_verified_at_once():
    found = certify_named(parse("parity:d=9,m=1"), [LowDegree(degree=2 * 10**3)]).to_dict()
    value = next(c["value"] for c in found["claims"] if c["quantity"] == "low-degree-examples")
    check(changed_examples("parity:d=9,m=1", degree=3 * 10**6, value=value))


def test_a_degree_that_fills_the_memory_is_refused():
    with pytest.raises(Refuted, match="too much memory"):
        check(changed_examples("parity:d=9,m=1", degree=3 * 10**6, value=str(10**7)))
    with pytest.raises(UsageError, match="takes long"):
        certify_named(parse("parity:d=9,m=1"), [LowDegree(degree=10**4)])
