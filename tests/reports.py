"""Runs made by hand, and what stands in a page."""

import dataclasses
from html.parser import HTMLParser
from typing import Any

from msgspec.structs import replace

from hardness.oracles import Budget
from hardness.report.page import Page, render
from hardness.runs.registry import parse_learner
from hardness.runs.run import Run, run
from instances import parse

HOSTILE = (
    "<script>window.__hacked=1</script>",
    "</script><img src=x onerror=window.__hacked=2>",
    '"\' onmouseover=window.__hacked=3 x="',
    "]]>&amp;{{7*7}}{% raw %}",
    "$x$ _under_ \\alpha",
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


class Shown(HTMLParser):
    """What stands in a page: tags, words that are shown, and the rows of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.within, self.cell = "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.cell = True

    def handle_endtag(self, tag):
        self.within = ""
        self.cell &= tag not in ("td", "th")

    def handle_data(self, data):
        if self.within != "style":
            self.texts.append(data)
            if self.cell:
                self.rows[-1][-1] += data

    @property
    def words(self) -> str:
        """All that is shown, in one line."""
        return " ".join("".join(self.texts).split())


def shown(page: Page) -> Shown:
    """What a page says, without its figures."""
    parts = tuple(dataclasses.replace(part, figure=None) for part in page.parts)
    return Shown(render(dataclasses.replace(page, parts=parts)))
