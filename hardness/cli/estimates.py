"""The command for estimates of attacks."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import (
    LARGE,
    NUMBER,
    argument,
    flag,
    option,
    problems,
    samples_files,
)
from hardness.cli.output import output

_ATTACKERS = "Attackers"


@click.command(cls=Command, short_help="What an instance costs to break, by formulas.")
@argument(
    "source",
    "A SPEC, a set, a folder or a file of samples; several make a table.",
    problems,
    required=False,
    many=True,
)
@option(
    "--over",
    "Values of a parameter: n=512..1024..128, q=2^20..2^40, h=32,64; several make a grid.",
    shown="one problem",
    many=True,
)
@option(
    "--find",
    "Find the smallest n, h or sigma of a range, or the largest q, that has --bits.",
    shown="none",
)
@option("--bits", "log2 of operations to reach.  [required with --find]", NUMBER)
@flag("--emit", "Print the parameters for lattice-estimator.")
@flag("--peer", "Run lattice-estimator too, if it is installed.")
@samples_files(_ATTACKERS)
@option(
    "--samples",
    "Number of samples: (a, b) that an attacker has.",
    LARGE,
    shown="samples= of the SPEC, those of a folder, what a set gives away, or any",
    section=_ATTACKERS,
)
@option(
    "--model",
    "Cost of lattice reduction: default (matzov), rough (adps16) or a model's name; repeatable.",
    shown="default",
    many=True,
    section=_ATTACKERS,
)
@option(
    "--success",
    "Probability of success: each attack is brought to it, 0.5 or more.",
    NUMBER,
    shown="0.99",
    section=_ATTACKERS,
)
@option("--shape", "Shape of a reduced basis: gsa, zgsa, lgsa.", shown="gsa", section=_ATTACKERS)
@option(
    "--attack", "An attack by its name; repeatable.", shown="all", many=True, section=_ATTACKERS
)
@output("Write the JSON to this file.")
def estimate(source: tuple[str, ...] = (), **options: Any) -> Any:
    """Estimate what attacks cost on a SPEC, a named set, a folder or a file of samples.

    A SPEC of lwe or lwr may go beyond what families take: q=2^881 or any integer, p that does not
    divide q, secret=range, error=ternary. Several make a table: a row each, a column an attack, the
    cheapest marked. Without SOURCE: list the named sets.
    """
    from hardness.api import estimates

    return estimates.estimate(source or None, **options)
