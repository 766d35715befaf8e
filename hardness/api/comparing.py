"""Learners over sizes and up ladders: next to certified bounds and to one another."""

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

    source: a SPEC without the parameter that varies, or a class of functions. over: its values, as
    "d=8..20", "d=8..20..4" or "d=8,12". learner: one or several, by name, "path.py:Name" or as an
    object; "none" for bounds alone, None for a few that run on the family. seeds: instances at each
    size, from `seed` on. tau: the tolerance of STAT. more: of `KeptRuns`. Raises UsageError.

    >>> found = compare("parity:m=2", "d=6..8", "elimination", seeds=2, jobs=1)
    >>> found.to_frame().groupby("d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    from hardness.bounds import BoundParameters
    from hardness.runs.comparison import done, planned, usual

    limits, how = read_keeping(more)
    spec, limit = _without(over, source, "compare"), budget_of(limits)
    over, tau = text_argument("over", over), exact("tau", tau)
    seeds, seed = integral("seeds", seeds, 1), integral("seed", seed, 0)
    names = usual(spec, over) if learner is None else sources.names(learner)
    said = {"seeds": (seeds, 3), "tau": (tau, Fraction(1, 10)), "seed": (seed, 0)}
    options = {name: value for name, (value, usually) in said.items() if value != usually}
    options |= limits | {"out": how.get("out")}
    line = command_line(spec, over, () if learner is None else names, options)
    names = () if names == ("none",) else names
    asked = planned(spec, over, names, seeds, seed, limit, BoundParameters(tau=tau), line)
    total = len(asked.specs) * len(asked.learners) * seeds
    with kept(how, asked, total, "running learners") as (asked, do, keep):
        found = done(asked, do)
        keep(found)
    return found


def _without(over: str | None, source: "Source", command: str) -> str:
    """Give the SPEC of a source; raises UsageError for one in which the parameter stands.

    An object of a class has it always: its value is replaced.
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

    source, learner, over: as of `compare`; without `over` one size. seeds: instances whose
    thresholds count, at least 6; three more are pilots. unit: what is counted. total: the most of
    the unit in all runs of a learner at a size; a run has at most the budget of that unit. tau: the
    tolerance of STAT. more: of `KeptRuns`. Raises UsageError.

    >>> found = least("parity:d=8,m=2", "elimination", seeds=6, jobs=1)
    >>> found.cells[0].interval
    (64, 91)
    """
    from hardness.runs.least import PILOTS, done, planned

    limits, how = read_keeping(more)
    names, spec = sources.names(learner), _without(over, source, "least")
    within, limit = exact("tau", tau), budget_of(limits)
    over = None if over is None else text_argument("over", over)
    one_of("unit", unit, ("examples", "queries", "values"))
    seeds, seed = integral("seeds", seeds, 1), integral("seed", seed, 0)
    total = integral("total", total, 1)
    asked = planned(spec, over, names, seeds, seed, unit, limit, total, within)
    searches = len(asked.specs) * len(asked.learners) * (seeds + PILOTS)
    with kept(how, asked, searches, "searching thresholds") as (asked, do, keep):
        found = done(asked, do)
        keep(found)
    return found


def ladders(ladder: str | None = None) -> "Answer":
    """List the ladders, or the levels of one by its name; raises UsageError.

    >>> ladders("parity-v1").data["rungs"][0]["spec"]
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
        return Answer(data=data, told=ladder_words(chosen), rows=data["rungs"])
    every = tuple(LADDERS.values())
    rows = [{"name": one.name, "levels": len(one.rungs), "about": one.about} for one in every]
    data = {"ladders": [one.to_dict() for one in every]}
    return Answer(data=data, told=ladders_table(every), rows=rows)


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

    learner: one or several. ladder: by its name or FILE.toml, or on: SPECs, a ladder of your own in
    this order.
    seeds: instances of each level; at least 5 to pass a level at 95 %. Instances are
    fresh: their seeds come from the operating system, or from `seed`. reference: learners to
    compare with, None for those of the ladder, "none" for none. more: of `KeptRuns`; a limit
    replaces that of every level. Raises UsageError.

    >>> found = stress("lowdegree", on=["parity:d=8,m=2", "parity:d=8,m=3"], seed=1, jobs=1)
    >>> found.climbs[0].held
    1
    """
    from hardness.runs.stress import done, planned, too_few_queries
    from instances.ladders import ladder as named
    from instances.ladders import ladder_of

    limits, how = read_keeping(more)
    seeds, ladder = integral("seeds", seeds, 1), ladder and text_argument("ladder", ladder)
    seed = None if seed is None else integral("seed", seed, 0)
    if not learner:
        raise UsageError("stress needs --learner NAME, or --list (in Python: `ladders()`)")
    if bool(ladder) == bool(on):
        raise UsageError("stress needs --ladder NAME or --on SPEC, one of the two")
    several: Any = (on,) if isinstance(on, str) or not isinstance(on, Iterable) else on
    chosen = named(ladder) if ladder else ladder_of(sources.specs_of(several, "stress"))
    referred = () if reference is None else sources.several(reference)
    both, limit = sources.names((*sources.several(learner), *referred)), budget_of(limits, None)
    names, beside = both[: len(both) - len(referred)], both[len(both) - len(referred) :]
    beside = chosen.references if reference is None else beside
    beside = () if beside == ("none",) else beside
    if seed is None:
        for one in (*names, *beside):
            sources.require_unseen(sources.learner(one), how.get("out"))
    for said in too_few_queries((*names, *beside), chosen, limit):
        progress.note(said)
    asked = planned(names, chosen, seeds, seed, limit, beside)
    total = len(asked.learners) * len(chosen.rungs) * seeds
    with kept(how, asked, total, "running") as (asked, do, keep):
        found = done(asked, do)
        keep(found)
    return found
