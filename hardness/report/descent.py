"""Noisy gradient descent beside its bound: in words, and as a figure."""

from fractions import Fraction
from typing import Any

from hardness.claims.vacuous import WORD, vacuous
from hardness.report.canvas import STYLES
from hardness.report.text import number, table
from hardness.runs.descent import DescentStudy, descent_sizes
from instances.family import Family
from instances.parameters import brief
from instances.spec import parse_stored

Data = dict[str, Any]
_SUCCESS, _STEPS = "gd-noise-success", "gd-noise-steps"
_BLUE, _ORANGE, _GREEN = (colour for colour, _ in STYLES[:3])


def descent_words(study: DescentStudy) -> str:
    """Write how often runs succeed, with intervals, beside what the bound allows."""
    silent = vacuous(_STEPS, study.needed)
    rows = [
        [
            str(p.steps),
            f"{p.right}/{p.runs}",
            f"{p.interval[0]:.3f}..{p.interval[1]:.3f}",
            WORD if vacuous(_SUCCESS, str(p.bound)) else f"{float(p.bound):.4g}",
            "BEATEN" if p.beaten else "holds",
        ]
        for p in study.points
    ]
    lines = [
        f"{study.spec}, model {study.model}, clip {study.clip}, noise {study.std}",
        "",
        table(["steps", "right", "rate at 95%", "bound", ""], rows),
        "",
        f"for relative risk {study.risk} with probability {study.success} the bound "
        + (f"is {WORD}" if silent else f"asks for {study.needed} steps at least"),
    ]
    if study.reached is None:
        lines.append("the runs do not pass that probability between these steps")
    else:
        lines.append(
            f"the runs pass it after about {study.reached:.0f} steps"
            + (f", between {study.bracket[0]} and {study.bracket[1]}" if study.bracket else "")
            + ("" if silent else f": {number(study.reached / study.needed)} times the bound")
        )
    if study.enough:
        lines.append(f"about enough by 8 M ln(M) noise^2/(fade clip)^2: {study.enough} steps")
    return "\n".join(lines)


def descent_numbers(family: Family) -> Data:
    """Study the strongest model on a family, and on it in fewer dimensions: up to d = 13."""
    studies = descent_sizes(family)
    return {"study": studies[-1].to_dict(), "sizes": [s.to_dict() for s in studies]}


def draw_descent(figure: Any, data: Data) -> None:
    """Draw success against steps under the bound, and the steps of both against members."""
    left, right = figure.subplots(1, 2)
    _success(left, data["study"])
    _sizes(right, data["sizes"])
    study, family = data["study"], parse_stored(data["study"]["spec"])
    figure.suptitle(
        f"{brief(family, family.name)}: gradients clipped to G = {study['clip']}, noise σ = "
        f"{study['noise_std']} on every coordinate, ρ = 1 - 2 label noise",
        fontsize=9,
    )


def _success(axis: Any, study: Data) -> None:
    points, goal = study["points"], float(Fraction(study["success"]))
    curve = [pair for pair in study["curve"] if pair[1] < 1]
    axis.set_title("How often a run succeeds")
    if curve:  # else the bound is vacuous everywhere
        steps, most = zip(*curve, strict=True)
        axis.plot(steps, most, color=_ORANGE, label="bound on any model and rule")
        axis.fill_between(steps, most, 1, color=_ORANGE, alpha=0.12, linewidth=0)
        axis.text(steps[0], 0.94, " ruled out", color=_ORANGE, fontsize=8)
    rates = [p["right"] / p["runs"] for p in points]
    ends = [
        [abs(rate - p["interval"][side]) for rate, p in zip(rates, points, strict=True)]
        for side in (0, 1)
    ]
    axis.errorbar(
        [p["steps"] for p in points],
        rates,
        yerr=ends,
        color=_BLUE,
        marker="o",
        markersize=4,
        linewidth=1,
        label=f"runs: a feature for each of {study['members']} members, 95%",
    )
    axis.axhline(goal, color="0.6", linewidth=0.8, linestyle=":")
    _gap(axis, study, goal)
    axis.set_xscale("log")
    axis.set_ylim(0, 1.02)
    axis.set_xlabel("number of steps")
    axis.set_ylabel(f"probability of relative risk {study['risk']} or less")
    axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17))


def _gap(axis: Any, study: Data, goal: float) -> None:
    """Mark the steps of the bound and of the runs at the goal's success, and their ratio."""
    needed, reached = int(study["needed"]), study["reached"]
    silent = vacuous(_STEPS, needed)
    if not silent:
        axis.axvline(needed, color=_ORANGE, linestyle="--", linewidth=1)
    if study["enough"]:
        label = "8 M ln M σ²/(ρG)² steps"
        axis.axvline(study["enough"], color=_GREEN, linestyle="--", linewidth=1, label=label)
    if reached is None or silent:
        return
    arrow = {"arrowstyle": "<->", "color": "0.3", "linewidth": 0.8}
    axis.annotate("", (needed, goal), (reached, goal), arrowprops=arrow)
    middle = (needed * reached) ** 0.5
    axis.text(middle, goal - 0.02, f"x {reached / needed:.3g}", ha="center", va="top", fontsize=8)


def _sizes(axis: Any, studies: list[Data]) -> None:
    axis.set_title(f"Steps for success {studies[0]['success']}")
    shown = [s for s in studies if s["reached"] is not None]
    told = [s for s in studies if not vacuous(_STEPS, s["needed"])]
    if not told:
        axis.set_axis_off()
        words = "the bound is vacuous in all of these dimensions"
        axis.text(0.5, 0.5, words, ha="center", va="center", transform=axis.transAxes)
        return
    reached = [s["reached"] for s in shown]
    marks = [s["bracket"] or [s["reached"]] * 2 for s in shown]
    ends = [[abs(r - m[side]) for r, m in zip(reached, marks, strict=True)] for side in (0, 1)]
    mark = {"marker": "o", "markersize": 4, "linewidth": 1}
    axis.errorbar(_members(shown), reached, yerr=ends, color=_BLUE, label="runs", **mark)
    if all(s["enough"] for s in studies):
        line = [s["enough"] for s in studies]
        axis.plot(_members(studies), line, color=_GREEN, linestyle="--", label="8 M ln M σ²/(ρG)²")
    least, mark = [int(s["needed"]) for s in told], {"marker": "s", "markersize": 4}
    axis.plot(_members(told), least, color=_ORANGE, label="bound: at least so many", **mark)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("number of members M")
    axis.set_ylabel("number of steps")
    axis.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.17))


def _members(studies: list[Data]) -> list[int]:
    return [s["members"] for s in studies]
