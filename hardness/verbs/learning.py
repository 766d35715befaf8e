"""A learner at work on one instance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.ask import called, choice, path, thing
from hardness.verbs.asks import (
    A_FILE,
    B_FILE,
    FILE,
    FORCE,
    LEARNER,
    SEED,
    SPEC_OF,
    TAU,
    LearnOptions,
    Teacher,
    budget_of,
    specs,
)
from hardness.verbs.command import verb
from instances.arguments import exact
from instances.errors import ToolkitError, UsageError

if TYPE_CHECKING:
    from fractions import Fraction

    from hardness.learners import Learner
    from hardness.oracles import Budget
    from hardness.runs import Run
    from hardness.runs.own import Split
    from hardness.verbs.sources import Data, Source


@verb("Run one learner on one instance.", out=FILE)
def learn(
    learner: Annotated[object, LEARNER],
    source: Annotated["Source | Data | None", thing("What is to be learned.", specs)] = None,
    *,
    a: Annotated[Path | None, A_FILE] = None,
    b: Annotated[Path | None, B_FILE] = None,
    spec: Annotated[str | None, SPEC_OF] = None,
    oracle: Annotated[
        Literal["samples", "exact", "adversary"],
        choice(
            "How queries are answered; the adversary of the bound draws the secret at the end.",
            *("samples", "exact", "adversary"),
        ),
    ] = "samples",
    tau: Annotated["int | float | str | Fraction", TAU] = "0.1",
    save_layer: Annotated[
        Path | None,
        path(
            "Write the layer to a file: .npz or .safetensors, as staged, levenberg, student or a "
            "learner of yours found it.",
            default="no file",
            writes=True,
        ),
    ] = None,
    save_model: Annotated[
        Path | None,
        path(
            "Write the weights of the trained torch module to a file: .safetensors.",
            default="no file",
            writes=True,
        ),
    ] = None,
    seed: Annotated[
        int | None, SEED(default="0; against the adversary, of the operating system")
    ] = None,
    force: Annotated[bool, FORCE] = False,
    **more: Unpack[LearnOptions],
) -> "Run":
    """Run one learner on an instance of a SPEC, on tokens that a layer of yours labels, or on data.

    SOURCE is a SPEC, a folder of examples, a file of samples (a, b), or data of yours: x and y,
    both (n, k, d), in a .npz or .safetensors. Labels y of the first token alone are (n, 1, d), or
    (n,) if each is a number. The risk is measured on fresh examples, the error on data on a fifth
    of them, which is held out. From Python data is also a pair of arrays (x, y), a teacher an
    AttentionLayer, and `layer` of what comes back the one that `staged`, `levenberg` and `student`
    found, and `model` the trained module of a learner of torch.

    Against the adversary the seed is drawn from the operating system, or given; it is 0 otherwise.
    A given seed is public: who knows it and this code can compute the secret.

    >>> learn("elimination", "parity:d=16,m=3").passed
    True
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(1000, 2, 4))
    >>> learn("linear", (x, x)).held_out_error.value < 1e-12
    True
    """
    from hardness.runs import run

    about = {name: more.pop(name) for name in Teacher.__annotations__ if name in more}  # type: ignore[misc]
    limits, chosen = budget_of(more), sources.learner(learner)
    teacher = about.pop("teacher", None)
    for name, value in about.items():
        if teacher is None and value is not None:
            raise UsageError(f"{called(name)} {value} given: it is of a layer given by --teacher")
    _require_layers(chosen, save_layer)
    if save_model and save_model.suffix != ".safetensors":
        raise UsageError(f"{save_model} given: end its name in .safetensors")
    sources.require_unseen(chosen, a, b)
    source = sources.paired(source, a, b)
    if data := sources.own_data(None if teacher is not None or spec else source, seed or 0):
        if oracle != "samples":
            raise UsageError(f"{called('oracle')} {oracle} given: data of yours answers no queries")
        sources.require_unseen(chosen, source)
        return _saved(_on_data(chosen, data, limits, seed or 0), save_layer, save_model)
    instance, details = None, dict[str, Any]()
    if teacher is not None and source is None and spec is None:
        from hardness.runs.own import taught, verdict

        sources.require_unseen(chosen, teacher)
        instance, details = taught(teacher, seed=seed or 0, **about)
        family, folder = instance.family, None
    elif source is not None and teacher is None:
        family, folder = sources.target(source, spec)
    else:
        raise UsageError("learn needs a SPEC or --teacher FILE, one of the two")
    if oracle == "adversary":
        from hardness.runs import play

        with progress.waited("playing"):
            return play(chosen, family, limits, seed, tau=exact("tau", tau))
    with progress.waited("learning"):
        at = instance or folder or family.instance(seed or 0)
        found = run(chosen, at, limits, seed or 0, oracle=oracle, tau=exact("tau", tau))
    if instance:
        details["verdict"] = verdict(found, instance)
    return _saved(found.updated(details=found.details | details), save_layer, save_model)


def _on_data(chosen: "Learner", data: "Split", limits: "Budget", seed: int) -> "Run":
    from hardness.runs.own import run_on_data

    with progress.waited("learning"):
        return run_on_data(chosen, data, limits, seed)


def _require_layers(learner: "Learner", path: Path | None) -> None:
    """Refuse to save the layer of a learner that finds none."""
    from hardness.runs.registry import LAYERED, LEARNERS

    if path is None:
        return
    if learner.name in LEARNERS and learner.name not in LAYERED:
        raise UsageError(
            f"{called('save_layer')} is of {', '.join(LAYERED)}: {learner.name} finds no layer"
        )
    if path.suffix not in (".npz", ".safetensors"):
        raise UsageError(f"{path} given: end its name in .npz or .safetensors")


def _saved(found: "Run", path: Path | None, weights: Path | None) -> "Run":
    """Write the layer that a run found, and the weights; UsageError for a run that never began."""
    from hardness.runs.jobs import not_loaded

    if not found.began:
        raise not_loaded(found.learner, found.details)
    if weights:
        if found.model is None:
            raise ToolkitError(
                f"{found.learner} hands no module of torch back, or from a file one of over 16 MB: "
                "nothing is written"
            )
        if isinstance(found.model, dict):  # of a learner from a file
            from safetensors.numpy import save_file

            save_file(found.model, str(weights))
        else:
            from safetensors.torch import save_model

            save_model(found.model, str(weights))
    if path:
        if found.layer is None:
            raise ToolkitError(f"no layer was found: {path} was not written")
        found.layer.save(path, force=True)
        progress.note(f"{path}: a layer of {found.layer.m} heads")
    return found
