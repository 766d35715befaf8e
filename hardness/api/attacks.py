"""Attack the secrets of instances or samples."""

from typing import TYPE_CHECKING, Unpack

from hardness.api import progress, sources
from hardness.api.keeping import KeptRuns, kept, read_keeping
from hardness.api.limits import budget_of
from instances.arguments import integral
from instances.errors import ToolkitError, UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.api.sources import Learners, Source
    from hardness.runs.attack import Attacks

    File = str | PathLike[str]


def attack(
    source: "Source | None" = None,
    learner: "Learners | None" = None,
    *,
    a: "File | None" = None,
    b: "File | None" = None,
    spec: str | None = None,
    seeds: int = 3,
    seed: int = 0,
    **more: Unpack[KeptRuns],
) -> "Attacks":
    """Look for the secret of fresh instances of a SPEC, or of a folder or a file of samples.

    Parameters
    ----------
    source : str, Family or path, optional
        A SPEC, a folder, or a file: a table of integers (.csv, .npy; n columns of A, then b),
        arrays A and b (.npz, .safetensors), or a Darmstadt challenge (.txt).
    learner : str, object or list, optional
        Attacks. If it is not given, all that run on the problem, but for `dual`. Of a learner of
        labels, as `mlp` or yours, the secret is computed from what it learned (decode:LEARNER).
    a, b : path, optional
        A file for each part of the samples, in place of `source`.
    spec : str, optional
        The family of samples that do not state it.
    seeds : int
        Instances of a SPEC, from `seed` on.
    seed : int
        The first one.
    **more
        Fields of `KeptRuns`: budgets (`budget_seconds` is 60 if it is not given); `out`, where
        runs are kept; `jobs`, the number of processes; `fresh`, `force`, `backend`, `scheduler`.

    Returns
    -------
    Attacks
        A result for each attack: secrets that the samples confirm, costs, and the estimate.

    Raises
    ------
    UsageError
        For values out of range.
    ToolkitError
        If no attack can run.

    Examples
    --------
    >>> attack("parity:d=16,m=3", "elimination", seeds=2, jobs=1).recovered
    2
    """
    from hardness.report.studies import planned_words
    from hardness.runs import attack as look
    from hardness.runs import attacks_on, distinct_learners, require_support
    from hardness.runs.attack import as_attack, estimate_of, out_of_reach, planned
    from hardness.runs.registry import parse_learner

    limits, keeping = read_keeping(more)
    seeds, seed = integral("seeds", seeds, 1), integral("seed", seed, 0)
    names = () if learner is None else sources.names(learner)
    source = sources.paired(source, a, b)
    family, folder = sources.target(source, spec)
    names = tuple(as_attack(name, family) for name in names)
    chosen = distinct_learners(names) if names else attacks_on(family)
    if not chosen:
        raise UsageError(f"no attack here runs on it: {family.lacks('linear_forms')}")
    stopped = {} if names else out_of_reach(family, chosen)
    chosen = tuple(name for name in chosen if name not in stopped) or chosen
    for name in names:
        require_support(parse_learner(name), family)  # before any of them starts
    limit, completed = budget_of(limits), []
    plan = planned(family, chosen, seeds, seed, limit)
    out = keeping.get("out")
    if folder and out and not out.suffix:
        raise UsageError(f"{out}: the attack on one instance goes to a FILE.json")
    total = len(chosen) * (1 if folder else seeds)
    with kept(keeping, plan, total, "attacking") as (plan, executor, keep):
        for name in chosen:
            takes = estimate_of(name, family) if progress.is_shown() else None
            if takes and takes.beta:
                progress.note(planned_words(name, takes))
            try:
                completed.append(look(name, folder or family, seeds, seed, limit, executor))
            except ToolkitError as error:
                if names:
                    raise
                stopped[name] = str(error)
        if not completed:
            raise ToolkitError(next(iter(stopped.values())))
        results = plan.updated(attacks=tuple(completed), not_run=stopped)
        keep(results)
    return results
