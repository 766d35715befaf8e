"""A report from a comparison, a store or a stress test: all that is said, and nothing laid out."""

from collections.abc import Sequence
from pathlib import Path

from hardness.report.page.cards import cards
from hardness.report.page.figures import charts
from hardness.report.page.material import Material, material_of, of_comparison
from hardness.report.page.provenance import provenance, reproduction
from hardness.report.page.records import Report, SideBySide
from hardness.report.page.sentences import SCOPE, summary
from hardness.report.page.tables import (
    diagnoses,
    growth,
    learner_rows,
    pairs,
    pairs_table,
    rungs,
    runs_table,
)
from hardness.report.text import count
from hardness.runs import Comparison, scaling
from hardness.runs.table import Slice

_PAIRED = 12  # slices of which learners are compared in pairs


def report_of(path: Path) -> Report:
    """Make the report of what `compare`, `sweep run` or `stress` wrote; raises DamagedFile."""
    return report(material_of(path))


def report_of_comparison(comparison: Comparison, source: str, sha256: str = "") -> Report:
    """Make the report of a comparison; source: where it lies, for the commands.

    >>> from hardness.runs import compare
    >>> found = compare("parity:m=2", "d=6..8", ("elimination", "trivial"), seeds=2)
    >>> made = report_of_comparison(found, "out")
    >>> made.title, len(made.runs.rows), [chart.name for chart in made.charts]
    ('Both sides of parity:m=2', 12, ['both-sides'])
    """
    return report(of_comparison(comparison, source, sha256))


def report(material: Material) -> Report:
    """Say all that follows from the material."""
    ordered = sorted(material.slices, key=_interest)
    grown = [(one, scaling(one.comparison)) for one in ordered]
    drawn, not_drawn = charts(material, grown)
    shown, not_shown = cards(material)
    fitted = [growth(one, found) for one, found in grown]
    return Report(
        title=_title(material),
        source=material.source,
        about=_about(material),
        summary=summary(material, grown),
        scope=SCOPE,
        charts=tuple(drawn),
        learners=learner_rows(material.runs, budgets=material.budgets),
        runs=runs_table(material.runs["run"], budgets=material.budgets),
        cards=tuple(shown),
        diagnoses=diagnoses(material.runs["run"]),
        growth=tuple(one for one in fitted if one),
        paired=tuple(filter(None, _paired(material, ordered))),
        leading=len(material.said) + 1 if material.said else 3,
        rungs=rungs(material.stress) if material.stress else None,
        reproduce=reproduction(material, drawn, shown),
        provenance=provenance(material),
        left_out=(*not_drawn, *not_shown),
    )


def _paired(material: Material, ordered: Sequence[Slice]) -> list[SideBySide | None]:
    if material.stress:
        return [pairs_table(material.stress.ladder.title, material.stress.paired)]
    return [pairs(one) for one in ordered[:_PAIRED]]


def _title(material: Material) -> str:
    if material.said:
        return f"Climbs of {material.climbs[0][0]}"
    if not material.store:
        return f"Both sides of {material.slices[0].comparison.spec}"
    names = list(dict.fromkeys(sweep.name for sweep in material.sweeps))
    return ", ".join(names) or Path(material.source).name


def _about(material: Material) -> str:
    """Say in a line what this is the report of."""
    if material.said:
        return "A stress test: how far each learner climbs a ladder of problems."
    if not material.store:
        one = material.slices[0].comparison
        return f"A comparison over {one.parameter}: what learners did, beside what is certified."
    if material.runs.empty:
        return "A store without runs: what is certified in it."
    runs, parts = count(len(material.runs), "run"), count(len(material.slices), "slice")
    return (
        f"A store of {runs} in {parts}, each over one parameter: what "
        "learners did, beside what is certified."
    )


def _interest(one: Slice) -> tuple[bool, bool]:
    """Slices over several sizes first, of these those with a bound; else in their own order."""
    return len(one.comparison.values) < 2, not one.comparison.certificates
