"""The styles of figures, as the charts that stand beside them import them."""

from hardness.report.style import (
    BOUND,
    COLOURS,
    GREY,
    INK,
    RING,
    SHAPES,
    Style,
    pale,
    series_style,
    style_of,
    styles_of,
)

__all__ = [
    "BOUND", "COLOURS", "GREY", "INK", "RING", "SHAPES", "Style", "pale", "series_style",
    "style_of", "styles_of",
]  # fmt: skip
