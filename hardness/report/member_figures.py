"""Figures of listed members: functions of a file, layers, factors of labels, by their Gram matrix.

The same names as the figures of symmetric families, which are drawn by overlaps and eigenspaces.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.finite import FiniteFamily, How
from hardness.lower.finite.certificate import Found, of_points
from hardness.lower.finite.sda import all_subsets, pair_events
from hardness.report.canvas import STYLES, named
from instances.errors import UsageError

Data = dict[str, Any]
GAMMAS = [Fraction(1, g) for g in (100, 70, 50, 40, 30, 20, 14, 10, 7, 5, 4, 3, 2)]
_BLUE, _ORANGE = (colour for colour, _ in STYLES[:2])
_SMALL = 0.01  # a share that would not be seen beside others
_BARS = 61  # of a histogram, where there are more different correlations


def correlations(family: FiniteFamily) -> Data:
    """The correlations of two different members, and which share of pairs has each.

    Where there are many, the middles of bins of equal width.
    """
    found = of_points(family, How())
    values = found.known.correlations[np.triu_indices(len(family.names), k=1)]
    at, counts = np.unique(np.round(values, 9), return_counts=True)
    if len(at) > _BARS:
        edges = np.linspace(at[0], at[-1], _BARS + 1)
        counts, at = np.histogram(values, edges)[0], (edges[1:] + edges[:-1]) / 2
    return {
        **_about(family, found),
        "correlation": [float(f"{v:.9g}") for v in at],
        "share_of_pairs": (counts / max(1, len(values))).tolist(),
    }


def eigenvalues(family: FiniteFamily) -> Data:
    """The eigenvalues of the Gram matrix of the members, scaled to norm 1, falling, in float64."""
    found = of_points(family, How())
    values = np.linalg.eigvalsh(found.known.correlations)[::-1]
    return {**_about(family, found), "eigenvalue": [float(f"{max(v, 0):.6g}") for v in values]}


def sda(family: FiniteFamily) -> Data:
    """Both ends of SDA over all subsets, and SDA over pair events, against gamma.

    Raises UsageError for members that are not -1 and +1 on points that are enumerated.
    """
    found = of_points(family, How())
    products = found.known.products
    if not found.signs or products is None:
        raise UsageError(
            f"{family.path[:200]} given: SDA is drawn of members -1 and +1 on at most 2^22 points"
        )
    brackets = [all_subsets(products, gamma) for gamma in GAMMAS]
    return {
        **_about(family, found),
        "gamma": [str(gamma) for gamma in GAMMAS],
        "lower": [str(one.lower) for one in brackets],
        "upper": [str(one.upper) for one in brackets],
        "pair_events": [str(pair_events(products, gamma)) for gamma in GAMMAS],
    }


def _about(family: FiniteFamily, found: Found) -> Data:
    about = f"{family.path}: {len(family.names)} {family.kind}"
    return {"spec": about, "members": len(family.names), "radius": found.known.radius}


def draw_correlations(figure: Any, data: Data) -> None:
    """Draw a histogram of the correlations of two different members."""
    axis = figure.subplots()
    at = np.array(data["correlation"])
    shares = np.array(data["share_of_pairs"])
    axis.bar(at, shares, width=_width(at), color=_ORANGE, alpha=0.6)
    axis.set_xlim(-1.05, 1.05)
    if shares.min(initial=1.0, where=shares > 0) < _SMALL:
        axis.set_yscale("log")
    axis.set_xlabel("correlation of two members (unit norm)")
    axis.set_ylabel("share of pairs of members")
    axis.set_title("Correlations of two different members")
    figure.suptitle(named(data["spec"], 80), fontsize=9)


def _width(at: NDArray[np.float64]) -> float:
    return 0.9 * min(0.05, float(np.diff(at).min())) if len(at) > 1 else 0.05


def draw_eigenvalues(figure: Any, data: Data) -> None:
    """Draw the eigenvalues by rank."""
    axis = figure.subplots()
    values = np.array(data["eigenvalue"])
    axis.plot(np.arange(1, len(values) + 1), values, marker="o", markersize=3, color=_BLUE)
    axis.set_xscale("log")
    axis.set_xlabel("rank")
    axis.set_ylabel("eigenvalue")
    axis.set_ylim(bottom=0)
    axis.set_title("Spectrum of the Gram matrix of all members")
    figure.suptitle(named(data["spec"], 80), fontsize=9)


OF_MEMBERS: dict[str, Callable[[FiniteFamily], Data]] = {
    "correlations": correlations,
    "eigenvalues": eigenvalues,
    "sda": sda,
}
