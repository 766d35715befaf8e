"""Learners in pairs: McNemar's test against all signs, Holm's correction against its closure."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.oracles import Budget
from hardness.report.comparison import paired_words
from hardness.runs import compare, stress
from hardness.runs.paired import LEAST_DISCORDANT, LEAST_RISKS, LEVEL, holm, mcnemar, paired
from hardness.upper import Outcome
from instances.ladders import ladder_of


def by_signs(first, second):
    """The share of all signs of the instances that differ which are as uneven as these."""
    total = first + second
    signs = [abs(sum(one)) for one in product((-1, 1), repeat=total)]
    return Fraction(sum(sign >= abs(first - second) for sign in signs), 2**total)


def agrees(test):
    return all(
        math.isclose(test(first, second), by_signs(first, second), rel_tol=1e-12)
        for first in range(8)
        for second in range(8)
    )


def test_p_is_the_share_of_signs_that_are_as_uneven_and_others_are_caught():
    assert agrees(mcnemar)
    assert not agrees(lambda b, c: mcnemar(b, c) / 2)  # one-sided
    assert not agrees(lambda b, c: math.erfc(abs(b - c) / math.sqrt(2 * (b + c or 1))))  # normal
    assert not agrees(lambda b, c: mcnemar(b + 1, c))
    assert mcnemar(LEAST_DISCORDANT - 1, 0) > LEVEL >= mcnemar(LEAST_DISCORDANT, 0)


def by_closure(p_values):
    """Reject a hypothesis where Bonferroni does so in every set that it is in: the largest p."""
    every = range(len(p_values))
    sets = [s for size in every for s in combinations(every, size + 1)]
    return [
        max(min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets if one in s)
        for one in every
    ]


def test_the_correction_is_the_closed_test_of_bonferroni():
    rng = np.random.default_rng(1)
    for size in range(1, 7):
        p_values = list(rng.random(size) ** 3)
        assert holm(p_values) == pytest.approx(by_closure(p_values))
        if size > 2:
            assert [min(1, size * p) for p in p_values] != pytest.approx(by_closure(p_values))


@pytest.fixture(scope="module")
def small():
    learners = ("elimination", "trivial", "queries")
    return compare("parity:m=2", "d=6..8", learners, seeds=2, budget=Budget(examples=30_000))


def counts(found):
    return [(one.first_only, one.second_only, one.instances, one.left_out) for one in found]


def test_pairs_are_of_equal_spec_seed_and_budget(small):
    found = paired(small.runs)
    assert [(one.first[:4], one.second[:4]) for one in found] == [
        *(("elim", "triv"), ("elim", "quer"), ("triv", "quer"))
    ]
    assert counts(found)[0] == (6, 0, 6, 0)
    assert found[0].p == 2**-5
    assert found[0].p_corrected == pytest.approx(min(1, 3 * 2**-5))
    assert found[0].verdict == "cannot tell"
    assert paired(small.runs[:6])[0].verdict == "cannot tell"
    alone = [run for run in small.runs if "quer" not in run.learner]
    assert paired(alone)[0].verdict == found[0].first
    assert paired(list(reversed(alone)))[0].verdict == found[0].first
    for change in ({"budget": Budget()}, {"seed": 9}):
        assert paired([replace(r, **change) if "triv" in r.learner else r for r in alone]) == ()
    assert len(paired(small.runs, about={found[0].second})) == 2
    assert paired([]) == ()


def test_what_the_machine_ended_is_left_out_and_counted(small):
    alone = [run for run in small.runs if "quer" not in run.learner]
    for outcome in (Outcome.CRASHED, Outcome.UNSUPPORTED):
        lost = [replace(alone[0], outcome=outcome, risk=None), *alone[1:]]
        assert counts(paired(lost)) == [(5, 0, 5, 1)]
    assert "Left out once" in paired_words(paired(lost), str)
    late = [replace(r, usage=replace(r.usage, seconds=99.0)) for r in alone]
    slow = [replace(r, budget=Budget(seconds=60)) for r in late]
    assert counts(paired(slow)) == [(0, 0, 6, 0)]


def with_risks(runs, risks):
    """Runs on as many instances as there are risks, each of one value."""
    base = next(run for run in runs if run.risk)
    return [
        replace(
            base,
            learner=name,
            seed=seed,
            risk=replace(base.risk, value=value, low=0.0, high=9.0),
            outcome=Outcome.LEARNED_NOTHING,
        )
        for name, column in zip(("a", "b"), np.array(risks).T, strict=True)
        for seed, value in enumerate(column)
    ]


def test_the_interval_of_risks_is_that_of_resampled_instances_and_paired(small):
    rng = np.random.default_rng(3)
    hard = rng.random(40)
    risks = np.stack([hard, hard + 0.05 + 0.02 * rng.random(40)], axis=1)
    [one] = paired(with_risks(small.runs, risks))
    differences = risks[:, 0] - risks[:, 1]
    means = differences[rng.integers(40, size=(4000, 40))].mean(axis=1)
    assert one.risk_difference == pytest.approx(differences.mean())
    assert one.risk_interval == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=5e-4)
    assert paired(with_risks(small.runs, risks)) == (one,)
    assert paired(with_risks(small.runs, risks[: LEAST_RISKS - 1]))[0].risk_interval is None
    assert paired(with_risks(small.runs, np.tile([0.0, 1.0], (40, 1))))[0].risk_interval is None


def test_intervals_cover_the_difference_about_as_often_as_they_say(small):
    """Risks near 0 or 1, as those of learners that solve or do not."""
    rng, covered = np.random.default_rng(4), 0
    for _ in range(200):
        risks = np.where(rng.random((20, 2)) < (0.8, 0.5), 0.0, 1.0)
        low, high = paired(with_risks(small.runs, risks))[0].risk_interval or (0.0, 0.0)
        covered += low <= -0.3 <= high
    assert 0.9 <= covered / 200 <= 0.99


def test_a_stress_test_holds_its_pairs_and_those_of_references_apart():
    ladder = ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"])
    learners = ("elimination", "trivial")
    found = stress(["lowdegree"], ladder, base_seed=1, references=learners)
    assert [(one.first[:4], one.second[:4]) for one in found.paired] == [
        *(("lowd", "elim"), ("lowd", "triv"))
    ]
    assert counts(found.paired) == [(0, 5, 10, 0), (5, 0, 5, 0)]
