"""Attacks over seeds, and what is said of a secret that is claimed where nobody knows it."""

from importlib.util import find_spec

import pytest

from hardness.learners import Outcome, learner_spec
from hardness.oracles import Budget
from hardness.report.run import claim_words, run_words
from hardness.report.studies import one_attack_words
from hardness.runs import AttackResult, attack, attacks_on
from hardness.runs.attack import is_judged, out_of_reach
from hardness.runs.claim import brief_claim, fit
from hardness.runs.registry import parse_learner
from hardness.runs.risk import interval
from hardness.runs.run import run
from instances import ToolkitError, UsageError, parse, read_folder, write_folder
from instances.files import MemoryFolder
from instances.samples import samples, to_attention

PARITY = "parity:d=12,m=3"


@pytest.fixture(scope="module")
def one():
    return run(parse_learner("elimination"), parse(PARITY).instance(0), Budget())


def made(one, *found, **usages):
    """The result of runs with secrets found, not found, or not known to be."""
    runs = []
    for i, recovered in enumerate(found):
        used = {"examples": 1, "queries": 0, "seconds": 1.0, "memory": 1}
        used |= {name: values[i] for name, values in usages.items()}
        risk = 1.0 if recovered is not None else None
        ends = {"risk": risk, "risk_low": risk, "risk_high": risk}
        runs.append(one.updated(secret_recovered=recovered, **ends, **used))
    return AttackResult(spec=one.spec, learner=one.learner, runs=tuple(runs))


def test_predictions_that_took_longer_than_the_budget_are_late(one):
    budget = Budget(seconds=9.0)
    assert not one.updated(budget=budget).late
    assert one.updated(budget=budget, details={"predict_seconds": 99.0}).late


def test_runs_are_counted_where_it_is_known_what_they_found(one):
    found = made(one, True, False, None, True, False)
    assert (found.recovered, found.judged) == (2, 4)
    # A hypothesis whose risk was measured names no secret: it did not find it.
    assert is_judged(one.updated(secret_recovered=None))
    assert not is_judged(one.updated(secret_recovered=None, risk=None))
    assert is_judged(one.updated(secret_recovered=False, risk=None))


def test_the_interval_of_success_leaves_out_runs_that_cannot_be_judged(one):
    found = made(one, True, True, False, False, False)
    assert found.interval == interval(2, 5)
    assert made(one, True, True, False, False, False, None, None).interval == found.interval
    assert made(one, None, None).interval == (0.0, 1.0)


def test_costs_are_medians_and_the_largest_memory(one):
    found = made(
        one,
        *(True, True, False, False),
        seconds=(1.0, 100.0, 3.0, 5.0),
        examples=(10, 40, 20, 1000),
        memory=(7, 9, 8, 1),
    )
    assert (found.median("seconds"), found.median("examples"), found.peak_bytes) == (4.0, 30, 9)
    data = found.to_dict()
    assert (data["median_seconds"], data["median_examples"], data["peak_bytes"]) == (4.0, 30, 9)
    assert (data["recovered"], data["judged"], len(data["runs"])) == (2, 4, 4)
    assert data["success_interval"] == list(found.interval)
    assert data["confidence"] == 0.95


def test_an_attack_plays_the_instances_of_its_seeds():
    family = parse(PARITY)
    found = attack("elimination", family, seeds=2, first_seed=5)
    assert [r.seed for r in found.runs] == [5, 6]
    assert found.recovered == found.judged == 2
    assert found.learner == learner_spec(parse_learner("elimination"))
    for played in found.runs:
        learner, instance = parse_learner("elimination"), family.instance(played.seed)
        again = run(learner, instance, Budget(), played.seed)
        assert again.examples == played.examples
        assert again.details == played.details


def test_an_attack_keeps_to_its_budget_and_a_folder_is_attacked_once(tmp_path):
    found = attack("elimination", parse(PARITY), seeds=2, budget=Budget(examples=3))
    assert (found.recovered, found.judged) == (0, 2)
    assert {r.outcome for r in found.runs} == {Outcome.EXAMPLES_SPENT}
    write_folder(tmp_path / "it", parse(PARITY).instance(3), 200)
    found = attack("elimination", read_folder(tmp_path / "it"), seeds=7)
    assert (found.recovered, found.judged, len(found.runs)) == (1, 1, 1)
    with pytest.raises(UsageError, match="0 seeds: at least one"):
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
    block = "primal:block=2,zeta=33" if find_spec("fpylll") else "primal:zeta=33"
    assert set(names[:2]) == {"mitm", block}
    assert names.index("mitm") < names.index("bruteforce")
    assert out_of_reach(family, names) == {}
    hopeless = parse("lwe:n=256,q=3329,sigma=3")
    (name,) = out_of_reach(hopeless, attacks_on(hopeless))
    assert name.partition(":")[0] == "primal"
    assert out_of_reach(parse("parity:d=16,m=3"), attacks_on(parse("parity:d=16,m=3"))) == {}


def test_words_say_the_rate_and_how_runs_ended(one):
    found = made(one, True, True, False, seconds=(1.0, 2.0, 4.0), examples=(10, 30, 20))
    ends = (Outcome.SOLVED, Outcome.SOLVED, Outcome.SECONDS_SPENT)
    runs = tuple(r.updated(outcome=o) for r, o in zip(found.runs, ends, strict=True))
    text = one_attack_words(found.updated(runs=runs))
    assert text.startswith("parity:d=12,m=3\n")
    (row,) = [line for line in text.splitlines() if "2/3" in line]
    assert row.split()[:5] == ["elimination", "2/3", "0.09..1.00", "2", "20"]
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


LWE = "lwe:n=8,q=97,sigma=1"


def folder_of(path, found):
    held = MemoryFolder.of_examples(path, to_attention(found, 0))
    return write_folder(path, held, held.count)


def public(path, spec, count, seed=0):
    """A folder of samples without their secret, and the secret."""
    instance = parse(spec).instance(seed)
    found = samples(instance.examples(0, 2 * count + 60)).cut(0, count)
    return folder_of(path, found), instance.hidden.secret


def test_noiseless_samples_show_a_secret_by_q_to_their_number(tmp_path):
    folder, secret = public(tmp_path / "it", "lwe:n=6,q=97,error=none", 10)
    found = fit(folder, secret)
    assert found["samples"] == 10
    assert found["coins"] == pytest.approx((97**6 - 1) * 97.0**-10)
    assert (found["residual_std"], found["declared_std"], found["residual_max"]) == (0, 0, 0)


def test_a_wrong_secret_is_not_shown_and_the_spread_of_residuals_tells(tmp_path):
    folder, secret = public(tmp_path / "it", LWE, 150)
    right = fit(folder, secret)
    wrong = fit(folder, (secret[0] + 1, *secret[1:]))
    assert right["coins"] < 2**-300
    assert wrong["coins"] == 1.0
    assert right["residual_std"] == pytest.approx(1, abs=0.2)
    assert wrong["residual_std"] > 20
    assert "contradicted by the 150 samples" in claim_words({"claimed_secret": [1], "fit": wrong})
    assert "do not show" in brief_claim({"claimed_secret": [1], "fit": wrong})
    assert "2^-" in brief_claim({"claimed_secret": [1], "fit": right})
    for none in (secret[1:], (1.5, *secret[1:]), ("a",) * 8):  # shown by nothing
        assert fit(folder, none)["coins"] == 1.0


def test_primal_says_how_sure_it_is_and_where_it_found_nothing(tmp_path):
    folder, secret = public(tmp_path / "it", LWE, 150)
    found = attack("primal", folder)
    assert found.claims == (secret,)
    assert found.to_dict()["success_interval"] is None
    (done,) = found.runs
    assert done.details["fit"] == fit(folder, secret)
    for text in (one_attack_words(found), run_words(done), repr(found), repr(done)):
        assert "2^-" in text
        assert "none was claimed" not in text


def test_a_guess_is_called_one(tmp_path):
    spec = "lwr:n=10,q=16,p=4,secret=binary"
    folder, secret = public(tmp_path / "it", spec, 10)
    found = attack("bruteforce", folder)
    assert found.claims == (secret,)
    assert found.runs[0].details["fit"]["coins"] == pytest.approx(1023 * 2.0**-20)
    text = one_attack_words(found)
    row = next(line for line in text.splitlines() if line.startswith("bruteforce "))
    assert row.split()[1] == "guess"
    assert "guesses [" in text
    assert "the 10 samples do not show it" in text
    assert "0.00098" in text
    assert "claim" not in text
    assert "guesses [" in run_words(found.runs[0])


def test_signs_show_a_hidden_set_of_a_profile(tmp_path):
    spec = "profile:g=majority,d=12,m=3"
    folder = write_folder(tmp_path / "it", parse(spec).instance(0), 400)
    secret = folder.hidden.secret
    (tmp_path / "it/secret.json").unlink()
    folder = read_folder(tmp_path / "it")
    shown = fit(folder, secret)
    assert shown["coins"] == pytest.approx(165 * 2.0 ** -shown["samples"])
    others = tuple(sorted({j % 11 + 1 for j in secret}))
    assert fit(folder, others)["coins"] == 1.0
    assert fit(folder, secret[1:])["coins"] == 1.0
    assert "nothing here says" in claim_words({"claimed_secret": [1], "fit": None})


def test_runs_that_could_not_be_judged_are_all_counted(tmp_path):
    (tmp_path / "wrong.py").write_text(
        "def wrong(x, y):\n"
        "    def predict(new):\n        raise ValueError('no way')\n    return predict\n"
    )
    found = attack(f"{tmp_path / 'wrong.py'}:wrong", parse("parity:d=8,m=2"), seeds=2)
    said = one_attack_words(found)
    assert "2 crashed; ValueError: no way" in said
    assert "no secret found" not in said
