"""Attacks over seeds, by runs that are made up and by runs that are played."""

import math
from importlib.util import find_spec

import pytest
from msgspec.structs import replace

from hardness.oracles import Budget, Usage
from hardness.report.studies import one_attack_words
from hardness.runs import AttackResult, attack, attacks_on
from hardness.runs.attack import Attacks, known, out_of_reach
from hardness.runs.risk import Risk
from hardness.runs.run import run
from hardness.upper import Outcome, learner_spec, parse_learner
from instances import DamagedFile, ToolkitError, UsageError, parse, read_folder, write_folder

PARITY = "parity:d=12,m=3"


@pytest.fixture(scope="module")
def one():
    return run(parse_learner("elimination"), parse(PARITY).instance(0), Budget())


def made(one, *found, **usages):
    """The result of runs with secrets found, not found, or not known to be."""
    judged = Risk(value=1, low=1, high=1, confidence=0.95, examples=9, unclipped=None)
    runs = []
    for i, recovered in enumerate(found):
        usage = Usage(examples=1, queries=0, seconds=1.0, peak_bytes=1)
        usage = replace(usage, **{name: values[i] for name, values in usages.items()})
        risk = judged if recovered is not None else None
        changed = {"secret_recovered": recovered, "risk": risk, "usage": usage}
        runs.append(one.updated(**changed))
    return AttackResult(spec=one.spec, learner=one.learner, runs=tuple(runs))


def test_attacks_and_runs_are_read_as_they_were_saved(one, tmp_path):
    whole = made(one, True, False, None)
    several = Attacks(spec=one.spec, attacks=(whole,), not_run={"bkw": "why"})
    for name, found in (("run", one), ("attack", whole), ("attacks", several)):
        found.save(tmp_path / f"{name}.json")
        assert type(found).load(tmp_path / f"{name}.json") == found
    with pytest.raises(DamagedFile, match=r"attack\.json is damaged"):
        type(one).load(tmp_path / "attack.json")


@pytest.mark.parametrize("seconds", [10**400, -(10**400), -1, math.inf, math.nan, "1"], ids=str)
def test_a_time_that_is_none_is_late(one, seconds):
    budget = Budget(seconds=9.0)
    assert not one.updated(budget=budget).late
    assert one.updated(budget=budget, details={"predict_seconds": seconds}).late


def test_runs_are_counted_where_it_is_known_what_they_found(one):
    found = made(one, True, False, None, True, False)
    assert (found.recovered, found.judged) == (2, 4)
    # A hypothesis whose risk was measured names no secret: it did not find it.
    assert known(one.updated(secret_recovered=None))
    assert not known(one.updated(secret_recovered=None, risk=None))
    assert known(one.updated(secret_recovered=False, risk=None))


@pytest.mark.parametrize(("hits", "runs"), [(0, 5), (2, 5), (5, 5), (1, 2)])
def test_the_interval_is_where_tails_are_a_fortieth(one, hits, runs):
    low, high = made(one, *[i < hits for i in range(runs)]).interval

    def tail(p, counts):
        return sum(math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in counts)

    if hits:
        assert tail(low, range(hits, runs + 1)) == pytest.approx(0.025)
    if hits < runs:
        assert tail(high, range(hits + 1)) == pytest.approx(0.025)
    assert (low == 0.0) == (hits == 0)
    assert (high == 1.0) == (hits == runs)


def test_the_interval_leaves_out_runs_that_cannot_be_judged(one):
    assert made(one, True, False, None, None).interval == made(one, True, False).interval
    assert made(one, None, None).interval == (0.0, 1.0)


def test_costs_are_medians_and_the_largest_memory(one):
    found = made(
        one,
        *(True, True, False, False),
        seconds=(1.0, 100.0, 3.0, 5.0),
        examples=(10, 40, 20, 1000),
        peak_bytes=(7, 9, 8, 1),
    )
    assert (found.median("seconds"), found.median("examples"), found.peak_bytes) == (4.0, 30, 9)
    data = found.to_dict()
    assert (data["median_seconds"], data["median_examples"], data["peak_bytes"]) == (4.0, 30, 9)
    assert (data["recovered"], data["judged"], len(data["runs"])) == (2, 4, 4)
    assert data["success_interval"] == list(found.interval)
    assert data["confidence"] == 0.95


def test_an_attack_plays_the_instances_of_its_seeds():
    family = parse(PARITY)
    told = []
    found = attack("elimination", family, seeds=2, first_seed=5, progress=told.append)
    assert [r.seed for r in found.runs] == [5, 6]
    assert told == [1, 1]
    assert found.recovered == found.judged == 2
    assert found.learner == learner_spec(parse_learner("elimination"))
    for played in found.runs:
        learner, instance = parse_learner("elimination"), family.instance(played.seed)
        again = run(learner, instance, Budget(), played.seed)
        assert again.usage.examples == played.usage.examples
        assert again.details == played.details


def test_an_attack_keeps_to_its_budget():
    found = attack("elimination", parse(PARITY), seeds=2, budget=Budget(examples=3))
    assert found.recovered == 0
    assert found.judged == 2
    assert {r.outcome for r in found.runs} == {Outcome.EXAMPLES_SPENT}


def test_a_folder_is_attacked_once(tmp_path):
    write_folder(tmp_path / "it", parse(PARITY).instance(3), 200)
    told = []
    found = attack("elimination", read_folder(tmp_path / "it"), seeds=7, progress=told.append)
    assert (found.recovered, found.judged, len(found.runs), told) == (1, 1, 1, [1])


def test_what_cannot_be_attacked_is_refused():
    with pytest.raises(UsageError, match="0 seeds given: at least one"):
        attack("elimination", parse(PARITY), seeds=0)
    with pytest.raises(ToolkitError, match="primal"):
        attack("primal", parse(PARITY))


def test_the_attacks_on_a_family_are_those_that_support_it():
    for spec in (PARITY, "lpn:n=8,noise=0.1", "lwe:n=4,q=17,sigma=1", "nice:m=2,k=2,d=6"):
        family = parse(spec)
        names = attacks_on(family)
        assert not any(parse_learner(name).supports(family) for name in names)
        assert "mlp" not in names
        assert "trivial" not in names
    assert attacks_on(parse("nice:m=2,k=2,d=6")) == ()
    assert set(attacks_on(parse("lwe:n=4,q=17,error=none"))) >= {"modlinear", "bruteforce"}


def test_attacks_begin_with_the_cheapest_and_what_is_hopeless_is_left_out():
    family = parse("toy-80")
    names = attacks_on(family)
    assert names[0] == "mitm"
    assert names.index("bruteforce") < names.index("arora-ge")
    block = "primal:block=59" if find_spec("fpylll") else "primal"
    assert names.index("bruteforce") < names.index(block) < names.index("arora-ge")
    assert list(out_of_reach(family, names)) == ["arora-ge"]
    assert out_of_reach(parse("parity:d=16,m=3"), attacks_on(parse("parity:d=16,m=3"))) == {}


def test_words_say_the_rate_and_how_runs_ended(one):
    found = made(one, True, True, False, seconds=(1.0, 2.0, 4.0), examples=(10, 30, 20))
    ends = (Outcome.SOLVED, Outcome.SOLVED, Outcome.SECONDS_SPENT)
    runs = tuple(r.updated(outcome=o) for r, o in zip(found.runs, ends, strict=True))
    text = one_attack_words(found.updated(runs=runs))
    assert text.startswith("parity:d=12,m=3\n")
    low, high = found.interval
    (row,) = [line for line in text.splitlines() if "2/3" in line]
    assert row.split()[:5] == ["elimination", "2/3", f"{low:.2f}..{high:.2f}", "2", "20"]
    assert f"elimination: 2 {Outcome.SOLVED.value}, 1 {Outcome.SECONDS_SPENT.value}" in text
    assert "claims" not in text


def test_words_show_a_claim_only_where_it_cannot_be_judged(one):
    said = one.updated(details={"claimed_secret": [1, 2]})
    unknown = said.updated(secret_recovered=None, risk=None)
    text = one_attack_words(AttackResult(spec=one.spec, learner=one.learner, runs=(unknown,)))
    assert "claimed" in text
    assert "claims [1, 2]" in text
    text = one_attack_words(AttackResult(spec=one.spec, learner=one.learner, runs=(said,)))
    assert "1/1" in text
    assert "claims" not in text
    nothing = unknown.updated(details={})
    text = one_attack_words(AttackResult(spec=one.spec, learner=one.learner, runs=(nothing,)))
    assert "none" in text
    assert "no secret found" in text
    assert "claims" not in text
