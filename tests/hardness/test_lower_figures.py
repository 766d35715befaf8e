import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from hardness.check import transcript
from hardness.lower import Johnson
from hardness.oracles import Budget
from hardness.report import figures
from hardness.report.charts.bounds import draw_sda, of_adversary
from hardness.runs import play
from hardness.upper import parse_learner
from instances import DamagedFile, parse
from instances.errors import Refuted
from tests.charts import rows_of, said

SPEC = "profile:g=majority,d=9,m=3"


def numbers(name):
    if name == "adversary":
        game = play(parse_learner("pooled"), parse("parity:d=9,m=2"), Budget())
        return of_adversary(game.transcript.to_dict())
    return figures.numbers(name, parse(SPEC))


def test_figures_have_titles():
    for name, title in (
        ("correlations", "Correlations of two members"),
        ("eigenvalues", "Eigenvalues of the Gram matrix"),
        ("sda", "all subsets, certified at least"),
        ("adversary", "Members that the adversary has left"),
    ):
        assert title in said(name, numbers(name))


def test_what_is_0_is_on_no_axis_of_logarithms():
    data = figures.numbers("eigenvalues", parse("profile:g=h,d=9,m=3"))  # of degree 1
    assert [row["log10_eigenvalue"] for row in data["rows"]][2:] == [None, None]
    assert "the eigenvalue is 0" in said("eigenvalues", data)
    data = numbers("sda")
    shown = [row for row in data["rows"] if (row["upper"], row["pair_events"]) != ("0", "0")]
    missing = sum(row[key] == "0" for row in shown for key in ("lower", "upper", "pair_events"))
    drawn = [row["sda"] for row in rows_of(draw_sda(data)) if "sda" in row]
    assert len(shown) < len(data["rows"])
    assert drawn.count(None) == missing


def test_the_numbers_are_those_of_the_family():
    scheme = Johnson.family(parse(SPEC))
    found = numbers("correlations")["rows"]
    assert found[-1]["correlation"] == 1.0
    assert abs(sum(row["share"] for row in found) - 1) < 1e-12
    members = list(itertools.combinations(range(8), 3))
    gram = np.array(
        [[found[len(set(a) & set(b))]["correlation"] for b in members] for a in members]
    )
    found = np.linalg.eigvalsh(gram)
    wanted = spectrum(numbers("eigenvalues")["rows"])
    np.testing.assert_allclose(sorted(wanted), found, rtol=1e-9)
    assert math.comb(8, 3) == scheme.size == len(wanted)


def spectrum(rows):
    """All eigenvalues, each as often as it occurs."""
    return [
        10 ** row["log10_eigenvalue"]
        for row in rows
        for _ in range(round(10 ** row["log10_multiplicity"]))
    ]


def test_correlations_that_are_sampled_say_within_which_radius(tmp_path):
    """Of functions of so many signs that their points are not enumerated."""
    from hardness.lower.members import read_members

    path = tmp_path / "mine.py"
    path.write_text("import numpy as np\nd = 50\nfs = [lambda x, k=k: x[:, k] for k in range(4)]\n")
    data = figures.numbers("correlations", read_members(f"{path}:fs"))
    assert data["confidence"] == 0.99
    found = max(abs(row["correlation"]) for row in data["rows"])
    assert 0 < found <= data["radius"] < 0.02
    assert "sampled: all within 0.0" in said("correlations", data)
    path.write_text(path.read_text().replace("50", "8"))
    data = figures.numbers("correlations", read_members(f"{path}:fs"))
    assert data["rows"] == [{"correlation": 0.0, "share": 1.0}]
    assert "sampled" not in said("correlations", data)


def test_a_transcript_that_was_edited_is_not_drawn(monkeypatch):
    with pytest.raises(DamagedFile, match="no transcript"):
        of_adversary({"format": "hardness-certificate/1"})
    game = play(parse_learner("pooled"), parse("parity:d=9,m=2"), Budget()).transcript.to_dict()
    for change in ({"spec": "parity:d=1000,m=21,noise=0,rho=21"}, {"members": "29"}):
        with pytest.raises(Refuted, match="digest"):
            of_adversary(game | change)
    assert "not checked" not in said("adversary", of_adversary(game))
    monkeypatch.setattr(transcript, "_MOST_MEMBERS", 10)
    assert "not checked" in said("adversary", of_adversary(game))


def test_a_game_is_written_checked_and_drawn(hardness):
    line = ("learn", "pooled", "parity:d=9,m=2", "--oracle", "adversary", "--transcript", "t.json")
    made = hardness(*line, "--json")
    assert made.code == 0
    assert {"mode", "members", "left", "bound", "ruled_out", "seed_source"} == set(
        made.json["adversary"]
    )
    assert hardness("check", "t.json", "--json").json["accepted"] is True
    assert hardness("figure", "adversary", "t.json", "--out", "t.svg").code == 0
    assert hardness(*line).code == 1  # the transcript was kept


FUNCTIONS = """
import itertools
import numpy as np

d = 6
threes = [lambda x, s=list(s): np.sign(x[:, s].sum(axis=1))
          for s in itertools.combinations(range(6), 3)]
real = [lambda x: x.sum(axis=1), lambda x: x[:, 0]]
"""


@pytest.mark.parametrize("name", ["correlations", "eigenvalues", "sda"])
def test_figures_of_functions_of_a_file(hardness, name):
    Path("mine.py").write_text(FUNCTIONS)
    made = hardness("figure", name, "mine.py:threes", "--out", "a.svg", "--json")
    assert made.code == 0
    assert made.json["members"] == 20
    assert Path("a.svg").stat().st_size > 2000
    found = made.json["rows"]
    if name == "correlations":  # of two overlaps: 1/4 for one place, 1/2 for two, 0 for none
        shares = {row["correlation"]: row["share"] for row in found}
        assert shares == pytest.approx({0.0: 10 / 190, 0.25: 90 / 190, 0.5: 90 / 190})
    elif name == "eigenvalues":
        assert sum(spectrum(found)) == pytest.approx(20, rel=1e-5)
    else:
        certified = hardness("certify", "mine.py:threes", "--gamma", "0.5", "--json").json
        claims = {c["quantity"]: c["value"] for c in certified["goal"]["claims"]}
        assert found[-1]["lower"] == claims["sda-all-subsets"]
        assert found[-1]["pair_events"] == claims["sda-pair-events"]


def test_figures_of_other_members(hardness):
    Path("mine.py").write_text(FUNCTIONS)
    assert hardness("figure", "correlations", "mine.py:real", "--out", "a.svg").code == 0
    drawn = hardness("figure", "walsh", "mine.py:threes", "--json").json
    assert drawn["spec"] == "threes"


@pytest.mark.parametrize("source", ["mine.py:threes", "mine.py:real", "parity:d=12,m=2", SPEC])
def test_the_figure_of_queries_has_the_numbers_of_certify(hardness, source):
    Path("mine.py").write_text(FUNCTIONS)
    found = hardness("figure", "queries", source, "--out", "a.svg", "--json").json
    taus = [row["tau"] for row in found["rows"]]
    assert source == "mine.py:real" or found["first"] in taus
    quantity = "csq-queries" if source == "mine.py:real" else "stat-queries"
    for row in found["rows"][-20::4]:
        tau, queries = row["tau"], row["queries"]
        made = hardness("certify", source, "--tau", tau, "--json").json
        claimed = {c["quantity"]: c["value"] for c in made["goal"]["claims"]}
        if queries == "none":
            assert quantity not in claimed
        else:
            assert claimed[quantity] == queries or (not queries and int(claimed[quantity]) <= 2)
            assert not queries or int(queries) > 2
