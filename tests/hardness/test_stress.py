"""Stress tests: who attempts how far, with which confidence, beside what is certified; in words."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.report.stress import certified_words, headline, stress_words
from hardness.runs.jobs import Job, in_this_process
from hardness.runs.names import short_specs
from hardness.runs.registry import parse_learner
from hardness.runs.results import read_runs
from hardness.runs.run import run
from hardness.runs.stress import (
    Trials,
    confidence,
    instance_seeds,
    levels_passed,
    passes_needed,
    stress,
)
from instances import UsageError, parse
from instances.ladders import ladder_of

SMALL = ladder_of([f"parity:d=8,m={m}" for m in (1, 2, 3)], examples=20_000)


@pytest.fixture(scope="module")
def small():
    return stress(["lowdegree", "trivial", "elimination"], SMALL, base_seed=3)


def outcomes(found):
    """Everything but seconds and memory, by learner."""
    return {
        attempt.learner: [
            [(r.seed, r.outcome, r.risk, r.examples) for r in trials.trials]
            for trials in attempt.levels
        ]
        for attempt in found.attempts
    }


def test_learners_stop_where_they_pass_on_no_seed(small):
    lowdegree, trivial, elimination = small.attempts
    assert (lowdegree.held, lowdegree.touched, len(lowdegree.levels)) == (2, 2, 3)  # m = 3 fails
    assert (trivial.held, trivial.touched, len(trivial.levels)) == (0, 0, 1)
    assert (elimination.held, elimination.continues) == (3, True)
    assert lowdegree.levels[2].failures == {"learned nothing": 5}
    assert lowdegree.levels[2].cost("examples") is None
    assert lowdegree.levels[0].cost("examples") > 0
    seeds = {tuple(r.seed for r in attempt.levels[0].trials) for attempt in small.attempts}
    assert seeds == {instance_seeds(3, SMALL.specs[0], 5)}
    assert len({r.seed for r in small.runs}) == 15


def in_any_order(works):
    """Do runs as processes that end them in any order would."""
    places = list(range(len(works)))
    Random(1).shuffle(places)
    done = dict(zip(places, in_this_process([works[place] for place in places]), strict=True))
    return [done[place] for place in range(len(works))]


def test_the_same_in_any_order_each_learner_once_and_references_last():
    levels = ladder_of(["parity:d=8,m=2", "parity:d=20,m=2"], examples=1500)
    learners = ["elimination", "trivial", "lowdegree"]
    mixed = stress(learners, levels, 2, base_seed=5, executor=in_any_order)
    alone = stress(learners[::-1], levels, 2, base_seed=5)
    assert outcomes(mixed) == outcomes(alone)
    assert [len(attempt.levels) for attempt in mixed.attempts] == [2, 1, 2]
    one, two = (stress(["trivial"], SMALL, 1, references=["trivial", "elimination"]) for _ in "ab")
    assert [(c.name, c.reference) for c in one.attempts] == [
        *(("trivial", False), ("elimination", True))
    ]
    assert one.drawn
    assert one.base_seed != two.base_seed
    assert one.runs[0].seed != two.runs[0].seed
    assert max(one.runs[0].seed, one.base_seed) < 2**63


def test_budgets_of_rungs_hold_unless_overridden(small):
    found = stress(["lowdegree"], SMALL, base_seed=3, budget=Budget(examples=100))
    for test, examples in ((small, 20_000), (found, 100)):
        own = {run.budget for run in test.attempts[0].levels[0].trials}
        assert own == {Budget(examples=examples, seconds=60.0)}
    assert found.attempts[0].levels[0].limits == {"examples": 5}
    assert found.attempts[0].held == 0


def test_what_is_not_supported_is_no_failure_and_what_is_refused_ends_no_other_climb():
    own = ladder_of(["parity:d=8,m=2", "parity:d=64,m=4"])
    found = stress(["pooled", "elimination"], own, base_seed=1)
    assert (found.attempts[0].held, len(found.attempts[0].levels)) == (1, 1)
    assert found.attempts[0].unsupported
    assert found.attempts[1].held == 2
    own = ladder_of(["parity:d=8,m=3", "parity:d=400,m=3"])
    found = stress(["lowdegree:degree=3", "elimination"], own, base_seed=1)
    refused, other = found.attempts
    assert (refused.held, refused.levels[1].failures) == (1, {"not run": 5})
    assert "memory" in refused.levels[1].not_run_reason
    assert other.held == 2


def test_what_is_solved_too_late_has_not_passed():
    instance = parse("parity:d=8,m=2").instance(0)
    within = run(parse_learner("elimination"), instance, Budget(seconds=2.0))
    slow = within.updated(seconds=3.0)
    trials = Trials(within.spec, (within, slow))
    assert slow.passed
    assert trials.passes == 1
    assert trials.failures == {"solved too late": 1}
    assert slow.limited_by == "seconds"


def test_certificates_stand_beside_rungs():
    own = ladder_of(["parity:d=16,m=3", "nice:m=1,k=2,d=8", "lwr:n=4,q=4,p=2,secret=binary"])
    found = stress(["trivial"], own, 1)
    assert [one.evidence for one in found.certified] == ["exact", "none", "exact"]
    assert [one.queries for one in found.certified][:2] == [13, None]  # ceil(4/100 (2/3 455 - 1))
    assert found.certified[0].floor == 9  # 2^9 >= 2/3 455


def test_bad_requests_are_refused_before_anything_runs():
    for asked, words in (
        ({"learners": []}, "at least one of each"),
        ({"seeds": 0}, "at least one of each"),
        ({"learners": ["gone.py:L"]}, "no such file: gone.py"),
        *(({"base_seed": base}, "base_seed") for base in (-1, 1.5, True, "1")),
    ):
        with pytest.raises(UsageError, match=words):
            stress(
                **{"learners": ["trivial"], "ladder": SMALL, "executor": lambda _: 1 / 0} | asked
            )


@pytest.mark.parametrize("seeds", [5, 6, 7, 9, 12, 20])
def test_the_confidence_is_the_exact_binomial_tail(seeds):
    from scipy.stats import binomtest

    least = passes_needed(seeds)
    assert binomtest(least, seeds, 0.5, "greater").pvalue <= 0.05
    assert binomtest(least - 1, seeds, 0.5, "greater").pvalue > 0.05
    found = 1 - binomtest(least, seeds, 0.5, "greater").pvalue
    assert float(confidence(seeds)) == pytest.approx(found)


def test_wrong_claims_are_as_rare_as_said_exactly():
    # Chances of a pass by level; the wrong levels are those of at most 1/2. All passes enumerated.
    chances = [Fraction(9, 10), Fraction(1, 2), Fraction(9, 10)]
    wrong = Fraction(0)
    for counts in product(range(6), repeat=3):
        weight = Fraction(1)
        for k, p in zip(counts, chances, strict=True):
            weight *= Fraction(int(np.prod(range(5 - k + 1, 6))), int(np.prod(range(1, k + 1))))
            weight *= p**k * (1 - p) ** (5 - k)
        if levels_passed([(k, 5) for k in counts]) >= 2:
            wrong += weight
    assert wrong == Fraction(9, 10) ** 5 * Fraction(1, 32)
    assert wrong <= 1 - confidence(5)


# In words and pictures.

OWN = ladder_of(["parity:d=8,m=2", "parity:d=9,m=3", "parity:d=400,m=3"])


@pytest.fixture(scope="module")
def told():
    learners = ["lowdegree", "trivial", "lowdegree:degree=3"]
    return stress(learners, OWN, references=["elimination"])


def test_its_table(told, tmp_path):
    """Each level with its spec, what is certified of it, and the seeds that each learner passed."""
    assert told.attempts[2].levels[2].not_run_reason  # of degree 3 in 399 bits
    told.save(tmp_path / "x.tex")
    lines = (tmp_path / "x.tex").read_text().split("\\begin{tabular}")[1].splitlines()
    assert lines[2].startswith("level & parity & certified queries & lowdegree & trivial & ")
    assert lines[4].startswith("1 & d=8,m=2 & vacuous & 5/5 & 0/5 & ")
    assert lines[6].startswith("3 & d=400,m=3 & ")
    assert lines[6].split(" & ")[2] == str(told.certified[2].queries)
    assert lines[7].startswith("passed at 96.88\\% &  &  & 1 & 0 & ")
    assert short_specs(OWN) == ("parity", ["d=8,m=2", "d=9,m=3", "d=400,m=3"])
    defaults = ladder_of(["parity:d=20,m=3", "parity:d=20,m=3,noise=0.45"])
    assert short_specs(defaults) == ("parity:d=20,m=3", ["noise=0", "noise=0.45"])


def test_words_fit_and_say_what_is_held(told):
    text = stress_words(told)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert headline(told, told.attempts[0]).startswith(
        "lowdegree passes level 1 of the 3 of your ladder (parity:d=8,m=2): with confidence 96.88 %"
    )
    assert "trivial passes no level" in text
    assert "Not run: " in headline(told, told.attempts[2])
    assert "from the operating system" in text
    assert str(told.base_seed) in text
    assert certified_words(told)[0].startswith("levels 1 to 2: the query bound is vacuous")
    assert certified_words(told)[1].startswith(
        "level 3: any statistical-query learner needs at least "
    )
    assert "elimination" in certified_words(told)[2]
    assert " ".join(certified_words(told)).count("Orthogonal members") == 1
    assert "for each learner alone" in " ".join(text.split())
    one = stress_words(told.updated(learners=told.learners[1:2]).on(told.runs))
    assert "for each learner alone" not in " ".join(one.split())
    assert "1.25 times its seconds" in " ".join(one.split())


def certified(*specs, learner="trivial", seeds=1):
    found = stress([learner], ladder_of(specs), seeds)
    return found, certified_words(found)


def test_what_is_certified_is_said_level_by_level():
    """Also of those that a learner holds, with the number of each."""
    found, lines = certified(
        *(f"parity:d={d},m=3" for d in (8, 16, 32)), learner="elimination", seeds=5
    )
    assert found.attempts[0].held == 3
    numbers = ", ".join(str(one.queries) for one in found.certified[1:])
    said = " ".join(lines)
    assert f"levels 2 to 3: any statistical-query learner needs at least {numbers} (level" in said
    found, lines = certified("nice:m=1,k=2,d=4", "lwe:n=4,q=15,sigma=1", "parity:d=8,m=2")
    assert [one.evidence for one in found.certified] == ["none", "assumption", "exact"]
    assert lines[0].startswith("level 1: no claim. No bound from below is claimed")
    assert lines[1].startswith("level 2: no certificate. ")
    assert lines[2].startswith("level 3: the query bound is vacuous")
    assert "At least 5 seeds are needed" in stress_words(found)
    # Elimination learns parities fast, and neither noisy ones nor learning with rounding.
    own = "parity:d=8,m=2", "parity:d=8,m=2,noise=0.1", "lwr:n=4,q=4,p=2,secret=binary"
    _, lines = certified(*own)
    assert [line.partition(":")[0] for line in lines] == ["level 1", "level 2", "level 3"]
    assert ["learns it fast" in line for line in lines] == [True, False, False]
    assert "parity with noise is hard" in lines[1]
    assert "learning with rounding is hard" in lines[2]


LEVELS = ("--on", "parity:d=8,m=2", "--on", "parity:d=9,m=3")
ZEROS = "def L(x, y):\n    return lambda x: 0.0 * x\n"


def test_a_ladder_of_ones_own_from_a_seed_gives_the_same_and_it_is_told(hardness):
    call = ["stress", "--learner", "lowdegree", *LEVELS, "--seed", 0, "--jobs", 1]
    one, two = (hardness(*call, "--json").json for _ in range(2))
    assert {*one} == {
        *("format", "ladder", "seeds", "base_seed", "seed_source", "budget"),
        *("passes_to_hold", "confidence", "terms", "learners", "certificates", "runs"),
    }
    assert [told["held"] for told in one["learners"]] == [1]
    assert (one["seed_source"], one["confidence"], len(one["runs"])) == ("given", "31/32", 10)
    assert [r["seed"] for r in one["runs"]] == [r["seed"] for r in two["runs"]]
    assert "You chose base seed 0" in hardness(*call).out
    every = hardness("stress", "--list", "--json").json["ladders"]
    assert hardness("stress", "--list", "--ladder", "parity-v1", "--json").json in every


def test_an_interrupt_keeps_what_was_finished(hardness, monkeypatch):
    ran, real = [], Job.do

    def cut(one):
        ran.append(one)
        if len(ran) == 8:
            raise KeyboardInterrupt
        return real(one)

    call = ["stress", "--learner", "elimination", *LEVELS, "--jobs", 1]
    monkeypatch.setattr(Job, "do", cut)
    found = hardness(*call, "--out", "x")
    assert found.code == 130
    found.one_line("7 runs are kept in x/runs.db: the same command goes on")
    seed = read_runs("x").base_seed
    monkeypatch.setattr(Job, "do", real)
    again = hardness(*call, "--out", "x", "--json")
    assert "7 runs found in x/runs.db" in again.err
    assert again.json["base_seed"] == seed  # drawn once
    assert len(again.json["runs"]) == 10
    assert read_runs("x").attempts[0].held == 2


def test_seeds_are_not_kept_where_a_learner_could_read_them(hardness, tmp_path):
    (tmp_path / "own").mkdir()
    for place in (".", "own"):
        (tmp_path / place / "mine.py").write_text(ZEROS)
    call = ["stress", "--on", "parity:d=4,m=1", "--seeds", 1, "--reference", "none"]
    call += ["--jobs", 1, "--budget-examples", 20, "--learner"]
    for out in ("x.json", "inner/x.json"):
        refused = hardness(*call, "mine.py:L", "--out", out)
        refused.one_line(f"{out} is in the folder of mine.py: a learner can read its folder")
        assert refused.code == 1
    assert {path.name for path in tmp_path.iterdir()} == {"mine.py", "own"}
    assert hardness(*call, "own/mine.py:L", "--out", "x.json").code == 0


def test_the_table_is_printed_again(hardness):
    for line, out, row in (
        (
            "stress --learner lowdegree --on parity:d=8,m=2 --seed 1",
            "x.json",
            "1 & parity:d=8,m=2 ",
        ),
        ("compare parity:m=2 --over d=6 --learner elimination", "both", "elimination & d=6"),
    ):
        printed = hardness(*line.split(), "--jobs", 1, "--out", out)
        assert hardness("report", out).out == printed.out
        assert row in hardness("report", out, "--format", "latex").out
        assert hardness("report", out, "--format", "csv").out
        hardness("report", out, "--format", "csv", "--out", "x.html").one_line("writes a page")


def test_a_budget_that_stops_a_query_learner_early_is_told_and_progress(hardness, monkeypatch):
    call = ["stress", "--learner", "trivial", "--on", "parity:d=24,m=3", "--seeds", 1, "--jobs", 1]
    call += ["--reference", "queries", "--reference", "elimination"]
    told = hardness(*call, "--budget-examples", 50_000)
    told.one_line(
        "queries: 50000 examples are at most 17 queries, and the certified number on level"
    )
    assert told.code == 0
    assert hardness(*call, "--budget-examples", 50_000, "--quiet").err == ""
    assert hardness(*call, "--budget-examples", 10**6).err == ""
    monkeypatch.setattr("hardness.api.progress._LOG_SECONDS", 0.0)  # in lines: here is no terminal
    call = ["stress", "--learner", "trivial", *LEVELS, "--seeds", 2, "--jobs", 1]
    assert "running: 1 of 4, " in hardness(*call).err
    assert hardness(*call, "--quiet").err == ""
