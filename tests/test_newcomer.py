"""A newcomer's family from its file, signed majority, by every command; the matrix has it too.

What `inspect`, `verify` and `families show` print of it is on the page docs/guides/add-a-family.md.
"""

import sys
from pathlib import Path

import pytest

from hardness.runs import read_runs
from instances.spec import USER_FAMILIES

SIGNED = Path(__file__).parents[1] / "docs/examples/signed_majority.py"
NAME, SPEC = "signed.py:SignedMajority", "signed.py:SignedMajority:d=7,m=3"
ZERO = "def zero(x, y):\n    return lambda new: 0.0 * new\n"
LINES = {  # with a word of what they say
    "learn lowdegree SPEC": "outcome",
    "spectrum SPEC": "",
    "distinguish lowdegree SPEC --trials 4 --jobs 1": "",
    "certify SPEC --out c.json; check c.json": "sq-dimension ",
    "figure correlations SPEC --json": '"correlation"',
    "figure walsh SPEC --json": '"weight"',
    "compare signed.py:SignedMajority:m=3 --over d=5,6 --learner none": "sq-dimension",
    "stress --learner trivial --on SPEC --jobs 1": "trivial",
}


@pytest.fixture
def signed(hardness):
    """The family of the examples in a file beside a learner, in the current folder."""
    Path("zero.py").write_text(ZERO)
    Path("signed.py").write_text(SIGNED.read_text())


def edited(old, new):
    """Write a family that differs."""
    text = SIGNED.read_text()
    assert old in text
    Path("signed.py").write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("lines", LINES)
def test_a_command_works(hardness, signed, lines):
    said = ""
    for line in lines.split("; "):
        found = hardness(*line.replace("SPEC", SPEC).split())
        assert found.code == 0, found.err
        said += found.out
    assert LINES[lines] in said


def test_it_is_compared_over_sizes_in_worker_processes(hardness, signed):
    over = ("signed.py:SignedMajority:m=3", "--over", "d=5,6", "--seeds", 1, "--jobs", 2)
    over += ("--learner", "zero.py:zero")
    assert "certified" in hardness("compare", *over, "--out", "c").out
    found = read_runs("c")
    assert list(found.specs) == [f"signed-majority:d={d},m=3,noise=0" for d in (5, 6)]
    assert {one.outcome.value for one in found.runs} == {"learned nothing"}
    assert len(found.certificates) == 2
    named = ("--family", "signed.py:SignedMajority")
    USER_FAMILIES.clear()  # as in another process
    missing = "No bounds are shown: name the family by --family path.py:Name."
    assert missing in hardness("report", "c").out
    found = hardness("report", "c", *named).out
    assert "certified" in found
    assert missing not in found
    USER_FAMILIES.clear()
    assert hardness("report", "c", "--out", "r.html", *named).code == 0
    refused = hardness("report", "c", "--out", "r.html", "--force")
    assert refused.code == 1
    refused.one_line("c: unknown family 'signed-majority'", "--family")


SWEEP = """name = "sizes"
[[grid]]
specs = "signed-majority:m=3"
over = { d = [5] }
learners = ["lowdegree", "zero.py:zero"]
seeds = 1
"""


@pytest.mark.slow
def test_a_sweep_runs_it_in_processes_and_again_where_its_file_was_edited(hardness, signed):
    Path("s.toml").write_text(SWEEP)
    refused = hardness("sweep", "s.toml", "--dry-run")
    assert refused.code == 2
    refused.one_line("unknown family 'signed-majority'", "--family path.py:Name")
    named = ("--family", "signed.py:SignedMajority", "--out", "runs.db", "--jobs", 1)
    for more, kept in (("", 2), ("# edited\n", 4)):
        Path("signed.py").write_text(SIGNED.read_text() + more)
        assert "runs.db: 2 runs" in hardness("sweep", "s.toml", *named).out
        assert len(read_runs("runs.db").runs) == kept


def test_it_is_listed_and_shown(hardness, signed):
    shown = hardness("families", "show", NAME, "--json").json
    assert shown["name"] == "signed-majority"
    assert [p["name"] for p in shown["parameters"]] == ["d", "m", "noise"]
    listed = hardness("families", "--family", NAME, "--json").json
    assert "signed-majority" in [one["name"] for one in listed["families"]]


def test_a_stored_instance_is_read_again_where_its_family_is_named(hardness, signed):
    told = ("--examples", 200, "--seed", 5, "--out", "x")
    assert hardness("generate", SPEC, *told).code == 0
    for line in ("inspect x", "verify x --members 5 --samples 9999", "learn lowdegree x"):
        found = hardness(*line.split(), "--family", NAME, "--json")
        assert found.code == 0, found.err
        USER_FAMILIES.clear()  # as in another process
        found = hardness(*line.split())
        assert found.code == 1
        found.one_line("x/instance.json: unknown family 'signed-majority'", "--family")


def first(line):
    """The text of the first field, and that with a line above it."""
    return "    d: Annotated", f"    {line}\n    d: Annotated"


THIRD = "Fraction(1, 3)"
WRONG = [  # old and new text, words of the one line that `learn` says; the noise, where it has one
    ("@ np.sign(secret) < 0", "@ np.sign(secret) / 2", "an integer, or a truth value"),
    ("yield tuple", "yield 1, 2, 3; yield tuple", "`members` lists more"),
    ("* 2**self.m", "* 3**self.m", "`members` lists 32 different ones"),
    ("* 2**self.m", "* 0", "its size is 0"),
    ("Fraction(1, 2))", "Fraction(1, 3))", "its shares"),
    (*first("levels = (1, 1)"), "levels"),
    (*first("levels = (1, -1, 0.5)"), "integers or Fractions"),
    (*first("spec = 'parity:d=5,m=3'"), "leave `spec` as it is"),
    ("        places = 1 +", "        raise SystemExit(0)\n        places = 1 +", "SystemExit"),
    ("        return self.unsigned.known_constant", "        return 'x'", "does not fit"),
    ("def draw", "def drawn", "the family SignedMajority lacks draw"),
    ('"signed-majority"', '"Signed Majority"', "small letters, digits and - is needed"),
    ('    about = "', '    about = "\\x1b[31m', "its about is "),
    (*first('label_text = "a\\x00"'), "its label_text is "),
    (*first('revision = "1\\x1b"'), "its revision is "),
    (*first("k = 3"), "k is 3: labels that are codes are of two tokens"),
    ("below=Fraction(1, 2)", "below=2", "noise is 3/4: the rate of flips must be in [0,", "3/4"),
    ("def check(self):", "def __post_init__(self):", "noise must be at least 0 and below", "3/4"),
    ("    shares =", f"    levels = (1, -1, {THIRD})\n    _shares =", "noise reflects", "0.3"),
    ('example = "signed-', 'example = "', "its example is "),
]
FAILS = ("SystemExit", "does not fit")  # in a run, and not when it is read


def test_what_is_wrong_in_a_family_is_one_line(hardness):
    for old, new, words, *noise in WRONG:
        edited(old, new)
        spec = ",noise=".join((f"{NAME}:d=5,m=3", *noise))
        found = hardness("learn", "lowdegree:degree=1", spec)
        assert found.code == (1 if words in FAILS else 2), (new, found.err)
        found.one_line(words)


def test_layers_and_codes_that_are_not_the_formula_are_refuted(hardness):
    lines = SIGNED.read_text().splitlines()
    for old in ("        theta[:, 0, 0] +=", "        theta[:, places, places] *="):
        Path("signed.py").write_text("\n".join(one for one in lines if not one.startswith(old)))
        found = hardness("verify", SPEC, "--samples", 9999)
        assert found.code == 3
        found.one_line("label formula")
    lines += ["    def label(self, secret, x):\n        return -super().label(secret, x)"]
    lines += ["    def computed(self, secret, x):\n        return super().label(secret, x)"]
    Path("signed.py").write_text("\n".join(lines))
    found = hardness("verify", SPEC, "--members", "4")
    assert found.code == 3
    found.one_line("what its codes say")


def test_what_is_imported_later_is_not_looked_for_beside_a_family(hardness, signed):
    assert hardness("inspect", SPEC).code == 0
    assert str(Path.cwd().resolve()) not in sys.path
