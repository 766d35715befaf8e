"""What holds of every command: light at import, in one table, completed by the shell."""

import os
import subprocess
import sys

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
