"""Figures of the studies of in-context regression, each from its results.json."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from hardness.icl.softmax_study import OUTPUTS
from hardness.report.charts.chart import Data, drawn_of
from hardness.report.charts.style import BOUND, COLOURS, GREY, series_style
from hardness.report.charts.trace import RING, WHOLE, Trace, beside, level, panel, wall, words
from hardness.report.icl import FREE, SHOWN, best_of, clipping, spurious
from hardness.report.text import count
from instances.errors import DamagedFile
from instances.strict import read_json

_BLUE, _RED, _GREEN, _PURPLE, _ORANGE, _DARK = COLOURS
_SIZE, _HALF = (250, 200), (330, 230)
_TOP = 3.0  # an axis of losses ends at this multiple of the loss of predicting 0
_DASH, _DOT, _MIXED = (5, 3), (2, 3), (8, 3, 2, 3)


def of_icl(path: Path) -> Data:
    """Read a study from its folder or its results.json; raises DamagedFile for any other file."""
    path = path / "results.json" if path.is_dir() else path
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != 1 or data.get("kind") not in _DRAWN:
        raise DamagedFile(f"{path} holds no study of `hardness icl ... --out DIR`")
    return data


def draw_icl(data: Data) -> Data:
    """Draw the figure of a study; raises DamagedFile for data with numbers missing."""
    try:
        return _DRAWN[data["kind"]](data)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise DamagedFile(
            f"this results.json is no whole study ({type(error).__name__} {error}): make it again "
            f"with `hardness {data['kind']} --out DIR`"
        ) from error


def _style(number: int) -> Data:
    found = series_style(number)
    return {"colour": found.colour, "shape": found.shape}


def _noise(data: Data) -> str:
    return f", label noise {data['noise']:g}" if data["noise"] else ""


def _optimum(data: Data) -> Data:
    """Loss against n, the step in each eigendirection, and where random starts end."""
    title = f"One layer of linear attention, d = {data['d']}, n = {data['n']}{_noise(data)}"
    shown = [each for each in data["curve"] if each["bayes"]["mean"] > 1e-9 * data["power"]]
    notes = ["σ: the covariance of the tokens; intervals: 4 standard errors"]
    if len(shown) < len(data["curve"]):
        notes += ["without noise the Bayes predictor loses 0 from n = d on: no mark there"]
    if data["ends"] is None:
        notes += ["random starts are run up to d = 8"]
    charts = [_lengths(data, shown), _multipliers(data)]
    charts += [] if data["ends"] is None else [_ends(data)]
    return beside(*charts, title=title, notes=notes)


def _lengths(data: Data, shown: list[Data]) -> Data:
    given = data["integrated"]
    bayes = [each["bayes"] for each in shown]
    return panel(
        [
            level("predicting 0", data["power"]),
            Trace(
                name="one layer, L*: closed form",
                x=[each["n"] for each in data["curve"]],
                y=[each["layer"] for each in data["curve"]],
                marks=("line",),
            ),
            _sampled("Monte Carlo at A*", [data["n"]], [given["mean"]], [given["error"]], _BLUE),
            _sampled(
                "Bayes, ridge: Monte Carlo",
                [each["n"] for each in shown],
                [one["mean"] for one in bayes],
                [one["error"] for one in bayes],
                _RED,
                shape="square",
            ),
        ],
        title="Least loss against prompt length",
        x="number n of labelled points in the prompt",
        y="expected squared error",
        log="xy",
        size=_SIZE,
    )


def _sampled(
    name: str, x: Sequence[float], y: Sequence[float], errors: Sequence[float], colour: str,
    **rest: Any,
) -> Trace:  # fmt: skip
    """Means with four standard errors, no lower than a logarithmic axis can show."""
    low = [max(v - 4 * e, v / 1000) for v, e in zip(y, errors, strict=True)]
    high = [v + 4 * e for v, e in zip(y, errors, strict=True)]
    marks = ("interval", "line", "point")
    return Trace(name=name, x=x, y=y, low=low, high=high, marks=marks, colour=colour, **rest)


def _multipliers(data: Data) -> Data:
    values = [each["eigenvalue"] for each in data["directions"]]
    room = 3 if max(values) > 4 * min(values) else 12  # so that ticks do not overlap
    return panel(
        [
            level("σ^-1: a full Newton step", 1),
            level("n / (n + 1)", data["n"] / (data["n"] + 1), _GREEN, _DASH),
            Trace(
                name="optimal layer A*",
                x=values,
                y=[each["multiplier"] for each in data["directions"]],
                marks=("point",),
            ),
        ],
        title="The step in each eigendirection",
        x="eigenvalue of σ",
        y="multiplier of A* x eigenvalue",
        log="x",
        domains={"x": (min(values) / room, max(values) * room), "y": (0.0, 1.5)},
        size=_SIZE,
    )


def _ends(data: Data) -> Data:
    found = data["ends"]
    low, high = data["least"], 1.02 * data["power"]  # nothing ends below L*, but for rounding
    ends = [min(max(loss, low), high) for loss in found["losses"]]
    counts, edges = np.histogram(ends, bins=40, range=(low, high))
    full = np.flatnonzero(counts)
    middle, wide = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    rank_one, traps = data["rank_one"], [point["loss"] for point in spurious(data)]
    traces = [
        Trace(
            name=f"{found['starts']} random starts",
            x=middle[full].tolist(),
            y=counts[full].tolist(),
            marks=("bar",),
            wide=wide,
        ),
        wall("predicting 0", data["power"], dash=_DOT),
        wall("L*, global minimum", data["least"], colour=_GREEN, dash=()),
    ]
    traces += [wall("spurious local minimum", *traps, colour=_RED)] if traps else []
    if rank_one["margin"] < 0:
        traces.append(wall("rank one: saddle", rank_one["loss"], colour=_PURPLE, dash=_DOT))
    return panel(
        traces,
        title="Where training of b and A ends",
        x="loss at the end",
        y="number of random starts",
        domains={"x": (low - 0.02 * high, high), "y": (0, 1.05 * found["starts"])},
        size=_SIZE,
    )


def _steps(data: Data) -> Data:
    """The best residual polynomials over the spectrum, and losses against layers."""
    title = f"n = {data['n']} points, d = {data['d']}{_noise(data)}, task covariance C^-1"
    return beside(_polynomials(data), _layers(data), title=title)


def _polynomials(data: Data) -> Data:
    heights, edges = (np.array(data["density"][key]) for key in ("heights", "edges"))
    right = float(edges[1:][heights > 1e-3 * heights.max()].max())
    tall = heights / heights.max()
    traces = [
        Trace(
            name="mean spectrum (sampled)",
            x=edges.tolist(),
            low=[0.0] * len(edges),
            high=[*tall.tolist(), float(tall[-1])],
            marks=("band",),
            colour="#222222",
            stepped="step-after",
        ),
        level("", 0, GREY, ()),
    ]
    t = np.linspace(0, right, 300)
    for i, entry in enumerate(data["best"][:SHOWN]):
        values = np.polynomial.polynomial.polyval(t, entry["polynomial"])
        kept = [v if v <= 1.01 else None for v in values.tolist()]
        name, look = count(len(entry["steps"]), "layer"), _style(i)
        traces.append(Trace(name=name, x=t.tolist(), y=kept, marks=("line",), **look))
        roots = [1 / a for a in entry["steps"] if 1 / a <= right] if entry["real"] else []
        traces.append(Trace(x=roots, y=[0] * len(roots), marks=("point",), **look))
    return panel(
        traces,
        title="Best residual polynomials, roots at 1 / step",
        x="eigenvalue t of S",
        y="residual p(t); density, scaled to 1",
        domains={"x": (0.0, right), "y": (-0.75, 1.05)},
        size=_HALF,
    )


def _layers(data: Data) -> Data:
    layers = data["layers"]
    names = {"common": "one common step", "best": "best steps", "plusplus": "GD++ (best found)"}
    traces = [level("predicting 0", data["none"])]
    if data["floor"]:
        traces.append(level("best predictor", data["floor"], BOUND, _DOT))
    if data["chebyshev"]:
        y = [entry["loss"] for entry in data["chebyshev"]]
        name = "Chebyshev steps on the bulk"
        traces.append(Trace(name=name, x=layers, y=y, marks=("line",), colour=GREY, dash=_MIXED))
    if data["limit"]:
        name = "best steps, n, d to infinity"
        look: Data = {"colour": GREY, "dash": _DASH}
        traces.append(Trace(name=name, x=layers, y=data["limit"], marks=("line",), **look))
    for i, (key, name) in enumerate(names.items()):
        y = [entry["loss"] for entry in data[key]]
        traces.append(Trace(name=name, x=layers[: len(y)], y=y, **_style(i)))
    known = [v for trace in traces[2:] if trace.colour != GREY for v in trace.y]
    low = min(v for v in (*known, data["floor"] or math.inf) if v and v > 0)
    return panel(
        traces,
        title="Exact loss against the number of layers",
        x="number of layers L",
        y="loss E (prediction − <w, x>)²",
        log="y",
        domains={"y": (0.7 * low, 2 * max(data["none"], *known))},
        axes={"x": WHOLE},
        size=_HALF,
    )


def _train(data: Data) -> Data:
    """The whitened matrices, their distances to the identity, and the training curve."""
    shown = [(f"layer {i + 1}: Q", m, data["distance_q"][i]) for i, m in enumerate(data["q"])]
    if data["p"] is not None:
        moved = zip(data["p"][:-1], data["distance_p"], strict=True)
        shown += [(f"layer {i + 1}: P", m, far) for i, (m, far) in enumerate(moved)]
    where = "whitened" if data["whiten"] else "raw"
    title = f"{count(data['layers'], 'layer')}, {FREE[data['free']]}, d = {data['d']}, "
    title += f"n = {data['n']}, noise {data['noise']:g}"
    curves = beside(
        _training_loss(data),
        _distances(data),
        title=title,
        notes=[f"trained in {where} coordinates, seed {data['seed']}; matrices whitened"],
    )
    maps = {"concat": [_heatmap(*one) for one in shown], "columns": 6}
    maps["resolve"] = {"scale": {"color": "independent"}}
    return {"title": curves.pop("title"), "vconcat": [maps, curves]}


def _heatmap(title: str, matrix: list[list[float]], far: float) -> Data:
    size = max(abs(v) for row in matrix for v in row) or 1.0
    cells = [
        {"row": i, "column": j, "value": v}
        for i, row in enumerate(matrix)
        for j, v in enumerate(row)
    ]
    scale = {"scheme": "redblue", "reverse": True, "domain": [-size, size]}
    legend = {"title": None, "orient": "right", "direction": "vertical", "gradientLength": 100}
    place = {"type": "ordinal", "axis": None}
    return {
        "title": {"text": title, "subtitle": f"distance to I: {far:.3f}"},
        "width": 110,
        "height": 110,
        "data": drawn_of(cells),
        "mark": "rect",
        "encoding": {
            "x": {"field": "column", **place},
            "y": {"field": "row", **place},
            "color": {
                "field": "value", "type": "quantitative", "scale": scale, "legend": legend
            },
        },
    }  # fmt: skip


def _training_loss(data: Data) -> Data:
    steps = [1 + point["step"] for point in data["curve"]]
    loss, rare, known = data["loss"], data["rare"], data["reference"]
    fixed = data["method"] == "lbfgs"
    traces = [
        Trace(
            name="on the training sample" if fixed else "on each batch",
            x=steps,
            y=[point["loss"] for point in data["curve"]],
            marks=("line",),
        ),
        Trace(
            name=f"on fresh samples: {loss['value']:.4g} ± {loss['error']:.1g}",
            x=steps[-1:],
            y=[loss["value"]],
            low=[max(loss["interval"][0], loss["value"] / 1000)],
            high=[loss["interval"][1]],
            marks=("interval", "point"),
            colour=_RED,
            shape="square",
        ),
    ]
    if rare["value"] > 2 * loss["value"]:
        name = f"with rare prompts, importance sampling: {rare['value']:.2g}"
        mark: Data = {"marks": ("point",), "colour": _RED, "shape": "triangle-up"}
        traces.append(Trace(name=name, x=steps[-1:], y=[rare["value"]], **mark))
    if known is not None:
        name = "best steps, exact" if data["free"] == "q" else "best scalars found, exact"
        traces.append(level(f"{name}: {known['loss']:.4g}", known["loss"], BOUND, _DASH))
    return panel(traces, title="Loss", x="1 + step", y="mean squared error", log="xy", size=_HALF)


def _distances(data: Data) -> Data:
    steps = [1 + point["step"] for point in data["curve"]]
    traces = [level("0.1", 0.1, BOUND, _DASH)]
    for name, dash in (("q", ()), ("p", _DOT)):
        for i in range(len(data["curve"][0].get(name, ()))):
            y = [point[name][i] for point in data["curve"]]
            look: Data = {"colour": COLOURS[i % len(COLOURS)], "dash": dash}
            said = f"{name.upper()}, layer {i + 1}"
            traces.append(Trace(name=said, x=steps, y=y, marks=("line",), **look))
    return panel(
        traces,
        title="Distance from a multiple of I (Frobenius)",
        x="1 + step",
        y="|M − (tr M/d) I| / |M|",
        log="xy",
        size=_HALF,
    )


_CURVES: dict[str, Data] = {
    "one step size": {"colour": _DARK, "shape": "triangle-down", "dash": _DOT},
    "optimal steps": {"colour": _BLUE, "shape": "circle"},
    "GD++ scalars": {"colour": _RED, "shape": "square"},
    "trained, P = 0": {"colour": _GREEN, "shape": "triangle-up"},
    "trained P, Q": {"colour": _PURPLE, "shape": "diamond"},
}


def _curves(data: Data) -> Data:
    """The loss against the number of layers, sampled ones with intervals of 99 %."""
    traces, more = [], []
    for name, look in _CURVES.items():
        points = [point for point in data["points"] if point["name"] == name]
        if not points:
            continue
        exact = points[0]["error"] is None
        ends: Data = {} if exact else {
            "low": [max(p["interval"][0], p["loss"] / 1000) for p in points],
            "high": [p["interval"][1] for p in points],
        }  # fmt: skip
        traces.append(
            Trace(
                name=name + (", exact" if exact else ", fresh samples"),
                x=[point["layers"] for point in points],
                y=[point["loss"] for point in points],
                marks=("line", "point") if exact else ("interval", "point"),
                **look,
                **ends,
            )
        )
    losses = [p["loss"] for p in data["points"]]
    top = 2 * max(losses)
    for p in data["points"]:
        if not p["rare"] or p["rare"]["value"] <= 2 * p["loss"]:
            continue
        place = min(p["rare"]["value"], max(top / 400, 3 * p["loss"]))  # above its point
        top = max(top, 4 * place)
        said = f"with rare prompts:\n{p['rare']['value']:.1g}"
        more.append(words(p["layers"], place, said, _PURPLE, align="center", baseline="bottom"))
    chart = panel(
        traces,
        title="Loss of linear attention by layers",
        x="number of layers",
        y="mean squared error",
        log="y",
        domains={"y": (min(losses) / 3, top)},
        axes={"x": WHOLE},
        more=more,
        size=(420, 260),
    )
    about = f"d = {data['d']}, n = {data['n']}, noise {data['noise']:g}"
    return beside(chart, title=about, notes=["intervals: 99 %"])


def _softmax(data: Data) -> Data:
    """Bars for every number of layers, with the losses of linear layers as lines."""
    depths = sorted({t["layers"] for t in data["trained"]})
    about = f"n = {data['n']}, d = {data['d']}, noise {data['noise']:g}, seed {data['seed']}"
    return beside(
        *(_bars(data, depth) for depth in depths),
        title=f"In-context regression, softmax attention: {about}",
        notes=["intervals: two standard errors"],
    )


_OUTPUTS = {
    "1/n": ("output / n", _RED),
    "1": ("output as it is", _ORANGE),
    "free": ("output of free scale", _BLUE),
}
_LIMITS = {"linear": (), "two heads, limit": _DASH, "one head, limit": _DOT}


def _bars(data: Data, depth: int) -> Data:
    chosen = [t for t in data["trained"] if t["layers"] == depth]
    heads = sorted({t["heads"] for t in chosen})
    outputs = [o for o in OUTPUTS if any(t["output"] == o for t in chosen)]
    losses = [best_of(t)[0] for t in chosen]
    log = max(losses) > 20 * min(losses)
    low, high = (0.4 * min(losses), 3 * max(losses)) if log else (0.0, 1.2 * max(losses))
    levels = [
        r
        for r in data["references"]
        if r["layers"] in (0, depth)
        and (r["loss"] > low or r["layers"] == depth)
        and r["loss"] < high
    ]
    low = min([low, *(0.5 * r["loss"] for r in levels)])
    wide, traces, more = 0.8 / len(outputs), [], []
    for output in outputs:
        name, colour = _OUTPUTS[output]
        of = [t for t in chosen if t["output"] == output]
        x = [heads.index(t["heads"]) + (outputs.index(output) + 0.5) * wide - 0.4 for t in of]
        y = [best_of(t)[0] for t in of]
        ends = [2 * best_of(t)[1] for t in of]
        traces.append(Trace(name=name, x=x, y=y, marks=("bar",), colour=colour, wide=0.92 * wide))
        traces.append(
            Trace(
                x=x,
                low=[v - e for v, e in zip(y, ends, strict=True)],
                high=[v + e for v, e in zip(y, ends, strict=True)],
                marks=("interval",),
                colour=BOUND,
            )
        )
        more += [
            words(a, b + e, f"{b:.2g}", align="center", dy=-4)
            for a, b, e in zip(x, y, ends, strict=True)
        ]
    for r in sorted(levels, key=lambda r: -r["loss"]):
        dash = _LIMITS.get(r["name"], _MIXED)
        name = f"{r['name']}: {r['loss']:.3g}"
        traces.append(level(name, r["loss"], GREY if dash else BOUND, dash))
    names = " : ".join(f"datum.value == {i} ? '{count(h, 'head')}'" for i, h in enumerate(heads))
    ticks = {"values": list(range(len(heads))), "labelExpr": f"{names} : ''", "labelAngle": 0}
    return panel(
        traces,
        title=count(depth, "layer"),
        x="",
        y="loss, E (prediction − <w, x>)²",
        log="y" if log else "",
        domains={"x": (-0.5, len(heads) - 0.5), "y": (low, high)},
        axes={"x": ticks},
        more=more,
        size=(300, 230),
    )


def _optimizers(data: Data) -> Data:
    """Loss curves at the authors' and at the tuned rates, losses by rate, and noise tails."""
    title = f"{count(data['layers'], 'layer')}, d = {data['d']}, n = {data['n']}, "
    title += f"batches of {data['batch']}, {clipping(data)}"
    notes = ["medians and ranges over seeds; crosses: off the axis, or worse than predicting 0"]
    charts = [_losses(data), _rates(data), *([_tails(data)] if data["noise"] else [])]
    return beside(*charts, title=title, notes=notes)


def _losses(data: Data) -> Data:
    top = 0.8 * _TOP * data["power"]
    traces = []
    for i, method in enumerate(data["methods"]):
        same = method["tuned"]["rate"] == data["authors_rate"]
        for at, dash in (("authors", ()), *(() if same else (("tuned", _DASH),))):
            shown, colour = method[at], COLOURS[i % len(COLOURS)]
            columns = [[_high(v, data) for v in c] for c in zip(*shown["curves"], strict=True)]
            middle = [median(column) for column in columns]
            tuned = " (tuned)" if at == "tuned" or same else ""
            traces.append(
                Trace(
                    name=f"{method['name']}, {shown['rate']:g}{tuned}",
                    x=data["at"],
                    y=[v if v < top else None for v in middle],
                    low=[min(column) for column in columns],
                    high=[max(column) for column in columns],
                    marks=("band", "line"),
                    colour=colour,
                    dash=dash,
                )
            )
            lost = [step for step, v in zip(data["at"], middle, strict=True) if v >= top][:1]
            traces.append(
                Trace(x=lost, y=[top] * len(lost), marks=("point",), colour=colour, shape=_OFF)
            )
    low = min(v for trace in traces for v in trace.low if v and v > 0)
    return panel(
        traces,
        title="Loss while training",
        x="step",
        y="loss on held-out prompts",
        log="y",
        domains={"y": (low / 2, _TOP * data["power"])},
        size=_SIZE,
    )


_OFF = (  # a saltire, larger than other marks
    "M-1.7,-1.4L-1.4,-1.7L0,-.3L1.4,-1.7L1.7,-1.4L.3,0"
    "L1.7,1.4L1.4,1.7L0,.3L-1.4,1.7L-1.7,1.4L-.3,0Z"
)


def _high(value: float | None, data: Data) -> float:
    """Keep a loss below the top of the axes; null is one that overflowed."""
    top = 0.8 * _TOP * data["power"]
    return top if value is None else min(value, top)


def _rates(data: Data) -> Data:
    traces = [
        wall("rate of ACSYJS24", data["authors_rate"], dash=_DOT),
        level("predicting 0", data["power"], GREY, _DASH),
        *(level(name, value, _DARK, _MIXED) for name, value in data["references"].items()),
    ]
    for i, method in enumerate(data["methods"]):
        rates = [t["rate"] for t in method["tried"]]
        middle = [median(_high(v, data) for v in t["losses"]) for t in method["tried"]]
        look = _style(i)
        traces.append(Trace(name=f"{method['name']}, tuning seeds", x=rates, y=middle, **look))
        lost = [v if v >= data["power"] else None for v in middle]
        traces.append(Trace(x=rates, y=lost, marks=("point",), **{**look, "shape": _OFF}))
        for at, shape in (("authors", "circle"), ("tuned", RING)):
            y = [median(_high(v, data) for v in method[at]["losses"])]
            traces.append(
                Trace(x=[method[at]["rate"]], y=y, marks=("point",), **{**look, "shape": shape})
            )
    low = min(v for trace in traces for v in trace.y if v and v > 0)
    return panel(
        traces,
        title=f"Loss after {data['steps']} steps, by rate",
        x="learning rate (rings: tuned, other seeds)",
        y="loss on drawn prompts",
        log="xy",
        domains={"y": (low / 2, _TOP * data["power"])},
        size=_SIZE,
    )


def _tails(data: Data) -> Data:
    traces = []
    for i, (where, found) in enumerate(data["noise"].items()):
        colour = COLOURS[(i + 2) % len(COLOURS)]
        name = f"{where}, batch {found['batch']}" if found["batch"] > 1 else where
        line: Data = {"marks": ("line",), "colour": colour}
        traces.append(Trace(name=name, x=found["ratios"], y=found["shares"], **line))
        traces.append(Trace(x=found["gaussian_ratios"], y=found["shares"], dash=_DOT, **line))
    ratios = [v for trace in traces for v in trace.x if v]
    least = 1 / max(found["draws"] for found in data["noise"].values())
    return panel(
        traces,
        title="Gradient noise (dotted: Gaussian)",
        x="norm of the noise over its median",
        y="share of draws above",
        log="xy",
        domains={"x": (0.8, 1.1 * max(ratios)), "y": (least, 1.0)},
        size=_SIZE,
    )


_DRAWN: dict[str, Callable[[Data], Data]] = {
    "icl optimum": _optimum,
    "icl steps": _steps,
    "icl train": _train,
    "icl curves": _curves,
    "icl optimizers": _optimizers,
    "icl softmax": _softmax,
}
