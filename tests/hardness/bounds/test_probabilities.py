"""No certificate claims or prints a probability outside [0, 1], whatever family and learner."""

import random
import re
from fractions import Fraction

import hardness
from hardness.bounds.certificate import NoClaim
from hardness.report.claims import sentence
from instances.errors import UsageError
from tests.hardness.bounds.test_formulas import GRIDS

NUMBER = r"(?:about )?-?\d[\d.]*(?:e[+-]?\d+)?(?:/\d+)?"
PROBABILITY = re.compile(rf"probability (?:at most |at least |of )?({NUMBER})")
AT_MOST_1 = re.compile(r"(-success|-probability|-error|-correlation|-predictability)$")


def drawn(rng):
    """A certificate of a spec, of named learners or not; None where there is none."""
    pick, name = rng.choice, rng.choice([*GRIDS, *["lwr"] * 20])
    about = pick(["lwe"] * 4 + [None, "kernel"]) if name == "lwr" else pick([None, "kernel", "gd"])
    goal = {"risk": pick(["0", "1/1000", "1/10", "1/5"]), "success": pick(["1/100", "2/3", "1"])}
    asked = {
        None: {"tau": pick(["1/100", "1/10", "1/2", "1"]), "vstat": pick([1, 100])},
        "kernel": {"features": pick([None, 1])},
        "gd": {"noise_std": pick(["1/100", "1", "50"]), "steps": pick([1, 1000])},
        "lwe": {"examples": pick([1, 20, 10**4]), "error_bound": pick([1, 2])},
    }[about]  # fmt: skip
    if about == "lwe":
        spec, law = f"lwr:n={rng.randint(1, 40)},p={2 ** rng.randint(1, 3)}", rng.random()
        spec += f",q={2 ** rng.randint(5, 40)},secret="
        spec += pick(["binary", "ternary", "uniform", "cbd,spread=1", f"gaussian,spread={law:.2}"])
    else:
        name = "lwr:secret=binary" if name == "lwr" else name
        values = ",".join(f"{key}={pick([*row])}" for key, row in GRIDS[name].items())
        spec = f"{name}{',' if ':' in name else ':'}{values}"
    try:
        return hardness.certify(spec, about=about, **asked, **goal)
    except (UsageError, NoClaim):
        return None


def within(made):
    """How many probabilities a certificate has, each in [0, 1]."""
    found = 0
    for claim in made.claims:
        if AT_MOST_1.search(claim.quantity):
            assert 0 <= claim.value <= claim.upper <= 1, (made.spec, claim)
            found += 1
        words = sentence(made, claim)
        for text in PROBABILITY.findall(words):
            assert 0 <= Fraction(text.removeprefix("about ")) <= 1, (made.spec, words)
            found += 1
    return found


def certificates(count):
    rng, made = random.Random(f"{count} certificates"), 0
    while made < count:
        if one := drawn(rng):
            made += 1
            yield one


def test_no_probability_is_outside_0_and_1():
    many = [within(one) for one in certificates(60)]
    assert sum(map(bool, many)) > 50
