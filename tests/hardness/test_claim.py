"""What is said of a secret that is claimed where nobody knows it, and where none is found."""

from dataclasses import replace

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.report.studies import one_attack_words
from hardness.runs import attack
from hardness.runs.claim import brief_claim, claim_words, fit
from hardness.upper import Outcome
from instances import parse, read_folder, write_folder
from instances.files import Held
from instances.samples import Samples, samples, to_attention

LWE = "lwe:n=8,q=97,sigma=1"


def folder_of(path, found):
    held = Held.of(path, to_attention(found, 0))
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
    # What is no member is shown by nothing.
    assert fit(folder, secret[1:])["coins"] == 1.0


def test_a_declared_error_that_is_not_the_samples_own_stands_beside_theirs(tmp_path):
    instance = parse(LWE).instance(0)
    found = samples(instance.examples(0, 400))
    large = Samples(family=parse("lwe:n=8,q=97,sigma=4"), a=found.a, codes=found.codes)
    said = fit(folder_of(tmp_path / "it", large), instance.hidden.secret)
    assert said["declared_std"] == pytest.approx(4, abs=0.1)
    assert said["residual_std"] == pytest.approx(1, abs=0.2)


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


def test_labels_that_are_coins_show_no_secret(tmp_path):
    spec = f"{LWE},secret=binary"
    of = samples(parse(spec).instance(0).examples(0, 200))
    codes = np.random.default_rng(5).integers(0, 97, len(of))
    coins = folder_of(tmp_path / "coins", replace(of, codes=codes))
    for name in ("primal", "mitm", "bruteforce"):
        missed = attack(name, coins)
        assert missed.runs[0].outcome is Outcome.NOT_FOUND
        assert missed.claims == ()
        assert missed.runs[0].details.get("fit") is None
        assert "no secret found" in one_attack_words(missed)
        assert "claims" not in one_attack_words(missed)


def test_primal_makes_do_with_the_samples_that_there_are(tmp_path):
    folder, secret = public(tmp_path / "it", LWE, 25)
    full = attack("primal", parse(LWE), seeds=1).runs[0].details["samples"]
    found = attack("primal", folder)
    assert found.claims == (secret,)
    assert found.runs[0].details["samples"] == 25 < full
    short, _ = public(tmp_path / "short", LWE, 10)
    missed = attack("primal", short)
    assert missed.runs[0].outcome is Outcome.EXAMPLES_SPENT
    assert "10 samples of" in one_attack_words(missed)


def test_a_guess_is_called_one(tmp_path):
    spec = "lwr:n=10,q=16,p=4,secret=binary"
    folder, secret = public(tmp_path / "it", spec, 10)
    found = attack("bruteforce", folder)
    assert found.claims == (secret,)
    assert found.runs[0].details["fit"]["coins"] == pytest.approx(1023 * 2.0**-20)
    assert "a guess by the 10 samples" in one_attack_words(found)
    assert "0.00098" in one_attack_words(found)


def test_signs_show_a_hidden_set_of_a_profile(tmp_path):
    spec = "profile:g=majority,d=12,m=3"
    folder = write_folder(tmp_path / "it", parse(spec).instance(0), 400)
    secret = folder.hidden.secret
    (tmp_path / "it/secret.json").unlink()
    folder = read_folder(tmp_path / "it")
    (done,) = attack("pairs", folder).runs
    assert tuple(done.details["claimed_secret"]) == secret
    assert done.details["fit"]["coins"] == pytest.approx(
        165 * 2.0 ** -done.details["fit"]["samples"]
    )
    others = tuple(sorted({j % 11 + 1 for j in secret}))
    assert fit(folder, others)["coins"] == 1.0
    assert fit(folder, secret[1:])["coins"] == 1.0
    assert "nothing here says" in claim_words({"claimed_secret": [1], "fit": None})


def test_a_run_whose_secret_is_there_is_compared_with_it(tmp_path):
    write_folder(tmp_path / "it", parse(LWE).instance(0), 300)
    (done,) = attack("primal", read_folder(tmp_path / "it"), budget=Budget()).runs
    assert done.secret_recovered
    assert "fit" not in done.details


def test_an_entry_that_is_no_integer_is_no_member(tmp_path):
    instance = parse("lwe:n=4,q=97,sigma=1").instance(0)
    folder = write_folder(tmp_path / "it", instance, 50)
    for secret in ((1.5, 0.0, 0.0, 0.0), ("a",) * 4):
        assert fit(folder, secret)["coins"] == 1.0


def test_runs_that_could_not_be_judged_are_all_counted(tmp_path):
    (tmp_path / "wrong.py").write_text(
        "def wrong(x, y):\n    def predict(new):\n        raise ValueError\n    return predict\n"
    )
    found = attack(f"{tmp_path / 'wrong.py'}:wrong", parse("parity:d=8,m=2"), seeds=3)
    said = one_attack_words(found)
    assert "3 raised" in said
    assert "no secret found" not in said
