"""Figures of the easy side: least squares needs as many examples for 1 head as for 20.

The error of every fit is its expectation over fresh tokens, by the moments of the coefficients'
error in closed form. Each figure is drawn from numbers that it also gives away.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median
from typing import Any, cast

import numpy as np

from hardness.report.canvas import STYLES
from hardness.runs.processes import execute
from hardness.upper.features import Cubic
from hardness.upper.heads import generic_heads, heads
from hardness.upper.leastsquares import Fit, LeastSquares
from hardness.upper.lifted import noise_floor, tensor
from instances.capabilities import CUBIC
from instances.cubic import coefficients, power
from instances.dense import Dense
from instances.errors import UsageError
from instances.family import Family

Data = dict[str, Any]
_HEADS, _PLANTED = (1, 4, 20), (1, 2, 4, 8, 20)
_NOISELESS = (0.2, 0.4, 0.6, 0.8, 0.9, 0.96, 1.0, 1.04, 1.1, 1.2, 1.5, 2.0)
_NOISY = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
_TRIED, _TRIED_NOISE = 8, 20.0  # heads; examples over the fewest, with noise
_LARGEST_D = 12  # 200 times as many rows as features, nine times over, take minutes there
_AT_ONCE = 256  # examples
_LEAST = 1e-33


def collapse_numbers(family: Family, seeds: int = 3, jobs: int = 1) -> Data:
    """Fit layers of 1, 4 and 20 heads to growing numbers of examples, without and with noise.

    Noise is the family's, of variance 1 where it has none. Raises UsageError for a family other
    than linear, a d above 12, no seed.

    >>> from instances import parse
    >>> data = collapse_numbers(parse("linear:m=1,k=2,d=2"), seeds=1)
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


def _fits(family: Dense, seed: int, ratios: tuple[float, ...]) -> Iterator[tuple[int, Fit]]:
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


def draw_collapse(figure: Any, data: Data) -> None:
    """Draw the error against examples over features: without noise, and with."""
    left, right = figure.subplots(1, 2)
    for axis, curves in ((left, data["noiseless"]), (right, data["noisy"])):
        for curve, (colour, mark) in zip(curves, STYLES, strict=False):
            _curve(axis, curve, colour, mark)
    left.set_yscale("log")
    left.axvline(data["exact_from"], color="#888888", linestyle=":", linewidth=1)
    left.set_title("Without noise: exact from the number of features on")
    left.set_ylabel("relative squared error, fresh tokens")
    right.set_xscale("log")
    right.set_yscale("log")
    ratios = np.geomspace(1.05, data["noisy"][0]["ratios"][-1], 100)
    right.plot(ratios, 1 / ratios, color="#888888", linestyle="--", linewidth=1, label="1 / x")
    right.set_title(f"Noise of standard deviation {data['noise']:g}")
    right.set_ylabel("excess error of an entry, in noise variances")
    for axis in (left, right):
        axis.set_xlabel("x = examples · k / rank of the features")
        axis.legend(frameon=False, fontsize=8)
    figure.suptitle(
        f"{data['tokens']}: {data['features']} features of rank {data['rank']}, median and range "
        f"of {data['seeds']} instances",
        fontsize=9,
    )


def _curve(axis: Any, curve: Data, colour: str, mark: str) -> None:
    floor: Callable[[list[float]], list[float]] = lambda v: [max(e, _LEAST) for e in v]  # noqa: E731
    label = f"{curve['heads']} head{'s' if curve['heads'] > 1 else ''}"
    ratios = curve["ratios"]
    axis.fill_between(ratios, floor(curve["low"]), floor(curve["high"]), color=colour, alpha=0.15)
    error = floor(curve["error"])
    axis.plot(ratios, error, color=colour, marker=mark, markersize=4, linewidth=1, label=label)


def heads_numbers(family: Family, seeds: int = 1, jobs: int = 1) -> Data:
    """Fit 1 to 8 heads to the coefficients that least squares found, of layers of 1 to 20 heads.

    From 1.2 times the fewest examples without noise, from 20 times with. Raises UsageError as
    collapse_numbers does.
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


def draw_heads(figure: Any, data: Data) -> None:
    """Draw what fits of 0, 1, .. heads leave of the coefficients: without noise, and with."""
    axes = figure.subplots(1, 2, sharey=False)
    planted = list(dict.fromkeys(line["heads"] for line in data["lines"]))
    style = {m: STYLES[i % len(STYLES)] for i, m in enumerate(planted)}
    for line in data["lines"]:
        axis, (colour, mark) = axes[int(line["noise"] > 0)], style[line["heads"]]
        label = f"{line['heads']} planted" if line["seed"] == 0 else None
        shown = [max(r, 1e-17) for r in line["residuals"]]
        axis.semilogy(shown, color=colour, marker=mark, markersize=4, linewidth=1, label=label)
        elbow = line["elbow"]
        if elbow is not None:
            axis.semilogy([elbow], [shown[elbow]], "o", color=colour, mfc="none", markersize=10)
        if line["noise"]:
            axis.axhline(line["floor"], color=colour, linestyle=":", linewidth=0.8)
    axes[0].set_title("Without noise: rings mark the elbow")
    axes[1].set_title(f"Noise {data['noise']:g}: dotted is what noise leaves")
    for axis in axes:
        axis.set_xlabel("heads fitted")
        axis.set_ylabel("share of the squared coefficients left")
        axis.set_xlim(-0.3, _TRIED + 0.3)
        if data["generic"] <= _TRIED:
            axis.axvline(data["generic"], color="#888888", linestyle="--", linewidth=1)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False, fontsize=8)
    figure.suptitle(
        f"{data['tokens']}: by counting parameters, {data['generic']} heads fit "
        "random coefficients",
        fontsize=9,
    )


def _linear(family: Family, seeds: int) -> Dense:
    found = CUBIC.need(family)
    if family.d > _LARGEST_D:
        raise UsageError(f"d={family.d} given: the figure is computed for d up to {_LARGEST_D}")
    if seeds < 1:
        raise UsageError(f"seeds={seeds} given: at least 1 is needed")
    return found


def _tokens(family: Dense) -> str:
    return f"Linear attention, k={family.k} {family.tokens} tokens of dimension d={family.d}"
