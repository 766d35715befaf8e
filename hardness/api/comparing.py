"""Compare learners over sizes and on ladders, with certified bounds."""

import re
import shlex
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Unpack

from hardness.api import progress, sources
from hardness.api.keeping import KeptRuns, kept, read_keeping
from hardness.api.limits import budget_of
from instances.arguments import exact, integral, one_of, text_argument
from instances.errors import UsageError
from instances.userfile import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardness.api.sources import Learners, Source
    from hardness.runs import Comparison, Least, Stress
    from instances import Family
    from instances.result import Answer

    Number = int | float | str | Fraction


def compare(
    source: "Source",
    over: str,
    learner: "Learners | None" = None,
    *,
    seeds: int = 3,
    tau: "Number" = "0.1",
    seed: int = 0,
    **more: Unpack[KeptRuns],
) -> "Comparison":
    """Run learners over a range of sizes, next to the certified bounds.

    Parameters
    ----------
    source : str, Family or class of functions
        A SPEC without the parameter that varies, or an object that has it.
    over : str
        The parameter and its values, as "d=8..20", "d=8..20..4" or "d=8,12".
    learner : str, object or list, optional
        One or several, by name, "path.py:Name" or as objects. "none" gives bounds alone. If it is
        not given, a few run that take the family.
    seeds : int
        Instances at each size, from `seed` on.
    tau : number
        Tolerance of STAT.
    seed : int
        The first one.
    **more
        Fields of `KeptRuns`: budgets (`budget_seconds` is 60 if it is not given); `out`, where
        runs are kept; `jobs`, the number of processes; `fresh`, `force`, `backend`, `scheduler`.

    Returns
    -------
    Comparison
        Runs and bounds; `to_frame` makes a pandas DataFrame of the runs.

    Raises
    ------
    UsageError
        For a learner that cannot run, or values out of range.
    AlreadyExists
        If the FILE at `out` exists and `force` is not given.

    Examples
    --------
    >>> compared = compare("parity:m=2", "d=6..8", "elimination", seeds=2, jobs=1)
    >>> compared.to_frame().groupby("d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    from hardness.bounds import BoundParameters
    from hardness.runs.comparison import default_learners, planned, run_planned

    limits, keeping = read_keeping(more)
    spec, limit = _without(over, source, "compare"), budget_of(limits)
    over, tau = text_argument("over", over), exact("tau", tau)
    seeds, seed = integral("seeds", seeds, 1), integral("seed", seed, 0)
    names = default_learners(spec, over) if learner is None else sources.names(learner)
    given = {"seeds": (seeds, 3), "tau": (tau, Fraction(1, 10)), "seed": (seed, 0)}
    options = {name: value for name, (value, default) in given.items() if value != default}
    options |= limits | {"out": keeping.get("out")}
    line = command_line(spec, over, () if learner is None else names, options)
    names = () if names == ("none",) else names
    plan = planned(spec, over, names, seeds, seed, limit, BoundParameters(tau=tau), line)
    total = len(plan.specs) * len(plan.learners) * seeds
    with kept(keeping, plan, total, "running learners") as (plan, executor, keep):
        result = run_planned(plan, executor)
        keep(result)
    return result


def _without(over: str | None, source: "Source", command: str) -> str:
    """Return the SPEC of a source; raises UsageError if it sets the parameter that varies.

    An object always has a value of it, which is replaced.
    """
    spec = sources.spec_of(source, command)
    parameter = str(over).partition("=")[0].strip()
    named = split(spec)
    stated = named.parameters if named else spec.partition(":")[2]
    if isinstance(source, str) and re.search(rf"(^|,)\s*{re.escape(parameter)}\s*=", stated):
        raise UsageError(f"{parameter} stands in {spec[:80]} and in --over: give it once")
    return spec


def command_line(spec: str, over: str, learners: Iterable[str], options: Mapping[str, Any]) -> str:
    """Write the command that makes a comparison.

    >>> command_line("parity:m=2", "d=6..8", ["trivial"], {"seeds": 2, "out": None})
    'hardness compare parity:m=2 --over d=6..8 --learner trivial --seeds 2'
    """
    words = ["hardness", "compare", spec, "--over", over]
    words += [word for name in learners for word in ("--learner", name)]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def least(
    source: "Source",
    learner: "Learners",
    over: str | None = None,
    *,
    seeds: int = 15,
    unit: Literal["examples", "queries", "values"] = "examples",
    total: int = 10**8,
    tau: "Number" = "0.1",
    seed: int = 0,
    **more: Unpack[KeptRuns],
) -> "Least":
    """Find the smallest number of examples, queries or values with which a learner succeeds.

    Each seed's threshold is searched on nested prefixes of one instance's stream: doubling until
    three consecutive sizes succeed, then bisection. The median of the seeds has an exact interval.

    Parameters
    ----------
    source : str, Family or class of functions
        A SPEC; with `over` without the parameter that varies.
    learner : str, object or list
        One or several, by name, "path.py:Name" or as objects.
    over : str, optional
        The parameter and its values, as "d=8..20..4"; one size if it is not given.
    seeds : int
        Instances whose thresholds count, at least 6. Three more are pilots.
    unit : {"examples", "queries", "values"}
        What is counted.
    total : int
        The most of the unit in all runs of a learner at one size.
    tau : number
        Tolerance of STAT.
    seed : int
        The first one.
    **more
        Fields of `KeptRuns`: budgets (`budget_seconds` is 60 if it is not given); `out`, where
        runs are kept; `jobs`, the number of processes; `fresh`, `force`, `backend`, `scheduler`.

    Returns
    -------
    Least
        A cell for each learner and size: thresholds, their median and its interval.

    Raises
    ------
    UsageError
        For a learner that cannot run, or values out of range.
    AlreadyExists
        If the FILE at `out` exists and `force` is not given.

    Examples
    --------
    >>> searched = least("parity:d=8,m=2", "elimination", seeds=6, jobs=1)
    >>> searched.cells[0].interval
    (64, 91)
    """
    from hardness.runs.least import PILOTS, planned, run_planned

    limits, keeping = read_keeping(more)
    names, spec = sources.names(learner), _without(over, source, "least")
    within, limit = exact("tau", tau), budget_of(limits)
    over = None if over is None else text_argument("over", over)
    one_of("unit", unit, ("examples", "queries", "values"))
    seeds, seed = integral("seeds", seeds, 1), integral("seed", seed, 0)
    total = integral("total", total, 1)
    plan = planned(spec, over, names, seeds, seed, unit, limit, total, within)
    searches = len(plan.specs) * len(plan.learners) * (seeds + PILOTS)
    with kept(keeping, plan, searches, "searching thresholds") as (plan, executor, keep):
        result = run_planned(plan, executor)
        keep(result)
    return result


def ladders(ladder: str | None = None) -> "Answer":
    """List the ladders, or the levels of one.

    Parameters
    ----------
    ladder : str, optional
        The name of a ladder.

    Returns
    -------
    Answer
        Ladders or levels, as `data`.

    Raises
    ------
    UsageError
        For an unknown name.

    Examples
    --------
    >>> ladders("parity-v1").data["levels"][0]["spec"]
    'parity:d=8,m=1,noise=0,rho=3'
    """
    from hardness.report.stress import ladder_words, ladders_table
    from instances.ladders import LADDERS
    from instances.ladders import ladder as named
    from instances.result import Answer

    if ladder is not None:
        text_argument("ladder", ladder)
        chosen = named(ladder)
        data = chosen.to_dict()
        return Answer(data=data, message=ladder_words(chosen), rows=data["levels"])
    listed = tuple(LADDERS.values())
    rows = [{"name": row.name, "levels": len(row.levels), "about": row.about} for row in listed]
    data = {"ladders": [row.to_dict() for row in listed]}
    return Answer(data=data, message=ladders_table(listed), rows=rows)


def stress(
    learner: "Learners" = (),
    *,
    ladder: str | None = None,
    on: "str | Sequence[str | Family]" = (),
    seeds: int = 5,
    reference: "Learners | None" = None,
    seed: int | None = None,
    **more: Unpack[KeptRuns],
) -> "Stress":
    """Run learners on a ladder, level by level, until each solves no instance of one.

    Instances are fresh: their seeds come from the operating system, unless `seed` is given.

    Parameters
    ----------
    learner : str, object or list
        One or several, by name, "path.py:Name" or as objects.
    ladder : str, optional
        A ladder by its name, or FILE.toml.
    on : str, Family or list, optional
        A ladder of your own in place of `ladder`: SPECs or families in this order.
    seeds : int
        Instances of each level. To pass a level at 95 % takes at least 5.
    reference : str, object or list, optional
        Learners to compare with; "none" for none. If it is not given, those of the ladder.
    seed : int, optional
        Of the instances.
    **more
        Fields of `KeptRuns`: budgets; `out`, where runs are kept; `jobs`, the number of
        processes; `fresh`, `force`, `backend` and `scheduler`. A budget replaces
        that of every level.

    Returns
    -------
    Stress
        An attempt for each learner: its runs, and the levels that it passes.

    Raises
    ------
    UsageError
        For a learner that cannot run, or values out of range.
    AlreadyExists
        If the FILE at `out` exists and `force` is not given.

    Examples
    --------
    >>> stressed = stress("lowdegree", on=["parity:d=8,m=2", "parity:d=8,m=3"], seed=1, jobs=1)
    >>> stressed.attempts[0].held
    1
    """
    from hardness.runs.stress import planned, run_planned, too_few_queries
    from instances.ladders import ladder as named
    from instances.ladders import ladder_of

    limits, keeping = read_keeping(more)
    seeds, ladder = integral("seeds", seeds, 1), ladder and text_argument("ladder", ladder)
    seed = None if seed is None else integral("seed", seed, 0)
    if not learner:
        raise UsageError("stress needs --learner NAME, or --list (in Python: `ladders()`)")
    if bool(ladder) == bool(on):
        raise UsageError("stress needs --ladder NAME or --on SPEC, one of the two")
    several: Any = (on,) if isinstance(on, str) or not isinstance(on, Iterable) else on
    chosen = named(ladder) if ladder else ladder_of(sources.specs_of(several, "stress"))
    tested = sources.several(learner)
    compared = () if reference is None else sources.several(reference)
    all_names, limit = sources.names((*tested, *compared)), budget_of(limits, None)
    names, references = all_names[: len(tested)], all_names[len(tested) :]
    references = chosen.references if reference is None else references
    references = () if references == ("none",) else references
    if seed is None:
        for name in (*names, *references):
            sources.require_unseen(sources.learner(name), keeping.get("out"))
    for warning in too_few_queries((*names, *references), chosen, limit):
        progress.note(warning)
    plan = planned(names, chosen, seeds, seed, limit, references)
    total = len(plan.learners) * len(chosen.levels) * seeds
    with kept(keeping, plan, total, "running") as (plan, executor, keep):
        result = run_planned(plan, executor)
        keep(result)
    return result
