"""The figure of `staged`: what the stages of a run saw."""

import math

from hardness.report.plot import Axis, Data, named, panels, plot
from hardness.report.style import COLOURS, Style, wall
from hardness.runs import Run
from hardness.runs.registry import parse_learner
from instances.errors import DamagedFile
from instances.parameters import brief
from instances.spec import parse_stored

_BLUE, _RED, _GREEN = COLOURS[:3]
_LEAST = 1e-33  # what a logarithm shows of an error of 0


def of_stages(data: Data) -> Data:
    """Take from a run's JSON what its stages saw; raises DamagedFile where that is nothing.

    Rows of the kind eigenvalue, by number from the smallest on; residual, how many rows of
    constraints lie about a log10 of the common pattern's; stage, the error on held-out examples
    after each stage of the last attempt.
    """
    try:
        run = Run.read(data)
        details = run.details
        if run.learner.partition(":")[0] != "staged":
            raise DamagedFile(
                f"a run of {named(run.learner)} given: figure stages is of one of staged: give "
                "the file of `hardness learn staged SPEC --out FILE`"
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
            for e in errors[last:]  # attempts before it had fewer examples
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
            f"this is no run of the staged learner with its stages ({type(error).__name__} "
            f"{error}): give the file of `hardness learn staged SPEC --out FILE`"
        ) from error


def draw_stages(data: Data) -> Data:
    """Draw eigenvalues with the gap, the residuals with what was accepted, error by stage."""
    family, learner = parse_stored(data["spec"]), parse_learner(data["learner"])
    title = f"{brief(learner, learner.name)} on {brief(family, family.name)}, seed {data['seed']}"
    of = {
        kind: [{**row, "series": kind} for row in data["rows"] if row["kind"] == kind]
        for kind in ("eigenvalue", "residual", "stage")
    }
    return panels(
        _eigenvalues(of["eigenvalue"], data["heads"]),
        _residuals(of["residual"], data["accepted"]),
        _errors(of["stage"]),
        title=named(title, 100),
        own=True,
    )


def _eigenvalues(rows: list[Data], heads: int) -> Data:
    styles = {"eigenvalue": Style(colour=_BLUE, marks=("point",), shown=False)}
    if 1 < heads <= len(rows) and rows[heads - 2]["value"]:
        gap = rows[heads - 1]["value"] / rows[heads - 2]["value"]
        said = f"{heads} heads: gap {gap:.3g}"
        styles[said] = wall(colour=_RED)
        rows = [*rows, {"series": said, "number": heads - 0.5}]
    return plot(
        rows,
        x=Axis("number", "eigenvalue, smallest first", scale="whole"),
        y=Axis("value", "constraints against all rows", scale="log"),
        styles=styles,
        told={"number": "number", "eigenvalue": "value"},
        title="Eigenvalues: how many heads",
    )


def _residuals(rows: list[Data], accepted: float) -> Data:
    if not rows:
        return {}
    limit = {"series": "accepted", "log10": math.log10(max(accepted, 1e-18))}
    bars = Style(colour=_BLUE, marks=("bar",), wide=rows[0]["wide"], shown=False)
    counts = [row["rows"] for row in rows]
    return plot(
        [*rows, limit],
        x=Axis("log10", "residual of the common pattern, log10, relative"),
        y=Axis("rows", "number of rows", scale="whole", domain=(0, 1.05 * max(counts) or 1.0)),
        styles={"residual": bars, "accepted": wall(colour=_RED)},
        title="Do the heads agree on a row?",
    )


def _errors(rows: list[Data]) -> Data:
    if not rows:
        return {}
    return plot(
        [{**row, "error": max(row["error"], _LEAST)} for row in rows],
        x=Axis(
            "stage",
            f"after the stage, {rows[-1]['examples']} examples",
            scale="names",
            names=[row["stage"] for row in rows],
            look={"labelAngle": -45},
        ),
        y=Axis("error", "relative squared error", scale="log"),
        styles={"stage": Style(colour=_GREEN, shown=False)},
        told={"stage": "stage", "error": "error"},
        title="Error on held-out examples",
    )
