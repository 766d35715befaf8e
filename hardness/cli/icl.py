"""Commands for in-context linear regression: optimum, steps, train, curves."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import INTEGER, NUMBER, Words, flag, option, seed, several
from hardness.cli.output import output

_LAW = "Prompts"
_SAMPLES = option(
    "--samples",
    "Number of samples: Gram matrices to train on.",
    INTEGER,
    shown="10000 for Q alone, 3000 for both",
)
_study = several(
    option("--d", "Dimension of a point.", INTEGER, 5, section=_LAW),
    option("--n", "Points in a prompt.", INTEGER, 20, section=_LAW),
    option(
        "--sigma",
        "Covariance of the points: identity, diag(..), power(a), toeplitz(r), rotated(..) or a "
        "file .npy, .csv, .txt.",
        default="identity",
        section=_LAW,
    ),
    option(
        "--task",
        "Covariance of the tasks: inverse, that of sigma, or as sigma.",
        default="inverse",
        section=_LAW,
    ),
    option("--noise", "Standard deviation of the label noise.", NUMBER, "0", section=_LAW),
    seed,
    output("Write the results to this folder.", "own", ours=("results.json", "figure.svg")),
)


def _layers(default: int) -> Any:
    return option("--layers", "Number of layers.", INTEGER, default)


@click.command(cls=Command, short_help="One layer: closed forms and evidence.")
@option(
    "--samples",
    "Number of samples: prompts of an estimate.",
    INTEGER,
    shown="what a second or so does, 20000 at most",
)
@_study
def optimum(**options: Any) -> Any:
    """Give the best single layer of linear attention in closed form, and the evidence for it.

    The smallest loss, a minimum found numerically, Monte Carlo on sampled prompts, and the
    Bayes-optimal predictor.
    """
    from hardness.api import icl

    return icl.optimum(**options)


@click.command(cls=Command, short_help="L layers with scalars, solved exactly.")
@_layers(4)
@_study
def steps(**options: Any) -> Any:
    """Give the best steps of gradient descent and of GD++ for 1 .. LAYERS layers, losses exact.

    For tasks whose covariance is the inverse of sigma, where whitening makes both the identity.
    """
    from hardness.api import icl

    return icl.steps(**options)


@click.command(cls=Command, short_help="Train L layers of full matrices.")
@_layers(3)
@option(
    "--free",
    "Train Q alone, with P = 0 (gradient descent), or both (GD++).",
    Words("q", "both"),
    "q",
)
@flag("--raw", "Descend in the coordinates of the points, unwhitened.")
@_SAMPLES
@option("--steps", "Number of steps: at most.", INTEGER, 1000)
@option("--restarts", "Number of random starts.", INTEGER, 1)
@_study
def train(**options: Any) -> Any:
    """Train L layers from a small random start, and measure how near they come to gradient descent.

    The loss is compared with the exact one of the best scalars, the matrices with the identity.
    """
    from hardness.api import icl

    return icl.train(**options)


@click.command(cls=Command, short_help="The loss against the number of layers.")
@_layers(4)
@_SAMPLES
@option("--steps", "Number of steps: of a descent.", INTEGER, 600)
@_study
def curves(**options: Any) -> Any:
    """Give the loss for 1 .. LAYERS layers: optimal steps, GD++, and what training finds."""
    from hardness.api import icl

    return icl.curves(**options)
