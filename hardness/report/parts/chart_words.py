"""Words and cells that the charts of a report share."""

import shlex

from hardness.report.parts.records import Cell
from hardness.runs.run import Run


def command(source: str, name: str, choice: str) -> str:
    """Write the command that draws a figure again, quoted for a shell."""
    chosen = ["--slice", choice] if choice else []
    return shlex.join(["hardness", "figure", name, source, *chosen, "--out", f"{name}.svg"])


def seed_cell(run: Run) -> Cell:
    """Write a run's seed; beyond 2^53 as a text, which a page keeps exactly."""
    return run.seed if run.seed < 2**53 else str(run.seed)


def joined(*parts: str) -> str:
    """Join what there is by commas.

    >>> joined("m = 3", "", "risks")
    'm = 3, risks'
    """
    return ", ".join(filter(None, parts))
