"""Noisy gradient descent in simulation: never above its bound, and a logarithm from it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.lower.learners import WorstDescent, certify_named, pose_family
from hardness.lower.terms import BoundParameters
from hardness.oracles import Budget, Meter, Spent
from hardness.report.studies import descent_words
from hardness.runs.descent import DescentPoint, build, descent_sizes, descent_study, judge
from hardness.upper.noisygd import GradientOracle, Normal, descend, known_signs
from instances import parse
from instances.errors import ToolkitError
from tests.conftest import not_refused
from tests.slopes import slopes_agree

FAMILIES = [
    *("parity:d=3,m=1", "parity:d=5,m=2", "parity:d=6,m=3,noise=0.1", "parity:d=8,m=2,noise=1/5"),
    *("parity:d=10,m=4", "parity:d=13,m=2", "profile:g=majority,d=6,m=3"),
    *("profile:g=threshold(2),d=7,m=3,noise=0.1", "profile:g=exactly(1),d=6,m=2"),
    *("profile:g=majority,d=8,m=5,noise=1/4", "profile:g=5*threshold(1)-2,d=4,m=1"),
]


def facts(family, risk=None):
    """What the kernel proves of all members, or of how many a hypothesis fits."""
    posed = pose_family(family, BoundParameters())
    return posed.proof.fact(posed.gram if risk is None else posed.fit(risk))


def settings(count: int) -> list[dict]:
    """Random families, models, clips and steps, and a noise for which the bound says something."""
    rng, found = np.random.default_rng(7), []
    for i in range(count):
        family = parse(FAMILIES[rng.integers(len(FAMILIES))])
        small = family.d <= 8
        model = rng.choice(["members", "network", "features", "linear"] if small else ["members"])
        steps = int(2 ** rng.uniform(0, 12 if model == "members" else 4))
        clip = Fraction(int(rng.integers(1, 9)), 4)
        size = 4 * facts(family).moves / family.size * steps
        excess = rng.uniform(0.05, 0.9)
        std = Fraction(float(clip) * math.sqrt(size) / (4 * excess)).limit_denominator(10**6)
        found.append(
            {
                **{"family": family, "model": str(model), "steps": (steps,), "clip": clip},
                **{"std": std, "rate": float(2 ** rng.uniform(-4, 1)), "seed": i, "runs": 60},
                "momentum": float(rng.choice([0.0, 0.9])) if model != "members" else 0.0,
            }
        )
    return found


def test_no_simulation_beats_the_bound_and_some_come_near():
    near = []
    for given in settings(100):
        study = descent_study(**given)
        (point,) = study.points
        assert not point.beaten, (given, point)
        sure = Fraction(facts(given["family"], study.risk).most, study.members)
        if point.bound < 1:
            near.append((point.right / point.runs - sure) / (point.bound - sure))
    assert len(near) > 50
    assert max(near) > 0.4  # of the excess over guessing that the bound allows


@pytest.mark.parametrize("spec", ["parity:d=3,m=1", "parity:d=4,m=2", "parity:d=5,m=1"])
def test_a_bound_that_is_wrong_by_a_constant_is_beaten(spec):
    """The squared distance divided by 16, as if a 4 had been lost, and for two members by 4."""
    size = parse(spec).size
    study = descent_study(parse(spec), runs=4000, steps=tuple(range(1, 40)), std=Fraction(2))
    assert not any(p.beaten for p in study.points)
    sure = Fraction(1, size)
    factor = 2 if size == 2 else 4
    wrong = [
        DescentPoint(
            steps=p.steps, right=p.right, runs=p.runs, bound=sure + (p.bound - sure) / factor
        )
        for p in study.points
        if p.bound < 1
    ]
    assert any(p.beaten for p in wrong)


@pytest.mark.parametrize("noise", ["0", "0.1"])
def test_members_meet_the_bound_up_to_a_logarithm(noise):
    """Success 1/2 comes within 4 ln M of the steps that the bound asks for it; theory says 2 ln M.

    8 M ln M against 16 M (1/2 - 1/M)^2 = 4 M (1 - 2/M)^2.
    """
    terms = BoundParameters(success=Fraction(1, 2))
    for study in descent_sizes(parse(f"parity:d=11,m=3,noise={noise}"), terms=terms)[1:]:
        assert 1 < study.needed < study.reached < 4 * math.log(study.members) * study.needed
        assert 0.3 < study.reached / study.enough < 1.2


def test_answers_are_the_mean_of_cut_gradients_and_noise():
    """Against loops over z_0, z, the label and its noise, with half of the tokens public."""
    family = parse("profile:g=exactly(1),d=5,m=2,noise=0.2")
    rng = np.random.default_rng(0)
    secrets = [(1, 3), (2, 4), (1, 2)]
    oracle = GradientOracle(family, secrets, 0.7, Normal(std=1e-12), rng)
    v = rng.standard_normal((2, 3, 16, 4))
    found = oracle.ask(v[0], v[1])
    wanted = np.zeros((3, 4))
    for run, secret in enumerate(secrets):
        for i, z in enumerate(itertools.product((1, -1), repeat=4)):
            minus = sum(z[j - 1] < 0 for j in secret)
            low = family.values[minus] != max(family.values)
            for flipped, share in ((False, 0.8), (True, 0.2)):
                g = v[int(low != flipped), run, i]
                wanted[run] += share * g * min(1, 0.7 / np.linalg.norm(g)) / 32
    assert found == pytest.approx(wanted, abs=1e-10)
    shared = oracle.ask(v[0, :1], v[1, :1])
    assert shared == pytest.approx(oracle.ask(*(np.repeat(side[:1], 3, 0) for side in v)), abs=1e-9)
    noisy = GradientOracle(family, secrets * 2000, 0.7, Normal(std=0.5), rng)
    assert (noisy.ask(v[0, :1], v[1, :1])[::3] - shared[0]).std() == pytest.approx(0.5, rel=0.05)
    nine = noisy.ask(v[0, :1], v[1, :1], times=9)[::3] - shared[0]
    assert nine.std() == pytest.approx(0.5 / 3, rel=0.05)
    assert noisy.meter.queries == 10


class Nearby:
    """The reference where it is within a distance of the mean, else the mean: the worst answers."""

    def __init__(self, within):
        self.within = within

    def average(self, mean, reference, times, rng):
        far = np.linalg.norm(mean - reference, axis=1) > self.within
        return np.where(far[:, None], mean, reference)


@pytest.mark.parametrize("spec", ["parity:d=8,m=3", "profile:g=majority,d=8,m=3,noise=0.1"])
def test_answers_nearby_rule_out_no_more_members_than_claimed(spec):
    """Every member has a run of its own: those that a step tells apart, and those that succeed."""
    family, rng = parse(spec), np.random.default_rng(2)
    secrets = list(itertools.combinations(range(1, family.d), family.m))
    model = build("members", family, 1.0, rng)
    for within in (0.02, 0.05, 0.08, 0.1, 0.2, 0.4):
        oracle = GradientOracle(family, secrets, 1.0, Nearby(within), rng)
        (theta,) = descend(model, oracle, [1], rng)
        asked = WorstDescent(steps=1, clip=Fraction(1), within=Fraction(str(within)))
        bound = Fraction(certify_named(family, [asked]).claims[0].value)
        assert np.mean(judge(oracle, model, theta) <= 0.25) <= bound


@pytest.mark.parametrize("name", ["network", "features", "linear"])
def test_gradients_are_the_derivatives_of_the_loss(name):
    rng = np.random.default_rng(3)
    model = build(name, parse("parity:d=4,m=2"), 1.0, rng)
    theta = model.start(2, rng) + 0.3
    for y, gradients in zip((1, -1), model.gradients(theta), strict=True):
        for one, gradient in zip(
            theta, np.broadcast_to(gradients, (2, 8, theta.shape[1])), strict=True
        ):
            slopes_agree(lambda at, y=y: (model.values(at[None])[0] - y) ** 2 / 2, gradient, one)


def test_a_network_learns_where_noise_is_small_and_the_bound_is_vacuous():
    study = descent_study(
        parse("parity:d=6,m=1"), model="linear", steps=(1, 300), std=Fraction(1, 100), runs=20
    )
    assert study.points[-1].right == 20
    assert study.points[-1].bound == 1


def test_steps_that_are_averaged_at_once_have_the_law_of_single_steps():
    family, rng = parse("parity:d=5,m=2"), np.random.default_rng(4)
    model = build("members", family, 1.0, rng)
    oracle = GradientOracle(family, [(1, 2)] * 3000, 1.0, Normal(std=1.0), rng)
    at_once = list(descend(model, oracle, [10, 40], rng, rate=1.0))
    one_by_one = list(descend(model, oracle, list(range(1, 41)), rng, rate=1.0))
    for a, b in zip(at_once, (one_by_one[9], one_by_one[39]), strict=True):
        assert a.mean(axis=0) == pytest.approx(b.mean(axis=0), abs=0.6)
        assert a.std() == pytest.approx(b.std(), rel=0.05)
    assert oracle.meter.queries == 80


def test_budgets_seeds_and_intervals():
    family, rng = parse("parity:d=5,m=2"), np.random.default_rng(5)
    model = build("members", family, 1.0, rng)
    meter = Meter(Budget(queries=30))
    oracle = GradientOracle(family, [(1, 2)], 1.0, Normal(std=1.0), rng, meter)
    with pytest.raises(Spent):
        list(descend(model, oracle, [10, 40], rng))
    assert meter.queries == 10
    one, same, other = (descent_study(family, runs=50, seed=seed) for seed in (1, 1, 2))
    assert one.to_dict() == same.to_dict() != other.to_dict()
    from scipy.stats import binomtest

    for right in (0, 1, 17, 50):
        found = binomtest(right, 50).proportion_ci(0.95, "exact")
        point = DescentPoint(steps=1, right=right, runs=50, bound=Fraction(1))
        assert point.interval == pytest.approx((found.low, found.high), abs=1e-9)


def test_bad_requests_are_refused_with_a_line():
    table = [
        ("parity:d=14,m=2", {}, "d=14 given: every z is enumerated, up to d=13"),
        ("parity:d=5,m=2", {"model": "memebers"}, "unknown model 'memebers': did you mean 'member"),
        ("parity:d=5,m=2", {"steps": (5, 3)}, "steps [5, 3] given: they must be above 0"),
        ("parity:d=5,m=2", {"std": Fraction(0)}, "noise-std=0 given"),
        ("parity:d=5,m=2", {"runs": 0}, "0 runs given"),
        ("profile:g=h,d=6,m=3", {}, "more than two values"),
        ("lwr:n=8,q=16,p=2", {}, "no claim: lwr given"),
    ]
    cases = [
        (spec, lambda spec=spec, given=given: descent_study(parse(spec), **given), word)
        for spec, given, word in table
    ]
    many, rng = parse("profile:g=h,d=6,m=3"), np.random.default_rng(0)
    cases += [
        (many, lambda: GradientOracle(many, [], 1.0, Normal(std=1.0), rng), "labels of two values")
    ]
    assert not_refused(ToolkitError, cases) == []


def test_words_come_from_the_numbers_alone_and_few_members_are_studied_too():
    assert len(descent_sizes(parse("parity:d=8,m=2"))) == 5
    words = descent_words(descent_study(parse("parity:d=8,m=2"), runs=50))
    assert "times the bound" in words
    assert "vacuous" in words
    assert "BEATEN" not in words
    for spec in ("parity:d=2,m=1", "parity:d=3,m=2", "profile:g=majority,d=4,m=2"):
        assert descent_sizes(parse(spec))[-1].members > 0
        assert descent_words(descent_study(parse(spec), runs=20))


def test_a_profile_is_judged_by_what_is_added_to_what_everyone_knows():
    family = parse("profile:g=majority,d=7,m=3,noise=0.1")
    rng = np.random.default_rng(0)
    oracle = GradientOracle(family, [(1, 2, 3), (2, 4, 6)], 1.0, Normal(std=1.0), rng)
    public = known_signs(family, oracle.points)
    hidden = oracle.signs - public
    other = rng.normal(size=hidden.shape)

    class Given:
        def values(self, part):
            return 0.8 * public + part

    assert judge(oracle, Given(), 0.3 * hidden) == pytest.approx(0, abs=1e-12)
    along = (other * hidden).sum(axis=1) ** 2
    wanted = 1 - along / ((other**2).sum(axis=1) * (hidden**2).sum(axis=1))
    assert judge(oracle, Given(), other) == pytest.approx(wanted, abs=1e-9)
