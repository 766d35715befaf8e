"""In-context linear regression: closed forms, training and comparisons of attention layers."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from hardness.api import progress
from instances.arguments import integral, located, number_between, one_of, switch, text_argument
from instances.errors import UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.icl.prompts import Prompts
    from hardness.icl.prompts import Study as Studied
    from instances.result import Answer

FILES = ("results.json", "figure.svg")  # files that are written to the folder `out`


class Study(TypedDict, total=False):
    """The distribution of the prompts, and where a study goes.

    d: the dimension of a point, 5; n: points in a prompt, 20; sigma: the covariance of the points
    (identity, diag(..), power(a), toeplitz(r), rotated(..) or a file .npy, .csv, .txt); task: that
    of the tasks, "inverse" or as sigma; noise: the standard deviation of the label noise, 0; out: a
    folder for results.json and figure.svg.
    """

    d: int
    n: int
    sigma: str
    task: str
    noise: float
    seed: int
    out: "str | PathLike[str]"
    force: bool


def _law(options: Study) -> "Prompts":
    """Read the distribution of the prompts; raises UsageError."""
    from hardness.icl.prompts import Prompts

    if unknown := [name for name in options if name not in Study.__annotations__]:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    switch("force", options.get("force", False))
    return Prompts.named(
        d=integral("d", options.get("d", 5), 1),
        n=integral("n", options.get("n", 20), 1),
        sigma=text_argument("sigma", options.get("sigma", "identity")),
        task=text_argument("task", options.get("task", "inverse")),
        noise=number_between("noise", options.get("noise", 0), -math.inf),
        seed=_seed(options),
    )


def _seed(options: Study) -> int:
    return integral("seed", options.get("seed", 0), 0)


def _answer(result: "Studied", options: Study) -> "Answer":
    """Return the answer of a study, and write its files to the folder `out` if it is given."""
    from hardness.report.figures import FIGURES
    from hardness.report.icl import words
    from instances.disk import new_folder, write_bytes, write_json
    from instances.result import Answer

    data = result.to_dict()
    out = Path(located("out", options["out"])) if "out" in options else None
    text = words(result)
    if out:
        with new_folder(out, force=options.get("force", False), ours=FILES) as folder:
            write_json(folder / "results.json", data)
            if entry := FIGURES.get(data["kind"].replace(" ", "-")):  # only curves and steps
                write_bytes(folder / "figure.svg", entry.draw(entry.rows(data)).file("svg"))
        text += f"\n\nwritten: {out}"
    return Answer(data=data, message=text, rows=result._rows())


def optimum(
    *,
    samples: int | None = None,
    **options: Unpack[Study],
) -> "Answer":
    """Give the best single layer of linear attention in closed form, and what speaks for it.

    The smallest loss, a minimum found numerically, Monte Carlo on sampled prompts, and the
    Bayes-optimal predictor. samples: prompts of an estimate, None for what a second or so does.
    options: of `Study`.

    >>> optimum(d=1, n=4, samples=200).data["exact"]
    '1/3'
    """
    from hardness.icl.onelayer import study

    samples = None if samples is None else integral("samples", samples, 2)
    return _answer(study(_law(options), samples, _seed(options)), options)


def steps(*, layers: int = 4, **options: Unpack[Study]) -> "Answer":
    """Give the best steps of gradient descent and of GD++ for 1 .. LAYERS layers, losses exact.

    For tasks whose covariance is the inverse of sigma, where whitening makes both the identity.
    """
    from hardness.icl.steps import exact_curves

    law, layers = _law(options), integral("layers", layers, 1)
    if not law.inverse:
        raise UsageError("exact steps are only known for --task inverse")
    with progress.counted(layers, "solving") as bar:
        result = exact_curves(law.n, law.d, layers, law.noise, _seed(options), progress=bar)
    return _answer(result, options)


def train(
    *,
    layers: int = 3,
    free: Literal["q", "both"] = "q",
    raw: bool = False,
    samples: int | None = None,
    steps: int = 1000,
    restarts: int = 1,
    **options: Unpack[Study],
) -> "Answer":
    """Train L layers from a small random start, and measure how near they come to gradient descent.

    The loss is compared with the exact one of the best scalars, the matrices with the identity.
    free: train Q alone, with P = 0 (gradient descent), or both (GD++). raw: in the coordinates of
    the points, unwhitened. samples: Gram matrices to train on. steps: at most. options: of `Study`.
    """
    from hardness.icl.train import train as train_layers

    one_of("free", free, ("q", "both"))
    switch("raw", raw)
    layers, steps = integral("layers", layers, 1), integral("steps", steps, 1)
    restarts = integral("restarts", restarts, 1)
    samples = None if samples is None else integral("samples", samples, 1)
    with progress.counted(restarts * steps, "training") as bar:
        result = train_layers(
            _law(options),
            layers,
            free=free,
            whiten=not raw,
            samples=samples or 0,
            steps=steps,
            restarts=restarts,
            seed=_seed(options),
            progress=bar,
        )
    return _answer(result, options)


def curves(
    *, layers: int = 4, samples: int | None = None, steps: int = 600, **options: Unpack[Study]
) -> "Answer":
    """Give the loss for 1 .. layers layers: optimal steps, GD++, and what training finds.

    samples: Gram matrices to train on; steps: of a descent; options: of `Study`.
    """
    from hardness.icl.train import curves as train_curves

    layers, steps = integral("layers", layers, 1), integral("steps", steps, 1)
    samples = None if samples is None else integral("samples", samples, 1)
    seed, chosen = _seed(options), {"samples": samples or 0, "steps": steps}
    with progress.counted(2 * layers * steps, "training") as bar:
        result = train_curves(_law(options), layers, seed=seed, **chosen, progress=bar)
    return _answer(result, options)
