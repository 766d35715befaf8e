"""The figure of a grid of costs: the least over two parameters, and lines of constant security."""

from collections.abc import Iterable
from math import isfinite, log2
from string import ascii_letters
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hardness.lwe.parameters import modulus
from hardness.report.style import (
    COLOURS,
    GROUND,
    Data,
    Look,
    captioned,
    entry,
    legend_below,
    panels,
    shown,
    styled,
)
from hardness.runs.names import brief_spec
from instances import numbers
from instances.disk import damage_words
from instances.errors import DamagedFile, UsageError

LEVELS = (80, 112, 128, 192, 256)  # bits, of which lines are drawn
_MADE = "figure contours is of `hardness estimate SPEC --over n=.. --over q=.. --out FILE`"
_MODULI = ("q", "p")  # which are laid out by their logarithm
_MOST = 128  # values of a parameter
_NUMBERED = 12  # cells across and up, at most, that have their numbers in them


def contours_rows(source: Any) -> Data:
    """Give the least cost of every cell of a grid, in rows of the kind cell.

    The first parameter goes up, the second to the right, both rising. Raises UsageError where these
    are not two, or no numbers, and DamagedFile for what is no grid.
    """
    try:
        return _collected(source)
    except UsageError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise DamagedFile(f"this is no grid of costs ({damage_words(error)}): {_MADE}") from error


def _collected(data: Data) -> Data:
    keys = data["over"]
    if len(keys) != 2:
        raise UsageError(f"a grid must be over two parameters, got {', '.join(keys)}: {_MADE}")
    problems = {tuple(one["values"][key] for key in keys): one for one in data["problems"]}
    ys, xs = (_rising(key, {place[i] for place in problems}) for i, key in enumerate(keys))
    grid = {(y, x): _cell(problems.get((y, x))) for y in ys for x in xs}
    if all(cell["rop"] is None for cell in grid.values()):
        raise UsageError("nothing to draw: no problem of the grid has a cost")
    labels = [label for one in problems.values() for label in one["estimates"]]
    models = [
        f"{e['model']} with {e['shape']}"
        for one in problems.values()
        for e in one["estimates"].values()
        if e["model"]
    ]
    return {
        "spec": data["spec"],
        "samples": data["samples"],
        "attacks": list(dict.fromkeys(label.partition(",")[0] for label in labels)),
        "models": list(dict.fromkeys(models)),
        "y": keys[0],
        "x": keys[1],
        "ys": list(ys),
        "xs": list(xs),
        "rows": [{"kind": "cell", "y": y, "x": x, **cell} for (y, x), cell in grid.items()],
    }


def _rising(key: str, values: set[str]) -> dict[str, float]:
    """The values of a parameter in rising order, and where each lies on a line."""
    if not 2 <= len(values) <= _MOST:
        raise UsageError(
            f"{key} has {len(values)} of 2 to {_MOST} values that figure contours takes of each key"
        )
    try:
        read = {
            v: log2(modulus(v)) if key in _MODULI else numbers.parse(v, float, key)
            for v in sorted(values)
        }
    except UsageError as error:
        raise UsageError(f"{error}; figure contours is over numbers") from error
    return dict(sorted(read.items(), key=lambda pair: pair[1]))


def _cell(problem: Data | None) -> Data:
    """The least cost of a problem, by which attack and how known, or why it has none."""
    if problem is None or problem["rop"] is None or not isfinite(problem["rop"]):
        why = problem["reason"] or "no attack here applies" if problem else "not estimated"
        return {"rop": None, "attack": None, "known": None, "reason": why}
    if problem["rop"] < 0:
        raise ValueError(f"rop is {problem['rop']:g}, below 0")
    attack = problem["least"]
    known = problem["estimates"][attack]["kind"]
    return {"rop": float(problem["rop"]), "attack": attack, "known": known, "reason": ""}


@styled
def contours(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw cells, darker where the cheapest attack costs more, and lines of constant cost.

    Lines are linear between the middles of neighbouring cells; none crosses a cell without a cost.
    """
    xs, ys = data["xs"], data["ys"]
    cells = {
        (r["x"], r["y"]): r for r in data["rows"] if r["kind"] == "cell" and r["rop"] is not None
    }
    cost = np.array([[cells[x, y]["rop"] if (x, y) in cells else np.nan for x in xs] for y in ys])
    figure, [panel] = panels(1, ax=ax, width=width, single=5.2, ratio=0.62)
    image = panel.imshow(cost, cmap="Greys", origin="lower", aspect="auto", alpha=0.55)
    low, high = np.nanmin(cost), np.nanmax(cost)
    image.set_clim(low, high + max(high - low, 1) / 2)
    levels = [bits for bits in LEVELS if low < bits < high]
    if levels:
        colours = [COLOURS[LEVELS.index(bits) % len(COLOURS)] for bits in levels]
        masked = np.ma.masked_invalid(cost)
        panel.contour(masked, levels=levels, colors=colours, linewidths=1.6)
        named = zip(levels, colours, strict=True)
        handles = [entry(f"{bits} bits", Look(colour=c, marker="")) for bits, c in named]
        legend_below(figure, [panel], handles)
    letters = _letters([cell["attack"] for cell in cells.values()])
    if len(xs) <= _NUMBERED and len(ys) <= _NUMBERED:
        for (x, y), cell in cells.items():
            letter = f" {letters[cell['attack']]}" if len(letters) > 1 else ""
            place = xs.index(x), ys.index(y)
            label = f"{cell['rop']:.0f}{letter}"
            panel.text(*place, label, ha="center", va="center", fontsize=6.5, bbox=GROUND)
    panel.set(xlabel=shown(data["x"]), ylabel=shown(data["y"]))
    for axis, names in ((panel.xaxis, xs), (panel.yaxis, ys)):
        step = -(-len(names) // 12)
        axis.set_ticks(range(0, len(names), step), [shown(name, 12) for name in names[::step]])
    panel.grid(visible=False)
    return captioned(figure, _caption(data, letters, bool(levels)), data)


def _letters(attacks: list[str]) -> dict[str, str]:
    """One letter an attack, that of most cells first; those beyond the alphabet share a mark."""
    names = sorted(set(attacks), key=lambda name: (-attacks.count(name), name))
    return {**dict.fromkeys(names, "*"), **dict(zip(names, ascii_letters, strict=False))}


def _caption(data: Data, letters: dict[str, str], lined: bool) -> Iterable[str]:
    attacks, spec = data["attacks"], shown(brief_spec(data["spec"]), 90)
    what = shown(attacks[0]) if len(attacks) == 1 else f"the cheapest of {len(attacks)} attacks"
    kinds = sorted({row["known"] for row in data["rows"] if row.get("known")})
    yield f"Cost of {what} on {spec}: log2 of operations ({', '.join(kinds)});"
    yield f"samples: {'any number' if data['samples'] is None else data['samples']}."
    if data["models"]:
        yield f"Lattice reduction: {', '.join(data['models'])}."
    if len(letters) > 1:
        told = (f"{letter} {shown(name)}" for name, letter in letters.items())
        yield f"Cheapest attack: {', '.join(told)}."
    if lined:
        yield "Lines: linear between the middles of cells."
    if any(row["rop"] is None for row in data["rows"] if row["kind"] == "cell"):
        yield "Left empty: no estimate."
