"""In-context linear regression: closed forms, training and comparisons of attention layers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, Unpack

from hardness.verbs import progress
from hardness.verbs.ask import choice, flag, number, path, text, whole
from hardness.verbs.asks import FORCE, SEED
from hardness.verbs.command import verb
from instances.errors import UsageError

if TYPE_CHECKING:
    from hardness.icl.prompts import Prompts
    from hardness.icl.study import Study as Studied
    from instances.result import Answer

_LAYERS, _SAMPLES = whole("Number of layers"), whole("Number of samples")
_STEPS = whole("Number of steps")
_LAW, _NOISE = "Prompts", "Standard deviation of the label noise."
_SIGMA = (
    "Covariance of the points: identity, diag(..), power(a), toeplitz(r), rotated(..) or a file "
    ".npy, .csv, .txt."
)
_TASK = "Covariance of the tasks: inverse, that of sigma, or as sigma."
_PROMPTS = "Number of samples: prompts of an estimate."
_SECOND = "what a second or so does, 20000 at most"


class Study(TypedDict, total=False):
    """The law of the prompts, and where a study goes."""

    d: Annotated[int, whole("Dimension of a point.", default="5", group=_LAW)]
    n: Annotated[int, whole("Points in a prompt.", default="20", group=_LAW)]
    sigma: Annotated[str, text(_SIGMA, default="identity", group=_LAW)]
    task: Annotated[str, text(_TASK, default="inverse", group=_LAW)]
    noise: Annotated[float, number(_NOISE, default="0", group=_LAW)]
    seed: Annotated[int, SEED(default="0")]
    out: Annotated[Path, path("A folder.", writes=True)]
    force: Annotated[bool, FORCE]


_study: Any = {
    "out": "Where to write: the results, to a folder.",
    "place": "own",
    "ours": ("results.json", "figure.svg"),
}


def _law(given: Study) -> "Prompts":
    from hardness.icl.prompts import Prompts

    said = {"d": 5, "n": 20, "sigma": "identity", "task": "inverse", "noise": 0.0, "seed": 0}
    chosen = {name: given.get(name, usual) for name, usual in said.items()}
    return Prompts.named(**chosen)  # type: ignore[arg-type]


def _answer(found: "Studied", given: Study) -> "Answer":
    """Give a study, and keep it in the folder `out`."""
    from hardness.report.figures import FIGURES
    from hardness.report.icl import words
    from instances.disk import new_folder, write_bytes, write_json
    from instances.result import Answer

    data, out = found.to_dict(), given.get("out")
    told = words(found)
    if out:
        with new_folder(out, force=given.get("force", False), ours=_study["ours"]) as folder:
            write_json(folder / "results.json", data)
            if entry := FIGURES.get(data["kind"].replace(" ", "-")):  # of curves and steps alone
                write_bytes(folder / "figure.svg", entry.draw(entry.rows(data)).file("svg"))
        told += f"\n\nwritten: {out}"
    return Answer(data=data, told=told, rows=found._rows())


@verb("One layer: closed forms and evidence.", **_study)
def optimum(
    *,
    samples: Annotated[int | None, whole(_PROMPTS, 2, default=_SECOND)] = None,
    **given: Unpack[Study],
) -> "Answer":
    """Give the best single layer of linear attention in closed form, and what speaks for it.

    The least loss, a minimum found numerically, Monte Carlo on sampled prompts, and the
    Bayes-optimal predictor.

    >>> optimum(d=1, n=4, samples=200).data["exact"]
    '1/3'
    """
    from hardness.icl.evidence import study

    return _answer(study(_law(given), samples, given.get("seed", 0)), given)


@verb("L layers with scalars, solved exactly.", **_study)
def steps(*, layers: Annotated[int, _LAYERS("the most.")] = 4, **given: Unpack[Study]) -> "Answer":
    """Give the best steps of gradient descent and of GD++ for 1 .. LAYERS layers, losses exact.

    For tasks whose covariance is the inverse of sigma, where whitening makes both the identity.
    """
    from hardness.icl.exact import exact_curves

    law = _law(given)
    if not law.inverse:
        raise UsageError("--task given: exact steps are known for --task inverse alone")
    with progress.counted(layers, "solving") as bar:
        found = exact_curves(law.n, law.d, layers, law.noise, given.get("seed", 0), progress=bar)
    return _answer(found, given)


@verb("Train L layers of full matrices.", **_study)
def train(
    *,
    layers: Annotated[int, _LAYERS] = 3,
    free: Annotated[
        Literal["q", "both"],
        choice("Train Q alone, with P = 0 (gradient descent), or both (GD++).", "q", "both"),
    ] = "q",
    raw: Annotated[bool, flag("Descend in the coordinates of the points, unwhitened.")] = False,
    samples: Annotated[
        int | None,
        _SAMPLES("Gram matrices to train on.", default="10000 for Q alone, 3000 for both"),
    ] = None,
    steps: Annotated[int, _STEPS("the most.")] = 1000,
    restarts: Annotated[int, whole("Number of random starts.")] = 1,
    **given: Unpack[Study],
) -> "Answer":
    """Train L layers from a small random start, and measure how near they come to gradient descent.

    The loss stands beside the exact one of the best scalars, the matrices beside the identity.
    """
    from hardness.icl.train import train as trained

    with progress.counted(restarts * steps, "training") as bar:
        found = trained(
            _law(given),
            layers,
            free=free,
            whiten=not raw,
            samples=samples or 0,
            steps=steps,
            restarts=restarts,
            seed=given.get("seed", 0),
            progress=bar,
        )
    return _answer(found, given)


@verb("The loss against the number of layers.", **_study)
def curves(
    *,
    layers: Annotated[int, _LAYERS("the most.")] = 4,
    samples: Annotated[
        int | None,
        _SAMPLES("Gram matrices to train on.", default="10000 for Q alone, 3000 for both"),
    ] = None,
    steps: Annotated[int, _STEPS("of a descent.")] = 600,
    **given: Unpack[Study],
) -> "Answer":
    """Give the loss for 1 .. LAYERS layers: optimal steps, GD++, and what training finds."""
    from hardness.icl.train import curves as drawn

    seed, chosen = given.get("seed", 0), {"samples": samples or 0, "steps": steps}
    with progress.counted(2 * layers * steps, "training") as bar:
        found = drawn(_law(given), layers, seed=seed, **chosen, progress=bar)
    return _answer(found, given)
