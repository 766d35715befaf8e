"""The page of a comparison: its report as one self-contained HTML file, everything escaped."""

from hardness.report.html.write import write
from hardness.report.parts.build import report_of_comparison
from hardness.runs.comparison import Comparison


def page(comparison: Comparison, source: str = "results.json", sha256: str = "") -> str:
    """Render the page of a comparison, which works offline.

    source: where it lies, for the commands. sha256: of its file, in hexadecimal.
    """
    return write(report_of_comparison(comparison, source, sha256))
