"""The pages on certificates and the checker name the same theorems."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from hardness.bounds import checker

DOCS = Path(__file__).parents[3] / "docs"
NAMED = re.compile(r"`(?:checker/)?(\w+)\.py::(\w+)`")


def theorems():
    """The functions marked as theorems, by the file and name of each."""
    listed = set()
    for module in pkgutil.iter_modules(checker.__path__):
        if module.name.startswith("__"):
            continue
        file = importlib.import_module(f"{checker.__name__}.{module.name}")
        source = inspect.getsource(file)
        listed |= {
            (module.name, name) for name in re.findall(r"^@theorem\ndef (\w+)", source, re.M)
        }
    return listed


def test_the_format_lists_each_theorem_once_and_no_other():
    tables = (DOCS / "certificate-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\.py::(\w+)` \|", tables, re.M)
    assert len(rows) == len(set(rows))
    assert set(rows) == theorems()
    assert len(rows) > 20


@pytest.mark.parametrize("page", ["mathematics.md", "named-mathematics.md"])
def test_pages_of_proofs_name_functions_that_exist(page):
    for module, name in NAMED.findall((DOCS / page).read_text(encoding="utf-8")):
        assert hasattr(importlib.import_module(f"{checker.__name__}.{module}"), name), name


def test_the_proof_of_each_theorem_is_on_a_page():
    pages = [DOCS / name for name in ("mathematics.md", "named-mathematics.md")]
    named = {pair for page in pages for pair in NAMED.findall(page.read_text(encoding="utf-8"))}
    assert theorems() <= named
