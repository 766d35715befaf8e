"""Commands for one learner: learn, distinguish, spectrum."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import (
    INTEGER,
    LEARNER,
    NUMBER,
    PATH,
    SEED,
    WRITTEN,
    Words,
    argument,
    budget,
    confidence,
    jobs,
    learners,
    option,
    samples_files,
    seed,
    specs,
    tau,
)
from hardness.cli.output import output

_TEACHER = "Your layer"


@click.command(cls=Command, short_help="Run one learner on one instance.")
@argument("learner", LEARNER, learners)
@argument("source", "A SPEC, a folder, a file of samples, or data.", specs, required=False)
@samples_files()
@option(
    "--oracle",
    "How queries are answered; the adversary of the bound draws the secret at the end.",
    Words("samples", "exact", "adversary"),
    "samples",
)
@tau
@option(
    "--save-layer", "Write the layer to this file, .npz or .safetensors.", WRITTEN, shown="no file"
)
@option(
    "--save-model",
    "Write the weights of the trained torch module to this .safetensors.",
    WRITTEN,
    shown="no file",
)
@option("--seed", SEED, INTEGER, shown="0; against the adversary, of the operating system")
@budget()
@option(
    "--teacher",
    "A file of a layer that labels drawn tokens, in place of a SPEC: .npz, .safetensors.",
    PATH,
    shown="none",
    section=_TEACHER,
)
@option(
    "--tokens",
    "Distribution of the tokens.",
    Words("boolean", "gaussian"),
    shown="gaussian",
    section=_TEACHER,
)
@option("--k", "Number of tokens: of an example.", INTEGER, shown="2", section=_TEACHER)
@option("--noise", "Standard deviation of the label noise.", NUMBER, shown="0", section=_TEACHER)
@output("Write the JSON to this file.")
def learn(learner: str, source: str | None = None, **options: Any) -> Any:
    """Run one learner on an instance of a SPEC, on tokens that your layer labels, or on data.

    SOURCE is a SPEC, a folder of examples, a file of samples (a, b), or your data: x and y,
    both (n, k, d), in a .npz or .safetensors. Labels y of the first token alone are (n, 1, d), or
    (n,) if each is a number. The risk is measured on fresh examples, the error on data on a fifth
    of them, which is held out.

    Against the adversary the seed is drawn from the operating system, or given; it is 0 otherwise.
    A given seed is public: anyone can compute the secret from it and this code.
    """
    from hardness.api import learning

    return learning.learn(learner, source, **options)


@click.command(cls=Command, short_help="Does a learner tell labels from random ones?")
@argument("learner", LEARNER, learners)
@argument("source", "A SPEC.", specs)
@option(
    "--trials",
    "Number of trials, half of them with a member, half with uniformly random labels.",
    INTEGER,
    20,
)
@confidence(0.95)
@seed
@jobs
@budget()
@output("Write the JSON to this file.")
def distinguish(learner: str, source: str, **options: Any) -> Any:
    """Measure a learner's advantage in telling labels of a random member from random labels."""
    from hardness.api import learning

    return learning.distinguish(learner, source, **options)


@click.command(cls=Command, short_help="Walsh spectrum of a member and of a hypothesis.")
@argument("source", "A SPEC or a folder.", specs)
@option("--learner", LEARNER, complete=learners, shown="none, the member alone")
@option("--top", "Number of coefficients to show, the largest first.", INTEGER, 5)
@option(
    "--draws",
    "Number of draws: of X_1, for each z.",
    INTEGER,
    shown="all up to d = 11, then 16 or fewer",
)
@seed
@budget()
@output("Write the JSON to this file.")
def spectrum(source: str, **options: Any) -> Any:
    """Show the Walsh weight of a member by degree, and which part of it a learner has learned."""
    from hardness.api import learning

    return learning.spectrum(source, **options)
