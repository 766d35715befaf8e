"""Figures of lower bounds: correlations, and lower bounds on SDA.

Families of hidden sets are computed exactly from overlaps. Listed members, such as functions of a
file, layers and factors of labels, are computed from their Gram matrix.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from hardness.bounds import Johnson
from hardness.bounds.checker import read_problem, written
from hardness.bounds.checker.functions import every_set, products
from hardness.bounds.checker.theorem import sda as proved_sda
from hardness.bounds.gram import of_members, sampled
from hardness.bounds.hidden_sets import dimensions
from hardness.bounds.listed import enough_members, problem_of
from hardness.bounds.members import Members
from hardness.report.style import COLOURS, Data, captioned, legible_name, panels, styled
from hardness.runs.names import brief_spec
from instances.errors import UsageError
from instances.family import Family
from instances.numbers import write
from instances.sets import Symmetric

GAMMAS = [Fraction(1, g) for g in (100, 70, 50, 40, 30, 20, 14, 10, 7, 5, 4, 3, 2)]
_SMALL = 0.01  # a fraction too small to be seen on a linear axis
_BARS = 61  # of the histogram, if there are more different correlations
_SAMPLES, _CONFIDENCE = 200_000, 0.99  # if correlations are sampled


@dataclass(frozen=True)
class _Symmetric:
    """Computes the rows of a family of hidden sets."""

    family: Family

    @property
    def about(self) -> Data:
        return {"spec": self.family.spec}

    @property
    def _sets(self) -> Symmetric:
        family = self.family
        return family if isinstance(family, Symmetric) else family.refuse("hidden_sets")

    @cached_property
    def _scheme(self) -> Johnson:
        return Johnson.family(self._sets)

    def correlations(self) -> Data:
        scheme, m = self._scheme, self._scheme.problem.m
        others = max(1, scheme.size - 1)  # members other than a given one
        rows = [
            {
                "overlap": t,
                "correlation": float(c / scheme.norm),
                "share": math.comb(m, t) * math.comb(scheme.problem.n - m, m - t) / others,
            }
            for t, c in enumerate(scheme.correlations[:m])
        ]
        return {"rows": rows}

    def sda(self) -> list[Data]:
        bounds = dimensions(self._sets, GAMMAS)
        return [_row(gamma, lower) for gamma, lower in zip(GAMMAS, bounds, strict=True)]


@dataclass(frozen=True)
class _Listed:
    """Computes the rows of listed members."""

    family: Members

    @property
    def about(self) -> Data:
        members = len(self.family.names)
        return {"spec": f"{self.family.path}: {members} {self.family.kind}", "members": members}

    def correlations(self) -> Data:
        sample, sampling = of_members(self.family), Data(radius=0.0)
        values = sample.certified
        if values is None:
            gram = sampled(sample, _SAMPLES, _CONFIDENCE)
            sampling = {"radius": gram.radius, "confidence": _CONFIDENCE, "samples": _SAMPLES}
            sampling["condition"] = gram.condition
            values = gram.gram
        values = values[np.triu_indices(len(values), k=1)]
        at, counts = np.unique(np.round(values, 9), return_counts=True)
        if len(at) > _BARS:
            edges = np.linspace(at[0], at[-1], _BARS + 1)
            counts, at = np.histogram(values, edges)[0], (edges[1:] + edges[:-1]) / 2
        shares = (counts / max(1, len(values))).tolist()
        rows = zip(at, shares, strict=True)
        return {
            **sampling,
            "rows": [{"correlation": float(f"{v:.9g}"), "share": share} for v, share in rows],
        }

    def sda(self) -> list[Data]:
        """Compute each row by the theorem of the checker."""
        problem = read_problem(problem_of(self.family)[2])
        (members, known, _), rows = products(problem), []
        if problem.levels != 2:
            path = self.family.path[:200]
            raise UsageError(f"SDA is drawn for members with values -1 and +1, got {path}")
        sizes = np.abs(np.array(known.rows, np.int64))
        for gamma in GAMMAS:
            witness = {"enough": written(enough_members(sizes, known.norms[0] * gamma))}
            enough = every_set(members, known, gamma, witness)
            rows.append(_row(gamma, int(proved_sda(members, gamma, enough).value)))
        return rows


def _row(gamma: Fraction, lower: int) -> Data:
    return {"gamma": str(gamma), "lower": write(lower, ratio=True)}


def _source_of_rows(source: Family | Members) -> _Symmetric | _Listed:
    return _Listed(source) if isinstance(source, Members) else _Symmetric(source)


def correlations_rows(source: Family | Members) -> Data:
    """Make rows of normalised correlations, each with the fraction of pairs of members.

    For hidden sets there is an exact row for each overlap. For listed members there is a row for
    each value, or for each bin if there are many. These are exact if there are few points.
    Otherwise they are sampled, and all within `radius` at once with the `confidence`.

    >>> from instances import parse
    >>> rows = correlations_rows(parse("profile:g=majority,d=8,m=3"))["rows"]
    >>> [row["correlation"] for row in rows]
    [0.0, 0.25, 0.5]
    """
    members = _source_of_rows(source)
    return {**members.about, **members.correlations()}


def sda_rows(source: Family | Members) -> Data:
    """Make rows of the certified lower bound on SDA over all subsets, as text, by gamma.

    Raises UsageError for listed members with values other than -1 and +1, or too many points.
    """
    members = _source_of_rows(source)
    return {**members.about, "rows": members.sda()}


@styled
def correlations(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw the fraction of pairs of members with each correlation."""
    shares: dict[float, float] = {}
    for row in data["rows"]:  # several overlaps may have the same correlation
        shares[row["correlation"]] = shares.get(row["correlation"], 0.0) + row["share"]
    least = min((share for share in shares.values() if share), default=1.0)
    apart = float(np.diff(sorted(shares)).min(initial=0.05))
    figure, [panel] = panels(1, ax=ax, width=width, ratio=0.62)
    panel.bar(list(shares), list(shares.values()), 0.9 * min(0.05, apart), color=COLOURS[1])
    panel.set(
        xlabel="correlation of two different members (unit norm)",
        ylabel="share of pairs of members",
        xlim=(-1.05, 1.05),
    )
    if least < _SMALL:
        panel.set_yscale("log")
        panel.set_ylim(least / 2, 1.5)
    caption = (
        f"Correlations of two different members of {legible_name(brief_spec(data['spec']), 80)}."
    )
    if chance := data.get("confidence"):
        within = (
            f"Sampled: all within {data.get('radius', 0):.2g} at once, with confidence {chance:.0%}"
        )
        caption += f" {within} {data.get('condition', '')}".rstrip() + "."
    return captioned(figure, [caption], data)


@styled
def sda(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw the lower bound on SDA against gamma, from the first that is not 0."""
    points: list[tuple[float, float]] = []
    for row in data["rows"]:
        exponent = _log10(int(row["lower"]))
        if exponent is not None:
            points.append((float(Fraction(row["gamma"])), exponent))
    figure, [panel] = panels(1, ax=ax, width=width, ratio=0.62)
    norm = "unit norm" if "members" in data else "centred, unit norm"
    panel.set(xlabel=f"gamma, average correlation ({norm})", ylabel="SDA, certified at least")
    panel.set_xscale("log")
    if points:
        x, y = zip(*points, strict=True)
        panel.plot(x, y, marker="^", color=COLOURS[0])
        panel.yaxis.set_major_formatter(lambda value, _: f"$10^{{{value:g}}}$")
    ticks = [
        value for value in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if points and value >= points[0][0]
    ]
    panel.set_xticks(ticks, [f"{value:g}" for value in ticks])
    panel.xaxis.set_minor_locator(NullLocator())
    none = " Not drawn where it is 0." if len(points) < len(data["rows"]) else ""
    caption = [
        "Statistical dimension with average correlation (SDA) of",
        f"{legible_name(brief_spec(data['spec']), 80)},",
        "over all subsets of members: certified lower end." + none,
    ]
    return captioned(figure, caption, data)


def _log10(value: Any) -> float | None:
    """Return log10 of an integer or fraction of any size; None for 0."""
    if value <= 0:
        return None
    exact = Fraction(value)
    return math.log10(exact.numerator) - math.log10(exact.denominator)
