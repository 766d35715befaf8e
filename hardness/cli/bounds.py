"""Commands for lower bounds: certify, check, bound, verify."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import (
    INTEGER,
    LARGE,
    NUMBER,
    Words,
    argument,
    confidence,
    flag,
    option,
    seed,
    several,
    specs,
    tau,
)
from hardness.cli.output import output

_ABOUT = "Learners that --about is about"
_terms = several(
    tau,
    option("--vstat", "t of VSTAT(t); --tau does not change it.", INTEGER, 100),
    option("--risk", "Relative risk to reach: 1 is the baseline, 0 the member.", NUMBER, "1/4"),
    option("--success", "Probability of success.", NUMBER, "2/3"),
)


@click.command(cls=Command, short_help="Certify lower bounds of a family.")
@argument("source", "A SPEC, a folder of `hardness generate`, or path.py:Name.", specs)
@_terms
@option("--gamma", "Average correlation of unit-norm members in SDA.", NUMBER, "0.05")
@option("--members", "Number of members: of listed functions.", INTEGER, shown="all")
@flag("--centred", "Subtract the mean of listed functions first.")
@option("--steps", "Number of steps: of gd.", INTEGER, shown="any number")
@option(
    "--about",
    "Certify bounds for named learners.",
    Words("kernel", "gd", "low-degree", "lwe", "all"),
    shown="bounds on queries",
)
@option(
    "--features",
    "Number of features of a kernel machine, chosen before it sees labels.",
    INTEGER,
    shown="none",
    section=_ABOUT,
)
@option(
    "--degree",
    "Degree of the polynomials of low-degree.",
    INTEGER,
    shown="with all: 2(m+1) or less",
    section=_ABOUT,
)
@option(
    "--examples",
    "Number of labelled examples: of low-degree, lwe.",
    INTEGER,
    shown="any number",
    section=_ABOUT,
)
@option(
    "--error-bound", "Largest absolute error: lwe needs it.", INTEGER, shown="none", section=_ABOUT
)
@option(
    "--sample-degree",
    "Number of examples in a monomial of low-degree.",
    INTEGER,
    shown="any number",
    section=_ABOUT,
)
@option(
    "--clip",
    "Euclidean norm at which gd clips the gradient of each example.",
    NUMBER,
    shown="1",
    section=_ABOUT,
)
@option(
    "--noise-std",
    "Standard deviation of the normal noise of gd, on each coordinate.",
    NUMBER,
    shown="with all: clip/100",
    section=_ABOUT,
)
@output("Write the certificate to this file.", reads="`hardness check`")
def certify(source: str, **options: Any) -> Any:
    """Certify lower bounds; --json prints, --out writes what `hardness check` accepts.

    SOURCE is a SPEC, a folder of `hardness generate`, or functions of a Python file
    (path.py:Name). --about certifies bounds for kernels, gradient descent with --noise-std,
    polynomials of low degree, or the solver of LWE that a learner gives.
    """
    from hardness.api import bounds

    return bounds.certify(source, **options)


@click.command(cls=Command, short_help="Check a certificate again.")
@argument("source", "The file of a certificate.")
@output("Write the JSON to this file.")
def check(source: str) -> Any:
    """Compute the claims of a certificate again; exit 3 if one does not follow."""
    from hardness.api import bounds

    return bounds.check(source)


@click.command(cls=Command, short_help="Bounds as formulas, solved for a parameter.")
@argument("source", "A family by its name, or a SPEC.", specs)
@option(
    "--solve",
    "Parameters to find that SPEC leaves out, as m or d,m: the first is minimised.",
    shown="none",
)
@option("--queries", "Queries to STAT(tau) to require with --solve, as 2^128.", LARGE, shown="none")
@option(
    "--examples", "Number of labelled examples: to require with --solve.", INTEGER, shown="none"
)
@_terms
@output("Write the JSON to this file.")
def bound(source: str, **options: Any) -> Any:
    """Print a family's bounds as formulas in its parameters, or solve one for a parameter.

    A number without a formula in the parameters, as a spectrum, is printed as a name with its
    value. With --solve the answer is certified, and that the next lower value does not suffice.
    """
    from hardness.api import bounds

    return bounds.bound(source, **options)


@click.command(cls=Command, short_help="Sampled correlations and certified ones.")
@argument("source", "A SPEC, a folder, or path.py:Name.", specs)
@option("--members", "Number of members: drawn at random.", INTEGER, 500)
@option("--samples", "Number of samples.", INTEGER, 200_000)
@confidence(0.99)
@seed
@output("Write the JSON to this file.")
def verify(source: str, **options: Any) -> Any:
    """Sample correlations and compare them with the certified ones, and the layer with the formula.

    SOURCE: a SPEC, a folder of `hardness generate`, functions of a file, path.py:Name, or a folder
    of layers. Also prints the empirical SQ dimension, from which no bound on queries follows.
    """
    from hardness.api import bounds

    return bounds.verify(source, **options)
