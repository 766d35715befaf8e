"""Sweeps in words, within 80 columns."""

import math
from itertools import groupby
from textwrap import fill

from hardness.report.store import cut
from hardness.report.text import count, table
from hardness.runs.names import short
from hardness.sweep.plan import Part, Plan, Range
from instances.limits import readable_bytes

_WIDTH = 79
_LEARNER = 21  # columns of a learner's name
_UNITS = (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, 48 * 3600.0))
_SHOWN = 5  # of what is left out


def plan_words(plan: Plan) -> str:
    """Write what a sweep would do and what it may take."""
    sweep = plan.sweep
    least = "at most " if sweep.climbs else ""
    blocks = [f"{sweep.name}: {least}{count(sweep.count, 'run')}"]
    blocks[0] += f", {count(plan.certificates, 'certificate')}" if plan.certificates else ""
    blocks[0] = fill(blocks[0], _WIDTH)
    if plan.parts:
        blocks.append(_table(plan.parts))
    blocks += filter(None, (_left_out(plan), _costs(plan), _how(plan)))
    return "\n\n".join(blocks)


def span(seconds: Range) -> str:
    """Write a range of seconds.

    >>> span((2, 80)), span((30, 9000)), span((0, 90)), span((5, math.inf)), span((0, math.inf))
    ('2-80 s', '30 s-2.5 h', '< 90 s', '> 5 s', 'not known')
    """
    low, high = seconds
    if high == math.inf:
        return f"> {_time(low)}" if low > 0 else "not known"
    if low <= 0:
        return f"< {_time(high)}"
    one, other = _time(low), _time(high)
    if one == other:
        return one
    return f"{one.split()[0]}-{other}" if one.split()[1] == other.split()[1] else f"{one}-{other}"


def _time(seconds: float) -> str:
    """Two digits with a unit that fits."""
    for unit, size, most in _UNITS:
        if seconds < most:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds / 86400)} d"


def _digits(value: float) -> str:
    return f"{value:.0f}" if 10 <= value < 1e6 else f"{value:.2g}"


def _table(parts: tuple[Part, ...]) -> str:
    rows = []
    for title, group in groupby(parts, key=lambda part: part.group):
        for i, part in enumerate(group):
            rows.append(
                [
                    title if i == 0 else "",
                    cut(short(part.learner), _LEARNER),
                    f"{'<= ' if part.at_most else ''}{part.runs}",
                    span(part.seconds),
                    f"{part.measured} of {part.cells}",
                ]
            )
    return table(["group", "learner", "runs", "time of all", "cells measured"], rows)


def _left_out(plan: Plan) -> str:
    rows = plan.to_dict()["left_out"]
    lines = []
    for row in rows[:_SHOWN]:
        more = f" (and {row['reasons'] - 1} more reasons)" if row["reasons"] > 1 else ""
        learner = cut(short(row["learner"]), _LEARNER)
        text = f"{row['group']}: {learner} on {count(row['specs'], 'spec')}: "
        lines.append(fill(f"left out of {text}{row['why']}{more}", _WIDTH, subsequent_indent="  "))
    if len(rows) > _SHOWN:
        lines.append(f"and {len(rows) - _SHOWN} more learners: see --json")
    return "\n".join(lines)


def _costs(plan: Plan) -> str:
    limits = plan.sweep.limits
    held = (
        readable_bytes(limits.memory_bytes)
        if limits.memory_bytes
        else "its share of 0.8 of what is free"
    )
    ended = "never" if limits.seconds is None else f"after {_time(limits.seconds)}"
    rows = [
        ["one after another", span(plan.seconds)],
        ["memory of a worker", f"ended above {held}"],
        ["attempts", f"ended {ended}, {limits.retries} retries"],
        ["store", f"about {readable_bytes(plan.store_bytes)}"],
    ]
    return "\n".join(f"{name:<20}{text}" for name, text in rows)


def _how(plan: Plan) -> str:
    """Return what the numbers rest on."""
    said = []
    if any(part.measured for part in plan.parts):
        said.append(
            "A measured cell takes what its runs in the store took: learning alone, on the machine "
            "that did them."
        )
    said.append(
        "Any other run takes at most its budget of seconds, which is looked at between draws, or "
        "the limit of an attempt. Retries are not counted."
    )
    if plan.sweep.climbs:
        said.append("A climb ends where a learner passes on no seed of a rung.")
    return fill(" ".join(said), _WIDTH)
