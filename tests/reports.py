"""Pages of runs made by hand, some of them hostile in every text, and what stands in a page."""

import dataclasses
import json
from html.parser import HTMLParser
from typing import Any

from msgspec.structs import replace

from hardness.oracles import Budget
from hardness.report.page.build import report
from hardness.report.page.material import Material, Report
from hardness.report.page.write import write
from hardness.runs.columns import table
from hardness.runs.groups import over_one, over_two
from hardness.runs.registry import parse_learner
from hardness.runs.run import Run, run
from instances import parse

HOSTILE = (
    "<script>window.__hacked=1</script>",
    "</script><img src=x onerror=window.__hacked=2>",
    "<!--<script>",
    '"\' onmouseover=window.__hacked=3 x="',
    "]]>&amp;{{7*7}}{% raw %}",
    "שלום.py:רשת",
    "a\u202egnp.exe\u2066b\u200bc\u00ad",
    "nul\x00bell\x07esc\x1b[31m",
    "=HYPERLINK(1)",
    "__proto__",
    "constructor",
    "$x$ _under_ \\alpha",
    "W" * 10_000,
    "word " * 2000,
)
PARITY = parse("parity:d=8,m=2").spec
SOLVED = run(parse_learner("elimination"), parse(PARITY).instance(0), Budget())
LOST = run(parse_learner("trivial"), parse(PARITY).instance(0), Budget())


def row(
    spec: str = PARITY,
    learner: str = "elimination",
    seed: int = 0,
    solved: bool = True,
    **changed: Any,
) -> Run:
    """A run by hand, that passed or did not."""
    base = SOLVED if solved else LOST
    return replace(base, key=f"{seed:064x}", spec=spec, learner=learner, seed=seed, **changed)


def material(runs: list[Run], **parts: Any) -> Material:
    """The runs as those of a store."""
    every = table(runs)
    own = {"source": "runs.db", "lines": over_one(runs), "planes": over_two(runs)}
    return Material(runs=every, store=True, **own | parts)


def hostile() -> Report:
    """A report in which every text that others write is one of HOSTILE."""
    runs = []
    for i, text in enumerate(HOSTILE * 2):
        libraries = {"reported": {"libraries": {text: text}}, "sha256": text}
        used = replace(SOLVED.usage, examples=100 * i + 100)
        told = {"usage": used, "machine": text, "versions": {text: text}, "details": libraries}
        runs.append(row(HOSTILE[i % 3] if i < 3 else PARITY, text, i, solved=i % 3 > 0, **told))
    odd = [
        1,
        {"name": []},
        {"value": 2},
        {"name": HOSTILE[0], "flagged": True, "advice": HOSTILE[1]},
    ]
    runs.append(row(learner="staged:a=b", seed=2**63, details={"diagnosis": odd}))
    return report(material(runs, source=HOSTILE[1], name=HOSTILE[0], command=HOSTILE[3]))


class Page(HTMLParser):
    """What stands in a page: tags, words that are shown, the rows of tables, and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.scripts: list[str] = []
        self.within, self.cell = "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.cell = True

    def handle_endtag(self, tag):
        self.within = ""
        self.cell &= tag not in ("td", "th")

    def handle_data(self, data):
        if self.within == "script":
            self.scripts[-1] += data
        elif self.within != "style":
            self.texts.append(data)
            if self.cell:
                self.rows[-1][-1] += data

    @property
    def words(self) -> str:
        """All that is shown, in one line."""
        return " ".join("".join(self.texts).split())

    @property
    def data(self) -> Any:
        """What the script reads."""
        return json.loads(self.scripts[0])


def page_of(made: Report) -> Page:
    """What a page says, without its pictures."""
    return Page(write(dataclasses.replace(made, charts=())))
