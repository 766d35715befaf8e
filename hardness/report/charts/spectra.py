"""The figure of the Walsh spectrum of a member: its weight by degree."""

import numpy as np

from hardness.report.plot import Axis, Data, named, panels, plot, present
from hardness.report.style import COLOURS, GREY, Style, wall
from hardness.runs import spectra
from instances.coded import require_coded
from instances.family import Family
from instances.parameters import brief

_MEMBER, _RANDOM, _ODD = "member", "a random function", "odd entries of the secret"
_STYLES = {
    _MEMBER: Style(marks=("bar",)),
    _RANDOM: Style(colour=GREY),
    _ODD: wall(colour=COLOURS[1]),
}


def of_walsh(family: Family) -> Data:
    """Give the weight by degree of the member of seed 0, and of a function drawn at random.

    odd: of a member whose label a half turn of Z_q swaps, the number of odd entries of its secret,
    below which no degree has weight, but 0 that of a mean; else None. about: the spec without its
    defaults. Raises UsageError for families without a spectrum.

    >>> from instances import parse
    >>> found = of_walsh(parse("lwr:n=3,q=8,p=2,secret=binary,h=2"))
    >>> found["odd"], [row["weight"] > 0 for row in found["rows"][:3]]
    (2, [False, False, True])
    """
    require_coded(family)  # the axis speaks of the bits of a
    instance = family.instance(0)
    found = spectra(instance).target
    odd, forms = None, family.linear_forms
    if forms is family and forms.outcomes == 2:
        odd = sum(map(forms.secrets.is_unit, instance.hidden.secret))
    # Rounding leaves digits that differ between machines.
    weights = np.where(found.present, found.weights, 0.0).round(12).tolist()
    evenly = [found.norm / 2**found.n]  # over all coefficients
    for k in range(found.n):
        evenly.append(evenly[-1] * (found.n - k) / (k + 1))
    return {
        "spec": family.spec,
        "about": brief(family, family.name),
        "secret": list(instance.hidden.secret),
        "odd": odd,
        "rows": [
            {"series": name, "degree": k, "weight": weight}
            for name, series in ((_MEMBER, weights), (_RANDOM, evenly))
            for k, weight in enumerate(series)
        ],
    }


def draw_walsh(data: Data) -> Data:
    """Draw weights as bars, those of a random function as a line, the least degree marked."""
    odd = [{"series": _ODD, "degree": data["odd"] - 0.5}] if data["odd"] else []
    most = max(row["weight"] for row in data["rows"])
    chart = plot(
        [*data["rows"], *odd],
        x=Axis("degree", "degree in the bits of a", scale="whole"),
        y=Axis("weight", "weight (sum of squared coefficients)", domain=(0.0, 1.05 * most or 1.0)),
        styles=present([*data["rows"], *odd], _STYLES),
        title="Walsh weight by degree",
        size=(400, 220),
    )
    return panels(chart, title=f"{named(data['about'], 80)}, seed 0", own=True)
