"""The figure of the Walsh spectrum of an LWE-style member: weight by degree in the bits of a."""

from typing import Any

import numpy as np

from hardness.report.canvas import STYLES, named
from hardness.runs import spectra
from instances.family import Family
from instances.parameters import brief

Data = dict[str, Any]
_BLUE, _ORANGE, _GREY = STYLES[0][0], STYLES[1][0], "0.6"


def weights(family: Family) -> Data:
    """The weight by degree of the member of seed 0, and that of a function drawn at random.

    odd: of a member whose label a half turn of Z_q swaps, the number of odd entries of its secret,
    below which no degree has weight, but 0 that of a mean; else None. about: the spec without its
    defaults.
    Raises UsageError for families without a spectrum.

    >>> from instances import parse
    >>> found = weights(parse("lwr:n=3,q=8,p=2,secret=binary,h=2"))
    >>> found["odd"], found["weight"][:2], found["weight"][2] > 0
    (2, [0.0, 0.0], True)
    """
    instance = family.instance(0)
    found = spectra(instance)
    odd, forms = None, family.linear_forms
    if forms is family and forms.intervals == 2:
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


def draw_weights(figure: Any, data: Data) -> None:
    """Draw weights as bars, those of a random function as a line, the least degree marked."""
    axis = figure.subplots()
    axis.bar(data["degree"], data["weight"], color=_BLUE, linewidth=0, label="member")
    axis.plot(
        data["degree"], data["random"], color=_GREY, marker="o", markersize=3, label="a random one"
    )
    if data["odd"]:
        least = data["odd"] - 0.5
        axis.axvline(least, color=_ORANGE, ls="--", linewidth=1, label="odd entries of the secret")
    axis.set_xlabel("degree in the bits of a")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylabel("weight (sum of squared coefficients)")
    axis.legend(frameon=False)
    axis.set_title("Walsh weight by degree")
    figure.suptitle(f"{named(data['about'], 80)}, seed 0", fontsize=9)
