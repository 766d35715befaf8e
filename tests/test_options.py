"""The same option for the same thing: one type, one meaning, and its default in the help."""

import re
from collections import defaultdict

import click
import pytest

import cli


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
