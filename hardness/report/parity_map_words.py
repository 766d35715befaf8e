"""The map of a noisy parity in words: its curves at their ends, its runs, what follows."""

import math
from statistics import median
from textwrap import fill

from hardness.report.charts.parity_map import kind, solved
from hardness.report.text import big, number, table
from hardness.runs.names import brief_spec
from hardness.runs.noisy_parity import Map
from hardness.runs.parity_curves import Curve, Mark
from instances.capabilities import NOISY_PARITIES
from instances.spec import parse_stored

_WIDTH = 80


def map_words(found: Map) -> str:
    """Write the map as two tables and a few sentences, in lines of at most 80 columns."""
    family = parse_stored(found.spec)
    size = NOISY_PARITIES.need(family).size
    head = f"{brief_spec(found.spec)}: {big(size)} members, success {found.success}"
    parts = [fill(head, _WIDTH), _curves(found)]
    if found.runs:
        parts.append(_runs(found))
    parts.append("\n".join(fill(line, _WIDTH, subsequent_indent="  ") for line in _said(found)))
    return "\n\n".join(parts)


_TAKEN = ("algorithm", "low-degree")


def _curves(found: Map) -> str:
    rows = []
    for curve in found.curves:
        for i, mark in enumerate(_shown(curve)):
            rows.append(
                [
                    "" if i else curve.name,
                    # Of bounds from below, rounded down.
                    number(mark.examples) if curve.role in _TAKEN else big(int(mark.examples)),
                    "-" if mark.seconds is None else number(mark.seconds),
                    mark.note or curve.known,
                ]
            )
    notes = [
        f"{curve.name}: {curve.known} [{curve.source}]; {curve.says}"
        for curve in found.curves
        if curve.marks
    ]
    lines = [fill(note, _WIDTH, subsequent_indent="  ") for note in notes]
    return "\n".join([table(["curve", "examples", "seconds", "what"], rows), "", *lines])


def _shown(curve: Curve) -> list[Mark]:
    """The marks that say what a curve is: a few, both ends among them."""
    marks = list(curve.marks)
    if curve.role == "low-degree":
        return marks[:4]
    if curve.role == "queries":
        return marks[:1]
    return marks if len(marks) < 4 else [marks[0], marks[len(marks) // 2], marks[-1]]


def _runs(found: Map) -> str:
    rows = []
    for learner in dict.fromkeys(run.learner for run in found.runs):
        runs = [run for run in found.runs if run.learner == learner]
        outcomes = [run.outcome.value for run in runs]
        ended = ", ".join(f"{outcomes.count(o)} {o}" for o in dict.fromkeys(outcomes))
        rows.append(
            [
                kind(learner),
                f"{sum(solved(r.secret_recovered, r.outcome) for r in runs)}/{len(runs)}",
                number(median(r.usage.examples for r in runs)),
                number(median(r.usage.seconds for r in runs)),
                ended,
            ]
        )
    return table(["measured", "found", "examples", "seconds", "ended"], rows)


def _said(found: Map) -> list[str]:
    """Say what beat what, and what is not claimed."""
    floor, enough = (
        found.of(name).marks[0].examples for name in ("information floor", "union bound")
    )
    said = [
        f"examples: below {floor:.0f} no learner names the set with probability {found.success}, "
        f"from {enough:.0f} on maximum likelihood does, both proven for examples of the layer, of "
        "which a binomial number is open"
    ]
    best = _quickest(found)
    if best:
        name, seconds = best
        said.append(f"measured: {name} was the quickest, {number(seconds)} s (median)")
        for other, what in (("brute force", "trying all"), ("statistical queries", "passes")):
            curve = found.of(other)
            if curve.marks and (curve.marks[0].seconds or 0.0) > seconds:
                times = (curve.marks[0].seconds or 0.0) / seconds
                count = curve.marks[0].note
                said[-1] += f"; {what}, {count}, takes {number(_round(times))} times as long"
    said += [f"left out: {name}: {why}" for name, why in found.left_out.items()]
    return [
        *said,
        "not claimed: that nothing is quicker than what is drawn; that statistical queries bind "
        "elimination, which asks none; that a query must take a pass; that a low-degree threshold "
        "binds other tests, or names a set where it is passed",
        f"seconds: one core, {found.rates.machine}, rates and runs measured one after another; "
        "curves leave out what calls take, some milliseconds",
    ]


def _round(value: float) -> float:
    return float(f"{value:.2g}")


def _quickest(found: Map) -> tuple[str, float] | None:
    """The learner that found every set in the least median time."""
    best = None
    for learner in dict.fromkeys(run.learner for run in found.runs):
        runs = [run for run in found.runs if run.learner == learner]
        if not all(solved(r.secret_recovered, r.outcome) for r in runs):
            continue
        seconds = median(r.usage.seconds for r in runs)
        if seconds < (best[1] if best else math.inf):
            best = (kind(learner), seconds)
    return best
