"""Forged certificates of all kinds, by `benchmarks/forge.py`: every place, every change.

Each rule and each check of the kernel weakened in turn: `benchmarks/mutants.py` sees it.
"""

import copy
import importlib.util
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from hardness.check import check, kernel
from instances.errors import DamagedFile, Refuted

HIDDEN = ("parity", "profile", "hardmax", "composed")
KINDS = [
    *(f"{kind}{about}" for kind in HIDDEN for about in ("", " kernel", " gd", " low-degree")),
    *(
        f"{kind}{about}"
        for kind in ("lwr", "lwe", "lpn", "window")
        for about in ("", " kernel", " gd")
    ),
    *(
        f"{kind}{about}"
        for kind in ("parity_position", "tokens3", "hidden", "direction")
        for about in ("", " gd")
    ),
    "laws",
    *("listed", "listed named", "transcript"),
]
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def loaded(name):
    """Load a file of benchmarks."""
    spec = importlib.util.spec_from_file_location(f"{name}_made", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def forge():
    return loaded("forge")


@pytest.fixture(scope="module")
def mutants():
    return loaded("mutants")


@pytest.fixture(scope="module")
def sources(forge):
    return forge.genuine()


def test_what_is_genuine_is_accepted_and_derived_again(forge, sources):
    assert {one.kind for one in sources} == set(KINDS)
    for one in sources:
        assert kernel.check(one.data) if one.kind == "laws" else check(one.data).statements
        assert forge.falsehood(one.data) is None


def claims(data):
    return data["goal"]["claims"] if "goal" in data else []


SLOW = {
    *(f"{kind} {about}" for kind in ("lwr", "lpn", "window") for about in ("kernel", "gd")),
    *("tokens3", "tokens3 gd", "direction gd"),
}


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in KINDS]
)
def test_every_change_of_every_place_is_refused_or_explained(forge, sources, kind):
    """Also with digests that fit; what is accepted is derived again in another way."""
    mine = [one for one in sources if one.kind == kind]
    found = list(forge.every(mine))
    assert not [f"{one.place} {one.change}: {one.fault}" for one in found if one.fault]
    assert sum(one.accepted for one in found) < len(found) / 8
    assert len(found) > 150
    for key in mine[0].data:
        other = {k: v for k, v in mine[0].data.items() if k != key}
        with pytest.raises((Refuted, DamagedFile)):
            check(forge.resealed(other, named=False) if key != "digest" else other)


def test_what_is_false_is_seen_without_the_checker(forge, sources):
    """Each claim of more, with its upper end as it was, and each transcript with another count."""
    for one in sources:
        data = copy.deepcopy(one.data)
        for i, claim in enumerate(claims(data)):
            if claim["quantity"].endswith("-success"):  # less is more there
                more = Fraction(claim["value"]) - Fraction(1, 100)
            elif claim["quantity"].endswith("-at-most"):
                more = Fraction(claim["value"]) * Fraction(99, 100)
            elif claim["quantity"] == "random-members":
                more = 2 * Fraction(claim["value"])  # a few more are there by sharper tails
            else:  # of parities one more feature may be needed than is claimed
                more = Fraction(claim["value"]) + 1 + (claim["quantity"] == "kernel-features")
            if "entries" in str(data.get("problem")):  # of laws less may be claimed than is true
                low, _ = forge.Residues(data["problem"]).ends(claim["quantity"], claim["terms"])
                more = (
                    low - Fraction(1, 10**9) if claim["quantity"].endswith("-success") else low + 1
                )
            if (name := claim["quantity"]) == "vstat-queries" and claim.get("terms", {}).get(
                "t"
            ) == "1":
                continue  # 1/t is a better bound there than the certificate's: more is true
            other = copy.deepcopy(data)
            claims(other)[i]["value"] = str(more)
            assert forge.falsehood(other), name
            with pytest.raises(Refuted):
                check(forge.resealed(other))
        for i in range(len(data.get("queries", []))):
            other = copy.deepcopy(data)
            other["queries"][i]["ruled_out"] += 1
            assert forge.falsehood(other)


def test_no_reason_explains_a_change_of_what_is_claimed(forge, sources):
    """Of a transcript: what it is, how many members there are, are ruled out and are left."""
    said = {"format", "mode", "members", "queries/*/ruled_out", "queries/*/alive"}
    explained, there = set(), set()
    for data in (one.data for one in sources if one.kind == "transcript"):
        for place in forge.places(data):
            name = forge.general(data, place)
            there.add(name)
            for way in forge.changes(forge._at(data, place)):
                if why := forge.explained(name, way):
                    explained.add((name, why))
    assert said < there
    assert not said & {name for name, _ in explained}
    assert {why for _, why in explained} == {why for _, why in forge.ACCEPTED}


def test_every_mutant_is_caught(mutants):
    assert len(mutants.MUTANTS) > 400
    assert not [mutant.name for mutant in mutants.MUTANTS if mutant.caught() is None]


def test_no_rule_is_without_a_mutant(mutants):
    used = {name for m in mutants.MUTANTS if isinstance(m.steps, list) for name, *_ in m.steps}
    assert used == set(mutants.kernel.RULES)


def test_what_is_no_weakening_is_not_caught(mutants):
    same = mutants.M("problem.down(gram.top / room)", "math.floor(gram.top / room)")
    assert same.caught() is None
    with pytest.raises(ValueError, match="0 times"):
        mutants.M("nothing of this is there", "").load()
