"""The figure of the Walsh spectrum of a member: its weight by degree."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hardness.report.style import (
    COLOURS,
    GREY,
    Data,
    captioned,
    legend_below,
    legible_name,
    panels,
    styled,
)
from hardness.runs import spectra
from instances.coded import require_coded
from instances.family import Family
from instances.parameters import brief

_MEMBER, _RANDOM = "member", "a random function"


def walsh_rows(family: Family) -> Data:
    """Make rows of the weight by degree, for the member of seed 0 and for a random function.

    odd: the number of odd entries of the secret, if adding q/2 to <a, s> swaps the labels; else
    None. Lower degrees have no weight then, except degree 0. about: the spec without defaults.
    Raises UsageError for families without a spectrum.

    >>> from instances import parse
    >>> data = walsh_rows(parse("lwr:n=3,q=8,p=2,secret=binary,h=2"))
    >>> data["odd"], [row["weight"] > 0 for row in data["rows"][:3]]
    (2, [False, False, True])
    """
    require_coded(family)  # the axis is of the bits of a
    instance = family.instance(0)
    target = spectra(instance).target
    odd, forms = None, family.linear_forms
    if forms is family and forms.outcomes == 2:
        odd = sum(map(forms.secrets.is_unit, instance.hidden.secret))
    # The last digits differ between machines, so weights are rounded.
    weights = np.where(target.present, target.weights, 0.0).round(12).tolist()
    evenly = [target.norm / 2**target.n]  # the weight spread evenly over all coefficients
    for k in range(target.n):
        evenly.append(evenly[-1] * (target.n - k) / (k + 1))
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


@styled
def walsh(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw weights as bars, the random function as a line, and mark the least degree."""
    figure, [panel] = panels(1, ax=ax, width=width, ratio=0.62)
    for name in (_MEMBER, _RANDOM):
        rows = [row for row in data["rows"] if row["series"] == name]
        x, y = [row["degree"] for row in rows], [row["weight"] for row in rows]
        if name == _MEMBER:
            panel.bar(x, y, 0.8, color=COLOURS[0], label=name)
        else:
            panel.plot(x, y, color=GREY, marker="o", label=name)
    if data["odd"]:
        panel.axvline(
            data["odd"] - 0.5, color=COLOURS[1], linestyle="--", label="odd entries of the secret"
        )
    panel.set(xlabel="degree in the bits of a", ylabel="weight (sum of squared coefficients)")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend_below(figure, [panel], panel.get_legend_handles_labels()[0])
    caption = f"Walsh weight by degree of {legible_name(data['about'], 80)}, seed 0"
    odd = f"Dashed: {data['odd']} odd entries of the secret; no lower degree has weight."
    sentences = [f"{caption}, and of a function drawn at random.", odd if data["odd"] else ""]
    return captioned(figure, sentences, data)
