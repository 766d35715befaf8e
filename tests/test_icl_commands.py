"""The commands of in-context regression: what they print, keep, draw again and refuse."""

import json

import numpy as np
import pytest

from hardness.icl import onelayer, steps
from hardness.icl.gram import Layers
from hardness.icl.onelayer import study
from hardness.icl.prompts import Prompts
from hardness.icl.train import train
from hardness.icl.wishart import loss_on, moments
from instances.errors import UsageError
from tests.sweeping import timeless

QUICK = {
    "optimum": "--d 2 --n 4 --samples 200",
    "steps": "--d 3 --n 2 --layers 2",
    "train": "--d 2 --n 5 --layers 2 --samples 100",
    "curves": "--d 2 --n 5 --layers 1 --samples 100 --steps 20",
}
DRAWN = ("steps", "curves")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in DRAWN)) for n in QUICK]
)
def test_a_study_is_printed_kept_and_drawn_again(hardness, name, tmp_path):
    line = ["icl", name, *QUICK[name].split()]
    found = hardness(*line, "--json", "--out", tmp_path / "x")
    assert found.code == 0
    assert found.json["kind"] == f"icl {name}"
    assert {"format", "d", "n", "seed"} <= set(found.json)
    assert json.loads((tmp_path / "x" / "results.json").read_text()) == found.json
    drawn = ["figure.svg"] * (name in DRAWN)
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == [*drawn, "results.json"]
    again = hardness("figure", f"icl-{name}", tmp_path / "x", "--out", tmp_path / "again.svg")
    assert again.code == (0 if drawn else 2)
    if drawn:
        kept = (tmp_path / "x" / "figure.svg").read_bytes()
        assert (tmp_path / "again.svg").read_bytes() == kept
    told = hardness(*line, "--seed", 1, "--out", tmp_path / "y")
    assert told.code == 0
    assert max(map(len, told.out.splitlines())) <= 80
    other = json.loads((tmp_path / "y" / "results.json").read_text())
    assert other["seed"] == 1
    assert timeless(other) != timeless(found.json) | {"seed": 1}
    if name in ("steps", "train"):
        assert timeless(hardness(*line, "--json").json) == timeless(found.json)
        refused = hardness(*line, "--out", tmp_path / "x")
        assert refused.code == 1
        refused.one_line("exists")


def test_nothing_but_the_study_is_said_at_the_smallest_size(hardness):
    """Weights of rare prompts that are too small for float64 are no warning."""
    found = hardness(*["icl", "train", "--d", "1", "--n", "1", "--layers", "1", "--samples", "50"])
    assert found.code == 0
    assert "1 layer," in found.out
    assert found.err == ""


def test_sigma_is_read_from_a_file_and_others_are_refused(hardness, tmp_path):
    matrix = np.diag([1.0, 2.0, 3.0])
    np.save(tmp_path / "s.npy", matrix)
    np.savetxt(tmp_path / "s.csv", matrix, delimiter=",")
    line = ["icl", "steps", "--d", 3, "--n", 8, "--layers", 1, "--json", "--sigma"]
    wanted = hardness(*line, "diag(1,2,3)").json
    assert hardness(*line, tmp_path / "s.npy").json == wanted
    assert hardness(*line, tmp_path / "s.csv").json == wanted
    bad = {
        "shape.npy": (np.eye(4), 2, "must have the shape (5, 5)"),
        "skew.npy": (np.triu(np.ones((5, 5))), 2, "not symmetric"),
        "complex.npy": (np.eye(5) * 1j, 1, "it holds complex numbers: real numbers are wanted"),
    }
    for name, (given, code, said) in bad.items():
        np.save(tmp_path / name, given)
        found = hardness("icl", "optimum", "--sigma", tmp_path / name)
        assert found.code == code
        found.one_line(said)
    for name, text, why in (
        ("text.csv", "1,2\n3\n", "lines of as many numbers each are wanted"),
        ("empty.npy", "", "is damaged"),
    ):
        (tmp_path / name).write_text(text)
        found = hardness("icl", "optimum", "--sigma", tmp_path / name)
        found.one_line(why)


def test_other_files_are_no_studies(hardness, tmp_path):
    kinds = (f'{{"format": 1, "kind": "icl {kind}"}}' for kind in ("nothing", "train", "steps"))
    for text in ("{}", "[1]", "x", *kinds):
        (tmp_path / "results.json").write_text(text)
        found = hardness("figure", "icl-steps", tmp_path, "--json")
        assert found.code in (1, 2)
        found.one_line("is needed" if found.code == 2 else "results.json")


def layers(p, q):
    return Layers(p=np.zeros(p), q=np.zeros(q))


LAW = Prompts.named(3, 8, "diag(1,2,3)", "toeplitz(0.5)", 0.3)
NONE = [
    (moments, {"n": 1, "d": 0, "highest": 2}, "got n=1, d=0"),
    (moments, {"n": 1, "d": 1, "highest": -1}, "^moments up to -1"),
    (steps.best_steps, {"n": 20, "d": 5, "layers": 0}, "got 0$"),
    (
        steps.best_steps,
        {"n": 20, "d": 5, "layers": 1, "noise": -1.0},
        "noise must be between 0 and 1000, got -1",
    ),
    (steps.chebyshev_steps, {"layers": 2, "low": 0.0, "high": 1.0}, "interval"),
    (steps.limit_loss, {"ratio": 0.0, "layers": 2}, "d/n"),
    (steps.best_scalars, {"n": 20, "d": 5, "layers": 5}, "for GD\\+\\+, got 5"),
    (steps.exact_loss, {"n": 20, "d": 5, "p": [0.0], "q": [0.5, 0.5]}, "one scalar a layer each"),
    (steps.exact_loss, {"n": 20, "d": 5, "p": [0.1] * 5, "q": [0.5] * 5}, "degree above"),
    (
        loss_on,
        {"values": np.ones((1, 5)), "p": [0.0], "q": [0.5], "n": 20},
        "at least 2 for an error",
    ),
    (layers, {"p": (2, 3, 3), "q": (3, 3, 3)}, "must have one shape"),
    (train, {"law": LAW, "layers": 0}, "layers must be between 1"),
    (train, {"law": LAW, "layers": 2, "restarts": 0}, "restarts must be between 1"),
    (train, {"law": LAW, "layers": 2, "samples": -1}, "samples must be between"),
    (train, {"law": LAW, "layers": 2, "samples": 5, "steps": 1, "fresh": 1}, "standard error"),
    (onelayer.loss, {"law": LAW, "a": np.eye(2)}, r"A must have the shape \(3, 3\), got \(2, 2\)"),
    (study, {"law": LAW, "samples": 0}, "samples must be at least 2 for a standard error, got 0"),
]


def test_what_cannot_be_is_refused_from_python():
    for call, given, said in NONE:
        with pytest.raises(UsageError, match=said):
            call(**given)
    # The least that is allowed.
    assert layers((1, 1, 1), (1, 1, 1))
