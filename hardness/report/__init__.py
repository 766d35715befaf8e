"""What people look at: tables, the figure with both sides, the page."""

from hardness.report.figure import both_sides
from hardness.report.page import page
from hardness.report.text import comparison_table, table

__all__ = ["both_sides", "comparison_table", "page", "table"]
