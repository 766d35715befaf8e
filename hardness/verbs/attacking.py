"""Attacks on secrets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.ask import thing
from hardness.verbs.asks import (
    A_FILE,
    B_FILE,
    LEARNER,
    SEED,
    SEEDS,
    SPEC_OF,
    budget_of,
    specs,
)
from hardness.verbs.command import verb
from hardness.verbs.keeping import OUT, KeptRuns, kept
from instances.errors import ToolkitError, UsageError

if TYPE_CHECKING:
    from hardness.runs.attack import Attacks
    from hardness.verbs.sources import Learners, Source


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
