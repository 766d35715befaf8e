"""In-context linear regression: closed forms, training and comparisons of attention layers."""

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import common, emit


@click.group(short_help="In-context regression by attention layers.")
def icl() -> None:
    """In-context linear regression by layers of attention.

    A prompt has n labelled points (x, <w, x>) of a hidden task w and a query. Each command writes
    what it found as text or --json; --out DIR keeps results.json and figure.svg.
    """


def law_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the law of the prompts, as one argument `law`, and what stands everywhere."""

    @click.option("--d", type=int, default=5, show_default=True, help="Dimension of a point.")
    @click.option("--n", type=int, default=20, show_default=True, help="Points in a prompt.")
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
        "--noise", type=float, default=0.0, show_default=True, help="Standard deviation of labels."
    )
    @common
    @wraps(command)
    def wrapped(
        to: SimpleNamespace, d: int, n: int, sigma: str, task: str, noise: float, **rest: Any
    ) -> Any:
        from instances.disk import refuse_foreign, refuse_unwritable
        from instances.prompts import Prompts

        law = Prompts.named(d, n, sigma, task, noise, to.seed)
        if to.out:
            from hardness.report.icl import FILES

            refuse_foreign(to.out, to.force, FILES)
            refuse_unwritable(to.out)
        return command(to=to, law=law, **rest)

    return wrapped


def finish(to: SimpleNamespace, data: dict[str, Any]) -> None:
    """Print a study, and keep it in the folder --out."""
    from hardness.report.icl import words, write_study

    if to.out:
        write_study(to.out, data, to.force)
    written = f"\n\nwritten: {to.out}" if to.out else ""
    emit(to, data, words(data) + written, write=False)
