"""A user's draw that is not uniform is refused where bounds on a uniform member are made."""

import math
from itertools import cycle
from pathlib import Path

import pytest

from hardness.lower import certify
from hardness.lower.draws import require_uniform
from instances import UsageError, parse

SIGNED = (Path(__file__).parents[2] / "docs/examples/signed_majority.py").read_text()
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
    monkeypatch.setenv("HARDNESS_FAMILIES", "")
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


def test_half_of_many_members_that_are_never_drawn_are_noticed(family):
    wrong = family("d=16,m=3", *DRAWS["tilted"][:2])
    assert wrong.size == 8 * math.comb(15, 3) == 3640
    half = family("d=16,m=3", PLACES, PLACES.replace("self.d - 1", "self.d - 4"))
    for one in (wrong, half):
        with pytest.raises(UsageError, match="given: `draw` gives"):
            require_uniform(one)
