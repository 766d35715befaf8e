"""Certificates about named learners, and `certify --about`, which prints and refuses them."""

import re
from fractions import Fraction

import pytest

from hardness.bounds import certify
from hardness.bounds.check import check
from hardness.bounds.learners import Kernel, LowDegree, NoisyDescent
from hardness.report.claims import sentence
from instances import parse
from instances.errors import UsageError
from tests.conftest import with_bits
from tests.proofs import named, plain

ONE = Fraction(1)
NOISY = NoisyDescent(steps=5, clip=ONE, std=3 * ONE)
SPECS = [
    "parity:d=8,m=3",
    "parity:d=101,m=4,noise=1/10",
    "profile:d=21,g=majority,m=5,noise=1/10",
    "profile:d=12,g=mod(3),m=4",
    "profile:d=10,g=[0,1,4,9],m=3",
    "hidden:d=8,hard=2,nice=1",
    "direction:d=100,m=6",
    "lwr:n=64,q=256,p=2,secret=binary,h=6",
    "lwr:n=12,q=64,p=4",
    "lwe:n=8,q=17,sigma=1.5",
    "lwe:n=6,q=17,error=uniform,width=2",
    "lwe:n=40,q=5,secret=gaussian,spread=1/4,error=none",
    "lwe:n=9,q=8,error=none,secret=ternary",
    "lwr:n=6,q=16,p=8,h=2",
    "lpn:n=99,h=4,noise=0.1",
]
# What is claimed of views, of directions and of labels of many values, beside the floor.
SILENT = {
    "profile:d=10,g=[0,1,4,9],m=3": {"gd", "low-degree"},
    "hidden:d=8,hard=2,nice=1": {"kernel", "low-degree"},
    "direction:d=100,m=6": {"kernel", "low-degree"},
}


@pytest.mark.parametrize("spec", SPECS)
def test_certificates_are_accepted_and_name_what_has_no_claim(spec):
    made = named(spec)
    assert check(plain(made)).certificate == made
    assert made.claims[-1].quantity == "information-floor"
    family = parse(spec).name
    few = {"low-degree"} if family in ("lwr", "lwe", "lpn") else set()
    assert set(made.unproved) == SILENT.get(spec, few)
    assert made.spec.partition(":")[0] == family


def test_what_is_given_away_of_a_law_is_chosen_for_what_is_asked():
    family = parse("lwe:n=64,q=257,sigma=1,secret=cbd,spread=2")
    found = [
        certify(family, about=[NoisyDescent(steps=steps, clip=ONE, std=ONE / 100)])
        for steps in (None, 1000)
    ]
    assert found[0].integer("gd-noise-steps") > found[1].integer("gd-noise-steps") > 10**20
    assert Fraction(found[1].value("gd-noise-success")) < Fraction(1, 10**5)
    for made in found:
        assert check(plain(made)).certificate.claims


@pytest.mark.parametrize(
    "asked",
    [
        NoisyDescent(steps=10**40, clip=ONE, std=ONE / 10**9),
        NoisyDescent(steps=1, clip=10**9 * ONE, std=ONE),
    ],
)
def test_a_bound_that_says_nothing_is_one_and_is_accepted(asked):
    made = certify(parse("parity:d=21,m=3,noise=0.1"), about=[asked])
    assert made.claims[0].value == 1
    assert "vacuous" in sentence(made, check(plain(made)).certificate.claims[0])


def test_long_numbers():
    long = certify(parse("lwe:n=2000,q=3329,sigma=3"), about=[Kernel(features=5), NOISY])
    assert len(long.value("kernel-features")) > 4300
    assert check(plain(long))
    dense = with_bits("lwe:n=4,q=17,sigma=1", 8)
    assert certify(dense, about=[Kernel(features=83520)]).value("kernel-error") == "0"


def test_numbers_out_of_range_are_refused_with_a_line():
    with pytest.raises(UsageError, match="an integer or an exact rational"):
        NoisyDescent(clip=ONE, std=0.5)
    with pytest.raises(UsageError, match="must be an integer"):
        LowDegree(degree=5, examples=10**1000 + 1)


def test_a_degree_beyond_that_of_so_many_examples_is_quick():
    family = parse("parity:d=9,m=1,noise=0.1")
    found = [certify(family, about=[LowDegree(degree=d, sample_degree=3)]) for d in (10**6, 6)]
    assert found[0].value("low-degree-examples") == found[1].value("low-degree-examples")


SPEC = "parity:d=101,m=4,noise=0.1"
LINES = {
    "kernel": "--about kernel --features 1e6",
    "noise": "--about gd --steps 100 --clip 1 --noise-std 0.01",
    "low-degree": "--about low-degree --degree 10 --examples 200",
    "sample": "--about low-degree --degree 10 --examples 200 --sample-degree 1",
}


@pytest.mark.parametrize("name", LINES)
def test_what_is_printed_is_what_check_accepts(hardness, name, tmp_path):
    made = tmp_path / "certificate.json"
    shown = hardness("certify", SPEC, *LINES[name].split(), "--out", made)
    assert shown.code == 0, shown.out
    told = hardness("check", made)
    assert told.code == 0
    assert told.out.startswith("accepted by the checker: parity:d=101,m=4,noise=0.1")
    flat = " ".join(shown.out.lower().split())
    for line in told.out.splitlines()[1:]:
        assert line.strip().lower() in flat


def test_all_takes_what_is_not_given_by_default_and_names_what_has_no_claim(hardness):
    """What is claimed is on the pages docs/rosetta.md and docs/named.md."""
    found = hardness("certify", SPEC, "--about", "all").out
    assert "degree at most 10" in found
    assert "deviation 1/100" in found
    many = hardness("certify", "profile:g=[0,1,4,9,16],d=101,m=4", "--about", "all").out
    assert "gd: no claim" in many
    assert "low-degree: no claim" in many


def test_what_hardly_any_member_needs_is_vacuous_and_one_is_singular(hardness):
    few = hardness("certify", "parity:d=4,m=1", "--about", "all", "--risk", "0.9")
    assert few.out.count("vacuous") == 6
    one = hardness("certify", SPEC, "--about", "low-degree", "--degree", "5", "--examples", "1")
    assert "the mean of one over 1 example, all of" in " ".join(one.out.split())
    none = hardness("certify", SPEC, "--about", "low-degree", "--degree", "4")
    for end in ("", "-open"):  # no number of examples is enough, and none is named
        assert re.search(rf"^low-degree-advantage{end} +0 ", none.out, re.M)
        assert f"low-degree-examples{end}" not in none.out
    assert "over any number of examples" in " ".join(none.out.split())


def test_a_long_error_is_rounded_down(hardness):
    found = hardness("certify", "parity:d=1001,m=20", *["--about", "kernel", "--features", "1e9"])
    assert "at least about 9.99999e-1, if" in " ".join(found.out.split())
