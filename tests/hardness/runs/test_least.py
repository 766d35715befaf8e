"""Thresholds: the search against brute force, the median's interval against chance, the record."""

import itertools
import json
import random
import sys
from collections.abc import Callable
from types import SimpleNamespace

import msgspec
import pytest

from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs import read_runs
from hardness.runs.least import (
    Bracket,
    Least,
    Search,
    Trial,
    TrialEnd,
    follow,
    grid_point,
    least,
    rank,
    search,
)
from instances.errors import UsageError

_ASKED = Search(
    spec="parity:d=8,m=2", learner="trivial", seed=0, unit="examples",
    budget=Budget(examples=64), total=10**6,
)  # fmt: skip


def _searched(
    start: int, most: int, ended: Callable[[int], TrialEnd | None]
) -> tuple[Bracket, list[int]]:
    """Follow a search whose runs end as a function says."""
    steps, asked = search(start, most), list[int]()
    n = next(steps)
    while True:
        asked.append(n)
        try:
            n = steps.send(ended(n))
        except StopIteration as stop:
            return stop.value, asked


def _by_hand(start: int, passes: dict[int, bool]) -> tuple[int, int | None]:
    """Say what the search finds from all that there is to know: 2^0 .. 2^top, and what is between.

    The first octave after the last failure at or below the start from which three pass.
    """
    top = max(passes).bit_length() - 1
    failed = max((o for o in range(start + 1) if not passes[2**o]), default=-1)
    for first in range(failed + 1, top - 1):
        if all(passes[2**o] for o in (first, first + 1, first + 2)):
            break
    else:
        last = max(o for o in range(failed, top + 1) if o < 0 or not passes[2**o])
        return (2**last if last >= 0 else 0), None
    if first == 0:
        return 0, 1
    quarters = [grid_point(step) for step in range(4 * first - 4, 4 * first + 1)]
    low, high = (0, 2) if passes[quarters[2]] else (2, 4)
    middle = (low + high) // 2
    low, high = (low, middle) if passes[quarters[middle]] else (middle, high)
    return quarters[low], quarters[high]


def test_the_search_finds_what_brute_force_says() -> None:
    """Over all patterns up to 16, monotone and not, and over drawn ones up to 128."""
    few = sorted({grid_point(step) for step in range(17)})
    patterns = [
        dict(zip(few, bits, strict=True))
        for bits in itertools.product((False, True), repeat=len(few))
    ]
    many, rng = sorted({grid_point(step) for step in range(29)}), random.Random(0)
    patterns += [{n: rng.random() < 0.8 for n in many} for _ in range(2000)]
    seen = set[str]()
    for passes in patterns:
        for start in range(max(passes).bit_length()):
            found, asked = _searched(
                start, max(passes), lambda n, passes=passes: "passed" if passes[n] else "failed"
            )
            assert found[:2] == _by_hand(start, passes), (start, passes)
            assert set(asked) <= set(passes)
            seen.add(found[2])
            if sorted(passes.values()) == list(passes.values()) and found[1]:  # monotone
                assert found[:2] == (
                    max((n for n in passes if not passes[n]), default=0),
                    min(n for n in passes if passes[n]),
                )
    assert seen == {"confirmed", "over", "unconfirmed"}


def test_a_search_that_cannot_go_on_says_so() -> None:
    """What ends a run from outside is no failure; what stops by itself is doubled once."""
    first: dict[int, TrialEnd | None] = {1: "failed", 2: "failed"}
    for then, end in (("stopped", "own-limit"), ("unknown", "no-answer"), (None, "over")):
        every = first | {4: then, 8: then}
        found, asked = _searched(0, 64, lambda n, every=every: every[n])
        assert found[1:] == (None, end)
        assert asked[-1] == (8 if end == "own-limit" else 4)
    assert _searched(0, 64, lambda n: "stopped" if n < 2 else "passed")[0] == (1, 2, "confirmed")
    spent = [0]

    def ask(n: int) -> Trial:
        spent.append(spent[-1] + n)
        return Trial(n, "failed", n)

    bracket, tried = follow(_ASKED, ask)
    assert bracket == (64, None, "over")
    assert [*tried] == [1, 2, 4, 8, 16, 32, 64]
    bracket, tried = follow(msgspec.structs.replace(_ASKED, total=20), ask)
    assert (bracket, [*tried]) == ((8, None, "over"), [1, 2, 4, 8])


def _coverage(seeds: int, chance: Callable[[int], float], truth: float, repetitions: int) -> int:
    """Count how often the interval holds the median, of a learner that is monotone."""
    rng, r = random.Random(7), rank(seeds)[0]
    held = 0
    for _ in range(repetitions):
        lows, highs = [], []
        for _ in range(seeds):
            own = rng.random()  # of an instance: it passes from where its chance exceeds this

            def ended(n: int, own: float = own) -> TrialEnd:
                return "passed" if chance(n) > own else "failed"

            low, high, _ = _searched(5, 1 << 20, ended)[0]
            lows.append(low)
            highs.append(high or float("inf"))
        held += sorted(lows)[r - 1] < truth <= sorted(highs)[seeds - r]
    return held


@pytest.mark.parametrize(("seeds", "exact"), [(6, 0.96875), (15, 0.96484375)])
def test_the_interval_holds_the_median_as_often_as_it_says(seeds: int, exact: float) -> None:
    """At least 95 % of 1,000 repetitions, of a learner whose median threshold is known."""
    assert float(rank(seeds)[1]) == exact
    truth = 100.0  # p(100) = 1/2

    def chance(n: int) -> float:
        return n**2 / (n**2 + truth**2)

    assert _coverage(seeds, chance, truth, 1000) >= 950


def test_fewer_seeds_than_six_bound_no_median() -> None:
    """And more of them more narrowly: exact tails."""
    assert [rank(seeds)[0] for seeds in (1, 5, 6, 8, 9, 15, 25)] == [0, 0, 1, 1, 2, 4, 8]


def test_the_record_is_read_back() -> None:
    """What follows from the runs is not stored."""
    found = least("parity:m=2", "d=6,8", ("elimination",), 6, budget=Budget(examples=1024))
    cell = found.cells[1]
    assert cell.least
    assert cell.interval[0] < cell.least <= (cell.interval[1] or 0)
    assert cell.ends == {"confirmed": 6}
    assert cell.floor == 4
    data = json.loads(json.dumps(found.to_dict()))
    assert data.pop("format") == "hardness-least/3"
    assert Least.read(data) == found
    assert len(found.to_frame()) == 12


def test_table_frame_and_words_count_the_same_runs(hardness) -> None:
    """Those of the searches that count, without pilots; rows are called searches."""
    command = ("least", "parity:d=8,m=2", "--learner", "elimination", "--seeds", 6, "--jobs", 1)
    hardness(*command, "--out", "needed")
    found = read_runs("needed")
    runs = int(found.to_frame()["runs"].sum())
    assert [row["runs"] for row in found._rows()] == [runs]
    assert sum(one.to_dict()["runs"] for one in found.cells) == runs
    assert "9 searches found in needed/runs.db" in hardness(*command, "--out", "needed").err


def test_what_says_nothing_is_refused_in_one_line() -> None:
    """Few seeds, a budget below the floor or without room, another unit than a learner spends."""
    for told, asked in (
        ("5 seeds: at least", {"seeds": 5}),
        ("certified floor", {"budget": Budget(examples=4), "spec": "parity:d=16,m=2"}),
        ("4 are the least", {"budget": Budget(examples=3)}),
        ("4 are the least", {"total": 60}),
        ("its least values, not examples", {"learners": ("flips",)}),
        ("its least examples, not queries", {"unit": "queries"}),
    ):
        given = {"spec": "parity:d=8,m=2", "over": None, "learners": ("elimination",), **asked}
        with pytest.raises(UsageError, match=told) as error:
            least(**given)  # type: ignore[arg-type]
        assert "\n" not in str(error.value)


def test_a_learner_that_raises_has_failed_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that passes by luck far below, and fails above: neither stops a search by itself."""

    def lucky(learner: object, instance: object, budget: Budget, seed: int, **_: object) -> object:
        n = budget.examples or 0
        passed = random.Random(f"{seed} {n}").random() < (0.3 if n < 100 else 0.85)
        how = {"passed": passed, "limited_by": "examples", "outcome": Outcome.CRASHED, "view": None}
        return SimpleNamespace(**how, seconds=0.0, used=lambda _: n)

    monkeypatch.setattr(sys.modules["hardness.runs.least"], "run", lucky)
    found = least("parity:d=8,m=2", None, ("trivial",))
    [cell] = found.cells
    raised = sum(trial.end == "raised" for one in cell.thresholds for trial in one.trials)
    assert f"trivial: {raised} runs raised an exception" in found.text(200)


def test_a_search_whose_first_run_would_be_over_the_total_is_over() -> None:
    """Pilots spend 1 + 2 + 4 of 7, and say that 8 is next: nothing is left for it."""
    made = least("parity:d=20,m=2", None, ("elimination",), seeds=6, total=63)
    assert [one.trials for one in made.thresholds] == [()] * 6
    told = made.text(200)
    assert made.cells[0].interval == (0, None)
    assert "over   (0, ∞)" in told
    assert "6 of 6 found none within what a run, or all runs of a search" in told
