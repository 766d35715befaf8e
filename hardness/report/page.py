"""The page: one self-contained HTML file around the figure, everything escaped."""

import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hardness.compare.both import Comparison
from hardness.report.figure import both_sides
from hardness.report.summary import bounds, cells, fits, short_name
from hardness.report.text import big, number


def page(comparison: Comparison) -> str:
    """Render the page of a comparison: works offline, no script."""
    import jinja2

    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    svg = both_sides(comparison).decode()
    return environment.from_string(template).render(
        comparison=comparison,
        svg=svg[svg.index("<svg") :],
        alt=_words(comparison),
        rows=_rows(comparison),
        fits=[
            {
                "learner": short_name(comparison, learner),
                "cost": cost,
                "slope": f"{fit.slope:.2f}",
                "error": f"{fit.error:.2f}",
                "points": fit.points,
            }
            for (learner, cost), fit in fits(comparison).items()
        ],
        largest=comparison.certificates[-1],
        claims=[asdict(claim) for claim in comparison.certificates[-1].claims],
        sentences=_sentences(comparison),
        version=version("hardness-toolkit"),
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    least, floor = bounds(comparison, "stat-queries"), bounds(comparison, "information-floor")
    every = cells(comparison)
    for value, queries, examples in zip(comparison.values, least, floor, strict=True):
        for cell in (c for c in every if c.value == value):
            rows.append(
                {
                    "size": f"{comparison.parameter}={value}",
                    "learner": short_name(comparison, cell.learner),
                    "queries": number(cell.queries) if cell.queries else "–",
                    "examples": number(cell.examples),
                    "seconds": number(cell.seconds),
                    "risk": "–" if cell.risk is None else f"{cell.risk:.2f}",
                    "solved": f"{cell.solved}/{cell.runs}",
                    "outcome": cell.outcome,
                    "bound": False,
                }
            )
        rows.append(
            {
                "size": f"{comparison.parameter}={value}",
                "learner": "certified: at least",
                "queries": big(queries),
                "examples": big(examples),
                "seconds": "",
                "risk": "",
                "solved": "",
                "outcome": "",
                "bound": True,
            }
        )
    return rows


def _sentences(comparison: Comparison) -> list[str]:
    """Say what the numbers say, at the largest size."""
    certificate, value = comparison.certificates[-1], comparison.values[-1]
    terms = comparison.terms
    where = f"{comparison.parameter} = {value}"
    out = [
        f"At {where} the family has {big(int(certificate.value('sq-dimension')))} members, all "
        f"exactly uncorrelated. Any statistical-query learner that reaches relative risk "
        f"{terms.risk} with probability {terms.success}, whatever the answers within the tolerance "
        f"{terms.tau}, asks at least {big(int(certificate.value('stat-queries')))} queries."
    ]
    for cell in (c for c in cells(comparison) if c.value == value):
        name = short_name(comparison, cell.learner)
        asked = f"{number(cell.queries)} queries, " if cell.queries else ""
        spent = f"{asked}{number(cell.examples)} examples, {number(cell.seconds)} s"
        if cell.solved == cell.runs:
            out.append(f"{name} solved all {cell.runs} instances there ({spent}).")
        else:
            risk = "not measured" if cell.risk is None else f"{cell.risk:.2f}"
            out.append(
                f"{name} solved {cell.solved} of {cell.runs} instances there: {cell.outcome}, "
                f"median relative risk {risk} ({spent})."
            )
    return out


def _words(comparison: Comparison) -> str:
    """Describe the figure for who cannot see it."""
    return (
        "Three log-scale panels over "
        + comparison.parameter
        + ". "
        + " ".join(_sentences(comparison))
    )
