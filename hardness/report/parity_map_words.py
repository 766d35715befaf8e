"""The map of a noisy parity in words: its curves at their ends, its runs, what follows."""

from collections import Counter
from statistics import median
from textwrap import fill

from hardness.report.text import big, number, table
from hardness.runs.names import brief_spec
from hardness.runs.noisy_parity import Map, found_set
from hardness.runs.parity_curves import Curve, Mark
from hardness.runs.run import Run
from instances.capabilities import NOISY_PARITIES
from instances.spec import parse_stored

_WIDTH = 80


def map_words(found: Map) -> str:
    """Write the map as two tables and a few sentences, in lines of at most 80 columns."""
    size = NOISY_PARITIES.need(parse_stored(found.spec)).size
    head = f"{brief_spec(found.spec)}: {big(size)} members, success {found.success}"
    drawn = [curve for curve in found.curves if curve.marks]
    rows = [
        ["" if i else curve.name, _examples(curve, mark), _seconds(mark), mark.note or curve.known]
        for curve in drawn
        for i, mark in enumerate(_shown(curve))
    ]
    notes = [f"{curve.name}: {curve.known} [{curve.source}]; {curve.says}" for curve in drawn]
    parts = [
        fill(head, _WIDTH),
        table(["curve", "examples", "seconds", "what"], rows),
        _filled(notes),
    ]
    if found.runs:
        measured = [_measured(kind, runs) for kind, runs in found.by_kind.items()]
        parts.append(table(["measured", "found", "examples", "seconds", "ended"], measured))
    return "\n\n".join([*parts, _filled(_said(found))])


def _filled(lines: list[str]) -> str:
    return "\n".join(fill(line, _WIDTH, subsequent_indent="  ") for line in lines)


def _examples(curve: Curve, mark: Mark) -> str:
    """Write a number of examples; of bounds from below it is rounded down."""
    taken = curve.role in ("algorithm", "low-degree")
    return number(mark.examples) if taken else big(int(mark.examples))


def _seconds(mark: Mark) -> str:
    return "-" if mark.seconds is None else number(mark.seconds)


def _shown(curve: Curve) -> tuple[Mark, ...]:
    """The marks that say what a curve is: a few, both ends among them."""
    marks, few = curve.marks, {"low-degree": 4, "queries": 1}
    if curve.role in few or len(marks) < 4:
        return marks[: few.get(curve.role)]
    return marks[0], marks[len(marks) // 2], marks[-1]


def _measured(kind: str, runs: list[Run]) -> list[str]:
    ends = Counter(run.outcome.value for run in runs)
    return [
        kind,
        f"{sum(map(found_set, runs))}/{len(runs)}",
        number(median(run.usage.examples for run in runs)),
        number(median(run.usage.seconds for run in runs)),
        ", ".join(f"{count} {outcome}" for outcome, count in ends.items()),
    ]


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
    times = {  # medians, of who found every set
        kind: median(run.usage.seconds for run in runs)
        for kind, runs in found.by_kind.items()
        if all(map(found_set, runs))
    }
    if times:
        quickest = min(times, key=lambda kind: times[kind])
        best = times[quickest]
        said.append(f"measured: {quickest} was the quickest, {number(best)} s (median)")
        for other, what in (("brute force", "trying all"), ("statistical queries", "passes")):
            for mark in found.of(other).marks[:1]:
                if (ratio := (mark.seconds or 0.0) / best) > 1:
                    long = number(float(f"{ratio:.2g}"))
                    said[-1] += f"; {what}, {mark.note}, takes {long} times as long"
    return [
        *said,
        *(f"left out: {name}: {why}" for name, why in found.left_out.items()),
        "not claimed: that nothing is quicker than what is drawn; that statistical queries bind "
        "elimination, which asks none; that a query must take a pass; that a low-degree threshold "
        "binds other tests, or names a set where it is passed",
        f"seconds: one core, {found.rates.machine}, rates and runs measured one after another; "
        "curves leave out what calls take, some milliseconds",
    ]
