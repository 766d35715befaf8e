"""The figure of the Walsh spectrum of a member: its weight by degree."""

import numpy as np

from hardness.report.charts.chart import Data, named
from hardness.report.charts.style import COLOURS, GREY
from hardness.report.charts.trace import WHOLE, Trace, beside, panel, wall
from hardness.runs import spectra
from instances.capabilities import LINEAR_FORMS
from instances.family import Family
from instances.parameters import brief


def of_walsh(family: Family) -> Data:
    """The weight by degree of the member of seed 0, and that of a function drawn at random.

    odd: of a member whose label a half turn of Z_q swaps, the number of odd entries of its secret,
    below which no degree has weight, but 0 that of a mean; else None. about: the spec without its
    defaults.
    Raises UsageError for families without a spectrum.

    >>> from instances import parse
    >>> found = of_walsh(parse("lwr:n=3,q=8,p=2,secret=binary,h=2"))
    >>> found["odd"], found["weight"][:2], found["weight"][2] > 0
    (2, [0.0, 0.0], True)
    """
    instance = family.instance(0)
    found = spectra(instance)
    odd, forms = None, LINEAR_FORMS.of(family)
    if forms is family and forms.rounding.parts == 2:
        odd = sum(map(forms.secrets.is_unit, instance.hidden.secret))
    n = found.target.n
    return {
        "spec": family.spec,
        "about": brief(family, family.name),
        "secret": list(instance.hidden.secret),
        "odd": odd,
        "degree": list(range(n + 1)),
        # Rounding leaves digits that differ between machines.
        "weight": np.where(found.target.present, found.target.weights, 0.0).round(12).tolist(),
        "random": _random(n, found.target.norm),
    }


def _random(n: int, norm: float) -> list[float]:
    """The weight of a function of that norm spread evenly over all coefficients."""
    share = [norm / 2**n]
    for k in range(n):
        share.append(share[-1] * (n - k) / (k + 1))
    return share


def draw_walsh(data: Data) -> Data:
    """Draw weights as bars, those of a random function as a line, the least degree marked."""
    traces = [
        Trace(name="member", x=data["degree"], y=data["weight"], marks=("bar",)),
        Trace(name="a random function", x=data["degree"], y=data["random"], colour=GREY),
    ]
    if data["odd"]:
        traces.append(wall("odd entries of the secret", data["odd"] - 0.5, colour=COLOURS[1]))
    chart = panel(
        traces,
        title="Walsh weight by degree",
        x="degree in the bits of a",
        y="weight (sum of squared coefficients)",
        domains={"y": (0.0, 1.05 * max(*data["weight"], *data["random"]) or 1.0)},
        axes={"x": WHOLE},
        size=(400, 220),
    )
    return beside(chart, title=f"{named(data['about'], 80)}, seed 0")
