"""Figures of lower bounds: correlations, spectra, brackets of SDA, games against the adversary.

Symmetric families are drawn by overlaps and eigenspaces, exactly; listed members, as functions of
a file, layers and factors of labels, by their Gram matrix.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hardness.check.transcript import check_transcript
from hardness.claims import digits
from hardness.lower import BoundParameters, Johnson, hidden_sets
from hardness.lower.gram import of_members, sampled
from hardness.lower.listed import nearest, pose
from hardness.lower.members import Members
from hardness.lower.tolerances import of_members as bound_of
from hardness.report.plot import Axis, Data, named, panels, plot
from hardness.report.style import COLOURS, Style
from hardness.runs.names import brief_spec
from instances.capabilities import SCHEME
from instances.errors import DamagedFile, TooLarge, UsageError
from instances.family import Family
from instances.parameters import whole
from instances.symmetric import to_float
from instances.text import decimal
from instances.threshold import python_fraction, rational

# Of each decade twelve tolerances, at equal distances as well as two digits can say.
_STEPS = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)
TAUS = [*(Fraction(n, 10**k) for k in (4, 3, 2) for n in _STEPS), Fraction(1)]
GAMMAS = [Fraction(1, g) for g in (100, 70, 50, 40, 30, 20, 14, 10, 7, 5, 4, 3, 2)]
_BLUE, _RED, _GREEN = COLOURS[:3]
_SMALL = 0.01  # a share that would not be seen beside others
_BARS = 61  # of a histogram, where there are more different correlations
_SAMPLES, _CONFIDENCE = 200_000, 0.99  # where correlations are sampled
_ROOM = 15  # digits of a number of members that an axis shows
_WIDE = (400, 240)
_POINTS = {"": Style(marks=("point",))}
_ENDS = {  # of SDA
    "upper": ("all subsets, at most", Style(colour=_RED, shape="triangle-down")),
    "lower": ("all subsets, certified at least", Style(shape="triangle-up")),
    "pair_events": ("pair events, exact", Style(colour=_GREEN, dash=(5, 3))),
}


@dataclass(frozen=True)
class _Symmetric:
    """The rows of hidden sets."""

    family: Family

    @property
    def about(self) -> Data:
        return {"spec": self.family.spec}

    @cached_property
    def _scheme(self) -> Johnson:
        return Johnson.family(SCHEME.need(self.family))

    def correlations(self) -> Data:
        scheme, m = self._scheme, self._scheme.m
        rows = [
            {
                "overlap": t,
                "correlation": to_float(c / scheme.norm),
                "share": math.comb(m, t) * math.comb(scheme.n - m, m - t) / scheme.size,
            }
            for t, c in enumerate(scheme.correlations)
        ]
        return {"rows": rows}

    def eigenvalues(self) -> list[tuple[Any, Any]]:
        scheme = self._scheme
        return [
            (value / scheme.norm, rational(count))
            for value, count in zip(scheme.eigenvalues, scheme.multiplicities, strict=True)
        ]

    def sda(self) -> list[Data]:
        found = hidden_sets.dimensions(SCHEME.need(self.family), GAMMAS)
        return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


@dataclass(frozen=True)
class _Listed:
    """The rows of listed members."""

    family: Members

    @property
    def about(self) -> Data:
        members = len(self.family.names)
        return {"spec": f"{self.family.path}: {members} {self.family.kind}", "members": members}

    def correlations(self) -> Data:
        sample, found = of_members(self.family), Data(radius=0.0)
        values = sample.certified
        if values is None:
            gram = sampled(sample, _SAMPLES, _CONFIDENCE)
            found = {"radius": gram.radius, "confidence": _CONFIDENCE, "samples": _SAMPLES}
            found["condition"] = gram.condition
            values = gram.gram
        values = values[np.triu_indices(len(values), k=1)]
        at, counts = np.unique(np.round(values, 9), return_counts=True)
        if len(at) > _BARS:
            edges = np.linspace(at[0], at[-1], _BARS + 1)
            counts, at = np.histogram(values, edges)[0], (edges[1:] + edges[:-1]) / 2
        shares = (counts / max(1, len(values))).tolist()
        rows = zip(at, shares, strict=True)
        return {
            **found,
            "rows": [{"correlation": float(f"{v:.9g}"), "share": share} for v, share in rows],
        }

    def eigenvalues(self) -> list[tuple[Any, Any]]:
        proof, members = pose(self.family)
        products = np.array(proof.fact(members).rows, np.float64)  # exact but for rounding
        norms = np.sqrt(np.diagonal(products))
        values = np.linalg.eigvalsh(products / np.outer(norms, norms))
        at, counts = np.unique(np.round(values, 6), return_counts=True)
        return [(max(float(v), 0.0), int(n)) for v, n in zip(at[::-1], counts[::-1], strict=True)]

    def sda(self) -> list[Data]:
        """Each by a step that the kernel takes."""
        proof, members = pose(self.family)
        known, rows = proof.fact(members), []
        if not proof.parsed.two:
            path = self.family.path[:200]
            raise UsageError(f"{path} given: SDA is drawn of members -1 and +1")
        sizes = np.abs(np.array(known.rows, np.int64))
        for gamma in GAMMAS:
            enough, above = nearest(sizes, known.norms[0] * gamma)
            given = {"gamma": gamma, "above": above, "enough": Fraction(enough)}
            claims = proof.fact(proof.step("sums", members, **given)).claims
            lower, ends = claims["sda-all-subsets"][:2]
            ends = {"lower": str(lower), "upper": ends["upper"]}
            pairs = str(claims["sda-pair-events"][0])
            rows.append({"gamma": str(gamma), **ends, "pair_events": pairs})
        return rows


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


def of_eigenvalues(source: Family | Members) -> Data:
    """Give the eigenvalues of the Gram matrix of all members of norm 1, and how often each occurs.

    By eigenspace; of listed members falling, in float64, to six places. None: the logarithm of 0.
    """
    posed = _posed(source)
    rows = [
        {"j": j, "log10_eigenvalue": _log10(value), "log10_multiplicity": _log10(count)}
        for j, (value, count) in enumerate(posed.eigenvalues())
    ]
    return {**posed.about, "rows": rows}


def of_sda(source: Family | Members) -> Data:
    """Give both ends of SDA over all subsets, and SDA over pair events, by gamma, as text.

    Raises UsageError for listed members that are not -1 and +1 on points that are enumerated.
    """
    posed = _posed(source)
    return {**posed.about, "rows": posed.sda()}


def of_queries(source: Family | Members) -> Data:
    """Give certified queries by tau, as text, for relative risk 1/4 with success probability 2/3.

    "" where the bound is vacuous, "none" where no number of queries is enough. Raises UsageError
    for members of which no bound on queries is known.

    >>> from instances import parse
    >>> rows = of_queries(parse("parity:d=16,m=3"))["rows"]
    >>> [row["queries"] for row in rows if row["tau"] in ("1/1000", "1/10")]
    ['', '13']
    """
    terms, about = BoundParameters(), _posed(source).about
    found = bound_of(source, terms)
    if not found:
        raise UsageError(f"{about['spec'][:200]} given: it has no certified bound on queries")

    def count(tau: Fraction) -> str:
        if found.vacuous(tau) or found.missing <= 0:
            return ""
        queries = found.queries(tau)
        return "none" if queries is None else decimal(queries)

    first = found.first() if found.missing > 0 else None
    taus = sorted({*TAUS, *([first] if first and first > TAUS[0] else [])})
    return {
        **about,
        "oracle": "STAT" if found.general else "a correlational oracle",
        "risk": str(terms.risk),
        "success": str(terms.success),
        "first": first and str(first),
        "rows": [{"tau": str(tau), "queries": count(tau)} for tau in taus],
    }


def of_adversary(transcript: Data) -> Data:
    """Give the members left after each query of a transcript, played again where that is possible.

    Raises Refuted for one that contradicts itself, and DamagedFile.
    """
    try:
        check_transcript(transcript)
        checked = True
    except TooLarge:
        checked = False
    try:
        left = [int(transcript["members"]), *(int(one["alive"]) for one in transcript["queries"])]
        return {
            "spec": str(transcript["spec"]),
            "mode": str(transcript["mode"]),
            "tau": str(transcript["tau"]),
            "checked": checked,
            "rows": [{"query": i, "left": str(n)} for i, n in enumerate(left)],
        }
    except (LookupError, TypeError, ValueError) as error:
        raise DamagedFile(f"this is no transcript of a game: {error}") from error


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
    said = f"sampled: all within {data.get('radius', 0):.2g} at once, with {chance or 0:.0%}"
    said = f"{said} {data.get('condition', '')}".rstrip()
    return _titled(data, chart, notes=[said] if chance else [])


def draw_eigenvalues(data: Data) -> Data:
    """Draw eigenvalues and multiplicities by eigenspace."""
    charts = [
        plot(
            data["rows"],
            x=Axis("j", "eigenspace j", scale="whole"),
            y=Axis(f"log10_{name}", name, scale="powers"),
            styles={"": style},
            title=title,
        )
        for name, title, style in (
            ("eigenvalue", "Eigenvalues of the Gram matrix of all members", Style()),
            ("multiplicity", "How often each occurs", Style(colour=_RED, shape="square")),
        )
    ]
    zero = any(row["log10_eigenvalue"] is None for row in data["rows"])
    return _titled(data, *charts, notes=["no point: the eigenvalue is 0"] if zero else [])


def draw_sda(data: Data) -> Data:
    """Draw the bracket of SDA against gamma, from the first that is not 0 on."""
    rows: list[Data] = []
    for row in data["rows"]:
        logs = {name: _log10(int(row[name])) for name in _ENDS}
        gamma = float(Fraction(row["gamma"]))
        if rows or logs["upper"] is not None or logs["pair_events"] is not None:
            low = logs["upper"] if logs["lower"] is None else logs["lower"]
            rows.append({"gamma": gamma, "low": low, "high": logs["upper"]})
            rows += [{"series": _ENDS[n][0], "gamma": gamma, "sda": v} for n, v in logs.items()]
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
        styles={"": Style(marks=("band",)), **dict(_ENDS.values())},
        title="Statistical dimension with average correlation (SDA)",
        size=_WIDE,
    )
    return _titled(data, chart)


def draw_queries(data: Data) -> Data:
    """Draw certified queries against the tolerance, where the bound says something."""
    rows: list[Data] = [
        {"tau": float(Fraction(row["tau"])), "queries": _log10(whole(row["queries"]))}
        for row in data["rows"]
        if row["queries"].isdigit()
    ]
    first = data["first"]
    from_there = f"not vacuous from tau = {float(Fraction(first)):.2g} on" if first else ""
    notes = [from_there or "vacuous at every tau"]
    none = [row["tau"] for row in data["rows"] if row["queries"] == "none"]
    if none:
        from_here = digits(Fraction(none[0]), up=True, places=2)
        notes.append(f"no number of queries is enough from tau = {from_here} on")
    least = min((row["tau"] for row in rows), default=0.1)
    chart = plot(
        rows,
        x=Axis("tau", "tolerance tau", scale="log", domain=(0.9 * least, 1.1)),
        y=Axis(
            "queries",
            f"queries for risk {data['risk']}, success {data['success']}",
            scale="powers",
        ),
        styles=_POINTS,
        title=f"Certified queries to {data['oracle']}",
        size=_WIDE,
    )
    return _titled(data, chart, notes=notes)


def draw_adversary(data: Data) -> Data:
    """Draw the members left after each query."""
    left = [int(row["left"]) for row in data["rows"]]
    scale = 10 ** max(0, len(str(max(left))) - _ROOM)  # beyond float64 only the shape matters
    rows = [
        {"query": row["query"], "left": n / scale}
        for row, n in zip(data["rows"], left, strict=True)
    ]
    most = 1.05 * max(left) / scale or 1.0
    chart = plot(
        rows,
        x=Axis(
            "query",
            f"queries to STAT({named(data['tau'])}), {named(data['mode'])} adversary",
            scale="whole",
        ),
        y=Axis(
            "left",
            "members left" + (f" / {scale:.0e}" if scale > 1 else ""),
            scale="whole",
            domain=(0.0, most),
        ),
        styles={"": Style(marks=("line",), step="step-after")},
        title="Members that the adversary has left",
        size=_WIDE,
    )
    notes = [] if data["checked"] else ["not checked: it is too much to play again"]
    return _titled(data, chart, notes=notes)


def _titled(data: Mapping[str, Any], *charts: Data, notes: Any = ()) -> Data:
    title = named(brief_spec(data["spec"]), 80)
    return panels(*charts, title=title, notes=notes, own=True)


def _log10(value: Any) -> float | None:
    """log10 of a number of any size; None for 0."""
    if value <= 0:
        return None
    exact = Fraction(value) if isinstance(value, int | float) else python_fraction(value)
    return math.log10(exact.numerator) - math.log10(exact.denominator)
