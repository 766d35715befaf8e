"""--format and the ending of --out: each command that prints a table, in each format, and back."""

import csv
import hashlib
import io
import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest

import hardness as h
from hardness import __version__
from hardness.report.export import FORMATS, cell, text
from hardness.runs import read_runs
from instances.result import Answer
from tests.latex import compiled
from tests.test_front_door import SWEEP
from tests.thresholds import thresholds

FEW = "--budget-examples 2000 --jobs 1 --quiet"
# A command, where in its JSON the rows of its table stand, and which of their numbers it shows.
COMMANDS = {
    "certify parity:d=8,m=3": ("claims", "value"),
    "bound parity:d=24,m=3": (None, None),
    "check c.json": (None, None),
    "estimate lwe:n=30,q=521,sigma=1.5": (None, None),
    "verify parity:d=8,m=3 --members 5 --samples 1000": (None, None),
    f"learn elimination parity:d=8,m=2 {FEW}": (".", "seed"),
    f"attack parity:d=8,m=2 --learner elimination {FEW}": ("attacks.0.runs", "risk"),
    f"compare parity:m=2 --over d=6,8 --learner elimination --seeds 2 {FEW}": ("runs", "risk"),
    f"least parity:d=6,m=2 --learner elimination --seeds 6 {FEW}": ("thresholds", "high"),
    f"stress --learner trivial --on parity:d=8,m=2 --reference none {FEW}": ("runs", "risk"),
    "stress --list": ("ladders", "name"),
    "distinguish trivial parity:d=6,m=1 --trials 4 --jobs 1 --budget-examples 2000": (
        "plays",
        "score",
    ),
    "spectrum parity:d=8,m=2": (None, None),
    "families": ("families", "name"),
    "families show parity": ("parameters", "name"),
    "learners": ("learners", "name"),
    "learners show student": ("parameters", "name"),
    "inspect parity:d=8,m=2": (None, None),
}
WORST, MADE = ("tau$ = 1/10", "any numbers within the tolerance"), f"with hardness {__version__}."
BOUND = (*WORST, "relative risk 1/4 with probability 2/3", "labels, of any learner", MADE)
SAID = {  # in the caption of a table, by the beginning of its command
    "certify": (
        *("any value within $\\tau$ = 1/10 of the expectation", "m=3", MADE),
        *("VSTAT(t) may return any value within $\\max(1/t, ", "levels, the number of values"),
    ),
    "bound": (
        *("any value within $\\tau$ = 1/10", "VSTAT(t) may return any value within $\\max(1/t, "),
        *("delta$ = 2/3", "d = 24, the dimension", "m = 3", MADE),
    ),
    "compare": (*BOUND, "seeds 0 to 1", "d = 6, 8"),
    "stress --learner": (*BOUND, "base seed"),
    "estimate": ("sigma=1.5", "not bounds", MADE),
}


@pytest.fixture
def command(hardness, tmp_path, store):
    for name, content in store.items():
        (tmp_path / name).write_bytes(content)
    return hardness


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A certificate and a store, made once."""
    import hardness as h

    folder = tmp_path_factory.mktemp("store")
    (folder / "s.toml").write_text(SWEEP)
    h.sweep(folder / "s.toml", folder / "runs.db", jobs=1)
    h.certify("parity:d=8,m=3").save(folder / "c.json")
    return {name: (folder / name).read_bytes() for name in ("runs.db", "c.json")}


def at(data, path):
    for key in path.split("."):
        data = data if not key else data[int(key)] if key.isdecimal() else data[key]
    return data if isinstance(data, list) else [data]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_format_holds_the_table(line, command, tmp_path):
    arguments = line.split()
    found = command(*arguments, "--json", "--out", "t.csv", "--force")
    assert found.code == 0, found.err
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    header, *body = rows
    assert body
    assert all(len(row) == len(header) == len(set(header)) for row in body)
    path, name = COMMANDS[line]
    if path:
        # A claim is its quantity, parameters and value.
        wanted = [one[2] if isinstance(one, list) else one[name] for one in at(found.json, path)]
        shown = [row[header.index(name)] for row in body][: len(wanted)]
        assert all(map(same, shown, wanted)), (shown, wanted)
    printed = command(*arguments, "--format", "latex", "--out", "t.md")
    assert printed.code == 0, printed.err
    checked_latex(printed.out)
    said = caption(printed.out)
    for start, wanted in SAID.items():  # tau, success, risk and oracle, seeds, the version
        assert not line.startswith(start) or all(word in said for word in wanted), said
    checked_markdown((tmp_path / "t.md").read_text())


def test_a_file_of_runs_is_a_table_in_every_format(command):
    frame = read_runs("runs.db").to_frame()
    printed = command("report", "runs.db", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert len(rows) == len(frame) == 4
    assert [row["outcome"] for row in rows] == frame["outcome"].tolist()
    checked_latex(command("report", "runs.db", "--format", "latex").out)
    checked_markdown(command("report", "runs.db", "--format", "markdown").out)


def test_thresholds_have_a_caption_with_the_terms_of_their_floor():
    found = thresholds()
    checked_latex(text("latex", found))
    said = caption(text("latex", found))
    wanted = (
        "parity:m=2, d=6, d=8, d=10, d=12, d=14: ",
        "medians of 9 instances",
        "risk 1/20 with probability 9/20",
        "labels",
        MADE,
    )
    assert all(word in said for word in wanted), said
    assert "queries" not in said
    assert "(2048, $\\infty$)" in text("latex", found)  # lowdegree, which never passes


def of_rows(rows):
    return Answer(data={}, message="", rows=rows)


def same(shown, value):
    if value is None:
        return shown == ""
    if isinstance(value, bool):
        return shown == str(value).lower()
    return float(shown) == value if isinstance(value, int | float) else shown.lstrip("'") == value


def checked_latex(text):
    """A tabular between its rules, every row of as many cells, nothing unescaped."""
    text, _, quoted = text.partition("\\end{table}\n\n")
    if quoted:
        text += "\\end{table}\n"
        checked_quotation(quoted)
    first, *lines = text.splitlines()
    named = re.fullmatch(r"% \\usepackage\{([a-z,]+)\}", first)[1].split(",")
    assert {"booktabs"} <= {*named} <= {"amsmath", "array", "booktabs", "graphicx"}
    assert ("amsmath" in named) == ("\\binom" in text + quoted)
    assert ("array" in named) == ("p{" in text)
    if "graphicx" in named:  # a table, which is no wider than the page
        opened, placed, said, space, fitted, *lines, end = lines
        assert space == "\\smallskip"
        assert (opened, end, lines[-1]) == ("\\begin{table}", "\\end{table}", "\\end{tabular}}")
        assert placed == "\\centering\\small"
        assert fitted.startswith("\\resizebox{")
        bare = re.sub(r"\\allowbreak |\$\\(tau|delta|epsilon|eta|max\([^$]*\))\$", "", said)
        bare = re.sub(r"\\(texttt\{certify\}|text\w+(\{\})?|[&%$#_{}])", "", bare)
        assert re.fullmatch(r"\\caption\{[^&%$#_^~\\{}]* Made with hardness [\d.]+\.\}", bare), bare
        lines[-1] = "\\end{tabular}"
    filled = re.sub(r">\{\\raggedright\\arraybackslash\}p\{[\d.]+em\}", "p", lines[0])
    columns = len(re.fullmatch(r"\\begin\{tabular\}\{([lrp]+)\}", filled)[1])
    assert (lines[1], lines[3], lines[-2:]) == (
        "\\toprule",
        "\\midrule",
        ["\\bottomrule", "\\end{tabular}"],
    )
    for row in [lines[2], *lines[4:-2]]:
        cells = re.split(r"(?<!\\) & ", row.removesuffix(" \\\\"))
        assert row.endswith(" \\\\")
        assert len(cells) == columns
        for one in cells:
            if one.startswith(r"$") and re.search(r"\\binom|\\l(ceil|floor)|\d\^", one):
                assert one.count("$") == 2  # a formula of ours: see test_formulas
                assert one.count("{") == one.count("}")
                continue
            bare = re.sub(
                r"\$\\infty\$|"
                r"\\cite\{[\w, ]+\}|\$(\d\.\d+\\ldots\\times)?(\d+|[a-z])\^\{[\d.]+\}\$|^\{\}",
                "",
                one,
            )
            bare = re.sub(r"\\(text\w+(\{\})?|[&%$#_{}^~])", "", bare)
            assert not re.search(r"[&%$#_^~\\]", bare), one
            assert bare.count("{") == bare.count("}")


def checked_quotation(text):
    """Formulas, a sentence, then comments with the entries of what it cites, and of the table."""
    said, _, bibtex = text.partition("\n\n% BibTeX:\n")
    *formulas, said = said.split("\n\n")
    displayed = (
        r"\\noindent [\w-]+(, if \$[^$]+\$)?(; a query [\w ]+\$r = [^$]+\$ members)?:\n\\\[ .* \\\]"
    )
    assert all(re.fullmatch(displayed, one) for one in formulas), formulas
    bare = re.sub(r"\\allowbreak |\\cite\{\w+\}|\$[^$]+\$", "", said)
    bare = re.sub(r"\\text\w+(\{\})?|\\[&%$#_{}]", "", bare)
    assert not re.search(r"[&%$#_^~\\{}\n]", bare), bare
    assert all(line.startswith("%") for line in bibtex.splitlines())
    keys = re.findall(r"^% @\w+\{(\w+),$", bibtex, re.M)
    assert {*re.findall(r"\\cite\{(\w+)\}", said)} <= {*keys}
    assert keys[-1] == "hardness"


def test_a_certificate_in_latex_ends_with_a_sentence_and_its_sources(hardness):
    found = hardness("certify", "parity:d=32,m=5", "--format", "latex").out
    said = found.partition("\\end{table}\n\n")[2]
    assert said.startswith(
        "For the family parity:d=32,\\allowbreak m=5: Every SQ learner needs at least 4531 "
        "queries to STAT(1/10) to reach relative risk 1/4 with probability 2/3 over a random "
        "member, in the worst case over admissible answers (after \\cite{BFJKMR94}). Every SQ"
    )
    assert re.findall(r"^% @\w+\{(\w+),$", said, re.M) == [
        "BFJKMR94", "CL24", "FGRVX17", "hardness"
    ]  # fmt: skip
    trivial = hardness("certify", "parity:d=4,m=1", "--format", "latex").out
    assert "neither that it is easy to learn nor that it is hard" in trivial


PAPER = {
    "certify": lambda: h.certify("parity:d=100,m=10"),
    "certify-listed": lambda: h.certify("docs/examples/majorities.py:threes"),
    "certify-lwe": lambda: h.certify(
        "lwr:n=64,q=65536,p=2,secret=binary", about="lwe", examples=5461, error_bound=3, risk="1/5"
    ),
    "certify-all": lambda: h.certify("parity:d=32,m=4", about="all"),
    "bound": lambda: h.bound("parity:d=32,m=3"),
    "bound-profile": lambda: h.bound("profile"),
    "bound-residues": lambda: h.bound("lwr:n=64,q=256,p=2"),
    "bound-solved": lambda: h.bound("parity:d=512", solve="m", queries=2**128, tau="1/100"),
    "estimate": lambda: h.estimate("lwe:n=30,q=521,sigma=1.5"),
    "estimates": lambda: h.estimate(["lwr:n=16,q=64,p=2", "lwe:n=30,q=521,sigma=1.5"]),
    "compare": lambda: h.compare("parity:m=2", over="d=6..8", learner=["trivial"], seeds=2),
    "least": thresholds,
}


@pytest.mark.slow
def test_what_stands_in_a_paper_compiles_with_its_sources(tmp_path):
    """With the packages that it names and no others; no line of a table is too wide."""
    bodies, entries = [], {}
    for make in PAPER.values():
        body, _, quoted = text("latex", make()).partition("% BibTeX:\n")
        bodies.append(body)
        for entry in quoted.replace("% ", "").replace("%\n", "\n").strip().split("\n\n"):
            entries[entry.partition(",")[0]] = entry
    assert "@misc{hardness" in entries
    wide = compiled("\n\\clearpage\n".join(bodies), tmp_path, "\n\n".join(entries.values()))
    assert all(points < 25 for points in wide), wide  # a number of 12 digits, or a long condition


def test_formulas_and_listed_functions_say_where_they_come_from():
    written = text("latex", h.bound("parity:d=24,m=3"))
    assert "For the family parity:d=24,\\allowbreak m=3: SQ-DIM, the largest N" in written
    assert re.findall(r"^% @\w+\{(\w+),$", written, re.M) == ["BFJKMR94", "FGRVX17", "hardness"]
    listed = h.certify("docs/examples/majorities.py:threes")
    digest = hashlib.sha256(Path("docs/examples/majorities.py").read_bytes()).hexdigest()
    assert f"56 functions of `majorities.py:threes`, SHA-256 {digest}" in listed.caption()
    some = h.certify("docs/examples/majorities.py:threes", members=9)
    assert "9 of 56 functions of `majorities.py:threes`, SHA-256 " in some.caption()


@pytest.mark.slow
def test_every_table_compiles_and_fits_the_page(command, tmp_path):
    """Names that LaTeX would read as commands, or has no letters of, among them."""
    strange = "a|b_%$#&{}~^ é 格 ≥ −.py"
    (tmp_path / strange).write_text("def f(z, s):\n    return lambda z: 0 * z[:, 0]\n")
    own = ["learn", f"{strange}:f", "parity:d=6,m=1", *FEW.split()[-3:]]
    for line in (*map(str.split, COMMANDS), own):
        found = command(*line, "--format", "latex")
        assert found.code == 0, found.err
        wide = compiled(found.out, tmp_path)
        assert not wide or "table" not in found.out.split("}")[1], (line, wide)
    assert "a\\textbar{}b" in found.out


def checked_markdown(text):
    rows = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines()]
    assert len(set(rows)) == 1
    assert re.fullmatch(r"(\|-+)+\|", text.splitlines()[1])


def test_parquet_holds_what_csv_holds(command, tmp_path):
    pytest.importorskip("pyarrow")
    for line in ("certify parity:d=1000,m=21", "estimate lwe:n=30,q=521,sigma=1.5"):
        for ending in ("csv", "parquet"):
            out = ["--out", f"t.{ending}", "--force"]
            assert command(*line.split(), *out).code == 0
        read = pd.read_parquet(tmp_path / "t.parquet")
        assert list(read.columns) == list(pd.read_csv(tmp_path / "t.csv").columns)
        with (tmp_path / "t.csv").open(newline="") as file:
            for row, stored in zip(csv.DictReader(file), read.to_dict("records"), strict=True):
                for name, value in stored.items():
                    gone = value is None or (isinstance(value, float) and math.isnan(value))
                    value = None if gone or value is pd.NA else value
                    assert same(row[name], value), (name, value)


def test_json_is_what_it_was_and_the_ending_rules_the_file(hardness, tmp_path):
    line = ["certify", "parity:d=8,m=3"]
    assert hardness(*line, "--out", "c.tex").code == 0
    checked_latex((tmp_path / "c.tex").read_text())
    plain = hardness(*line, "--json")
    assert hardness(*line, "--format", "json").out == plain.out
    for name in ("c.json", "certificate"):
        assert hardness(*line, "--format", "markdown", "--out", name, "--force").code == 0
    assert json.loads((tmp_path / "c.json").read_text()) == plain.json
    assert (tmp_path / "certificate").read_text().startswith("| quantity ")
    assert hardness(*line, "--out", "other").code == 0
    assert json.loads((tmp_path / "other").read_text()) == plain.json
    assert set(FORMATS) == {"json", "csv", "latex", "markdown", "parquet"}


def test_a_number_of_which_digits_are_left_out_says_so_in_latex(hardness):
    """Rounded, the upper end of an interval would be below the value."""
    found = hardness("certify", "lwe:n=30,q=521,sigma=1.5", "--format", "latex").out
    checked_latex(found)
    rows = {line.split(" & ")[0]: line.split(" & ") for line in found.splitlines()}
    kind = {name: row[4] for name, row in rows.items() if len(row) > 4}
    assert kind["sq-dimension"] == "interval"
    long = r"$3.19986\ldots\times10^{81}$"  # 3.199867...e81
    assert rows["sq-dimension"][1] == f"2251079467..{long}"
    assert rows["orthogonal-members"][1] == long


def test_only_numbers_are_formulas_in_latex():
    names = ["2^20.py:f", "1.23456...e30 (31 digits).py:f", "[3cm]x.py:f", "*x.py:f", "$x$.py:f"]
    values = ["2^20.9", "1.23456...e30 (31 digits)", 12, "<50", None]
    rows = [{"learner": n, "value": v} for n, v in zip(names, values, strict=True)]
    found = text("latex", of_rows(rows))
    checked_latex(found)
    body = [line.removesuffix(r" \\").split(" & ") for line in found.splitlines()[5:-2]]
    assert [row[0] for row in body] == [
        *(r"2\textasciicircum 20.py:f", "1.23456...e30 (31 digits).py:f"),
        *("{}[3cm]x.py:f", "{}*x.py:f", r"\$x\$.py:f"),
    ]
    assert [row[1] for row in body[:2]] == ["$2^{20.9}$", r"$1.23456\ldots\times10^{30}$"]
    assert found.splitlines()[1] == r"\begin{tabular}{lr}"


def caption(text):
    return next(iter(re.findall(r"\\caption\{(.*)\}", text)), "")


def test_names_are_no_markup_in_markdown():
    names = ["__proto__.py", "&lt;b&gt;.py", "#1 @you", "http://a.example", "www.a.example"]
    rows = [{"learner": name} for name in names]
    found = text("markdown", of_rows(rows)).splitlines()[2:]
    assert [re.sub(" +", " ", line) for line in found] == [
        *(r"| \_\_proto\_\_.py |", r"| \&lt;b\&gt;.py |", r"| \#1 \@you |"),
        *(r"| http\://a.example |", r"| www\.a.example |"),
    ]


def test_what_begins_a_formula_anywhere_is_text_in_csv_and_a_number_is_not():
    for start in "=+-@\t\r\n\ufeff\uff1d\uff0b\uff0d\uff20":
        assert cell(f"{start}1+1.py:f") == f"'{start}1+1.py:f"
    for number in ("-1/7", "-12", "+3"):
        assert cell(number) == number
