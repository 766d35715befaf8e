"""Reduced samples by commands: synthetic ones and rows in files are attacked, faults refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from hardness.upper.dual import Dual
from instances import parse
from instances.samples import draw_samples

WIDE = "lwe:n=48,q=997,sigma=80,secret=binary,h=5"
NARROW = "lwe:n=40,q=113,sigma=2,secret=binary,h=4"
READ = "dual:block=0,zeta=20,weight=3"


def attack(hardness, file, learner, *more):
    """The secret that is claimed of a file, None without one, and the details."""
    found = hardness("attack", file, "--learner", learner, "--jobs", 1, "--json", *more)
    details = found.json["attacks"][0]["runs"][0]["details"]
    return details.get("claimed_secret"), details


@pytest.fixture
def synthetic(hardness):
    hardness("generate", WIDE, "--samples", 2048, "--profile", "20:q,28:30", "--out", "s.npz")
    return json.loads(Path("s.secret.json").read_text())["secret"]


def test_synthetic_samples_give_their_secret_by_the_columns_that_are_left_wide(hardness, synthetic):
    claimed, details = attack(hardness, "s.npz", READ)
    assert claimed == synthetic
    low, high = details["error_ratio"]
    assert low < 1 < high
    narrow = np.load("s.npz")["a"][:, 20:]
    assert np.minimum(narrow, 997 - narrow).std() < 30


@pytest.mark.parametrize("fault", ["law", "secret", "coins", "untold"])
def test_a_fault_of_reduced_samples_gives_no_claim(hardness, synthetic, fault):
    found, spec = dict(np.load("s.npz")), WIDE
    rng = np.random.default_rng(0)
    match fault:
        case "law":
            spec = WIDE.replace("=80", "=60")
        case "secret":  # of half of the samples
            other = rng.permutation(synthetic)
            found["b"][::2] = (found["a"] @ other + rng.normal(0, 80, 2048).round())[::2] % 997
        case "coins":
            found["b"] = rng.integers(0, 997, 2048)
        case "untold":  # a column of so small numbers that its entry may be either
            narrow = rng.integers(0, 2, 2048)
            found["b"] = (found["b"] + (narrow - found["a"][:, 47]) * synthetic[47]) % 997
            found["a"][:, 47] = narrow
    np.savez("wrong.npz", a=found["a"], b=found["b"])
    claimed, _ = attack(hardness, "wrong.npz", READ, "--spec", spec)
    assert claimed is None


def test_a_file_of_rows_is_used_and_the_samples_themselves_judge(hardness):
    instance = parse(NARROW).instance(0)
    secret = list(instance.family.to_linear(instance.hidden.secret))
    drawn = draw_samples(instance, 60)
    made, _ = Dual(zeta=20, vectors=400).reduced(drawn)
    made.save(Path("ours.npz"))
    np.savez("theirs.npz", A=drawn.a, b=drawn.b, R=made.rows, RA=made.a)
    for file, more in (("ours.npz", ()), ("theirs.npz", ("--spec", NARROW))):
        claimed, details = attack(hardness, file, f"{READ},rows={file}", *more)
        assert claimed == secret
        assert (details["samples"], details["vectors"]) == (60, 400)
    made.rows[3, 0] += 1
    np.savez("wrong.npz", A=drawn.a, b=drawn.b, R=made.rows, RA=made.a)
    said = hardness(
        *("attack", "wrong.npz", "--learner", f"{READ},rows=wrong.npz", "--spec", NARROW)
    )
    assert said.code != 0
    assert "row 3: R A is not RA mod 113, as of 1 of 400 rows" in said.err
    np.savez("coins.npz", A=drawn.a, b=np.random.default_rng(0).integers(0, 113, 60), R=made.rows)
    claimed, _ = attack(hardness, "coins.npz", f"{READ},rows=coins.npz", "--spec", NARROW)
    assert claimed is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("20:q", "COLUMNS:DEVIATION for all n=48 columns"),
        ("20:q,28:-3", "COLUMNS:DEVIATION for all n=48 columns"),
        ("words", "q where they are uniform, as 60:q,196:12.5"),
    ],
)
def test_a_profile_that_does_not_fit_is_refused(hardness, given, said):
    found = hardness("generate", WIDE, "--samples", 9, "--profile", given, "--out", "x.npz")
    assert found.code == 2
    assert said in " ".join(found.err.split())
    assert not Path("x.npz").exists()
    without = hardness("generate", WIDE, "--profile", given, "--out", "x")
    assert without.code == 2
