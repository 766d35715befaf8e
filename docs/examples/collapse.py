"""Draw the error of least squares by the number of examples: `python collapse.py SPEC OUT.svg`.

Layers of linear attention of 1, 4 and 20 heads need equally many examples. The error of every fit
is its expectation over fresh tokens, in closed form; drawn are medians and ranges of three members.
"""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from statistics import median

from hardness.learners.lifted import Cubic, LeastSquares, tensor
from hardness.report.style import GREY, cost_axis, panels, series_look, styled
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


def curves(family):
    """Give, by number of heads, multiples and errors: medians and ranges over the members.

    No two members have the same tokens.
    """
    for i, m in enumerate(HEADS):
        seeds = range(i * SEEDS, (i + 1) * SEEDS)
        runs = [list(errors(replace(family, m=m), seed)) for seed in seeds]
        times = [times for times, _ in runs[0]]
        yield m, times, [[error for _, error in point] for point in zip(*runs, strict=True)]


@styled
def draw(family):
    """Draw a panel without noise, and one with noise of variance 1."""
    figure, axes = panels(2)
    for ax, noise in zip(axes, (Fraction(0), Fraction(1)), strict=True):
        noisy, every = replace(family, noise=noise), []
        for i, (m, times, points) in enumerate(curves(noisy)):
            look, every = series_look(i), every + points
            ax.fill_between(
                times, [min(p) for p in points], [max(p) for p in points],
                color=look.colour, alpha=0.15, linewidth=0,
            )  # fmt: skip
            middle = [median(p) for p in points]
            ax.plot(times, middle, color=look.colour, marker=look.marker, label=f"{m} heads")
        cost_axis(ax, [error for point in every for error in point])
        ax.set_xlabel("x = examples · k / rank of the features")
        if noise:
            ax.set(title="Noise of variance 1", xscale="log")
            ax.set_ylabel("excess error, in noise variances")
            ends = [1.05, 200]
            ax.plot(ends, [1 / x for x in ends], "--", color=GREY, label="1 / x")
        else:
            ax.set(title="Without noise", ylabel="relative squared error")
        ax.legend()
    figure.caption = f"Least squares on {family.spec}: error of an entry on fresh tokens."
    return figure


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    draw(parse(spec)).savefig(out)
    print(f"{out}: {', '.join(map(str, HEADS))} heads")
