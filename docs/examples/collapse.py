"""Draw the error of least squares by the number of examples: `python collapse.py SPEC OUT.svg`.

Layers of linear attention of 1, 4 and 20 heads need equally many examples. The error of every fit
is its expectation over fresh tokens, in closed form; drawn are medians and ranges of three members.
"""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median

from hardness.learners.lifted import Cubic, LeastSquares, tensor
from hardness.report.plot import Axis, panels, plot
from hardness.report.style import GREY, Style, series_style
from hardness.report.vega import write
from instances import parse
from instances.cubic import coefficients, power

HEADS, SEEDS = (1, 4, 20), 3
WITHOUT = (0.2, 0.4, 0.6, 0.8, 0.9, 0.96, 1.0, 1.04, 1.1, 1.2, 1.5, 2.0)  # of the fewest examples
WITH = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)


def errors(family, seed):
    """Yield, of one member, examples as a multiple of what tells all, and the error of the fit.

    Relative to the labels without noise; with noise the excess of an entry, in noise variances.
    """
    features, member = Cubic(k=family.k, d=family.d), family.instance(seed)
    layer = member.layer()
    truth = coefficients(layer.theta, layer.w)
    scale = power(truth, family.k, family.tokens)
    if family.noise:
        scale = family.k * family.d * float(family.noise) ** 2
    sums, done = LeastSquares(features=features.count, labels=family.d), 0
    for ratio in WITH if family.noise else WITHOUT:
        count = math.ceil(ratio * features.examples(boolean=False))
        batch, done = member.examples(done, count - done), count
        sums.add(features(batch.x).reshape(-1, features.count), batch.y.reshape(-1, family.d))
        error = power(tensor(sums.solve().solution) - truth, family.k, family.tokens) / scale
        yield count * family.k / features.rank(boolean=False), max(error, 1e-33)


def rows(family):
    """Rows of all numbers of heads; no two members have the same tokens."""
    for i, m in enumerate(HEADS):
        seeds = range(i * SEEDS, (i + 1) * SEEDS)
        runs = [errors(replace(family, m=m), seed) for seed in seeds]
        for points in zip(*runs, strict=True):
            every = [error for _, error in points]
            ends = {"low": min(every), "high": max(every)}
            yield {"heads": f"{m} heads", "times": points[0][0], "error": median(every), **ends}
    if family.noise:
        yield from ({"heads": "1 / x", "times": x, "error": 1 / x} for x in (1.05, 200))


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    styles = {
        f"{m} heads": replace(series_style(i), marks=("band", "line", "point"))
        for i, m in enumerate(HEADS)
    }
    styles["1 / x"] = Style(colour=GREY, dash=(5, 3), marks=("line",))
    charts = [
        plot(
            rows(replace(parse(spec), noise=noise)),
            x=Axis("times", "x = examples · k / rank of the features", scale=scale),
            y=Axis("error", title, scale="log"),
            by="heads",
            styles=styles,
            title="Noise of variance 1" if noise else "Without noise",
            size=(330, 230),
        )
        for noise, scale, title in (
            (Fraction(0), "linear", "relative squared error, fresh tokens"),
            (Fraction(1), "log", "excess error of an entry, in noise variances"),
        )
    ]
    Path(out).write_bytes(write(panels(*charts, title=f"Least squares on {spec}"), "svg"))
    print(f"{out}: {', '.join(map(str, HEADS))} heads")
