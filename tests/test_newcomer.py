"""A newcomer's family, signed majority: registered by one line, and from its file, the same."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from instances.spec import FAMILIES, VARIABLE

SIGNED = Path(__file__).parents[1] / "docs/examples/signed_majority.py"
SPEC = "signed-majority:d=7,m=3,noise=0"
TYPED = {"registered": "signed-majority", "file": "signed.py:SignedMajority"}
ZERO = "def zero(x, y):\n    return lambda new: 0.0 * new\n"


@pytest.fixture(params=["registered", "file"])
def typed(request, hardness, monkeypatch):
    """What a user types before the parameters."""
    Path("zero.py").write_text(ZERO)
    if request.param == "file":
        Path("signed.py").write_text(SIGNED.read_text())
    else:
        found = importlib.util.spec_from_file_location("instances.signed", SIGNED)
        module = importlib.util.module_from_spec(found)
        monkeypatch.setitem(sys.modules, "instances.signed", module)
        found.loader.exec_module(module)
        monkeypatch.setitem(FAMILIES.places, "signed-majority", "signed.SignedMajority")
    return TYPED[request.param]


def test_a_newcomers_file_is_short():
    assert len(SIGNED.read_text().splitlines()) <= 60


@pytest.mark.parametrize(
    "line",
    [
        "inspect SPEC",
        "learn lowdegree SPEC",
        "learn student:steps=50 SPEC --budget-examples 500",
        "verify SPEC --members 10 --samples 20000",
        "spectrum SPEC",
        "spectrum SPEC --learner lowdegree --budget-examples 3000",
        "distinguish lowdegree SPEC --trials 4 --jobs 1",
    ],
)
def test_a_command_works(hardness, typed, line):
    found = hardness(*line.replace("SPEC", f"{typed}:d=7,m=3").split(), "--json")
    assert found.code == 0, found.err
    assert found.json.get("spec", SPEC) == SPEC


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("certify SPEC --out c.json", "sq-dimension = "),
        ("certify SPEC --about gd --noise-std 1 --out c.json", "information-floor"),
        ("measures SPEC", "SQ-leap"),
        ("figure portrait SPEC --json", '"reads"'),
        ("figure correlations SPEC --json", '"correlation"'),
        ("figure walsh SPEC --json", '"weight"'),
        ("compare SPEC --over d=5,6 --learner trivial --seeds 1 --jobs 1", "certified"),
        ("compare SPEC --over d=5,6 --learner none", "sq-dimension"),
        ("stress --learner trivial --on SPEC --jobs 1", "trivial"),
    ],
)
def test_what_is_known_of_codes_and_tables_is_shown(hardness, typed, line, word):
    found = hardness(*line.replace("SPEC", f"{typed}:d=7,m=3").split())
    assert found.code == 0, found.err
    assert word in found.out
    if "c.json" in line:
        assert hardness("check", "c.json").code == 0


def test_a_command_names_the_capability_that_is_missing(hardness, typed):
    found = hardness("estimate", f"{typed}:d=7,m=3")
    assert found.code == 2
    found.one_line("signed-majority given: it lacks `linear_samples`", "take ")


def test_measures_are_of_the_member_that_is_stored(hardness, typed):
    hardness("generate", f"{typed}:d=7,m=3", "--seed", 5, "--out", "x")
    secret = json.loads(Path("x/secret.json").read_text())["secret"]
    assert hardness("measures", "x", "--json").json["member"] == secret
    Path("x/secret.json").unlink()
    hardness("measures", "x").one_line("the folder has no secret part")


@pytest.mark.parametrize("typed", ["registered"], indirect=True)  # of a file: below
def test_a_comparison_has_a_page(hardness, typed):
    line = f"compare {typed}:d=7,m=3 --over d=5,6 --learner trivial --seeds 1 --jobs 1 --out both"
    assert hardness(*line.split()).code == 0
    assert hardness("report", "both", "--out", "page.html").code == 0


def test_it_is_compared_over_sizes_in_worker_processes(hardness, monkeypatch):
    Path("zero.py").write_text(ZERO)
    Path("signed.py").write_text(SIGNED.read_text())
    learners = ("--learner", "lowdegree", "--learner", "zero.py:zero")
    over = ("signed.py:SignedMajority:m=3", "--over", "d=5,6", "--seeds", 1, "--jobs", 2)
    assert hardness("compare", *over, *learners, "--out", "c").code == 0
    found = json.loads(Path("c/results.json").read_text())
    assert found["specs"] == [f"signed-majority:d={d},m=3,noise=0" for d in (5, 6)]
    assert {one["outcome"] for one in found["runs"]} == {"partial", "learned nothing"}
    assert len(found["certificates"]) == 2
    named = ("--family", "signed.py:SignedMajority")
    monkeypatch.setenv(VARIABLE, "")  # as in another process
    assert hardness("report", "c", "--out", "r.html", *named).code == 0
    refused = hardness("report", "c", "--out", "r.html", "--force")
    assert refused.code == 1
    refused.one_line("results.json: unknown family 'signed-majority'", "--family")


SWEEP = """format = "hardness-sweep/1"
name = "sizes"
[[runs]]
spec = "signed-majority:m=3"
over = { d = [5] }
learners = ["lowdegree", "zero.py:zero"]
seeds = 1
"""


def test_a_sweep_runs_it_in_processes_and_again_where_its_file_was_edited(hardness):
    Path("zero.py").write_text(ZERO)
    Path("s.toml").write_text(SWEEP)
    refused = hardness("sweep", "plan", "s.toml")
    assert refused.code == 2
    refused.one_line("unknown family 'signed-majority'", "--family path.py:Name")
    named = ("--family", "signed.py:SignedMajority", "--store", "runs.db", "--jobs", 1)
    for more, runs, certificates in (("", 2, 1), ("# edited\n", 4, 2)):
        Path("signed.py").write_text(SIGNED.read_text() + more)
        assert hardness("sweep", "run", "s.toml", *named, "--resume").code == 0
        shown = hardness("store", "show", "runs.db").out
        assert f"runs.db: {runs} runs" in shown
        assert f"{certificates} certificate" in shown


def test_it_is_listed_and_shown(hardness, typed):
    shown = hardness("families", "show", typed, "--json").json
    assert shown["name"] == "signed-majority"
    assert {"coded", "factor", "hidden_function", "questions"} == set(shown["capabilities"])
    assert [p["name"] for p in shown["parameters"]] == ["d", "m", "noise"]
    listed = hardness("families", *(["--family", typed] if ".py" in typed else []), "--json").json
    assert "signed-majority" in [one["name"] for one in listed["families"]]


def test_a_stored_instance_is_read_again(hardness, typed, monkeypatch):
    assert hardness("generate", f"{typed}:d=7,m=3", "--examples", 200, "--out", "x").code == 0
    named = ["--family", typed] if ".py" in typed else []
    for line in ("inspect x", "verify x --members 5 --samples 9999", "learn lowdegree x"):
        found = hardness(*line.split(), *named, "--json")
        assert found.code == 0, found.err
        if named:
            monkeypatch.setenv(VARIABLE, "")  # as in another process
            found = hardness(*line.split())
            assert found.code == 1
            found.one_line("x/instance.json: unknown family 'signed-majority'", "--family")


def test_a_layer_that_is_not_the_formula_is_refused(hardness):
    text = SIGNED.read_text()
    for old in ("        theta[:, 0, 0] +=", "        theta[:, places, places] *="):
        lines = [line for line in text.splitlines() if not line.startswith(old)]
        Path("signed.py").write_text("\n".join(lines))
        found = hardness("verify", "signed.py:SignedMajority:d=7,m=3", "--samples", 9999)
        assert found.code == 3
        found.one_line("label formula")


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("@ np.sign(secret) < 0", "@ np.sign(secret) / 2", 2, "an integer, or a truth value"),
        ("@ np.sign(secret) < 0", "@ np.sign(secret) + 9", 2, "places in the 2 levels"),
        ("yield tuple", "yield 1, 2, 3; yield tuple", 2, "`members` lists more"),
        ("* 2**self.m", "", 2, "`members` lists more"),
        ("* 2**self.m", "* 3**self.m", 2, "`members` lists 32 different ones"),
        ("* 2**self.m", "* 0", 2, "its size is 0"),
        ("Fraction(1, 2))", "Fraction(1, 3))", 2, "its shares"),
        ("    d: int", "    levels = (1, 1)\n    d: int", 2, "levels"),
        ("    d: int", "    levels = (1.5, -1.5)\n    d: int", 2, "integers or Fractions"),
        ("    d: int", "    levels = (1, -1, 0.5)\n    d: int", 2, "integers or Fractions"),
        ("    d: int", "    spec = 'parity:d=5,m=3'\n    d: int", 2, "leave `spec` as it is"),
        (
            "        places = 1 +",
            "        raise SystemExit(0)\n        places = 1 +",
            1,
            "SystemExit",
        ),
        ("        return self.unsigned.known_constant", "        return 'x'", 1, "does not fit"),
    ],
)
def test_what_is_wrong_in_a_family_is_one_line(hardness, old, new, code, words):
    text = SIGNED.read_text()
    assert old in text
    Path("wrong.py").write_text(text.replace(old, new, 1))
    found = hardness("learn", "lowdegree:degree=1", "wrong.py:SignedMajority:d=5,m=3")
    assert found.code == code, found.err
    found.one_line(words)


def test_noise_that_no_level_reflects_is_refused(hardness):
    text = SIGNED.read_text().replace(
        "    d: int", "    levels = (1, -1, Fraction(1, 3))\n    d: int"
    )
    Path("three.py").write_text(text.replace("    shares =", "    _shares ="))
    found = hardness("learn", "lowdegree", "three.py:SignedMajority:d=5,m=3,noise=0.3")
    assert found.code == 2
    found.one_line("noise reflects levels")


def test_codes_that_are_not_the_formula_are_refuted(hardness):
    text = SIGNED.read_text() + (
        "\n    def label(self, secret, x):\n        return -super().label(secret, x)\n"
        "\n    def computed(self, secret, x):\n        return super().label(secret, x)\n"
    )
    Path("lies.py").write_text(text)
    found = hardness("verify", "lies.py:SignedMajority:d=5,m=3", "--members", "4")
    assert found.code == 3
    found.one_line("what its codes say")


def test_a_folder_with_a_semicolon_names_no_family(hardness):
    Path("a;b").mkdir()
    Path("a;b/signed.py").write_text(SIGNED.read_text())
    found = hardness("inspect", "a;b/signed.py:SignedMajority:d=5,m=3")
    assert found.code == 2
    found.one_line("without ;")
    Path("link.py").symlink_to(Path("a;b/signed.py").resolve())
    found = hardness("inspect", "link.py:SignedMajority:d=5,m=3")
    assert found.code == 2
    found.one_line("move the file")


def test_what_is_imported_later_is_not_looked_for_beside_a_family(hardness):
    Path("signed.py").write_text(SIGNED.read_text())
    assert hardness("inspect", "signed.py:SignedMajority:d=5,m=3").code == 0
    assert str(Path.cwd().resolve()) not in sys.path
