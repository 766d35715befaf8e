"""Figures of lower bounds: correlations, SDA from below.

Symmetric families are drawn by overlaps, exactly; listed members, as functions of
a file, layers and factors of labels, by their Gram matrix.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hardness.bounds import Johnson
from hardness.bounds.checker import read_problem, written
from hardness.bounds.checker.functions import every_set, products
from hardness.bounds.checker.theorem import sda
from hardness.bounds.gram import of_members, sampled
from hardness.bounds.hidden_sets import dimensions
from hardness.bounds.listed import enough_members, problem_of
from hardness.bounds.members import Members
from hardness.report.plot import Axis, Data, named, panels, plot
from hardness.report.style import COLOURS, Style
from hardness.runs.names import brief_spec
from instances.errors import UsageError
from instances.family import Family
from instances.numbers import write
from instances.sets import Symmetric

GAMMAS = [Fraction(1, g) for g in (100, 70, 50, 40, 30, 20, 14, 10, 7, 5, 4, 3, 2)]
_RED = COLOURS[1]
_SMALL = 0.01  # a share that would not be seen beside others
_BARS = 61  # of a histogram, where there are more different correlations
_SAMPLES, _CONFIDENCE = 200_000, 0.99  # where correlations are sampled
_WIDE = (400, 240)
_LOWER = "all subsets, certified at least"


@dataclass(frozen=True)
class _Symmetric:
    """The rows of hidden sets."""

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
        rows = [
            {
                "overlap": t,
                "correlation": float(c / scheme.norm),
                "share": math.comb(m, t) * math.comb(scheme.problem.n - m, m - t) / scheme.size,
            }
            for t, c in enumerate(scheme.correlations)
        ]
        return {"rows": rows}

    def sda(self) -> list[Data]:
        found = dimensions(self._sets, GAMMAS)
        return [_row(gamma, least) for gamma, least in zip(GAMMAS, found, strict=True)]


@dataclass(frozen=True)
class _Listed:
    """The rows of listed members."""

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
        """Each by the theorem of the checker."""
        problem = read_problem(problem_of(self.family)[2])
        (members, known, _), rows = products(problem), []
        if problem.levels != 2:
            path = self.family.path[:200]
            raise UsageError(f"{path} given: SDA is drawn of members -1 and +1")
        sizes = np.abs(np.array(known.rows, np.int64))
        for gamma in GAMMAS:
            witness = {"enough": written(enough_members(sizes, known.norms[0] * gamma))}
            enough = every_set(members, known, gamma, witness)
            rows.append(_row(gamma, int(sda(members, gamma, enough).value)))
        return rows


def _row(gamma: Fraction, least: int) -> Data:
    return {"gamma": str(gamma), "lower": write(least, ratio=True)}


def _posed(source: Family | Members) -> _Symmetric | _Listed:
    return _Listed(source) if isinstance(source, Members) else _Symmetric(source)


def of_correlations(source: Family | Members) -> Data:
    """Give the normalised correlation of two members, and which share of pairs has it.

    By the overlap of hidden sets, exact; of listed members by its value, where there are many in
    bins of equal width: over all points where these are few, else sampled, each within `radius` at
    once with the `confidence`.

    >>> from instances import parse
    >>> found = of_correlations(parse("profile:g=majority,d=8,m=3"))["rows"]
    >>> [row["correlation"] for row in found]
    [0.0, 0.25, 0.5, 1.0]
    """
    posed = _posed(source)
    return {**posed.about, **posed.correlations()}


def of_sda(source: Family | Members) -> Data:
    """Give the lower end of SDA over all subsets by gamma, as text.

    Raises UsageError for listed members that are not -1 and +1 on points that are enumerated.
    """
    posed = _posed(source)
    return {**posed.about, "rows": posed.sda()}


def draw_correlations(data: Data) -> Data:
    """Draw how often each correlation of two members occurs."""
    shares: dict[float, float] = {}
    for row in data["rows"]:  # of several overlaps
        shares[row["correlation"]] = shares.get(row["correlation"], 0.0) + row["share"]
    least = min((share for share in shares.values() if share), default=1.0)
    small = least < _SMALL
    apart = np.diff(sorted(shares)).min(initial=0.05)
    chart = plot(
        [{"correlation": at, "share": share} for at, share in shares.items()],
        x=Axis("correlation", "correlation of two members (unit norm)", domain=(-1.05, 1.05)),
        y=Axis(
            "share",
            "share of pairs of members",
            scale="log" if small else "linear",
            domain=(least / 2, 1.0) if small else (0.0, 1.05 * max(shares.values())),
        ),
        styles={"": Style(colour=_RED, marks=("bar",), wide=0.9 * min(0.05, float(apart)))},
        title="Correlations of two members",
        size=_WIDE,
    )
    chance = data.get("confidence")
    note = f"sampled: all within {data.get('radius', 0):.2g} at once, with {chance or 0:.0%}"
    note = f"{note} {data.get('condition', '')}".rstrip()
    return _titled(data, chart, notes=[note] if chance else [])


def draw_sda(data: Data) -> Data:
    """Draw the lower end of SDA against gamma, from the first that is not 0 on."""
    rows: list[Data] = []
    for row in data["rows"]:
        sda, gamma = _log10(int(row["lower"])), float(Fraction(row["gamma"]))
        if rows or sda is not None:
            rows.append({"series": _LOWER, "gamma": gamma, "sda": sda})
    norm = "unit norm" if "members" in data else "centred, unit norm"
    chart = plot(
        rows,
        x=Axis(
            "gamma",
            f"gamma, average correlation ({norm})",
            scale="log",
            ticks=[row["gamma"] for row in rows],
            look={"labelExpr": "format(datum.value, '.2~g')"},
        ),
        y=Axis("sda", "SDA (no point where it is 0)", scale="powers"),
        styles={_LOWER: Style(shape="triangle-up")},
        title="Statistical dimension with average correlation (SDA)",
        size=_WIDE,
    )
    return _titled(data, chart)


def _titled(data: Mapping[str, Any], *charts: Data, notes: Any = ()) -> Data:
    title = named(brief_spec(data["spec"]), 80)
    return panels(*charts, title=title, notes=notes, own=True)


def _log10(value: Any) -> float | None:
    """log10 of a number of any size; None for 0."""
    if value <= 0:
        return None
    exact = Fraction(value)
    return math.log10(exact.numerator) - math.log10(exact.denominator)
