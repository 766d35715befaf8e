"""The member of a claim is the one that is drawn, of every family; else there is no claim."""

from collections import Counter
from fractions import Fraction
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from hardness.bounds import certify, draws
from hardness.bounds.certify import pose
from hardness.bounds.draws import require_uniform
from instances import UsageError, parse
from instances.lwe import modulus
from instances.spec import FAMILIES
from tests import laws

SIGNED = (Path(__file__).parents[3] / "docs/examples/signed_majority.py").read_text()
PLACES = "places = 1 + np.sort(rng.choice(self.d - 1, size=self.m, replace=False))"
DRAWS = {
    "never": ("rng.choice((1, -1), size=self.m)", "np.ones(self.m, int)", "times in"),
    "tilted": ("rng.choice((1, -1), size=self.m)", "rng.choice((1, 1, -1), size=self.m)", "times"),
    "unlisted": (PLACES, PLACES + "[::-1]", "which `members` does not list"),
}


@pytest.fixture
def family(tmp_path, monkeypatch):
    """A family of the example's file, changed."""

    def made(parameters, old="", new=""):
        assert old in SIGNED
        Path("signed.py").write_text(SIGNED.replace(old, new) if old else SIGNED)
        return parse(f"signed.py:SignedMajority:{parameters}")

    monkeypatch.chdir(tmp_path)
    return made


@pytest.mark.parametrize("parameters", ["d=4,m=1", "d=7,m=3", "d=9,m=3", "d=14,m=3"])
def test_a_uniform_draw_is_taken(family, parameters):
    require_uniform(family(parameters))


@pytest.mark.parametrize("change", DRAWS)
@pytest.mark.parametrize("parameters", ["d=5,m=3", "d=8,m=3"])
def test_a_draw_that_is_not_uniform_is_refused(family, parameters, change):
    old, new, words = DRAWS[change]
    wrong = family(parameters, old, new)
    with pytest.raises(UsageError, match=words) as found:
        certify(wrong)
    assert "\n" not in str(found.value)


CODE = "z[:, np.abs(secret)] @ np.sign(secret) < 0"
LOOP = "self.d), self.m):"
LIES = {
    "listed twice": (LOOP, f"{LOOP}\n          for _ in 'ab':", "`members` lists"),
    "a counter": (CODE, f"({CODE}) ^ next(self.calls)", "other values at the same points"),
}


@pytest.mark.parametrize("lie", LIES)
def test_members_listed_twice_and_labels_that_count_are_refused(family, lie):
    old, new, words = LIES[lie]
    wrong = family("d=6,m=3", old, new)
    type(wrong).calls = cycle((False, True))
    with pytest.raises(UsageError, match=words) as found:
        certify(wrong)
    assert "\n" not in str(found.value)


EVEN = [
    *("parity:d=8,m=3", "profile:g=majority,d=8,m=3"),
    *("lpn:n=6,noise=0.1", "lpn:n=6,h=2,noise=0.1"),
    *("lwr:n=4,q=8,p=4,secret=binary,h=2", "lwr:n=4,q=8,p=2,secret=ternary"),
    *("lwe:n=3,q=7,sigma=1", "lwe:n=3,q=7,sigma=1,h=2", "lwr:n=5,q=8,p=2,secret=binary"),
    "lwe:n=6,q=8,error=none,secret=ternary,h=3",
]
UNEVEN = [
    *("lwe:n=3,q=19,error=none,secret=gaussian,spread=1", "lwr:n=3,q=16,p=2,secret=cbd,spread=3"),
    *("lwe:n=3,q=7,sigma=1,secret=cbd,spread=2", "lwe:n=4,q=7,sigma=1,secret=cbd,spread=2,h=2"),
    "lwe:n=6,q=8,error=none,secret=ternary",
    *("lwr:n=4,q=16,p=8,h=2", "lwr:n=3,q=16,p=2,secret=gaussian,spread=0.5"),
]
APART = ("hidden", "direction")  # the set is that of a parity; any direction is as likely


def even(family):
    """Whether the members are taken for alike."""
    return pose(family, Fraction(2, 3)).known.members.law is None


@pytest.mark.parametrize("spec", EVEN)
def test_a_family_whose_members_are_taken_for_alike_draws_them_so(spec, monkeypatch):
    monkeypatch.setattr(draws, "built_in", lambda family: False)
    family = parse(spec)
    assert even(family)
    require_uniform(family)


@pytest.mark.parametrize("spec", UNEVEN)
def test_a_family_with_another_law_of_the_secret_draws_by_it(spec):
    family, many, rng = parse(spec), 20_000, np.random.default_rng(0)
    assert not even(family)
    found = Counter(tuple(v % modulus(family) for v in family.draw(rng)) for _ in range(many))
    law = laws.vectors(family)
    assert set(found) <= set(law)
    counts = np.array([found[secret] for secret in law])
    chances = np.array([*law.values()], float)
    for tail in (binom.cdf(counts, many, chances), binom.sf(counts - 1, many, chances)):
        assert tail.min() > 1e-9, [*law][tail.argmin()]


def test_every_family_with_a_claim_is_among_these():
    names = {spec.partition(":")[0] for spec in EVEN}
    for name, kind in FAMILIES.items():
        claimed = parse(kind.example).hardness.evidence == "exact"
        assert claimed == (name in names or name in APART), name
