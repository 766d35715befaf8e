"""The figure of a grid of attack costs over two parameters, with lines of constant security."""

from collections.abc import Iterable
from math import isfinite, log2
from string import ascii_letters
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hardness.lwe.parameters import modulus
from hardness.report.style import (
    COLOURS,
    TEXT_BOX,
    Data,
    Look,
    captioned,
    entry,
    legend_below,
    legible_name,
    panels,
    styled,
)
from hardness.runs.names import brief_spec
from instances import numbers
from instances.disk import damage_words
from instances.errors import DamagedFile, UsageError

LEVELS = (80, 112, 128, 192, 256)  # bits at which lines are drawn
_SOURCE = "figure contours is of `hardness estimate SPEC --over n=.. --over q=.. --out FILE`"
_MODULI = ("q", "p")  # parameters that are ordered by their logarithm
_MOST_VALUES = 128  # of a parameter
_NUMBERED = 12  # a grid of at most this many rows and columns has numbers in its cells


def contours_rows(source: Any) -> Data:
    """Make rows of kind "cell" with the cost of the cheapest attack at each point of a grid.

    The first parameter is the vertical axis, the second the horizontal one. Raises UsageError if
    there are not two parameters, or if they are not numbers, and DamagedFile for other data.
    """
    try:
        return _collected(source)
    except UsageError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise DamagedFile(f"this is no grid of costs ({damage_words(error)}): {_SOURCE}") from error


def _collected(data: Data) -> Data:
    keys = data["over"]
    if len(keys) != 2:
        raise UsageError(f"a grid must be over two parameters, got {', '.join(keys)}: {_SOURCE}")
    problems = {tuple(cell["values"][key] for key in keys): cell for cell in data["problems"]}
    ys, xs = (_rising(key, {point[i] for point in problems}) for i, key in enumerate(keys))
    grid = {(y, x): _cell(problems.get((y, x))) for y in ys for x in xs}
    if all(cell["rop"] is None for cell in grid.values()):
        raise UsageError("nothing to draw: no problem of the grid has a cost")
    labels = [label for problem in problems.values() for label in problem["estimates"]]
    models = [
        f"{e['model']} with {e['shape']}"
        for problem in problems.values()
        for e in problem["estimates"].values()
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
    """Return the values of a parameter in rising order, each with its position on the axis."""
    if not 2 <= len(values) <= _MOST_VALUES:
        raise UsageError(
            f"{key} has {len(values)} of 2 to {_MOST_VALUES} values that figure contours takes of "
            "each key"
        )
    try:
        positions = {
            v: log2(modulus(v)) if key in _MODULI else numbers.parse(v, float, key)
            for v in sorted(values)
        }
    except UsageError as error:
        raise UsageError(f"{error}; figure contours is over numbers") from error
    return dict(sorted(positions.items(), key=lambda pair: pair[1]))


def _cell(problem: Data | None) -> Data:
    """Return the cost of the cheapest attack on a problem with its basis, or why there is none."""
    if problem is None or problem["rop"] is None or not isfinite(problem["rop"]):
        reason = problem["reason"] or "no attack here applies" if problem else "not estimated"
        return {"rop": None, "attack": None, "known": None, "reason": reason}
    if problem["rop"] < 0:
        raise ValueError(f"rop is {problem['rop']:g}, below 0")
    attack = problem["least"]
    known = problem["estimates"][attack]["kind"]
    return {"rop": float(problem["rop"]), "attack": attack, "known": known, "reason": ""}


@styled
def contours(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw cells that are darker if the cheapest attack costs more, and lines of constant cost.

    Lines are linear between the centres of neighbouring cells, and avoid cells without a cost.
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
            panel.text(*place, label, ha="center", va="center", fontsize=6.5, bbox=TEXT_BOX)
    panel.set(xlabel=legible_name(data["x"]), ylabel=legible_name(data["y"]))
    for axis, names in ((panel.xaxis, xs), (panel.yaxis, ys)):
        step = -(-len(names) // 12)
        axis.set_ticks(
            range(0, len(names), step), [legible_name(name, 12) for name in names[::step]]
        )
    panel.grid(visible=False)
    return captioned(figure, _caption(data, letters, bool(levels)), data)


def _letters(attacks: list[str]) -> dict[str, str]:
    """Assign a letter to each attack, the most frequent first; after the alphabet all get "*"."""
    names = sorted(set(attacks), key=lambda name: (-attacks.count(name), name))
    return {**dict.fromkeys(names, "*"), **dict(zip(names, ascii_letters, strict=False))}


def _caption(data: Data, letters: dict[str, str], lined: bool) -> Iterable[str]:
    attacks, spec = data["attacks"], legible_name(brief_spec(data["spec"]), 90)
    what = (
        legible_name(attacks[0]) if len(attacks) == 1 else f"the cheapest of {len(attacks)} attacks"
    )
    kinds = sorted({row["known"] for row in data["rows"] if row.get("known")})
    yield f"Cost of {what} on {spec}: log2 of operations ({', '.join(kinds)});"
    yield f"samples: {'any number' if data['samples'] is None else data['samples']}."
    if data["models"]:
        yield f"Lattice reduction: {', '.join(data['models'])}."
    if len(letters) > 1:
        attack_names = (f"{letter} {legible_name(name)}" for name, letter in letters.items())
        yield f"Cheapest attack: {', '.join(attack_names)}."
    if lined:
        yield "Lines: linear between the middles of cells."
    if any(row["rop"] is None for row in data["rows"] if row["kind"] == "cell"):
        yield "Left empty: no estimate."
