"""Thresholds in words: a table, its terms, and the searches that found no threshold."""

from hardness.bounds.quantities import VACUOUS
from hardness.report.comparison import scaling_words
from hardness.report.text import bound, number, table, wrap
from hardness.runs.least import Least, LeastCell, SearchEnd

_BRACKETS = ("interval", "range")
_HEADER = ("learner", "size", "least", *_BRACKETS, "floor", "ratio")
_ENDS: dict[SearchEnd, str] = {
    "over": "found none within what a run, or all runs of a search, may spend",
    "unconfirmed": "passed where the most of a run leaves no room for three octaves",
    "own-limit": "failed and stopped with budget left, at twice the budget too",
    "no-answer": "met a run that seconds, memory or the machine ended, which says nothing",
}


def least_words(thresholds: Least) -> str:
    """Write thresholds: the table, notes on it, and the fitted growth."""
    parts = [least_table(thresholds), "\n".join(map(wrap, notes(thresholds)))]
    return "\n\n".join(filter(None, [*parts, scaling_words(thresholds)]))


def least_table(thresholds: Least) -> str:
    """Write a table with a row for each learner and size, ordered by learner."""
    rows, seen, order = [], set[str](), thresholds.learner_names
    pairs = zip(thresholds.cells, thresholds._rows(), strict=True)
    for cell, row in sorted(pairs, key=lambda pair: order.index(pair[0].learner)):
        floor, ratio = str(row["floor"] or "-"), number(row["ratio"]) if row["ratio"] else "-"
        if isinstance(row["floor"], int):
            floor = bound(thresholds.quantity, row["floor"])
        brackets = [str(row[name]) for name in _BRACKETS]
        name = "" if cell.learner in seen else str(row["learner"])
        size = str(row["size"]) if thresholds.parameter else "-"
        rows.append([name, size, _median_text(cell), *brackets, floor, ratio])
        seen.add(cell.learner)
    return table(_HEADER, rows)


def _median_text(cell: LeastCell) -> str:
    """Write the median threshold, or if there is none, a lower bound or the reason."""
    if cell.least is not None:
        return str(cell.least)
    if 2 * cell.ends["own-limit"] >= len(cell.thresholds):
        return "none"
    if low := cell.interval[0]:
        return f"> {low}"
    return "no answer" if cell.ends["no-answer"] else "over"


def notes(thresholds: Least) -> list[str]:
    """Return a sentence on the terms of the numbers, and one for each kind of failed searches."""
    unit, confidence = thresholds.unit, float(100 * thresholds.cells[0].confidence)
    sentences = [
        f"With {confidence:.3g} % confidence the median threshold in {unit} lies in the interval, "
        f"from {thresholds.seeds} random instances; `least` is the estimate. A run solves if "
        "its risk is below 0.05 with 95 % confidence."
    ]
    certified = {thresholds.floor_of(cell) for cell in thresholds.cells} - {None, VACUOUS}
    if certified and thresholds.quantity == "information-floor":
        sentences[0] += (
            " With fewer examples than the certified floor, every learner reaches risk 0.05 with "
            "probability below 0.45."
        )
    elif certified and thresholds.quantity:
        sentences[0] += (
            " With fewer queries than the certified floor, no learner by such queries "
            "reaches risk 0.05 with probability 0.45 against worst-case answers within "
            f"{thresholds.tau}; answers here are sampled, for which fewer may be enough."
        )
    names = dict(zip(thresholds.learner_names, thresholds.learners, strict=True))
    for cell in thresholds.cells:
        name = names[cell.learner] + (
            f" at {thresholds.size_of(cell)}" if thresholds.parameter else ""
        )
        if raised := [t for one in cell.thresholds for t in one.trials if t.end == "raised"]:
            sentences += [
                f"{name}: {len(raised)} runs raised an exception or exited, and count as failed: "
                f"see `hardness learn {names[cell.learner]} {cell.spec} --budget-{unit} "
                f"{raised[-1].n}`."
            ]
        sentences += [
            f"{name}: {cell.ends[end]} of {thresholds.seeds} {words}"
            + (f" ({thresholds.run_limit} {unit} a run)." if end == "over" else ".")
            for end, words in _ENDS.items()
            if cell.ends[end]
        ]
    return sentences
