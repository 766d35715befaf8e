"""The page of lower bounds, assumptions and attacks: every family, and what commands print."""

import re
from pathlib import Path

import pytest

import hardness as toolkit
from instances import parse
from instances.spec import FAMILIES
from tests.conftest import script

PAGE = (Path(__file__).parent.parent / "docs/evidence.md").read_text(encoding="utf-8")
_, *REST = re.split(r"^(?=- \[)", PAGE, flags=re.M)
ROWS = [row.rstrip("\n") for row in REST]
PRINTED = re.compile(r"`([a-z-]+)` (\S+) \((?:after|by)")  # a quantity with its value


@pytest.fixture(scope="module")
def evidence():
    return script("docs/examples/evidence.py")


def test_every_family_has_its_row_and_the_page_is_what_make_evidence_prints(evidence):
    named = [re.match(r"- \[`(.+?)`\]", row)[1] for row in ROWS]
    assert list(dict.fromkeys(named)) == list(FAMILIES), "make evidence"
    assert "\n".join([evidence.INTRODUCTION, *ROWS, ""]) == PAGE
    assert set(evidence.FAMILY) <= set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_its_rows_come_out_again_and_commands_print_their_numbers(evidence, hardness, name):
    rows = evidence.rows(name)
    assert rows == [row for row in ROWS if row.startswith(f"- [`{name}`]")], "make evidence"
    for row in rows:
        family, *answers = row.split("\n")
        spec = family.split("`")[-2]
        proved, assumed, attacks = (one.partition("*: ")[2] for one in answers)
        for command in [] if "nothing;" in proved else ["certify", "certify --about all"]:
            words, *more = command.split()
            said = proved.partition(f"`{command}`: ")[2].partition(". `")[0]
            shown = hardness(words, spec, *more).out
            assert PRINTED.findall(said)
            for quantity, value in PRINTED.findall(said):
                printed = re.findall(rf"^{quantity} +~?(\S+)", shown, re.M)
                # A long number is rounded down: its digits are the first ones.
                assert value in printed or any(
                    value.startswith(one.partition("e+")[0].replace(".", ""))
                    for one in printed
                    if "e+" in one
                ), (quantity, value, printed)
        if chain := re.search(r"`certify (--about lwe .*?)`: .*probability about (\S+);", assumed):
            shown = hardness("certify", spec, *chain[1].split()).out
            assert re.search(rf"^lwe-probability +~?{re.escape(chain[2])}", shown, re.M)
        if least := re.search(r"`estimate`: (.*?), (about 2\^\S+)", attacks):
            said = f"cheapest of these attacks is {least[1]}, {least[2]}"
            assert said in " ".join(hardness("estimate", spec).out.split())
        known = parse(spec).hardness
        found = hardness("certify" if known.evidence == "none" else "inspect", spec)
        why = known.proved if known.evidence != "exact" else ""
        for text in filter(None, (why, known.assumption, known.easy)):
            assert text in row
            assert text in " ".join(f"{found.out} {found.err}".split())


def test_a_claim_stands_under_what_it_speaks_of(evidence):
    """A claim without a risk stands under none; degree, clip and noise are shown."""
    _, risk, noise, degree = re.split(r"^- `", PAGE[: PAGE.index("Each answer")], flags=re.M)
    for row in ROWS:
        for name, _ in PRINTED.findall(row):
            clause = risk if name in risk else noise if name in noise else degree
            assert f"`{name}`" in f"`{clause}"
            assert ("relative risk" in clause) == (name in risk)
        spec = row.split("`")[3]
        for claim in toolkit.certify(spec, about="all").claims if "`certify --about" in row else ():
            terms = claim.parameters
            assert {"risk", "success"} <= set(terms) or claim.quantity in degree
            if "clip" in terms:
                assert (terms["clip"], terms["noise-std"]) == ("1", "1/100")
            if "degree" in terms:
                assert re.search(rf"`{claim.quantity}` .*?degree {terms['degree']}\)", row)


def test_kinds_of_evidence_are_told_apart(evidence):
    """What rests on an assumption names it; where nothing is proved nothing is claimed."""
    for name in FAMILIES:
        for row in ROWS:
            if row.startswith(f"- [`{name}`]"):
                silent = name in ("nice", "linear", "teacher") or "q=143" in row
                assert ("nothing;" in row) == silent
                noisy = name in ("lwr", "lwe", "lpn") or "noise=" in row
                assert ("*Assumption*: none\n" in row) == (not noisy)
