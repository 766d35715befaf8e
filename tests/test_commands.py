"""What holds of every command: light at import, in one table, with options alike."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

import cli
from hardness import __version__
from instances.errors import withdrawn_names

HEAVY = {"numpy", "scipy", "matplotlib", "flint", "numba", "networkx", "jinja2", "safetensors"}


def run(code: str, **environment: str) -> str:
    """What a fresh Python prints."""
    given = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=given | environment, capture_output=True, text=True, check=True
    ).stdout


FORKED = """
import os
import sys
import cli

for line in {lines}:
    if not (child := os.fork()):
        sys.stdout = open(os.devnull, "w")
        try:
            cli.main(line.split())
        except SystemExit as left:
            os.write(1, f"{{line}}: {{left.code}} {{' '.join(sys.modules)}}\\n".encode())
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_help_imports_nothing_heavy():
    """Each in a process of its own: what another command imported would hide what this one does."""
    lines = ["-h", *(f"{name} -h" for name in cli.cli.commands), "icl train -h"]
    told = run(FORKED.format(lines=lines)).splitlines()
    assert len(told) == len(lines)
    for one in told:
        line, _, rest = one.partition(": ")
        code, *imported = rest.split()
        assert (code, "click" in imported) == ("0", True), line
        assert not HEAVY & {*imported}, line
        assert {name for name in imported if name.startswith("instances.")} <= {
            *("instances.arguments", "instances.errors", "instances.lazy", "instances.text"),
            "instances.errors",
        }, line


def test_one_blas_thread_unless_the_user_says_otherwise():
    code = (
        "import cli, os; print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'])"
    )
    assert run(code).split() == ["1", "1"]
    assert run(code, OMP_NUM_THREADS="3").split() == ["1", "3"]


OFFERED = {
    "le": {"learn", "learners"},
    "s": {"spectrum", "stress", "sweep"},
    "learn elimination pari": {"parity:", "parity-first"},
    "families show nic": {"nice:"},
    "attack lwe: --learner prim": {"primal"},
    "figure st": {"stages"},
    "generate x --exa": {"--examples"},
    "estimate ml-k": {"ml-kem-512", "ml-kem-768"},
    "stress --learner queries --on dar": {"darmstadt-40-005"},
}


def test_the_shell_completes_names(monkeypatch):
    for words, offered in OFFERED.items():
        monkeypatch.setenv("COMP_WORDS", f"hardness {words}")
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        found = BashComplete(cli.cli, {}, "hardness", "_HARDNESS_COMPLETE").complete()
        names = {line.removeprefix("plain,") for line in found.splitlines()}
        assert offered <= names, words
        assert all(name.startswith(words.split()[-1]) for name in names), words


def test_the_command_answers_a_shell():
    given = {"COMP_WORDS": "hardness le", "COMP_CWORD": "1", "_HARDNESS_COMPLETE": "bash_complete"}
    assert run("import cli; cli.main()", **given).split() == [
        "plain,learn",
        "plain,learners",
        "plain,least",
    ]


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> dict[str, click.Command]:
    """Commands by their words, those of groups among them."""
    if not isinstance(command, click.Group):
        return {" ".join(path): command}
    found: dict[str, click.Command] = {}
    for name, one in command.commands.items():
        found |= leaves(one, (*path, name))
    return found


COMMANDS = leaves(cli.cli)
OPTIONS = [
    (path, option)
    for path, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]
SHOWN = [(path, option) for path, option in OPTIONS if not option.hidden]


def kind(option: click.Option) -> str:
    """The type of an option; several integers with commas are integers too."""
    return str(option.type.name).replace("integers", "integer")


def meaning(option: click.Option) -> str:
    """What stands in an option's help before a colon: after it a command says more."""
    said = re.sub(r"  \[(default|required)[^\]]*\]$", "", option.help or "")
    return said.partition(": ")[0].rstrip(".")


def test_an_option_has_one_type_and_one_meaning_in_all_commands():
    kinds, meanings = defaultdict(set), defaultdict(set)
    for _, option in SHOWN:
        kinds[option.opts[0]].add(kind(option))
        if option.opts[0] != "--out":  # which names what is written
            meanings[option.opts[0]].add(meaning(option))
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}


def test_no_option_is_shown_under_two_names_or_without_help():
    for path, option in SHOWN:
        assert len(option.opts) == 1, (path, option.opts)
        assert meaning(option), (path, option.opts)


def test_help_of_every_command(hardness):
    """It fits 80 columns and says every default; options that do nothing are taken everywhere."""
    assert hardness("--version").out == f"hardness, version {__version__}\n"
    for path in (*{path.rpartition(" ")[0] for path in COMMANDS}, *COMMANDS):
        text = hardness(*path.split(), "--help").out
        assert max(map(len, text.splitlines())) <= 80, path
        if path not in COMMANDS:
            continue
        assert "--json" in text, path
        everywhere = ["--seed", "1", "--jobs", "1", "--out", "x", "--quiet", "--help"]
        assert hardness(*path.split(), *everywhere).code == 0, path
        said = {
            part.split()[0]: " ".join(part.split())
            for part in re.split(r"^  (?=-)", text, flags=re.M)[1:]
        }
        for option in (o for p, o in SHOWN if p == path):
            if option.is_flag or option.opts[0] in ASKED_FOR.get(path, {"--out"}):
                continue
            told = said[option.opts[0]]
            assert option.required or "[default" in told or "[required" in told, (path, option.opts)


# Left out, these do nothing: they ask for something more, or one of them must be given.
ASKED_FOR = {
    "certify": {
        *("--about", "--features", "--out"),
    },
    "stress": {"--ladder", "--on", "--learner", "--out"},
}


def test_what_is_gone_says_so_on_the_command_line_and_from_python(hardness):
    import hardness as front
    from hardness.report.figures import FIGURES

    for name in withdrawn_names()["command"]:
        assert name not in cli.cli.commands
        said = hardness(name, "parity:d=8,m=2")
        assert said.code == 2
        said.one_line(f"the command '{name}' is gone")
    for name in withdrawn_names()["learner"]:
        said = hardness("learn", name, "parity:d=8,m=2")
        assert said.code == 2
        said.one_line(f"the learner '{name}' is gone")
    for name in withdrawn_names()["figure"]:
        assert name not in FIGURES
        said = hardness("figure", name, "parity:d=8,m=2", "--out", "f.svg")
        assert said.code == 2
        said.one_line(f"the figure '{name}' is gone")
    for name in ("--contain", "--device"):
        hardness("learn", "trivial", "parity:d=8,m=2", name, "off").one_line(
            f"option '{name}'", withdrawn_names()["option"][name]
        )
    with pytest.raises(TypeError, match="unexpected keyword argument 'within'"):
        front.certify("parity:d=8,m=2", about="gd", within="1/10")
    rooms = {path.name for path in Path(front.__file__).parent.iterdir()}  # loaded or not
    for name in {*withdrawn_names()["command"], *withdrawn_names()["name"]} - rooms:
        with pytest.raises(AttributeError, match=f"'{name}' is gone"):
            getattr(front, name)
