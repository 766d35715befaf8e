"""The figure of a grid of costs: the least over two parameters, and lines of constant security."""

from collections.abc import Iterator
from itertools import pairwise
from math import inf, isfinite, log2
from string import ascii_letters
from typing import Any

from hardness.cost.problem import modulus
from hardness.report.charts.chart import (
    Data,
    by_series,
    drawn_of,
    named,
    ordinal,
    panels,
    pick_in,
    quantity,
    tooltip,
)
from hardness.report.charts.style import COLOURS, Style
from hardness.runs.names import brief_spec
from instances.errors import DamagedFile, UsageError
from instances.parameters import number

LEVELS = (80, 112, 128, 192, 256)  # bits, of which lines are drawn
_MADE = "figure contours is of `hardness estimate SPEC --over n=.. --over q=.. --out FILE`"
_MODULI = ("q", "p")  # which are laid out by their logarithm
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (10, 3))
_MOST = 128  # values of a parameter
_WIDE, _HIGH = 640, 360  # pixels that cells share
_NUMBER, _LETTER = 44, 9  # pixels across that a cell needs for its number, for its letter
_NOTED = 5  # attacks in a line of the notes


def of_contours(found: Any) -> Data:
    """Collect the least cost of every cell of a grid, and where costs cross each of `LEVELS`.

    The first parameter goes up, the second to the right, both rising. Between two neighbours of a
    column log2 of operations is taken to be linear in the first parameter, in log2 of it for a
    modulus. place: in cells from below, a cell's middle at one half. Raises UsageError where
    these are not two, or no numbers, and DamagedFile for what is no grid.
    """
    try:
        return _collected(found)
    except (LookupError, TypeError, AttributeError) as error:
        raise DamagedFile(
            f"this is no grid of costs ({type(error).__name__} {error}): {_MADE}"
        ) from error


def _collected(found: Data) -> Data:
    keys = found["over"]
    if len(keys) != 2:
        raise UsageError(f"a grid over {', '.join(keys)} given: {_MADE}, over two parameters")
    cells = {tuple(one["values"][key] for key in keys): one for one in found["problems"]}
    ys, xs = (_rising(key, {place[i] for place in cells}) for i, key in enumerate(keys))
    grid = [[_cell(cells.get((y, x))) for x in xs] for y in ys]
    if all(cell["rop"] is None for line in grid for cell in line):
        raise UsageError("a grid without any cost given: figure contours has nothing to draw")
    every = [one for cell in cells.values() for one in cell["estimates"].values()]
    labels = [label for cell in cells.values() for label in cell["estimates"]]
    models = dict.fromkeys(f"{e['model']} with {e['shape']}" for e in every if e["model"])
    return {
        "spec": found["spec"],
        "samples": found["samples"],
        "attacks": list(dict.fromkeys(label.partition(",")[0] for label in labels)),
        "models": list(models),
        "y": keys[0],
        "x": keys[1],
        "ys": list(ys),
        "xs": list(xs),
        "cells": grid,
        "levels": [
            {"bits": bits, "points": points}
            for bits in LEVELS
            if (points := list(_crossings(keys[0], ys, list(xs), grid, bits)))
        ],
    }


def _rising(key: str, values: set[str]) -> dict[str, float]:
    """The values of a parameter in rising order, and where each lies on a line."""
    if not 2 <= len(values) <= _MOST:
        raise UsageError(
            f"{key} has {len(values)} of 2 to {_MOST} values that figure contours takes of each key"
        )
    try:
        read = {v: log2(modulus(v)) if key in _MODULI else number(v, key) for v in sorted(values)}
    except UsageError as error:
        raise UsageError(f"{error}; figure contours is over numbers") from error
    return dict(sorted(read.items(), key=lambda pair: pair[1]))


def _cell(problem: Data | None) -> Data:
    """The least cost of a problem, by which attack and of which kind, or why it has none."""
    if problem is None:
        return {"rop": None, "attack": None, "kind": None, "reason": "not estimated"}
    rop, attack = problem["rop"], problem["least"]
    if rop is None or not isfinite(rop):
        reason = problem["reason"] or "no attack here applies"
        return {"rop": None, "attack": None, "kind": None, "reason": reason}
    kind = problem["estimates"][attack]["kind"]
    return {"rop": float(rop), "attack": attack, "kind": kind, "reason": ""}


def _crossings(
    key: str, ys: dict[str, float], xs: list[str], grid: list[list[Data]], bits: int
) -> Iterator[Data]:
    """Where each column crosses a level, from the left."""
    values = list(ys.values())
    for j, x in enumerate(xs):
        column = [line[j]["rop"] for line in grid]
        for i, (a, b) in enumerate(pairwise(column)):
            if a is None or b is None or (a < bits) is (b < bits):
                continue
            part = (bits - a) / (b - a)
            value = values[i] + part * (values[i + 1] - values[i])
            says = f"2^{value:.2f}" if key in _MODULI else f"{value:.6g}"
            yield {"x": x, "place": i + 0.5 + part, "value": says}


def draw_contours(data: Data) -> Data:
    """Draw cells, darker where the least attack costs more, and the lines of levels over them.

    A line joins neighbouring columns that cross the level once each; all others are single points.
    """
    xs, ys = data["xs"], data["ys"]
    wide, high = (max(5.0, min(56.0, room / len(v))) for room, v in ((_WIDE, xs), (_HIGH, ys)))
    high = min(high, 28.0)
    letters = _letters(data)
    numbered, lettered = wide >= _NUMBER and high >= _LETTER, min(wide, high) >= _LETTER
    rows = [
        {
            "x": named(xs[j]),
            "y": named(ys[i]),
            "rop": cell["rop"],
            "attack": named(cell["attack"]),
            "kind": cell["kind"],
            "says": f"{cell['rop']:.{1 if cell['rop'] < 1000 else 0}f} " * numbered
            + letters[cell["attack"]] * lettered,
        }
        for i, line in enumerate(data["cells"])
        for j, cell in enumerate(line)
        if cell["rop"] is not None
    ]
    shown = {named(data["y"]): "y", named(data["x"]): "x"}
    shade = quantity("rop", "log2 of operations")
    shade["scale"] |= {"range": ["#FFFFFF", "#B4B4B4"]}
    shade["legend"] = None if numbered else {"orient": "right", "direction": "vertical"}
    up = ordinal("y", data["y"], ys[::-1])
    cells = {
        "data": drawn_of(rows),
        "mark": {"type": "rect", "stroke": "#D0D0D0", "strokeWidth": 0.5},
        "encoding": {
            "y": up,
            "fill": shade,
            "tooltip": tooltip(**shown, rop="rop", attack="attack", known="kind"),
        },
    }
    text = {"type": "text", "tooltip": None, "fontSize": 10}  # in a talk, too: cells are small
    halo = {"stroke": "white", "strokeWidth": 2, "strokeJoin": "round", "strokeOpacity": 0.8}
    says = {
        "data": drawn_of(rows),
        "encoding": {"y": {**up, "axis": None}, "text": {"field": "says"}},
        "layer": [{"mark": {**text, **halo}}, {"mark": text}],
    }
    chart = {
        "width": wide * len(xs),
        "height": high * len(ys),
        "encoding": {"x": ordinal("x", data["x"], xs)},
        "layer": [cells, *_lines(data), *([says] if lettered else [])],
        "resolve": {"scale": {"y": "independent"}},
    }
    attacks = data["attacks"]
    what = named(attacks[0]) if len(attacks) == 1 else f"the least of {len(attacks)} attacks"
    return panels(
        chart,
        title=f"{named(brief_spec(data['spec']), 90)}: {what}",
        notes=_notes(data, letters, numbered, lettered),
    )


def _letters(data: Data) -> dict[str, str]:
    """One letter an attack, that of most cells first; those beyond the alphabet share a mark."""
    found = [cell["attack"] for line in data["cells"] for cell in line if cell["attack"]]
    names = sorted(set(found), key=lambda name: (-found.count(name), name))
    return {**dict.fromkeys(names, "*"), **dict(zip(names, ascii_letters, strict=False))}


def _lines(data: Data) -> list[Data]:
    """Lines of levels, white below."""
    if not data["levels"]:
        return []
    rows = [
        {
            "level": f"{level['bits']} bits",
            "run": run,
            "x": named(point["x"]),
            "place": point["place"],
            "value": point["value"],
        }
        for level in data["levels"]
        for run, points in enumerate(_runs(data["xs"], level["points"]))
        for point in points
    ]
    styles = {
        f"{bits} bits": Style(colour=COLOURS[i], shape="stroke", dash=_DASHES[i])
        for i, bits in enumerate(LEVELS)
        if any(level["bits"] == bits for level in data["levels"])
    }
    place = {
        "field": "place",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [0, len(data["ys"])], "nice": False, "zero": False},
    }
    look = by_series(styles, "level")
    look["color"]["legend"] |= {"symbolType": "stroke", "symbolSize": 400, "columns": 5}
    own = {"color": look["color"], "strokeDash": look["strokeDash"]}
    told = tooltip(**{"level": "level", named(data["x"]): "x", named(data["y"]): "value"})
    line: Data = {
        "data": drawn_of(rows),
        "encoding": {"y": place, "detail": {"field": "run"}},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 4, "color": "white", "tooltip": None},
                "encoding": {"detail": [{"field": "run"}, {"field": "level"}]},
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": own},
            {
                "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
                "encoding": {"color": {**look["color"], "legend": None}, "tooltip": told},
            },
        ],
    }
    pick_in(line, "level")
    return [line]


def _runs(xs: list[str], points: list[Data]) -> Iterator[list[Data]]:
    """Points in columns beside each other that have one each; every other point alone."""
    run: list[Data] = []
    last = -inf
    for j, x in enumerate(xs):
        here = [point for point in points if point["x"] == x]
        if len(here) == 1 and last == j - 1:
            run.append(here[0])
        else:
            if run:
                yield run
            run = here if len(here) == 1 else []
            yield from ([point] for point in here if len(here) > 1)
        last = j if len(here) == 1 else -inf
    if run:
        yield run


def _notes(data: Data, letters: dict[str, str], numbered: bool, lettered: bool) -> list[str]:
    kinds = sorted({cell["kind"] for line in data["cells"] for cell in line if cell["kind"]})
    notes = [f"log2 of operations ({', '.join(kinds)})" + " and the attack" * numbered]
    notes[0] += f"; samples: {'any number' if data['samples'] is None else data['samples']}"
    if data["models"]:
        notes.append(named(f"lattice reduction: {', '.join(data['models'])}", 110))
    says = [f"{letter} {named(name)}" for name, letter in letters.items()] * lettered
    notes += [", ".join(says[i : i + _NOTED]) for i in range(0, len(says), _NOTED)]
    if data["levels"]:
        along = f"log2 {data['y']}" if data["y"] in _MODULI else data["y"]
        notes.append(f"lines: where a column crosses, linear in {named(along)} between two cells")
    if any(cell["rop"] is None for line in data["cells"] for cell in line):
        notes.append("left empty: no estimate")
    return notes
