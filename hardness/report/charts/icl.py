"""Figures of the studies of in-context regression: rows of panels, drawn alike for all studies."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from hardness.report.icl import FREE, SHOWN, best_of, clipping, spurious
from hardness.report.plot import Axis, Data, cells, panels, plot
from hardness.report.style import INK, RING, Style, series_style
from hardness.report.text import count
from instances.errors import DamagedFile

_SIZE, _HALF = (250, 200), (330, 230)
_TOP = 3.0  # an axis of losses ends at this multiple of the loss of predicting 0
_OFF = (  # a saltire, larger than other marks
    "M-1.7,-1.4L-1.4,-1.7L0,-.3L1.4,-1.7L1.7,-1.4L.3,0"
    "L1.7,1.4L1.4,1.7L0,.3L-1.4,1.7L-1.7,1.4L-.3,0Z"
)
_KINDS: dict[str, Data] = {  # of rows: how they are drawn
    "curve": {"marks": ("line", "point")},
    "line": {"marks": ("line",)},
    "point": {"marks": ("point",)},
    "sampled": {"marks": ("interval", "line", "point")},
    "alone": {"marks": ("interval", "point")},
    "range": {"marks": ("band", "line")},
    "tuned range": {"marks": ("band", "line"), "dash": (5, 3)},
    "tuned": {"marks": ("point",), "shape": RING},
    "lost": {"marks": ("point",), "shape": _OFF},
    "dotted": {"marks": ("line",), "dash": (2, 3)},
    "density": {"marks": ("band",), "step": "step-after"},
    "bar": {"marks": ("bar",)},
    "level": {"marks": ("level",)},
    "wall": {"marks": ("wall",)},
    "text": {"marks": ("text",)},
}
_DASHES: tuple[tuple[int, ...], ...] = ((2, 3), (5, 3), (8, 3, 2, 3), ())  # of levels and walls
Rows = list[Data]


def of_icl(data: Data) -> Data:
    """Give the rows of a study, of what its results.json holds, by panel and series.

    A row has x and y, or low and high, and a kind, which says how it is drawn; a cell of a matrix
    has row, column and value. Raises DamagedFile for another file, and where numbers are missing.
    """
    if data.get("format") != 1 or data.get("kind") not in _STUDIES:
        raise DamagedFile("this results.json holds no study of `hardness icl ... --out DIR`")
    try:
        if any(isinstance(one := data.get(key), int) and one < 1 for key in ("d", "n", "heads")):
            raise ValueError("d, n or heads below 1")
        title, notes, found = _STUDIES[data["kind"]](data)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise DamagedFile(
            f"this results.json is no whole study ({type(error).__name__} {error}): make it again "
            f"with `hardness {data['kind']} --out DIR`"
        ) from error
    rows = [{"panel": one["title"], **row} for one in found for row in one.pop("rows")]
    return {"kind": data["kind"], "title": title, "notes": notes, "panels": found, "rows": rows}


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
            own = replace(series_style(len(styles) - straight), **look, wide=one.get("wide", 0.8))
            if row["kind"] in ("level", "wall", "density"):
                own = replace(own, colour=INK, dash=_DASHES[straight % len(_DASHES)])
                straight += 1
            styles[row["series"]] = own

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


def _wall(name: str, *x: float) -> Rows:
    return _series(name, "wall", x)


def _sampled(name: str, x: Iterable[float], found: Sequence[Data]) -> Rows:
    """Means with four standard errors, no lower than a logarithmic axis can show."""
    means = [(one["mean"], 4 * one["error"]) for one in found]
    low, high = ([max(m - e, m / 1000) for m, e in means], [m + e for m, e in means])
    return _series(name, "sampled", x, [m for m, _ in means], low=low, high=high)


def _noise(data: Data) -> str:
    return f", label noise {data['noise']:g}" if data["noise"] else ""


def _optimum(data: Data) -> tuple[str, list[str], list[Data]]:
    """Loss against n, the step in each eigendirection, and where random starts end."""
    curve, given, directions = data["curve"], data["integrated"], data["directions"]
    shown = [each for each in curve if each["bayes"]["mean"] > 1e-9 * data["power"]]
    lengths = [
        *_level("predicting 0", data["power"]),
        *_series("one layer, L*: closed form", "line", *_columns(curve, "n", "layer")),
        *_sampled("Monte Carlo at A*", [data["n"]], [given]),
        *_sampled(
            "Bayes, ridge: Monte Carlo", _columns(shown, "n")[0], _columns(shown, "bayes")[0]
        ),
    ]
    steps = [
        *_level("σ^-1: a full Newton step", 1),
        *_level("n / (n + 1)", data["n"] / (data["n"] + 1)),
        *_series("optimal layer A*", "point", *_columns(directions, "eigenvalue", "multiplier")),
    ]
    notes = ["σ: the covariance of the tokens; intervals: 4 standard errors"]
    if len(shown) < len(curve):
        notes += ["without noise the Bayes predictor loses 0 from n = d on: no mark there"]
    notes += ["random starts are run up to d = 8"] if data["ends"] is None else []
    found: list[Data] = [
        {
            "title": "Least loss against prompt length",
            "x": "number n of labelled points in the prompt",
            "y": "expected squared error",
            "log": "xy",
            "rows": lengths,
        },
        {
            "title": "The step in each eigendirection",
            "x": "eigenvalue of σ",
            "y": "multiplier of A* x eigenvalue",
            "log": "x",
            "domains": {"y": (0.0, 1.5)},
            "rows": steps,
        },
        *([] if data["ends"] is None else [_ends(data)]),
    ]
    title = f"One layer of linear attention, d = {data['d']}, n = {data['n']}{_noise(data)}"
    return title, notes, found


def _columns(rows: Iterable[Data], *names: str) -> list[list[Any]]:
    every = list(rows)
    return [[row[name] for row in every] for name in names]


def _ends(data: Data) -> Data:
    ends, rank_one = data["ends"], data["rank_one"]
    low, high = data["least"], 1.02 * data["power"]  # nothing ends below L*, but for rounding
    losses = [min(max(loss, low), high) for loss in ends["losses"]]
    counts, edges = np.histogram(losses, bins=40, range=(low, high))
    full = np.flatnonzero(counts)
    middle = ((edges[1:] + edges[:-1]) / 2)[full].tolist()
    traps = [point["loss"] for point in spurious(data)]
    saddle = _wall("rank one: saddle", rank_one["loss"]) if rank_one["margin"] < 0 else []
    return {
        "title": "Where training of b and A ends",
        "x": "loss at the end",
        "y": "number of random starts",
        "domains": {"x": (low - 0.02 * high, high), "y": (0, 1.05 * ends["starts"])},
        "wide": float(edges[1] - edges[0]),
        "rows": [
            *_series(f"{ends['starts']} random starts", "bar", middle, counts[full].tolist()),
            *_wall("predicting 0", data["power"]),
            *_wall("L*, global minimum", data["least"]),
            *_wall("spurious local minimum", *traps),
            *saddle,
        ],
    }


def _steps(data: Data) -> tuple[str, list[str], list[Data]]:
    """The best residual polynomials over the spectrum, and losses against layers."""
    heights, edges = (np.array(data["density"][key]) for key in ("heights", "edges"))
    right = float(edges[1:][heights > 1e-3 * heights.max()].max())
    tall = (heights / heights.max()).tolist()
    low = [0.0] * len(edges)
    rows = _series("mean spectrum (sampled)", "density", edges, low=low, high=[*tall, tall[-1]])
    t = np.linspace(0, right, 300)
    for entry in data["best"][:SHOWN]:
        values = np.polynomial.polynomial.polyval(t, entry["polynomial"]).tolist()
        name = count(len(entry["steps"]), "layer")
        roots = [1 / a for a in entry["steps"] if 1 / a <= right] if entry["real"] else []
        rows += _series(name, "line", t.tolist(), [v if v <= 1.01 else None for v in values])
        rows += _series(name, "point", roots, [0] * len(roots))
    polynomials = {
        "title": "Best residual polynomials, roots at 1 / step",
        "x": "eigenvalue t of S",
        "y": "residual p(t); density, scaled to 1",
        "domains": {"x": (0.0, right), "y": (-0.75, 1.05)},
        "size": _HALF,
        "rows": rows,
    }
    title = f"n = {data['n']} points, d = {data['d']}{_noise(data)}, task covariance C^-1"
    return title, [], [polynomials, _layers(data)]


def _layers(data: Data) -> Data:
    names = {"common": "one common step", "best": "best steps", "plusplus": "GD++ (best found)"}
    known = [entry["loss"] for key in names for entry in data[key]]
    low = min(v for v in (*known, data["floor"] or math.inf) if v > 0)
    rows = _level("predicting 0", data["none"])
    rows += _level("best predictor", data["floor"]) if data["floor"] else []
    for key, name in names.items():
        losses = [entry["loss"] for entry in data[key]]
        rows += _series(name, "curve", data["layers"][: len(losses)], losses)
    if data["chebyshev"]:
        losses = [entry["loss"] for entry in data["chebyshev"]]
        rows += _series("Chebyshev steps on the bulk", "dotted", data["layers"], losses)
    if data["limit"]:
        rows += _series("best steps, n, d to infinity", "dotted", data["layers"], data["limit"])
    return {
        "title": "Exact loss against the number of layers",
        "x": "number of layers L",
        "y": "loss E (prediction − <w, x>)²",
        "log": "y",
        "whole": "x",
        "domains": {"y": (0.7 * low, 2 * max(data["none"], *known))},
        "size": _HALF,
        "rows": rows,
    }


def _train(data: Data) -> tuple[str, list[str], list[Data]]:
    """The whitened matrices, their distances to the identity, and the training curve."""
    shown = [(f"layer {i + 1}: Q", m, data["distance_q"][i]) for i, m in enumerate(data["q"])]
    if data["p"] is not None:
        moved = zip(data["p"][:-1], data["distance_p"], strict=True)
        shown += [(f"layer {i + 1}: P", m, far) for i, (m, far) in enumerate(moved)]
    maps = [
        {
            "title": f"{name}, {far:.3f} from I",
            "rows": [
                {"kind": "cell", "row": i, "column": j, "value": v}
                for i, row in enumerate(matrix)
                for j, v in enumerate(row)
            ],
        }
        for name, matrix, far in shown
    ]
    steps = [1 + point["step"] for point in data["curve"]]
    apart = _level("0.1", 0.1)
    for name, kind in (("q", "line"), ("p", "dotted")):
        for i in range(len(data["curve"][0].get(name, ()))):
            far = [point[name][i] for point in data["curve"]]
            apart += _series(f"{name.upper()}, layer {i + 1}", kind, steps, far)
    distances = {
        "title": "Distance from a multiple of I (Frobenius)",
        "x": "1 + step",
        "y": "|M − (tr M/d) I| / |M|",
        "log": "xy",
        "size": _HALF,
        "rows": apart,
    }
    where = "whitened" if data["whiten"] else "raw"
    title = f"{count(data['layers'], 'layer')}, {FREE[data['free']]}, d = {data['d']}, "
    title += f"n = {data['n']}, noise {data['noise']:g}"
    notes = [f"trained in {where} coordinates, seed {data['seed']}; matrices whitened"]
    return title, notes, [*maps, _training_loss(data, steps), distances]


def _training_loss(data: Data, steps: list[int]) -> Data:
    loss, rare, known = data["loss"], data["rare"], data["reference"]
    fixed = "on the training sample" if data["method"] == "lbfgs" else "on each batch"
    rows = _series(fixed, "line", steps, [point["loss"] for point in data["curve"]])
    rows += _series(
        f"on fresh samples: {loss['value']:.4g} ± {loss['error']:.1g}",
        "alone",
        steps[-1:],
        [loss["value"]],
        low=[max(loss["interval"][0], loss["value"] / 1000)],
        high=[loss["interval"][1]],
    )
    if rare["value"] > 2 * loss["value"]:
        name = f"with rare prompts: {rare['value']:.2g}"
        rows += _series(name, "point", steps[-1:], [rare["value"]])
    if known is not None:
        name = "best steps, exact" if data["free"] == "q" else "best scalars found, exact"
        rows += _level(f"{name}: {known['loss']:.4g}", known["loss"])
    axes = {"x": "1 + step", "y": "mean squared error", "log": "xy"}
    return {"title": "Loss", **axes, "size": _HALF, "rows": rows}


_CURVES = ("one step size", "optimal steps", "GD++ scalars", "trained, P = 0", "trained P, Q")


def _curves(data: Data) -> tuple[str, list[str], list[Data]]:
    """The loss against the number of layers, sampled ones with intervals of 99 %."""
    rows, losses = [], [point["loss"] for point in data["points"]]
    top = 2 * max(losses)
    for name in _CURVES:
        points = [point for point in data["points"] if point["name"] == name]
        x, y = _columns(points, "layers", "loss")
        if points and points[0]["error"] is None:
            rows += _series(f"{name}, exact", "curve", x, y)
            continue
        said = f"{name}, fresh samples"
        low = [max(p["interval"][0], p["loss"] / 1000) for p in points]
        rows += _series(said, "alone", x, y, low=low, high=[p["interval"][1] for p in points])
        for p in points:
            if p["rare"] and p["rare"]["value"] > 2 * p["loss"]:
                place = min(p["rare"]["value"], max(top / 400, 3 * p["loss"]))  # above its point
                top = max(top, 4 * place)
                words = [f"rare prompts: {p['rare']['value']:.1g}"]
                rows += _series(said, "text", [p["layers"]], [place], says=words)
    chart = {
        "title": "Loss of linear attention by layers",
        "x": "number of layers",
        "y": "mean squared error",
        "log": "y",
        "whole": "x",
        "domains": {"y": (min(losses) / 3, top)},
        "size": (420, 260),
        "rows": rows,
    }
    about = f"d = {data['d']}, n = {data['n']}, noise {data['noise']:g}"
    return about, ["intervals: 99 %"], [chart]


_OUTPUTS = {"1/n": "output / n", "1": "output as it is", "free": "output of free scale"}


def _softmax(data: Data) -> tuple[str, list[str], list[Data]]:
    """The loss by the number of heads, with what linear layers lose, for every number of layers."""
    about = f"n = {data['n']}, d = {data['d']}, noise {data['noise']:g}, seed {data['seed']}"
    depths = sorted({t["layers"] for t in data["trained"]})
    title = f"In-context regression, softmax attention: {about}"
    return title, ["intervals: two standard errors"], [_by_heads(data, depth) for depth in depths]


def _by_heads(data: Data, depth: int) -> Data:
    chosen = sorted(
        (t for t in data["trained"] if t["layers"] == depth), key=lambda t: int(t["heads"])
    )
    losses = [best_of(t)[0] for t in chosen]
    low, high = 0.4 * min(losses), 3 * max(losses)
    rows: Rows = []
    for output, name in _OUTPUTS.items():
        of = [t for t in chosen if t["output"] == output]
        found = [best_of(t) for t in of]
        ends = {
            "low": [max(v - 2 * e, v / 1000) for v, e in found],
            "high": [v + 2 * e for v, e in found],
        }
        rows += _series(name, "sampled", [t["heads"] for t in of], [v for v, _ in found], **ends)
    for r in sorted(data["references"], key=lambda r: -float(r["loss"])):
        seen = r["layers"] == depth or (r["layers"] == 0 and r["loss"] > low)
        if seen and r["loss"] < high:
            rows += _level(f"{r['name']}: {r['loss']:.3g}", r["loss"])
    log = max(losses) > 20 * min(losses)
    return {
        "title": count(depth, "layer"),
        "x": "number of heads",
        "y": "loss, E (prediction − <w, x>)²",
        "log": "y" if log else "",
        "domains": {} if log else {"y": (0.0, 1.2 * max(losses))},
        "whole": "x",
        "size": (300, 230),
        "rows": rows,
    }


def _optimizers(data: Data) -> tuple[str, list[str], list[Data]]:
    """Loss curves at the authors' and at the tuned rates, losses by rate, and noise tails."""
    title = f"{count(data['layers'], 'layer')}, d = {data['d']}, n = {data['n']}, "
    title += f"batches of {data['batch']}, {clipping(data)}"
    rates = ", ".join(f"{m['name']} {m['tuned']['rate']:g}" for m in data["methods"])
    notes = [
        "medians and ranges over seeds; crosses: off the axis, or worse than predicting 0",
        f"left: learning rate {data['authors_rate']:g}; dashed: tuned rates, {rates}",
    ]
    tails = [_tails(data)] if data["noise"] else []
    return title, notes, [_losses(data), _rates(data), *tails]


def _high(value: float | None, data: Data) -> float:
    """Keep a loss below the top of the axes; null is one that overflowed."""
    top = 0.8 * _TOP * data["power"]
    return top if value is None else min(value, top)


def _losses(data: Data) -> Data:
    top, rows = 0.8 * _TOP * data["power"], Rows()
    for method in data["methods"]:
        same = method["tuned"]["rate"] == data["authors_rate"]
        for at, kind in (("authors", "range"), *(() if same else (("tuned", "tuned range"),))):
            curves = zip(*method[at]["curves"], strict=True)
            columns = [[_high(v, data) for v in column] for column in curves]
            middle = [median(column) for column in columns]
            kept = [v if v < top else None for v in middle]
            ends = {"low": map(min, columns), "high": map(max, columns)}
            rows += _series(method["name"], kind, data["at"], kept, **ends)
            lost = [step for step, v in zip(data["at"], middle, strict=True) if v >= top][:1]
            rows += _series(method["name"], "lost", lost, [top] * len(lost))
    low = min(row["low"] for row in rows if row.get("low", 0) > 0)
    return {
        "title": "Loss while training",
        "x": "step",
        "y": "loss on held-out prompts",
        "log": "y",
        "domains": {"y": (low / 2, _TOP * data["power"])},
        "rows": rows,
    }


def _rates(data: Data) -> Data:
    rows: Rows = []
    for method in data["methods"]:
        name, tried = method["name"], method["tried"]
        rates = [t["rate"] for t in tried]
        middle = [median(_high(v, data) for v in t["losses"]) for t in tried]
        rows += _series(name, "curve", rates, middle)
        lost = [v if v >= data["power"] else None for v in middle]
        rows += _series(name, "lost", rates, lost)
        for at, kind in (("authors", "point"), ("tuned", "tuned")):
            loss = median(_high(v, data) for v in method[at]["losses"])
            rows += _series(name, kind, [method[at]["rate"]], [loss])
    low = min(row["y"] for row in rows if row["y"])
    rows += _wall("rate of ACSYJS24", data["authors_rate"]) + _level("predicting 0", data["power"])
    for name, value in data["references"].items():
        rows += _level(name, value)
        low = min(low, value)
    return {
        "title": f"Loss after {data['steps']} steps, by rate",
        "x": "learning rate (rings: tuned, other seeds)",
        "y": "loss on drawn prompts",
        "log": "xy",
        "domains": {"y": (low / 2, _TOP * data["power"])},
        "rows": rows,
    }


def _tails(data: Data) -> Data:
    rows: Rows = []
    for where, found in data["noise"].items():
        name = f"{where}, batch {found['batch']}" if found["batch"] > 1 else where
        rows += _series(name, "line", found["ratios"], found["shares"])
        rows += _series(name, "dotted", found["gaussian_ratios"], found["shares"])
    most = max(row["x"] for row in rows if row["x"])
    least = 1 / max(found["draws"] for found in data["noise"].values())
    return {
        "title": "Gradient noise (dotted: Gaussian)",
        "x": "norm of the noise over its median",
        "y": "share of draws above",
        "log": "xy",
        "domains": {"x": (0.8, 1.1 * most), "y": (least, 1.0)},
        "rows": rows,
    }


_STUDIES: dict[str, Callable[[Data], tuple[str, list[str], list[Data]]]] = {
    "icl optimum": _optimum,
    "icl steps": _steps,
    "icl train": _train,
    "icl curves": _curves,
    "icl optimizers": _optimizers,
    "icl softmax": _softmax,
}
