"""The figure of how alike the heads of a layer are: cosines of the Theta_i and of the W_i."""

from typing import Any

from hardness.report.charts.chart import Data, drawn_of, named, panels, tooltip
from hardness.report.charts.style import GREY
from hardness.runs.names import brief_spec
from instances.errors import UsageError

_SIDE = 230  # pixels of a matrix
_WRITTEN = 8  # heads, up to which numbers stand in the cells
_SHOWN = 128


def of_coherence(facts: dict[str, Any]) -> Data:
    """Collect the cosines that `inspect` measured; raises UsageError for one head, or too many."""
    layer = facts.get("layer") if isinstance(facts, dict) else None
    if not isinstance(layer, dict) or not {"cosines", "w_cosines"} <= set(layer):
        raise UsageError("no cosines of heads there: figure coherence is of `hardness inspect`")
    m = len(layer["cosines"])
    if not 2 <= m <= _SHOWN:
        raise UsageError(f"{m} heads given: figure coherence shows 2 to {_SHOWN}")
    return {
        "about": brief_spec(str(facts.get("spec") or facts.get("source") or "a layer")),
        "theta": _rounded(layer["cosines"]),
        "w": _rounded(layer["w_cosines"]),
    }


def _rounded(cosines: list[list[float]]) -> list[list[float]]:
    return [[round(float(v), 6) for v in row] for row in cosines]


def draw_coherence(data: Data) -> Data:
    """Draw both matrices, the diagonal left out, with one scale of colours."""
    chart = panels(
        _matrix("Theta", data["theta"]),
        _matrix("W", data["w"]),
        title=named(data["about"], 90),
        notes=["cosines of two heads: small where heads differ, ±1 where both lie on one line"],
    )
    return {**chart, "resolve": {"scale": {"color": "shared"}}}


def _matrix(name: str, cosines: list[list[float]]) -> Data:
    m = len(cosines)
    cells = [
        {
            "head": i,
            "other": j,
            "cosine": cosines[i][j],
            "text": f"{cosines[i][j]:.2f}".replace("-", "−"),
        }
        for i in range(m)
        for j in range(m)
        if i != j
    ]
    own = [{"head": i, "other": i} for i in range(m)]
    largest = max(abs(cosines[i][j]) for i in range(m) for j in range(m) if i != j)
    scale = {"scheme": "redblue", "reverse": True, "domain": [-1, 1]}
    every = list(range(0, m, max(1, m // 16)))
    places = {
        axis: {
            "field": field,
            "type": "ordinal",
            "title": "head",
            "axis": {"values": every, "labelAngle": 0, "grid": False},
        }
        for axis, field in (("x", "other"), ("y", "head"))
    }
    colour = {
        "field": "cosine",
        "type": "quantitative",
        "scale": scale,
        "legend": {"title": "cosine", "orient": "right", "direction": "vertical"},
    }
    same = {
        "data": drawn_of(own),
        "mark": {"type": "text", "text": "╲", "color": GREY, "fontSize": min(28, _SIDE // m)},
        "encoding": places,
    }
    cell = {"mark": "rect", "encoding": {**places, "color": colour, "tooltip": _TOOLTIP}}
    ink = {"condition": {"test": "abs(datum.cosine) > 0.6", "value": "white"}, "value": "black"}
    text = {
        "mark": {"type": "text", "fontSize": 11},
        "encoding": {**places, "text": {"field": "text"}, "color": ink},
    }
    return {
        "title": f"{name}_i: largest |cosine| {largest:.3g}",
        "width": _SIDE,
        "height": _SIDE,
        "data": drawn_of(cells),
        "layer": [cell, same, text] if m <= _WRITTEN else [cell, same],
    }


_TOOLTIP = tooltip(head="head", other="other", cosine="cosine")
