from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.oracles import Budget
from hardness.runs import Cut
from hardness.runs.run import run
from hardness.runs.stress import (
    Climb,
    Stress,
    Trials,
    confidence,
    held,
    instance_seeds,
    needed,
    stress,
)
from hardness.sweep.resumable import resumable
from hardness.upper import parse_learner
from instances import UsageError, parse
from instances.ladders import ladder, ladder_of

SMALL = ladder_of([f"parity:d=8,m={m}" for m in (1, 2, 3)], examples=20_000)


@pytest.fixture(scope="module")
def small():
    return stress(["lowdegree", "trivial", "elimination"], SMALL, base_seed=3)


def outcomes(found):
    """Everything but seconds and memory, by learner."""
    return {
        climb.learner: [
            [(r.seed, r.outcome, r.risk, r.usage.examples) for r in trials.runs]
            for trials in climb.rungs
        ]
        for climb in found.climbs
    }


def test_learners_stop_where_they_pass_on_no_seed(small):
    lowdegree, trivial, elimination = small.climbs
    assert (lowdegree.held, lowdegree.touched, len(lowdegree.rungs)) == (2, 2, 3)  # m = 3 fails
    assert (trivial.held, trivial.touched, len(trivial.rungs)) == (0, 0, 1)
    assert (elimination.held, elimination.climbing) == (3, True)
    assert lowdegree.rungs[2].failures == {"learned nothing": 5}
    assert lowdegree.rungs[2].cost("examples") is None
    assert lowdegree.rungs[0].cost("examples") > 0
    seeds = {tuple(r.seed for r in climb.rungs[0].runs) for climb in small.climbs}
    assert seeds == {instance_seeds(3, SMALL.specs[0], 5)}
    assert len({r.seed for r in small.runs}) == 15


def test_the_same_on_two_workers_beside_others_and_in_any_order():
    file = Path(__file__).parent.parent.parent / "docs/examples/nearest.py"
    rungs = ladder_of(["parity:d=8,m=2", "parity:d=20,m=2"], examples=1500)
    learners = ["elimination", "trivial", f"{file}:nearest"]
    with resumable(None, {"command": "stress"}, 2) as runs:
        beside = stress(learners, rungs, 2, base_seed=5, do=runs.do)
    alone = stress(learners[::-1], rungs, 2, base_seed=5)
    assert outcomes(beside) == outcomes(alone)
    assert [len(climb.rungs) for climb in beside.climbs] == [2, 1, 2]


def test_fresh_seeds_differ_and_given_ones_do_not():
    one, two = (stress(["trivial"], SMALL) for _ in range(2))
    assert one.drawn
    assert one.base_seed != two.base_seed
    assert one.runs[0].seed != two.runs[0].seed
    assert max(one.runs[0].seed, one.base_seed) < 2**63


def test_a_learner_is_run_once_and_references_stand_last():
    found = stress(["trivial"], SMALL, 1, references=["trivial", "elimination"])
    assert [(c.asked, c.reference) for c in found.climbs] == [
        ("trivial", False),
        ("elimination", True),
    ]


def test_budgets_of_rungs_hold_unless_overridden(small):
    found = stress(["lowdegree"], SMALL, base_seed=3, budget=Budget(examples=100))
    for test, examples in ((small, 20_000), (found, 100)):
        own = {run.budget for run in test.climbs[0].rungs[0].runs}
        assert own == {Budget(examples=examples, seconds=60.0)}
    assert found.climbs[0].rungs[0].bounds == {"examples": 5}
    assert found.climbs[0].held == 0


def test_what_is_not_supported_is_no_failure():
    own = ladder_of(["parity:d=8,m=2", "parity:d=64,m=4"])
    found = stress(["pooled", "elimination"], own, base_seed=1)
    assert (found.climbs[0].held, len(found.climbs[0].rungs)) == (1, 1)
    assert found.climbs[0].unsupported
    assert found.climbs[1].held == 2


def test_a_refused_run_does_not_end_the_climb_of_others():
    own = ladder_of(["parity:d=8,m=3", "parity:d=900,m=3"])
    found = stress(["lowdegree:degree=3", "elimination"], own, base_seed=1)
    refused, other = found.climbs
    assert (refused.held, refused.rungs[1].failures) == (1, {"not run": 5})
    assert "memory" in refused.rungs[1].why
    assert len(found.not_run) == 5
    assert other.held == 2


def test_what_is_solved_too_late_has_not_passed():
    instance = parse("parity:d=8,m=2").instance(0)
    within = run(parse_learner("elimination"), instance, Budget(seconds=2.0))
    slow = within.updated(usage=replace(within.usage, seconds=3.0))
    trials = Trials(within.spec, (within, slow))
    assert slow.passed
    assert trials.passes == 1
    assert trials.failures == {"solved too late": 1}
    assert slow.bound == "seconds"


def test_an_interrupted_climb_keeps_what_was_finished(tmp_path):
    calls = []

    def progress(done):
        calls.append(done)
        if len(calls) == 14:
            raise KeyboardInterrupt

    with pytest.raises(Cut) as cut:
        stress(["elimination", "trivial"], SMALL, base_seed=3, progress=progress)
    found = cut.value.partial
    assert not found.finished
    assert [len(climb.rungs) for climb in found.climbs] == [1, 1]
    found.save(tmp_path / "x.json")
    assert Stress.load(tmp_path / "x.json") == found


def test_certificates_stand_beside_rungs():
    own = ladder_of(["parity:d=16,m=3", "nice:m=1,k=2,d=8", "lwr:n=4,q=4,p=2,secret=binary"])
    found = stress(["trivial"], own, 1)
    assert [one.evidence for one in found.certified] == ["exact", "none", "exact"]
    assert [one.queries for one in found.certified][:2] == [13, None]  # ceil(4/100 (2/3 455 - 1))
    assert found.certified[0].floor == 9  # 2^9 >= 2/3 455


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"learners": []}, "at least one of each"),
        ({"seeds": 0}, "at least one of each"),
        ({"learners": ["gone.py:L"]}, "there is no file gone.py"),
        *(({"base_seed": base}, "base_seed") for base in (-1, 1.5, True, "1")),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(asked, words):
    with pytest.raises(UsageError, match=words):
        stress(**{"learners": ["trivial"], "ladder": SMALL, "do": lambda _: 1 / 0} | asked)


@pytest.mark.parametrize("seeds", [5, 6, 7, 9, 12, 20])
def test_the_confidence_is_the_exact_binomial_tail(seeds):
    from scipy.stats import binomtest

    least = needed(seeds)
    assert binomtest(least, seeds, 0.5, "greater").pvalue <= 0.05
    assert binomtest(least - 1, seeds, 0.5, "greater").pvalue > 0.05
    found = 1 - binomtest(least, seeds, 0.5, "greater").pvalue
    assert float(confidence(seeds)) == pytest.approx(found)


def test_wrong_claims_are_as_rare_as_said_exactly():
    # Chances of a pass by rung; the wrong rungs are those of at most 1/2. All passes enumerated.
    chances = [Fraction(9, 10), Fraction(1, 2), Fraction(9, 10)]
    wrong = Fraction(0)
    for counts in product(range(6), repeat=3):
        weight = Fraction(1)
        for k, p in zip(counts, chances, strict=True):
            weight *= Fraction(int(np.prod(range(5 - k + 1, 6))), int(np.prod(range(1, k + 1))))
            weight *= p**k * (1 - p) ** (5 - k)
        if held([(k, 5) for k in counts]) >= 2:
            wrong += weight
    assert wrong == Fraction(9, 10) ** 5 * Fraction(1, 32)
    assert wrong <= 1 - confidence(5)


def test_one_pass_is_enough_to_go_on_and_none_is_not():
    instance = parse("parity:d=8,m=2").instance(0)
    right = run(parse_learner("elimination"), instance, Budget())
    failed = run(parse_learner("trivial"), instance, Budget())

    def climb(*trials):
        return Climb(learner="x", asked="x", reference=False, rungs=(Trials("x", trials),))

    assert climb(right, failed, failed, failed, failed).climbing
    assert not climb(failed, failed, failed, failed, failed).climbing
    assert climb(right, failed, failed, failed, failed).touched == 1
    assert climb(right, failed, failed, failed, failed).held == 0


@pytest.mark.slow
def test_elimination_climbs_to_the_top():
    found = stress(["elimination"], ladder("parity-v1"))
    assert found.climbs[0].held == found.climbs[0].touched == len(found.ladder.rungs)
    assert (found.drawn, found.finished, found.confidence) == (True, True, Fraction(31, 32))
