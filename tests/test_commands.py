"""What holds of every command: light at import, in one table, with options alike."""

import os
import re
import subprocess
import sys
from collections import defaultdict

import click
import pytest
from click.shell_completion import BashComplete

import cli
from hardness.verbs.root import GROUPS

HEAVY = {"numpy", "scipy", "vl_convert", "flint", "numba", "networkx", "jinja2", "safetensors"}


def run(code: str, **environment: str) -> str:
    """What a fresh Python prints."""
    given = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=given | environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    "arguments", [["-h"], *([name, "-h"] for name in cli.cli.commands), ["icl", "optimizers", "-h"]]
)
def test_help_imports_nothing_heavy(arguments):
    """One Python for each: a module that another command imported would hide what this one does."""
    code = f"""
import sys
import cli
try:
    cli.main({arguments})
except SystemExit as left:
    assert left.code == 0
print("IMPORTED", *sys.modules)
"""
    imported = set(run(code).rpartition("IMPORTED")[2].split())
    assert "click" in imported
    assert not HEAVY & imported
    assert {name for name in imported if name.startswith("instances.")} <= {
        *("instances.arguments", "instances.errors", "instances.lazy", "instances.text")
    }


def test_one_blas_thread_unless_the_user_says_otherwise():
    code = (
        "import cli, os; print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'])"
    )
    assert run(code).split() == ["1", "1"]
    assert run(code, OMP_NUM_THREADS="3").split() == ["1", "3"]


def test_every_command_stands_in_the_table_once():
    assert sum(map(len, GROUPS.values())) == len(cli.cli.commands)
    assert [name for name, command in cli.cli.commands.items() if not command.short_help] == []


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("hardness le", {"learn", "learners"}),
        ("hardness s", {"spectrum", "stress", "sweep", "store"}),
        ("hardness mea", {"measures"}),
        ("hardness measures prof", {"profile:"}),
        ("hardness learn elim", {"elimination"}),
        ("hardness learn elimination pari", {"parity:", "parity-first"}),
        ("hardness certify lw", {"lwr:", "lwe:"}),
        ("hardness families show nic", {"nice:"}),
        ("hardness learners show st", {"staged", "student"}),
        ("hardness attack lwe: --learner prim", {"primal"}),
        ("hardness compare parity: --learner elim", {"elimination"}),
        ("hardness figure st", {"stages"}),
        ("hardness reduce a", {"attention-to-lwr"}),
        ("hardness generate x --exa", {"--examples"}),
        ("hardness estimate ml-k", {"ml-kem-512", "ml-kem-768"}),
        ("hardness stress --ladder par", {"parity-v1"}),
        ("hardness stress --learner queries --on dar", {"darmstadt-40-005"}),
        ("hardness store mer", {"merge"}),
    ],
)
def test_the_shell_completes_names(monkeypatch, words, offered):
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    found = BashComplete(cli.cli, {}, "hardness", "_HARDNESS_COMPLETE").complete()
    names = {line.removeprefix("plain,") for line in found.splitlines()}
    assert offered <= names
    assert all(name.startswith(words.split()[-1]) for name in names)


def test_the_command_answers_a_shell():
    given = {"COMP_WORDS": "hardness le", "COMP_CWORD": "1", "_HARDNESS_COMPLETE": "bash_complete"}
    assert run("import cli; cli.main()", **given).split() == ["plain,learn", "plain,learners"]


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
        meanings[option.opts[0]].add(meaning(option))
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}


def test_no_option_is_shown_under_two_names_or_without_help():
    for path, option in SHOWN:
        assert len(option.opts) == 1, (path, option.opts)
        assert meaning(option), (path, option.opts)


@pytest.mark.parametrize("path", COMMANDS)
def test_help_says_every_default(hardness, path):
    parts = re.split(r"^  (?=-)", hardness(*path.split(), "--help").out, flags=re.M)
    said = {part.split()[0]: " ".join(part.split()) for part in parts[1:]}
    for name, option in ((p, o) for p, o in SHOWN if p == path):
        if option.is_flag or option.opts[0] in ASKED_FOR.get(path, {"--out"}):
            continue
        told = said[option.opts[0]]
        assert option.required or "[default" in told or "[required" in told, (name, option.opts)


# Left out, these do nothing: they ask for something more, or one of them must be given.
ASKED_FOR = {
    "certify": {
        *("--about", "--features", "--parameters", "--batch", "--state-bits", "--within"),
        *("--grid", "--out"),
    },
    "challenge submit": {"--predictions", "--claim", "--learner"},
    "stress": {"--ladder", "--on", "--learner", "--out"},
}
