"""The page of a report: one self-contained HTML file that works offline, everything escaped."""

from pathlib import Path

from hardness.report.charts.runs import both_sides
from hardness.report.page.build import report_of_comparison
from hardness.report.page.material import digest
from hardness.report.page.write import write
from hardness.runs.comparison import Comparison
from instances.disk import write_bytes, write_text


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
