"""A page from a comparison, a store or a stress test: all that it says, and nothing laid out."""

from pathlib import Path

from hardness.report.charts.runs import both_sides
from hardness.report.page.cards import cards
from hardness.report.page.charts import charts
from hardness.report.page.facts import facts
from hardness.report.page.material import Material, digest, material_of, of_comparison
from hardness.report.page.provenance import provenance, reproduction
from hardness.report.page.records import Report
from hardness.report.page.tables import (
    diagnoses,
    growth,
    learner_rows,
    pairs,
    rungs,
    runs_table,
    slice_title,
)
from hardness.report.page.write import write
from hardness.runs import Comparison
from hardness.runs.slices import Slice
from instances.disk import write_bytes, write_text

_PAIRED = 12  # slices of which learners are compared in pairs


def report_of(path: Path) -> Report:
    """Make the report of what `compare`, `sweep run` or `stress` wrote; raises DamagedFile."""
    return report(material_of(path))


def report_of_comparison(comparison: Comparison, source: str, sha256: str = "") -> Report:
    """Make the report of a comparison; source: where it lies, for the commands.

    >>> from hardness.runs import compare
    >>> found = compare("parity:m=2", "d=6..8", ("elimination", "trivial"), seeds=2)
    >>> made = report_of_comparison(found, "out")
    >>> made.title, len(made.runs), [chart.name for chart in made.charts]
    ('Both sides of parity:m=2', 12, ['both-sides'])
    """
    return report(of_comparison(comparison, source, sha256))


def report(material: Material) -> Report:
    """Say all that follows from the material."""
    ordered = sorted(material.slices, key=_interest)
    drawn, not_drawn = charts(material, ordered)
    shown, not_shown = cards(material)
    stress, runs = material.stress, list(material.runs["run"])
    beside = [(slice_title(one), one.comparison.paired) for one in ordered[:_PAIRED]]
    beside += [(stress.ladder.title, stress.paired)] if stress else []
    return Report(
        title=_title(material),
        source=material.source,
        facts=facts(material, ordered),
        charts=tuple(drawn),
        learners=learner_rows(runs),
        runs=runs_table(runs),
        cards=tuple(shown),
        diagnoses=tuple(diagnoses(runs)),
        growth=tuple(growth(one) for one in ordered if one.comparison.scaling.laws),
        paired=tuple(pairs(title, found) for title, found in beside if found),
        rungs=rungs(stress) if stress else None,
        reproduce=reproduction(material, drawn, shown),
        provenance=provenance(material),
        left_out=(*not_drawn, *not_shown),
    )


def _title(material: Material) -> str:
    if material.stress:
        return f"Climbs of {material.stress.ladder.title}"
    if not material.store:
        return f"Both sides of {material.slices[0].comparison.spec}"
    names = dict.fromkeys(sweep.name for sweep in material.sweeps)
    return ", ".join(names) or Path(material.source).name


def _interest(one: Slice) -> tuple[bool, bool]:
    """Slices over several sizes first, of these those with a bound; else in their own order."""
    return len(one.comparison.values) < 2, not one.comparison.certificates


def page(comparison: Comparison, source: str = "results.json", sha256: str = "") -> str:
    """Render the page of a comparison.

    source: where it lies, for the commands. sha256: of its file, in hexadecimal.
    """
    return write(report_of_comparison(comparison, source, sha256))


def save(folder: Path, comparison: Comparison, name: str, force: bool = False) -> None:
    """Write results.json, figure.svg and report.html into a folder, which will be called `name`."""
    results = folder / "results.json"
    comparison.save(results, force=force)
    write_bytes(folder / "figure.svg", both_sides(comparison), force=force)
    made = page(comparison, name, digest(results))
    write_text(folder / "report.html", made, force=force)
