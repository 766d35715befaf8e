"""Theory beside measurement: statements of the sources, predicted before they are measured."""

from functools import cache
from importlib import import_module

from hardness.theory.statement import Finding as Finding
from hardness.theory.statement import Measured as Measured
from hardness.theory.statement import Point as Point
from hardness.theory.statement import Predicted as Predicted
from hardness.theory.statement import Setting as Setting
from hardness.theory.statement import Statement as Statement
from hardness.theory.statement import Statements as Statements
from hardness.theory.statement import Theory as Theory
from hardness.theory.statement import Told as Told
from hardness.theory.statement import find as find
from hardness.theory.statement import place as place
from hardness.theory.statement import short_number as short_number
from instances.errors import unknown

# Modules with a tuple STATEMENTS, in the order of the table.
SUBJECTS = ("sums", "rows", "bodies", "stages", "spectra", "queries", "sources", "icl")


@cache
def statements() -> dict[str, Statement]:
    """All statements by name, in the order of the table."""
    modules = (import_module(f"hardness.theory.{name}") for name in SUBJECTS)
    return {one.name: one for module in modules for one in module.STATEMENTS}


def statement(name: str) -> Statement:
    """Give the statement of a name; raises UsageError with the nearest name."""
    if name not in (every := statements()):
        raise unknown("statement", name, list(every))
    return every[name]
