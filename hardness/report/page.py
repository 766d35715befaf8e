"""The page of a comparison: its report as one self-contained HTML file, everything escaped."""

from hardness.compare.both import Comparison
from hardness.report.html.write import write
from hardness.report.parts.build import report_of_comparison


def page(comparison: Comparison, source: str = "results.json") -> str:
    """Render the page of a comparison, which works offline; source: where it lies, for commands."""
    return write(report_of_comparison(comparison, source))
