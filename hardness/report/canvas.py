"""Figures as bytes: one style, and the same bytes for the same data."""

import io
import warnings
from collections.abc import Callable
from typing import Any

# Okabe and Ito's palette: told apart with any colour vision; marks differ too.
STYLES = [
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "^"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
    ("#000000", "X"),
]


def render(size: tuple[float, float], kind: str, build: Callable[[Any], None]) -> bytes:
    """Let `build` draw on a figure of a size in inches, and write it as svg, png or pdf."""
    import matplotlib

    settings: Any = {
        "svg.hashsalt": "hardness",
        "svg.fonttype": "path",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(settings):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        build(figure)
        out = io.BytesIO()
        metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
        with warnings.catch_warnings():  # a box stands for what the font lacks, of a user's names
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(out, format=kind, metadata=metadata[kind], dpi=150)
        return out.getvalue()


def named(text: str) -> str:
    """Give a name that a user chose as it stands: $ in it begins no formula.

    A legend leaves out what begins with _, so a space goes before it.

    >>> named("mlp"), named("_mine.py:Net"), named("$x$.py:Net")
    ('mlp', ' _mine.py:Net', '\\\\$x\\\\$.py:Net')
    """
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
