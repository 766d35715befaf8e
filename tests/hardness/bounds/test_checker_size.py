"""How much a reader of the checker has to read, in all and for a parity."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import hardness
from hardness.bounds import checker

ROOM = Path(checker.__file__).parent
TRACE = """
import json, runpy, sys

room, path = sys.argv[1:]
ran = set()

def note(frame, event, argument):
    if event != "call":
        return
    code, local = frame.f_code, frame.f_locals
    if code.co_filename.startswith(room):
        ran.add((code.co_filename, code.co_name, code.co_firstlineno))
    if code.co_varnames[:1] in (("self",), ("_cls",)):  # of a data class, of a named tuple
        made = local[code.co_varnames[0]]
        made = made if isinstance(made, type) else type(made)
        if made.__module__.partition(".")[0] == "checker":
            ran.add((room + "/" + made.__module__.partition(".")[2] + ".py", made.__name__, 0))

sys.argv, code = ["checker", path], 0
sys.setprofile(note)
try:
    runpy.run_path(room, run_name="__main__")
except SystemExit as end:
    code = end.code
sys.setprofile(None)
print("ran", json.dumps(sorted(ran)))
sys.exit(code)
"""


def lines_that_run(path):
    """Lines of functions that run, of classes that objects are made of, of modules' docstrings."""
    command = [sys.executable, "-I", "-S", "-c", TRACE, str(ROOM), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    ran = {tuple(entry) for entry in json.loads(done.stdout.rpartition("ran ")[2])}
    lines = set()
    for file in ROOM.glob("*.py"):
        tree, here = ast.parse(file.read_text()), set()
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            at = 0 if isinstance(node, ast.ClassDef) else first
            if (str(file), node.name, at) in ran:
                here.update((file, line) for line in range(first, node.end_lineno + 1))
        if here:
            here.update((file, line) for line in range(1, tree.body[0].end_lineno + 1))
        lines |= here
    return lines


def test_the_checker_is_short():
    lines = sum(len(file.read_text().splitlines()) for file in ROOM.glob("*.py"))
    assert lines <= 2000


def test_the_certificate_of_a_parity_needs_less_than_600_lines(tmp_path):
    path = tmp_path / "parity.json"
    path.write_text(hardness.certify("parity:d=24,m=3").to_json())
    lines = lines_that_run(path)
    text = {file.name: file.read_text().splitlines() for file, _ in lines}
    read = {text[file.name][line - 1].strip() for file, line in lines}
    assert "class HiddenSets(NamedTuple):" in read
    assert any(line.startswith("def queries_needed(") for line in read)
    assert "class Directions(NamedTuple):" not in read
    assert len(lines) < 600, {name: sum(file.name == name for file, _ in lines) for name in text}
