"""Attacks on LWE and its kin: secrets are found, coins show none."""

import itertools
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hardness.attacks.core import (
    COST_UNIT,
    better_candidate,
    conclude,
    costs,
    evidence_threshold,
    gather,
    samples_to_confirm,
)
from hardness.attacks.elimination import independent, inverse, solve
from hardness.attacks.lattice import LARGEST_BLOCK, STRATEGIES, dropped_coordinates, max_restarts
from hardness.attacks.restricted import Restricted
from hardness.learners import Outcome
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import attacks_on
from hardness.runs.distinguish import Uniform
from hardness.runs.registry import parse_learner
from hardness.runs.run import attempt
from instances import ToolkitError, UsageError, limits, parse
from instances.samples import samples
from instances.secrets import Secrets
from tests.conftest import learn

SEARCHES = [
    ("bruteforce", "lwr:n=16,q=64,p=2,secret=binary,h=4"),
    ("bruteforce", "lwr:n=3,q=8,p=2"),
    ("bruteforce", "lwr:n=3,q=32,p=4,secret=gaussian,spread=1"),
    ("bruteforce", "lwe:n=14,q=113,secret=binary,h=4,sigma=3"),
    ("bruteforce", "lwe:n=10,q=17,error=uniform,width=3,secret=ternary,h=2"),
    ("bruteforce", "lwe:n=3,q=15,sigma=1,secret=gaussian,spread=1/2"),
    ("bruteforce", "lpn:n=10,noise=0.1"),
    ("bruteforce", "parity:d=70,m=3,noise=0.1"),
    ("bruteforce", "lwr:n=6,q=2,p=2"),
    ("mitm", "lwr:n=20,q=1024,p=4,secret=binary,h=6"),
    ("mitm", "lwr:n=15,q=64,p=2,secret=ternary,h=3"),
    ("mitm", "lwe:n=21,q=113,secret=binary,h=5,sigma=2"),
    ("mitm", "lwe:n=12,q=98,sigma=1,secret=ternary,h=4"),
    ("mitm", "lpn:n=24,h=4,noise=0.1"),
    ("mitm", "parity:d=41,m=5"),
    ("restricted", "parity:d=60,m=3,noise=0.1"),
    ("restricted", "parity:d=66,m=4"),
    ("restricted", "lpn:n=40,h=4,noise=0.1"),
    ("bkw", "lpn:n=32,noise=0.1"),
    ("bkw", "parity:d=33,m=5,noise=0.1"),
    ("bkw", "lwe:n=6,q=31,sigma=1"),
    ("bkw", "lwe:n=4,q=17,error=uniform,width=2"),
    ("bkw", "lwr:n=5,q=16,p=2,secret=ternary"),
]
EQUATIONS = [
    ("modlinear", "lwe:n=30,q=3329,error=none"),
    ("modlinear", "lwe:n=30,q=4096,error=none"),
    ("modlinear", "lwe:n=20,q=36,error=none,secret=ternary"),
    ("modlinear", "lwr:n=20,q=16,p=16"),
    ("modlinear", "lwe:n=1,q=2,error=none"),
    ("primal", "lwe:n=16,q=521,sigma=1.5"),
    ("primal", "lwe:n=16,q=512,sigma=1.5"),
    ("primal", "lwe:n=16,q=510,sigma=1.5"),
    ("primal", "lwe:n=20,q=521,sigma=3,secret=binary,h=5"),
    ("primal", "lwe:n=16,q=521,error=uniform,width=4"),
    ("primal", "lwe:n=16,q=521,sigma=1,secret=gaussian,spread=4"),
    ("primal", "lwr:n=16,q=256,p=64"),
    ("primal", "lwr:n=3,q=8,p=2,secret=binary"),
    ("primal:zeta=20", "lwe:n=40,q=251,sigma=3,secret=binary,h=3"),
    ("primal:zeta=1,samples=16", "lwe:n=12,q=521,sigma=1,secret=gaussian,spread=2"),
    ("mitm", "lwe:n=16,q=842779,sigma=3,secret=binary,h=4"),  # sums beyond 16 bits
]
NOTHING_THERE = [  # too small to be told from coins by chance
    ("modlinear", "lwe:n=10,q=17,error=none"),
    ("modlinear", "lwe:n=10,q=16,error=none"),
    ("primal", "lwe:n=5,q=101,sigma=1"),
    ("primal", "lwr:n=4,q=8,p=2,secret=binary"),
    ("primal:samples=3", "lwe:n=2,q=17,sigma=1,secret=binary"),
    ("primal:zeta=4", "lwe:n=8,q=97,sigma=3,secret=ternary,h=3"),
    ("dual", "lwe:n=5,q=101,sigma=1,secret=ternary"),
    ("dual:zeta=5,weight=2", "lwe:n=12,q=113,sigma=2,secret=binary,h=3"),
]


def attack(learner, source, meter=None, seed=0):
    oracle = ExampleOracle(source, meter or Meter(Budget()))
    return attempt(parse_learner(learner), oracle, seed)[0]


def coins(spec, seed=0):
    return Uniform(family=parse(spec), seed=seed)


@pytest.mark.parametrize(("learner", "spec"), SEARCHES)
def test_searches_find_planted_secrets(learner, spec):
    for seed in range(3):
        instance = parse(spec).instance(seed)
        found = attack(learner, instance, seed=seed)
        assert found.secret == instance.hidden.secret, (seed, found.details)
        assert found.outcome is None
        assert found.details["evidence"] >= found.details["evidence_wanted"] - 0.01


@pytest.mark.parametrize(("learner", "spec"), EQUATIONS)
def test_equations_and_lattices_find_planted_secrets(learner, spec):
    found = learn(learner, spec, 1)
    assert found.secret_recovered
    assert found.outcome is Outcome.SOLVED
    assert found.risk < 1e-12


@pytest.mark.parametrize(("learner", "spec"), SEARCHES + NOTHING_THERE)
def test_coins_give_no_secret(learner, spec):
    found = attack(learner, coins(spec))
    assert found.secret is None
    if (learner, spec) in SEARCHES or not learner.startswith(("primal", "dual")):
        assert found.outcome is Outcome.NO_CLAIM


def test_a_candidate_is_claimed_by_the_evidence_of_its_samples_and_its_doubt_is_named():
    """By the probabilities of labels, multiplied; what fits better and is no member is dropped."""
    family = parse("lwe:n=4,q=31,sigma=2,secret=binary,h=2")
    instance = family.instance(0)
    secret, forms = instance.hidden.secret, family.linear_forms
    other = tuple(np.roll(secret, 1).tolist())
    for count, outcome in ((2, Outcome.EXAMPLES_SPENT), (40, None)):
        drawn = gather(ExampleOracle(instance, Meter(Budget())), count)
        chances = forms.chances[(drawn.b - drawn.a @ secret) % 31]
        bits = np.log2(chances * 31).sum()
        best = better_candidate(None, drawn, secret)
        assert best.evidence == pytest.approx(bits)
        assert better_candidate(best, drawn, (1, 1, 1, 1)) is best
        assert better_candidate(better_candidate(None, drawn, other), drawn, secret) == best
        claim = conclude(family, drawn, best)
        assert claim.outcome is outcome
        assert (bits >= evidence_threshold(forms)) == (outcome is None)
        if claim.secret and outcome:
            assert claim.details["coins"] == pytest.approx(forms.size * 2.0**-bits)


def test_what_is_no_member_is_not_claimed():
    """Coins favour one of 2^28 vectors by more than any of the 28 members."""
    for seed in range(6):
        few = Meter(Budget(examples=100))
        found = attack("bkw", coins("parity:d=29,m=1,noise=0.1", seed), few, seed)
        assert found.secret is None or len(found.secret) == 1


def test_drop_and_solve_finds_the_secret_at_the_same_restart():
    learner, spec = "primal:zeta=60,samples=30", "lwe:n=96,q=251,sigma=3,secret=binary,h=3"
    for seed in (3, 4):
        instance = parse(spec).instance(seed)
        found, again = attack(learner, instance), attack(learner, instance, seed=9)
        assert found.secret == again.secret == instance.hidden.secret
        assert found.details == again.details
        assert found.details["dimension"] == 96 - 60 + 30 + 1
        assert found.details["tries"] > 1


def test_restarts_are_as_rare_as_counted():
    """By all choices of places: of secrets of one weight, of all secrets of independent entries."""
    n, zeta, secret = 7, 3, (1, 0, 0, 1, 0, 0, 0)
    choices = list(itertools.combinations(range(n), zeta))
    for weight in range(3):
        right = sum(sum(secret[i] for i in at) <= weight for at in choices)
        given = Secrets(kind="ternary", n=n, q=11, h=2)
        assert abs(max_restarts(given, zeta, weight) - 30 * len(choices) / right) <= 1
        free = [sum(map(bool, s[:zeta])) <= weight for s in itertools.product((-1, 0, 1), repeat=n)]
        given = Secrets(kind="ternary", n=n, q=11)
        assert abs(max_restarts(given, zeta, weight) - 30 * len(free) / sum(free)) <= 1
    drawn = [tuple(dropped_coordinates(n, zeta, i)) for i in range(3500)]
    assert {*drawn} == {*choices}
    assert max(drawn.count(at) for at in choices) < 150  # 100 on average


def test_few_samples_are_reported():
    spec = "parity:d=41,m=3,noise=0.05"
    for learner in ("bruteforce", "mitm", "restricted", "bkw"):
        found = attack(learner, parse(spec).instance(0), Meter(Budget(examples=20)))
        assert found.outcome is Outcome.EXAMPLES_SPENT
        assert found.details["samples"] <= 20
        assert found.details["samples_wanted"] >= samples_to_confirm(parse(spec).linear_forms)
    for spec, learner, examples in (
        ("parity:d=41,m=3", "elimination", 20),
        ("lwe:n=24,q=97,error=none", "modlinear", 30),
        ("lwe:n=24,q=97,sigma=1", "primal", 30),
    ):
        found = attack(learner, parse(spec).instance(0), Meter(Budget(examples=examples)))
        assert found.outcome is Outcome.EXAMPLES_SPENT
        assert found.details["samples"] < examples
        assert found.details["samples_wanted"] >= max(24, found.details["samples"] + 1)
    for spec, names, few in (
        ("lwr:n=4,q=2,p=2,h=4", ("bruteforce", "mitm", "bkw"), (1,)),
        ("lwe:n=8,q=61,alpha=0.005,secret=binary", ("mitm",), (1, 8)),
        ("lwr:n=4,q=13,p=13", ("mitm",), (1, 8)),
        ("lwe:n=3,q=6,error=uniform,width=2,secret=ternary", ("primal:zeta=1",), (4,)),
    ):
        for learner, examples, seed in itertools.product(names, few, range(2)):
            meter = Meter(Budget(examples=examples))
            found = attack(learner, parse(spec).instance(seed), meter, seed)
            assert found.outcome is Outcome.EXAMPLES_SPENT, (spec, learner, examples, seed)


@pytest.mark.parametrize("learner", ["bruteforce", "mitm"])
def test_fewer_samples_than_it_takes_to_be_sure_give_a_guess_and_its_doubt(learner):
    spec = "lwr:n=20,q=1024,p=4,secret=binary,h=4"  # 12.2 bits of secrets, 2 bits a sample
    instance = parse(spec).instance(1)
    found = attack(f"{learner}:samples=12", instance)
    assert found.outcome is Outcome.EXAMPLES_SPENT
    assert found.secret == instance.hidden.secret
    assert found.details["coins"] == pytest.approx(parse(spec).size * 2.0**-24)
    assert attack(f"{learner}:samples=8", instance).secret is None


def test_bkw_amplifies_few_samples():
    instance = parse("lpn:n=32,noise=0.1").instance(0)
    found = attack("bkw:samples=300", instance)
    assert found.details["amplified"]
    assert found.secret == instance.hidden.secret


@pytest.mark.parametrize("error", ["uniform,width=1", "none", "gaussian,sigma=0.05"])
def test_errors_that_are_always_0_are_none(error):
    family = parse(f"lwe:n=3,q=64,error={error}")
    assert parse_learner("primal").supports(family) == "its labels have no error: use modlinear"
    assert parse_learner("modlinear").supports(family) is None


def test_memory_is_asked_for(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 16)
    instance = parse("lwr:n=40,q=1024,p=4,secret=binary,h=6").instance(0)
    with pytest.raises(ToolkitError, match="half secrets"):
        attack("mitm", instance)


@pytest.mark.parametrize("spec", ["lwe:n=4,q=31,sigma=2", "lwe:n=4,q=17,error=cbd,eta=2"])
def test_the_true_secret_is_seldom_given_up_and_costs_are_the_evidence(spec):
    for seed in range(50):
        instance = parse(spec).instance(seed)
        found = samples(instance.examples(0, 60))
        of = costs(found)
        t = of.shifts + found.a @ np.array(instance.hidden.secret)
        cost = of.tables[of.rows, t % found.family.q].astype(np.int64)
        assert (cost.cumsum() <= of.limits).all()
        best = math.log2(found.family.chances.max() * found.family.q)
        bits = len(found) * best - cost.sum() / COST_UNIT
        assert bits == pytest.approx(found.evidence(instance.hidden.secret), abs=0.01 * len(found))


def test_limits_of_costs_are_missed_as_rarely_as_they_say():
    """By adding up the true secret's cost exactly, a distribution on whole numbers."""
    family = parse("lwe:n=3,q=17,sigma=1")
    found = gather(ExampleOracle(family.instance(0), Meter(Budget())), 12)
    of = costs(found)
    table = of.tables[0][-np.arange(17) % 17]  # by error
    one = np.bincount(table, weights=family.chances)
    total, missed = np.ones(1), 0.0
    for limit in of.limits:
        total = np.convolve(total, one)
        missed += total[limit + 1 :].sum()
    assert missed <= 2.0**-20 < total[of.limits[-1] // 2 :].sum()


def test_trials_are_as_many_as_expected():
    family = parse("parity:d=40,m=3,noise=0.1")
    found = [attack("restricted:samples=4000", family.instance(seed)) for seed in range(60)]
    used = [one.details["trials"] for one in found]
    _, expected = Restricted().trials(family.linear_forms)
    # Geometric: the deviation is as large as the mean.
    assert np.mean(used) == pytest.approx(expected, rel=4 / math.sqrt(60))


@pytest.mark.parametrize("q", [3329, 4096])
def test_modlinear_notices_noise_and_one_wrong_label(q, monkeypatch):
    noisy = learn("modlinear", f"lwe:n=20,q={q},sigma=1")
    assert noisy.outcome is Outcome.NO_CLAIM
    assert noisy.details["contradictions"] > 0
    instance = parse(f"lwe:n=20,q={q},error=none").instance(0)
    clean = instance.examples(0, 400)
    first = np.flatnonzero(instance.family.open(clean.words))[5]
    codes = clean.codes.copy()
    codes[first] = (codes[first] + 1) % q
    wrong, source = replace(clean, codes=codes), coins(f"lwe:n=20,q={q},error=none")
    monkeypatch.setattr(
        Uniform, "examples", lambda _, start, count: wrong.cut(start, start + count)
    )
    found = attack("modlinear", source)
    assert (found.secret, found.outcome) == (None, Outcome.NO_CLAIM)


@pytest.mark.parametrize("q", [7, 2, 8, 4096, 65521, 6, 9, 36, 30030, 842779, 2**40 * 7])
def test_solving_and_inverting_agree_with_multiplication(q):
    rng = np.random.default_rng(q)
    for n in (1, 5, 20):
        a, s = rng.integers(0, q, (n + 40, n)), rng.integers(0, q, n)
        assert solve(a, a.astype(object) @ s % q, q) == tuple(s)
        rows = independent(a, q)
        product = np.array([int(v) for v in inverse(a[rows], q).entries()], object)
        product = product.reshape(n, n) @ a[rows]
        assert (product % q == np.eye(n)).all()
    with pytest.raises(UsageError, match="rank"):
        solve(np.zeros((5, 2), np.int64), np.zeros(5, np.int64), q)


def test_without_the_extra_the_message_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "fpylll", None)
    assert learn("primal", "lwe:n=10,q=521,sigma=1.5").secret_recovered
    with pytest.raises(ToolkitError, match=r"pip install 'hardness-toolkit\[lattice\]'"):
        learn("primal:block=20", "lwe:n=10,q=521,sigma=1.5")


@pytest.mark.lattice
def test_bkz_finds_what_lll_does_not():
    pytest.importorskip("fpylll", reason="the extra `lattice` is not installed")
    spec = "lwe:n=34,q=1601,alpha=0.006"
    assert learn("primal:samples=75", spec).secret_recovered is None
    two, again = (learn("primal:block=24,samples=75", spec) for _ in range(2))
    assert two.secret_recovered
    assert two.details["block"] > 2
    assert again.details == two.details
    # Pruned blocks reduce too.
    pruned, spec = "primal:block=36,start=32", "lwe:n=20,q=521,sigma=40,secret=binary"
    found = learn(pruned, spec)
    assert (found.secret_recovered, found.details["block"]) == (True, 32)


def test_stored_pruning_radii_have_the_success_that_they_say():
    """By vectors of random direction, all of whose parts must be within the radii."""
    strategies = json.loads(Path(STRATEGIES).read_text())
    assert [made["block_size"] for made in strategies] == [*range(LARGEST_BLOCK + 1)]
    rng = np.random.default_rng(1)
    for size in (31, 36, 40, 41, 44, 50, 60, 70, 80):
        ((_, radii, stated),) = strategies[size]["pruning_parameters"]
        assert len(radii) == size
        parts = np.cumsum(rng.standard_normal((20_000, size)) ** 2, axis=1)[:, ::-1]
        within = np.all(parts <= parts[:, :1] * np.array(radii), axis=1).mean()
        assert within == pytest.approx(stated, abs=4 * (0.5 / 20_000) ** 0.5)


@pytest.mark.lattice
def test_attacks_by_default_find_a_sparse_binary_secret_by_small_blocks():
    pytest.importorskip("fpylll")
    (name,) = [one for one in attacks_on(parse("toy-80")) if one.startswith("primal")]
    found = learn(name, "toy-80")
    assert found.secret_recovered
    assert (found.details["block"], found.details["zeta"]) == (2, 33)  # those of the estimate
