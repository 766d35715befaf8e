"""What people look at: tables, the figure with both sides, the page."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.report.charts.runs import both_sides
    from hardness.report.comparison import comparison_table
    from hardness.report.page import page
    from hardness.report.text import table

__all__ = ["both_sides", "comparison_table", "page", "table"]

lazily(__name__)
