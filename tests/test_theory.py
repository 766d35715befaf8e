"""Statements of theory: predicted before they are measured, judged by intervals, kept."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

import hardness as h
from hardness.report.charts.theory import draw_theory, of_theory
from hardness.report.figures import draw
from hardness.theory import Measured, Point, Predicted, Statement, Statements, find, statements
from hardness.theory import statement as named
from hardness.theory.statement import digest_of, exactly, exponent, mean, place, share
from instances.errors import UsageError

DOCS = Path(__file__).parents[1] / "docs"
ORDER = []


def predicted(x, kind="equal"):
    ORDER.append(("predicted", x))
    ends = {"equal": (x, x), "most": (None, x), "least": (x, None), "none": (None, None)}[kind]
    return Predicted(low=ends[0], high=ends[1], within=x < 4)


def measured(x, seed, kind="equal"):
    ORDER.append(("measured", x))
    return exactly(x * (1 + seed))


def made(*settings, measure=measured):
    return Statement(
        name="mine", subject="hardness", owner="docs", source="", says="y = x.", predicts="x.",
        meaning="None.", settings=settings, predict=predicted, measure=measure, along="x", y="y",
    )  # fmt: skip


def test_all_is_predicted_and_hashed_before_anything_is_measured():
    ORDER.clear()
    found = find(made({"x": 1}, {"x": 2}))
    assert [step for step, _ in ORDER] == ["predicted"] * 2 + ["measured"] * 2
    assert found.verdict == "agrees"
    assert found.digest == made({"x": 1}, {"x": 2}).digest
    assert found.digest != made({"x": 1}, {"x": 3}).digest


@pytest.mark.parametrize(
    ("settings", "seed", "verdict"),
    [
        ([{"x": 1}, {"x": 5}], 0, "agrees"),
        ([{"x": 1}, {"x": 5}], 1, "fails"),
        ([{"x": 5}, {"x": 1, "kind": "most"}], -0.5, "looser by 2, fails outside its conditions"),
        ([{"x": 2, "kind": "most"}, {"x": 2, "kind": "least"}], 0, "agrees"),
        ([{"x": 2, "kind": "most"}], 1, "fails"),
        ([{"x": 2, "kind": "least"}], 1, "looser by 2"),
        ([{"x": 2, "kind": "most"}, {"x": 3, "kind": "most"}], -0.75, "looser by 4"),
        ([{"x": 2, "kind": "none"}], 1, "not applicable"),
        ([{"x": 5}, {"x": 6, "kind": "most"}], 0, "outside its conditions"),
        ([{"x": 5}, {"x": 2, "kind": "none"}], 1, "outside its conditions"),
    ],
)
def test_a_verdict_follows_from_intervals(settings, seed, verdict):
    assert find(made(*settings), seed).verdict == verdict


def _wide(x, seed, kind="equal"):
    return Measured(value=x, low=x - 0.3 * x * seed, high=x + 0.3 * x, how="95 %, 3 layers")


@pytest.mark.parametrize(
    ("settings", "seed", "verdict", "telling"),
    [
        ([{"x": 1}, {"x": 2}], 1, "cannot tell", 1),  # .6 of the number wide
        ([{"x": 1, "kind": "most"}, {"x": 2, "kind": "least"}], 1, "cannot tell", 1),
        ([{"x": 1, "kind": "least"}, {"x": 2, "kind": "most"}], 0, "agrees at 1 of 2", 2),
        ([{"x": 1, "kind": "least"}, {"x": 5, "kind": "most"}], 0, "agrees", 1),
    ],
)
def test_an_interval_that_is_too_wide_cannot_tell(settings, seed, verdict, telling):
    found = find(made(*settings, measure=_wide), seed)
    assert (found.verdict, found.telling.at["x"]) == (verdict, telling)


@pytest.mark.parametrize(
    ("said", "low", "high", "verdict"),
    [
        ((1.0, 2.0), 2.0, 3.0, "agrees"),
        ((1.0, 2.0), 0.0, 1.0, "agrees"),
        ((1.0, 2.0), 2.1, 3.0, "fails"),
        ((1.0, 2.0), 0.0, 0.9, "fails"),
        ((1.0, 2.0), 0.9, 2.0, "cannot tell"),  # wider than the band
        ((1.0, 1.0), 0.95, 1.14, "agrees"),  # no band: a fifth of the number
        ((1.0, 1.0), 0.95, 1.16, "cannot tell"),
        ((0.0, 0.0), 0.0, 0.1, "cannot tell"),
        ((None, 1.0), 0.2, 1.1, "cannot tell"),  # the interval holds the end of the bound
        ((None, 1.0), 0.2, 1.0, "agrees"),
        ((None, 1.0), 1.0, 1.1, "cannot tell"),
        ((1.0, None), 1.0, 9.0, "agrees"),
        ((1.0, None), 0.9, 9.0, "cannot tell"),
        ((None, None), 0.9, 9.0, ""),
    ],
)
def test_a_point_agrees_only_if_its_interval_could_have_shown_otherwise(said, low, high, verdict):
    at = Measured(value=(low + high) / 2, low=low, high=high, how="95 %, 3 layers")
    one = Point(at={"x": 1}, predicted=Predicted(low=said[0], high=said[1]), measured=at)
    assert one.verdict == verdict


def test_what_was_not_found_has_no_upper_end():
    at = Measured(value=64.0, low=64.0, high=None, how="96.9 %, 6 layers")
    for low, high, verdict in (
        (100.0, None, "cannot tell"),
        (64.0, None, "agrees"),
        (64.0, 64.0, "cannot tell"),
        (None, 32.0, "fails"),
    ):
        said = Predicted(low=low, high=high)
        one = Point(at={"x": 1}, predicted=said, measured=at)
        assert one.verdict == verdict
        assert one.said[1] == "above 64"
    found = find(made({"x": 1}, {"x": 2}, measure=_open))
    assert type(found).read({k: v for k, v in found.to_dict().items() if k != "format"}) == found
    assert "<svg" in draw("theory", of_theory(found)).decode()


def _open(x, seed):
    return Measured(value=float(x), low=float(x), high=None, how="96.9 %, 6 layers")


def test_intervals_are_those_of_scipy():
    from scipy import stats

    values = [1.0, 2.0, 4.0, 4.5]
    low, high = stats.t.interval(0.95, 3, 2.875, stats.sem(values))
    found = mean(values, "layers")
    assert (found.low, found.high) == pytest.approx((low, high))
    low, high = stats.binomtest(7, 20).proportion_ci(0.95, "exact")
    found = share(7, 20, "rows")
    assert (found.low, found.high) == pytest.approx((low, high))
    assert exponent([1, 2, 4, 8], [[3], [12], [48], [192]], "sizes").value == pytest.approx(2)


def test_every_statement_says_what_it_predicts_and_whose_it_is():
    references = (Path(__file__).parents[1] / "docs/references.md").read_text()
    names = list(statements())
    assert len(names) == len(set(names))
    for one in statements().values():
        assert one.says.endswith(".")
        assert one.predicts.endswith(".")
        assert one.meaning.endswith(".")
        assert not one.source or f"**{one.source}**" in references, one.name
        assert one.source or one.owner == "docs", one.name
        assert any(one.along in at for at in one.settings), one.name
    with pytest.raises(UsageError, match="sq-dimension"):
        named("sq-dimensoin")


def test_the_page_of_the_sources_names_lines_that_there_are():
    page = (Path(__file__).parents[1] / "docs/sources.md").read_text()
    columns = [line.split("|")[3] for line in page.splitlines() if line.count("|") == 4]
    named_there = {name for one in columns for name in re.findall("`([a-z-]+)`", one)}
    assert len(named_there) > 20
    assert named_there <= set(statements())


def test_an_identity_and_a_revised_prediction_are_marked():
    found = find(named("net-size").updated(settings=[{"m": 2, "steps": 10}]))
    assert "An identity: it can fail only if the toolkit is wrong." in repr(found)
    assert f"Revised since the first commit: {found.revised}." in " ".join(repr(found).split())
    row = h.Theory(findings=(found,)).to_frame().loc[0]
    assert (row["identity"], row["revised"]) == ("yes", found.revised)


def nowhere(x, seed):
    return exactly(x * float("nan"))


def test_what_is_no_number_is_no_finding():
    with pytest.raises(h.ToolkitError, match="mine at x=1, seed 3: no number was measured"):
        find(made({"x": 1}, measure=nowhere), seed=3)


def test_a_folder_keeps_what_was_measured_and_refuses_what_is_not_ours(hardness):
    found = hardness("theory", "sq-dimension", "--out", "t", "--jobs", "1", "--json")
    assert (found.code, found.err) == (0, "")
    one = found.json["findings"][0]
    assert json.loads(Path("t/sq-dimension.json").read_text()) == one
    page = Path("t/theory.html").read_text()
    assert "<svg" in page
    assert one["digest"] in page
    assert "<script" not in page
    Path("t/sq-dimension.json").write_text(json.dumps({**one, "meaning": "in older words"}))
    again = hardness("theory", "sq-dimension", "--out", "t", "--jobs", "1", "--json")
    assert again.json == found.json  # its seconds too: it was not measured again
    assert json.loads(Path("t/sq-dimension.json").read_text()) == one
    other = hardness("theory", "sq-dimension", "--out", "t", "--seed", "1", "--jobs", "1", "--json")
    assert other.json["findings"][0]["seed"] == 1
    stale = h.Finding.load("t/sq-dimension.json").updated(says="Other.")
    stale = stale.updated(digest=digest_of(stale, [(p.at, p.predicted) for p in stale.points]))
    Path("t/sq-dimension.json").write_text(json.dumps(stale.to_dict()))  # of other predictions
    again = hardness("theory", "sq-dimension", "--out", "t", "--jobs", "1", "--json")
    assert again.json["findings"][0]["digest"] == one["digest"]
    Path("t/mine.txt").write_text("kept")
    found = hardness("theory", "sq-dimension", "--out", "t")
    assert found.code == 1
    assert "mine.txt" in found.err
    assert Path("t/mine.txt").read_text() == "kept"
    Path("t/mine.txt").unlink()


def test_a_folder_is_shown_in_the_words_of_today(hardness):
    found = find(named("sq-dimension"))
    Path("t").mkdir()
    found.updated(meaning="Old.", log="zz", y="old").save("t/sq-dimension.json")
    shown = hardness("theory", "sq-dimension", "--out", "t", "--json").json["findings"][0]
    assert shown == found.to_dict()


def test_a_name_beside_all_is_looked_at(hardness):
    found = hardness("theory", "all", "sq-dimensoin", "--out", "t")
    assert found.code == 2
    assert not Path("t").exists()


def test_what_is_listed_is_what_is_predicted(hardness):
    told = hardness("theory").out
    assert all(f"{name}: " in told for name in statements())
    listed = Statements(every=(named("sq-dimension"),)).to_dict()["statements"]
    assert listed["sq-dimension"]["predictions"]["d=16,m=2"]["low"] == 105
    assert listed["sq-dimension"]["digest"] == named("sq-dimension").digest
    assert hardness("theory", "--out", "t").code == 2
    assert hardness("theory", "sq-dimension", "--out", "t.html").code == 2
    found = hardness("theory", "sq-dimensoin")
    assert found.code == 2
    assert "sq-dimension" in found.err


def test_a_figure_and_a_table_are_of_a_finding(hardness):
    found = h.theory("sq-dimension", jobs=1)
    assert found.to_frame().loc[0, "verdict"] == "agrees"
    [one] = found.findings
    assert len(one.to_frame()) == len(one.points)
    made = hardness("theory", "sq-dimension", "--out", "t.md", "--jobs", "1")
    assert made.code == 0
    assert "| sq-dimension |" in Path("t.md").read_text()
    assert hardness("theory", "sq-dimension", "--out", "t.md", "--jobs", "1").code == 1
    rows = h.figure("theory", one).to_dict()["rows"]
    assert {row["kind"] for row in rows} == {"predicted", "measured"}
    assert all(row["meets"] for row in rows if row["kind"] == "measured")
    text = repr(found)
    assert "agrees" in text
    assert one.digest in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_a_logarithmic_axis_cannot_hold_is_drawn_all_the_same():
    for value, logarithmic in ((3.0, True), (-1.0, False)):
        one = replace(
            named("degree"),
            settings=[{"layers": 1, "free": "q"}],
            measure=lambda value=value, **at: exactly(value),
        )
        assert ('"log"' in json.dumps(draw_theory(of_theory(find(one))))) is logarithmic


def test_the_table_of_the_docs_has_the_statements_and_digests_of_today():
    """What is said, its settings and revisions: of the code. Predictions: those that are kept."""
    kept = json.loads((DOCS / "theory-predictions.json").read_text())["statements"]
    lines = [
        line for line in (DOCS / "theory-table.md").read_text().splitlines() if line[:1] == "|"
    ]
    header, _, *rows = [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines]
    assert header == list(h.Theory(findings=(find(made({"x": 1})),)).to_frame().columns)
    table = [dict(zip(header, row, strict=True)) for row in rows]
    assert [row["statement"] for row in table] == list(statements())
    for row, one in zip(table, statements().values(), strict=True):
        predictions = [Predicted(**kept[one.name]["predictions"][place(at)]) for at in one.settings]
        digest = digest_of(one, list(zip(one.settings, predictions, strict=True)))
        assert row["digest"] == kept[one.name]["digest"] == digest
        assert row["identity"] == "yes" * one.identity
        for name in ("subject", "says", "of", "revised"):
            assert row[name].replace("\\", "") == getattr(one, name), (one.name, name)


@pytest.mark.slow
def test_what_was_committed_before_the_table_was_measured_is_what_is_predicted():
    kept = json.loads((DOCS / "theory-predictions.json").read_text())["statements"]
    now = Statements(every=tuple(statements().values())).to_dict()["statements"]
    assert list(kept) == list(now)
    for name, one in now.items():
        assert (kept[name]["says"], kept[name]["predicts"]) == (one["says"], one["predicts"])
        assert list(kept[name]["predictions"]) == list(one["predictions"])
        for at, said in one["predictions"].items():
            for end in ("low", "high"):
                wanted = kept[name]["predictions"][at][end]
                assert said[end] == (wanted if wanted is None else pytest.approx(wanted, rel=1e-6))
