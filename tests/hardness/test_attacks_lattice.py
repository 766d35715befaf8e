import dataclasses
import itertools
import sys

import numpy as np
import pytest

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import attacks_on, run
from hardness.upper import Outcome, parse_learner
from hardness.upper.modlinear import independent, inverse, solve
from instances import ToolkitError, UsageError, parse
from instances.samples import samples


def learn(learner, spec, seed=0, **budget):
    return run(parse_learner(learner), parse(spec).instance(seed), Budget(**budget), seed)


class Coins:
    """An instance whose labels are replaced by coins, independent of the tokens."""

    def __init__(self, spec):
        self.instance = parse(spec).instance(0)
        self.family = self.instance.family

    def examples(self, start, count):
        found = self.instance.examples(start, count)
        rng = np.random.default_rng([start, count])
        codes = rng.integers(0, len(self.family.levels), count) * self.family.open(found.words)
        return dataclasses.replace(found, codes=codes.astype(found.codes.dtype))


def attack(learner, source, seed=0, **budget):
    oracle = ExampleOracle(source, Meter(Budget(**budget)))
    return parse_learner(learner).learn(oracle, np.random.default_rng(seed))


RECOVERED = [
    ("modlinear", "lwe:n=30,q=3329,error=none"),
    ("modlinear", "lwe:n=30,q=4096,error=none"),
    ("modlinear", "lwe:n=30,q=4096,error=none,secret=ternary,h=3"),
    ("modlinear", "lwr:n=20,q=16,p=16"),
    ("modlinear", "lpn:n=40,noise=0,h=3"),
    ("modlinear", "lwe:n=1,q=2,error=none"),
    ("arora-ge", "lwe:n=12,q=3329,error=uniform,width=2"),
    ("arora-ge", "lwe:n=6,q=257,error=cbd,eta=1,secret=ternary"),
    ("arora-ge", "lwe:n=3,q=101,sigma=1"),
    ("arora-ge", "lwe:n=12,q=256,error=uniform,width=2"),
    ("arora-ge", "lwe:n=6,q=64,error=cbd,eta=1,secret=ternary"),
    ("arora-ge", "lwr:n=12,q=32,p=16"),
    ("arora-ge", "lwr:n=6,q=16,p=4,secret=cbd,spread=2"),
    ("arora-ge", "lwr:n=10,q=16,p=2,secret=binary,h=4"),
    ("primal", "lwe:n=16,q=521,sigma=1.5"),
    ("primal", "lwe:n=16,q=512,sigma=1.5"),
    ("primal", "lwe:n=20,q=521,sigma=3,secret=binary,h=5"),
    ("primal", "lwe:n=20,q=512,sigma=3,secret=ternary"),
    ("primal", "lwe:n=16,q=521,error=uniform,width=4"),
    ("primal", "lwe:n=16,q=521,sigma=1,secret=gaussian,spread=4"),
    ("primal", "lwr:n=16,q=256,p=64"),
    ("primal", "lwr:n=16,q=256,p=32,secret=binary"),
    ("primal", "lwr:n=3,q=8,p=2,secret=binary"),
]


@pytest.mark.parametrize(("learner", "spec"), RECOVERED)
def test_planted_secrets_are_recovered(learner, spec):
    found = learn(learner, spec, 1)
    assert found.secret_recovered
    assert found.outcome is Outcome.SOLVED
    assert found.risk.value < 1e-12


@pytest.mark.parametrize(
    ("learner", "spec"),
    [
        ("modlinear", "lwe:n=10,q=17,error=none"),
        ("modlinear", "lwe:n=10,q=16,error=none"),
        ("arora-ge", "lwe:n=5,q=17,error=uniform,width=2"),
        ("arora-ge", "lwe:n=5,q=16,error=uniform,width=2"),
        ("arora-ge", "lwr:n=6,q=8,p=2"),
        ("primal", "lwe:n=5,q=101,sigma=1"),
        ("primal", "lwr:n=4,q=8,p=2,secret=binary"),
        ("primal:samples=3", "lwe:n=2,q=17,sigma=1,secret=binary"),
    ],
)
def test_coins_in_place_of_labels_give_no_secret(learner, spec):
    found = attack(learner, Coins(spec))
    assert found.secret is None
    if not learner.startswith("primal"):
        assert found.outcome is Outcome.NOISY


@pytest.mark.parametrize("q", [3329, 4096])
def test_modlinear_notices_noise_and_one_wrong_label(q):
    noisy = learn("modlinear", f"lwe:n=20,q={q},sigma=1")
    assert noisy.outcome is Outcome.NOISY
    assert noisy.details["contradictions"] > 0
    source = Coins(f"lwe:n=20,q={q},error=none")
    clean = source.instance.examples(0, 400)
    first = np.flatnonzero(source.family.open(clean.words))[5]
    codes = clean.codes.copy()
    codes[first] = (codes[first] + 1) % q
    wrong = dataclasses.replace(clean, codes=codes)
    source.examples = lambda start, count: wrong.cut(start, start + count)
    found = attack("modlinear", source)
    assert found.secret is None
    assert found.outcome is Outcome.NOISY


@pytest.mark.parametrize("q", [7, 2, 8, 4096, 65521])
def test_solving_and_inverting_agree_with_multiplication(q):
    rng = np.random.default_rng(q)
    for n in (1, 5, 20):
        a, s = rng.integers(0, q, (n + 40, n)), rng.integers(0, q, n)
        assert solve(a, a @ s % q, q) == tuple(s)
        rows = independent(a, q)
        product = np.array([int(v) for v in inverse(a[rows], q).entries()]).reshape(n, n) @ a[rows]
        assert (product % q == np.eye(n)).all()
    with pytest.raises(UsageError, match="rank"):
        solve(np.zeros((5, 2), np.int64), np.zeros(5, np.int64), q)


@pytest.mark.parametrize(
    "spec",
    ["lwe:n=3,q=11,error=uniform,width=2", "lwe:n=3,q=8,error=uniform,width=2", "lwr:n=3,q=8,p=4"],
)
def test_arora_ge_agrees_with_brute_force(spec):
    for seed in range(5):
        instance = parse(spec).instance(seed)
        found = samples(instance.examples(0, 60))
        allowed = set(found.error.values)
        fits = [
            s
            for s in itertools.product(range(instance.family.q), repeat=3)
            if set(found.residuals(s).tolist()) <= allowed
        ]
        assert len(fits) == 1
        claimed = learn("arora-ge", spec, seed).details["claimed_secret"]
        assert [v % instance.family.q for v in claimed] == list(fits[0])


@pytest.mark.parametrize(
    ("learner", "spec"),
    [
        ("modlinear", "lwe:n=50,q=257,error=none"),
        ("arora-ge", "lwe:n=12,q=257,error=uniform,width=2"),
        ("arora-ge", "lwr:n=12,q=16,p=8"),
        ("primal", "lwe:n=16,q=521,sigma=1.5"),
    ],
)
def test_spent_budgets_are_outcomes(learner, spec):
    assert learn(learner, spec, examples=20).outcome is Outcome.EXAMPLES_SPENT
    assert learn(learner, spec, seconds=1e-9).outcome is Outcome.SECONDS_SPENT


def test_without_the_extra_the_message_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "fpylll", None)
    assert learn("primal", "lwe:n=10,q=521,sigma=1.5").secret_recovered
    with pytest.raises(ToolkitError, match=r"pip install 'hardness-toolkit\[lattice\]'"):
        learn("primal:block=20", "lwe:n=10,q=521,sigma=1.5")


def needs_extra():
    pytest.importorskip("fpylll", reason="the extra `lattice` is not installed")


@pytest.mark.lattice
def test_bkz_finds_what_lll_does_not():
    needs_extra()
    spec = "lwe:n=34,q=1601,alpha=0.006"
    one = learn("primal:samples=75", spec)
    assert one.secret_recovered is None
    two = learn("primal:block=24,samples=75", spec)
    assert two.secret_recovered
    assert two.details["block"] > 2
    again = learn("primal:block=24,samples=75", spec)
    assert again.details == two.details


@pytest.mark.lattice
def test_pruned_blocks_reduce_too_and_time_is_kept():
    needs_extra()
    found = learn("primal:block=36,start=32", "lwe:n=20,q=521,sigma=20,secret=binary", seconds=3)
    assert found.secret_recovered or found.outcome is not Outcome.SOLVED
    assert found.details["block"] >= 2


@pytest.mark.parametrize("error", ["uniform,width=1", "none", "gaussian,sigma=0.05"])
def test_errors_that_are_always_0_are_none(error):
    family = parse(f"lwe:n=3,q=64,error={error}")
    assert parse_learner("primal").supports(family) == "its labels have no error: use modlinear"
    assert parse_learner("modlinear").supports(family) is None


@pytest.mark.lattice
def test_attacks_by_default_find_a_sparse_binary_secret_by_small_blocks():
    pytest.importorskip("fpylll")
    family = parse("toy-80")
    (name,) = [one for one in attacks_on(family) if one.startswith("primal")]
    found = run(parse_learner(name), family.instance(0), Budget(), 0)
    assert found.secret_recovered
    assert found.details["block"] <= 40
