"""Figures of lower bounds: correlations, spectra, brackets of SDA, games against the adversary.

Each is drawn from numbers that it also gives away, so that a reader can plot them again.
"""

import math
from fractions import Fraction
from typing import Any

from hardness.lower import Johnson
from hardness.lower.sda import all_subsets, pair_events
from hardness.report import member_figures
from hardness.report.canvas import STYLES, named
from instances.capabilities import SCHEME
from instances.errors import DamagedFile
from instances.family import Family
from instances.symmetric import to_float
from instances.threshold import rational

Data = dict[str, Any]
_BLUE, _ORANGE, _GREEN = (colour for colour, _ in STYLES[:3])


def _scheme(family: Family) -> Johnson:
    return Johnson.family(SCHEME.need(family))


def correlations(family: Family) -> Data:
    """The normalised correlation of two members against their overlap, exact.

    >>> from instances import parse
    >>> correlations(parse("profile:g=majority,d=8,m=3"))["correlation"]
    [0.0, 0.25, 0.5, 1.0]
    """
    scheme = _scheme(family)
    found = [to_float(c / scheme.norm) for c in scheme.correlations]
    share = [
        math.comb(scheme.m, t) * math.comb(scheme.n - scheme.m, scheme.m - t) / scheme.size
        for t in range(scheme.m + 1)
    ]
    return {
        "spec": family.spec,
        "overlap": list(range(scheme.m + 1)),
        "correlation": found,
        "share_of_pairs": share,
    }


def eigenvalues(family: Family) -> Data:
    """The eigenvalues of the Gram matrix over all members, unit norms, with multiplicities."""
    scheme = _scheme(family)
    return {
        "spec": family.spec,
        "j": list(range(len(scheme.eigenvalues))),
        "log10_eigenvalue": [_log10(v / scheme.norm) for v in scheme.eigenvalues],
        "log10_multiplicity": [_log10(rational(m)) for m in scheme.multiplicities],
    }


def sda(family: Family) -> Data:
    """Both ends of SDA over all subsets, and SDA over pair events, against gamma."""
    scheme = _scheme(family)
    rows = []
    for gamma in member_figures.GAMMAS:
        found = all_subsets(scheme, rational(gamma))
        rows.append((gamma, found.lower, found.upper, pair_events(scheme, rational(gamma))))
    return {
        "spec": family.spec,
        "gamma": [str(r[0]) for r in rows],
        "lower": [str(r[1]) for r in rows],
        "upper": [str(r[2]) for r in rows],
        "pair_events": [str(r[3]) for r in rows],
    }


def adversary(transcript: dict[str, Any]) -> Data:
    """Members left after each query of a transcript."""
    try:
        size = int(transcript["members"])
        left = [int(entry["alive"]) for entry in transcript["queries"]]
        return {
            "spec": str(transcript["spec"]),
            "mode": str(transcript["mode"]),
            "tau": str(transcript["tau"]),
            "query": list(range(len(left) + 1)),
            "left": [str(n) for n in (size, *left)],
        }
    except (LookupError, TypeError, ValueError) as error:
        raise DamagedFile(f"this is no transcript of a game: {error}") from error


def draw_correlations(figure: Any, data: Data) -> None:
    """Draw the correlation of two members against their overlap, or how often it occurs."""
    if "overlap" not in data:
        return member_figures.draw_correlations(figure, data)
    axis = figure.subplots()
    axis.plot(data["overlap"], data["correlation"], marker="o", markersize=4, color=_BLUE)
    axis.set_xlabel("overlap of two hidden sets (elements)")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylabel("correlation (centred, unit norm)", color=_BLUE)
    other = axis.twinx()
    other.bar(data["overlap"], data["share_of_pairs"], width=0.6, color=_ORANGE, alpha=0.35)
    other.set_ylabel("share of pairs of members", color=_ORANGE)
    _titled(figure, axis, "Correlation of two members by overlap", data)


def draw_eigenvalues(figure: Any, data: Data) -> None:
    """Draw eigenvalues and multiplicities by eigenspace, or eigenvalues by rank."""
    if "j" not in data:
        return member_figures.draw_eigenvalues(figure, data)
    axis = figure.subplots()
    axis.plot(data["j"], data["log10_eigenvalue"], marker="o", markersize=4, color=_BLUE)
    axis.set_xlabel("eigenspace j")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylabel("eigenvalue, log10", color=_BLUE)
    other = axis.twinx()
    other.plot(
        data["j"], data["log10_multiplicity"], marker="s", markersize=3.5, color=_ORANGE, ls="--"
    )
    other.set_ylabel("multiplicity, log10", color=_ORANGE)
    _titled(figure, axis, "Spectrum of the Gram matrix of all members", data)


def draw_sda(figure: Any, data: Data) -> None:
    """Draw the bracket of SDA against gamma."""
    axis = figure.subplots()
    gamma = [float(Fraction(g)) for g in data["gamma"]]
    lower, upper, pairs = (
        [_log10(rational(int(v))) if int(v) else math.nan for v in data[key]]
        for key in ("lower", "upper", "pair_events")
    )
    axis.plot(gamma, upper, color=_ORANGE, marker="v", markersize=4, label="all subsets, at most")
    axis.plot(
        gamma, lower, color=_BLUE, marker="^", markersize=4, label="all subsets, certified at least"
    )
    axis.fill_between(gamma, lower, upper, color=_BLUE, alpha=0.12, linewidth=0)
    axis.plot(
        gamma, pairs, color=_GREEN, marker="o", markersize=3.5, ls="--", label="pair events, exact"
    )
    axis.set_xscale("log")
    shown = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
    axis.set_xticks(shown, [f"{g:g}" for g in shown])
    axis.set_xticks([], minor=True)
    norm = "unit norm" if "members" in data else "centred, unit norm"
    axis.set_xlabel(f"gamma, average correlation ({norm})")
    axis.set_ylabel("SDA, log10 (no point where it is 0)")
    axis.legend(frameon=False)
    _titled(figure, axis, "Statistical dimension, average correlation (SDA)", data)


def draw_adversary(figure: Any, data: Data) -> None:
    """Draw the members left after each query."""
    axis = figure.subplots()
    left = [int(v) for v in data["left"]]
    scale = 10 ** max(0, len(str(max(left))) - 15)  # beyond float64 only the shape matters
    axis.step(data["query"], [v / scale for v in left], where="post", color=_BLUE)
    axis.set_xlabel(f"queries to STAT({data['tau']}), {data['mode']} adversary")
    axis.set_ylabel("members left" + (f" / {scale:.0e}" if scale > 1 else ""))
    axis.set_ylim(bottom=0)
    for one in (axis.xaxis, axis.yaxis):
        one.get_major_locator().set_params(integer=True)
    _titled(figure, axis, "Members that the adversary has left", data)


def _titled(figure: Any, axis: Any, title: str, data: Data) -> None:
    axis.set_title(title)
    figure.suptitle(named(data["spec"], 80), fontsize=9)


def _log10(value: Any) -> float:
    """log10 of a positive rational of any size; 0 for 0."""
    if value <= 0:
        return 0.0
    return math.log10(int(value.p)) - math.log10(int(value.q))
