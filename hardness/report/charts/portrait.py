"""The portrait of a member: its labels by what is hidden, and what its heads read of a token."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.report.plot import Axis, Data, cells, named, panels, plot
from hardness.report.style import RING, Style, series_style
from instances import tokens
from instances.capabilities import CODED, HIDDEN_DIRECTION, LINEAR_FORMS, PROVED_AS, SCHEME
from instances.errors import UsageError
from instances.family import Family, Secret
from instances.parameters import brief

Array = NDArray[Any]
_MOST_NUMBERS = 1 << 22  # in the Theta_i: a layer that is drawn in a second
_EXAMPLES, _BINS, _POINTS = 2000, 40, 500
_FEW = 12  # values of labels that stand apart
_FORMULA, _LAYER = "by the formula", "by the layer"
_STYLES = {
    _FORMULA: Style(shape=RING, marks=("point",)),
    _LAYER: Style(colour=series_style(1).colour, shape="cross", marks=("point",)),
}
_PLACES = ("head", "coordinate")
_CELLS = 4096  # of heads and coordinates
_SIZE = (330, 220)


def of_portrait(family: Family) -> Data:
    """Collect what the member of seed 0 shows on examples whose label hides something.

    Rows of the kind label: its value by the formula and by the layer at a place, which is how much
    an example has of what is hidden: places of the set that differ, <a, s> mod q, u along the
    direction; where a family has none of these, the share of labels that are at the place. Rows of
    the kind head: the norm of what its Theta takes of a coordinate, over the largest of the head.
    Raises UsageError for layers too large to draw.

    >>> from instances import parse
    >>> rows = of_portrait(parse("parity:d=8,m=3"))["rows"]
    >>> [row["value"] for row in rows if row.get("series") == "by the layer"]
    [1.0, -1.0, 1.0, -1.0]
    """
    if family.layer_heads * family.d**2 > _MOST_NUMBERS:
        raise UsageError(
            f"{family.spec[:200]} given: {family.layer_heads} heads of {family.d} x {family.d} "
            "numbers are too many for a portrait, take smaller parameters"
        )
    instance = family.instance(0)
    secret, layer = instance.hidden.secret, instance.layer()
    x = np.asarray(instance.examples(0, _EXAMPLES, axis="portrait").x)
    coded = CODED.of(family)
    x = x[coded.open(tokens.pack(x))] if coded else x
    y = coded.outer(layer(x)) if coded else layer(x)
    hidden = _place(family, secret, x)
    by = {_FORMULA: _value(family, x, family.computed(secret, x)), _LAYER: _value(family, x, y)}
    rows = _along(hidden[1], by) if hidden else _spread(by)
    shown = max(1, _CELLS // family.d)
    reads = np.sqrt(np.square(layer.theta[:shown]).sum(axis=1))
    reads /= np.maximum(reads.max(axis=1, keepdims=True), 1e-300)
    return {
        "spec": family.spec,
        "about": brief(family, family.name),
        "size": None if family.size is None else str(family.size),
        "hidden": hidden and hidden[0],
        "examples": len(x),
        "rows": rows
        + [
            {"kind": "head", "head": i, "coordinate": j, "reads": _plain(v)}
            for i, head in enumerate(reads)
            for j, v in enumerate(head)
        ],
    }


def _place(family: Family, secret: Secret, x: Array) -> tuple[str, Array] | None:
    """What examples hide, and how much of it each has; None where no capability says."""
    coded, sets = CODED.of(family), SCHEME.of(family) or PROVED_AS.of(family)
    if coded and sets:
        return "places of the hidden set that differ", (x[:, 0] != x[:, 1])[:, secret].sum(axis=1)
    if forms := LINEAR_FORMS.of(family):
        return f"<a, s> mod {forms.q}", forms.inner(secret, tokens.pack(x)) % forms.q
    if direction := HIDDEN_DIRECTION.of(family):
        return "u, along the direction", np.round(direction.hidden(secret, x), 3)
    return None


def _value(family: Family, x: Array, y: Array) -> Array:
    """Labels as numbers: the one that an example hides, else all entries."""
    if direction := HIDDEN_DIRECTION.of(family):
        public = direction.labelled(x, np.zeros(len(x)))
        return np.asarray((y - public)[:, :, 1] @ [1, -1] / (x[:, 0, 1] - x[:, 1, 1]))
    if coded := CODED.of(family):
        return coded.factor_of(x, y)
    return y[..., np.any(y != 0, axis=(0, 1))].ravel()


def _along(place: Array, by: dict[str, Array]) -> list[Data]:
    """Rows of the labels at every place, a few of a real one."""
    pairs = {name: np.unique(np.round([place, v], 9), axis=1).T for name, v in by.items()}
    return [
        {"kind": "label", "series": name, "place": _plain(at), "value": _plain(v)}
        for name, found in pairs.items()
        for at, v in found[:: max(1, len(found) // _POINTS)]
    ]


def _spread(by: dict[str, Array]) -> list[Data]:
    """Rows of the shares of labels, at their values or near them."""
    every = np.concatenate(list(by.values()))
    few = len(np.unique(np.round(every, 9))) <= _FEW
    step = 1e-9 if few else float(np.ptp(every)) / _BINS
    near = {name: np.round(values / step) * step for name, values in by.items()}
    return [
        {"kind": "label", "series": name, "place": _plain(at), "value": _plain(n / len(values))}
        for name, values in near.items()
        for at, n in zip(*np.unique(values, return_counts=True), strict=True)
    ]


def _plain(value: float) -> float:
    """A number for JSON, in nine digits: the rest differs between machines."""
    return float(f"{float(value):.9g}") + 0.0


def draw_portrait(data: Data) -> Data:
    """Draw the labels, and beside them the heads, a row each."""
    labels = [row for row in data["rows"] if row["kind"] == "label"]
    reads = [dict(row) for row in data["rows"] if row["kind"] == "head"]
    whole = data["hidden"] and all(row["place"].is_integer() for row in labels)
    left = plot(
        labels,
        x=Axis("place", data["hidden"] or "label", scale="whole" if whole else "linear"),
        y=Axis("value", "label") if data["hidden"] else Axis("value", "share of labels", holds=[0]),
        styles=_STYLES,
        title=f"The labels of {data['examples']} examples",
        size=_SIZE,
    )
    for row in reads:
        row |= {"head": str(row["head"]), "coordinate": str(row["coordinate"])}
    names = {column: list(dict.fromkeys(row[column] for row in reads)) for column in _PLACES}
    legend = {"title": None, "orient": "right", "direction": "vertical", "gradientLength": 100}
    scale = {"scheme": "blues", "domain": [0, 1]}
    right = cells(
        reads,
        x=Axis("coordinate", "coordinate of a token", scale="names", names=names["coordinate"]),
        y=Axis("head", "head", scale="names", names=names["head"]),
        colour={"field": "reads", "type": "quantitative", "scale": scale, "legend": legend},
        says={},
        title="What each head reads",
        size=_SIZE,
    )
    many = "infinitely many" if data["size"] is None else data["size"]
    title = f"{named(data['about'], 90)}, member of seed 0 of {many}"
    return panels(left, right, title=title, own=True)
