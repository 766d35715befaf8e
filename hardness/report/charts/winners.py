"""Over a family's parameters, which learner solves with the fewest examples."""

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from hardness.report.charts.phase import LOOKS, SHARE, cell_of
from hardness.report.plot import Axis, Data, cells, named, panels
from hardness.report.style import COLOURS, GREY, pale
from hardness.report.text import shown_risk
from hardness.runs.cells import tally
from hardness.runs.certified import Certifier
from hardness.runs.columns import numbers_of, parameters_of
from hardness.runs.names import brief_spec, short
from hardness.runs.run import SOLVED_BELOW, Run
from hardness.runs.slices import axes
from instances.errors import UsageError
from instances.parameters import plain

PANELS = 12  # of a figure
NONE = "none found"
_MARKS = "●▲■▼◊○"  # which fonts have
_WIDE, _HIGH = 74, 36  # pixels of a cell


def of_winners(runs: Iterable[Run], certifier: Certifier) -> Data:
    """Give, for every spec and learner, whether it solved, with how many examples; its median risk.

    A learner solved where at least `SHARE` of its runs did; of several budgets, or numbers of
    examples that it was told to take, that counts at which it took the fewest, in the median of the
    runs that solved. One that is told the number of heads is called heads=m, whatever m is. Raises
    UsageError for runs of several families, and for more panels or learners than a figure has room
    for. certifier: not asked.
    """
    del certifier
    groups: dict[tuple[str, str], dict[object, list[Run]]] = {}
    for run in runs:
        by_budget = groups.setdefault((run.spec, _label(run)), {})
        of = (run.learner, run.budget, tuple(run.revisions.items()))
        by_budget.setdefault(of, []).append(run)
    specs = list(dict.fromkeys(spec for spec, _ in groups))
    learners = list(dict.fromkeys(name for _, name in groups))
    families = {spec.partition(":")[0] for spec in specs}
    if len(families) != 1:
        raise UsageError(
            f"it has runs of {len(families)} families: figure winners is of one: sweep that into a "
            "store of its own"
        )
    x, y = axes(specs)
    varied = _varied(specs)
    if not {x, y} <= {*varied}:
        raise UsageError("its specs differ in one number at most: figure winners is over two")
    free = [name for name in varied if name not in (x, y)]
    budgets = {run.budget.examples for one in groups.values() for b in one.values() for run in b}
    data: Data = {
        "spec": brief_spec(specs[0], x, y, *free),
        "x": x,
        "y": y,
        "free": free,
        "share": str(SHARE),
        "learners": learners,
        "budgets": sorted(b for b in budgets if b is not None),
        "seeds": max(len(some) for one in groups.values() for some in one.values()),
        "rows": [
            {
                **{name: _text(parameters_of(spec).get(name)) for name in (*free, x, y)},
                "learner": name,
                **_best(one.values()),
            }
            for (spec, name), one in groups.items()
        ],
    }
    count = len({tuple(row[name] for name in free) for row in data["rows"]})
    if count > PANELS or len(learners) > len(_MARKS):
        raise UsageError(
            f"{count} panels and {len(learners)} learners: figure winners has room for {PANELS} "
            f"and {len(_MARKS)}: sweep fewer into a store of their own"
        )
    return data


def _label(run: Run) -> str:
    heads = numbers_of(run.spec).get("m")
    name = re.sub(r"\bexamples=\d+,?", "", short(run.learner)).rstrip(",:")
    return re.sub(rf"\bheads={heads}\b", "heads=m", name)


def _varied(specs: Sequence[str]) -> list[str]:
    every = [parameters_of(spec) for spec in specs]
    return [name for name in every[0] if len({one.get(name) for one in every}) > 1]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else plain(value or 0)


def _best(budgets: Iterable[list[Run]]) -> Data:
    tried: list[Data] = []
    for runs in budgets:
        cell = cell_of(runs, runs[0].spec) or {}
        kept = {name: cell[name] for name in ("state", "passed", "runs")}
        risks = [run.risk.value for run in runs if run.risk]
        risk = median(risks) if risks else None
        tried.append({**kept, "examples": tally(runs).examples, "risk": risk})
    return min(tried, key=_rank)


def _rank(cell: Data) -> tuple[bool, float]:
    risk = math.inf if cell["risk"] is None else cell["risk"]
    return (False, cell["examples"]) if cell["state"] == "solved" else (True, risk)


def draw_winners(data: Data) -> Data:
    """Draw a panel for each value of the other parameters: in a cell who won, and who else solved.

    Several that took as few examples win together, and the cell has the colour of the first.
    """
    marks = dict(zip(data["learners"], _MARKS, strict=False))
    called = {name: f"{mark} {named(name)}" for name, mark in marks.items()}
    by_panel: dict[tuple[str, ...], dict[tuple[str, str], list[Data]]] = {}
    for row in sorted(data["rows"], key=lambda row: data["learners"].index(row["learner"])):
        of = by_panel.setdefault(tuple(row[name] for name in data["free"]), {})
        of.setdefault((row[data["x"]], row[data["y"]]), []).append(row)
    order = sorted(by_panel, key=lambda of: tuple(map(_number, of)))
    shown = {of: [_won(at, some, called) for at, some in by_panel[of].items()] for of in order}
    faces = {name: pale(COLOURS[i]) for i, name in enumerate(called.values())}
    faces[NONE] = LOOKS["not solved"][0]
    every = [row for some in shown.values() for row in some]
    kept = [name for name in faces if any(row["winner"] == name for row in every)]
    names = {axis: sorted({row[axis] for row in every}, key=_number) for axis in ("x", "y")}
    colour = {
        "field": "winner",
        "type": "nominal",
        "scale": {"domain": kept, "range": [faces[name] for name in kept]},
        "legend": {
            "title": None,
            "symbolType": "square",
            "symbolStrokeColor": GREY,
            "columns": 1,
        },
    }
    budgets = " or ".join(f"{one:,}" for one in data["budgets"])
    enough = math.ceil(Fraction(data["share"]) * data["seeds"])
    others = ", ".join(name for name in called.values() if name not in kept)
    return panels(
        *(
            cells(
                shown[of],
                x=Axis("x", named(data["x"]), scale="names", names=names["x"]),
                y=Axis("y", named(data["y"]), scale="names", names=names["y"][::-1]),
                colour=colour,
                says={"first": {"dy": -7, "fontWeight": "bold"}, "second": {"dy": 8}},
                told={data["x"]: "x", data["y"]: "y", "winner": "winner", "solved by": "solved"},
                title=", ".join(f"{n} {v}" for n, v in zip(data["free"], of, strict=True)),
                size=(_WIDE * len(names["x"]), _HIGH * len(names["y"])),
            )
            for of in order
        ),
        title=f"{named(data['spec'], 60)}: who solves with the fewest examples",
        notes=[
            "upper line: the learner that took the fewest examples, and how many; lower line: who "
            "else solved",
            f"solved: the whole interval of the risk below {SOLVED_BELOW}, on {enough} of "
            f"{data['seeds']} layers" + (f", with at most {budgets} examples each" * bool(budgets)),
            "none found: who came nearest, and with what median risk",
            *([f"also here: {others}"] if others else []),
        ],
        columns=len({of[-1] for of in order}) if data["free"] else 1,
    )


def _number(text: str) -> tuple[bool, float, str]:
    """Sort numbers, as parameters are written, before words."""
    top, _, bottom = text.partition("/")
    try:
        return False, float(top) / float(bottom or 1), text
    except (ValueError, ZeroDivisionError):
        return True, 0.0, text


def _won(at: tuple[str, str], rows: list[Data], called: dict[str, str]) -> Data:
    """Say who won a cell: the first of those with the fewest examples, all with their marks."""
    solved = [row for row in rows if row["state"] == "solved"]
    place = {"x": at[0], "y": at[1]}
    marks = {name: said[0] for name, said in called.items()}
    if not solved:
        near = min(rows, key=_rank)
        known = near["risk"] is not None
        said = f"{marks[near['learner']]} {shown_risk(near['risk'])}" if known else ""
        return {**place, "winner": NONE, "first": NONE, "second": said, "solved": NONE}
    least = min(row["examples"] for row in solved)
    first = [row["learner"] for row in solved if row["examples"] == least]
    return {
        **place,
        "winner": called[first[0]],
        "first": f"{''.join(marks[name] for name in first)} {least:,.0f}",
        "second": " ".join(marks[row["learner"]] for row in solved if row["learner"] not in first),
        "solved": ", ".join(f"{row['learner']} {row['examples']:,.0f}" for row in solved),
    }
