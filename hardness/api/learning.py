"""Run a learner on one instance: `learn`, `distinguish` and `spectrum`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from hardness.api import progress, sources
from hardness.api.limits import Limits, budget_of, cores
from instances.arguments import exact, integral, located, number_between, one_of
from instances.errors import ToolkitError, UsageError

if TYPE_CHECKING:
    from fractions import Fraction
    from os import PathLike

    from hardness.api.sources import Data, Source
    from hardness.learners import Learner
    from hardness.oracles import Budget
    from hardness.runs import Distinction, Run, Spectra
    from hardness.runs.own import Split
    from instances import AttentionLayer, Family

    File = str | PathLike[str]
    Number = int | float | str | Fraction


def learn(
    learner: object,
    source: "Source | Data | None" = None,
    *,
    a: "File | None" = None,
    b: "File | None" = None,
    spec: str | None = None,
    oracle: Literal["samples", "exact", "adversary"] = "samples",
    tau: "Number" = "0.1",
    teacher: "File | AttentionLayer | None" = None,
    tokens: Literal["boolean", "gaussian"] | None = None,
    k: int | None = None,
    noise: "Number | None" = None,
    save_layer: "File | None" = None,
    save_model: "File | None" = None,
    seed: int | None = None,
    force: bool = False,
    **limits: Unpack[Limits],
) -> "Run":
    """Run one learner on an instance of a SPEC, on tokens that your layer labels, or on data.

    Parameters
    ----------
    learner : str or object
        A name, "path.py:Name", or a function, class, scikit-learn estimator or torch module.
    source : str, Family, path or pair of arrays, optional
        A SPEC, a folder of examples, a file of samples (a, b), or data: arrays x and y, both (n,
        k, d), or their .npz or .safetensors file. Labels of the first token alone are (n, 1, d),
        or (n,) if they are numbers.
    a, b : path, optional
        A file for each part of samples, in place of `source`.
    spec : str, optional
        The family of samples that do not state it.
    oracle : {"samples", "exact", "adversary"}
        How statistical queries are answered, within `tau`.
    tau : number
        Tolerance of statistical queries.
    teacher : AttentionLayer or path, optional
        A layer that labels random tokens, in place of `source`.
    tokens : {"boolean", "gaussian"}, optional
        Of a teacher: the distribution of its tokens, gaussian if it is not given.
    k : int, optional
        Of a teacher: the number of tokens, 2 if it is not given.
    noise : number, optional
        Of a teacher: the standard deviation of the noise of its labels, 0 if it is not given.
    save_layer : path, optional
        Write the layer that `staged`, `levenberg`, `student` or your learner fitted, to a .npz or
        .safetensors file.
    save_model : path, optional
        Write the weights of a torch module that was trained, to a .safetensors file.
    seed : int, optional
        Of the instance, 0 if it is not given. Against the adversary it is then drawn from the
        operating system. Who knows the seed can compute the secret.
    force : bool
        Replace the files of `save_layer` and `save_model`.
    **limits
        What the learner may use: fields of `Limits`, as `budget_examples=10_000`. `budget_seconds`
        is 60 if it is not given; None is no limit.

    Returns
    -------
    Run
        Outcome, advice, costs, and the risk on fresh examples with its interval; of data the error
        on the fifth that is held out. `layer` and `model` are what was fitted.

    Raises
    ------
    UsageError
        For what cannot be run.
    AlreadyExists
        If a file to write exists and `force` is not given.
    ToolkitError
        If there is no layer or module to save. Its attribute `partial` is the run.

    Examples
    --------
    >>> learn("elimination", "parity:d=16,m=3").passed
    True
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(1000, 2, 4))
    >>> learn("linear", (x, x)).held_out_error.value < 1e-12
    True
    """
    from hardness.runs import run

    budget, chosen = budget_of(limits), sources.learner(learner)
    one_of("oracle", oracle, ("samples", "exact", "adversary"))
    within, seed = exact("tau", tau), None if seed is None else integral("seed", seed, 0)
    options = _teacher_options(teacher, tokens, k, noise)
    layer, model = _file_to_write("save_layer", save_layer, force), _model_file(save_model, force)
    _require_layers(chosen, layer)
    sources.require_unseen(chosen, a, b)
    source = sources.paired(source, a, b)
    if data := sources.own_data(None if teacher is not None or spec else source, seed or 0):
        if oracle != "samples":
            raise UsageError(f"data of yours answers no queries: leave out --oracle {oracle}")
        sources.require_unseen(chosen, source)
        return _saved(_on_data(chosen, data, budget, seed or 0), layer, model)
    instance, details = None, dict[str, Any]()
    if teacher is not None and source is None and spec is None:
        from hardness.runs.own import taught, verdict

        sources.require_unseen(chosen, teacher)
        instance, details = taught(teacher, seed=seed or 0, **options)
        family, folder = instance.family, None
    elif source is not None and teacher is None:
        family, folder = sources.target(source, spec)
    else:
        raise UsageError("learn needs a SPEC or --teacher FILE, one of the two")
    if oracle == "adversary":
        from hardness.runs import play

        with progress.waited("playing"):
            return play(chosen, family, budget, seed, tau=within)
    with progress.waited("learning"):
        place = instance or folder or family.instance(seed or 0)
        result = run(chosen, place, budget, seed or 0, oracle=oracle, tau=within)
    if instance:
        details["verdict"] = verdict(result, instance)
    return _saved(result.updated(details=result.details | details), layer, model)


def _teacher_options(teacher: Any, tokens: Any, k: Any, noise: Any) -> dict[str, Any]:
    """Check the options of a teacher that are given; raises UsageError if there is no teacher."""
    options = {"tokens": tokens, "k": k, "noise": noise}
    options = {name: value for name, value in options.items() if value is not None}
    if teacher is None and options:
        name, value = next(iter(options.items()))
        raise UsageError(f"--{name} {value} only applies to --teacher FILE")
    if tokens is not None:
        one_of("tokens", tokens, ("boolean", "gaussian"))
    options |= {} if k is None else {"k": integral("k", k, 1)}
    return options | ({} if noise is None else {"noise": exact("noise", noise)})


def _file_to_write(name: str, path: Any, force: bool) -> Path | None:
    """Return a path that may be written, None if none is given; raises ToolkitError."""
    from instances.disk import refuse_existing, refuse_unwritable

    if path is None:
        return None
    file = Path(located(name, path))
    refuse_existing(file, force)
    refuse_unwritable(file)
    return file


def _model_file(path: Any, force: bool) -> Path | None:
    """Return the path for the weights of a module; raises UsageError for a wrong ending."""
    file = _file_to_write("save_model", path, force)
    if file and file.suffix != ".safetensors":
        raise UsageError(f"{file}: end its name in .safetensors")
    return file


def _on_data(chosen: "Learner", data: "Split", limits: "Budget", seed: int) -> "Run":
    from hardness.runs.own import run_on_data

    with progress.waited("learning"):
        return run_on_data(chosen, data, limits, seed)


def _require_layers(learner: "Learner", path: Path | None) -> None:
    """Raise UsageError if a layer is to be saved but the learner finds none."""
    from hardness.runs.registry import LAYERED, LEARNERS

    if path is None:
        return
    if learner.name in LEARNERS and learner.name not in LAYERED:
        raise UsageError(f"{learner.name} finds no layer to save: {', '.join(LAYERED)} do")
    if path.suffix not in (".npz", ".safetensors"):
        raise UsageError(f"{path}: end its name in .npz or .safetensors")


def _saved(run: "Run", path: Path | None, weights: Path | None) -> "Run":
    """Write the layer and the weights of a run; raises UsageError if its learner did not load.

    If there is none to write, it raises ToolkitError, whose `partial` is the run.
    """
    from hardness.runs.jobs import not_loaded

    if not run.began:
        raise not_loaded(run.learner, run.details)
    if weights:
        if run.model is None:
            raise _nothing_to_save(
                run,
                f"{run.learner} hands no module of torch back, or from a file one of over 16 MB: "
                "nothing is written",
            )
        if isinstance(run.model, dict):  # the weights from the process of a learner in a file
            from safetensors.numpy import save_file

            save_file(run.model, str(weights))
        else:
            from safetensors.torch import save_model

            save_model(run.model, str(weights))
    if path:
        if run.layer is None:
            raise _nothing_to_save(run, f"no layer was found: {_no_layer(run)}; {path} not written")
        run.layer.save(path, force=True)
        progress.note(f"{path}: a layer of {run.layer.m} heads")
    return run


def _nothing_to_save(run: "Run", message: str) -> ToolkitError:
    """Build an error that carries the run, so that the command prints it all the same."""
    error: Any = ToolkitError(message)
    error.partial = run
    return error


def _no_layer(run: "Run") -> str:
    """Say why a run has no layer."""
    from hardness.runs.names import short

    if reason := run.details.get("reported", run.details).get("no_layer"):
        return str(reason)
    if run.model is not None:
        return "a torch module must have a method layer() or be a MultiheadAttention, on tokens"
    return f"{short(run.learner)} gave none, and the run ended as {run.outcome.value}"


def distinguish(
    learner: object,
    source: "str | Family",
    *,
    trials: int = 20,
    confidence: "Number" = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    **limits: Unpack[Limits],
) -> "Distinction":
    """Measure a learner's advantage in telling labels of a random member from random labels.

    Parameters
    ----------
    learner : str or object
        A name, "path.py:Name", or an object.
    source : str or Family
        A SPEC or a family.
    trials : int
        How many games: half of them with a member, half with uniformly random labels.
    confidence : number
        Of the interval of the advantage.
    seed : int
        Of members, labels and learners.
    jobs : int, optional
        The number of processes; all cores if it is not given.
    **limits
        What the learner may use: fields of `Limits`, as `budget_examples=10_000`. `budget_seconds`
        is 60 if it is not given; None is no limit.

    Returns
    -------
    Distinction
        The advantage with its interval, and the game's rows.

    Raises
    ------
    UsageError
        For a family whose labels have no uniform distribution, or a learner that cannot be loaded.
    """
    from hardness.runs import distinguish as play_trials
    from hardness.runs.jobs import require_loaded

    trials, seed = integral("trials", trials, 2), integral("seed", seed, 0)
    confidence = number_between("confidence", confidence, 0, 1)
    family = sources.family(source)
    if isinstance(learner, str):
        require_loaded((learner,), family.spec)
    with progress.counted(trials, "playing") as bar:
        return play_trials(
            sources.learner(learner),
            family,
            trials,
            budget_of(limits),
            seed,
            confidence=confidence,
            jobs=cores(jobs),
            progress=bar,
        )


def spectrum(
    source: "Source",
    *,
    learner: object = None,
    top: int = 5,
    draws: int | None = None,
    seed: int = 0,
    **limits: Unpack[Limits],
) -> "Spectra":
    """Give the Walsh weight of a member by degree, and which part of it a learner has learned.

    Parameters
    ----------
    source : str, Family or path
        A SPEC, a family or a folder.
    learner : str or object, optional
        A name, "path.py:Name", or an object; the member alone if it is not given.
    top : int
        How many of the largest coefficients are listed.
    draws : int, optional
        Draws of the first token for each product z of the tokens: all up to d = 11, then at most
        16.
    seed : int
        Of the instance.
    **limits
        What the learner may use: fields of `Limits`, as `budget_examples=10_000`. `budget_seconds`
        is 60 if it is not given; None is no limit.

    Returns
    -------
    Spectra
        Weights by degree and the largest coefficients, of the member and of the hypothesis.

    Raises
    ------
    UsageError
        For a family whose tokens are not -1 and +1, d above 27, or a value out of range.
    ToolkitError
        For a folder without its secret part.
    """
    from dataclasses import replace

    from hardness.runs import spectra
    from hardness.runs.jobs import require_loaded

    top, seed = integral("top", top, 1), integral("seed", seed, 0)
    draws = None if draws is None else integral("draws", draws, 2)
    chosen = None if learner is None else sources.learner(learner)
    family, folder = sources.target(source)
    if isinstance(learner, str):
        require_loaded((learner,), family.spec)
    place: Any = folder or family.instance(seed)
    with progress.counted(1 << min(family.d - 1, 26), "tabulating") as bar:
        result = spectra(place, chosen, budget_of(limits), seed, draws, bar)
    return replace(result, top=top)
