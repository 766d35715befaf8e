"""Figures of the studies of in-context regression: rows of panels, drawn alike for all studies."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from hardness.icl.evidence import Optimum, Sampled
from hardness.icl.exact import Exact, Solved
from hardness.icl.train import Curves, Trained
from hardness.report.icl import CURVES, FREE, SHOWN
from hardness.report.plot import Axis, Data, cells, panels, plot
from hardness.report.style import INK, Style, series_style
from hardness.report.text import count
from instances.errors import DamagedFile

_SIZE, _HALF = (250, 200), (330, 230)
_KINDS: dict[str, Data] = {  # of rows: how they are drawn
    "curve": {"marks": ("line", "point")},
    "line": {"marks": ("line",)},
    "point": {"marks": ("point",)},
    "sampled": {"marks": ("interval", "line", "point")},
    "alone": {"marks": ("interval", "point")},
    "dotted": {"marks": ("line",), "dash": (2, 3)},
    "density": {"marks": ("band",), "step": "step-after"},
    "level": {"marks": ("level",)},
    "text": {"marks": ("text",)},
}
_DASHES: tuple[tuple[int, ...], ...] = ((2, 3), (5, 3), (8, 3, 2, 3), ())  # of levels and walls
Rows = list[Data]
Picture = tuple[str, list[str], list[Data]]  # a title, notes and panels with their rows


def of_icl(data: Data) -> Data:
    """Give the rows of a study, of what its results.json holds, by panel and series.

    A row has x and y, or low and high, and a kind, which says how it is drawn; a cell of a matrix
    has row, column and value. Raises DamagedFile for another file, and where numbers are missing.
    """
    kind = data.get("kind")
    if data.get("format") != 1 or kind not in _STUDIES:
        raise DamagedFile("this results.json holds no study of `hardness icl ... --out DIR`")
    study, panels_of = _STUDIES[kind]
    try:
        title, notes, found = panels_of(msgspec.convert(data, study))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise DamagedFile(
            f"this results.json is no whole study ({type(error).__name__} {error}): make it again "
            f"with `hardness {kind} --out DIR`"
        ) from error
    rows = [{"panel": one["title"], **row} for one in found for row in one.pop("rows")]
    return {"kind": kind, "title": title, "notes": notes, "panels": found, "rows": rows}


def draw_icl(data: Data) -> Data:
    """Draw the panels of a study, matrices above them."""
    charts, maps = [], []
    for one in data["panels"]:
        rows = [row for row in data["rows"] if row["panel"] == one["title"]]
        if rows and rows[0]["kind"] == "cell":
            maps.append(_heatmap(one["title"], rows))
        else:
            charts.append(_panel(one, rows))
    drawn = panels(*charts, title=data["title"], notes=data["notes"], own=True)
    if not maps:
        return drawn
    above = {"concat": maps, "columns": 6, "resolve": {"scale": {"color": "independent"}}}
    datasets = drawn.pop("datasets")
    return {"title": drawn.pop("title"), "datasets": datasets, "vconcat": [above, drawn]}


def _panel(one: Data, rows: Rows) -> Data:
    styles: dict[str, Style] = {}
    straight = 0
    for row in rows:
        if row["series"] not in styles:
            look: Data = _KINDS[row["kind"]]
            style = replace(series_style(len(styles) - straight), **look)
            if row["kind"] in ("level", "density"):
                style = replace(style, colour=INK, dash=_DASHES[straight % len(_DASHES)])
                straight += 1
            styles[row["series"]] = style

    def axis(at: str) -> Axis:
        log, whole = at in one.get("log", ""), at in one.get("whole", "")
        scale: Any = "log" if log else "whole" if whole else "linear"
        return Axis(at, one[at], scale=scale, domain=one.get("domains", {}).get(at))

    title, size = one["title"], one.get("size", _SIZE)
    return plot(rows, x=axis("x"), y=axis("y"), styles=styles, kinds=_KINDS, title=title, size=size)


def _heatmap(title: str, rows: Rows) -> Data:
    most = max(abs(row["value"]) for row in rows) or 1.0
    names = list(dict.fromkeys(str(row["row"]) for row in rows))
    x, y = (
        Axis(at, scale="names", names=names, look={"labels": False}) for at in ("column", "row")
    )
    legend = {"title": None, "orient": "right", "direction": "vertical", "gradientLength": 100}
    scale = {"scheme": "redblue", "reverse": True, "domain": [-most, most]}
    return cells(
        [{**row, "row": str(row["row"]), "column": str(row["column"])} for row in rows],
        x=x,
        y=y,
        colour={"field": "value", "type": "quantitative", "scale": scale, "legend": legend},
        says={},
        title=title,
        size=(110, 110),
    )


def _series(
    name: str, kind: str, x: Iterable[Any] = (), y: Iterable[Any] = (), **ends: Iterable[Any]
) -> Rows:
    """Rows of a series; ends: low and high, or what a text says."""
    columns = {"x": list(x), "y": list(y), **{end: list(values) for end, values in ends.items()}}
    kept = {column: values for column, values in columns.items() if values}
    return [
        {"series": name, "kind": kind, **dict(zip(kept, row, strict=True))}
        for row in zip(*kept.values(), strict=True)
    ]


def _level(name: str, y: float) -> Rows:
    return _series(name, "level", y=[y])


def _sampled(name: str, x: Iterable[float], found: Sequence[Sampled]) -> Rows:
    """Means with four standard errors, no lower than a logarithmic axis can show."""
    ends = [(max(s.mean - 4 * s.error, s.mean / 1000), s.mean + 4 * s.error) for s in found]
    low, high = ([end[side] for end in ends] for side in (0, 1))
    return _series(name, "sampled", x, [s.mean for s in found], low=low, high=high)


def _shown(title: str, x: str, y: str, rows: Rows, **look: Any) -> Data:
    """A panel: its axes, of which look says what is logarithmic, whole or ends where."""
    return {"title": title, "x": x, "y": y, **look, "rows": rows}


def _noise(found: Optimum | Exact) -> str:
    return f", label noise {found.noise:g}" if found.noise else ""


def _optimum(found: Optimum) -> Picture:
    """Loss against n, the step in each eigendirection, and where random starts end."""
    seen = [one for one in found.curve if one.bayes.mean > 1e-9 * found.power]
    layer = zip(*((one.n, one.layer) for one in found.curve), strict=True)
    turned = zip(*((one.eigenvalue, one.multiplier) for one in found.directions), strict=True)
    bayes = [one.n for one in seen], [one.bayes for one in seen]
    lengths = [
        *_level("predicting 0", found.power),
        *_series("one layer, L*: closed form", "line", *layer),
        *_sampled("Monte Carlo at A*", [found.n], [found.integrated]),
        *_sampled("Bayes, ridge: Monte Carlo", *bayes),
    ]
    steps = [
        *_level("σ^-1: a full Newton step", 1),
        *_level("n / (n + 1)", found.n / (found.n + 1)),
        *_series("optimal layer A*", "point", *turned),
    ]
    notes = ["σ: the covariance of the tokens; intervals: 4 standard errors"]
    if len(seen) < len(found.curve):
        notes += ["without noise the Bayes predictor loses 0 from n = d on: no mark there"]
    points, error = "number n of labelled points in the prompt", "expected squared error"
    eigenvalue, multiplier = "eigenvalue of σ", "multiplier of A* x eigenvalue"
    turn: Data = {"log": "x", "domains": {"y": (0.0, 1.5)}}
    every = [
        _shown("Least loss against prompt length", points, error, lengths, log="xy"),
        _shown("The step in each eigendirection", eigenvalue, multiplier, steps, **turn),
    ]
    title = f"One layer of linear attention, d = {found.d}, n = {found.n}{_noise(found)}"
    return title, notes, every


def _exact(found: Exact) -> Picture:
    """The best residual polynomials over the spectrum, and losses against layers."""
    heights, edges = np.array(found.density.heights), np.array(found.density.edges)
    right = float(edges[1:][heights > 1e-3 * heights.max()].max())
    tall = (heights / heights.max()).tolist()
    low = [0.0] * len(edges)
    rows = _series("mean spectrum (sampled)", "density", edges, low=low, high=[*tall, tall[-1]])
    t = np.linspace(0, right, 300)
    for one in found.best[:SHOWN]:
        values = np.polynomial.polynomial.polyval(t, one.polynomial).tolist()
        name = count(len(one.steps), "layer")
        roots = [1 / a for a in one.steps if 1 / a <= right] if one.real else []
        rows += _series(name, "line", t.tolist(), [v if v <= 1.01 else None for v in values])
        rows += _series(name, "point", roots, [0] * len(roots))
    polynomials = _shown(
        "Best residual polynomials, roots at 1 / step",
        "eigenvalue t of S",
        "residual p(t); density, scaled to 1",
        rows,
        domains={"x": (0.0, right), "y": (-0.75, 1.05)},
        size=_HALF,
    )
    title = f"n = {found.n} points, d = {found.d}{_noise(found)}, task covariance C^-1"
    return title, [], [polynomials, _layers(found)]


def _layers(found: Exact) -> Data:
    models: dict[str, Sequence[Solved]] = {
        "one common step": found.common,
        "best steps": found.best,
        "GD++ (best found)": found.plusplus,
    }
    known = [one.loss for solved in models.values() for one in solved]
    low = min(v for v in (*known, found.floor or math.inf) if v > 0)
    rows = _level("predicting 0", found.none)
    rows += _level("best predictor", found.floor) if found.floor else []
    for name, solved in models.items():
        rows += _series(name, "curve", found.layers[: len(solved)], [one.loss for one in solved])
    bulk = [one.loss for one in found.chebyshev]
    for name, losses in ("Chebyshev steps on the bulk", bulk), (_LIMIT, found.limit):
        rows += _series(name, "dotted", found.layers, losses) if losses else []
    return _shown(
        "Exact loss against the number of layers",
        "number of layers L",
        "loss E (prediction − <w, x>)²",
        rows,
        log="y",
        whole="x",
        domains={"y": (0.7 * low, 2 * max(found.none, *known))},
        size=_HALF,
    )


def _train(found: Trained) -> Picture:
    """The whitened matrices, their distances to the identity, and the training curve."""
    every = [("Q", i, *one) for i, one in enumerate(zip(found.q, found.distance_q, strict=True), 1)]
    if found.p is not None and found.distance_p is not None:
        moved = zip(found.p[:-1], found.distance_p, strict=True)
        every += [("P", i, *one) for i, one in enumerate(moved, 1)]
    maps = [
        {
            "title": f"layer {layer}: {name}, {far:.3f} from I",
            "rows": [
                {"kind": "cell", "row": i, "column": j, "value": v}
                for i, row in enumerate(matrix)
                for j, v in enumerate(row)
            ],
        }
        for name, layer, matrix, far in every
    ]
    steps = [1 + mark.step for mark in found.curve]
    apart = _level("0.1", 0.1)
    curves = {"Q": [mark.q for mark in found.curve], "P": [mark.p or [] for mark in found.curve]}
    for name, kind in (("Q", "line"), ("P", "dotted")):
        for i, curve in enumerate(zip(*curves[name], strict=True), 1):
            apart += _series(f"{name}, layer {i}", kind, steps, curve)
    name, far = "Distance from a multiple of I (Frobenius)", "|M − (tr M/d) I| / |M|"
    distances = _shown(name, "1 + step", far, apart, log="xy", size=_HALF)
    where = "whitened" if found.whiten else "raw"
    title = f"{count(found.layers, 'layer')}, {FREE[found.free]}, d = {found.d}, "
    title += f"n = {found.n}, noise {found.noise:g}"
    notes = [f"trained in {where} coordinates, seed {found.seed}; matrices whitened"]
    return title, notes, [*maps, _training_loss(found, steps), distances]


def _training_loss(found: Trained, steps: list[int]) -> Data:
    loss, rare, known = found.loss, found.rare, found.reference
    rows = _series("on the training sample", "line", steps, [mark.loss for mark in found.curve])
    name = f"on fresh samples: {loss.value:.4g} ± {loss.error:.1g}"
    low, high = [max(loss.interval[0], loss.value / 1000)], [loss.interval[1]]
    rows += _series(name, "alone", steps[-1:], [loss.value], low=low, high=high)
    if rare.value > 2 * loss.value:
        name = f"with rare prompts: {rare.value:.2g}"
        rows += _series(name, "point", steps[-1:], [rare.value])
    if known is not None:
        name = "best steps, exact" if found.free == "q" else "best scalars found, exact"
        rows += _level(f"{name}: {known.loss:.4g}", known.loss)
    return _shown("Loss", "1 + step", "mean squared error", rows, log="xy", size=_HALF)


def _curves(found: Curves) -> Picture:
    """The loss against the number of layers, sampled ones with intervals of 99 %."""
    rows, losses = [], [point.loss for point in found.points]
    top = 2 * max(losses)
    for name in CURVES:
        points = [point for point in found.points if point.name == name]
        x, y = [point.layers for point in points], [point.loss for point in points]
        ends = [(max(p.interval[0], p.loss / 1000), p.interval[1]) for p in points if p.interval]
        if points and not ends:
            rows += _series(f"{name}, exact", "curve", x, y)
            continue
        said = f"{name}, fresh samples"
        low, high = ([end[side] for end in ends] for side in (0, 1))
        rows += _series(said, "alone", x, y, low=low, high=high)
        for p in points:
            if p.rare and p.rare.value > 2 * p.loss:
                place = min(p.rare.value, max(top / 400, 3 * p.loss))  # above its point
                top = max(top, 4 * place)
                words = [f"rare prompts: {p.rare.value:.1g}"]
                rows += _series(said, "text", [p.layers], [place], says=words)
    chart = _shown(
        "Loss of linear attention by layers",
        "number of layers",
        "mean squared error",
        rows,
        log="y",
        whole="x",
        domains={"y": (min(losses) / 3, top)},
        size=(420, 260),
    )
    about = f"d = {found.d}, n = {found.n}, noise {found.noise:g}"
    return about, ["intervals: 99 %"], [chart]


_LIMIT = "best steps, n, d to infinity"
_STUDIES: dict[str, tuple[Any, Callable[[Any], Picture]]] = {
    "icl optimum": (Optimum, _optimum),
    "icl steps": (Exact, _exact),
    "icl train": (Trained, _train),
    "icl curves": (Curves, _curves),
}
