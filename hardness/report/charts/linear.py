"""Figures of the easy side: least squares needs as many examples for 1 head as for 20.

The error of every fit is its expectation over fresh tokens, by the moments of the coefficients'
error in closed form. Each figure is drawn from numbers that it also gives away.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any, cast

import numpy as np

from hardness.report.charts.chart import Data
from hardness.report.charts.style import GREY, series_style
from hardness.report.charts.trace import RING, WHOLE, Trace, beside, level, panel, wall
from hardness.runs.processes import execute
from hardness.upper.features import Cubic
from hardness.upper.heads import generic_heads, heads
from hardness.upper.leastsquares import LeastSquares, LeastSquaresFit
from hardness.upper.lifted import noise_floor, tensor
from instances.capabilities import CUBIC
from instances.cubic import coefficients, power
from instances.dense import Dense
from instances.errors import UsageError
from instances.family import Family

_HEADS, _PLANTED = (1, 4, 20), (1, 2, 4, 8, 20)
_NOISELESS = (0.2, 0.4, 0.6, 0.8, 0.9, 0.96, 1.0, 1.04, 1.1, 1.2, 1.5, 2.0)
_NOISY = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
_TRIED, _TRIED_NOISE = 8, 20.0  # heads; examples over the fewest, with noise
_LARGEST_D = 12  # 200 times as many rows as features, nine times over, take minutes there
_AT_ONCE = 256  # examples
_LEAST = 1e-33  # a power that rounding leaves; what is 0 stands there
_ROUNDED = 1e-17  # a share that rounding leaves
_SIZE = (330, 230)


def of_collapse(family: Family, seeds: int = 3, jobs: int = 1) -> Data:
    """Fit layers of 1, 4 and 20 heads to growing numbers of examples, without and with noise.

    Noise is the family's, of variance 1 where it has none. Raises UsageError for a family other
    than linear, a d above 12, no seed.

    >>> from instances import parse
    >>> data = of_collapse(parse("linear:m=1,k=2,d=2"), seeds=1)
    >>> [curve["heads"] for curve in data["noiseless"]]
    [1, 4, 20]
    """
    linear = _linear(family, seeds)
    noise = linear.noise or type(linear.noise)(1)
    tasks = [
        (replace(cast(Any, linear), m=m, noise=level), seed)
        for level in (type(noise)(0), noise)
        for i, m in enumerate(_HEADS)
        for seed in range(i * seeds, (i + 1) * seeds)  # else all have the same tokens and noise
    ]
    found = dict(execute(_errors, tasks, jobs))
    features, rank = _features(linear)
    data: Data = {
        "format": 1,
        "kind": "lifted collapse",
        "spec": linear.spec,
        "tokens": _tokens(linear),
        "features": features.count,
        "rank": rank,
        "exact_from": features.examples(linear.tokens == "boolean") * linear.k / rank,
        "noise": float(noise),
        "seeds": seeds,
    }
    curves: dict[bool, list[Data]] = {False: [], True: []}
    for start in range(0, len(tasks), seeds):
        member = tasks[start][0]
        runs = [found[i] for i in range(start, start + seeds)]
        curves[bool(member.noise)].append({"heads": member.m, **_merged(runs)})
    return data | {"noiseless": curves[False], "noisy": curves[True]}


def _errors(task: tuple[Dense, int]) -> list[tuple[int, float, float]]:
    """Numbers of examples, of rows over the rank, and the error of the fit, from one stream."""
    family, seed = task
    layer = family.instance(seed).layer()
    truth = coefficients(layer.theta, layer.w)
    scale = power(truth, family.k, family.tokens)
    if family.noise:
        scale = family.k * family.d * float(family.noise) ** 2
    _, rank = _features(family)
    out = []
    for examples, fit in _fits(family, seed, _NOISY if family.noise else _NOISELESS):
        error = power(tensor(fit.solution) - truth, family.k, family.tokens) / scale
        out.append((examples, examples * family.k / rank, error))
    return out


def _fits(
    family: Dense, seed: int, ratios: tuple[float, ...]
) -> Iterator[tuple[int, LeastSquaresFit]]:
    """Solve for ever more examples of one instance: ratios of the fewest that tell all."""
    features, _ = _features(family)
    instance = family.instance(seed)
    sums = LeastSquares(features=features.count, labels=family.d)
    least, done = features.examples(family.tokens == "boolean"), 0
    for count in sorted({max(1, math.ceil(ratio * least)) for ratio in ratios}):
        while done < count:
            batch = instance.examples(done, min(_AT_ONCE, count - done))
            rows = features(batch.x).reshape(-1, features.count)
            sums.add(rows, batch.y.reshape(-1, family.d))
            done += len(batch)
        yield count, sums.solve()


def _features(family: Dense) -> tuple[Cubic, int]:
    features = Cubic(k=family.k, d=family.d)
    return features, features.rank(family.tokens == "boolean")


def _merged(runs: list[list[tuple[int, float, float]]]) -> Data:
    """Medians and ranges over seeds."""
    errors = [[point[2] for point in points] for points in zip(*runs, strict=True)]
    return {
        "examples": [point[0] for point in runs[0]],
        "ratios": [point[1] for point in runs[0]],
        "error": [median(each) for each in errors],
        "low": [min(each) for each in errors],
        "high": [max(each) for each in errors],
    }


def of_heads(family: Family, seeds: int = 1, jobs: int = 1) -> Data:
    """Fit 1 to 8 heads to the coefficients that least squares found, of layers of 1 to 20 heads.

    From 1.2 times the fewest examples without noise, from 20 times with. Raises UsageError as
    of_collapse does.
    """
    linear = _linear(family, seeds)
    noise = linear.noise or type(linear.noise)(1)
    members = [
        replace(cast(Any, linear), m=m, noise=level)
        for level in (type(noise)(0), noise)
        for m in _PLANTED
    ]
    tasks = [(member, seed) for member in members for seed in range(seeds)]
    found = dict(execute(_counted, tasks, jobs))
    lines = [
        {"heads": member.m, "noise": float(member.noise), "seed": seed, **found[i]}
        for i, (member, seed) in enumerate(tasks)
    ]
    return {
        "format": 1,
        "kind": "lifted heads",
        "spec": linear.spec,
        "tokens": _tokens(linear),
        "noise": float(noise),
        "seeds": seeds,
        "generic": generic_heads(linear.d, linear.tokens == "boolean"),
        "lines": lines,
    }


def _counted(task: tuple[Dense, int]) -> Data:
    family, seed = task
    ratio = _TRIED_NOISE if family.noise else 1.2
    (_, fit), boolean = next(_fits(family, seed, (ratio,))), family.tokens == "boolean"
    floor = noise_floor(fit)
    return heads(tensor(fit.solution), _TRIED, boolean=boolean, floor=floor, seed=seed).to_dict()


def _linear(family: Family, seeds: int) -> Dense:
    found = CUBIC.need(family)
    if family.d > _LARGEST_D:
        raise UsageError(f"d={family.d} given: the figure is computed for d up to {_LARGEST_D}")
    if seeds < 1:
        raise UsageError(f"seeds={seeds} given: at least 1 is needed")
    return found


def _tokens(family: Dense) -> str:
    return f"Linear attention, k={family.k} {family.tokens} tokens of dimension d={family.d}"


def draw_collapse(data: Data) -> Data:
    """Draw the error against examples over features: without noise, and with."""
    over = "x = examples · k / rank of the features"
    exact = wall("as many as the features", data["exact_from"], colour=GREY, dash=(2, 3))
    left = panel(
        [exact, *_curves(data["noiseless"])],
        title="Without noise: exact from the number of features on",
        x=over,
        y="relative squared error, fresh tokens",
        log="y",
        size=_SIZE,
    )
    ratios = np.geomspace(1.05, data["noisy"][0]["ratios"][-1], 100).tolist()
    law = [1 / ratio for ratio in ratios]
    right = panel(
        [
            Trace(name="1 / x", x=ratios, y=law, marks=("line",), colour=GREY, dash=(5, 3)),
            *_curves(data["noisy"]),
        ],
        title=f"Noise of standard deviation {data['noise']:g}",
        x=over,
        y="excess error of an entry, in noise variances",
        log="xy",
        size=_SIZE,
    )
    return beside(
        left,
        right,
        title=data["tokens"],
        notes=[
            f"{data['features']} features of rank {data['rank']}, median and range of "
            f"{data['seeds']} instances"
        ],
    )


def _curves(curves: list[Data]) -> list[Trace]:
    found = []
    for i, curve in enumerate(curves):
        style = series_style(i)
        error, low, high = ([max(v, _LEAST) for v in curve[k]] for k in ("error", "low", "high"))
        found.append(
            Trace(
                name=_heads(curve["heads"]),
                x=curve["ratios"],
                y=error,
                low=low,
                high=high,
                marks=("band", "line", "point"),
                colour=style.colour,
                shape=style.shape,
            )
        )
    return found


def _heads(count: int) -> str:
    return f"{count} head{'s' if count > 1 else ''}"


def draw_heads(data: Data) -> Data:
    """Draw what fits of 0, 1, .. heads leave of the coefficients: without noise, and with."""
    planted = list(dict.fromkeys(line["heads"] for line in data["lines"]))
    charts = []
    for noisy in (False, True):
        lines = [line for line in data["lines"] if (line["noise"] > 0) is noisy]
        traces = []
        if data["generic"] <= _TRIED:
            traces.append(wall("as many as parameters ask for", data["generic"]))
        for line in lines:
            style = series_style(planted.index(line["heads"]))
            left = [max(r, _ROUNDED) for r in line["residuals"]]
            look: Data = {"colour": style.colour, "shape": style.shape}
            traces.append(
                Trace(name=f"{line['heads']} planted", x=range(len(left)), y=left, **look)
            )
            if line["elbow"] is not None:
                at = line["elbow"]
                traces.append(
                    Trace(x=[at], y=[left[at]], marks=("point",), **{**look, "shape": RING})
                )
            if line["noise"]:
                traces.append(level("", line["floor"], style.colour))
        charts.append(
            panel(
                traces,
                title=f"Noise {data['noise']:g}: dotted is what noise leaves"
                if noisy
                else "Without noise: rings mark the elbow",
                x="heads fitted",
                y="share of the squared coefficients left",
                log="y",
                domains={"x": (-0.3, _TRIED + 0.3)},
                axes={"x": WHOLE},
                size=_SIZE,
            )
        )
    note = f"by counting parameters, {data['generic']} heads fit random coefficients"
    return beside(*charts, title=data["tokens"], notes=[note])
