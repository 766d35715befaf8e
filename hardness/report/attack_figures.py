"""Figures of attacks: what they cost beside the estimates, and how far training comes.

Each figure is drawn from numbers that it also gives away.
"""

from fractions import Fraction
from statistics import median
from typing import Any

from hardness.lower import estimate
from hardness.report.canvas import belongs, named
from hardness.report.styles import series_style, style_of, styles_of
from hardness.report.summary import cells, short_name
from hardness.runs import Comparison
from hardness.runs.distinguish import implied_accuracy
from instances.errors import UsageError
from instances.parameters import plain
from instances.spec import parse_stored

Data = dict[str, Any]
_LEARNER = {  # that runs what an estimate is about: both have one colour
    "arora-ge": "arora-ge",
    "bkw": "bkw",
    "brute-force": "bruteforce",
    "linear-algebra": "modlinear",
    "meet-in-the-middle": "mitm",
    "primal-usvp": "primal",
    "restricted-elimination": "restricted",
}
_CURVES = 12  # training curves of one size that are drawn


def of_attacks(comparison: Comparison) -> Data:
    """Collect the seconds of every learner and the estimated bits of every attack, by size."""
    measured: dict[str, list[Data]] = {}
    for cell in cells(comparison):
        entry = {"seconds": cell.seconds, "solved": cell.solved, "runs": cell.runs}
        measured.setdefault(short_name(comparison, cell.learner), []).append(entry)
    estimated: dict[str, list[float | None]] = {}
    for i, spec in enumerate(comparison.specs):
        for name, found in estimate(parse_stored(spec)).to_dict()["estimates"].items():
            estimated.setdefault(name, [None] * len(comparison.specs))[i] = found["bits"]
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "measured": measured,
        "estimated": {n: v for n, v in estimated.items() if any(b is not None for b in v)},
    }


def draw_attacks(figure: Any, data: Data) -> None:
    """Draw seconds that were measured, hollow where not solved, and operations estimated."""
    left, right = figure.subplots(1, 2)
    places = list(range(len(data["values"])))
    for name, style in styles_of(data["measured"]).items():
        found = data["measured"][name]
        seconds = [max(cell["seconds"], 1e-3) for cell in found]
        look: Data = {"color": style.colour, "marker": style.mark, "markersize": 5}
        drawn = left.semilogy(
            places, seconds, color=style.colour, linestyle=style.line, linewidth=1
        )
        left.plot([], [], linestyle=style.line, linewidth=1, label=named(name), **look)
        for solved in (True, False):
            shown = [
                (place, value)
                for place, cell, value in zip(places, found, seconds, strict=True)
                if (2 * cell["solved"] > cell["runs"]) is solved
            ]
            drawn += left.plot(
                [place for place, _ in shown],
                [value for _, value in shown],
                linestyle="none",
                markerfacecolor=style.colour if solved else "white",
                **look,
            )
        belongs(name, *drawn)
    for name, bits in data["estimated"].items():
        own = style_of(_LEARNER.get(name, name))
        shown = [(p, b) for p, b in zip(places, bits, strict=True) if b is not None]
        right.plot(
            [p for p, _ in shown],
            [b for _, b in shown],
            color=own.colour,
            marker=own.mark,
            markersize=4,
            linestyle="--",
            label=name,
        )
    left.set_ylabel("time that two of three runs took at most (s)")
    right.set_ylabel("log2 of operations, by formulas (bits)")
    left.set_title("Measured: hollow marks did not learn")
    right.set_title("Estimated")
    for axis in (left, right):
        axis.set_xticks(places, data["values"])
        axis.set_xlabel(named(data["parameter"]))
        axis.legend(frameon=False, fontsize=8)
    figure.suptitle(f"{named(data['spec'], 80)}, {data['seeds']} seeds", fontsize=9)


def of_training(comparison: Comparison) -> Data:
    """Collect the training curves of the runs that kept one.

    Raises UsageError where there is none, and where labels are no fair bit, of which alone the loss
    implies how often it is predicted.
    """
    for spec in comparison.specs:
        shares = getattr(parse_stored(spec), "shares", None)
        if shares != (Fraction(1, 2), Fraction(1, 2)):
            raise UsageError(
                f"{spec} given: the figure needs labels of two equally likely levels, as those of "
                "lwr with p=2, lpn, parity"
            )
    curves = []
    for i, spec in enumerate(comparison.specs):
        for name in comparison.learner_names:
            found = [r for r in comparison.of(name, comparison.values[i]) if r.details.get("curve")]
            if not found:
                continue
            curves.append(
                {
                    "spec": spec,
                    "learner": short_name(comparison, name),
                    "value": plain(comparison.values[i]),
                    "runs": [r.details["curve"] for r in found[:_CURVES]],
                    "risk": median([r.risk.value for r in found if r.risk] or [1.0]),
                }
            )
    if not curves:
        raise UsageError("no run in these results kept a training curve: compare with mlp")
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "seeds": comparison.seeds,
        "curves": curves,
    }


def draw_training(figure: Any, data: Data) -> None:
    """Draw the advantage that the loss implies against training steps, one line a run."""
    axis = figure.subplots()
    for i, curve in enumerate(data["curves"]):
        colour = series_style(i).colour  # a size each: the learner is mostly the same
        for j, points in enumerate(curve["runs"]):
            said = f"{named(curve['learner'])}, {data['parameter']}={curve['value']}"
            drawn = axis.semilogx(
                [p[0] for p in points],
                [implied_accuracy(p[2]) - 0.5 for p in points],
                color=colour,
                linewidth=1,
                label=None if j else said,
            )
            belongs(said, *drawn)
    axis.axhline(0, color="#888888", linewidth=0.8)
    axis.set_xlabel("number of training steps")
    axis.set_ylabel("advantage implied by the loss")
    axis.set_title("How much better than a coin a label is predicted")
    axis.legend(frameon=False, fontsize=8)
    figure.suptitle(f"{named(data['spec'], 80)}, {data['seeds']} seeds", fontsize=9)
