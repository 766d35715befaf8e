"""The page of a report: one HTML file with its style and script inside, and nothing outside."""

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from hardness.report.html import text
from hardness.report.html.charts import Drawn, drawn
from hardness.report.html.swatches import mark_of
from hardness.report.parts.records import LearnerRow, Report
from hardness.report.styles import styles_of
from hardness.runs.processes import execute

SECTIONS = ("both-sides", "phase", "climbs", "stages", "scaling")  # that the page lays out
FIRST = 100  # rows of a long table that stand in the page without its script
_PARTS = ("texts", "downloads", "tables", "figures", "page")
_FEW = 6  # charts that are drawn before other processes have begun


def write(report: Report, jobs: int = 1) -> str:
    """Lay a report out as one HTML file that works offline, and without its script.

    All that the report says is escaped; no text in it can end an element or run. The same report
    gives the same bytes. jobs: processes that draw, where there is much to draw.
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        name=text.name,
        head=text.head,
        prose=text.prose,
        short=text.short,
        value=text.value,
        numeric=text.numeric,
        filled=text.filled,
    )
    done = execute(drawn, report.charts, jobs if len(report.charts) > _FEW else 1)
    charts = [one for _, one in sorted(done, key=lambda found: found[0])]
    styles = styles_of(row.learner for row in report.learners)
    script = _script()
    return environment.from_string(_asset("page.html")).render(
        report=report,
        sections=_sections(charts),
        family=family,
        swatches={name: mark_of(style) for name, style in styles.items()},
        begin=replace(report.runs, rows=report.runs.rows[:FIRST]),
        style=Markup(_asset("page.css")),
        script=Markup(script),
        sha256=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=text.embedded(_told(report, charts)),
        interval=_interval,
    )


def family(spec: str) -> str:
    """Name the family of a spec.

    >>> family("parity:d=8,m=3"), family("mine.py:Hard")
    ('parity', 'mine.py:Hard')
    """
    return spec if ".py:" in spec else spec.partition(":")[0]


def _script() -> str:
    """Join the parts of the script, in one scope of their own.

    The page is whole without it: it adds sorting, filters, toggles, values and downloads.
    """
    parts = "".join(_asset(f"script/{name}.js") for name in _PARTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _asset(name: str) -> str:
    return (files("hardness.report.html") / name).read_text(encoding="utf-8")


def _told(report: Report, charts: Iterable[Drawn]) -> dict[str, Any]:
    """Collect what the script works on: all runs by columns, and the points of the charts."""
    return {"runs": text.columns(report.runs), "charts": [one.told for one in charts]}


def _sections(charts: Iterable[Drawn]) -> dict[str, list[Drawn]]:
    found: dict[str, list[Drawn]] = {section: [] for section in SECTIONS}
    for one in charts:
        found[one.chart.section].append(one)
    return found


def _interval(row: LearnerRow) -> str:
    return f"{row.low:.2f}–{row.high:.2f}"
