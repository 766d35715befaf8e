"""The page of a report: one HTML file with its style and script inside, and nothing outside."""

import base64
import hashlib
import re
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from hardness.report.figures import described
from hardness.report.page import text
from hardness.report.page.material import Chart, Report
from hardness.report.page.tables import learners_table, shown_names
from hardness.report.vega import Data, complete
from hardness.report.vega import write as picture
from hardness.runs.workers import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Template
    from pandas import DataFrame

_HEADS = {
    "both-sides": ("Both sides", "Runs"),
    "least": ("The least that is needed", "Thresholds"),
    "phase": ("Phase diagram", "Diagram"),
    "stages": ("Stages", "Run"),
    "scaling": ("Growth", "Runs"),
}
FIRST = 100  # rows of a long table that stand in the page without its script
_FEW = 6  # charts that are drawn before other processes have begun
_MARK = re.compile(r'<path transform="translate\(([-\d.]+),([-\d.]+)\)"([^>]*?)(?:/>|></path>)')
# What the page says of the whole picture, or its style of all letters.
_SPARE = re.compile(r' (?:aria-[a-z]+|role|class|pointer-events|font-family)="[^"]*"')
_EMPTY = re.compile(r'<path[^>]* d=""[^>]*/>')


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A chart as the page shows it: its picture, and its description for the script."""

    chart: Chart
    picture: Markup = field(repr=False)
    description: Data = field(repr=False)


def drawn(chart: Chart) -> Drawn:
    """Draw a chart for the page."""
    description = described(chart.name, chart.data)
    svg = picture(description, "svg").decode()
    return Drawn(chart=chart, picture=slim(svg, chart.key), description=complete(description))


def slim(svg: str, key: str) -> Markup:
    """Write a picture smaller: each kind of mark stands once, and none twice in one place.

    >>> one = '<path role="x" transform="translate(1.25,2)" d="M0,0" fill="red"/>'
    >>> slim(one + one + one.replace("2)", "3)"), "k").count("<use")
    2
    """
    kinds: dict[str, str] = {}

    def use(found: re.Match[str]) -> str:
        x, y, look = found.groups()
        name = kinds.setdefault(look, f"{key}-{len(kinds)}")
        return f'<use href="#{name}" x="{float(x):.1f}" y="{float(y):.1f}"/>'

    uses = _MARK.sub(use, _EMPTY.sub("", _SPARE.sub("", svg)))
    uses = re.sub(r"(<use [^>]*/>)(?:\1)+", r"\1", uses)
    uses = re.sub(r'(id="|url\(#)(clip\d+)', rf"\g<1>{key}-\2", uses)  # unique in the page
    shapes = "".join(f'<path id="{name}"{look}/>' for look, name in kinds.items())
    head, tag, rest = uses.partition(">") if uses.startswith("<svg") else ("", "", uses)
    return Markup(f"{head}{tag}<defs>{shapes}</defs>{rest}")


def write(report: Report, jobs: int = 1) -> str:
    """Lay a report out as one HTML file that works offline, and without its script.

    All that the report says is escaped; no text in it can end an element or run. The same report
    gives the same bytes. jobs: processes that draw, where there is much to draw.
    """
    shown = shown_names(report.learners["learner"])

    def learner(name: Any) -> Markup:
        return text.name(shown.get(name, str(name)))

    done = execute(drawn, report.charts, jobs if len(report.charts) > _FEW else 1)
    charts = [one for _, one in sorted(done, key=lambda found: found[0])]
    grids = {"learners": learners_table(report.learners), "runs": report.runs}
    whole = {key: once(table) for key, table in grids.items()}
    told = {
        "tables": {key: text.columns(table) for key, (table, _) in whole.items()},
        "charts": {one.chart.key: one.description for one in charts},
    }
    scripts = [_runtime(), asset("page.js")] if charts else [asset("page.js")]
    return template("page.html", (*text.FILTERS, learner)).render(
        report=report,
        sections={key: [one for one in charts if one.chart.section == key] for key in _HEADS},
        heads=_HEADS,
        grids={key: (table[:FIRST], len(table), same) for key, (table, same) in whole.items()},
        style=Markup(asset("page.css")),
        scripts=[Markup(script) for script in scripts],
        hashes=" ".join(f"'sha256-{_digest(script)}'" for script in scripts),
        data=text.embedded(told),
    )


def once(table: "DataFrame") -> tuple["DataFrame", list[tuple[str, str]]]:
    """Leave out the columns in which every row has the same text, and give what they say.

    Where they say nothing they are gone.

    >>> from pandas import DataFrame
    >>> once(DataFrame({"learner": ["a", "b"], "budget": ["1 s", "1 s"]}))[1]
    [('budget', '1 s')]
    """
    held = {str(name): table[name].unique() for name in table if len(table) > 1}
    same = {name: one[0] for name, one in held.items() if len(one) == 1 and isinstance(one[0], str)}
    return table.drop(columns=list(same)), [(name, said) for name, said in same.items() if said]


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which stands in the page."""
    import vl_convert

    script = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    assert "</script" not in script.lower()
    return script


def template(name: str, filters: "Sequence[Callable[..., Any]]") -> "Template":
    """Read a template of a page, which knows filters by name and escapes what it is given."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({one.__name__: one for one in filters})
    return environment.get_template(name)


def asset(name: str) -> str:
    """Read a file of the page: its template, its style or its script."""
    return (files("hardness.report.page") / name).read_text(encoding="utf-8")
