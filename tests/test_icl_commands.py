"""The commands of in-context regression: what they print, keep, draw again and refuse."""

import json

import numpy as np
import pytest

from hardness.runs.columns import timeless
from tests.charts import texts

QUICK = {
    "optimum": "--d 2 --n 4 --samples 200",
    "steps": "--d 3 --n 2 --layers 2",
    "train": "--d 2 --n 5 --layers 2 --samples 100",
    "curves": "--d 2 --n 5 --layers 1 --samples 100 --steps 20",
    "optimizers": "--d 2 --n 5 --layers 1 --steps 20 --batch 20 --rates .02,.02 --seeds 1 "
    "--tuning 1 --clip 0",
    "softmax": "--d 2 --n 5 --layers 1 --heads 1,2 --prompts 50 --steps 5",
}
FIELDS = {
    "optimum": {"least", "exact", "gradient", "numerical", "integrated", "raw", "stationary"},
    "steps": {"best", "common", "plusplus", "layers"},
    "train": {"loss", "reference", "distance_q", "curve", "runs", "rare"},
    "curves": {"points"},
    "optimizers": {"methods", "factors", "authors_rate", "noise"},
    "softmax": {"trained", "references", "effort"},
}


@pytest.mark.parametrize("name", QUICK)
def test_a_study_is_printed_kept_and_drawn_again(hardness, name, tmp_path):
    line = ["icl", name, *QUICK[name].split()]
    found = hardness(*line, "--json", "--out", tmp_path / "x")
    assert found.code == 0
    assert found.json["kind"] == f"icl {name}"
    assert FIELDS[name] | {"format", "d", "n", "seed"} <= set(found.json)
    assert json.loads((tmp_path / "x" / "results.json").read_text()) == found.json
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == ["figure.svg", "results.json"]
    again = hardness("figure", "icl", tmp_path / "x", "--out", tmp_path / "again.svg")
    assert again.code == 0
    kept = (tmp_path / "x" / "figure.svg").read_bytes()
    assert texts((tmp_path / "again.svg").read_bytes()) == texts(kept)
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
    if name == "optimizers":  # a rate that is given twice is one; clip 0 is none
        assert [len(method["tried"]) for method in found.json["methods"]] == [1, 1, 1]
        assert found.json["clip"] is None
        assert "not clipped" in told.out


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
        "shape.npy": (np.eye(4), 2, "d = 5 needs"),
        "skew.npy": (np.triu(np.ones((5, 5))), 2, "not symmetric"),
        "nan.npy": (np.full((5, 5), np.nan), 2, "not finite"),
        "complex.npy": (np.eye(5) * 1j, 1, "real numbers"),
    }
    for name, (given, code, said) in bad.items():
        np.save(tmp_path / name, given)
        found = hardness("icl", "optimum", "--sigma", tmp_path / name)
        assert found.code == code
        found.one_line(said)
    for name, text in {"text.csv": "1,2\n3\n", "empty.npy": ""}.items():
        (tmp_path / name).write_text(text)
        found = hardness("icl", "optimum", "--sigma", tmp_path / name)
        found.one_line("no matrix of numbers")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        '{"format": 1, "kind": "icl nothing"}',
        "x",
        '{"format": 1, "kind": "icl train"}',
    ],
)
def test_other_files_are_no_studies(hardness, tmp_path, text):
    (tmp_path / "results.json").write_text(text)
    found = hardness("figure", "icl", tmp_path, "--json")
    assert found.code == 1
    found.one_line("results.json")
