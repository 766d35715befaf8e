"""The figure of the stages of one run of the learner `staged`."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hardness.report.style import COLOURS, Data, captioned, cost_axis, legible_name, panels, styled
from hardness.runs import Run
from hardness.runs.registry import parse_learner
from instances.disk import damage_words
from instances.errors import DamagedFile
from instances.parameters import brief
from instances.spec import parse_stored

_BLUE, _RED, _GREEN = COLOURS[:3]


def stages_rows(data: Data) -> Data:
    """Make the data of the figure from a run's JSON; raises DamagedFile if it has no stages.

    Rows of kind "eigenvalue" are numbered from the smallest. Rows of kind "residual" are bars of a
    histogram of constraint rows, by the log10 of their residual. Rows of kind "stage" have the
    held-out error after each stage of the last attempt.
    """
    try:
        run = Run.read(data)
        details = run.details
        if run.learner.partition(":")[0] != "staged":
            raise DamagedFile(
                "figure stages draws a run of staged, got one of "
                f"{legible_name(run.learner)}: give the "
                "file of `hardness learn staged SPEC --out FILE`"
            )
        residuals = details.get("residuals") or {"log10_edges": [], "counts": [], "accepted": 1}
        errors = details["errors"]
        last = max((i for i, e in enumerate(errors) if e["stage"] == "moment"), default=0)
        edges = [float(edge) for edge in residuals["log10_edges"]]
        rows = [
            {"kind": "eigenvalue", "number": i, "value": float(v)}
            for i, v in enumerate(details.get("eigenvalues", []), 1)
        ]
        rows += [
            {"kind": "residual", "log10": (low + high) / 2, "wide": high - low, "rows": int(count)}
            for low, high, count in zip(edges, edges[1:], residuals["counts"], strict=False)
        ]
        rows += [
            {
                "kind": "stage",
                "stage": str(e["stage"]),
                "examples": int(e["examples"]),
                "error": float(e["error"]),
            }
            for e in errors[last:]  # of the last attempt, which has the most examples
        ]
        if not rows:
            raise ValueError("it ended before the first stage")
        if int(details["heads"]) < 1 or any(float(v) < 0 for v in details.get("eigenvalues", [])):
            raise ValueError("heads below 1, or an eigenvalue below 0")
        return {
            "spec": run.spec,
            "learner": run.learner,
            "seed": run.seed,
            "heads": int(details["heads"]),
            "accepted": float(residuals["accepted"]),
            "rows": rows,
        }
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise DamagedFile(
            "this is no run of the staged learner with its stages "
            f"({damage_words(error)}): give the file of `hardness learn staged SPEC --out FILE`"
        ) from error


@styled
def stages(data: Data, *, ax: Any = None, width: float | None = None) -> Figure:
    """Draw eigenvalues with their gap, residuals with the accepted limit, and error by stage."""
    kinds = {
        kind: [row for row in data["rows"] if row["kind"] == kind]
        for kind in ("eigenvalue", "residual", "stage")
    }
    drawn = [kind for kind, rows in kinds.items() if rows]
    figure, axes = panels(len(drawn), ax=ax, width=width, ratio=0.85)
    for panel, kind in zip(axes, drawn, strict=True):
        _PANELS[kind](panel, kinds[kind], data)
    family, learner = parse_stored(data["spec"]), parse_learner(data["learner"])
    title = f"{brief(learner, learner.name)} on {brief(family, family.name)}, seed {data['seed']}"
    caption = [f"What the stages of {legible_name(title, 100)} saw."]
    if kinds["eigenvalue"]:
        caption.append(
            f"Eigenvalues: the gap at the line shows {data['heads']} heads: all but one are small."
        )
    if kinds["residual"]:
        caption.append("Residuals of rows of constraints: those left of the line were accepted.")
    if kinds["stage"]:
        caption.append(f"Error on {kinds['stage'][-1]['examples']} held-out examples by stage.")
    return captioned(figure, caption, data)


def _eigenvalues(ax: Axes, rows: list[Data], data: Data) -> None:
    heads = data["heads"]
    ax.set(title="How many heads", xlabel="eigenvalue, smallest first", ylabel="value")
    values = [row["value"] for row in rows]
    floor = cost_axis(ax, values, zero=True)
    x, y = [row["number"] for row in rows], [max(value, floor) for value in values]
    ax.plot(x, y, color=_BLUE, marker="o", linestyle="none")
    if 1 < heads <= len(rows) and rows[heads - 2]["value"]:
        gap = rows[heads - 1]["value"] / rows[heads - 2]["value"]
        ax.axvline(heads - 0.5, color=_RED, linestyle="--", label=f"gap {gap:.3g}")
        ax.legend(loc="lower right")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def _residuals(ax: Axes, rows: list[Data], data: Data) -> None:
    ax.set(
        title="Do the heads agree on a row?", xlabel="relative residual", ylabel="number of rows"
    )
    left = [10 ** (row["log10"] - row["wide"] / 2) for row in rows]
    wide = [
        10 ** (row["log10"] + row["wide"] / 2) - low for row, low in zip(rows, left, strict=True)
    ]
    ax.bar(left, [row["rows"] for row in rows], wide, align="edge", color=_BLUE)
    ax.set_xscale("log")
    ax.axvline(max(data["accepted"], 1e-18), color=_RED, linestyle="--", label="accepted")
    ax.legend(loc="best")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def _errors(ax: Axes, rows: list[Data], data: Data) -> None:
    ax.set(title="Held-out error", ylabel="relative squared error")
    floor = cost_axis(ax, [row["error"] for row in rows], zero=True)
    y = [max(row["error"], floor) for row in rows]
    ax.plot(range(len(rows)), y, color=_GREEN, marker="o")
    ax.set_xticks(range(len(rows)), [row["stage"] for row in rows], rotation=45, ha="right")


_PANELS = {"eigenvalue": _eigenvalues, "residual": _residuals, "stage": _errors}
