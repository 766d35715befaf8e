"""Draw what fits of 0 to 8 heads leave of a cubic layer: `python heads.py SPEC OUT.svg`.

The coefficients are those that least squares finds, without noise and with it. A fit with as many
heads as were planted leaves nothing, or what the noise leaves.
"""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

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
    noise = f"noise of variance {float(family.noise) ** 2:g}"
    for fitted, share in enumerate(found.residuals):
        yield {"noise": noise, "planted": family.m, "fitted": fitted, "left": max(share, 1e-17)}


if __name__ == "__main__":
    spec, out = sys.argv[1:]
    given = parse(spec)
    members = [replace(given, m=m, noise=Fraction(n)) for n in (0, 1) for m in PLANTED]
    planted = {"field": "planted", "type": "nominal"}
    fitted = {"field": "fitted", "type": "quantitative", "title": "heads fitted"}
    share = {"field": "left", "type": "quantitative", "scale": {"type": "log"}}
    share |= {"title": "squared coefficients left", "axis": {"format": "~e", "tickCount": 6}}
    chart = {
        "title": f"How many heads has {spec}?",
        "data": {"values": [row for member in members for row in left(member)]},
        "facet": {"column": {"field": "noise", "title": None}},
        "spec": {
            "width": 330,
            "height": 230,
            "mark": {"type": "line", "point": True},
            "encoding": {"x": fitted, "y": share, "color": planted},
        },
    }
    Path(out).write_bytes(write(chart, "svg"))
    print(f"{out}: {', '.join(map(str, PLANTED))} planted heads")
