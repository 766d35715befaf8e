"""The command of the demo."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import jobs, seed
from hardness.cli.output import output


@click.command(cls=Command, short_help="The main job on small sizes: certify to picture.")
@seed
@jobs
@output("Write to this folder.  [default: out]", "own")
def demo(**given: Any) -> Any:
    """Do the main job on small sizes: certify, verify, learn, compare, draw."""
    from hardness.api.demo import demo as main_job

    return main_job(**given)
