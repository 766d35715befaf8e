"""What binds whom: problems and classes of learners, what is certified and what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from hardness.claims import bound
from hardness.lower import Certificate
from hardness.report.charts.phase import LOOKS, SHARE, cell_of
from hardness.report.plot import Axis, Data, cells, named, panels, roomy
from hardness.report.style import GREY
from hardness.report.text import big, shown_risk
from hardness.runs.cells import tally
from hardness.runs.certified import Certifier, claims, number, terms_of
from hardness.runs.names import brief_spec, short
from hardness.runs.run import Run
from hardness.runs.slices import answers, version_of
from hardness.upper import LEARNERS, parse_learner
from hardness.upper.classes import CLASSES, LearnerClass, class_of
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.family import Family
from instances.parameters import whole
from instances.spec import FAMILIES, parse_stored
from instances.text import decimal

ROWS = 40  # problems of a figure
BASELINE = "trivial"  # no learner: it knows the family alone
_UNTRIED = "not tried"
_NONE_TAKES = "no learner takes it"
_ORDER = ("solved", "partly", "not solved", "could not run")
_FACES = {_UNTRIED: "#FFFFFF", _NONE_TAKES: "#DCDDDF"}
_KINDS = {"csq-queries": "correlational", "vstat-queries": "VSTAT"}
_WIDE, _HIGH, _NAME = 142, 31, 14  # pixels of a cell; characters of a learner in it


def of_binding(runs: Iterable[Run], certifier: Certifier) -> Data:
    """Give, for every spec and class of learners, its best learner and what is certified.

    The best is one that solved at least `SHARE` of its runs, at the least median cost; else one
    that solved some; else the one whose median risk is least. What a certificate says stands only
    with the classes that its quantity is about: `quantity` is None where nothing binds the class,
    `value` where no number is enough. unclassed: learners from files, which may do all. Raises
    UsageError for no runs, more specs than a figure has room for, and queries answered in several
    ways.
    """
    by_spec: dict[str, list[Run]] = {}
    for run in runs:
        by_spec.setdefault(run.spec, []).append(run)
    if not by_spec:
        raise UsageError("no runs are in it: do a sweep with [[runs]] into it first")
    if len(by_spec) > ROWS:
        raise UsageError(
            f"it has runs of {len(by_spec)} specs: figure binding has room for {ROWS}: sweep "
            "fewer into a store of their own"
        )
    answered = _answered(run for found in by_spec.values() for run in found)
    pairs = [pair for pair in certifier.pairs if pair[0] in by_spec]
    wanted = terms_of(answered.get("tau")) if answered or not pairs else pairs[0][1]
    terms = certifier.terms([spec for spec, _ in pairs], wanted)
    every = {spec: certifier.one(spec, terms) for spec in by_spec}
    proved = {spec: one for spec, one in every.items() if isinstance(one, Certificate)}
    rows = [
        {
            "spec": brief_spec(spec),
            "class": name,
            **_measured(of, by_spec[spec], _family(spec)),
            **certified(of, proved.get(spec), terms.success),
        }
        for spec in sorted(by_spec, key=lambda spec: (spec not in proved, _place(spec)))
        for name, of in CLASSES.items()
    ]
    free = [r.learner for found in by_spec.values() for r in found if _class(r) is None]
    return {
        "share": str(SHARE),
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "oracle": answered.get("oracle"),
        "classes": {name: of.cost for name, of in CLASSES.items()},
        "unclassed": sorted(set(map(short, free))),
        "rows": rows,
    }


def _answered(runs: Iterable[Run]) -> dict[str, str]:
    """Tell how the queries of runs were answered; empty where none were asked."""
    ways = {answers(run) for run in runs} - {()}
    if len(ways) > 1:
        said = "; ".join(sorted(", ".join("=".join(pair) for pair in way) for way in ways))
        raise UsageError(
            f"its queries were answered in several ways, {said[:200]}: sweep each into a store of "
            "its own"
        )
    return dict(next(iter(ways), ()))


def certified(of: LearnerClass, certificate: Certificate | None, success: Fraction) -> Data:
    """Take from a certificate the first number that binds a class; None where it has none.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> hard = certify(parse("parity:d=16,m=4"))
    >>> certified(CLASSES["lattice"], hard, Fraction(2, 3))
    {'quantity': 'information-floor', 'value': '10'}
    >>> certified(CLASSES["membership"], certify(parse("direction:m=4,d=30,labels=raw")), 1)
    {'quantity': None, 'value': None}
    """
    for quantity in of.bound_by:
        if certificate and claims(certificate, quantity):
            value = number(certificate, quantity, success)
            return {"quantity": quantity, "value": None if value is None else decimal(value)}
    return {"quantity": None, "value": None}


def _class(run: Run) -> LearnerClass | None:
    return class_of(run.learner, bool(run.usage.values))


def _family(spec: str) -> Family | None:
    """Return the family of a spec in a store; None for one of a file, of which nothing is run."""
    try:
        return parse_stored(spec)
    except ToolkitError:
        return None


def _place(spec: str) -> tuple[int, str]:
    """Put specs as the families are listed."""
    names, name = list(FAMILIES), spec.partition(":")[0]
    return names.index(name) if name in names else len(names), brief_spec(spec)


def _measured(of: LearnerClass, runs: Sequence[Run], family: Family | None) -> Data:
    """Say what the best learner of a class came to."""
    groups: dict[object, list[Run]] = {}
    for run in runs:
        if _class(run) is of and run.learner != BASELINE:
            key = (run.learner, run.budget, answers(run), version_of(run))
            groups.setdefault(key, []).append(run)
    if groups:
        return min((_tried(of, group) for group in groups.values()), key=_rank)
    takes = family is None or any(
        class_of(name) is of and parse_learner(name).supports(family) is None
        for name in LEARNERS
        if name != BASELINE
    )
    return {"state": _UNTRIED if takes else _NONE_TAKES, "learner": None}


def _tried(of: LearnerClass, runs: Sequence[Run]) -> Data:
    cell = cell_of(list(runs), runs[0].spec) or {}
    risks = [run.risk.value for run in runs if run.risk]
    return {
        "state": cell["state"],
        "learner": short(runs[0].learner),
        "passed": cell["passed"],
        "runs": cell["runs"],
        "cost": getattr(tally(runs), of.cost),
        "risk": median(risks) if risks else None,
    }


def _rank(cell: Data) -> tuple[int, float, float]:
    order = _ORDER.index(cell["state"])
    most = float("inf")
    cost = most if cell["cost"] is None else cell["cost"]
    risk = most if cell["risk"] is None else cell["risk"]
    return order, cost if cell["state"] == "solved" else -cell["passed"], risk


def measured_words(cell: Mapping[str, Any], learner: str | None = None) -> str:
    """Write what was measured, as "flips 16", or "student, risk 1.02".

    learner: its name where there is less room for it.
    """
    if cell["learner"] is None:
        return str(cell["state"])
    name = learner or cell["learner"]
    if cell["state"] in ("solved", "partly"):
        return f"{name} {_counted(cell['cost'])}"
    risk = cell["risk"]
    return f"{name}, no risk" if risk is None else f"{name}, risk {shown_risk(risk)}"


def _counted(cost: float) -> str:
    value = round(cost)
    return f"{value:,}" if value < 10**7 else big(value)


def bound_words(cell: Mapping[str, Any]) -> str:
    """Write what is certified, as "certified ≥ 37"; bounds on correlational queries say so.

    >>> bound_words({"quantity": "csq-queries", "value": "2200"}), bound_words({"quantity": None})
    ('correlational ≥ 2,200', 'no bound')
    >>> bound_words({"quantity": "stat-queries", "value": "2"})
    'certified: vacuous'
    """
    if cell["quantity"] is None:
        return "no bound"
    quantity, value = str(cell["quantity"]), cell["value"]
    said = bound(quantity, None if value is None else whole(value))
    kind = _KINDS.get(quantity, "certified")
    if not said[0].isdigit():
        return f"{kind}: {said}"
    return f"{kind} ≥ {int(said):,}" if said.isdecimal() else f"{kind} ≥ {said}"


def draw_binding(data: Data) -> Data:
    """Draw a row a problem, a column a class of learners.

    Raises DamagedFile where a bound stands in a column that it does not bind.
    """
    names = list(data["classes"])
    rows = [
        {
            **row,
            "measured": _first_line(row),
            "certified": bound_words(row),
            "ink": LOOKS[row["state"]][1] if row["state"] in LOOKS else "#0F1012",
        }
        for row in map(_sound, data["rows"])
    ]
    specs = list(dict.fromkeys(row["spec"] for row in rows))
    faces = {state: look[0] for state, look in LOOKS.items()} | _FACES
    states = [state for state in faces if any(row["state"] == state for row in rows)]
    marks = {state: f"{mark} {state}" for state, (_, _, mark) in LOOKS.items()}
    heads = {named(n): [named(n), named(f"cost in {cost}")] for n, cost in data["classes"].items()}
    axis = {"domain": False, "labelPadding": 6}
    above = {"orient": "top", "labelPadding": 20, "labelExpr": f"{heads}[datum.label]"}
    chart = cells(
        rows,
        x=Axis("class", scale="names", names=names, look=axis | above),
        y=Axis("spec", scale="names", names=specs, look=axis | roomy(specs)),
        colour={
            "field": "state",
            "type": "nominal",
            "scale": {"domain": states, "range": [faces[state] for state in states]},
            "legend": {
                "title": None,
                "symbolType": "square",
                "symbolStrokeColor": GREY,
                "columns": len(states),
                "labelExpr": f"{marks}[datum.label] || datum.label",
            },
        },
        says={
            "measured": {"dy": -6, "limit": _WIDE - 6, "fontWeight": "bold"},
            "certified": {"dy": 7, "limit": _WIDE - 6},
        },
        ink={"field": "ink", "type": "nominal", "scale": None},
        size=(_WIDE * len(names), _HIGH * len(specs)),
    )
    notes = [
        "upper line: the learner of the class that solved it at the least median cost; "
        "if none did, the least median risk",
        f"lower line: what is certified of the class, for relative risk {data['risk']} with "
        f"probability {data['success']}; queries answered in the worst way within {data['tau']}"
        + (", runs had honest answers" if data["oracle"] else ""),
    ]
    if data["unclassed"]:
        left_out = named(", ".join(data["unclassed"]), 90)
        notes.append(f"left out, from files and of any class: {left_out}")
    return panels(chart, title="What binds whom", notes=notes)


def _first_line(cell: Data) -> str:
    if cell["learner"] is None:
        return str(cell["state"])
    name = named(cell["learner"].partition(":")[0].rpartition("/")[2], _NAME)
    return f"{LOOKS[cell['state']][2]} {measured_words(cell, name)}"


def _sound(cell: Data) -> Data:
    """Return a cell whose bound binds its class."""
    name, found = cell["class"], cell["quantity"]
    if name not in CLASSES or (found and found not in CLASSES[name].bound_by):
        raise DamagedFile(
            f"the figure's data have {found} in the column {name}, which it does not bind"
        )
    return cell
