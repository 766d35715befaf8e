"""The checker alone: what it accepts in an empty directory, and what it has to refuse there."""

import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from hardness.bounds import BoundParameters, certify, checker
from hardness.bounds.checker import residues
from instances import parse
from tests.proofs import of_tables

SPECS = (
    "parity:d=8,m=3,noise=0.1",
    "profile:g=majority,d=8,m=3",
    "profile:g=[1,1,-1],d=6,m=2",
    "profile:g=[0,1,3],d=6,m=2",
    "lwr:n=3,q=8,p=2,secret=binary",
    "lwe:n=2,q=7,error=cbd,eta=1",
    "lwe:n=2,q=23,sigma=1,secret=gaussian,spread=1",
    "lwe:n=40,q=5,secret=gaussian,spread=1/4,error=none",
    "lpn:n=5,noise=0.1",
)


@pytest.fixture
def alone(tmp_path):
    """Run the checker with nothing but Python, on names of files beside it."""
    shutil.copytree(Path(checker.__file__).parent, tmp_path / "checker")

    def run(*names, how=("checker",)):
        asked = [sys.executable, "-I", "-S", *how, *names]
        return subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_one_of_each_kind_is_accepted_alone(alone, tmp_path):
    made = [certify(parse(spec)) for spec in SPECS]
    made += [
        certify(parse("profile:g=[1,-1,1],d=6,m=2"), BoundParameters(vstat=10)),
        certify(of_tables([[1, -1, 1, -1], [1, 1, -1, -1]])),
    ]
    for i, one in enumerate(made):
        (tmp_path / f"{i}.json").write_text(one.to_json())
    done = alone(*[f"{i}.json" for i in range(len(made))])
    assert (done.returncode, done.stderr) == (0, "")
    for certificate in made:
        for claim in certificate.claims:
            assert f"{claim.quantity} = {checker.short(claim.value)}" in done.stdout
            assert f"= {claim.closed_form}" in done.stdout
    assert alone().returncode == 2


def test_the_theorems_that_are_used_are_printed_with_their_proofs(alone, tmp_path):
    (tmp_path / "it.json").write_text(certify(parse(SPECS[0])).to_json())
    done = alone("--explain", "it.json")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("hidden_sets.subsets", "hidden_sets.characters", "theorem.queries_needed"):
        assert f"\n  {name}\n" in done.stdout
    assert "By Bessel" in done.stdout or "Bessel" in done.stdout
    assert "johnson" not in done.stdout


def test_the_worst_of_several_files_is_the_status(alone, tmp_path):
    data = certify(parse(SPECS[0])).to_dict()
    (tmp_path / "right.json").write_text(json.dumps(data))
    data["claims"][0][2] = "1"
    (tmp_path / "wrong.json").write_text(json.dumps(data))
    assert alone("right.json", "none.json").returncode == 1
    done = alone("wrong.json", "right.json", "none.json")
    assert done.returncode == 3
    assert done.stdout.startswith("accepted: right.json")
    assert len(done.stderr.splitlines()) == 2


def change(path, new):
    """A change of a certificate at a path; new: a value, or a function of the old one."""

    def made(data):
        *keys, last = [int(key) if key.isdigit() else key for key in path.split("/")]
        here = data
        for key in keys:
            here = here[key]
        here[last] = new(here[last]) if callable(new) else new

    return made


CHANGES = {
    "more claims than follow": change("claims", lambda claims: claims + [claims[0]] * 1000),
    "no claim": change("claims", []),
    "a number of 10^6 digits": change("terms/risk", "1/" + "9" * 10**6),
    "not a number": change("problem/places", float("nan")),
    "a surrogate": change("claims/0/0", "\ud800"),
    "a witness that is not read": change("witness", {"code": "none"}),
}
LISTED_CHANGES = {  # words of the reason: a change of a certificate of listed functions
    "the factor has not a line for each member": change("witness/eigenvalue/factor", ["1"]),
    "a line of the factor is not hexadecimal": change("witness/eigenvalue/factor/0", "1 x"),
    "over 16 digits a number": change("witness/eigenvalue/factor/0", "f" * 17),
    "the witness lacks eigenvalue": change("witness", {}),
    "a value is not in": change("problem/tables", [[[0], [1, -1]], [[0], [1, (1 << 31) + 1]]]),
    "nested too deep": change("origin", json.loads("[" * 500 + "]" * 500)),
}


def refused(done, status, count=1):
    """So many files are refused, in a line each."""
    assert (done.returncode, done.stdout) == (status, "")
    lines = done.stderr.splitlines()
    assert len(lines) == count
    assert max(map(len, lines)) < 400


TEXTS = {
    "nothing": "",
    "deep and open": '{"a":' * 10**5,
    "a name twice": '{"format": "hardness-certificate/3", "format": "hardness-certificate/3"}',
    "an exponent": "[1e999999999]",
    "not a number": "[NaN, Infinity]",
    "a long integer": "[" + "9" * 10**6 + "]",
    "quotes without an end": '\\"' * 100_000,
    "other digits": "[\u0661]",
    "a mark of order": "\ufeff{}",
    "brackets in a string": '["' + "[" * 10**5 + '"]',
}


def test_text_that_is_no_certificate_is_refused_in_a_line(alone, tmp_path):
    """Also a certificate that was changed, and a file of 100 megabytes."""
    texts = dict(TEXTS)
    for name, change in CHANGES.items():
        change(data := certify(parse(SPECS[0])).to_dict())
        texts[name] = json.dumps(data)
    for i, text in enumerate(texts.values()):
        (tmp_path / f"{i}.json").write_text(text, encoding="utf-8")
    with open(tmp_path / "long.json", "wb") as file:
        file.write(b"[")
        file.truncate(10**8)
    done = alone(*(f"{i}.json" for i in range(len(texts))), "long.json")
    refused(done, 3, len(texts) + 1)
    assert all(line.startswith("REFUSED: ") for line in done.stderr.splitlines())


def test_listed_functions_with_a_witness_that_is_not_theirs_are_refused_in_a_line(alone, tmp_path):
    for i, change in enumerate(LISTED_CHANGES.values()):
        change(data := certify(of_tables([[1, -1, 1, -1], [1, 1, -1, -1]])).to_dict())
        text = json.dumps(data).replace("[" * 500, "[" * 10**5)
        (tmp_path / f"{i}.json").write_text(text)
    done = alone(*(f"{i}.json" for i in range(len(LISTED_CHANGES))))
    refused(done, 3, len(LISTED_CHANGES))
    for words, line in zip(LISTED_CHANGES, done.stderr.splitlines(), strict=True):
        assert words in line


def test_what_cannot_be_read_is_not_checked(alone, tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{}")
    (tmp_path / "folder.json").mkdir()
    refused(alone("bytes.json", "folder.json", "none.json"), 1, 3)


LIMITS = {
    "memory": ("main.MEMORY = 1 << 28", "MemoryError"),
    # What never ends: the limit then ends it on every machine, however long it takes to start.
    "time": (
        """
def check(certificate):
    while True:
        pass
main.SECONDS, main.certificate.check = 0.1, check
""",
        "over 0.1 seconds",
    ),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_its_limits_hold_for_the_process(alone, tmp_path, limit):
    """Over the limit of memory or time a file is not checked, and nothing more happens."""
    content = "[" + "[]," * 4_000_000 + "[]]"
    (tmp_path / "it.json").write_text(content if limit == "memory" else "{}")
    change, said = LIMITS[limit]
    code = f"import sys; sys.path.append('.'); import checker.__main__ as main\n{change}\n"
    done = alone("it.json", how=("-c", code + "sys.exit(main.main(sys.argv[1:]))"))
    refused(done, 1)
    assert said in done.stderr


def secrets_of(entries, n=2, q=7, **numbers):
    """What is known of secrets whose entries have a law."""
    problem = {"kind": "residues", "n": n, "q": q, "bits": 40, "labels": "residue", "parts": q,
               "secret": {"weight": 0, "entries": entries}, "errors": None}  # fmt: skip
    witness = {"base": "1", "cut": 0, "weights": [], **numbers}
    return residues.secrets(checker.read_problem(problem), witness)[0]


def test_members_are_all_as_likely_only_where_their_law_says_so():
    assert secrets_of([-1, ["5", "5", "5"]]).law is None
    assert secrets_of([-1, ["1", "1000", "1"]]).law is not None
    # A base with which nothing is said of any secret, but the numbers add up as if all were alike.
    total, size = 1002**2 - 1000**2, 3**2 - 1
    base = checker.written(Fraction(total, size * 1000**2))
    assert secrets_of([-1, ["1", "1000", "1"]], base=base, cut=1).law is not None


def test_numbers_that_would_take_long_are_refused_at_once():
    base = "1/" + "7" * 3900
    for numbers in ({"cut": 1 << 16}, {"weights": [0, 1 << 16, 1 << 16]}):
        with pytest.raises(checker.Refused, match="too long"):
            secrets_of([-1, ["1", "8", "1"]], base=base, **numbers)
    with pytest.raises(checker.Refused, match="too long"):
        secrets_of([-1, ["1", "9" * 3900, "1"]], n=1 << 20)
