"""Commands that list what there is: families, learners."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import Words, argument, sandbox, specs
from hardness.cli.options import learners as known_learners
from hardness.cli.output import output


@click.command(cls=Command, short_help="List or show families and the catalog.")
@argument("action", "What to do.", type=Words("list", "show"), required=False)
@argument("name", "A family or an entry of the catalog, to show.", specs, required=False)
@output("Write the JSON to this file.")
def families(**options: Any) -> Any:
    """List the families and the catalog, or show one."""
    from hardness.api.names import list_families

    return list_families(**options)


@click.command(cls=Command, short_help="List, show, check learners, or begin one.")
@argument("action", "What to do.", type=Words("list", "show", "check", "new"), required=False)
@argument(
    "name", "A learner to show or check; or the file to write.", known_learners, required=False
)
@sandbox
@output("Write the JSON to this file.", forced=True)
def learners(**options: Any) -> Any:
    """List the built-in learners, or show one.

    check NAME: does a learner of your own, path.py:Name, keep to the protocol? Exits with 1 if
    not. new FILE: write a commented template of one.
    """
    from hardness.api.names import list_learners

    return list_learners(**options)
