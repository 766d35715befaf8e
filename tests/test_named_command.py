"""`certify --about`: what it prints, what `check` makes of it, and what it refuses."""

import pytest

SPEC = "parity:d=101,m=4,noise=0.1"
LINES = {
    "kernel": "--about kernel --features 1e6",
    "noise": "--about gd --steps 100 --clip 1 --noise-std 0.01",
    "within": "--about gd --steps 100 --clip 2 --within 1/10",
    "grid": "--about gd --steps 3 --clip 1 --grid 1/8 --parameters 50",
    "batch": "--about gd --steps 5 --batch 3 --state-bits 8",
    "low-degree": "--about low-degree --degree 10 --examples 200",
    "sample": "--about low-degree --degree 10 --examples 200 --sample-degree 1",
}


@pytest.mark.parametrize("name", LINES)
def test_what_is_printed_is_what_check_accepts(hardness, name, tmp_path):
    made = tmp_path / "certificate.json"
    shown = hardness("certify", SPEC, *LINES[name].split(), "--out", made)
    assert shown.code == 0, shown.out
    told = hardness("check", made)
    assert told.code == 0
    assert told.out.startswith("accepted by the kernel: parity:d=101,m=4,noise=0.1")
    flat = " ".join(shown.out.lower().split())
    for line in told.out.splitlines()[1:]:
        assert line.strip().lower() in flat


def test_all_takes_what_is_not_given_by_default_and_names_what_has_no_claim(hardness):
    found = hardness("certify", SPEC, "--about", "all")
    assert found.code == 0
    for name in ("kernel-features", "gd-noise-steps", "low-degree-examples = "):
        assert name in found.out
    assert "degree at most 10" in found.out
    assert "deviation 1/100" in found.out
    many = hardness("certify", "profile:g=h**2,d=101,m=4", "--about", "all")
    assert many.code == 0
    assert "kernel-features" in many.out
    assert "gd: no claim" in many.out
    assert "low-degree: no claim" in many.out


REFUSED = [
    ("--about gd", 1, "no claim: one exact mean gradient can name the member"),
    ("--about gd --steps 10 --clip 1", 1, "no claim"),
    ("--about gd --batch 4", 1, "no claim: --batch is given without --state-bits"),
    ("--about gd --grid 0.1", 1, "no claim: --grid is given without --parameters"),
    ("--about all --batch 4", 1, "no claim: --batch"),
    ("--about gd --noise-std 0", 2, "noise-std=0 given"),
    ("--about gd --noise-std=-1", 2, "noise-std=-1 given"),
    ("--about gd --noise-std x", 2, "x given"),
    ("--about gd --within 0", 2, "within=0 given"),
    ("--about gd --clip 0 --noise-std 1", 2, "clip=0 given"),
    ("--about gd --grid=-1 --parameters 3", 2, "grid=-1 given"),
    ("--about gd --grid 1 --parameters 0", 2, "parameters=0 given"),
    ("--about gd --batch 0 --state-bits 3", 2, "batch=0 given"),
    ("--about gd --batch 3 --state-bits 0", 2, "state-bits=0 given"),
    ("--about gd --batch 3 --state-bits 3 --clip 1", 2, "--clip does not apply"),
    ("--about gd --noise-std 1 --steps 0", 2, "steps=0 given"),
    ("--about gd --noise-std 1 --within 1", 2, "--noise-std and --within given"),
    ("--about gd --noise-std 1 --parameters 9", 2, "--parameters does not apply"),
    ("--about gd --noise-std 1 --features 9", 2, "--features does not apply"),
    ("--about kernel --features 0", 2, "features=0 given"),
    ("--about kernel --features 456", 2, "features=456 given: 1 to 455"),
    ("--about kernel --features 1.5", 2, "1.5"),
    ("--about kernel --steps 5", 2, "--steps does not apply"),
    ("--about kernel --tau 0.2", 2, "--tau does not apply"),
    ("--about kernel --risk 1", 2, "risk=1 given"),
    ("--about low-degree", 2, "needs --degree"),
    ("--about low-degree --degree 0", 2, "degree=0 given"),
    ("--about low-degree --degree 81 --examples 20", 2, "degree=81 given"),
    ("--about low-degree --degree 8 --examples 0", 2, "examples=0 given"),
    ("--about low-degree --degree 8 --examples 5 --sample-degree 6", 2, "sample_degree=6 given"),
    ("--about low-degree --degree 8 --sample-degree 0", 2, "sample_degree=0 given"),
    ("--about network", 2, "network"),
    ("--features 5", 2, "--features needs --about"),
    ("--noise-std 1", 2, "--noise-std needs --about"),
]


@pytest.mark.parametrize(("line", "code", "words"), REFUSED)
def test_bad_requests_get_one_line_and_no_number(hardness, line, code, words):
    found = hardness("certify", "parity:d=16,m=3", *line.split())
    assert found.code == code
    assert not found.out
    found.one_line(words)


OWN = """
d = 4
Two = [lambda z: z[:, 0], lambda z: z[:, 1], lambda z: z[:, 0] * z[:, 1]]
Same = Two[:1] * 2
Real = [lambda z: z[:, 0] + z[:, 1], lambda z: z[:, 1]]


class Wide:
    d = 40
    functions = Two
"""


@pytest.mark.parametrize(
    ("source", "about", "why"),
    [
        ("own.py:Real", "kernel", "-1 and +1 alone"),
        ("own.py:Wide", "kernel", "-1 and +1 alone"),
        ("own.py:Same", "kernel", "all members are the same function"),
        ("own.py:Two", "gd --batch 2 --state-bits 2", "batches and a small state"),
        ("own.py:Two", "low-degree --degree 2", "polynomials of low degree"),
        ("own.py:Two", "gd", "one exact mean gradient"),
        ("own.py:Two", "all", "every bound is vacuous"),
    ],
)
def test_finite_families_without_a_claim(hardness, source, about, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    found = hardness("certify", source, "--about", *about.split())
    assert found.code == 1
    found.one_line("no claim: ", why)


@pytest.mark.parametrize(
    "about", ["kernel --features 1", "gd --noise-std 3 --steps 2", "all --risk 0.01 --success 1"]
)
def test_finite_families_have_claims_that_are_accepted(hardness, about, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    found = hardness("certify", "own.py:Two", "--about", *about.split(), "--out", "c.json")
    assert found.code == 0
    assert hardness("check", "c.json").code == 0
    wrong = hardness("certify", "own.py:Two", "--about", *about.split(), "--members", 4)
    assert wrong.code == 2
    wrong.one_line("1 to the 3")


def test_what_hardly_any_member_needs_is_vacuous_and_one_is_singular(hardness):
    few = hardness("certify", "parity:d=4,m=1", "--about", "all", "--risk", "0.9")
    assert few.out.count("vacuous") == 6
    one = hardness("certify", SPEC, "--about", "low-degree", "--degree", "5", "--examples", "1")
    assert "the mean of one over 1 examples" in " ".join(one.out.split())
    none = hardness("certify", SPEC, "--about", "low-degree", "--degree", "4")
    for end in ("", "-open"):  # no number of examples is enough, and none is named
        assert f"low-degree-advantage{end} = 0 " in none.out
        assert f"low-degree-examples{end}" not in none.out
    assert "over any number of examples" in " ".join(none.out.split())


def test_a_long_error_is_rounded_down(hardness):
    found = hardness("certify", "parity:d=1001,m=20", *["--about", "kernel", "--features", "1e9"])
    assert "at least about 9.99999e-1, if" in " ".join(found.out.split())
