"""Draw what fits of 0 to 8 heads leave of a cubic layer: `python heads.py SPEC OUT.svg`.

The coefficients are those that least squares finds, without noise and with it. A fit with as many
heads as were planted leaves nothing, or what the noise leaves.
"""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hardness.report.plot import Axis, panels, plot
from hardness.report.style import series_style
from hardness.report.vega import write
from hardness.upper.features import Cubic
from hardness.upper.heads import heads
from hardness.upper.leastsquares import LeastSquares
from hardness.upper.lifted import noise_floor, tensor
from instances import parse

PLANTED, MOST = (1, 2, 4, 8, 20), 8


def left(family):
    """Rows of the member of seed 0: the share of the squared coefficients that m heads leave."""
    features, member = Cubic(k=family.k, d=family.d), family.instance(0)
    least = features.examples(boolean=False)
    batch = member.examples(0, math.ceil((20 if family.noise else 1.2) * least))
    sums = LeastSquares(features=features.count, labels=family.d)
    sums.add(features(batch.x).reshape(-1, features.count), batch.y.reshape(-1, family.d))
    fit = sums.solve()
    found = heads(tensor(fit.solution), MOST, floor=noise_floor(fit))
    for fitted, share in enumerate(found.residuals):
        yield {"planted": f"{family.m} planted", "fitted": fitted, "left": max(share, 1e-17)}


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    charts = [
        plot(
            [row for m in PLANTED for row in left(replace(parse(spec), m=m, noise=noise))],
            x=Axis("fitted", "heads fitted", scale="whole"),
            y=Axis("left", "share of the squared coefficients left", scale="log"),
            by="planted",
            styles={f"{m} planted": series_style(i) for i, m in enumerate(PLANTED)},
            title="Noise of variance 1" if noise else "Without noise",
            size=(330, 230),
        )
        for noise in (Fraction(0), Fraction(1))
    ]
    picture = panels(*charts, title=f"How many heads has {spec}?")
    Path(out).write_bytes(write(picture, "svg"))
    print(f"{out}: {', '.join(map(str, PLANTED))} planted heads")
