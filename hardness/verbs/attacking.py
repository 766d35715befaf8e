"""Attacks on secrets, games of telling labels from coins, and spectra of what was learned."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.ask import thing, whole
from hardness.verbs.asks import (
    A_FILE,
    B_FILE,
    CONFIDENCE,
    FILE,
    JOBS,
    LEARNER,
    SEED,
    SEEDS,
    SPEC_OF,
    Limits,
    budget_of,
    specs,
)
from hardness.verbs.command import verb
from hardness.verbs.keeping import OUT, KeptRuns, kept
from instances.errors import ToolkitError, UsageError

if TYPE_CHECKING:
    from hardness.runs import Distinction, Spectra
    from hardness.runs.attack import Attacks
    from hardness.verbs.sources import Learners, Source
    from instances import Family


@verb("Look for the secret, over seeds.", out=OUT, place="folder")
def attack(
    source: Annotated["Source | None", thing("What is attacked.", specs)] = None,
    learner: Annotated[
        "Learners | None",
        LEARNER(
            "repeatable.",
            default="all attacks that run on it, but for dual",
            many=True,
            flag="--learner",
        ),
    ] = None,
    *,
    a: Annotated[Path | None, A_FILE] = None,
    b: Annotated[Path | None, B_FILE] = None,
    spec: Annotated[str | None, SPEC_OF] = None,
    seeds: Annotated[int, SEEDS("of a SPEC.")] = 3,
    seed: Annotated[int, SEED] = 0,
    **how: Unpack[KeptRuns],
) -> "Attacks":
    """Look for the secret of fresh instances of a SPEC, or of a folder or a file of samples.

    A file is a table of integers (.csv, .npy; n columns of A, then b), arrays A and b (.npz,
    .safetensors), or a Darmstadt challenge (.txt). Of a learner of labels, as mlp or yours, the
    secret is read off what it learned: decode:LEARNER.

    >>> attack("parity:d=16,m=3", "elimination", seeds=2, jobs=1).recovered
    2
    """
    from hardness.report.studies import planned_words
    from hardness.runs import attack as look
    from hardness.runs import attacks_on, distinct, require_support
    from hardness.runs.attack import as_attack, estimate_of, out_of_reach, planned
    from hardness.runs.registry import parse_learner

    names = () if learner is None else sources.names(learner)
    source = sources.paired(source, a, b)
    family, folder = sources.target(source, spec)
    names = tuple(as_attack(name, family) for name in names)
    chosen = distinct(names) if names else attacks_on(family)
    if not chosen:
        raise UsageError(f"no attack here runs on it: {family.lacks('linear_forms')}")
    stopped = {} if names else out_of_reach(family, chosen)
    chosen = tuple(name for name in chosen if name not in stopped) or chosen
    for name in names:
        require_support(parse_learner(name), family)  # before any of them starts
    limit, found = budget_of(how), []
    asked = planned(family, chosen, seeds, seed, limit)
    out = how.get("out")
    if folder and out and not out.suffix:
        raise UsageError(f"--out {out} given: of one instance the answer goes to a FILE.json")
    total = len(chosen) * (1 if folder else seeds)
    with kept(how, asked, total, "attacking") as (asked, do, keep):
        for name in chosen:
            takes = estimate_of(name, family) if progress.seen() else None
            if takes and takes.beta:
                progress.note(planned_words(name, takes))
            try:
                found.append(look(name, folder or family, seeds, seed, limit, do))
            except ToolkitError as error:
                if names:
                    raise
                stopped[name] = str(error)
        if not found:
            raise ToolkitError(next(iter(stopped.values())))
        every = asked.updated(attacks=tuple(found), not_run=stopped)
        keep(every)
    return every


@verb("Does a learner tell labels from coins?", out=FILE)
def distinguish(
    learner: Annotated[object, LEARNER],
    source: Annotated["str | Family", thing("A SPEC.", specs)],
    *,
    trials: Annotated[
        int, whole("Number of trials, half of them with a member, half with coins.", 2)
    ] = 20,
    confidence: Annotated[float, CONFIDENCE] = 0.95,
    seed: Annotated[int, SEED] = 0,
    jobs: Annotated[int | None, JOBS] = None,
    **limits: Unpack[Limits],
) -> "Distinction":
    """Play a learner against labels of a random member or coins, and report its advantage.

    From Python a learner may be an object of yours.
    """
    from hardness.runs import distinguish as told
    from hardness.runs.jobs import require_loaded
    from hardness.verbs.ask import cores

    family = sources.family(source)
    if isinstance(learner, str):
        require_loaded((learner,), family.spec)
    with progress.counted(trials, "playing") as bar:
        return told(
            sources.learner(learner),
            family,
            trials,
            budget_of(limits),
            seed,
            confidence=confidence,
            jobs=cores(jobs),
            progress=bar,
        )


@verb("Walsh spectrum of a member and of a hypothesis.", out=FILE)
def spectrum(
    source: Annotated["Source", thing("A SPEC or a folder.", specs)],
    *,
    learner: Annotated[object, LEARNER(default="none, the member alone")] = None,
    top: Annotated[int, whole("Largest coefficients to show.")] = 5,
    draws: Annotated[
        int | None,
        whole(
            "Number of draws: of X_1, for each z.",
            2,
            default="all up to d = 11, then 16 or fewer",
        ),
    ] = None,
    seed: Annotated[int, SEED] = 0,
    **limits: Unpack[Limits],
) -> "Spectra":
    """Show the weight of a member by degree, and which part of it a learner has learned."""
    from dataclasses import replace

    from hardness.runs import spectra
    from hardness.runs.jobs import require_loaded

    chosen = None if learner is None else sources.learner(learner)
    family, folder = sources.target(source)
    if isinstance(learner, str):
        require_loaded((learner,), family.spec)
    at: Any = folder or family.instance(seed)
    with progress.counted(1 << min(family.d - 1, 26), "tabulating") as bar:
        found = spectra(at, chosen, budget_of(limits), seed, draws, bar)
    return replace(found, top=top)
