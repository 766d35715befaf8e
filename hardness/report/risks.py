"""The risk of every learner against the parameter of a comparison: a dial from easy to hard."""

from statistics import median
from typing import Any

from hardness.report.canvas import belongs, named
from hardness.report.styles import styles_of
from hardness.report.summary import short_name
from hardness.runs import Comparison
from hardness.runs.run import SOLVED_BELOW
from hardness.upper import Outcome
from instances.parameters import plain

Data = dict[str, Any]
_FLOOR = 1e-32  # what a logarithm shows of a risk of 0
_WIDE = 20.0  # ratio of the largest to the least value from which the axis is logarithmic


def of_risks(comparison: Comparison) -> Data:
    """Collect the risks of all runs, with who solved and what was spent."""
    return {
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [plain(v) for v in comparison.values],
        "places": [float(v) for v in comparison.values],
        "seeds": comparison.seeds,
        "learners": {
            short_name(comparison, name): [
                {
                    "risks": [r.risk.value for r in runs if r.risk],
                    "solved": sum(r.outcome is Outcome.SOLVED for r in runs),
                    "examples": median(r.usage.examples for r in runs),
                    "seconds": median(r.usage.seconds for r in runs),
                }
                for value in comparison.values
                for runs in [comparison.of(name, value)]
            ]
            for name in comparison.learner_names
        },
    }


def draw_risks(figure: Any, data: Data) -> None:
    """Draw the median risk with the range over seeds, and the examples that were spent."""
    left, right = figure.subplots(1, 2)
    places = data["places"]
    for name, own in styles_of(data["learners"]).items():
        found = data["learners"][name]
        style: Data = {"color": own.colour, "marker": own.mark, "linestyle": own.line}
        style |= {"markersize": 4, "linewidth": 1.2}
        shown = [(x, cell["risks"]) for x, cell in zip(places, found, strict=True)]
        kept = [(x, [max(r, _FLOOR) for r in risks]) for x, risks in shown if risks]
        drawn = left.plot(
            [x for x, _ in kept], [median(r) for _, r in kept], label=named(name), **style
        )
        band = left.fill_between(
            [x for x, _ in kept],
            [min(r) for _, r in kept],
            [max(r) for _, r in kept],
            color=own.colour,
            alpha=0.15,
            linewidth=0,
        )
        drawn += right.plot(places, [cell["examples"] for cell in found], **style)
        belongs(name, *drawn, band)
    left.axhline(SOLVED_BELOW, color="0.5", linestyle=":", linewidth=1)
    left.axhline(1, color="0.5", linestyle="--", linewidth=1)
    left.text(places[0], 1, "nothing learned", color="0.4", va="bottom", fontsize=8)
    left.text(places[0], SOLVED_BELOW, "solved below", color="0.4", va="top", fontsize=8)
    left.set_ylabel("relative risk, median and range over seeds")
    right.set_ylabel("number of examples, median")
    left.set_title("What was learned")
    right.set_title("From how many examples")
    logarithmic = min(places) > 0 and max(places) >= _WIDE * min(places)
    for axis in (left, right):
        axis.set_yscale("log")
        if logarithmic:
            axis.set_xscale("log")
        axis.set_xticks(places, data["values"], minor=False)
        axis.set_xticks([], minor=True)
        axis.set_xlabel(named(data["parameter"]))
        axis.grid(True, which="major", linewidth=0.4, alpha=0.5)
    left.legend(frameon=False, fontsize=8)
    figure.suptitle(f"{named(data['spec'], 80)}, {data['seeds']} seeds", fontsize=9)
