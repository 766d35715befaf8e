"""Thresholds in words: a table, how its numbers are known, and what was not found."""

from hardness.bounds.quantities import VACUOUS
from hardness.report.comparison import scaling_words
from hardness.report.text import bound, number, table, wrap
from hardness.runs.least import End, Least, LeastCell

_SHOWN = ("interval", "range")
_HEADER = ("learner", "size", "least", *_SHOWN, "floor", "ratio")
_ENDS: dict[End, str] = {
    "over": "found none within what a run, or all runs of a search, may spend",
    "unconfirmed": "passed where the most of a run leaves no room for three octaves",
    "own-limit": "failed and stopped with budget left, at twice the budget too",
    "no-answer": "met a run that seconds, memory or the machine ended, which says nothing",
}


def least_words(thresholds: Least) -> str:
    """Write thresholds: the table, how it is known, what was not found, how they grow."""
    parts = [least_table(thresholds), "\n".join(map(wrap, notes(thresholds)))]
    return "\n\n".join(filter(None, [*parts, scaling_words(thresholds)]))


def least_table(thresholds: Least) -> str:
    """Write a row a learner and size, learners in the order asked."""
    rows, seen = [], set[str]()
    every = zip(thresholds.cells, thresholds._rows(), strict=True)
    for one, row in sorted(every, key=lambda pair: thresholds.learner_names.index(pair[0].learner)):
        floor, ratio = str(row["floor"] or "-"), number(row["ratio"]) if row["ratio"] else "-"
        if isinstance(row["floor"], int):
            floor = bound(thresholds.quantity, row["floor"])
        shown = [str(row[name]) for name in _SHOWN]
        first = "" if one.learner in seen else str(row["learner"])
        size = str(row["size"]) if thresholds.parameter else "-"
        rows.append([first, size, _least(one), *shown, floor, ratio])
        seen.add(one.learner)
    return table(_HEADER, rows)


def _least(cell: LeastCell) -> str:
    """Write the median threshold; where half have none, what it is above, or why none is known."""
    if cell.least is not None:
        return str(cell.least)
    if 2 * cell.ends["own-limit"] >= len(cell.thresholds):
        return "none"
    if low := cell.interval[0]:
        return f"> {low}"
    return "no answer" if cell.ends["no-answer"] else "over"


def notes(thresholds: Least) -> list[str]:
    """Say how the numbers are known, and what was not found; a line each."""
    unit, confidence = thresholds.unit, float(100 * thresholds.cells[0].confidence)
    said = [
        f"With {confidence:.3g} % confidence the median threshold in {unit} lies in the interval, "
        f"from {thresholds.seeds} random instances; `least` is the estimate. A run solves if "
        "its risk is below 0.05 with 95 % confidence."
    ]
    certified = {thresholds.floor_of(cell) for cell in thresholds.cells} - {None, VACUOUS}
    if certified and thresholds.quantity == "information-floor":
        said[0] += (
            " With fewer examples than the certified floor, every learner reaches risk 0.05 with "
            "probability below 0.45."
        )
    elif certified and thresholds.quantity:
        said[0] += (
            " With fewer queries than the certified floor, no learner by such queries "
            "reaches risk 0.05 with probability 0.45 against worst-case answers within "
            f"{thresholds.tau}; answers here are sampled, for which fewer may be enough."
        )
    names = dict(zip(thresholds.learner_names, thresholds.learners, strict=True))
    for one in thresholds.cells:
        name = names[one.learner] + (
            f" at {thresholds.size_of(one)}" if thresholds.parameter else ""
        )
        if raised := [t for each in one.thresholds for t in each.tried if t.how == "raised"]:
            said += [
                f"{name}: {len(raised)} runs raised an exception or exited, and count as failed: "
                f"see `hardness learn {names[one.learner]} {one.spec} --budget-{unit} "
                f"{raised[-1].n}`."
            ]
        said += [
            f"{name}: {one.ends[end]} of {thresholds.seeds} {told}"
            + (f" ({thresholds.most} {unit} a run)." if end == "over" else ".")
            for end, told in _ENDS.items()
            if one.ends[end]
        ]
    return said
