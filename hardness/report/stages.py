"""What the stages of the provable learner saw: in words, and as figures of a run and of a dial.

Each figure is drawn from numbers that it also gives away.
"""

import math
from statistics import median
from typing import Any

from hardness.report.canvas import STYLES, named
from hardness.report.text import table
from hardness.runs import Comparison, Run
from hardness.upper import parse_learner
from instances.errors import DamagedFile, UsageError
from instances.parameters import brief, plain
from instances.spec import parse_stored

Data = dict[str, Any]
_BLUE, _ORANGE, _GREEN = (colour for colour, _ in STYLES[:3])
_MEASURES = 3  # of a stage, in the table
_PROVABLE = ("moment", "hull", "net", "projection")  # the stages that give layers, in order
_POLISHES = {"second polish": "polish"}


def stage_words(details: Data) -> str:
    """Write the stages of a run with their measures, and the diagnosis with its advice."""
    rows = [
        [
            stage["name"],
            str(stage["examples"]),
            str(stage["rows"] or "-"),
            f"{stage['seconds']:.2f}",
            _measures(stage["measures"]),
        ]
        for stage in details["stages"]
    ]
    lines = [table(["stage", "examples", "rows", "seconds", "measures"], rows)]
    signals = details.get("diagnosis", [])
    if signals:
        flagged = [s for s in signals if s["flagged"]]
        lines += ["", f"diagnosis  {len(flagged)} of {len(signals)} signals flagged"]
        lines += [
            f"  {_verdict(s):5}{s['name']}: {number(s['value'])} "
            f"(limit {number(s['threshold'])})" + (f": {s['advice']}" if s["flagged"] else "")
            for s in signals
        ]
    return "\n".join(lines)


def _verdict(signal: Data) -> str:
    return "FLAG" if signal["flagged"] else "moot" if signal.get("moot") else "ok"


def _measures(found: Data) -> str:
    """The first few measures of a stage, its error before all others."""
    ordered = sorted(found.items(), key=lambda item: item[0] != "error")
    return ", ".join(f"{name} {number(value)}" for name, value in ordered[:_MEASURES])


def number(value: float | None) -> str:
    """Write a measure in a few digits, and what could not be measured as a dash.

    >>> number(0.123456), number(None)
    ('0.123', '-')
    """
    return "-" if value is None else f"{value:.3g}"


def of_run(data: Data) -> Data:
    """Take the numbers of the figure from a run's JSON; raises DamagedFile for another file."""
    try:
        run = Run.from_json(data)
        details = run.details
        return {
            "spec": run.spec,
            "learner": run.learner,
            "seed": run.seed,
            "heads": int(details["heads"]),
            "eigenvalues": [float(v) for v in details.get("eigenvalues", [])],
            "residuals": details.get("residuals"),
            "errors": [
                {
                    "stage": str(e["stage"]),
                    "examples": int(e["examples"]),
                    "error": float(e["error"]),
                }
                for e in details["errors"]
            ],
        }
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DamagedFile(
            f"this is no run of the staged learner ({type(error).__name__} {error}): give the file "
            "of `hardness learn staged SPEC --out FILE`"
        ) from error


def draw_run(figure: Any, data: Data) -> None:
    """Draw eigenvalues with the gap, the residuals with what was accepted, error by stage."""
    left, middle, right = figure.subplots(1, 3)
    _eigenvalues(left, data)
    _residuals(middle, data)
    _errors(right, data)
    family = parse_stored(data["spec"])
    learner = parse_learner(data["learner"])
    title = f"{brief(learner, learner.name)} on {brief(family, family.name)}, seed {data['seed']}"
    figure.suptitle(title, fontsize=9)


def _eigenvalues(axis: Any, data: Data) -> None:
    values, heads = data["eigenvalues"], data["heads"]
    axis.set_title("Eigenvalues: how many heads")
    if not values:
        return _nothing(axis, "no span stage: one head, or it was not reached")
    numbers = list(range(1, len(values) + 1))
    axis.semilogy(numbers, values, color=_BLUE, marker="o", markersize=4, linewidth=0)
    if 1 < heads <= len(values):
        gap = values[heads - 1] / values[heads - 2]
        axis.axvline(heads - 0.5, color=_ORANGE, linestyle="--", linewidth=1)
        axis.text(
            heads - 0.3,
            math.sqrt(values[0] * values[heads - 1]),
            f"{heads} heads: gap {gap:.3g}",
            color=_ORANGE,
            va="center",
        )
    axis.set_xlabel("generalised eigenvalue, the smallest first")
    axis.set_ylabel("constraints against all rows")
    axis.set_xticks(numbers[:: 1 if len(numbers) <= 12 else 2])


def _residuals(axis: Any, data: Data) -> None:
    axis.set_title("Do the heads agree on a row?")
    found = data["residuals"]
    if not found:
        return _nothing(axis, "no residuals: the stage was not reached")
    edges = found["log10_edges"]
    axis.stairs(found["counts"], edges, fill=True, color=_BLUE, alpha=0.6)
    accepted = math.log10(max(found["accepted"], 1e-18))
    axis.axvline(accepted, color=_ORANGE, linestyle="--", linewidth=1)
    axis.text(accepted, max(found["counts"]), "accepted ", color=_ORANGE, ha="right", va="top")
    axis.set_xlabel("residual of the common pattern, log10, relative")
    axis.set_ylabel("number of rows")


def _errors(axis: Any, data: Data) -> None:
    axis.set_title("Error on held-out examples")
    every = data["errors"]
    if not every:
        return _nothing(axis, "no stage gave a layer")
    first = max((i for i, e in enumerate(every) if e["stage"] == "moment"), default=0)
    found = every[first:]  # of the last attempt: those before it had fewer examples
    places = list(range(len(found)))
    values = [max(e["error"], 1e-33) for e in found]
    axis.semilogy(places, values, color=_GREEN, marker="o", markersize=5)
    axis.set_xticks(places, [e["stage"] for e in found], rotation=45, ha="right", fontsize=8)
    axis.set_xlabel(f"after the stage, {found[-1]['examples']} examples")
    axis.set_ylabel("relative squared error")


def _nothing(axis: Any, why: str) -> None:
    axis.set_axis_off()
    axis.text(0.5, 0.5, why, ha="center", va="center", transform=axis.transAxes, wrap=True)


def of_dial(comparison: Comparison) -> Data:
    """Collect the error by stage over a dial: medians over the seeds; raises UsageError."""
    names = [n for n in comparison.learner_names if n.partition(":")[0] == "staged"]
    if not names:
        raise UsageError("no run of the staged learner is in these results: compare with it")
    stages: dict[str, list[list[float]]] = {}
    for i, value in enumerate(comparison.values):
        for run in comparison.of(names[0], value):
            last = {
                _POLISHES.get(e["stage"], e["stage"]): e["error"]
                for e in run.details.get("errors", [])  # none of a run that was ended before
            }
            for stage, error in last.items():
                stages.setdefault(stage, [[] for _ in comparison.values])[i].append(float(error))
    risks = [
        [r.risk.value for r in comparison.of(names[0], value) if r.risk]
        for value in comparison.values
    ]
    flagged = [
        [
            any(s["flagged"] for s in r.details.get("diagnosis", []))
            for r in comparison.of(names[0], value)
        ]
        for value in comparison.values
    ]
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "errors": {
            stage: [median(each) if each else None for each in found]
            for stage, found in stages.items()
        },
        "risk": [median(each) if each else None for each in risks],
        "flagged": [sum(each) for each in flagged],
    }


def draw_dial(figure: Any, data: Data) -> None:
    """Draw the held-out error after each stage, and the risk, against the dial."""
    left, right = figure.subplots(1, 2)
    before = {f"after {s}": data["errors"][s] for s in _PROVABLE if s in data["errors"]}
    after = {"after polish": data["errors"].get("polish", []), "risk": data["risk"]}
    _lines(left, before, data)
    left.set_title("Held-out error of the stages")
    _lines(right, after, data)
    right.set_title("Held-out error after the polish, and risk")
    figure.suptitle(f"{named(data['spec'], 80)}, medians over {data['seeds']} seeds", fontsize=9)


def _lines(axis: Any, lines: dict[str, list[float | None]], data: Data) -> None:
    places = range(len(data["values"]))
    for (name, values), (colour, mark) in zip(lines.items(), STYLES, strict=False):
        shown = [(p, max(v, 1e-33)) for p, v in zip(places, values, strict=False) if v is not None]
        axis.semilogy(
            [p for p, _ in shown],
            [v for _, v in shown],
            color=colour,
            marker=mark,
            markersize=4,
            linestyle="--" if name == "risk" else "-",
            label=name,
        )
    ticks = [
        f"{value}\n{count}/{data['seeds']}"
        for value, count in zip(data["values"], data["flagged"], strict=True)
    ]
    axis.set_xticks(list(places), ticks)
    axis.set_xlabel(f"{data['parameter']}, and below it how many runs were flagged")
    axis.set_ylabel("relative squared error")
    axis.legend(frameon=False, fontsize=8)
