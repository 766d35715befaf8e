"""Learning curves: relative risk against what may be spent, about the least that is enough."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from statistics import median

from hardness.report.charts.runs import TITLES, about
from hardness.report.comparison import short_name
from hardness.report.plot import HIGH, WIDE, Axis, Data, named, panels, plot
from hardness.report.style import BOUND, Style, level, styles_of, wall
from hardness.runs.least import Least
from hardness.runs.risk import SOLVED_BELOW
from instances.errors import UsageError

_FLOOR = 1e-4  # what a logarithm shows of smaller risks
_MOST = 20.0  # and of larger ones


def of_curve(found: Least) -> Data:
    """Give the median risk and its range within each budget, and the threshold's interval.

    Rows are of the kind risk, of a learner at a size within a budget; least, of a learner at a
    size, null where it is not known; or floor, of a size. Raises UsageError where no curve was run.
    """
    if not found.curve:
        raise UsageError("no learning curve in these results: ask `hardness least` with --curve")
    sizes = {cell.spec: found.size_of(cell) for cell in found.cells}
    rows: list[Data] = []
    budgets = groupby(found.curve, lambda r: (r.learner, r.spec, getattr(r.budget, found.unit)))
    for (learner, spec, n), some in budgets:
        runs = list(some)
        risks = [run.risk.value for run in runs if run.risk]
        rows.append(
            {
                "kind": "risk",
                "learner": short_name(found, learner),
                "size": sizes[spec],
                "budget": n,
                "risk": median(risks) if risks else None,
                "low": min(risks, default=None),
                "high": max(risks, default=None),
                "passed": sum(run.passed for run in runs),
                "runs": len(runs),
            }
        )
    for cell in found.cells:
        low, high = cell.interval
        of = {"learner": short_name(found, cell.learner), "size": sizes[cell.spec]}
        rows.append({"kind": "least", **of, "least": cell.least, "from": low, "to": high})
    floors = dict(zip(found.specs, found.floors, strict=True))
    rows += [
        {"kind": "floor", "size": sizes[spec], "budget": n}
        for spec, n in floors.items()
        if isinstance(n, int)
    ]
    return {"spec": found.spec, "seeds": found.seeds, "unit": found.unit, "rows": rows}


def draw_curve(data: Data) -> Data:
    """Draw a panel a size: medians with ranges, intervals of thresholds, the floor, the best."""
    names = dict.fromkeys(named(r["learner"]) for r in data["rows"] if r["kind"] == "risk")
    styles = styles_of(names)
    drawn = {n: replace(one, marks=("band", "line", "point")) for n, one in styles.items()}
    charts = [
        _panel([row for row in data["rows"] if row["size"] == size], size, data["unit"], drawn)
        for size in dict.fromkeys(row["size"] for row in data["rows"] if row["kind"] == "risk")
    ]
    return panels(
        *charts,
        title=about(data),
        notes=[
            "median risk of all instances within a budget, with its range; dashed: "
            f"{SOLVED_BELOW:g}, below which a run passes; none is drawn below {_FLOOR:g}",
            "shaded: the interval of the median of the least; dotted: the certified floor",
        ],
        pick="learner",
    )


def _panel(rows: list[Data], size: str, unit: str, styles: Mapping[str, Style]) -> Data:
    risks = [row for row in rows if row["kind"] == "risk"]
    known = [row for row in rows if row["kind"] == "least" and row["least"]]
    best = min(known, key=lambda row: row["least"], default=None)
    floors = [row for row in rows if row["kind"] == "floor"]
    seen = [row[name] for row in risks for name in ("low", "high") if row[name]]
    ends = (max(min([SOLVED_BELOW, *seen]) / 2, _FLOOR), min(2 * max([1, *seen]), _MOST))

    def held(risk: float | None) -> float | None:
        return None if risk is None else min(max(risk, ends[0]), ends[1])

    shaded = [
        {
            "learner": named(row["learner"]),
            "kind": "least",
            "budget": max(row["from"], 1),
            "end": row["to"],
            "low": ends[0],
            "high": ends[1],
        }
        for row in known
        if row["to"]
    ]
    lines = [
        {**row, "learner": named(row["learner"])}
        | {n: held(row[n]) for n in ("risk", "low", "high")}
        for row in risks
    ]
    told = {"learner": "learner", TITLES[unit][1]: "budget", "median risk": "risk"}
    said = f"least of these: {named(best['learner'], 30)}, {best['least']:,}" if best else " "
    return plot(
        [
            *shaded,
            {"learner": "", "kind": "line", "risk": SOLVED_BELOW},
            *({**row, "learner": "floor"} for row in floors),
            *lines,
        ],
        x=Axis("budget", TITLES[unit][1], scale="log"),
        y=Axis("risk", "relative risk", scale="log", domain=ends),
        by="learner",
        styles={"": level(dash=(4, 3)), "floor": wall(BOUND, (1, 3), shown=False), **styles},
        kinds={"least": {"marks": ("rect",)}, "line": {}, "floor": {}, "risk": {}},
        told={**told, "least": "low", "largest": "high", "passed": "passed"},
        title={"text": size, "subtitle": [said]},
        size=(WIDE, HIGH),
    )
