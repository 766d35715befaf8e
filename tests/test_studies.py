"""Studies in docs/studies: each statement at a small setting, verdicts, and the tables of docs."""

import ast
import json
import re
import runpy
import tomllib
from dataclasses import replace
from pathlib import Path

import in_context
import landscape
import numpy as np
import optimizers
import pytest
import rows
import softmax
import stages
from scipy import stats
from statement import (
    SUBJECTS,
    Measured,
    Point,
    Predicted,
    Statement,
    exactly,
    exponent,
    find,
    load,
    mean,
    place,
    share,
)

from hardness.icl.prompts import Prompts

DOCS = Path(__file__).parents[1] / "docs"
UNIT = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
NORMAL = "nice:m=2,k=2,d=9,tokens=gaussian"
SMALL = {
    "first-estimate": {"d": 16, "estimate": "one step", "examples": 1000},
    "first-estimate-floor": {"tokens": "boolean", "d": 8},
    "first-estimate-norm": {"rank": 1, "norm": 1.0},
    "first-estimate-rank": {"d": 16, "rank": 1},
    "concentration-weight": {"of": "a sample", "d": 50},
    "concentration-given-weight": {"substring": 0.5, "d": 8},
    "logit-gaussian": {"theta": "signs", "d": 8},
    "logit-slices": {"tokens": "boolean", "reach": 0.01},
    "equivariance": {"k": 2, "size": 0.01, "d": 8},
    "multi-index": {"heads": "full", "d": 8},
    "lucky-rows": {"layer": NORMAL, "epsilon": 0.3},
    "lucky-bound": {"layer": NORMAL, "epsilon": 0.3},
    "certificate": {"sum_of_w": "true", "d": 10},
    "certificate-crude": {"sum_of_w": "stage 1", "d": 10},
    "certificate-residual": {"layer": NORMAL, "ratio": 0.8},
    "margin-pattern": {"k": 2, "margin": 98.0},
    "proxy-margin": {"layer": "nice:m=3,k=2,d=9,coherence=0", "taken": 0.03},
    "proxy-share": {"layer": "nice:m=3,k=2,d=9,coherence=0", "taken": 0.03},
    "body-dimension": {"layer": "nice:m=3,k=2,d=5", "rows": 22},
    "body-width": {"layer": "nice:m=2,k=2,d=5", "rows": 2},
    "span-unclear": {"layer": "nice:m=2,k=2,d=5", "noise": "cube", "rows": 1},
    "net-size": {"m": 2, "steps": 10},
    "net-error": {"layer": "nice:m=2,k=2,d=5", "steps": 5},
    "error-heads": {"m": 2, "examples": "fixed"},
    "examples-heads": {"m": 1},
    "examples-tokens": {"k": 2},
    "examples-counted": {"layer": "m=2,k=2", "d": 6},
    "growth-examples": {"over": "d", "m": 1},
    "gaussian-easier": {"m": 2},
    "noise-floor": {"sigma": 0.3, "examples": 1500},
    "ambiguity": {"m": 2, "layer": "random"},
    "walsh-parity": {"spec": "nice:m=1,k=3,d=3"},
    "walsh-decay": {"spec": "nice:m=1,k=2,d=5", "degree": 1},
    "walsh-sampled": {"d": 6, "degree": 1},
    "walsh-tokens": {"k": 2, "scale": 1.0, "d": 8},
    "lowdegree-layers": {"d": 3, "degree": 1},
    "sq-dimension": {"d": 24, "m": 3},
    "sq-queries": {"d": 512, "m": 3},
    "floor-growth": {"d": 24, "m": 3},
    "tolerance-window": {"d": 24, "m": 3},
    "plain-training": {"learner": "mlp:steps=20", "examples": 4},
    "kernel-bound": {"spec": "parity:d=7,m=2", "features": 6},
    "two-tokens": {"d": 16, "m": 3},
    "shifted-prompts": {"shift": "task", "n": 12, "d": 3, "c": 1.7},
    "layers-to-ridge": {"n": 10, "d": 2, "layers": 1, "noise": 0.5},
    "abrupt-drop": {"n": 20, "d": 3, "start": 0.1},
    "layer-by-layer": {"d": 2, "n": 8, "layers": 2, "readout": 1},
    "same-minimum": {"d": 2, "n": 6, "layers": 2, "what": "P = 0, least loss"},
    "looped": {"d": 2, "n": 7, "layers": 2},
    "depth-condition": {"kappa": 9, "way": "Chebyshev"},
    "layer-hessian": {"d": 2, "n": 6, "layers": 2, "order": "rising"},
    "sparsity": {"d": 1, "n": 4, "layers": 2, "entries": "row and column"},
    "gradient-flow": {"d": 1, "n": 9, "way": "flow", "start": "structured"},
    "examples-curve": {"d": 2, "n": 12, "predictor": "ridge"},
    "softmax-nonlinear": {"d": 2, "n": 12, "task": "cosines", "attention": "softmax"},
    "conditioning": {"step": 100},
    "edge": {"rate": 0.05, "of": "median"},
    "layer-edge": {"d": 2, "n": 10, "layers": 1, "step": 20},
    "degree": {"layers": 2, "free": "both"},
}
ROOMS = {  # packages of the toolkit that studies may import, with modules of theirs
    "hardness.bounds": "learners",
    "hardness.icl": "gram onelayer prompts steps train wishart",
    "hardness.learners": "fitting spectra",
    "hardness.learners.staged": "agreement moment net paper",
    "hardness.oracles": "",
    "hardness.runs": "growth least registry run",
    "instances": "family layer numbers streams symmetric tokens",
}
ALLOWED = {*ROOMS, *(f"{room}.{name}" for room, names in ROOMS.items() for name in names.split())}


@pytest.fixture
def short(monkeypatch):
    """Few layers, of few examples."""
    drawn, learned, instances = rows.layers, stages.learned, stages._instances
    monkeypatch.setattr(rows, "layers", lambda s, seed, _, n: drawn(s, seed, 3, n // 5))
    monkeypatch.setattr("bodies._BODIES", 3)
    monkeypatch.setattr(stages, "learned", lambda one, at, n: learned(one, at, min(n, 1500)))
    monkeypatch.setattr(stages, "_instances", lambda s, seed, n: instances(s, seed, min(n, 6)))
    monkeypatch.setattr(
        in_context, "Course", lambda **at: optimizers.Course(**at | {"batch": 5, "steps": 100})
    )


LONG = dict.fromkeys(("in_context", "spectra", "sums"), pytest.mark.slow)
LONG["stages"] = pytest.mark.weekly


@pytest.mark.parametrize("subject", [pytest.param(s, marks=LONG.get(s, ())) for s in SUBJECTS])
def test_each_statement_runs_at_a_small_setting(short, subject):
    for name, whole in load(subject).items():
        assert set(SMALL[name]) == set(whole.settings[0])
        finding = find(replace(whole, settings=[SMALL[name]]))
        assert finding.verdict, name
        assert finding.row().count(" | ") == 11
        assert finding.digest in str(finding)


@pytest.mark.slow
def test_tables_of_softmax_of_optimizers_and_of_minima_are_those_of_small_studies():
    told = softmax.study(UNIT, [1], [2], prompts=200, fresh=2000, steps=25).splitlines()
    free = next(
        line.split() for line in told if line.startswith("softmax, 2 heads  ") and "free" in line
    )
    assert float(free[-4]) == pytest.approx(1.2, abs=0.03)
    sizes = {"steps": 30, "batch": 10, "marks": 3, "evaluate": 10, "ends": 100, "stretched": 100}
    law = Prompts(n=12, sigma=np.eye(2), task=np.eye(2))
    course = optimizers.Course(law=law, layers=2, **sizes)
    told = optimizers.study(course, rates=(0.02, 30.0), seeds=2, tuning=1, draws=20)
    assert re.search(r"\* *[\d.]+", told)
    assert "!" in told  # at a rate of 30
    assert "sgd / adam999" in told
    assert "no spurious local minimum at all: exact root count" in landscape.study(UNIT, 2)
    assert "spurious local minimum, loss 1.29786" in landscape.study(replace(UNIT, n=100), 2)


def test_a_script_measures_a_statement(monkeypatch, capsys):
    queries = str(DOCS / "studies/queries.py")
    monkeypatch.setattr("sys.argv", [queries, "sq-dimension"])
    runpy.run_path(queries, run_name="__main__")
    assert capsys.readouterr().out.startswith("sq-dimension: agrees\n")
    monkeypatch.setattr("sys.argv", [queries, "sq-dimension", "sq"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(queries, run_name="__main__")
    said = capsys.readouterr().err
    assert "no statement is named sq: choose from sq-dimension" in said


def test_studies_import_the_public_names_and_few_modules():
    imported = set()
    for path in sorted((DOCS / "studies").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported.add(node.module)
            elif isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
    ours = {name for name in imported if name.split(".")[0] in ("hardness", "instances")}
    assert ours == ALLOWED


def test_the_tables_of_docs_have_the_statements_of_today():
    """Words, settings and revisions are those of the studies, predictions those that are kept."""
    kept = json.loads((DOCS / "theory-predictions.json").read_text())["statements"]
    lines = [
        line for line in (DOCS / "theory-table.md").read_text().splitlines() if line[:2] == "| "
    ]
    table = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines[2:]]
    every = {s.name: s for subject in SUBJECTS for s in load(subject).values()}
    assert [row[0] for row in table] == list(every) == list(kept) == list(SMALL)
    references = (DOCS / "references.md").read_text()
    for row, s in zip(table, every.values(), strict=True):
        predictions = [Predicted(**kept[s.name]["predictions"][place(at)]) for at in s.settings]
        vars(s)["predictions"] = tuple(predictions)
        plain = [cell.replace("\\", "") for cell in row]
        assert plain[1:4] == [s.subject, s.says, s.source], s.name
        assert plain[-3:] == ["yes" * s.identity, s.revised, s.digest], s.name
        assert kept[s.name]["digest"] == s.digest
        owner, _, source = s.owner.partition(" ")
        assert owner == "docs" if not source else f"**{source}**" in references, s.name
        assert all(text.endswith(".") for text in (s.says, s.predicts, s.meaning)), s.name
    named = (DOCS / "sources.md").read_text()
    columns = [line.split("|")[3] for line in named.splitlines() if line.count("|") == 4]
    linked = {name for cell in columns for name in re.findall("`([a-z-]+)`", cell)}
    assert len(linked) > 20
    assert linked <= set(every)
    assert set(tomllib.loads((DOCS / "studies/statements.toml").read_text())) == set(SUBJECTS)


@pytest.mark.slow
def test_what_was_committed_before_the_table_was_measured_is_what_is_predicted():
    kept = json.loads((DOCS / "theory-predictions.json").read_text())["statements"]
    for subject in SUBJECTS:
        for s in load(subject).values():
            for at, p in zip(s.settings, s.predictions, strict=True):
                for end in ("low", "high"):
                    wanted = kept[s.name]["predictions"][place(at)][end]
                    near = wanted if wanted is None else pytest.approx(wanted, rel=1e-6)
                    assert getattr(p, end) == near, (s.name, at)


# Verdicts.

ORDER = []


def predicted(x, kind="equal"):
    ORDER.append("predicted")
    ends = {"equal": (x, x), "most": (None, x), "least": (x, None), "none": (None, None)}[kind]
    return Predicted(low=ends[0], high=ends[1], within=x < 4)


def measured(x, seed, kind="equal"):
    ORDER.append("measured")
    return exactly(x * (1 + seed))


def wide(x, seed, kind="equal"):
    return Measured(value=x, low=x - 0.3 * x * seed, high=x + 0.3 * x, how="95 %, 3 layers")


def made(*settings, measure=measured):
    words = dict.fromkeys(("says", "predicts", "meaning", "quantity", "owner"), "x.")
    subject = {"name": "mine", "subject": "hardness"}
    return Statement(**words, **subject, settings=settings, predict=predicted, measure=measure)


def test_all_is_predicted_and_hashed_before_anything_is_measured():
    ORDER.clear()
    finding = find(made({"x": 1}, {"x": 2}))
    assert ORDER == ["predicted"] * 2 + ["measured"] * 2
    assert finding.digest == made({"x": 1}, {"x": 2}).digest != made({"x": 1}, {"x": 3}).digest
    with pytest.raises(ValueError, match="mine at x=1, seed 3: not a number"):
        find(made({"x": 1}, measure=lambda x, seed: exactly(float("nan"))), seed=3)


@pytest.mark.parametrize(
    ("settings", "seed", "verdict"),
    [
        ([{"x": 1}, {"x": 5}], 0, "agrees"),
        ([{"x": 1}, {"x": 5}], 1, "fails"),
        ([{"x": 5}, {"x": 1, "kind": "most"}], -0.5, "looser by 2, fails outside its conditions"),
        ([{"x": 2, "kind": "most"}], 1, "fails"),
        ([{"x": 2, "kind": "least"}], 1, "looser by 2"),
        ([{"x": 2, "kind": "none"}], 1, "not applicable"),
        ([{"x": 5}, {"x": 6, "kind": "most"}], 0, "outside its conditions"),
    ],
)
def test_a_verdict_follows_from_intervals(settings, seed, verdict):
    assert find(made(*settings), seed).verdict == verdict


def test_an_interval_that_is_too_wide_cannot_tell():
    assert find(made({"x": 1}, {"x": 2}, measure=wide), 1).verdict == "cannot tell"
    finding = find(made({"x": 1, "kind": "least"}, {"x": 2, "kind": "most"}, measure=wide), 0)
    assert (finding.verdict, finding.telling.at["x"]) == ("agrees at 1 of 2", 2)


@pytest.mark.parametrize(
    ("ends", "low", "high", "verdict"),
    [
        ((1.0, 2.0), 2.0, 3.0, "agrees"),
        ((1.0, 2.0), 0.0, 0.9, "fails"),
        ((1.0, 2.0), 0.9, 2.0, "cannot tell"),  # wider than the band
        ((1.0, 1.0), 0.95, 1.14, "agrees"),  # no band: a fifth of the number
        ((1.0, 1.0), 0.95, 1.16, "cannot tell"),
        ((None, 1.0), 0.2, 1.1, "cannot tell"),  # the interval holds the end of the bound
        ((1.0, None), 0.9, 9.0, "cannot tell"),
        ((64.0, None), 64.0, None, "agrees"),
        ((100.0, None), 64.0, None, "cannot tell"),
        ((None, 32.0), 64.0, None, "fails"),
        ((None, None), 0.9, 9.0, ""),
    ],
)
def test_a_point_agrees_only_if_its_interval_could_have_shown_otherwise(ends, low, high, verdict):
    at = Measured(value=low, low=low, high=high, how="95 %, 3 layers")
    assert Point({"x": 1}, Predicted(low=ends[0], high=ends[1]), at).verdict == verdict


def test_points_are_written_in_as_many_digits_as_tell_them_apart():
    off = Point({}, Predicted(low=1.43553, high=1.43553), exactly(1.43548, 1e-6))
    assert off.words == ("1.436", "1.435")
    assert Measured(value=0.5, low=0.4129, high=0.6, how="").words() == "0.5 [0.412, 0.6]"
    assert Measured(value=64.0, low=64.0, high=None, how="").words() == "above 64"
    assert Predicted(high=2.0).words() == "at most 2"


def test_intervals_are_those_of_scipy():
    found = mean([1.0, 2.0, 4.0, 4.5], "layers")
    low, high = stats.t.interval(0.95, 3, 2.875, stats.sem([1.0, 2.0, 4.0, 4.5]))
    assert (found.low, found.high) == pytest.approx((low, high))
    assert mean([1.0, 2.0, 3.0], "layers", among=20).how == "95 % of 20 together, 3 layers"
    assert share(0, 20, "rows").high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert exponent([1, 2, 4, 8], [[3], [12], [48], [192]], "sizes").value == pytest.approx(2)
