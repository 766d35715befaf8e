"""Which learner wins where: cells from hand-made runs, and the map of the docs by hand."""

from itertools import product
from pathlib import Path

import pytest

from hardness.oracles import Budget
from hardness.report.charts.winners import NONE, draw_winners, of_winners
from hardness.runs.certified import Certifier
from instances.errors import UsageError
from instances.strict import read_json
from tests.charts import panels_of, rows_of, said
from tests.hardness.report.test_binding import row

DOCS = Path(__file__).parents[3] / "docs"
LEVENBERG, STAGED, TOLD, STUDENT = "levenberg", "staged", "staged:heads=2", "student:batch=64"


def spec(d, m, noise="0"):
    return f"nice:m={m},k=2,d={d},noise={noise}"


def every(name, at, *examples, solved=2, **changed):
    """Two runs of a learner on a spec, of which so many solved."""
    pairs = enumerate(zip(examples, range(2), strict=True))
    return [row(at, name, s, solved=i < solved, examples=n, **changed) for s, (n, i) in pairs]


ROWS = [
    *every(LEVENBERG, spec(4, 2), 300, 100),
    *every(TOLD, spec(4, 2), 500, 600),
    *every(LEVENBERG, spec(8, 2), 900, 900),
    *every(STAGED, spec(8, 2), 640, 640),
    *every(TOLD, spec(8, 2), 640, 640),
    *every(LEVENBERG, spec(4, 1), 100, 100, solved=1),
    *every(LEVENBERG, spec(8, 1), 100, 100, solved=0),
    *every("levenberg:examples=7000", spec(8, 1, "1/2"), 7000, 7000),
    *every(LEVENBERG, spec(8, 1, "1/2"), 100, 100, solved=0),
    *every(STUDENT, spec(8, 1, "1/2"), 8000, 8000, budget=Budget(examples=8000)),
    *every(STUDENT, spec(8, 1, "1/2"), 1000, 1000, solved=0, budget=Budget(examples=1000)),
]


def shown(data):
    """The two lines of each cell by noise, d and m."""
    drawn = zip(("0", "1/2"), panels_of(draw_winners(data)), strict=True)
    return {
        (noise, one["x"], one["y"]): (one["first"], one["second"], one["winner"])
        for noise, panel in drawn
        for one in rows_of(panel)
    }


def test_every_kind_of_cell():
    data = of_winners(ROWS, Certifier(()))
    assert data["learners"] == ["levenberg", "staged:heads=m", "staged", "student:batch=64"]
    assert (data["x"], data["y"], data["free"], data["budgets"]) == (
        "d",
        "m",
        ["noise"],
        [1000, 8000],
    )
    assert shown(data) == {
        ("0", "4", "2"): ("● 200", "▲", "● levenberg"),  # a median
        ("0", "8", "2"): ("▲■ 640", "●", "▲ staged:heads=m"),
        ("0", "4", "1"): (NONE, "● 0.50", NONE),
        ("0", "8", "1"): (NONE, "● 1.00", NONE),
        ("1/2", "8", "1"): (
            "● 7,000",
            "▼",
            "● levenberg",
        ),  # with the number that was told to solve
    }
    words = said("winners", data).replace(" | ", " ")
    for one in (
        "below 0.05, on 2 of 2 layers",
        "1,000 or 8,000 examples each",
        "▼ student:batch=64",
    ):
        assert one in words


def test_what_a_figure_has_no_room_for_is_refused():
    sizes = product((4, 6), (1, 2), range(2, 15))
    noises = [row(spec(d, m, f"1/{n}"), LEVENBERG) for d, m, n in sizes]
    alone = [row(spec(d, 1), LEVENBERG) for d in (4, 6)]
    mixed = [*ROWS, row("parity:d=8,m=2", "student")]
    for rows, why in ((mixed, "2 families"), (alone, "over two"), (noises, "13 panels")):
        with pytest.raises(UsageError, match=why):
            of_winners(rows, Certifier(()))


def test_the_map_of_the_docs_is_that_of_its_rows():
    """Each winner once more from the rows alone; every cell was tried by all four."""
    data = read_json(DOCS / "data/winners.json")
    tried = {}
    for one in data["rows"]:
        place = tuple(one[name] for name in ("coherence", "noise", "d", "m"))
        tried.setdefault(place, {})[one["learner"]] = one
    values = (("0", "0.9"), ("0", "0.3", "3"), ("4", "8", "12"), ("1", "2", "4"))
    assert {*tried} == {*product(*values)}
    assert all(set(of) == set(data["learners"]) for of in tried.values())
    panels = panels_of(draw_winners(data))
    for (coherence, noise), panel in zip(product(*values[:2]), panels, strict=True):
        for cell in rows_of(panel):
            of = tried[coherence, noise, cell["x"], cell["y"]].values()
            solved = {one["learner"]: one["examples"] for one in of if one["passed"] == one["runs"]}
            least = min(solved.values(), default=None)
            first = {name for name, examples in solved.items() if examples == least} or {NONE}
            assert cell["winner"].removeprefix(cell["first"][0] + " ") in first
