"""The same option for the same thing: one type, one meaning, and its default in the help."""

import re
from collections import defaultdict

import click
import pytest

import cli
from hardness.commands.options import Number, Whole, Wholes


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
    return "integer" if isinstance(option.type, Whole | Wholes) else str(option.type.name)


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
        if option.show_default and option.default is not None:
            assert re.search(rf"\[default: {re.escape(str(option.default))}", told), (name, told)
        else:
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


def test_numbers_are_read_alike_everywhere():
    """No option has a type of its own for numbers: all read 20000 and 2e4, 0.1, 1/10 and 1e-1."""
    for path, option in OPTIONS:
        own = type(option.type).__module__.startswith("hardness")
        assert own or option.type.name not in ("integer", "float", "integer range", "float range")
        if isinstance(option.type, Whole):
            assert option.type.convert("2e4" if not option.type.max else "2e1", option, None)
        if isinstance(option.type, Number) and option.type.exact:
            assert option.type.convert("1e-1", option, None) * 10 == 1, path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "icl train --d 2 --n 4 --layers 1 --method adam --steps 2 --samples 8",
            "icl train --d 2 --n 4 --layers 1 --optimizer adam --steps 2 --samples 8",
        ),
    ],
)
def test_an_earlier_name_answers_with_one_line(hardness, old, new):
    found = hardness(*old.split())
    assert found.code == 0
    found.one_line("is now --")
    plain = hardness(*new.split())
    assert (plain.code, plain.err) == (0, "")
    drop = re.compile(r" +\d+\.\d* ")
    assert drop.sub("", plain.out) == drop.sub("", found.out)
