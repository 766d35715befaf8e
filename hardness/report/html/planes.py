"""Phase diagrams of a page: what is said of a cell, and where cells are for another budget."""

import re
from typing import Any

from hardness.report.html.text import harmless
from hardness.report.panels import Panel
from hardness.report.phase import Data, certified_queries
from hardness.report.phase_figure import INFEASIBLE

_FRAME = re.compile(
    r'<clipPath[^>]*><rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"'
)
_MOVED = re.compile(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)")


def told(data: Data, panels: tuple[Panel, ...]) -> dict[str, Any]:
    """Collect for the script the cells of a phase diagram, in words and with what is certified.

    frames: of each panel the left, upper edge, width and height of its grid. certified: by row,
    from below, and column the queries that are needed, as text, for they may be of any size; none
    where nothing is certified, or what is says nothing.
    series: the number of what is infeasible; one more than are drawn where nothing is at the
    figure's own budget, but may be at another, and -1 where nothing is certified.
    """
    names = [series.name for series in panels[0].series] if panels else []
    frames = [_frame(panel) for panel in panels]
    learners = data["learners"][: len(panels)]
    certified = [
        [certified_queries(data, i, j) for j in range(len(data["xs"]))]
        for i in range(len(data["ys"]))
    ]
    if INFEASIBLE not in names and any(cell for line in certified for cell in line):
        names.append(INFEASIBLE)
    return {
        "budget": str(data["query_budget"]),
        "series": names.index(INFEASIBLE) if INFEASIBLE in names else -1,
        "certified": certified,
        "hatched": [one["asks"] and data["quantity"] == "stat-queries" for one in learners],
        "frames": frames,
        "points": [_points(data, one, frame) for one, frame in zip(learners, frames, strict=False)],
    }


def _frame(panel: Panel) -> list[float]:
    """Find the grid of a panel: what its marks are clipped to."""
    frame, moved = _FRAME.search(panel.svg), _MOVED.search(panel.svg)
    if frame is None:
        return []
    left, top, width, height = map(float, frame.groups())
    x, y = map(float, moved.groups()) if moved else (0.0, 0.0)
    return [round(left + x, 2), round(top + y, 2), width, height]


def _points(data: Data, learner: Data, frame: list[float]) -> list[list[Any]]:
    """Say each cell in words, at its middle."""
    if not frame:
        return []
    left, top, width, height = frame
    wide, high = width / len(data["xs"]), height / len(data["ys"])
    found = []
    for i, line in enumerate(learner["cells"]):
        for j, cell in enumerate(line):
            if cell is None:
                continue
            where = [f"{data['x']} = {data['xs'][j]}"]
            where += [f"{data['y']} = {data['ys'][i]}"] if data["y"] else []
            bound = certified_queries(data, i, j)
            said = f"{', '.join(where)}: {cell['passed']} of {cell['runs']} passed, {cell['state']}"
            if data["certified"][i][j] and data["quantity"] == "stat-queries":
                said += (
                    f"; certified: at least {short(bound)} queries"
                    if bound
                    else ("; the certified bound is vacuous")
                )
            x, y = left + (j + 0.5) * wide, top + height - (i + 0.5) * high
            found.append([-1, round(x, 1), round(y, 1), harmless(said)])
    return found


def short(digits: str) -> str:
    """Write a positive integer of any size, given by its digits.

    >>> short("15"), short("1" + "0" * 50)
    ('15', '1.00e+50')
    """
    return digits if len(digits) <= 12 else f"{digits[0]}.{digits[1:3]}e+{len(digits) - 1}"
