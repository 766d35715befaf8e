"""The order of the stages, by a script: what is asked, of how many examples, and what ends it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from hardness.learners.staged import Data, StageFailed
from hardness.learners.staged.practical import StagedPlan, practical
from hardness.learners.staged.runner import Runner
from hardness.learners.staged.supply import Supply
from hardness.oracles import Budget, ExampleOracle, Meter
from instances import parse
from instances.errors import TooLarge

MODULE = sys.modules[practical.__module__]
SPEC = "nice:m=1,k=2,d=2,tokens=gaussian"
TRUTH = parse(SPEC).instance(0).layer()


def found(layer=None, measures=None, **more):
    return SimpleNamespace(rows=1, measures=measures or {}, figures={}, layer=layer, **more)


def fit(m, error, offered=True, **more):
    """A layer of m equal heads with a relative squared error."""
    theta, w = np.repeat(TRUTH.theta, m, axis=0), (1 - error**0.5) / m * TRUTH.w
    layer = theta, np.repeat(w, m, axis=0)
    kept = layer if offered else None
    return found(kept, theta=layer[0], w=layer[1], error=error, offered=offered, **more)


def one(error, like_noise=False):
    return fit(1, error, recognised=like_noise)


def gap(heads, ratio):
    return found(None, {"heads": heads}, heads=heads, gap=ratio, directions=None)


def rank(number):
    return found(fit(1, 0.5).layer, {"label_rank": number}, w=None)


NOTHING = [found(w=None, agreement=None, found=None, centre=None, leaders=None)]
# What stages find, one after the other; the last again and again.
USUAL = {
    **dict.fromkeys(("refine", "hull", "net"), NOTHING),
    **{"moment": [rank(2)], "single": [one(0.3)], "span": [gap(2, 9.0)]},
    **{"projection": [fit(2, 0.1)], "polish": [fit(2, 0.0)], "second polish": [fit(2, 1e-3)]},
    **{"prune": [fit(2, 0.0, offered=False)], "another head": [fit(2, 0.1, offered=False)]},
}


class Played(Runner):
    """Finds what a script says in place of what its stages would find."""

    def __init__(self, meter, script):
        super().__init__(meter)
        self.script = {name: list(left) for name, left in (USUAL | script).items()}
        self.said = []

    def go_on(self, *parts):
        super().go_on(*(Data(x=part.x, y=TRUTH(part.x)) for part in parts))

    def stage(self, name, work, *given, examples=None):
        left, all_ = self.script[name], len(self.data)
        what = left.pop(0) if len(left) > 1 else left[0]
        few = f"/{examples}" if examples not in (None, all_) else ""
        self.said.append(f"| {all_}" if name == "moment" else name.replace(" ", "-") + few)

        def work(clock):
            if isinstance(what, StageFailed):
                raise what
            return what

        return super().stage(name, work, examples=examples)


SPAN, HEADS = "refine hull span", "net projection polish/80 prune/80"
EXACT, LAST, CHOSEN = {"noisy": False}, {"examples": 1280}, {"heads": 2, "examples": 1280}
ROUGH = {"polish": [fit(2, 1e-3)], "prune": [fit(2, 1e-3, offered=False)]}
ALONE = {"polish": [fit(1, 0.1)], "second polish": [fit(1, 0.1)]}
NOISE = ALONE | {"single": [one(0.2, True)]}
WIDER, NO_GAP = {"span": [gap(2, 1.2), gap(2, 9.0)]}, {"span": [gap(2, 1.2)]}
SMALL, SIGNS = {"span": [gap(3, 2.0), gap(2, 2.0)]}, {"spec": "nice:m=1,k=2,d=2"}
MORE = [fit(2, 0.1), fit(3, 0.1, offered=False)]
WORSE = {"prune": [fit(1, 1.1e-3)], "second polish": [fit(1, 1.2e-3)]}
AT_ALL = "tells the number of heads (1.20 at most), 875 examples given: at least 3500 are needed"
FEW = "only 16 are different, so that more would tell little: give the number of heads"
HULL, NEEDS = "single refine hull", "few rows: at least 9000 are needed"
NO_HULL = {"hull": [StageFailed("hull", "few rows", needs=9000)], "polish": [fit(1, 0.2)]}
RANK = "unless it is at least 2, so no row shows that heads agree"
# What is asked, attempt by attempt; the plan, the script, and other than usual: why it failed, how
# many heads there are, whether examples ran out, how even is what is left: 1 as of noise.
CASES = [
    ("560 single", {}, {"single": [one(0.0)]}, {"heads": 1}),
    ("560 single polish/40 second-polish", {"heads": 1}, ALONE, {"heads": 1}),
    (f"560 single {SPAN} {HEADS}", {}, {}, {}),
    (f"560 single {SPAN} net projection", {"polish": 0}, {"projection": [fit(2, 1e-4)]}, {}),
    # A gap takes more examples. Exact labels of no single head are not tried as such again.
    (f"560 single {SPAN} | 1120 {SPAN} {HEADS}", EXACT, WIDER | {"single": [one(0.3, True)]}, {}),
    (f"560 single {SPAN} | 1120 single {SPAN} {HEADS}", {}, WIDER, {}),
    # A small gap twice at one place, or on the last examples; none to the end.
    (f"560 single {SPAN} | 1120 {SPAN} | 4480 {SPAN} {HEADS}", EXACT, SMALL, {}),
    (f"560 single {SPAN} | 875 {SPAN} {HEADS}", EXACT, SMALL, {"budget": 1000}),
    (
        f"560 single {SPAN} | 875 {SPAN}",
        EXACT,
        NO_GAP,
        {"failed": AT_ALL, "budget": 1000, "heads": 1},
    ),
    # Few examples differ.
    (f"560 single {SPAN}", EXACT, NO_GAP, {"failed": FEW, "heads": 1, **SIGNS}),
    (f"560 single {SPAN} {HEADS}", {}, SMALL, SIGNS),
    (f"560 single {SPAN}", {}, {"moment": [rank(1)]}, {"failed": RANK, "heads": 1}),
    # Of labels that may be noisy spare heads are sought by all examples, of exact ones by few.
    (f"1120 {SPAN} {HEADS} second-polish prune", CHOSEN, ROUGH, {}),
    (f"1120 {SPAN} {HEADS} second-polish prune/80", CHOSEN | EXACT, ROUGH, {}),
    (f"1120 {SPAN} {HEADS} second-polish", CHOSEN, ROUGH | WORSE, {"heads": 1, "spare": "1 of 2"}),
    # What is left looks like noise: an end, unless labels are exact or all are to be used.
    (f"560 single {SPAN} {HEADS} second-polish prune", {}, ROUGH, {"even": 1.0}),
    (
        f"560 single {SPAN} {HEADS} second-polish prune/80 "
        f"| 613 {SPAN} {HEADS} second-polish prune/80",
        *(EXACT, ROUGH, {"even": 1.0, "budget": 700}),
    ),
    (
        "560 single polish/40 second-polish | 1750 single polish/40 second-polish another-head",
        *({"every": True, "examples": 2000}, NOISE, {"even": 1.0, "heads": 1}),
    ),
    # One head and noise, of which a second explains some.
    (
        f"560 single polish/40 second-polish another-head {SPAN} {HEADS}",
        *({}, NOISE | {"another head": MORE, "polish": [fit(1, 0.1), fit(2, 0.0)]}, {}),
    ),
    # No gap under noise: heads are added while they help, once there are examples, up to d^2.
    (
        f"560 single {SPAN} | 1120 single {SPAN} polish another-head another-head prune",
        *(LAST, NO_GAP | {"polish": [fit(1, 0.2)], "another head": MORE}, {}),
    ),
    # A stage fails to the end: held-out examples count all the same, and may find noise alone.
    (f"560 {HULL} | 1120 {HULL} polish another-head", LAST, NO_HULL, {"heads": 1, "failed": NEEDS}),
    (f"560 {HULL} | 1120 {HULL} polish another-head", LAST, NO_HULL, {"heads": 1, "even": 1.0}),
    (
        f"560 single {SPAN} | 1120 single {SPAN} polish{3 * ' another-head'} prune",
        LAST,
        NO_GAP | {"polish": [fit(1, 0.2)], "another head": [fit(m, 0.2 / m) for m in (2, 3, 4)]},
        {"heads": 4},
    ),
]


def play(monkeypatch, plan, script, spec=SPEC, budget=None, even=0.0):
    monkeypatch.setattr(MODULE, "left_even", lambda layer, validation: even)
    supply = Supply(ExampleOracle(parse(spec).instance(0), Meter(Budget(examples=budget))))
    run, plan = Played(Meter(Budget()), script), {"heads": 0, "examples": 0, "polish": 9} | plan
    return run, practical(StagedPlan(**plan), supply, run, np.random.default_rng(0))


@pytest.mark.parametrize(("asked", "plan", "script", "more"), CASES)
def test_what_is_asked_follows_from_what_was_found(asked, plan, script, more, monkeypatch):
    given = {name: value for name, value in more.items() if name in ("spec", "budget", "even")}
    run, spent = play(monkeypatch, plan, script, **given)
    assert " ".join(run.said).removeprefix("| ") == asked
    assert (spent, run.best.layer.m) == ("budget" in more, more.get("heads", 2))
    assert str(run.failed).endswith(str(more.get("failed")))
    if "spare" in more:
        assert run.to_dict()["spare"] == f"{more['spare']} heads"


def test_several_heads_have_a_limit_and_large_ones_need_examples(monkeypatch):
    for name, value in (("_LEAST", 10), ("MATRIX_D", 1)):
        monkeypatch.setattr(MODULE, name, value)
    run, _ = play(monkeypatch, {}, {})
    assert " ".join(run.said) == f"| 9 single | 35 single {SPAN} net projection polish/17 prune/17"
    monkeypatch.setattr(MODULE, "SEVERAL_D", 1)
    run, _ = play(monkeypatch, {}, {})
    assert "several heads at d = 2: at most d = 1" in str(run.failed)


def test_what_does_not_fit_in_memory_ends_it_where_nothing_was_found(monkeypatch):
    left = [1, 0]

    def full(bytes_, asked):
        if not left.pop(0):
            raise TooLarge(f"{asked} needs {bytes_}")

    monkeypatch.setattr(MODULE, "require_memory", full)
    run, _ = play(monkeypatch, {}, NO_GAP)
    assert "d=2 with 1280 examples needs 215040" in str(run.failed)
    assert isinstance(run.failed, StageFailed)
    left[:] = [0]
    with pytest.raises(TooLarge, match="d=2 with 640 examples needs"):
        play(monkeypatch, {}, {})
