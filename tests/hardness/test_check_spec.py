"""No certificate is accepted for a family that `certify` refuses: every spec below is resealed."""

import contextlib
import json
import re
from functools import cache
from pathlib import Path

import pytest

from hardness.check import check
from hardness.lower import certify
from hardness.lower.learners import Kernel, certify_named
from instances import parse
from instances.errors import UsageError
from tests.proofs import plain, refused, step

LWR = "lwr:n=8,q=16,p=2,secret=binary,h=4"
LWE = "lwe:n=3,q=17,sigma=1"
LPN = "lpn:n=8,noise=0.1"
WINDOW = "window:n=4,q=16,parts=4,secret=ternary"


def parity():
    return plain(certify(parse("parity:d=8,m=3")))


@cache
def genuine(spec, named):
    """A certificate that is accepted."""
    family = parse(spec)
    made = certify_named(family, [Kernel()]) if named else certify(family)
    assert check(plain(made)).spec == family.spec
    return json.dumps(made.to_dict())


@pytest.mark.parametrize(
    ("spec", "old", "new"),
    [
        (LWE, "labels=formula", "labels=layer"),
        (LWR, "heads=saturated", "heads=rubbish"),
        (LWR, "heads=saturated", "heads="),
        (LWR, "labels=formula", "labels=none"),
        (LWR, "beta=40", "beta=0"),
        (LWR, "beta=40", "beta=1/2"),
        (LWR, "beta=40,", f"beta={1 << 53},"),
        (WINDOW, "beta=40", "beta=0"),
        (LPN, "heads=saturated", "heads=soft"),
        (LPN, "beta=40", "beta=0.5"),
        (LPN, "noise=0.1", "noise=0.5"),
        (LPN, "noise=0.1", "noise=-0.1"),
        (LWE, "width=0", "width=2"),
        (LWE, "sigma=1", "sigma=1000"),
        (LWE, "error=gaussian", "error=laplace"),
        (LWE, "secret=uniform", "secret=zero"),
        (LWE, "spread=0", "spread=1"),
        (LWR, "h=4", "h=9"),
        (LWR, "p=2", "p=3"),
        (LWR, "p=2", "p=1"),
        (WINDOW, "parts=4", "parts=5"),
        (LWR, "q=16", "q=15"),
        (LWR, "bits=0", "bits=3"),
        (LWE, "bits=0", "bits=63"),
        ("parity:d=8,m=3", "rho=3", "rho=49/17"),
        ("parity:d=8,m=3", "rho=3", "rho=1"),
        ("parity:d=8,m=3", "noise=0", "noise=1/2"),
        ("parity:d=8,m=3", "m=3", "m=129"),
        ("profile:g=majority,d=8,m=3", "d=8", "d=4"),
        ("profile:g=majority,d=8,m=3", "g=majority", "g=majority*10**101"),
        ("profile:g=majority,d=8,m=3", "g=majority", "g=1"),
        # Strings that reached the verdict as they stood in the file.
        (LWR, "labels=formula", "labels=formula\naccepted: everything"),
        (LWR, "heads=saturated", "heads=saturated\x1b[2K"),
        (LWR, "heads=saturated", "heads= saturated"),
        ("parity:d=8,m=3", "rho=3", "rho=3\n"),
        ("parity:d=8,m=3", "rho=3", "rho=\u0663"),
        ("parity:d=8,m=3", "rho=3", "rho=6/2"),
        ("parity:d=8,m=3", "rho=3", "rho=03"),
        ("profile:g=majority,d=8,m=3", "g=majority", "g=(majority)"),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_a_spec_that_certify_refuses_is_refused(spec, old, new, named):
    data = json.loads(genuine(spec, named))
    said = parse(spec).spec.replace(old, new)
    assert said != parse(spec).spec
    with contextlib.suppress(UsageError):
        assert certify(parse(said)).spec != said
    refused(data, lambda d: (d if named else d["about"]).update(spec=said))


@pytest.mark.parametrize("spec", [None, 7, ["parity:d=8,m=3"], {}, "", "x" * 9999, "nice:m=1"])
def test_what_is_no_spec_is_refused(spec):
    refused(parity(), lambda d: d["about"].update(spec=spec))


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=2,q=65537,error=uniform,width=40000",  # errors of too many values
        "lwr:n=4,q=7,p=7,bits=4",  # a is far from uniform
        "lwr:n=4,q=17,p=17,secret=gaussian,spread=1/9",  # secrets are nearly all 0
    ],
)
def test_a_family_of_which_nothing_is_certified_is_refused_for_the_same_reason(spec):
    with pytest.raises(UsageError) as said:
        certify(parse(spec))
    reason = re.escape(str(said.value).partition("given: ")[2])
    data = plain(certify(parse(LWR)))
    refused(
        data,
        lambda d: d["about"].update(spec=parse(spec).spec),
        f"refuses its family: .* given: {reason}$",
    )


@pytest.mark.parametrize(
    ("rule", "name", "value"),
    [
        ("closest-pairs", "gamma", "2"),
        ("closest-pairs", "gamma", "0"),
        ("every-set", "gamma", "-1/20"),
        ("ask", "term", "11/10"),
        ("ask", "term", "2/20"),
        ("ask", "term", "01/10"),
        ("ask", "term", "1e-1"),
        ("ask", "term", "0x1/10"),
        ("ask", "term", 1),
        ("fit", "risk", "-0"),
        ("fit", "risk", "+1/4"),
        ("packing", "upper", "50/1"),
        ("packing", "upper", "-50"),
        ("code", "size", " 50"),
        ("code", "size", "\u0665\u0660"),
    ],
)
def test_numbers_are_in_their_range_and_written_in_one_way(rule, name, value):
    data = plain(certify(parse("profile:g=majority,d=8,m=3")))
    refused(data, lambda d: step(d, rule).update({name: value}), "refused: step ")


def test_a_refusal_is_one_line_whatever_it_quotes():
    for place, text in (("quantity", "a\nb" * 999), ("value", "1\x1b[2K"), ("says", "\n")):
        refused(parity(), lambda d, p=place, t=text: d["goal"]["claims"][0].update({p: t}))
    refused(parity(), lambda d: d["steps"][0].update({"a\nb" * 999: "\x1b[2K"}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"value": "35"', '"value": "35", "value": "36"'),
        ('"value": "35"', '"value": "36", "val\\u0075e": "35"'),
        ('"claims": [', '"claims": [{}], "claims": ['),
        ('"conditions": "', '"conditions": "\\n'),
        ('"places": 7', '"places": NaN'),
    ],
)
def test_a_file_that_could_be_read_in_two_ways_is_not_checked(hardness, old, new):
    text = json.dumps(parity())
    Path("c.json").write_text(text)
    assert hardness("check", "c.json").code == 0
    assert old in text
    Path("c.json").write_text(text.replace(old, new, 1))
    found = hardness("check", "c.json")
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("hardness: c.json")
    assert found.err.count("\n") == 1


def test_the_verdict_of_json_says_what_is_given(hardness):
    Path("c.json").write_text(json.dumps(parity()))
    found = json.loads(hardness("check", "c.json", "--json").out)
    assert (found["accepted"], found["assumed"]) == (True, None)
