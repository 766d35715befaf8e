"""The cryptanalyst's commands: reduce, distinguish, attack, estimate."""

import json
import re
from pathlib import Path

import pytest

from instances import TooLarge, parse, read_folder
from instances.samples import read_samples, samples


def test_samples_go_to_attention_and_back_in_order(hardness):
    hardness("generate", "lwe:n=4,q=97,sigma=1", "--examples", 300, "--out", "first")
    given = samples(read_folder(Path("first")).examples(0, 300))
    back = hardness("reduce", "attention-to-lwr", "first", "--out", "samples.npz", "--json")
    assert back.code == 0, back.err
    assert back.json["samples"] == len(given)
    made = hardness("reduce", "lwr-to-attention", "samples.npz", "--out", "second", "--seed", 3)
    assert made.code == 0, made.err
    folder = read_folder(Path("second"))
    assert folder.instance is None
    found = samples(folder.examples(0, folder.count))
    assert (found.a == given.a).all()
    assert (found.codes == given.codes).all()
    again = hardness("reduce", "attention-to-lwr", "second", "--out", "again.safetensors")
    assert again.code == 0, again.err
    assert hardness("reduce", "attention-to-lwr", "second", "--out", "samples.npz").code == 1
    # The secret of the samples stands apart, where it is known.
    apart, part = (
        json.loads(Path(p).read_text()) for p in ("samples.secret.json", "first/secret.json")
    )
    assert (apart["seed"], apart["secret"]) == (0, part["secret"])
    assert apart["samples_sha256"] == read_samples(Path("samples.npz")).digest
    assert Path("samples.secret.json").stat().st_mode & 0o777 == 0o600
    assert not Path("again.secret.json").exists()


def test_samples_of_a_parity_are_those_of_lpn(hardness):
    hardness("generate", "nice:m=1,k=2,d=4", "--examples", 20, "--out", "nice")
    refused = hardness("reduce", "attention-to-lwr", "nice", "--out", "s.npz")
    assert refused.code == 2
    refused.one_line("nice lacks `linear_forms`", "take lwr")
    hardness("generate", "parity:d=9,m=3", "--examples", 200, "--out", "first")
    assert hardness("reduce", "attention-to-lwr", "first", "--out", "s.npz").code == 0
    found = read_samples(Path("s.npz"))
    assert found.family.spec == parse("lpn:n=8,h=3,noise=0").spec
    secret = json.loads(Path("s.secret.json").read_text())["secret"]
    hidden = json.loads(Path("first/secret.json").read_text())["secret"]
    assert [j for j, bit in enumerate(secret, 1) if bit] == hidden
    assert not found.residuals(secret).any()


@pytest.mark.slow
def test_all_attacks_that_apply_find_a_secret_of_few_entries(hardness):
    found = hardness("attack", "lpn:n=16,h=3,noise=0", "--seeds", 1, "--jobs", 1, "--json")
    names = {one["learner"].partition(":")[0] for one in found.json["attacks"]}
    assert names >= {"bruteforce", "modlinear", "restricted"}
    assert all(one["recovered"] == 1 for one in found.json["attacks"])


def test_inspect_flags_an_easy_secret(hardness):
    said = " ".join(hardness("inspect", "lwr:n=8,q=16,p=2,h=2").out.split())
    assert re.search("[12] of 8 entries are units of Z_16: .* are not 0: brute force finds", said)
    assert re.search("flags +none", hardness("inspect", "lwr:n=32,q=16,p=2").out)
    shown = hardness("inspect", "lwe:n=40,q=1601,alpha=0.005", "--json").json
    assert "heads are not shown" in shown["not_shown"]
    assert shown["layer"] is None


def test_an_attack_that_does_not_fit_stops_no_other(hardness, monkeypatch):
    def full(size, what):
        raise TooLarge(f"{what} needs more memory")

    monkeypatch.setattr("hardness.attacks.lattice.require_memory", full)
    monkeypatch.setattr("hardness.attacks.core.SecretSearch.computes_long", False)  # here, then
    spec = "lwr:n=10,q=256,p=16,secret=ternary,h=2"
    found = hardness("attack", spec, "--seeds", 1, "--jobs", 1, "--budget-seconds", 20, "--json")
    assert found.code == 0, found.err
    names = {one["learner"].partition(":")[0] for one in found.json["attacks"]}
    assert "bruteforce" in names
    ((name, why),) = found.json["not_run"].items()
    assert name.partition(":")[0] == "primal"
    assert "memory" in why
    assert "primal" not in names


def test_a_name_of_the_catalog_shows_its_source(hardness):
    assert "[Saber20]" in hardness("families", "show", "saber").out
    assert hardness("families", "show", "saber", "--json").json["source"] == "Saber20"
    assert "source" not in hardness("families", "show", "lwr", "--json").json


SALSA = "lwe:n=30,q=251,sigma=3,secret=binary,h=3"


@pytest.mark.parametrize("name", ["s.csv", "s.npz"])
def test_samples_are_generated_and_attacked_from_their_file(name, hardness):
    made = hardness("generate", SALSA, "--samples", 400, "--out", name, "--seed", 1, "--json")
    assert made.code == 0, made.err
    assert made.json["samples"] == 400
    apart = Path(made.json["secret"])
    assert apart.stat().st_mode & 0o777 == 0o600
    secret = json.loads(apart.read_text())["secret"]
    apart.unlink()  # an attack does not read it
    given = [] if name == "s.npz" else ["--spec", SALSA]
    found = hardness("attack", name, *given, "--jobs", 1, "--json")
    assert found.code == 0, found.err
    assert found.json["not_run"] == {}
    claimed = {
        one["learner"].partition(":")[0]: one["runs"][0]["details"].get("claimed_secret")
        for one in found.json["attacks"]
    }
    none = {"modlinear": None}  # labels are noisy
    assert claimed == dict.fromkeys(["bruteforce", "mitm", "primal"], secret) | none


def test_learners_train_on_a_file_in_several_epochs(hardness):
    hardness("generate", SALSA, "--samples", 300, "--out", "s.csv")
    found = hardness("learn", "mlp:batch=32,epochs=4", "s.csv", "--spec", SALSA, "--json")
    assert found.code == 0, found.err
    run = found.json
    assert (run["outcome"], run["risk"], run["details"]["epochs"]) == ("not judged", None, 4)
    assert run["details"]["steps"] == 4 * 300 // 32
    assert 500 < run["examples"] < 700  # of which 300 are samples
    hardness("generate", SALSA, "--samples", 300, "--out", "s.npz", "--force")
    again = hardness("learn", "mlp:batch=32,epochs=4", "s.npz", "--json").json
    assert again["details"] == run["details"]
    hardness("learn", "mlp", "s.csv").one_line("take it with --spec")


def test_samples_and_examples_of_a_seed_have_one_secret(hardness):
    for spec in (SALSA, "parity:d=9,m=3"):
        hardness("generate", spec, "--examples", 20, "--out", "it", "--seed", 1, "--force")
        hardness("reduce", "attention-to-lwr", "it", "--out", "of.npz", "--force")
        hardness("generate", spec, "--samples", 60, "--out", "s.npz", "--seed", 1, "--force")
        one, other = (json.loads(Path(f"{name}.secret.json").read_text()) for name in ("of", "s"))
        assert (one["secret"], one["seed"]) == (other["secret"], other["seed"])
        found = read_samples(Path("s.npz"))
        assert abs(found.residuals(one["secret"])).max() < (20 if spec == SALSA else 1)


def test_samples_are_not_written_beside_another_secret(hardness):
    Path("s.secret.json").write_text("{}")
    assert hardness("generate", SALSA, "--samples", 5, "--out", "s.npz").code == 1
    assert not Path("s.npz").exists()


def test_a_level_of_success_is_not_rounded_up(hardness):
    line = ["estimate", "lwe:n=8,q=17,sigma=1", "--attack", "brute-force"]
    said = hardness(*line, "--success", "0.999999999").out
    assert "probability of success: at least 0.999999999" in said


def test_a_declared_deviation_that_the_residuals_contradict_is_said(hardness):
    spec = "lwe:n=12,q=251,sigma={},secret=binary"
    hardness("generate", spec.format(3), "--samples", 300, "--out", "s.csv")
    Path("s.secret.json").unlink()
    line = ["attack", "s.csv", "--learner", "bruteforce", "--spec"]
    wide = " ".join(hardness(*line, spec.format(6)).out.split())
    assert re.search(r"6 is declared, and reach \d+: the declared one does not hold, by \d", wide)
    assert "does not hold" not in hardness(*line, spec.format(3)).out


def test_an_estimate_counts_the_same_samples_before_the_runs_and_beside_them(hardness):
    found = hardness("attack", "lwe:n=10,q=97,sigma=1", "--learner", "primal", "--seeds", "1")
    before = found.err.split(" samples, ")[0].split()[-1]
    beside = next(line for line in found.out.splitlines() if "estimate" in line).split()
    assert before == beside[-3]  # then operations and seconds


def test_meeting_in_the_middle_without_a_weight_asks_for_one(hardness):
    line = ["attack", "--learner", "mitm"]
    assert "give h" in hardness(*line, "lwe:n=60,q=251,sigma=2,secret=ternary").err
    assert "give h" not in hardness(*line, "lwe:n=512,q=251,sigma=2,secret=ternary,h=99").err


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        ("primal:zeta=35", "estimate block 2, 2^7.4 tries if no right one fails, dimension 74"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (
                ("primal:zeta=20", "block 2: too small for the secret to stand out, 2^4.7 tries"),
                ("dual:vectors=50", "least block"),
            )
        ),
    ],
)
def test_what_a_lattice_attack_is_estimated_to_take_is_said_of_what_runs(hardness, learner, said):
    line = ["attack", "toy-80", "--learner", learner, "--seeds", "1", "--jobs", "1"]
    found = hardness(*line, "--budget-seconds", "0.1")  # the run itself shows nothing here
    assert said in " ".join(found.err.split())
    rows = [line.split() for line in found.out.splitlines()]
    assert any(row[:2] in ([learner, "estimate"], [learner, "least"]) for row in rows)
    assert any(row[:1] == ["runs"] for row in rows)
