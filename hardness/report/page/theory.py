"""The page of statements: a table a subject, and each with its picture, settings and command."""

import re
from collections import Counter
from itertools import groupby

from markupsafe import Markup

from hardness.report.figures import draw
from hardness.report.page.text import prose
from hardness.report.page.write import asset, slim, template
from hardness.report.text import count
from hardness.report.theory import note_words, point_words
from hardness.theory import Finding, Theory, place


def page(found: Theory) -> str:
    """Lay statements out as one HTML file that needs nothing outside it, and no script."""
    every = found.findings
    return template("theory.html", (point_words, note_words, place, prose, count)).render(
        style=Markup(asset("page.css")),
        findings=every,
        verdicts=Counter(re.split(" by | at |,", one.verdict)[0] for one in every).most_common(),
        subjects=[(name, list(some)) for name, some in groupby(every, lambda one: one.subject)],
        pictures={one.name: _picture(one) for one in every},
    )


def _picture(found: Finding) -> Markup:
    """Draw a statement; nothing where no setting has a place along x."""
    from hardness.report.charts.theory import of_theory

    if not any(found.along in one.at for one in found.points):
        return Markup()
    return slim(draw("theory", of_theory(found)).decode(), found.name)
