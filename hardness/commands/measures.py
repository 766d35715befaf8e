"""Measures of a family: exponents, weights and sensitivities in one table."""

from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    FILE,
    RATIONAL,
    emit,
    refuse_existing_output,
    shared,
    spec_argument,
    target,
)


@click.command(short_help="Exact measures of a family in one table.")
@spec_argument
@click.option(
    "--sensitivity",
    default="0.1",
    show_default=True,
    type=RATIONAL,
    help="Probability delta that a bit is flipped, of noise sensitivity and stability.",
)
@shared("seed", "force", out=FILE)
def measures(output: SimpleNamespace, spec: str, sensitivity: Any) -> None:
    """Measure a family: leaps, correlations, weight by degree, sensitivities.

    Where members differ, of the member of a seed, or of a folder's.
    """
    from hardness.lower import measures as measured
    from hardness.report.measures import measures_words
    from instances.capabilities import SCHEME
    from instances.errors import ToolkitError

    refuse_existing_output(output)
    family, folder = target(spec)
    instance = folder.instance if folder else family.instance(output.seed)
    if instance is None and SCHEME.of(family) is None:
        raise ToolkitError(
            "the folder has no secret part, and members of the family have measures of their own: "
            "run it where secret.json is"
        )
    found = measured(family, sensitivity, instance.hidden.secret if instance else None)
    emit(output, found.to_dict(), measures_words(found), table=found)
