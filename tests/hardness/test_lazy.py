"""Packages that import their names on demand: what they offer, what a reader of stores needs."""

import importlib
import subprocess
import sys

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
TABLES = ("ATTACKS", "LAYERED", "LEARNERS")
HEAVY = (
    "scipy",
    "numba",
    "hardness.bounds.certify",
    "hardness.upper.levenberg",
    "hardness.runs.comparison",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_name_of_a_package_is_there(package):
    module = importlib.import_module(package)
    assert set(module.__all__) == set(dir(module))
    assert all(callable(getattr(module, name)) for name in set(module.__all__) - {*TABLES})
    with pytest.raises(AttributeError, match="nowhere"):
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
