"""In-context linear regression: closed forms, training and comparisons of attention layers."""

import math
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    FOLDER,
    LAYERS,
    POSITIVE,
    SAMPLES,
    SEEDS,
    STEPS,
    Number,
    Whole,
    Wholes,
    emit,
    moved,
    progress,
    shared,
)

_FILES = ("results.json", "figure.svg")  # of the folder of a study
_REAL = Number(exact=False)
_METHODS = click.Choice(["lbfgs", "adam"])


@click.group(invoke_without_command=True, short_help="In-context regression by attention layers.")
@click.pass_context
def icl(context: click.Context) -> None:
    """In-context linear regression by layers of attention.

    A prompt has n labelled points (x, <w, x>) of a hidden task w and a query. Each command writes
    what it found as text or --json; --out DIR keeps results.json and figure.svg.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def law_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the law of the prompts, as one argument `law`, and what stands everywhere."""

    @click.option("--d", type=Whole(), default=5, show_default=True, help="Dimension of a point.")
    @click.option("--n", type=Whole(), default=20, show_default=True, help="Points in a prompt.")
    @click.option(
        "--sigma",
        default="identity",
        show_default=True,
        help="Covariance of the points: identity, diag(..), power(a), toeplitz(r), rotated(..) or "
        "a file .npy, .csv, .txt.",
    )
    @click.option(
        "--task",
        default="inverse",
        show_default=True,
        help="Covariance of the tasks: inverse, that of sigma, or as sigma.",
    )
    @click.option(
        "--noise",
        type=_REAL,
        default=0.0,
        show_default=True,
        help="Standard deviation of the label noise.",
    )
    @shared("seed", "force", "quiet", out=FOLDER)
    @wraps(command)
    def wrapped(
        output: SimpleNamespace, d: int, n: int, sigma: str, task: str, noise: float, **rest: Any
    ) -> Any:
        from instances.disk import refuse_foreign, refuse_unwritable
        from instances.prompts import Prompts

        law = Prompts.named(d, n, sigma, task, noise, output.seed)
        if output.out:
            refuse_foreign(output.out, output.force, _FILES)
            refuse_unwritable(output.out)
        return command(output=output, law=law, **rest)

    return wrapped


def finish(output: SimpleNamespace, data: dict[str, Any]) -> None:
    """Print a study, and keep it in the folder --out."""
    from hardness.report.figures import draw
    from hardness.report.icl import words
    from instances.disk import new_folder, write_bytes, write_json

    if output.out:
        with new_folder(output.out, force=output.force, ours=_FILES) as folder:
            write_json(folder / "results.json", data)
            write_bytes(folder / "figure.svg", draw("icl", data))
    written = f"\n\nwritten: {output.out}" if output.out else ""
    emit(output, data, words(data) + written, write=False)


@icl.command(short_help="One layer: closed forms, evidence, landscape.")
@click.option(
    "--samples",
    type=Whole(min=2),
    help=f"{SAMPLES}: prompts of an estimate.  [default: what a second or so does, 20000 at most]",
)
@law_options
def optimum(output: SimpleNamespace, law: Any, samples: int | None) -> None:
    """Give the best single layer of linear attention in closed form, and what speaks for it.

    The least loss, a minimum found numerically, Monte Carlo on sampled prompts, the Bayes-optimal
    predictor, and the minima over all parameters of the layer.
    """
    from hardness.icl.optimum_study import RUNS, study

    with progress(RUNS, "starting", output) as bar:
        found = study(law, samples, output.seed, progress=bar)
    finish(output, found.to_dict())


@icl.command(short_help="L layers with scalars, solved exactly.")
@click.option("--layers", type=POSITIVE, default=4, show_default=True, help=f"{LAYERS}: the most.")
@law_options
def steps(output: SimpleNamespace, law: Any, layers: int) -> None:
    """Give the best steps of gradient descent and of GD++ for 1 .. LAYERS layers, losses exact.

    For tasks whose covariance is the inverse of sigma, where whitening makes both the identity.
    """
    from hardness.icl.exact import exact_curves
    from instances.errors import UsageError

    if not law.inverse:
        raise UsageError("--task given: exact steps are known for --task inverse alone")
    with progress(layers, "solving", output) as bar:
        found = exact_curves(law.n, law.d, layers, law.noise, output.seed, progress=bar)
    finish(output, found)


@icl.command(short_help="Train L layers of full matrices.")
@click.option("--layers", type=POSITIVE, default=3, show_default=True, help=f"{LAYERS}.")
@click.option(
    "--free",
    type=click.Choice(["q", "both"]),
    default="q",
    show_default=True,
    help="Train Q alone, with P = 0 (gradient descent), or both (GD++).",
)
@click.option(
    "--optimizer", type=_METHODS, default="lbfgs", show_default=True, help="How weights descend."
)
@click.option("--method", type=_METHODS, hidden=True)
@click.option("--raw", is_flag=True, help="Descend in the coordinates of the points, unwhitened.")
@click.option(
    "--samples",
    type=POSITIVE,
    help=f"{SAMPLES}: Gram matrices to train on; of Adam, in each step.  [default: lbfgs 10000 for "
    "Q alone and 3000 for both, adam 256]",
)
@click.option(
    "--steps", type=POSITIVE, help=f"{STEPS}: the most.  [default: lbfgs 1000, adam 3000]"
)
@click.option("--rate", type=_REAL, default=0.02, show_default=True, help="Learning rate: of adam.")
@click.option(
    "--restarts", type=POSITIVE, default=1, show_default=True, help="Number of random starts."
)
@law_options
def train(output: SimpleNamespace, law: Any, raw: bool, restarts: int, **chosen: Any) -> None:
    """Train L layers from a small random start, and measure how near they come to gradient descent.

    The loss stands beside the exact one of the best scalars, the matrices beside the identity.
    """
    from hardness.icl.train import STEPS, train

    if chosen["method"]:
        moved("--method", "--optimizer")
        del chosen["optimizer"]
    else:
        chosen["method"] = chosen.pop("optimizer")
    layers = chosen.pop("layers")
    steps = chosen.pop("steps") or STEPS[chosen["method"]]
    chosen["samples"] = chosen["samples"] or 0
    with progress(restarts * steps, "training", output) as bar:
        found = train(
            law,
            layers,
            whiten=not raw,
            restarts=restarts,
            steps=steps,
            seed=output.seed,
            progress=bar,
            **chosen,
        )
    finish(output, found.to_dict())


@icl.command(short_help="The loss against the number of layers.")
@click.option("--layers", type=POSITIVE, default=4, show_default=True, help=f"{LAYERS}: the most.")
@click.option(
    "--samples",
    type=POSITIVE,
    help=f"{SAMPLES}: Gram matrices to train on.  [default: 10000 for Q alone, 3000 for both]",
)
@click.option(
    "--steps", type=POSITIVE, default=600, show_default=True, help=f"{STEPS}: of a descent."
)
@law_options
def curves(output: SimpleNamespace, law: Any, layers: int, samples: int | None, steps: int) -> None:
    """Give the loss for 1 .. LAYERS layers: optimal steps, GD++, and what training finds."""
    from hardness.icl.curves import curves

    with progress(2 * layers * steps, "training", output) as bar:
        found = curves(
            law, layers, seed=output.seed, samples=samples or 0, steps=steps, progress=bar
        )
    finish(output, found.to_dict())


@icl.command(short_help="Adam against SGD over learning rates.")
@click.option("--layers", type=POSITIVE, default=3, show_default=True, help=f"{LAYERS}.")
@click.option("--steps", type=POSITIVE, default=1000, show_default=True, help=f"{STEPS}.")
@click.option(
    "--batch", type=POSITIVE, default=1000, show_default=True, help="Examples a step: prompts."
)
@click.option(
    "--clip",
    type=_REAL,
    default=1.0,
    show_default=True,
    help="Norm at which gradients are clipped: 0 for none.",
)
@click.option("--rates", help="Learning rates, with commas.  [default: .005 to .5, seven]")
@click.option("--seeds", type=POSITIVE, default=5, show_default=True, help=f"{SEEDS}: reported.")
@click.option(
    "--tuning", type=POSITIVE, default=2, show_default=True, help="Number of seeds to tune on."
)
@law_options
def optimizers(
    output: SimpleNamespace,
    law: Any,
    rates: str | None,
    clip: float,
    seeds: int,
    tuning: int,
    **course: Any,
) -> None:
    """Train linear transformers by momentum SGD and by Adam, at every rate, from the same starts.

    At the published rate .02 and at the rate that is best for each, tuned on seeds of their own.
    """
    from hardness.icl.optimizers import RATES, optimizers
    from hardness.icl.race import Course
    from instances.parameters import number, split_list

    given = [number(rate, "--rates") for rate in split_list(rates)] if rates else RATES
    chosen = list(dict.fromkeys(given))
    made = Course(law=law, clip=clip or math.inf, **course)
    with progress(made.steps * (seeds + tuning), "training", output) as bar:
        found = optimizers(
            made, rates=chosen, seed=output.seed, seeds=seeds, tuning=tuning, progress=bar
        )
    finish(output, found.to_dict())


@icl.command(short_help="Softmax attention on the same task.")
@click.option(
    "--layers",
    type=Wholes(),
    default="1,3",
    show_default=True,
    help=f"{LAYERS}: several, with commas.",
)
@click.option(
    "--heads",
    type=Wholes(),
    default="1,2",
    show_default=True,
    help="Number of heads: several, with commas.",
)
@click.option(
    "--prompts",
    type=POSITIVE,
    default=1000,
    show_default=True,
    help="Number of prompts to train on.",
)
@click.option(
    "--steps", type=POSITIVE, default=100, show_default=True, help=f"{STEPS}: of a descent."
)
@law_options
def softmax(
    output: SimpleNamespace, law: Any, layers: list[int], heads: list[int], prompts: int, steps: int
) -> None:
    """Train softmax attention, and set it beside linear attention and the Bayes predictor.

    Its output divided by n, as published; as it is; and of a trained scale, the fair comparison.
    """
    from hardness.icl.scalars import linear_loss
    from hardness.icl.softmax_study import OUTPUTS, Effort, softmax_study

    with progress(len(OUTPUTS) * len(layers) * len(heads), "training", output) as bar:
        found = softmax_study(
            law,
            layers=layers,
            heads=heads,
            effort=Effort(prompts=prompts, steps=steps),
            seed=output.seed,
            linear=linear_loss(law),
            progress=bar,
        )
    finish(output, found.to_dict())
