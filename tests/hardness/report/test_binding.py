"""What binds whom: each kind of cell from hand-made runs, and no bound where it does not bind."""

import json
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from hardness.lower import BoundParameters, certify
from hardness.oracles import Budget
from hardness.oracles.budget import Usage
from hardness.report.charts.binding import ROWS, bound_words, certified, draw_binding, of_binding
from hardness.report.figures import draw, numbers
from hardness.runs.certified import Certifier
from hardness.runs.names import brief_spec
from hardness.runs.run import run
from hardness.upper import Outcome, parse_learner
from hardness.upper.classes import CLASSES
from instances import parse
from instances.errors import DamagedFile, UsageError
from instances.spec import FAMILIES
from instances.strict import read_json
from tests.charts import rows_of, said
from tests.conftest import script
from tests.hardness.sweep.here import sweep_here

PARITY = "parity:d=16,m=4"
RAW = "direction:m=4,d=64,labels=raw"
HARD = "parity:d=20,m=3,noise=0.45"
SPECS = (PARITY, HARD, "profile:g=majority,d=8,m=3", RAW, "nice:m=2,k=2,d=6")
BASE, LOST = (
    run(parse_learner(name), parse("parity:d=8,m=2").instance(0), Budget())
    for name in ("elimination", "trivial")
)


def row(spec, learner, seed=0, solved=True, **changed):
    """A hand-made run; queries, examples and values by these names."""
    counts = {name: changed.pop(name, 0) for name in ("examples", "queries", "values")}
    base = BASE if solved else LOST
    usage = Usage(**counts, seconds=0.1, peak_bytes=1)
    family = parse(spec) if ".py" not in spec else None
    spec = family.spec if family else spec
    return replace(base, spec=spec, learner=learner, seed=seed, usage=usage, **changed)


ROWS_OF_EACH = [
    *(row(PARITY, "queries", s, queries=q) for s, q in enumerate((300, 100, 200))),
    *(row(PARITY, "pooled", s, queries=q) for s, q in enumerate((150, 160, 170))),
    *(row(PARITY, "student", s, solved=s < 1, examples=7) for s in range(3)),
    *(row(PARITY, "flips", s, values=16) for s in range(3)),
    row(PARITY, "elimination", outcome=Outcome.CRASHED, risk=None),
    row(PARITY, "trivial", solved=False),
    row(PARITY, "mine.py:Net", examples=5),
    row(PARITY, "yours.py:Net", values=5),
    *(row(spec, "student", solved=False, examples=9) for spec in SPECS[1:]),
]


def data_of(rows=ROWS_OF_EACH):
    return of_binding(rows, Certifier(()))


def lines_of(data):
    """The cells of each spec by their class."""
    found = {}
    for cell in data["rows"]:
        found.setdefault(cell["spec"], {})[cell["class"]] = cell
    return found


def test_every_kind_of_cell():
    """The best of each class by its own unit; what was not tried, and what nobody takes."""
    data = data_of()
    lines = lines_of(data)
    assert list(lines) == [PARITY, HARD, "profile:g=majority,d=8,m=3", RAW, SPECS[-1]]
    cells = lines[PARITY]
    asked = cells["statistical queries"]
    assert (asked["state"], asked["learner"], asked["cost"]) == ("solved", "pooled", 160)
    assert (cells["gradient"]["state"], cells["gradient"]["passed"]) == ("partly", 1)
    assert cells["membership"]["learner"] == "yours.py:Net"  # it asked for labels of its tokens
    assert cells["lattice"]["state"] == "could not run"
    assert cells["examples"]["state"] == "not tried"  # the baseline is no learner
    assert data["unclassed"] == ["mine.py:Net"]
    raw = lines[RAW]
    assert raw["statistical queries"]["state"] == "no learner takes it"
    assert raw["gradient"]["state"] == "not solved"
    text = said("binding", data)
    for part in ("● pooled 160", "◐ student 7", "● flips", "× elimination", "○ student, risk"):
        assert (part in text) is (part != "● flips")


def test_numbers_are_those_of_certificates_and_stand_where_they_bind():
    """By the claims themselves: of statistical queries, and of labels, drawn or chosen."""
    data = data_of()
    for spec, line in lines_of(data).items():
        if parse(spec).hardness.evidence != "exact":
            assert all(cell["quantity"] is None for cell in line.values())
            continue
        claims = {one.quantity: str(one.value) for one in certify(parse(spec)).claims}
        for name, cell in line.items():
            if name == "statistical queries":
                assert cell["quantity"] == ("csq-queries" if spec == RAW else "stat-queries")
                assert cell["value"] == (None if spec == HARD else claims[cell["quantity"]])
            elif cell["quantity"]:
                assert cell["quantity"] == "information-floor"
                assert cell["value"] == claims["information-floor"]
            else:
                assert "information-floor" not in claims
    raw = {one.quantity: one.value for one in certify(parse(RAW)).claims}["csq-queries"]
    words = [bound_words(line["statistical queries"]) for line in lines_of(data).values()]
    wanted = ["certified ≥ 37", "certified: none enough", "certified: vacuous"]
    assert words == [*wanted, f"correlational ≥ {int(raw):,}", "no bound"]


@pytest.mark.parametrize(
    ("column", "quantity"),
    [
        ("membership", "csq-queries"),
        ("gradient", "stat-queries"),
        ("statistical queries", "information-floor"),
        ("oracles", "stat-queries"),
    ],
)
def test_a_bound_in_a_column_that_it_does_not_bind_is_not_drawn(column, quantity):
    data = data_of()
    draw_binding(data)
    cell = lines_of(data)[PARITY].get(column, data["rows"][0])
    cell |= {"class": column, "quantity": quantity, "value": "37"}
    with pytest.raises(DamagedFile, match=f"{quantity} in the column {column}"):
        draw_binding(data)


def test_queries_and_labels_are_bound_apart():
    for of in CLASSES.values():
        assert all(q.endswith("queries") for q in of.bound_by) is (of.cost == "queries")


def test_terms_are_those_that_the_store_has(tmp_path, monkeypatch, hardness):
    """A sweep of another tolerance is drawn with its own certificates; the command draws it."""
    text = """
        format = "hardness-sweep/1"
        name = "two"
        seeds = 1
        [[runs]]
        spec = ["parity:d=10,m=2", "lpn:n=6,noise=0.1"]
        learners = ["elimination", "flips"]
        tau = "1/20"
    """
    sweep_here(monkeypatch, text, tmp_path / "two.db")
    data = numbers("binding", tmp_path / "two.db")
    assert data["tau"] == "1/20"
    wanted = certify(parse("parity:d=10,m=2"), BoundParameters(tau=Fraction(1, 20))).value(
        "stat-queries"
    )
    cells = lines_of(data)["parity:d=10,m=2"]
    assert cells["statistical queries"]["value"] == str(wanted)
    assert cells["membership"]["learner"] == "flips"
    made = hardness("figure", "binding", tmp_path / "two.db", "--json")
    assert json.loads(made.out) == data
    assert hardness("figure", "binding", tmp_path / "two.db", "--out", "b.png").code == 0


def test_queries_that_were_answered_in_several_ways_are_refused():
    rows = [
        row(PARITY, "queries", details={"oracle": "samples", "tau": tau}) for tau in ("1/10", "1/9")
    ]
    assert data_of(rows[1:])["tau"] == "1/9"
    with pytest.raises(UsageError, match="several ways, oracle=samples, tau=1/10; oracle"):
        data_of(rows)


def test_runs_of_too_many_specs_are_refused():
    many = [row(f"parity:d={d},m=2", "flips") for d in range(8, 9 + ROWS)]
    with pytest.raises(UsageError, match=f"runs of {ROWS + 1} specs"):
        data_of(many)


def test_the_table_of_the_docs_is_printed_from_the_numbers_of_its_picture():
    root = Path(__file__).parents[3]
    module = script("benchmarks/tables.py")
    data = read_json(module.DATA)
    page = (root / "docs/binding.md").read_text().splitlines()
    assert {f"| {' | '.join(row)} |" for row in module.binding(data)} < set(page)
    swept = tomllib.loads((root / "docs/examples/binding.toml").read_text())["runs"]
    names = [one["spec"] for one in swept]
    specs = [spec for one in names for spec in ([one] if isinstance(one, str) else one)]
    assert {row["spec"] for row in data["rows"]} == {brief_spec(parse(one).spec) for one in specs}
    assert {spec.partition(":")[0] for spec in specs} == set(FAMILIES) - {"teacher"}
    for one, line in lines_of(data).items():  # certified again: families may have moved on
        family = parse(one)
        made = certify(family) if family.hardness.evidence == "exact" else None
        for name, cell in line.items():
            assert certified(CLASSES[name], made, Fraction(2, 3)).items() <= cell.items()


def test_specs_of_files_and_long_names_are_drawn():
    """Nothing of the file is run, and no name is wider than its cell."""
    rows = [
        row("mine.py:Family:d=8", "student", examples=10**9),
        row("mine.py:Family:d=8", "a/long/way/" + "w" * 80 + ".py:Net", values=10**8),
    ]
    data = data_of(rows)
    assert data["rows"][-1]["state"] == "not tried"
    assert b"<svg" in draw("binding", data)
    lines = [
        each["measured"] for each in rows_of(draw_binding(data)) if each.get("state") == "solved"
    ]
    assert max(map(len, lines)) <= 25
