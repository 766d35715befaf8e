"""`certify --proof`: the steps of a certificate for people."""

import re

import pytest

from hardness.check import kernel
from hardness.lower import certify
from instances import parse

SPECS = [
    "parity:d=200,m=21",
    "profile:g=majority,d=31,m=7",
    "profile:g=h**2,d=8,m=2",
    "lwr:n=8,q=16,p=4,secret=binary,h=4",
]


@pytest.mark.parametrize("spec", SPECS)
def test_every_step_and_every_claim_is_printed(hardness, spec):
    made, found = certify(parse(spec)), hardness("certify", spec, "--proof")
    lines = found.out.splitlines()
    assert max(map(len, lines)) <= 80
    steps = made.proof["steps"]
    heads = [
        one for line in lines if (one := re.match(r" ?(\d+)  ([a-z-]+)(?: of ([\d, ]+))?", line))
    ]
    assert [int(one[1]) for one in heads] == [*range(1, len(steps) + 1)]
    assert [one[2] for one in heads] == [step["rule"] for step in steps]
    assert [[int(i) for i in (one[3] or "").split(",") if i.strip()] for one in heads] == [
        step["from"] for step in steps
    ]
    said = " ".join(found.out.split())
    for step in steps:
        about = kernel.RULES[step["rule"]][3].__doc__.partition(".")[0]
        assert said.count(" ".join(about.split())) == 1  # where the rule is first used
    for claim in made.claims:
        assert f"by step {claim.step}: {claim.meaning}" in said
    # Lines may end at a hyphen.
    assert said.replace("- ", "-").endswith(made.scope.replace("- ", "-"))


def test_numbers_and_lists_of_a_step_are_shortened(hardness):
    said = " ".join(hardness("certify", "profile:g=majority,d=300,m=51", "--proof").out.split())
    assert "gamma 1/20" in said
    assert "... 51 in all]" in said
    assert re.search(r"enough \d\.\d{5}\.\.\.e\d+ \(\d+ digits\)", said)
