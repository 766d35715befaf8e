"""The page of a report: one self-contained HTML file that works offline, everything escaped."""

from hardness.report.page.build import report_of_comparison
from hardness.report.page.write import write
from hardness.runs.comparison import Comparison


def page(comparison: Comparison, source: str = "results.json", sha256: str = "") -> str:
    """Render the page of a comparison.

    source: where it lies, for the commands. sha256: of its file, in hexadecimal.
    """
    return write(report_of_comparison(comparison, source, sha256))
