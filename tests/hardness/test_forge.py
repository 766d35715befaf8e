"""Forged certificates of all kinds: `benchmarks/forge.py` in short."""

import copy
import importlib.util
import re
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from hardness.check import check
from instances.errors import Refuted

PATH = Path(__file__).parents[2] / "benchmarks" / "forge.py"


@pytest.fixture(scope="module")
def forge():
    spec = importlib.util.spec_from_file_location("forge_made", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources(forge):
    return forge.genuine()


def test_what_is_genuine_is_accepted_and_derived_again(forge, sources):
    kinds = Counter(one.kind for one in sources)
    plain = {"parity", "profile", "lwr", "lwe", "lpn", "window"}
    assert set(kinds) == {
        *plain,
        *(f"{kind} {about}" for kind in plain for about in ("kernel", "gd")),
        *("parity low-degree", "profile low-degree"),
        *("functions", "layers", "specs", "transcript"),
    }
    for one in sources:
        assert check(one.data).statements
        assert forge.falsehood(one.data) is None


def test_a_thousand_forgeries_and_more(forge, sources):
    found = list(forge.forge(1500, 7, sources))
    assert not [f"{one.kind}: {one.place} {one.change}: {one.fault}" for one in found if one.fault]
    assert {one.kind for one in found} == {one.kind for one in sources}
    assert 12 <= sum(one.accepted for one in found) <= 150


def test_what_is_false_is_seen_without_the_checker(forge, sources):
    """Each claim of more, with its upper end as it was, and each transcript with another count."""
    for one in sources:
        data = copy.deepcopy(one.data)
        for i, claim in enumerate(data.get("claims", [])):
            if claim["quantity"].endswith("-success"):  # less is more there
                more = Fraction(claim["value"]) - Fraction(1, 100)
            else:
                more = Fraction(claim["value"]) + 1
            other = copy.deepcopy(data)
            other["claims"][i]["value"] = str(more)
            assert forge.falsehood(other), claim["quantity"]
            with pytest.raises(Refuted):
                check(forge.resealed(other))
        for i in range(len(data.get("queries", []))):
            other = copy.deepcopy(data)
            other["queries"][i]["ruled_out"] += 1
            assert forge.falsehood(other)


def test_no_reason_explains_a_change_of_what_is_claimed(forge):
    kinds = ["parity", "profile", "lwe", "functions", "specs", "profile gd", "lwr kernel"]
    for kind in kinds:
        for part in ("value", "kind", "meaning", "assumptions", "parameters/upper"):
            assert forge.explained(kind, f"claims/sq-dimension/{part}", "+1") is None
        for place in ("scope", "format", "evidence", "claims/sq-dimension"):
            assert forge.explained(kind, place, "letter") is None
    for what, where, why in forge.ACCEPTED:
        assert re.compile(what)
        assert re.compile(where)
        assert why
