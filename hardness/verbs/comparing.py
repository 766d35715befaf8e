"""Learners over sizes and up ladders: beside certified bounds, beside one another."""

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.ask import called, text, thing
from hardness.verbs.asks import (
    FILE,
    LEARNER,
    SEED,
    SEEDS,
    TAU,
    budget_of,
    learners,
    specs,
)
from hardness.verbs.asks import ladders as known_ladders
from hardness.verbs.command import line, verb
from hardness.verbs.keeping import OUT, KeptRungs, KeptRuns, kept
from instances.arguments import exact
from instances.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from hardness.runs import Comparison, Stress
    from hardness.verbs.sources import Learners, Source
    from instances import Family
    from instances.result import Answer

    Exact = int | float | str | Fraction


@verb(
    "Learners beside certified bounds, over sizes.",
    out=OUT,
    place="folder",
)
def compare(
    source: Annotated["Source", thing("A SPEC without the parameter that varies.", specs)],
    over: Annotated[str, text("A parameter's range: d=8..20, d=8..20..4, d=8,12.", flag="--over")],
    learner: Annotated[
        "Learners | None",
        LEARNER(
            "repeatable; none: bounds alone.",
            default="a few that run on the family",
            many=True,
            flag="--learner",
        ),
    ] = None,
    *,
    seeds: Annotated[int, SEEDS] = 3,
    tau: Annotated["Exact", TAU] = "0.1",
    seed: Annotated[int, SEED] = 0,
    **how: Unpack[KeptRuns],
) -> "Comparison":
    """Run learners over a range of sizes beside the certified bounds.

    What every seed passed is fitted: how costs grow over the sizes, beside the certified numbers.
    The same command goes on in the folder --out; `hardness report` and `hardness figure` draw it.

    >>> found = compare("parity:m=2", "d=6..8", "elimination", seeds=2, jobs=1)
    >>> found.to_frame().groupby("param_d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    from hardness.bounds import BoundParameters
    from hardness.runs.comparison import done, planned, usual

    spec, limit = sources.spec_of(source, "compare"), budget_of(how)
    names = usual(spec, over) if learner is None else sources.names(learner)
    names = () if names == ("none",) else names
    terms = BoundParameters(tau=exact(called("tau"), tau))
    asked = planned(spec, over, names, seeds, seed, limit, terms, line())
    total = len(asked.specs) * len(asked.learners) * seeds
    with kept(how, asked, total, "running learners") as (asked, do, keep):
        found = done(asked, do)
        keep(found)
    return found


@verb("List the ladders, or the rungs of --ladder.", out=FILE)
def ladders(
    ladder: Annotated[str | None, text("A ladder by its name.", complete=known_ladders)] = None,
) -> "Answer":
    """List the ladders, or the rungs of one.

    >>> ladders("parity-v1").data["rungs"][0]["spec"]
    'parity:d=8,m=1,noise=0,rho=3'
    """
    from hardness.report.stress import ladder_words, ladders_table
    from instances.ladders import LADDERS
    from instances.ladders import ladder as named
    from instances.result import Answer

    if ladder:
        chosen = named(ladder)
        data = chosen.to_dict()
        return Answer(data=data, told=ladder_words(chosen), rows=data["rungs"])
    every = tuple(LADDERS.values())
    rows = [{"name": one.name, "rungs": len(one.rungs), "about": one.about} for one in every]
    data = {"ladders": [one.to_dict() for one in every]}
    return Answer(data=data, told=ladders_table(every), rows=rows)


@verb(
    "How far does a learner climb a ladder?", out=OUT, place="folder", instead=("--list", ladders)
)
def stress(
    learner: Annotated[
        "Learners", LEARNER("repeatable; --list needs none.", many=True, flag="--learner")
    ] = (),
    *,
    ladder: Annotated[str | None, text("A ladder by its name.", complete=known_ladders)] = None,
    on: Annotated[
        "str | Sequence[str | Family]",
        thing("A SPEC; repeatable: a ladder of your own, in this order.", specs, many=True),
    ] = (),
    seeds: Annotated[
        int, SEEDS("of each rung; 5 are the least by which a rung can be held at 95 %.")
    ] = 5,
    reference: Annotated[
        "Learners | None",
        thing(
            "A learner to stand beside, or none; repeatable.",
            learners,
            default="those of the ladder",
            many=True,
        ),
    ] = None,
    seed: Annotated[int | None, SEED(default="of the operating system")] = None,
    **how: Unpack[KeptRungs],
) -> "Stress":
    """Let learners climb a ladder until each passes on none of the seeds of a rung.

    Instances are fresh: their seeds come from the operating system, or from --seed. A --budget-...
    option stands in place of that of every rung.

    >>> found = stress("lowdegree", on=["parity:d=8,m=2", "parity:d=8,m=3"], seed=1, jobs=1)
    >>> found.climbs[0].held
    1
    """
    from hardness.runs.stress import done, planned, too_few_queries
    from instances.ladders import ladder as named
    from instances.ladders import ladder_of

    if not learner:
        raise UsageError("stress needs --learner NAME, or --list (in Python: `ladders()`)")
    if bool(ladder) == bool(on):
        raise UsageError("stress needs --ladder NAME or --on SPEC, one of the two")
    own: Any = on  # the argument is read as several
    chosen = named(ladder) if ladder else ladder_of(sources.specs_of(own, "stress"))
    referred = () if reference is None else sources.several(reference)
    both, limit = sources.names((*sources.several(learner), *referred)), budget_of(how, None)
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
    with kept(how, asked, total, "climbing") as (asked, do, keep):
        found = done(asked, do)
        keep(found)
    return found
