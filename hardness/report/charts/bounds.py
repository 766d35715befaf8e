"""Figures of lower bounds: correlations, spectra, brackets of SDA, games against the adversary.

Symmetric families are drawn by overlaps and eigenspaces, exactly; listed members, as functions of
a file, layers and factors of labels, by their Gram matrix.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hardness.check.transcript import check_transcript
from hardness.claims import digits
from hardness.lower import BoundParameters, Johnson, hidden_sets
from hardness.lower.gram import of_members, sampled
from hardness.lower.listed import nearest, pose
from hardness.lower.members import Members
from hardness.lower.tolerances import of_members as bound_of
from hardness.report.charts.chart import Data, named, powers
from hardness.report.charts.style import COLOURS
from hardness.report.charts.trace import WHOLE, Trace, beside, panel
from hardness.runs.names import brief_spec
from instances.capabilities import SCHEME
from instances.errors import DamagedFile, TooLarge, UsageError
from instances.family import Family
from instances.parameters import whole
from instances.symmetric import to_float
from instances.text import decimal
from instances.threshold import rational

# Of each decade twelve tolerances, at equal distances as well as two digits can say.
_STEPS = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)
TAUS = [*(Fraction(n, 10**k) for k in (4, 3, 2) for n in _STEPS), Fraction(1)]
GAMMAS = [Fraction(1, g) for g in (100, 70, 50, 40, 30, 20, 14, 10, 7, 5, 4, 3, 2)]
_BLUE, _RED, _GREEN = COLOURS[:3]
_SMALL = 0.01  # a share that would not be seen beside others
_BARS = 61  # of a histogram, where there are more different correlations
_SAMPLES, _CONFIDENCE = 200_000, 0.99  # where correlations are sampled
_ROOM = 15  # digits of a number of members that an axis shows


def of_correlations(family: Family | Members) -> Data:
    """The normalised correlation of two members, and which share of pairs has it.

    By the overlap of hidden sets, exact; of listed members by its value, where there are many in
    bins of equal width: over all points where these are few, else sampled, each within `radius` at
    once with the `confidence`.

    >>> from instances import parse
    >>> of_correlations(parse("profile:g=majority,d=8,m=3"))["correlation"]
    [0.0, 0.25, 0.5, 1.0]
    """
    if isinstance(family, Members):
        return _listed_correlations(family)
    scheme = _scheme(family)
    share = [
        math.comb(scheme.m, t) * math.comb(scheme.n - scheme.m, scheme.m - t) / scheme.size
        for t in range(scheme.m + 1)
    ]
    return {
        "spec": family.spec,
        "overlap": list(range(scheme.m + 1)),
        "correlation": [to_float(c / scheme.norm) for c in scheme.correlations],
        "share_of_pairs": share,
    }


def _listed_correlations(family: Members) -> Data:
    sample = of_members(family)
    if sample.certified is not None:
        found: Data = {"radius": 0.0}
        values = sample.certified
    else:
        gram = sampled(sample, _SAMPLES, _CONFIDENCE)
        found = {"radius": gram.radius, "confidence": _CONFIDENCE, "samples": _SAMPLES}
        values = gram.gram
    values = values[np.triu_indices(len(values), k=1)]
    at, counts = np.unique(np.round(values, 9), return_counts=True)
    if len(at) > _BARS:
        edges = np.linspace(at[0], at[-1], _BARS + 1)
        counts, at = np.histogram(values, edges)[0], (edges[1:] + edges[:-1]) / 2
    return {
        **_about(family),
        **found,
        "correlation": [float(f"{v:.9g}") for v in at],
        "share_of_pairs": (counts / max(1, len(values))).tolist(),
    }


def of_eigenvalues(family: Family | Members) -> Data:
    """The eigenvalues of the Gram matrix of all members of norm 1.

    By eigenspace with multiplicities, None for the logarithm of 0; of listed members falling, in
    float64.
    """
    if isinstance(family, Members):
        values = np.linalg.eigvalsh(_matrix(family))[::-1]
        return {**_about(family), "eigenvalue": [float(f"{max(v, 0):.6g}") for v in values]}
    scheme = _scheme(family)
    return {
        "spec": family.spec,
        "j": list(range(len(scheme.eigenvalues))),
        "log10_eigenvalue": [_log10(v / scheme.norm) for v in scheme.eigenvalues],
        "log10_multiplicity": [_log10(rational(m)) for m in scheme.multiplicities],
    }


def of_sda(family: Family | Members) -> Data:
    """Both ends of SDA over all subsets, and SDA over pair events, against gamma, as text.

    Raises UsageError for listed members that are not -1 and +1 on points that are enumerated.
    """
    if isinstance(family, Members):
        about = _about(family)
        return {**about, "gamma": [str(gamma) for gamma in GAMMAS], **_listed_sda(family)}
    return {"spec": family.spec, **hidden_sets.dimensions(SCHEME.need(family), GAMMAS)}


def of_queries(family: Family | Members) -> Data:
    """Certified queries within tau, as text, for relative risk 1/4 with success probability 2/3.

    "" where the bound is vacuous, "none" where no number of queries is enough. Raises UsageError
    for members of which no bound on queries is known.

    >>> from instances import parse
    >>> found = of_queries(parse("parity:d=16,m=3"))
    >>> dict(zip(found["tau"], found["queries"], strict=True))["1/10"], found["queries"][0]
    ('13', '')
    """
    terms = BoundParameters()
    found, about = bound_of(family, terms), _about(family)
    if not found:
        raise UsageError(f"{about['spec'][:200]} given: it has no certified bound on queries")
    first = found.first() if found.missing > 0 else None
    taus = sorted({*TAUS, *([first] if first and first > TAUS[0] else [])})
    return {
        **about,
        "oracle": "STAT" if found.general else "a correlational oracle",
        "risk": str(terms.risk),
        "success": str(terms.success),
        "first": first and str(first),
        "tau": [str(tau) for tau in taus],
        "queries": [
            "" if found.vacuous(tau) or found.missing <= 0 else _count(found.queries(tau))
            for tau in taus
        ],
    }


def _count(queries: int | None) -> str:
    return "none" if queries is None else decimal(queries)


def _scheme(family: Family) -> Johnson:
    return Johnson.family(SCHEME.need(family))


def _matrix(family: Members) -> Any:
    """The correlations of listed members, (M, M), exact but for rounding."""
    proof, members = pose(family)
    products = np.array(proof.fact(members).rows, np.float64)
    norms = np.sqrt(np.diagonal(products))
    return products / np.outer(norms, norms)


def _listed_sda(family: Members) -> Data:
    """SDA of listed members against gamma: each by a step that the kernel takes."""
    proof, members = pose(family)
    known = proof.fact(members)
    if not proof.parsed.two:
        raise UsageError(f"{family.path[:200]} given: SDA is drawn of members -1 and +1")
    found: dict[str, list[str]] = {"lower": [], "upper": [], "pair_events": []}
    sizes = np.abs(np.array(known.rows, np.int64))
    for gamma in GAMMAS:
        enough, above = nearest(sizes, known.norms[0] * gamma)
        given = {"gamma": gamma, "above": above, "enough": Fraction(enough)}
        claims = proof.fact(proof.step("sums", members, **given)).claims
        found["lower"].append(str(claims["sda-all-subsets"][0]))
        found["upper"].append(claims["sda-all-subsets"][1]["upper"])
        found["pair_events"].append(str(claims["sda-pair-events"][0]))
    return found


def _about(family: Family | Members) -> Data:
    if not isinstance(family, Members):
        return {"spec": family.spec}
    about = f"{family.path}: {len(family.names)} {family.kind}"
    return {"spec": about, "members": len(family.names), "radius": 0.0}


def of_adversary(transcript: Data) -> Data:
    """Members left after each query of a transcript, played again where that is not too much.

    Raises Refuted for one that contradicts itself, and DamagedFile.
    """
    try:
        check_transcript(transcript)
        checked = True
    except TooLarge:
        checked = False
    try:
        size = int(transcript["members"])
        left = [int(entry["alive"]) for entry in transcript["queries"]]
        return {
            "spec": str(transcript["spec"]),
            "mode": str(transcript["mode"]),
            "tau": str(transcript["tau"]),
            "query": list(range(len(left) + 1)),
            "left": [str(n) for n in (size, *left)],
            "checked": checked,
        }
    except (LookupError, TypeError, ValueError) as error:
        raise DamagedFile(f"this is no transcript of a game: {error}") from error


def draw_correlations(data: Data) -> Data:
    """Draw the correlation of two members by their overlap, and how often each occurs."""
    share = data["share_of_pairs"]
    log = "y" if 0 < min((v for v in share if v), default=1.0) < _SMALL else ""
    ends = {"y": (min(v for v in share if v) / 2, 1.0)} if log else {"y": (0.0, 1.05 * max(share))}
    bars = Trace(
        x=data["overlap" if "overlap" in data else "correlation"],
        y=share,
        marks=("bar",),
        colour=_RED,
    )
    if "overlap" not in data:
        apart = np.diff(data["correlation"]).min(initial=0.05)
        chart = panel(
            [_wide(bars, 0.9 * min(0.05, float(apart)))],
            title="Correlations of two different members",
            x="correlation of two members (unit norm)",
            y="share of pairs of members",
            log=log,
            domains={**ends, "x": (-1.05, 1.05)},
        )
        notes = []
        if chance := data.get("confidence"):
            notes = [f"sampled: all within {data['radius']:.2g} at once, with {chance:.0%}"]
        return _titled(data, chart, notes=notes)
    overlap = "overlap of two hidden sets (elements)"
    left = panel(
        [Trace(x=data["overlap"], y=data["correlation"], marks=("point",))],
        title="Correlation of two members",
        x=overlap,
        y="correlation (centred, unit norm)",
        axes={"x": WHOLE},
    )
    right = panel(
        [_wide(bars, 0.6)],
        title="How many pairs overlap so",
        x=overlap,
        y="share of pairs of members",
        log=log,
        domains=ends,
        axes={"x": WHOLE},
    )
    return _titled(data, left, right)


def draw_eigenvalues(data: Data) -> Data:
    """Draw eigenvalues and multiplicities by eigenspace, or eigenvalues by rank."""
    if "j" not in data:
        chart = panel(
            [
                Trace(
                    x=range(1, len(data["eigenvalue"]) + 1), y=data["eigenvalue"], marks=("point",)
                )
            ],
            title="Spectrum of the Gram matrix of all members",
            x="rank",
            y="eigenvalue",
            log="x",
            domains={"y": (0.0, 1.05 * max(data["eigenvalue"]))},
        )
        return _titled(data, chart)
    charts = [
        panel(
            [Trace(x=data["j"], y=data[f"log10_{name}"], colour=colour, shape=shape)],
            title=title,
            x="eigenspace j",
            y=name,
            domains={"y": _decades(data[f"log10_{name}"])},
            axes={"x": WHOLE, "y": powers()},
        )
        for name, title, colour, shape in (
            ("eigenvalue", "Eigenvalues of the Gram matrix of all members", _BLUE, "circle"),
            ("multiplicity", "How often each occurs", _RED, "square"),
        )
    ]
    zero = ["no point: the eigenvalue is 0"] if None in data["log10_eigenvalue"] else []
    return _titled(data, *charts, notes=zero)


def draw_sda(data: Data) -> Data:
    """Draw the bracket of SDA against gamma."""
    gamma = [float(Fraction(g)) for g in data["gamma"]]
    lower, upper, pairs = (
        [_log10(rational(int(v))) for v in data[key]] for key in ("lower", "upper", "pair_events")
    )
    norm = "unit norm" if "members" in data else "centred, unit norm"
    known = [v if v is not None else u for v, u in zip(lower, upper, strict=True)]
    drawn = [g for g, u, p in zip(gamma, upper, pairs, strict=True) if (u, p) != (None, None)]
    ends = (drawn or gamma)[0], gamma[-1]
    chart = panel(
        [
            Trace(x=gamma, low=known, high=upper, marks=("band",)),
            Trace(
                name="all subsets, at most",
                x=gamma,
                y=upper,
                colour=_RED,
                shape="triangle-down",
            ),
            Trace(name="all subsets, certified at least", x=gamma, y=lower, shape="triangle-up"),
            Trace(name="pair events, exact", x=gamma, y=pairs, colour=_GREEN, dash=(5, 3)),
        ],
        title="Statistical dimension with average correlation (SDA)",
        x=f"gamma, average correlation ({norm})",
        y="SDA (no point where it is 0)",
        log="x",
        domains={"x": (0.9 * ends[0], 1.1 * ends[1]), "y": _decades([*upper, *lower, *pairs])},
        axes={"x": {"values": gamma, "labelExpr": "format(datum.value, '.2~g')"}, "y": powers()},
        size=(400, 240),
    )
    return _titled(data, chart)


def draw_queries(data: Data) -> Data:
    """Draw certified queries against the tolerance, where the bound says something."""
    known = {t: q for t, q in zip(data["tau"], data["queries"], strict=True) if q.isdigit()}
    tau = [float(Fraction(t)) for t in known]
    height = [_log10(rational(whole(q))) for q in known.values()]
    first = data["first"]
    from_there = f"not vacuous from tau = {float(Fraction(first)):.2g} on" if first else ""
    notes = [from_there or "vacuous at every tau"]
    if "none" in data["queries"]:
        least = data["tau"][data["queries"].index("none")]
        from_here = digits(Fraction(least), up=True, places=2)
        notes.append(f"no number of queries is enough from tau = {from_here} on")
    chart = panel(
        [Trace(x=tau, y=height, marks=("point",))],
        title=f"Certified queries to {data['oracle']}",
        x="tolerance tau",
        y=f"queries for risk {data['risk']}, success {data['success']}",
        log="x",
        domains={"x": (0.9 * min(tau, default=0.1), 1.1), "y": _decades(height)},
        axes={"y": powers()},
        size=(400, 240),
    )
    return _titled(data, chart, notes=notes)


def draw_adversary(data: Data) -> Data:
    """Draw the members left after each query."""
    left = [int(v) for v in data["left"]]
    scale = 10 ** max(0, len(str(max(left))) - _ROOM)  # beyond float64 only the shape matters
    tall = [v / scale for v in left]
    chart = panel(
        [Trace(x=data["query"], y=tall, marks=("line",), stepped="step-after")],
        title="Members that the adversary has left",
        x=f"queries to STAT({named(data['tau'])}), {named(data['mode'])} adversary",
        y="members left" + (f" / {scale:.0e}" if scale > 1 else ""),
        domains={"y": (0.0, 1.05 * max(tall) or 1.0)},
        axes={"x": WHOLE, "y": WHOLE},
        size=(400, 240),
    )
    notes = [] if data["checked"] else ["not checked: it is too much to play again"]
    return _titled(data, chart, notes=notes)


def _wide(trace: Trace, wide: float) -> Trace:
    return replace(trace, wide=wide)


def _titled(data: Data, *charts: Data, notes: Any = ()) -> Data:
    return beside(*charts, title=named(brief_spec(data["spec"]), 80), notes=notes)


def _decades(values: Sequence[float | None]) -> tuple[float, float]:
    known = [v for v in values if v is not None] or [0.0]
    low, high = math.floor(min(known)), math.ceil(max(known))
    return (low, high) if low < high else (low - 1, high + 1)


def _log10(value: Any) -> float | None:
    """log10 of a rational of any size; None for 0."""
    if value <= 0:
        return None
    return math.log10(int(value.p)) - math.log10(int(value.q))
