"""Formulas without a network: MathJax as one script beside the pages."""

import importlib.util
import shutil
from pathlib import Path

SCRIPT = "mathjax.js"


def _copy(app, error):
    if error is None and app.builder.format == "html":
        package = importlib.util.find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
        script = Path(package) / "static/mathjax/tex-svg.js"
        shutil.copyfile(script, Path(app.outdir) / "_static" / SCRIPT)


def setup(app):
    """Connect to sphinx."""
    app.config.mathjax_path = SCRIPT
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
