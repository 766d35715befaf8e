"""Packages that import their names on demand: what they offer, what a reader of stores needs."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from hardness.upper import LEARNERS
from hardness.verbs.root import COMMANDS
from instances.spec import FAMILIES

PACKAGES = (
    "hardness",
    "hardness.runs",
    "hardness.sweep",
    "hardness.bounds",
    "hardness.oracles",
    "hardness.upper",
    "instances",
)
HEAVY = (
    "scipy",
    "numba",
    "hardness.bounds.certify",
    "hardness.upper.levenberg",
    "hardness.runs.comparison",
)


def imported_here(package: str) -> dict[str, str]:
    """Return what a package imports for type checkers: modules by name."""
    tree = ast.parse(Path(importlib.import_module(package).__file__ or "").read_text())
    [block] = [
        n for n in tree.body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)
    ]
    return {name.name: f"{node.module}" for node in block.body for name in node.names}


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_those_that_type_checkers_see(package):
    module = importlib.import_module(package)
    said = imported_here(package)
    assert set(said) == set(module.__all__) <= set(dir(module))
    for name, where in said.items():
        assert getattr(module, name) is getattr(importlib.import_module(where), name)
    with pytest.raises(AttributeError, match="no attribute 'nowhere'"):
        module.nowhere  # noqa: B018


def test_tables_call_things_as_they_call_themselves():
    assert {name: kind.name for name, kind in LEARNERS.items()} == {n: n for n in LEARNERS}
    assert {name: kind.name for name, kind in FAMILIES.items()} == {n: n for n in FAMILIES}
    assert {name: command.name for name, command in COMMANDS.items()} == {n: n for n in COMMANDS}


def test_a_function_is_not_hidden_by_its_module():
    code = "import hardness.runs.stress, hardness.runs as c; print(callable(c.stress))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("module", ["hardness.report.sweep", "hardness.sweep.store"])
def test_reading_a_store_imports_little(module):
    code = f"import sys, importlib; m = importlib.import_module({module!r}); "
    code += "m.__dict__.get('read') or getattr(m, 'read', 0); "
    code += f"print([n for n in {HEAVY} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
