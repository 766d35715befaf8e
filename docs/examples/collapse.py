"""Draw the error of least squares by the number of examples: `python collapse.py SPEC OUT.svg`.

Layers of linear attention of 1, 4 and 20 heads need equally many examples. The error of every fit
is its expectation over fresh tokens, in closed form.
"""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hardness.report.vega import write
from hardness.upper.features import Cubic
from hardness.upper.leastsquares import LeastSquares
from hardness.upper.lifted import tensor
from instances import parse
from instances.cubic import coefficients, power

HEADS, SEEDS = (1, 4, 20), 3
WITHOUT = (0.2, 0.4, 0.6, 0.8, 0.9, 0.96, 1.0, 1.04, 1.1, 1.2, 1.5, 2.0)  # of the fewest examples
WITH = (1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)


def errors(family, seed):
    """Rows of one member: examples as a multiple of what tells all, and the error of the fit.

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
        times = count * family.k / features.rank(boolean=False)
        yield {"heads": family.m, "times": times, "error": max(error, 1e-33)}


def panel(family, title, error):
    """Draw the median and the range of a few members, for every number of heads."""
    rows = [
        row
        for i, m in enumerate(HEADS)
        for seed in range(i * SEEDS, (i + 1) * SEEDS)  # no two have the same tokens
        for row in errors(replace(family, m=m), seed)
    ]
    log = {"type": "log", "nice": False, "padding": 8}
    x = {"field": "times", "type": "quantitative", "title": "examples · k / rank of the features"}
    x |= {"scale": log, "axis": {"tickCount": 5}}
    y = {"field": "error", "type": "quantitative", "scale": log, "title": error}
    heads = {"field": "heads", "type": "nominal"}
    axis = {"format": "~e", "tickCount": 6}
    median = {"x": x, "y": {**y, "aggregate": "median", "axis": axis}, "color": heads}
    band = {"x": x, "y": {**y, "aggregate": "min"}, "y2": {**y, "aggregate": "max"}}
    band["fill"] = {**heads, "legend": None}
    return {
        "title": title,
        "width": 330,
        "height": 230,
        "data": {"values": rows},
        "layer": [
            {"mark": {"type": "area", "opacity": 0.15}, "encoding": band},
            {"mark": "line", "encoding": median},
            {"mark": "point", "encoding": {**median, "shape": heads}},
        ],
    }


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    family = replace(parse(spec), noise=Fraction(0))
    without = panel(family, "Without noise", "relative squared error, fresh tokens")
    noisy = replace(family, noise=Fraction(1))
    with_noise = panel(noisy, "Noise of variance 1", "excess error, in noise variances")
    chart = {"title": f"Least squares on {spec}", "hconcat": [without, with_noise]}
    Path(out).write_bytes(write(chart, "svg"))
    print(f"{out}: {', '.join(map(str, HEADS))} heads")
