"""The figure of stress tests and climbs: cost by rung, beside budgets and certified numbers."""

from statistics import median

from hardness.report.charts.runs import CERTIFIED, DASHED, DOTTED, FREE, TITLES, shown_bounds
from hardness.report.plot import HIGH, WIDE, Axis, Data, named, panels, plot
from hardness.report.style import BOUND, CROSS, PALE, Style, styles_of
from hardness.runs.cells import COSTS
from hardness.runs.names import labels as name_labels
from hardness.runs.names import short_specs
from hardness.runs.stress import TERMS, Stress, Trials

_ASKED = {  # how the bounds on queries are drawn, and which they are
    "stat-queries": ("dashed", DASHED, "queries that SQ learners need to STAT(1/10)"),
    "csq-queries": (
        "dashes and dots",
        Style(colour=BOUND, dash=(6, 2, 1, 2), marks=("line",), thick=1.35, shown=False),
        "queries that SQ learners need on correlations, within 1/10",
    ),
    "information-floor": ("dotted", DOTTED, "labels that any learner needs"),
}
_WORST = {"stat-queries", "csq-queries"}  # which are about worst answers
_LABEL = 150  # pixels of a rung's label


def of_stress(found: Stress) -> Data:
    """Give each learner's cost by rung, budgets, and what is certified.

    Rows are of the kind learner; tried, of a learner on a rung: medians of the runs that passed,
    and what the others spent; budget, of a rung; and certified, of a cost on a rung.
    """
    common, rungs = short_specs(found.ladder)
    climbs = sorted(found.climbs, key=lambda climb: climb.reference)
    names = name_labels([climb.asked for climb in climbs])
    rows: list[Data] = [
        {
            "kind": "learner",
            "learner": name,
            "asked": climb.asked,
            "reference": climb.reference,
            "held": climb.held,
            "touched": climb.touched,
            "stopped": bool(climb.rungs) and not climb.climbing and not climb.unsupported,
        }
        for climb, name in zip(climbs, names, strict=True)
    ]
    rows += [
        {"kind": "tried", "learner": name, "rung": i, **_costs(trials)}
        for climb, name in zip(climbs, names, strict=True)
        for i, trials in enumerate(climb.rungs, 1)
    ]
    rows += [{"kind": "budget", "rung": i, **_budget(found, i)} for i in range(1, len(rungs) + 1)]
    rows += [
        {"kind": CERTIFIED, "cost": cost, "quantity": quantity, "rung": i, "value": str(value)}
        for i, one in enumerate(found.certified, 1)
        for cost, quantity, value in (
            ("queries", one.asked, one.queries),
            ("examples", "information-floor", one.floor),
        )
        if quantity and value is not None
    ]
    head = {"spec": found.ladder.title, "family": common, "rungs": rungs, "seeds": found.seeds}
    return {**head, "rows": rows}


def _budget(found: Stress, rung: int) -> Data:
    """The examples and seconds that a run on a rung, from 1, might use."""
    one, over = found.ladder.rungs[rung - 1], found.budget
    return {name: getattr(over, name) or getattr(one, name) for name in ("examples", "seconds")}


def _costs(trials: Trials) -> Data:
    failed = [run.usage for run in trials.runs if run not in trials.solved]
    costs = [cost for cost in COSTS if cost != "values" or trials.valued]
    return {
        "passes": trials.passes,
        "trials": len(trials.trials),
        **{cost: trials.cost(cost) for cost in costs},
        **{
            f"spent_{cost}": float(median(getattr(u, cost) for u in failed)) if failed else None
            for cost in ("examples", "seconds")
        },
    }


def draw_stress(data: Data) -> Data:
    """Draw rungs against examples, time and queries: the references by broken lines.

    Filled marks: all seeds passed; hollow: some. A cross is where a climb stopped, at what the runs
    that failed spent.
    """
    rungs = [f"{i}: {named(label)}" for i, label in enumerate(data["rungs"], 1)]
    rows = [
        row | ({"rung": rungs[row["rung"] - 1]} if "rung" in row else {}) for row in data["rows"]
    ]
    of: dict[str, list[Data]] = {kind: [] for kind in ("learner", "tried", "budget", CERTIFIED)}
    for row in rows:
        of[row["kind"]].append(row)
    own = styles_of(row["learner"] for row in of["learner"])
    legends = {row["learner"]: _legend(row) for row in of["learner"]}
    styles = {"budget": Style(colour=PALE, marks=("tick",), shown=False)}
    styles |= {quantity: style for quantity, (_, style, _) in _ASKED.items()}
    styles |= {legends[name]: style for name, style in own.items()}
    x = Axis(
        "rung", f"rung: {named(data['family'])}", scale="names", names=rungs,
        look={"labelAngle": -90, "labelLimit": _LABEL},
    )  # fmt: skip
    charts, bounds = {}, {}
    for cost in ("examples", "seconds", "queries", "values"):
        title, unit = TITLES[cost]
        bounds[cost] = [
            row | {"series": row["quantity"], "amount": row[cost]}
            for row in shown_bounds(of[CERTIFIED], cost)
        ]
        climbed = [
            row | {"series": legends[learner["learner"]]}
            for learner in of["learner"]
            for row in _climbed(learner, of["tried"], cost)
        ]
        limits = [{**b, "series": "budget", "amount": b.get(cost)} for b in of["budget"]]
        charts[cost] = plot(
            [*(limits if climbed or bounds[cost] else []), *bounds[cost], *climbed],
            x=x,
            y=Axis("amount", unit, scale="log"),
            styles=styles,
            kinds={
                "budget": {},
                CERTIFIED: {},
                "way": {"marks": ("line",), "dash": (1, 3), "thick": 0.67},
                "passed": {},
                "reference": {"dash": (5, 2)},
                "stop": {"marks": ("point",), "shape": CROSS},
            },
            hollow="all",
            told={
                "series": "series",
                "rung": "rung",
                "passed": "passed",
                TITLES[cost][1]: "amount",
            },
            title=TITLES[cost][0],
            size=(max(WIDE, 15 * len(rungs)), HIGH),
        )
    notes = ["hollow: some seeds passed; cross: where a climb stopped, at what its runs spent"]
    if any(row["reference"] for row in of["learner"]):
        notes += ["dashed in colour: references; dotted in colour: to where a climb stopped"]
    if any(row["examples"] or row["seconds"] for row in of["budget"]):
        notes += ["grey: the budget of a rung"]
    terms = f"certified: risk {TERMS.risk}, success {TERMS.success}"
    for kind in dict.fromkeys(row["quantity"] for cost in COSTS for row in bounds[cost]):
        look, _, needed = _ASKED[kind]
        worst = ", worst answers" if kind in _WORST else ""
        notes += [f"black, {look}: {needed} ({terms}{worst})"]
    notes += [FREE] if charts["values"] else []
    title = f"{named(data['spec'], 80)}: medians of the runs that passed, of {data['seeds']} seeds"
    return panels(*charts.values(), title=title, notes=notes, pick="series")


def _legend(learner: Data) -> str:
    told = f"holds {learner['held']}" if learner["held"] else "holds none"
    if learner["touched"] > learner["held"]:
        told += f", touches {learner['touched']}"
    return f"{named(learner['learner'])}: {told}" + (" (reference)" * learner["reference"])


def _climbed(learner: Data, tried: list[Data], cost: str) -> list[Data]:
    """The rungs that a learner passed, where it stopped, and the way from one to the other."""
    rows = [row for row in tried if row["learner"] == learner["learner"]]
    passed = [
        {
            "kind": "reference" if learner["reference"] else "passed",
            "rung": row["rung"],
            "amount": row[cost],
            "passed": f"{row['passes']} of {row['trials']}",
            "all": row["passes"] == row["trials"],
        }
        for row in rows
        if row.get(cost)
    ]
    last = rows[-1].get(f"spent_{cost}") if rows and learner["stopped"] else None
    if not last:
        return passed
    stop: Data = {"rung": rows[-1]["rung"], "amount": last, "all": False}
    stop["passed"] = f"0 of {rows[-1]['trials']}"
    ends = [passed[-1], stop] if passed else []
    return [*({**end, "kind": "way"} for end in ends), *passed, {**stop, "kind": "stop"}]
