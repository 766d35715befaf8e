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
def demo(**options: Any) -> Any:
    """Certify, verify, learn, compare and draw, on small sizes."""
    from hardness.api.demo import demo as main_job

    return main_job(**options)
