"""Measures of a family: exponents, weights and sensitivities in one table."""

from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import FILE, early, emit, rational, shared, spec_argument, target


@click.command(short_help="Exact measures of a family in one table.")
@spec_argument
@click.option(
    "--sensitivity",
    default="0.1",
    show_default=True,
    callback=rational,
    help="Probability delta that a bit is flipped, of noise sensitivity and stability.",
)
@shared("force", out=FILE)
def measures(to: SimpleNamespace, spec: str, sensitivity: Any) -> None:
    """Measure a parity or a profile: leaps, correlations, weight by degree, sensitivities."""
    from hardness.lower import measures as measured
    from hardness.report.measures import measures_words

    early(to)
    found = measured(target(spec)[0], sensitivity)
    emit(to, found.to_json(), measures_words(found))
