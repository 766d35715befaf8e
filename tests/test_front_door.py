"""`import hardness`: each function, what it gives back, and errors as commands say them."""

import inspect
import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from threading import Lock

import pandas as pd
import pytest

import hardness as h
from instances import AlreadyExists, DamagedFile, parse
from tests.reports import Shown

SWEEP = """name = "small"
seeds = 2
[[grid]]
specs = "parity:m=2"
over = { d = [6, 8] }
learners = ["elimination"]
"""
MADE = {
    "certify": lambda: h.certify("parity:d=8,m=3"),
    "check": lambda: h.check(h.certify("parity:d=8,m=3")),
    "verify": lambda: h.verify("parity:d=8,m=3", members=5, samples=1000),
    "learn": lambda: h.learn("elimination", "parity:d=8,m=2"),
    "game": lambda: h.learn("queries", "parity:d=6,m=1", oracle="adversary", seed=0),
    "attack": lambda: h.attack("parity:d=8,m=2", "elimination", seeds=2, jobs=1),
    "compare": lambda: h.compare("parity:m=2", "d=6..8", ["elimination"], seeds=2, jobs=1),
    "least": lambda: h.least("parity:m=2", "elimination", "d=6,8", seeds=6, jobs=1),
    "stress": lambda: h.stress("trivial", on="parity:d=8,m=2", reference=[], seed=1, jobs=1),
    "estimate": lambda: h.estimate("lwe:n=30,q=521,sigma=1.5"),
}
ROWS = {  # of the DataFrame: claims, statements, comparisons, runs, attacks
    **{"certify": 5, "check": 5, "verify": 2, "learn": 1, "game": 1, "attack": 2},
    **{"compare": 6, "least": 12, "stress": 5, "estimate": 17},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One result of every function."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "small.toml").write_text(SWEEP)
    swept = h.sweep(folder / "small.toml", folder / "runs.db", jobs=1)
    return {**{name: make() for name, make in MADE.items()}, "sweep": swept}


@pytest.mark.parametrize("name", [*MADE, "sweep"])
def test_a_result_prints_and_goes_into_tables_and_files(made, name, tmp_path):
    found = made[name]
    assert isinstance(found, h.Result)
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 80
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == ROWS.get(name, 4)
    data = json.loads(json.dumps(found.to_dict()))
    assert data == json.loads(found.to_json())
    inert(found._repr_html_())
    for ending in ("json", "csv", "tex", "md", "parquet"):
        path = tmp_path / f"result.{ending}"
        if ending == "parquet" and find_spec("pyarrow") is None:
            continue
        found.save(path)
        with pytest.raises(AlreadyExists, match="kept"):
            found.save(path)
        found.save(path, force=True)
        assert sorted(tmp_path.iterdir())[0].name.startswith("result.")  # no draft is left
    held = found.filed()  # without what follows from it
    assert json.loads((tmp_path / "result.json").read_text()) == json.loads(json.dumps(held))
    assert list(pd.read_csv(tmp_path / "result.csv").columns) == list(frame.columns)
    with pytest.raises(h.ToolkitError, match=r"must end in \.json"):
        found.save(tmp_path / "result.xls")


def inert(text):
    """Nothing is opened but the table."""
    for tag, attributes in Shown(text).tags:
        assert tag in ("pre", "table", "caption", "thead", "tbody", "tr", "th", "td", "p")
        assert attributes == ({"style": "line-height: 1.3"} if tag == "pre" else {})


HOSTILE = "<script>alert(1)</script>\"'>\x1b[31m\u202e=1+1|$\\input{x}&`x`"


def test_hostile_names_are_inert(made, tmp_path):
    run = made["learn"].updated(learner="=" + HOSTILE)
    found = made["compare"].updated(
        runs=(run,),
        learners=("=" + HOSTILE,),
        canonical=(run.learner,),
        specs=(run.spec,),
    )
    for one in (run, found, replace(made["certify"], spec=HOSTILE)):
        for text in (repr(one), one._repr_html_()):
            assert "\x1b" not in text
            assert "\u202e" not in text
        inert(one._repr_html_())
    for ending in ("tex", "md", "csv"):
        found.save(tmp_path / f"t.{ending}")
    tex, md, csv = ((tmp_path / f"t.{e}").read_text() for e in ("tex", "md", "csv"))
    assert "\\input" not in tex
    assert "\\textbackslash input\\{x\\}" in tex
    assert not {"\x1b", "\u202e"} & {*tex, *md}
    assert "\\<script\\>" in md
    assert all(cell[:1] not in "=+@" for cell in pd.read_csv(tmp_path / "t.csv")["learner"])
    assert "'=<script>" in csv


def test_vacuous_bounds_are_marked(made):
    rows = made["certify"].to_frame().set_index("quantity")
    assert rows["vacuous"]["stat-queries"]
    assert "stat-queries is vacuous" in repr(made["certify"])
    assert "vacuous" in repr(made["compare"])


def test_files_are_read_again(made, tmp_path):
    certificate, path = made["certify"], tmp_path / "c.json"
    certificate.save(path)
    loaded = h.Certificate.load(path)
    assert (loaded, repr(loaded)) == (certificate, repr(certificate))
    for source in (certificate, certificate.to_dict(), path, str(path)):
        assert h.check(source) == made["check"]
    path.write_text(path.read_text().replace('"35"', '"36"'))
    with pytest.raises(DamagedFile, match="sq-dimension is not as claimed"):
        h.Certificate.load(path)
    with pytest.raises(h.Refuted, match="sq-dimension is not as claimed"):
        h.check(path)


SAME = [
    (lambda: h.certify("partiy:d=8"), "certify partiy:d=8"),
    (lambda: h.certify("parity:d=8,m=3", tau="x"), "certify parity:d=8,m=3 --tau x"),
    (lambda: h.certify("parity:d=8,m=3", centred=True), "certify parity:d=8,m=3 --centred"),
    (lambda: h.certify("parity:d=8,m=3", steps=9), "certify parity:d=8,m=3 --steps 9"),
    (lambda: h.check("none.json"), "check none.json"),
    (lambda: h.learn("studnt", "parity:d=8,m=3"), "learn studnt parity:d=8,m=3"),
    (lambda: h.attack("parity:d=8,m=3", "primal"), "attack parity:d=8,m=3 --learner primal"),
    (lambda: h.compare("parity:m=2", "k=1..2"), "compare parity:m=2 --over k=1..2"),
    (lambda: h.stress("trivial", ladder="x"), "stress --learner trivial --ladder x"),
    (lambda: h.estimate("parity"), "estimate parity"),
    (lambda: h.sweep("none.toml", "a.db"), "sweep none.toml --out a.db"),
    (
        lambda: h.learn("trivial", "parity:d=8,m=3", budget_memory="x"),
        "learn trivial parity:d=8,m=3 --budget-memory x",
    ),
]


@pytest.mark.parametrize(("call", "line"), SAME, ids=[line for _, line in SAME])
def test_an_error_is_the_line_of_the_command(call, line, hardness):
    with pytest.raises(h.ToolkitError) as raised:
        call()
    said = hardness(*line.split())
    assert said.code == raised.value.exit_code
    hint = re.compile(r": see `hardness [\w ]+ -h`$")  # where the options are listed
    assert hint.sub("", said.err.rstrip("\n")) == f"hardness: {raised.value}"


def test_defaults_are_those_of_the_commands(made, hardness):
    for line, name in [
        ("certify parity:d=8,m=3", "certify"),
        ("estimate lwe:n=30,q=521,sigma=1.5", "estimate"),
    ]:
        assert hardness(*line.split(), "--json").json == made[name].to_dict()
    run = hardness("learn", "elimination", "parity:d=8,m=2", "--json").json
    ours = made["learn"].to_dict()
    assert all(run[name] == ours[name] for name in ("budget", "seed", "risk", "outcome"))


def test_objects_stand_where_strings_do():
    family = parse("parity:d=8,m=1")
    assert h.family(family) is family
    assert h.certify(family) == h.certify(family.spec) == h.certify(family, tau=0.1)
    chosen = h.learner("lowdegree:degree=1")
    assert h.learner(chosen) is chosen
    assert h.learn(chosen, family).risk == h.learn("lowdegree:degree=1", family.spec).risk
    compared = h.compare(family, "d=6,8", chosen, seeds=1, jobs=1)
    assert compared.learner_names == ["lowdegree:degree=1,oversample=8"]
    assert f" --learner {compared.learner_names[0]} " in compared.command

    def mean(x, y):
        return lambda x: 0.0 * x

    assert h.learn(mean, family).outcome.value == "learned nothing"
    both = h.compare(family, "d=6,8", mean, seeds=1, jobs=2)
    assert [(run.learner, run.outcome.value) for run in both.runs] == [
        ("mean", "learned nothing")
    ] * 2
    lock = Lock()
    with pytest.warns(UserWarning, match="locked cannot be handed to another .* one after another"):
        here = h.compare(family, "d=6,8", locked(lock), seeds=1, jobs=2)
    assert here.to_frame()["outcome"].tolist() == ["learned nothing"] * 2


def locked(lock):
    def locked(x, y):
        return lambda new: 0.0 * new if lock else new

    return locked


def test_thresholds_of_an_object(tmp_path):
    asked = []

    def votes(x, y):
        """Say what the most alike of the first examples has: of 2 tokens of 2 signs."""
        asked.append(len(x))
        return lambda new: y[(new[:, None] == x).sum(axis=(2, 3)).argmax(axis=1)]

    found = h.least("parity:d=2,m=1", votes, seeds=6, budget_examples=256, jobs=1)
    [cell] = found.cells
    tried = {one.n for each in (*found.pilots, *found.thresholds) for one in each.trials}
    assert (cell.learner, set(asked) - {10_000}) == ("votes", tried)  # which is to warm it up
    assert 4 <= cell.least <= 128
    for wrong, how, said in (
        ([votes, votes], {}, "two learners are called votes"),
        (3.5, {}, "the object given is a float"),
    ):
        with pytest.raises(h.ToolkitError, match=said):
            h.least("parity:d=2,m=1", wrong, seeds=6, **how)


def test_the_import_is_light_and_knows_its_names():
    code = (
        "import sys, hardness; print([n for n in ('numpy', 'flint', 'pandas', 'click', 'cli') "
        "if n in sys.modules]); hardness.check; print(callable(hardness.check)); hardness.figure; "
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nTrue\nFalse\n"
    assert [name for name in dir(h) if not name.startswith("__")] == sorted(h.__all__)


@pytest.mark.parametrize("verb", ["families", "learners"])
def test_what_there_is_prints_as_the_command_does(verb, hardness):
    printed = hardness(verb).out
    assert f"{getattr(h, f'list_{verb}')()!r}\n" == printed
    assert printed.count("darmstadt-") == (2 if verb == "families" else 0)  # a pattern, an example


def test_a_figure_is_drawn_of_a_result_as_of_its_file(made, tmp_path):
    made["compare"].save(tmp_path / "results.json")
    drawn = h.figure("both-sides", made["compare"])
    assert drawn.rows == h.figure("both-sides", tmp_path / "results.json").rows
    assert drawn._repr_html_().startswith("<figure><svg")
    drawn.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(
        h.ToolkitError, match=r"both-sides is of what `hardness compare .* not of a Run"
    ):
        h.figure("both-sides", made["learn"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: h.certify([abs]), "a SPEC, a Family or a folder .*, got list"),
        (lambda: h.certify(json), "got module; .*'path.py:Name'"),
        (lambda: h.verify(3), "got int"),
        (lambda: h.certify("parity:d=8,m=3").value("statqueries"), "did you mean 'stat-queries'"),
        (lambda: h.certify("parity:d=8,m=3").integer("floor"), "known: information-floor, "),
    ],
)
def test_what_does_not_fit_is_one_line(wrong, said):
    with pytest.raises(h.ToolkitError, match=said) as error:
        wrong()
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_script_without_a_main_guard_may_use_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import hardness\n"
        "print(len(hardness.compare('parity:m=2', 'd=6..8', 'trivial', seeds=1, jobs=2).runs))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"


FUNCTIONS = [
    getattr(room, name)
    for room in (h, h.datasets)
    for name in getattr(room, "__all__", ("make", "torch", "stream", "prompts", "prompt_loss"))
    if inspect.isfunction(getattr(room, name))
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_docstring_says_what_each_parameter_is_and_what_comes_back(function):
    sections = re.split(r"\n\n(\w+)\n-+\n", inspect.getdoc(function))
    said = dict(zip(sections[1::2], sections[2::2], strict=True))
    heads = re.findall(r"^(\S.*?)(?: : .+)?$", said.get("Parameters", ""), re.M)
    named = [name.lstrip("*") for head in heads for name in head.split(", ")]
    assert sorted(named) == sorted(inspect.signature(function).parameters)
    assert re.match(r"\S.*\n    \S", said["Returns"])
