"""The command line is a contract: every command with --json, its field names and exit codes."""

import json
import re
from pathlib import Path

from hardness import __version__
from hardness.report import citation
from hardness.report.citation import TOOLKIT

ROOT = Path(__file__).parent.parent

RUN = {"spec", "learner", "seed", "outcome", "advice", "risk", "risk_low", "risk_high"}
RUN |= {"examples", "queries", "membership_queries", "seconds", "memory", "limited_by"}
RUN |= {"key", "family", "parameters", "sandboxed", "secret_recovered", "details"}
SWEEP = """
name = "few"
seeds = 2
learners = ["queries", "mlp"]
[[grid]]
specs = ["parity:d=8,m=2", "nice:m=1,k=3,d=4", "lwr:n=12,q=4,p=2"]
"""
# Lines that are run one after another with --json, and the names in what they print: all of them,
# or these among others. Below, names in a list of rows.
FIELDS = [
    ("families", "= families catalog"),
    ("families show parity", "= name about example parameters revision labels"),
    ("learners show student", "= name about access view parameters revision"),
    (
        "generate parity:d=20,m=3 --examples 300 --out x",
        "= spec folder examples shards commitments",
    ),
    (
        "inspect parity:d=12,m=4",
        "spec members heads k d A evidence layer information_exponent leap sq_leap",
    ),
    (
        "verify parity:d=12,m=3 --members 9 --samples 2000",
        "spec agrees members samples confidence inequality radius largest_deviation "
        "disagreeing_pairs sq_dimension layer",
    ),
    (
        "certify parity:d=1000,m=21 --out c.json",
        "= format spec problem terms witness claims",
    ),
    ("check c.json", "= file accepted spec assumed claims"),
    ("learn student:steps=20 parity:d=10,m=2", " ".join(RUN)),
    (
        "compare parity:m=2 --over d=6,8 --learner elimination --learner queries --seeds 1 --out c",
        "format spec parameter values runs certificates",
        ("runs", " ".join(RUN)),
    ),
    (
        "least parity:d=6,m=2 --learner elimination --seeds 6 --out l",
        "= format spec parameter specs learners seeds seed unit budget total tau pilots thresholds "
        "cells scaling",
        (
            "cells",
            "= value spec learner least interval confidence range ends floor ratio runs seconds",
        ),
        ("thresholds", "asked tried low high end seconds lost revisions versions machine"),
    ),
    ("report c --out r.html", "source report runs"),
    (
        "sweep s.toml --dry-run",
        "= name runs parts left_out",
        ("left_out", "grid learner specs why"),
    ),
]
FOLLOWS = {"cells", "values", "scaling"}  # from what the file holds
KEPT = {"certify": "c.json"}


def test_names_in_json_and_what_a_file_keeps_of_it(hardness):
    Path("s.toml").write_text(SWEEP)
    for line, fields, *rows in FIELDS:
        found = hardness(*line.split(), "--json")
        assert (found.code, found.err) == (0, ""), line
        fits(found.json, fields, line)
        for place, names in rows:
            listed = found.json
            for part in place.split("/"):
                listed = listed[part]
            for one in listed:
                fits(one, names, f"{line}: {place}")
        for command, file in KEPT.items():
            if line.startswith(command):
                kept = json.loads(Path(file).read_text())
                left = FOLLOWS
                assert kept == {k: v for k, v in found.json.items() if k not in left}, line
    assert found.json["runs"] == 8
    for folder in ("c", "l"):
        assert sorted(path.name for path in Path(folder).iterdir()) == ["runs.db"]


def fits(data, fields, line):
    wanted = set(fields.removeprefix("= ").split())
    assert wanted == set(data) if fields.startswith("= ") else wanted <= set(data), line


def test_families_and_learners(hardness):
    assert hardness("families", "list", "--json").json == hardness("families", "--json").json
    listed = hardness("learners", "list", "--json").json["learners"]
    assert " ".join(one["name"] for one in listed) == (
        "queries elimination lowdegree student mlp pooled staged levenberg transformer attention "
        "linear lifted "
        "bruteforce mitm restricted bkw modlinear primal dual trivial flips"
    )
    shown = hardness("learners", "show", "student", "--json").json
    assert {p["name"]: p["default"] for p in shown["parameters"]}["optimizer"] == "adam"


def test_inspect_a_spec(hardness):
    found = hardness("inspect", "parity:d=12,m=4", "--json").json
    assert len(found["layer"]["heads"]) == found["heads"] == 5
    assert found["response_error"] < 1e-12
    text = hardness("inspect", "parity:d=12,m=4").out
    secrets = hardness("inspect", "parity:d=12,m=4", "--seed", 1).out
    assert text == secrets  # nothing said depends on which member it is


def test_integers_are_written_alike_everywhere(hardness):
    for line in (
        "student:steps=20 parity:d=8,m=2 --budget-examples 20000",
        "student:steps=2e1 parity:d=8e0,m=2 --budget-examples 2e4",
    ):
        found = hardness("learn", *line.split(), "--json").json
        assert found["learner"].endswith(",steps=20")
        assert found["budget"]["examples"] == 20000


def test_a_paper_is_credited_with_its_own_families_alone(hardness):
    own = "this certificate"
    for spec, quantity, credit in (
        ("parity:d=16,m=3", "pairwise-correlation", "CL24"),
        ("hidden:d=16,hard=3,nice=1", "pairwise-correlation", own),
        ("lwe:n=8,q=17,sigma=1", "orthogonal-members", "Regev05"),
    ):
        found = hardness("certify", spec, "--out", "own.json", "--force").out
        line = next(one for one in found.splitlines() if one.startswith(f"{quantity} "))
        assert line.endswith("[here]" if credit == own else f"[{credit}]"), spec
        assert hardness("check", "own.json").code == 0


def test_every_source_of_a_claim_has_bibtex_with_the_facts_of_the_references():
    entries = re.findall(
        r"^@\w+\{(\w+),\n(.*?)^\}",
        (ROOT / "hardness/report/references.bib").read_text(),
        re.M | re.S,
    )
    rooms = "\n".join(path.read_text() for path in (ROOT / "hardness/bounds/checker").glob("*.py"))
    cited = re.findall(r'"([A-Z][A-Za-z]*\d\d)"', rooms)
    assert {*cited, TOOLKIT} == {key for key, _ in entries}
    listed = " ".join((ROOT / "docs/references.md").read_text().split())
    for key, entry in entries:
        if key == TOOLKIT:
            continue
        [about] = re.findall(rf"\*\*{key}\*\* (.*?) Used for:", listed)
        plain = " ".join(entry.replace("{", "").replace("}", "").split())
        [title] = re.findall(r"\btitle = (.*?),(?= \w+ = )", plain)
        assert title in about, key
        [authors] = re.findall(r", author = (.*?),(?= \w+ = )", plain)
        names = [" ".join(reversed(one.split(", "))) for one in authors.split(" and ")]
        assert about.startswith(", ".join(names)), key
        for number in re.findall(
            r"(?:year|volume|pages|note) = (?:arXiv:|Article )?([\d.-]+)", plain
        ):
            assert number.strip(".").replace("--", "–") in about, (key, number)


def test_the_software_is_cited_as_it_is():
    said = (ROOT / "CITATION.cff").read_text()
    plain = " ".join(citation.entries()[TOOLKIT].replace("{", "").replace("}", "").split())
    for field in ("title", "name"):
        assert re.findall(rf'\b{field}: "(.*)"', said)[0] in plain
    assert f"note = Version {__version__}," in plain
    assert f"\nversion: {__version__}\n" in said
