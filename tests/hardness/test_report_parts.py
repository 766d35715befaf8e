"""What a report says, held against the store itself, by SQL and by hand-made runs."""

import json
import shlex
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from hardness.lower import BoundParameters, certify
from hardness.oracles import Budget
from hardness.report.charts.phase import budgets, diagrams, draw_phase, needed, of_phase
from hardness.report.charts.runs import of_both_sides
from hardness.report.figures import draw, numbers
from hardness.report.page.build import report, report_of, report_of_comparison
from hardness.report.page.cards import card
from hardness.report.page.figures import phase_caption
from hardness.report.page.material import Material
from hardness.report.page.sentences import below_floor
from hardness.report.page.tables import learner_rows
from hardness.report.page.write import write as page_of
from hardness.report.source import comparison_of, plane_of
from hardness.runs import compare, write_comparison
from hardness.runs.certified import Certifier
from hardness.runs.rows import CertificateRow
from hardness.runs.run import Run, run
from hardness.runs.stress import stress, write_stress
from hardness.runs.table import chosen, planes, slices, table
from hardness.runs.tally import interval
from hardness.sweep.store import create
from hardness.upper import Outcome, parse_learner
from instances import parse
from instances.errors import DamagedFile, UsageError
from instances.ladders import ladder_of
from tests.charts import panels_of
from tests.hardness.sweep.here import sweep_here

SWEEP = """
format = "hardness-sweep/1"
name = "<b>small & wild</b>"
seeds = 2
[budget]
examples = 2_000
queries = 3
[[runs]]
spec = "parity:noise=0"
over = { d = [6, 8, 10, 12], m = [2, 3] }
learners = ["queries", "elimination", "trivial"]
[[runs]]
spec = "linear:k=3,m=1"
over = { d = [3, 4] }
learners = ["linear"]
[[climbs]]
rungs = ["parity:d=8,m=2", "parity:d=10,m=3"]
learners = ["elimination"]
seeds = 2
seed = 7
budget = { seconds = 60 }
"""
BASE = run(parse_learner("elimination"), parse("parity:d=8,m=2").instance(0), Budget())
LOST = run(parse_learner("trivial"), parse("parity:d=8,m=2").instance(0), Budget())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of real runs."""
    path = tmp_path_factory.mktemp("report") / "runs.db"
    with pytest.MonkeyPatch.context() as patch:
        sweep_here(patch, SWEEP, path)
    return path


def row(spec: str, learner: str = "elimination", seed: int = 0, **changed: object) -> Run:
    """A hand-made run that passed, or did not with solved=False."""
    base = BASE if changed.pop("solved", True) else LOST
    return replace(base, key=f"{seed}", spec=spec, learner=learner, seed=seed, **changed)


SPECS = st.builds(
    lambda m, d, noise: f"parity:d={d},m={m},noise={noise},rho={m}",
    st.integers(2, 4),
    st.integers(6, 12),
    st.sampled_from(["0", "0.1"]),
) | st.sampled_from(
    ["gone:a=[1,2],b=x", "mine.py:Mine", "gone:b=(", "gone", "parity:d=8,d=9", "x:,="]
)
LEARNERS = st.sampled_from(["elimination", "queries", "/tmp/a b.py:Net", "gone:q=1", "<script>"])
ROWS = st.builds(
    lambda spec, learner, seed, examples, tau, revision, oracle: row(
        spec,
        learner,
        seed,
        budget=Budget(examples=examples),
        revisions={"family": 1, "learner": revision},
        details={"oracle": "samples", "tau": tau} if oracle else {},
    ),
    SPECS,
    LEARNERS,
    st.integers(0, 3),
    st.sampled_from([None, 100]),
    st.sampled_from(["1/10", "1/20"]),
    st.integers(1, 2),
    st.booleans(),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(ROWS, max_size=25))
def test_slices_and_planes_hold_every_run_once_and_can_be_chosen(rows):
    """Whatever names stand in a store."""
    runs = table(rows)
    found, flat = slices(runs), planes(runs)
    for parts in (found, flat):
        assert sorted(id(r) for one in parts for r in one.rows) == sorted(map(id, rows))
        assert len({one.choice for one in parts}) == len(parts)
        assert all(chosen(parts, one.choice, "x") is one for one in parts)
    for one in found:
        comparison = one.comparison
        assert len({r.budget for r in one.rows}) == 1
        assert len(set(comparison.values)) == len(comparison.values) == len(comparison.specs)
        cells = [
            r
            for name in comparison.learner_names
            for value in comparison.values
            for r in comparison.of(name, value)
        ]
        assert len(cells) == len(one.rows)


def test_a_grid_is_cut_along_its_longest_parameter_and_a_cross_along_both():
    """d of a grid of 3 x 2; then noise of what stands alone."""
    grid = [row(parse(f"parity:d={d},m={m}").spec) for d in (6, 8, 10) for m in (2, 3)]
    arms = [row(parse(f"parity:d=6,m=2,noise={n}").spec) for n in ("0.1", "0.2")]

    def cut(rows):
        found = slices(table(rows))
        return [(one.choice, one.comparison.parameter, one.comparison.values) for one in found]

    assert cut(grid) == [("m=2", "d", (6, 8, 10)), ("m=3", "d", (6, 8, 10))]
    crossed = [one[1:] for one in cut(grid + arms)]
    assert crossed.count(("d", (6, 8, 10))) == 2
    assert ("noise", (Fraction(1, 10), Fraction(1, 5))) in crossed


def test_phase_cells_follow_from_hand_made_runs():
    """Two thirds, fewer, none; ended by the machine; late; not run."""
    a, b, c, d, e = (parse(f"parity:d={d},m=2").spec for d in (6, 7, 8, 9, 10))
    rows = [row(a, seed=s, solved=s < 2) for s in range(3)]
    rows += [row(b, seed=s, solved=s < 1) for s in range(3)]
    rows += [row(c, seed=s, solved=False) for s in range(2)]
    rows += [row(d, seed=s, outcome=Outcome.CRASHED, risk=None) for s in range(2)]
    rows += [row(e, "trivial", solved=False)]
    (plane,) = planes(table(rows))
    data = of_phase(plane, Certifier(()))
    cells = [row for row in data["rows"] if row["kind"] == "cell"]
    said = [(row["x"], row["state"], row["passed"], row["runs"]) for row in cells]
    assert data["xs"] == ["6", "7", "8", "9", "10"]
    assert data["y"] == "m"
    assert said == [
        *(("6", "solved", 2, 3), ("7", "partly", 1, 3), ("8", "not solved", 0, 2)),
        *(("9", "could not run", 0, 2), ("10", "not solved", 0, 1)),
    ]
    slow = replace(BASE.usage, seconds=9.0)
    (late,) = planes(table([row(a, usage=slow, budget=Budget(seconds=1))]))
    assert of_phase(late, Certifier(()))["rows"][-1]["state"] == "not solved"


def test_what_is_hatched_is_what_the_certificate_says():
    """Above the budget of the runs, or one that shows it; for each cell its own number."""
    specs = [parse(f"parity:d={d},m={m}").spec for d in (8, 20, 40) for m in (2, 3)]
    rows = [row(spec, "queries", budget=Budget(queries=20)) for spec in specs]
    (plane,) = planes(table(rows))
    data = of_phase(plane, Certifier(()))
    certified = {
        (str(d), str(m)): int(certify(parse(f"parity:d={d},m={m}")).value("stat-queries"))
        for m in (2, 3)
        for d in (8, 20, 40)
    }
    rows = [row for row in data["rows"] if row["kind"] == "certified"]
    assert {(row["x"], row["y"]): int(row["queries"]) for row in rows} == certified
    assert needed(data) == {at: n for at, n in certified.items() if n > 2}  # others are vacuous
    assert {n > data["query_budget"] for n in certified.values()} == {True, False}
    assert data["budget_given"]
    (free,) = planes(table([row(spec, "queries") for spec in specs]))
    shown = of_phase(free, Certifier(()))
    assert shown["query_budget"] < max(certified.values()) <= 10 * shown["query_budget"]
    assert not shown["budget_given"]


def test_the_slider_of_a_phase_diagram_compares_exactly():
    """A cell is hatched at a budget if its certified number is above it, digit for digit."""
    specs = [parse(f"parity:d={d},m={m}").spec for d in (200, 1000) for m in (7, 21)]
    rows = [row(spec, learner, budget=Budget(queries=10**6 + 1)) for spec in specs
            for learner in ("queries", "elimination")]  # fmt: skip
    (plane,) = diagrams(planes(table(rows)))
    data = of_phase(plane, Certifier(()))
    certified = {(r["x"], r["y"]): r for r in data["rows"] if r["kind"] == "certified"}
    first = certified[data["xs"][0], data["ys"][0]]
    first["queries"] = str(10**16 + 1)
    choices = budgets(data)
    assert 10**16 in choices
    assert 10**17 in choices
    assert 10**6 + 1 in choices
    hatched, edges = panels_of(draw_phase(data))
    marks = [m for layer in hatched["layer"][1:-1:2] for m in layer["data"]["values"]]
    assert len(marks) == 4
    for mark in marks:
        drawn = [mark["from"] <= step < mark["to"] for step in range(len(choices))]
        assert drawn == [needed(data)[mark["x"], mark["y"]] > one for one in choices]
    assert next(m for m in marks if m["to"] == choices.index(10**17))["x"] == data["xs"][0]
    shapes = {m["shape"] for layer in edges["layer"][1:-1] for m in layer["data"]["values"]}
    assert shapes == {"right", "upper"}
    first["queries"] = "2"  # vacuous: at no budget
    (hatched, _) = panels_of(draw_phase(data))
    assert len(hatched["layer"][1]["data"]["values"]) == 3


def test_runs_over_one_parameter_have_no_phase_diagram(tmp_path):
    """A curve is no diagram: none is drawn, and the command says so."""
    (plane,) = planes(table([row(parse(f"parity:d={d},m=2").spec) for d in (6, 7)]))
    assert diagrams([plane]) == ()
    write_comparison(tmp_path / "results.json", compare("parity:m=2", "d=6..7", ("trivial",)))
    with pytest.raises(UsageError, match="over one parameter"):
        plane_of(tmp_path)


def test_the_numbers_of_a_report_are_those_of_its_store(store):
    """Every count and median again, by SQL."""
    made = report_of(store)
    connection = sqlite3.connect(store)
    (number, good) = connection.execute("SELECT count(*), sum(passed) FROM runs").fetchone()
    assert len(made.runs.rows) == number
    assert made.summary[0].startswith(f"{number} runs of 4 ")
    assert f": {good} passed (" in made.summary[0]
    sql = (
        "SELECT count(*), sum(passed) FROM runs WHERE spec = ? AND learner = ? "
        "AND budget_examples IS ?"
    )
    for one in made.learners:
        examples = 2000 if "examples" in one.budget else None
        found = connection.execute(sql, (one.spec, one.learner, examples)).fetchone()
        assert (one.runs, one.passed) == found
        costs = connection.execute(
            f"SELECT examples FROM runs WHERE {sql.partition('WHERE ')[2]} AND passed ORDER BY 1",
            (one.spec, one.learner, examples),
        ).fetchall()
        if one.passed:
            half = len(costs) // 2
            middle = (costs[half][0] + costs[(len(costs) - 1) // 2][0]) / 2
            assert one.examples == middle
        else:
            assert one.examples is None
    assert sum(one.runs for one in made.learners) == number
    joined = (
        "SELECT count(*) FROM runs AS a JOIN runs AS b USING (spec, seed, budget_examples) "
        "WHERE a.learner LIKE ? AND b.learner LIKE ? AND a.passed > b.passed"
    )
    pairs = [row for one in made.paired for row in one.table.rows]
    for names in {row[:2] for row in pairs}:
        alone = connection.execute(joined, [f"{name}%" for name in names]).fetchone()[0]
        assert sum(row[2] for row in pairs if row[:2] == names) == alone
    assert sum(row[2] + row[3] for row in pairs) > 10
    assert made.title == "<b>small & wild</b>"
    assert made.reproduce[0].text == SWEEP
    largest = int(certify(parse("parity:d=12,m=3")).value("stat-queries"))
    assert f"needs at least {largest} queries" in made.summary[1]
    card = next(c for c in made.cards if c.spec == parse("parity:d=12,m=3").spec)
    values = {claim.quantity: claim.value for claim in card.claims}
    assert values["stat-queries"] == str(largest)
    assert len(card.others.rows) == 3


def test_every_chart_is_drawn_again_by_its_command(store):
    """Its name, source and slice give the same data."""
    made = report_of(store)
    assert {chart.name for chart in made.charts} >= {"both-sides", "phase", "stress", "risks"}
    assert len({chart.key for chart in made.charts}) == len(made.charts)
    for chart in made.charts:
        words = shlex.split(chart.command)
        choice = words[words.index("--slice") + 1] if "--slice" in words else None
        assert words[:4] == ["hardness", "figure", chart.name, str(store)]
        assert numbers(chart.name, store, choice).items() >= chart.data.items()
    for name in ("phase", "stress"):
        data = next(chart.data for chart in made.charts if chart.name == name)
        assert draw(name, data).startswith(b"<svg")


def test_intervals_are_those_of_scipy():
    """Clopper and Pearson, by the other way."""
    from scipy.stats import binomtest

    for runs in (1, 3, 20):
        for passes in range(runs + 1):
            found = binomtest(passes, runs).proportion_ci(0.95, "exact")
            assert interval(passes, runs) == pytest.approx((found.low, found.high), abs=1e-9)


def test_a_comparison_has_a_report_of_its_own():
    """Of the same numbers; one that was cut says so, and not that of which sizes are there."""
    found = compare("parity:m=2", "d=6..9", ("queries", "elimination"), seeds=2)
    made = report_of_comparison(found, "some folder")
    good = sum(one.passed for one in found.runs)
    assert "16 runs of 2 learners (queries, elimination)" in made.summary[0]
    assert "elimination learns from examples" in " ".join(made.summary)
    assert f": {good} passed (queries 8 of 8, elimination 8 of 8)." in made.summary[0]
    assert "partial" not in " ".join(made.summary)
    assert made.charts[0].command.startswith("hardness figure both-sides 'some folder' --out")
    assert made.cards[0].spec == found.specs[-1]
    spent = [replace(one, outcome=Outcome.EXAMPLES_SPENT) for one in found.runs]
    data = of_both_sides(replace(found, runs=tuple(spent)))
    ended = [row for row in data["rows"] if row.get("learner") == "elimination"]
    assert ended
    assert all(row["solved"] for row in ended)  # by the risk, however ended
    for over, said in ((" d=6..20", "4 of the 15 sizes"), ("=d=6..9", "")):
        cut = replace(found, command=f"hardness compare parity:m=2 --over{over} --seeds 1")
        summary = " ".join(report_of_comparison(cut, "x").summary)
        assert ("This is partial: " in summary) is bool(said)
        assert said in summary


def test_stores_without_runs_and_damaged_ones(tmp_path, store):
    """A report, or one line."""
    empty = tmp_path / "empty.db"
    create(empty).close()
    made = report_of(empty)
    assert made.summary[0] == "There are no runs here."
    assert not made.charts
    certificate = certify(parse("parity:d=8,m=2"))
    terms = BoundParameters().to_dict()
    with create(tmp_path / "certificates.db") as writer:
        one = CertificateRow(
            key="00" * 32, spec=certificate.spec, terms=terms, certificate=certificate.to_dict()
        )
        writer.write([one])
        assert report_of(writer.path).summary[0] == "There are no runs here: but 1 certificate."
    forged = certificate.to_dict() | {"scope": "everything"}
    with create(tmp_path / "forged.db") as writer:
        writer.write([replace(one, certificate=forged)])
        with pytest.raises(DamagedFile, match="not that of its spec"):
            report_of(writer.path)
    changed = tmp_path / "changed.db"
    changed.write_bytes(store.read_bytes())
    with sqlite3.connect(changed) as connection:
        connection.execute("UPDATE runs SET passed = 1 - passed WHERE rowid = 1")
    connection.close()
    with pytest.raises(DamagedFile, match="1 row of runs"):
        report_of(changed)


def test_which_slice_is_meant_must_be_said(store):
    """One line that lists the choices."""
    with pytest.raises(UsageError, match=r"holds \d+ slices: give one with --slice, of 'family="):
        comparison_of(store)
    with pytest.raises(UsageError, match="true of no slice"):
        comparison_of(store, "m=9")
    assert comparison_of(store, "m=3,examples=2000").values == (6, 8, 10, 12)


def test_hostile_names_come_through_as_they_are(tmp_path):
    """Of learners, messages, and specs of nobody's family."""
    wild = "<script>alert(1)</script>.py:X\u202e'\";$"
    rows = [
        row(parse("parity:d=8,m=2").spec, wild, details={"why": "\x1b[31m" * 1000}),
        row("<img src=x>:a=1", wild, seed=2**63),
        row("staged", "staged:a=b", details={"diagnosis": [1, {"name": []}, {"value": 2}]}),
    ]
    rows = [replace(one, key=f"{i:064x}") for i, one in enumerate(rows)]
    with create(tmp_path / "wild.db") as writer:
        writer.write(rows)
    made = report_of(tmp_path / "wild.db")
    assert wild in {one.learner for one in made.learners}
    assert [line[0] for line in made.runs.rows].count("<img src=x>:a=1") == 1
    assert str(2**63) in {line[2] for line in made.runs.rows}
    assert draw("both-sides", made.charts[0].data)


def test_learners_whose_files_or_families_differ_have_rows_apart():
    """Of one name: no count is over two programs, nor over two revisions of a family."""
    spec = parse("parity:d=8,m=2").spec
    name, old = "mine.py:Net", {"family": 1, "learner": 1}
    rows = [row(spec, name, s, details={"sha256": "a" * 64}, revisions=old) for s in range(3)]
    rows += [row(spec, name, s, details={"sha256": "b" * 64}, solved=False) for s in range(2)]
    rows = [replace(one, revisions=old) for one in rows]
    new = [replace(one, revisions={**old, "family": 2}) for one in rows[:1]]
    found = {
        one.asked: (one.passed, one.runs) for one in learner_rows(table(rows + new), budgets=True)
    }
    assert found == {
        f"revision 1 {'a' * 16}, family revision 1": (3, 3),
        f"revision 1 {'b' * 16}, family revision 1": (0, 2),
        f"revision 1 {'a' * 16}, family revision 2": (1, 1),
    }


def test_what_could_not_run_is_not_laid_to_the_machine_nor_a_budget_to_its_runs():
    """A learner that does not take the family, a comparison whose budgets nobody knows."""
    found = compare("parity:m=2", "d=6..7", ("elimination", "trivial"), seeds=1)
    ends = (Outcome.UNSUPPORTED, Outcome.SECONDS_SPENT, Outcome.CRASHED)
    changed = [
        replace(one, outcome=end, risk=None) for one, end in zip(found.runs, ends, strict=False)
    ]
    found = replace(found, runs=(*changed, *found.runs[3:]))
    made = report_of_comparison(found, "x")
    said = next(one for one in made.summary if one.startswith("2 runs ended"))
    assert "1 by machine, 1 by seconds" in said
    specs = [parse(f"parity:d={d},m={m}").spec for d in (5, 6) for m in (1, 2)]
    (plane,) = planes(table([row(spec) for spec in specs]))
    caption = phase_caption(of_phase(plane, Certifier(())))
    assert "none is known of the runs" in caption
    assert "Nothing is hatched: no certified number is above a budget of 1,000,000" in caption


def test_growth_names_the_sizes_of_its_fit_and_the_slice_it_is_of():
    """Not those where a run failed, and not the same law of another budget."""
    specs = {d: parse(f"parity:d={d},m=2").spec for d in range(6, 13)}
    rows = []
    for examples in (100, 200):
        for d, spec in specs.items():
            usage = replace(BASE.usage, examples=d * d + examples // 100)
            one = row(spec, usage=usage, solved=d < 12, budget=Budget(examples=examples))
            rows.append(replace(one, key=f"{len(rows):064x}"))
    found = slices(table(rows))
    assert len(found) == 2
    material = Material(
        source="x",
        sha256="",
        runs=table(rows),
        slices=found,
        diagrams=(),
        certifier=Certifier(()),
        store=True,
        budgets=True,
    )
    said = [one for one in report(material).summary if "95 % interval [" in one]
    assert len(said) == 1
    assert "(200 examples)" in said[0]
    assert "over 6 sizes in 6 to 11" in said[0]


def test_a_card_says_which_end_of_a_bracket_is_claimed_and_every_condition(tmp_path):
    """Of an interval the lower end; a tolerance of many digits is there too."""
    terms = BoundParameters(tau=Fraction(1, 10**100))
    made = card([certify(parse("profile:g=majority,d=9,m=4"), terms)], terms)
    said = {one.quantity: one for one in made.claims}
    assert said["sq-dimension"].value == "2..3"
    assert "value 2, which is what is certified; upper 3)" in said["sq-dimension"].meaning
    assert "tau 1/1000000" in said["stat-queries"].meaning
    made = card([certify(parse("lwe:n=8,q=17,sigma=1"))], BoundParameters())
    said = {one.quantity: one for one in made.claims}
    assert "value 0; upper 146028888051/" in said["pairwise-correlation"].meaning
    gone = CertificateRow(
        key="00" * 32,
        spec="gone:d=8",
        terms=BoundParameters().to_dict(),
        certificate={"spec": "gone:d=8"},
    )
    with create(tmp_path / "gone.db") as writer:
        writer.write([gone])
    assert "a certificate of gone:d=8 in the store" in report_of(tmp_path / "gone.db").left_out[0]


def test_a_run_of_the_provable_learner_that_was_ended_is_left_out_of_its_stages():
    """The report is made all the same, from those that came so far."""
    found = compare("nice:m=1,k=2", "d=2..3", ("staged",), seeds=2)
    crashed = replace(found.runs[0], details={}, risk=None, outcome=Outcome.CRASHED)
    made = report_of_comparison(replace(found, runs=(crashed, *found.runs[1:])), "x")
    stages = next(chart for chart in made.charts if chart.name == "stages")
    assert stages.data["rows"]
    assert draw("stages", stages.data)


def test_families_without_a_bound_are_named_beside_those_with_one(tmp_path):
    """A catalog name has the bound of its family."""
    rows = [row(parse("parity:d=8,m=2").spec), row("gone:d=9"), row("parity-first", "queries")]
    with create(tmp_path / "mixed.db") as writer:
        writer.write([replace(one, key=f"{i:064x}") for i, one in enumerate(rows)])
    said = report_of(tmp_path / "mixed.db").summary
    assert "No bound is certified for gone." in said
    assert any(one.startswith("elimination learns from examples") for one in said)


def test_the_budget_of_a_comparison_is_in_its_file_and_its_report(tmp_path):
    """An earlier file says no budget."""
    found = compare("parity:m=2", "d=6..7", ("elimination",), seeds=1, budget=Budget(examples=900))
    write_comparison(tmp_path / "results.json", found)
    made = report_of(tmp_path)
    assert {row.budget for row in made.learners} == {"900 examples"}
    data = json.loads((tmp_path / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps(data | {"budget": {"examples": 0}}))
    with pytest.raises(DamagedFile, match="budget of examples=0"):
        report_of(tmp_path)
    del data["budget"]
    (tmp_path / "results.json").write_text(json.dumps(data))
    assert {row.budget for row in report_of(tmp_path).learners} == {"as in the command of the runs"}


def test_what_solved_below_the_information_floor_is_named():
    certificate = certify(parse("parity:d=16,m=3"))
    floor = certificate.integer("information-floor")
    rows = [("elimination:checks=32", floor - 1, 0, 0), ("elimination:checks=32", floor, 0, 0)]
    rows += [("queries", 1, 40, 0), ("mine.py:Flips", 0, 0, 16)]  # they see more than examples
    runs = DataFrame(rows, columns=["learner", "examples", "queries", "values_asked"])
    runs = runs.assign(spec=certificate.spec, solved=True)
    slices = [SimpleNamespace(comparison=SimpleNamespace(certificates=[certificate]))]
    (said,) = below_floor(SimpleNamespace(slices=slices, runs=runs))
    assert f"elimination on parity:d=16,m=3 (1 run, from {floor - 1} labels on" in said
    assert "queries" not in said
    assert "Flips" not in said
    assert below_floor(SimpleNamespace(slices=slices, runs=runs[1:])) == []
    fewer = runs.assign(values_asked=[0, 0, 0, floor - 1])  # a label that is chosen is a label
    (said,) = below_floor(SimpleNamespace(slices=slices, runs=fewer[1:]))
    assert f"Flips on parity:d=16,m=3 (1 run, from {floor - 1} labels on" in said


def test_a_stress_test_has_a_report_of_its_climbs(tmp_path):
    """Its headlines and what is certified come first, and its figure is drawn by its command."""
    own = ladder_of(["parity:d=8,m=1", "parity:d=24,m=3"])
    found = stress(["elimination", "trivial"], own, 5, base_seed=1)
    path = tmp_path / "x.json"
    write_stress(path, found)
    made = report_of(path)
    assert made.summary[0].startswith("elimination climbs your ladder to rung 2 of 2")
    assert made.summary[1].startswith("trivial holds no rung of your ladder.")
    assert "rung 2: any statistical-query learner needs" in made.summary[3]
    assert made.leading == 5
    assert f"{len(found.runs)} runs of 2 learners" in made.summary[made.leading]
    table = made.rungs.table
    assert table.header[1:] == (
        "parity",
        *("certified queries", "certified examples", "elimination", "trivial"),
    )
    least, floor = found.certified[1].queries, found.certified[1].floor
    assert table.rows[1] == ("2", "d=24,m=3", str(least), str(floor), "5/5", "not run")
    assert table.rows[2] == ("held at 96.88%", "", "", "", 2, 0)
    (pairs,) = made.paired
    assert [row[0] for row in pairs.table.rows] == ["elimination"]
    command = made.reproduce[0].command
    assert shlex.split(command)[-4:] == ["--seeds", "5", "--seed", "1"]
    assert dict(made.provenance)["base seed"].startswith("1, given")
    assert len(made.runs.rows) == len(found.runs)
    (chart,) = made.charts
    assert shlex.split(chart.command)[:4] == ["hardness", "figure", "stress", str(path)]
    assert numbers("stress", path) == {"figure": "stress", **chart.data}
    shown = page_of(made)
    assert shown.count('class="said"') == 5
    assert "certified queries" in shown
    path.write_text(path.read_text().replace('"held": 2', '"held": 1'))
    with pytest.raises(DamagedFile):
        report_of(path)


def test_the_command_of_a_stress_test_climbs_again_on_the_same_instances(hardness, tmp_path):
    call = ["stress", "--learner", "lowdegree:degree=3", "--on", "parity:d=8,m=2", "--seeds", 2]
    call += ["--reference", "elimination", "--budget-examples", 4000, "--jobs", 1, "--out"]
    assert hardness(*call, "x.json").code == 0
    command = report_of(tmp_path / "x.json").reproduce[0].command
    again = hardness(*shlex.split(command)[1:], "--out", "y.json", "--jobs", 1)
    assert again.code == 0
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("x.json", "y.json"))
    for part in ("ladder", "seeds", "base_seed", "budget"):
        assert one[part] == two[part]
    assert [(r["learner"], r["seed"]) for r in one["runs"]] == [
        (r["learner"], r["seed"]) for r in two["runs"]
    ]


def test_queries_are_told_of_learners_that_ask_alone():
    found = compare("parity:m=2", "d=6..7", ("queries", "elimination"), seeds=1)
    rows = {row.learner.partition(":")[0]: row for row in learner_rows(table(found.runs), True)}
    assert (rows["elimination"].queries, rows["elimination"].asked) == (None, "")
    assert rows["queries"].queries > 0
    assert rows["queries"].asked == "samples, tau 1/10"
