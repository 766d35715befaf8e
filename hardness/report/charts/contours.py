"""The figure of a grid of costs: the least over two parameters, and lines of constant security."""

from collections.abc import Iterator
from itertools import groupby, pairwise
from math import isfinite, log2
from string import ascii_letters
from typing import Any

from hardness.lwe.parameters import modulus
from hardness.report.plot import Axis, Data, cells, named, panels, plot
from hardness.report.style import COLOURS, PALE, Style
from hardness.runs.names import brief_spec
from instances import numbers
from instances.errors import DamagedFile, UsageError

LEVELS = (80, 112, 128, 192, 256)  # bits, of which lines are drawn
_MADE = "figure contours is of `hardness estimate SPEC --over n=.. --over q=.. --out FILE`"
_MODULI = ("q", "p")  # which are laid out by their logarithm
_DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (10, 3))
_MOST = 128  # values of a parameter
_WIDE, _HIGH = 640, 360  # pixels that cells share
_NUMBER, _LETTER = 44, 9  # pixels across that a cell needs for its number, for its letter
_NOTED = 5  # attacks in a line of the notes


def of_contours(found: Any) -> Data:
    """Give the least cost of every cell of a grid, and where costs cross each of `LEVELS`.

    Rows are of the kind cell or level. The first parameter goes up, the second to the right, both
    rising. Between two neighbours of a column log2 of operations is taken to be linear in the first
    parameter, in log2 of it for a modulus. place: in cells from below, a cell's middle at one half.
    Raises UsageError where these are not two, or no numbers, and DamagedFile for what is no grid.
    """
    try:
        return _collected(found)
    except UsageError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise DamagedFile(
            f"this is no grid of costs ({type(error).__name__} {error}): {_MADE}"
        ) from error


def _collected(found: Data) -> Data:
    keys = found["over"]
    if len(keys) != 2:
        raise UsageError(f"a grid over {', '.join(keys)} given: {_MADE}, over two parameters")
    problems = {tuple(one["values"][key] for key in keys): one for one in found["problems"]}
    ys, xs = (_rising(key, {place[i] for place in problems}) for i, key in enumerate(keys))
    grid = {(y, x): _cell(problems.get((y, x))) for y in ys for x in xs}
    if all(cell["rop"] is None for cell in grid.values()):
        raise UsageError("a grid without any cost given: figure contours has nothing to draw")
    labels = [label for one in problems.values() for label in one["estimates"]]
    models = [
        f"{e['model']} with {e['shape']}"
        for one in problems.values()
        for e in one["estimates"].values()
        if e["model"]
    ]
    return {
        "spec": found["spec"],
        "samples": found["samples"],
        "attacks": list(dict.fromkeys(label.partition(",")[0] for label in labels)),
        "models": list(dict.fromkeys(models)),
        "y": keys[0],
        "x": keys[1],
        "ys": list(ys),
        "xs": list(xs),
        "rows": [
            *({"kind": "cell", "y": y, "x": x, **cell} for (y, x), cell in grid.items()),
            *(
                {"kind": "level", "bits": bits, "x": x, **crossing}
                for bits in LEVELS
                for x in xs
                for crossing in _crossings(keys[0], ys, [grid[y, x]["rop"] for y in ys], bits)
            ),
        ],
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


def _crossings(
    key: str, ys: dict[str, float], column: list[float | None], bits: int
) -> Iterator[Data]:
    """Where a column crosses a level."""
    values = list(ys.values())
    for i, (a, b) in enumerate(pairwise(column)):
        if a is None or b is None or (a < bits) is (b < bits):
            continue
        part = (bits - a) / (b - a)
        value = values[i] + part * (values[i + 1] - values[i])
        says = f"2^{value:.2f}" if key in _MODULI else f"{value:.6g}"
        yield {"place": i + 0.5 + part, "value": says}


def draw_contours(data: Data) -> Data:
    """Draw cells, darker where the least attack costs more, and the lines of levels over them.

    A line joins neighbouring columns that cross the level once each; all others are single points.
    """
    xs, ys = data["xs"], data["ys"]
    wide, high = (max(5.0, min(56.0, room / len(v))) for room, v in ((_WIDE, xs), (_HIGH, ys)))
    high = min(high, 28.0)
    numbered, lettered = wide >= _NUMBER and high >= _LETTER, min(wide, high) >= _LETTER
    known = [row for row in data["rows"] if row["kind"] == "cell" and row["rop"] is not None]
    letters = _letters([row["attack"] for row in known])
    rows = [
        row
        | {"attack": named(row["attack"])}
        | {
            "says": f"{row['rop']:.{1 if row['rop'] < 1000 else 0}f} " * numbered
            + letters[row["attack"]] * lettered
        }
        for row in known
    ]
    shade = {
        "field": "rop",
        "type": "quantitative",
        "title": "log2 of operations",
        "scale": {"zero": False, "range": ["#FFFFFF", "#B4B4B4"]},
        "legend": None if numbered else {"orient": "right", "direction": "vertical"},
    }
    text = {"fontSize": 10}  # in a talk, too: cells are small
    halo = {"stroke": "white", "strokeWidth": 2, "strokeJoin": "round", "strokeOpacity": 0.8}
    chart = cells(
        rows,
        x=Axis("x", named(data["x"]), scale="names", names=xs),
        y=Axis("y", named(data["y"]), scale="names", names=ys[::-1]),
        colour=shade,
        says={"says": text} if lettered else {},
        edge=PALE,
        told={named(data["y"]): "y", named(data["x"]): "x", "rop": "rop", "attack": "attack"}
        | {"known": "known"},
        size=(wide * len(xs), high * len(ys)),
        between=_lines(data),
        apart=True,
    )
    if lettered:
        last = chart["layer"][-1]
        chart["layer"].insert(-1, last | {"mark": last["mark"] | halo})
    attacks = data["attacks"]
    what = named(attacks[0]) if len(attacks) == 1 else f"the least of {len(attacks)} attacks"
    return panels(
        chart,
        title=f"{named(brief_spec(data['spec']), 90)}: {what}",
        notes=_notes(data, letters if lettered else {}, numbered),
        pick="level",
    )


def _letters(attacks: list[str]) -> dict[str, str]:
    """One letter an attack, that of most cells first; those beyond the alphabet share a mark."""
    names = sorted(set(attacks), key=lambda name: (-attacks.count(name), name))
    return {**dict.fromkeys(names, "*"), **dict(zip(names, ascii_letters, strict=False))}


def _lines(data: Data) -> list[Data]:
    """Lines of levels, white below."""
    levels = [row for row in data["rows"] if row["kind"] == "level"]
    rows = [
        {**point, "level": f"{bits} bits", "run": run, "kind": kind}
        for bits, points in groupby(levels, key=lambda row: row["bits"])
        for run, joined in enumerate(_runs(data["xs"], list(points)))
        for point in joined
        for kind in (("halo", "line", "point") if len(joined) > 1 else ("point",))
    ]
    drawn = dict.fromkeys(row["bits"] for row in levels)
    styles = {
        f"{bits} bits": Style(colour=colour, dash=dash, marks=("line",), thick=1.33)
        for bits, colour, dash in zip(LEVELS, COLOURS, _DASHES, strict=False)
        if bits in drawn
    }
    lines = plot(
        rows,
        x=Axis("x", scale="cells", names=data["xs"]),
        y=Axis("place", domain=(0, len(data["ys"]))),
        by="level",
        styles=styles,
        kinds={
            "halo": {"colour": "white", "thick": 2.67, "dash": ()},
            "line": {},
            "point": {"marks": ("point",)},
        },
        told={"level": "level", named(data["x"]): "x", named(data["y"]): "value"},
    )
    if not lines:
        return []
    up = lines["encoding"]["y"] | {"axis": None}
    del lines["layer"][-1]["encoding"]["fill"]  # which says the cells' cost
    return [{**layer, "encoding": {"y": up} | layer["encoding"]} for layer in lines["layer"]]


def _runs(xs: list[str], points: list[Data]) -> Iterator[list[Data]]:
    """Points in columns beside each other that have one each; every other point alone."""
    run: list[Data] = []
    for x in xs:
        here = [point for point in points if point["x"] == x]
        if len(here) == 1:
            run += here
            continue
        if run:
            yield run
        run = []
        yield from ([point] for point in here)
    if run:
        yield run


def _notes(data: Data, letters: dict[str, str], numbered: bool) -> list[str]:
    found = [row for row in data["rows"] if row["kind"] == "cell"]
    kinds = ", ".join(sorted({row["known"] for row in found if row["known"]}))
    notes = [f"log2 of operations ({kinds})" + " and the attack" * numbered]
    notes[0] += f"; samples: {'any number' if data['samples'] is None else data['samples']}"
    if data["models"]:
        notes.append(named(f"lattice reduction: {', '.join(data['models'])}", 110))
    says = [f"{letter} {named(name)}" for name, letter in letters.items()]
    notes += [", ".join(says[i : i + _NOTED]) for i in range(0, len(says), _NOTED)]
    if len(found) < len(data["rows"]):
        along = f"log2 {data['y']}" if data["y"] in _MODULI else data["y"]
        notes.append(f"lines: where a column crosses, linear in {named(along)} between two cells")
    if any(row["rop"] is None for row in found):
        notes.append("left empty: no estimate")
    return notes
