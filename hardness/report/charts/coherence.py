"""The figure of how alike the heads of a layer are: cosines of the Theta_i and of the W_i."""

from typing import Any

from hardness.report.plot import Axis, Data, cells, named, panels
from hardness.report.style import GREY
from hardness.runs.names import brief_spec
from instances.errors import DamagedFile, UsageError
from instances.strict import shown

_SIDE = 230  # pixels of a matrix
_WRITTEN = 8  # heads, up to which numbers stand in the cells
_SHOWN = 128


def of_coherence(facts: dict[str, Any]) -> Data:
    """Give the cosines that `inspect` measured; raises UsageError for one head, or too many."""
    layer = facts.get("layer") if isinstance(facts, dict) else None
    if not isinstance(layer, dict) or not {"cosines", "w_cosines"} <= set(layer):
        raise UsageError("no cosines of heads there: figure coherence is of `hardness inspect`")
    m = len(layer["cosines"])
    if any(abs(v) > 1.001 for name in ("cosines", "w_cosines") for row in layer[name] for v in row):
        raise DamagedFile("a cosine above 1 there: it is none of `hardness inspect`")
    if not 2 <= m <= _SHOWN:
        raise UsageError(f"{m} heads given: figure coherence shows 2 to {_SHOWN}")
    return {
        "about": brief_spec(str(facts.get("spec") or facts.get("source") or "a layer")),
        "heads": m,
        "rows": [
            {"matrix": name, "head": str(i), "other": str(j), "cosine": round(float(v), 6)}
            for name, cosines in (("Theta", layer["cosines"]), ("W", layer["w_cosines"]))
            for i, row in enumerate(cosines)
            for j, v in enumerate(row)
            if i != j
        ],
    }


def draw_coherence(data: Data) -> Data:
    """Draw both matrices, the diagonal left out, with one scale of colours; raises DamagedFile."""
    if not 2 <= data["heads"] <= _SHOWN:
        raise DamagedFile(f"{shown(data['heads'])} heads: figure coherence shows 2 to {_SHOWN}")
    chart = panels(
        *(_matrix(name, data) for name in ("Theta", "W")),
        title=named(data["about"], 90),
        notes=["cosines of two heads: small where heads differ, ±1 where both lie on one line"],
    )
    return {**chart, "resolve": {"scale": {"color": "shared"}}}


def _matrix(name: str, data: Data) -> Data:
    names = [str(i) for i in range(data["heads"])]
    rows = [
        {**row, "text": f"{row['cosine']:.2f}".replace("-", "−")}
        for row in data["rows"]
        if row["matrix"] == name
    ]
    look = {"values": names[:: max(1, len(names) // 16)]}
    x, y = (
        Axis(column, "head", scale="names", names=names, look=look) for column in ("other", "head")
    )
    own = {"type": "text", "text": "╲", "color": GREY, "fontSize": min(28, _SIDE // len(names))}
    diagonal = {"data": {"values": [{"head": i, "other": i} for i in names]}, "mark": own}
    written = {"text": {"fontSize": 11}} if len(names) <= _WRITTEN else {}
    return cells(
        rows,
        x=x,
        y=y,
        colour={
            "field": "cosine",
            "type": "quantitative",
            "scale": {"scheme": "redblue", "reverse": True, "domain": [-1, 1]},
            "legend": {"title": "cosine", "orient": "right", "direction": "vertical"},
        },
        says=written,
        ink={"condition": {"test": "abs(datum.cosine) > 0.6", "value": "white"}, "value": "black"},
        told={"head": "head", "other": "other", "cosine": "cosine"},
        title=f"{name}_i: largest |cosine| {max(abs(row['cosine']) for row in rows):.3g}",
        size=(_SIDE, _SIDE),
        between=[diagonal],
    )
