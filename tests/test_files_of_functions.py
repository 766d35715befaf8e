"""Files of functions are read once, and by name only where somebody typed it."""

import json
from pathlib import Path

from instances import limits

PLAIN = "import numpy as np\nd = 6\nfs = [lambda x: x[:, 0], lambda x: x[:, 1]]\n"


def test_a_gram_matrix_beyond_memory_is_refused_before_any_work(hardness, monkeypatch):
    Path("mine.py").write_text(PLAIN + "many = fs * 500\n")
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 26)
    found = hardness("certify", "mine.py:many")
    assert found.code == 1
    found.one_line("Gram matrix of 1000 members", "memory")
    monkeypatch.undo()


def test_some_of_more_members_than_a_certificate_holds(hardness):
    Path("mine.py").write_text(PLAIN + "many = fs * 3000\n")
    part = hardness("certify", "mine.py:many", "--members", 40, "--json")
    assert (part.json["spec"], len(part.json["origin"]["names"])) == ("many", 40)
    assert part.json["origin"]["of"] == "6000"


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
    assert hardness(*compare, "--out", "c.json").code == 0
    hardness("certify", "parity:d=8,m=2", "--out", "cert.json")
    Path("evil.py").write_text(text)
    for path in ("x/instance.json", "c.json", "cert.json"):
        data = json.loads(Path(path).read_text())
        data["spec"] = "evil.py:fs"
        Path(path).write_text(json.dumps(data))
    for line in ("inspect x", "certify x", "report c.json --out r.html", "check cert.json"):
        found = hardness(*line.split())
        if not line.startswith("report"):  # which shows what a file says
            assert found.code in (1, 2, 3)
            found.one_line("")
    assert not Path("executed").exists()
