"""The table of docs/binding.md: what binds whom, by the numbers of its figure.

Of the store that is given, or of the numbers that `make figures` keeps for the picture.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardness.report.charts.binding import bound_words, measured_words
from hardness.report.figures import numbers
from instances.strict import read_json

DATA = Path(__file__).parent.parent / "docs/data/binding.json"


def rows(data: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table: a row a problem, a column a class of learners."""
    yield f"| problem | {' | '.join(f'{name}, {cost}' for name, cost in data['classes'].items())} |"
    yield "| --- " * (1 + len(data["classes"])) + "|"
    every: dict[str, list[str]] = {}
    for row in data["rows"]:
        every.setdefault(row["spec"], []).append(_cell(row))
    for spec, cells in every.items():
        yield f"| `{spec}` | {' | '.join(cells)} |"


def _cell(cell: dict[str, Any]) -> str:
    """Write a cell; the learner with its parameters, and how many of its runs solved."""
    measured = measured_words(cell, f"`{cell['learner']}`" if cell["learner"] else None)
    solved = f", {cell['passed']}/{cell['runs']}" if cell["learner"] else ""
    return f"{measured}{solved}; {bound_words(cell)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", nargs="?", type=Path)
    given = parser.parse_args().store
    print("\n".join(rows(numbers("binding", given) if given else read_json(DATA))))
