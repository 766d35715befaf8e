"""Bad input of listed functions: one clear line that names file and function, nothing written."""

import json
from pathlib import Path

import numpy as np
import pytest

from instances import AttentionLayer, limits, save_layer

PLAIN = "import numpy as np\nd = 6\nfs = [lambda x: x[:, 0], lambda x: x[:, 1]]\n"
FILES = [
    ("x = (1,\n", "fs", "line 1"),
    ("import nosuchmodule\n", "fs", "hardness: ModuleNotFoundError: No module named"),
    (
        "1 / 0\n",
        "fs",
        "hardness: ZeroDivisionError: division by zero (mine.py: executing it, in line 1)",
    ),
    ("raise SystemExit(4)\n", "fs", "SystemExit"),
    ("\x00", "fs", "mine.py"),
    (PLAIN, "gs", "unknown name 'gs'"),
    ("d = 6\nfs = 3\n", "fs", "fs is of type int"),
    ("d = 6\nfs = []\n", "fs", "no functions"),
    ("d = 6\nfs = {}\n", "fs", "fs is of type dict"),
    ("d = 6\ndef fs(): return None\n", "fs", "NoneType"),
    ("d = 6\ndef fs(): return 1 / 0\n", "fs", "(mine.py: fs, called without arguments, in line 2)"),
    ("d = 6\ndef fs(x): return x\n", "fs", "TypeError"),
    ("d = 6\nfs = [3]\n", "fs", "member 0 is of type int"),
    ("fs = [lambda x: x[:, 0]]\n", "fs", "no d"),
    ("d = 0\nfs = [lambda x: x[:, 0]]\n", "fs", "d=0"),
    ("d = 'six'\nfs = [lambda x: x[:, 0]]\n", "fs", "d=six"),
    ("d = 6\nbound = -1\nfs = [lambda x: x[:, 0]]\n", "fs", "bound=-1"),
    ("d = 6\ndef f(x): return x[:, 9]\nfs = [f]\n", "fs", "IndexError"),
    ("d = 6\ndef f(x): return 1\nfs = [f]\n", "fs", "of shape () on points of shape"),
    ("d = 6\ndef f(x): return x\nfs = [f]\n", "fs", "(64,) are needed"),
    ("d = 6\ndef f(x): return x[:, 0] * 1j\nfs = [f]\n", "fs", "complex"),
    ("d = 6\ndef f(x): return [None] * len(x)\nfs = [f]\n", "fs", "object"),
    ("d = 6\ndef f(x): return x[:, 0] / (x[:, 1] - 1)\nfs = [f]\n", "fs", "function 0 (f) gives"),
    ("d = 6\ndef f(x): return x[:, 0] * float('nan')\nfs = [f]\n", "fs", "nan"),
    ("d = 6\ndef f(x): return 0 * x[:, 0]\nfs = [f, f]\n", "fs", "member 0 (f0) has the norm 0"),
    ("d = 6\ndef f(x):\n  x[:] = 1\n  return x[:, 0]\nfs = [f]\n", "fs", "read-only"),
    ("d = 6\ndef f(x): return x[:, 0] - x[0, 0]\nfs = [f]\n", "fs", "in another order"),
    ("import numpy as np\nd = 6\nfs = [lambda x: np.random.rand(len(x))]\n", "fs", "another order"),
    (PLAIN + "class C: d, functions, names = 6, fs, ['a', 'a']\n", "C", "'a' is given twice"),
    (PLAIN + "class C: d, functions, names = 6, fs, ['a']\n", "C", "one for each of 2"),
    (PLAIN + "fs[0].d, fs[1].d = 5, 6\n", "fs", "different domains"),
    (PLAIN + "fs[0].d = 5\n", "fs", "d=6 is given"),
    ("class C: d, functions = 6, 3\n", "C", "a int"),
    ("def f(x): return x[:, 0] * 1e200\nd = 6\nfs = [f, f]\n", "fs", "values that are no integers"),
]


@pytest.mark.parametrize(("text", "name", "word"), FILES)
def test_one_line_for_what_is_wrong_in_the_users_file(hardness, text, name, word):
    Path("mine.py").write_text(text)
    found = hardness("certify", f"mine.py:{name}", "--out", "c.json")
    assert found.code in (1, 2)
    found.one_line(word, "" if "member 0 (f0)" in word else "mine.py")
    assert found.out == ""
    assert [p.name for p in Path().iterdir()] == ["mine.py"]


def test_a_gram_matrix_beyond_memory_is_refused_before_any_work(hardness, monkeypatch):
    Path("mine.py").write_text(PLAIN + "many = fs * 500\n")
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 26)
    found = hardness("certify", "mine.py:many")
    assert found.code == 1
    found.one_line("Gram matrix of 1000 members", "memory")
    monkeypatch.undo()


def test_more_members_than_a_certificate_holds(hardness):
    Path("mine.py").write_text(PLAIN + "many = fs * 3000\n")
    found = hardness("certify", "mine.py:many")
    assert found.code in (1, 2)
    found.one_line("6000 members", "--members 5000")
    part = hardness("certify", "mine.py:many", "--members", 40, "--json")
    assert part.json["about"]["spec"].startswith("functions:d=6,members=40,")
    assert part.json["about"]["origin"]["of"] == "6000"


def test_layers_of_different_d_and_damaged_ones(hardness):
    Path("x").mkdir()
    for d in (2, 3):
        layer = AttentionLayer(theta=np.zeros((1, d, d)), w=np.eye(d)[None])
        save_layer(Path(f"x/{d}.npz"), layer)
    found = hardness("certify", "x")
    assert found.code == 2
    found.one_line("2.npz has d=2", "3.npz d=3")
    Path("x/3.npz").write_bytes(b"no layer")
    found = hardness("certify", "x")
    assert found.code == 1
    found.one_line("3.npz")
    np.savez("x/3.npz", q=np.eye(2), k=np.eye(2), v=np.eye(2), o=np.eye(2))
    found = hardness("verify", "x")
    assert found.code == 1
    found.one_line("3.npz", "a layer that `generate` or `save` wrote belongs here")


def test_what_the_file_prints_is_not_in_the_json(hardness):
    Path("mine.py").write_text(
        PLAIN + "print('hello')\ndef f(x):\n  print('f')\n  return x[:, 0]\n"
    )
    found = hardness("certify", "mine.py:fs", "--json")
    assert json.loads(found.out)["about"]["spec"].startswith("functions:d=6,members=2")
    assert "hello" in found.err


def test_the_file_is_executed_once_and_leaves_nothing(hardness):
    text = PLAIN + "with open('count', 'a') as out:\n  out.write('x')\n"
    Path("mine.py").write_text(text)
    assert hardness("certify", "mine.py:fs").code == 0
    assert Path("count").read_text() == "x"
    assert {p.name for p in Path().iterdir()} == {"mine.py", "count"}


def test_no_name_in_a_file_is_ever_executed(hardness):
    """A spec that stands in a folder or in results is data: code is named by who types it."""
    text = "open('executed', 'w').close()\n" + PLAIN
    hardness("generate", "parity:d=8,m=2", "--out", "x")
    compare = ("compare", "parity:m=2", "--over", "d=6", "--learner", "elimination", "--jobs", 1)
    assert hardness(*compare, "--out", "c").code == 0
    hardness("certify", "parity:d=8,m=2", "--out", "cert.json")
    Path("evil.py").write_text(text)
    for path in ("x/instance.json", "c/results.json", "cert.json"):
        data = json.loads(Path(path).read_text())
        data["spec"] = "evil.py:fs"
        if "certificates" in data:
            data["certificates"][0]["spec"] = "evil.py:fs"
        Path(path).write_text(json.dumps(data))
    for line in ("inspect x", "certify x", "report c --out r.html", "check cert.json"):
        found = hardness(*line.split())
        assert found.code in (1, 2, 3)
        found.one_line("")
    assert not Path("executed").exists()


@pytest.mark.parametrize("about", ["", "--about kernel", "--about gd --noise-std 1 --steps 10"])
@pytest.mark.parametrize(
    "rows",
    [
        "[f, lambda x: -f(x)]",
        "[f, f]",
        "[f, lambda x: 2 * f(x)]",
        "[f]",
        "[lambda x: f(x) / 2, lambda x: -f(x) / 2]",
    ],
)
def test_nothing_but_vacuous_bounds_is_no_claim(hardness, tmp_path, rows, about):
    path = tmp_path / "mine.py"
    path.write_text(f"f = lambda x: x[:, 0] * x[:, 1]\nd = 3\nrows = {rows}\n")
    found = hardness("certify", f"{path}:rows", *about.split(), "--out", "none.json")
    assert (found.code, found.out) == (1, "")
    found.one_line("no claim: ")
    assert not Path("none.json").exists()
