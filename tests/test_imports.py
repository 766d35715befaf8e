"""Which module imports which: no circle, and no more than a command needs."""

import ast
import contextlib
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import grimp
import networkx
import pytest

import hardness
from hardness.cli.root import COMMANDS
from hardness.report import words
from hardness.runs.registry import LEARNERS
from instances.result import Result
from instances.spec import FAMILIES

MOST = 92  # modules of the project, of which there are over 500


def test_no_module_imports_itself_through_others():
    """A package and its own modules too, which the contract of import-linter does not look at."""
    graph = grimp.build_graph(
        "hardness", "instances", exclude_type_checking_imports=True, cache_dir=None
    )
    imports = networkx.DiGraph(
        (module, imported)
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    )
    circles = [sorted(c) for c in networkx.strongly_connected_components(imports) if len(c) > 1]
    assert circles == []


def imported(arguments):
    """All modules that a command has imported at its end."""
    code = f"""
import sys
import cli
try:
    cli.main({arguments})
except SystemExit as left:
    print("IMPORTED", *sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.rpartition("IMPORTED")[2].split()


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "trivial", "parity:d=16,m=3", "--budget-examples", "1000"],
        ["learn", "queries", "parity:d=16,m=3", "--budget-queries", "10"],
        ["learn", "elimination", "lwr:n=8,q=16,p=2,secret=binary,h=4"],
        ["learn", "trivial", "nice:m=1,k=2,d=6"],
        ["inspect", "parity:d=16,m=3"],
    ],
)
def test_a_run_imports_what_it_needs(arguments):
    modules = imported(arguments)
    own = [name for name in modules if name.partition(".")[0] in ("cli", "hardness", "instances")]
    assert "hardness.cli.root" in own
    assert len(own) <= MOST
    assert "scipy" not in modules


HEAVY = {"networkx", "numba", "pandas", "scipy", "sympy"}


def test_a_parity_is_certified_and_checked_without_what_is_slow_to_import(tmp_path):
    """In processes of their own; what makes and shows the certificate needs nothing of these."""
    file = str(tmp_path / "c.json")
    for arguments in (["certify", "parity:d=24,m=3", "--out", file], ["check", file]):
        modules = imported(arguments)
        roots = {name.partition(".")[0] for name in modules}
        assert "hardness.bounds.checker.hidden_sets" in modules
        assert HEAVY & roots == set(), arguments
        assert not [name for name in modules if name.startswith("hardness.lwe")], arguments
    assert Path(file).stat().st_size < 700


CLASSES = {kind.__name__ for kind in FAMILIES.values()}


@cache
def nodes():
    """All that stands in each file, by its path from the root."""
    files = [Path("cli.py"), *Path("hardness").rglob("*.py"), *Path("instances").rglob("*.py")]
    return {path: [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))] for path in files}


def classes_asked_for(nodes):
    """Where a family's class is asked for: by isinstance, issubclass, type() is, match; lines."""
    found = []
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                asked = [kinds]
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=asked):
                pass
            case ast.MatchClass(cls=kind):
                asked = [kind]
            case _:
                continue
        names = {n.id for one in asked for n in ast.walk(one) if isinstance(n, ast.Name)}
        names |= {n.attr for one in asked for n in ast.walk(one) if isinstance(n, ast.Attribute)}
        if names & CLASSES:
            found.append(node.lineno)
    return found


def test_no_single_family_is_asked_for_its_class():
    above = {path: there for path, there in nodes().items() if path.parts[0] != "instances"}
    assert not {path: lines for path in above if (lines := classes_asked_for(above[path]))}


@pytest.mark.parametrize("module", ["hardness.bounds", "hardness"])
def test_a_file_that_hides_the_instances_is_named(tmp_path, module):
    (tmp_path / "instances.py").write_text("mine = 1\n")
    (tmp_path / "cli.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "script.py").write_text(f"import {module}\n")
    found = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False
    )
    last = found.stderr.strip().splitlines()[-1]
    assert f"{tmp_path / 'instances.py'} is imported as `instances`" in last
    assert "rename your file" in last


def test_a_folder_of_data_or_a_cli_beside_a_script_hides_nothing(tmp_path):
    (tmp_path / "instances").mkdir()
    (tmp_path / "cli.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "script.py").write_text("from hardness.bounds import certify\nprint(certify)\n")
    command = [sys.executable, str(tmp_path / "script.py")]
    assert subprocess.run(command, capture_output=True, check=True).stdout


def test_no_module_names_a_module_of_the_project_above_it_as_text():
    """An import by name would not be seen by the contracts: `import_module("hardness.report")`."""
    rooms = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [line.split(" | ") for line in rooms[0]["layers"]]
    place = {room: i for i, line in enumerate(layers) for room in line}
    for path, there in nodes().items():
        own = place.get(".".join(path.parts[: 1 + (path.parts[0] == "hardness")]))
        for node in there if own is not None else ():
            if isinstance(node, ast.Constant) and str(node.value).startswith(("hard", "inst")):
                named = [room for room in place if f"{node.value}.".startswith(f"{room}.")]
                assert all(place[room] >= own for room in named), f"{path}: {node.value}"


def test_every_kind_of_result_that_is_written_exists():
    for info in pkgutil.walk_packages(hardness.__path__, "hardness."):
        if info.name.rpartition(".")[2] not in ("__main__", "child", "rules"):
            importlib.import_module(info.name)
    names, kinds = set(), [Result]
    while kinds:
        kinds += (kind := kinds.pop()).__subclasses__()
        names.add(kind.__name__)
    for table in (words._WORDS, words._CAPTIONS):
        assert set(table) <= names
        assert all(map(callable, table.values()))


ROOMS = [f"hardness.{room}" for room in ("runs", "bounds", "oracles", "learners")]


@pytest.mark.parametrize("package", ["hardness", "instances", *ROOMS])
def test_each_name_of_a_package_is_there_and_no_module_hides_it(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        with contextlib.suppress(ModuleNotFoundError):  # a module that is called as a function is
            importlib.import_module(f"{package}.{name}")
        assert callable(getattr(module, name)) or name == "datasets"
    assert set(module.__all__) == set(dir(module))
    with pytest.raises(AttributeError, match="nowhere"):
        module.nowhere  # noqa: B018


@pytest.mark.parametrize("table", [LEARNERS, FAMILIES, COMMANDS])
def test_tables_call_things_as_they_call_themselves(table):
    assert {name: kind.name for name, kind in table.items()} == {n: n for n in table}


def test_opening_a_file_of_runs_imports_little():
    code = "import sys; from hardness.runs.cache import *; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"scipy", "numba", "hardness.bounds.certify", "hardness.runs.comparison"}
    assert not heavy & {*done.stdout.split()}
