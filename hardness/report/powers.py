"""Powers of ten beside log axes, as text: a formula is slow to draw, and no text in a page."""

import math
from typing import Any

_MINOR = 300.0  # ends of a log axis, one over the other, from which it has no minor ticks
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain_powers(axes: Any) -> None:
    """Let log axes write 10⁻² as text, in the letters of the figure."""
    from matplotlib.ticker import LogFormatterSciNotation, NullLocator

    class Powers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: Any = None) -> str:
            return power(x) if super().__call__(x, pos) else ""

    for axis in (axes.xaxis, axes.yaxis):
        if not isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
            continue
        axis.set_major_formatter(Powers())
        low, high = axis.get_view_interval()
        if high > _MINOR * low:
            axis.set_minor_locator(NullLocator())
        elif isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
            axis.set_minor_formatter(
                Powers(minor_thresholds=axis.get_minor_formatter().minor_thresholds)
            )


def power(value: float) -> str:
    """Write a number as a multiple of a power of ten.

    >>> power(1e-12), power(200.0), power(1.0)
    ('10⁻¹²', '2×10²', '10⁰')
    """
    if not value > 0:
        return ""
    exponent = math.floor(math.log10(value) + 1e-9)
    front = f"{value / 10.0**exponent:g}"
    raised = f"10{str(exponent).translate(_RAISED)}"
    return raised if front == "1" else f"{front}×{raised}"
