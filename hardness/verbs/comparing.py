"""Learners over sizes and up ladders: beside certified bounds, beside one another."""

from pathlib import Path
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
from hardness.verbs.keeping import KeptRungs, KeptRuns, kept
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

PAGE = ("results.json", "report.html", "figure.svg")  # what is in a folder of `compare`


@verb(
    "Learners beside certified bounds, over sizes.",
    out="Where to write: results and the page, to a folder.",
    place="folder",
    ours=PAGE,
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
    """Run learners over a range of sizes beside the certified bounds; --out writes a folder.

    What every seed passed is fitted: how costs grow over the sizes, beside the certified numbers.

    >>> found = compare("parity:m=2", "d=6..8", "elimination", seeds=2, jobs=1)
    >>> found.to_frame().groupby("param_d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    from hardness.bounds import BoundParameters
    from hardness.report.page import save
    from hardness.runs import compare as both
    from hardness.runs import distinct, usual, values_of

    spec, limit = sources.spec_of(source, "compare"), budget_of(how)
    names = usual(spec, over) if learner is None else sources.names(learner)
    names = () if names == ("none",) else names
    asked = {
        "command": "compare",
        "spec": [spec, over],
        "learners": names,
        "seeds": [seed, seeds],
        "tau": str(tau),
        "budget": vars(limit),
    }

    def page(folder: Path, found: "Comparison") -> None:
        save(folder, found, str(how["out"]))

    total = len(values_of(over)[1]) * len(distinct(names)) * seeds
    terms = BoundParameters(tau=exact(called("tau"), tau))
    sources.require_carried([spec], names, how)
    with kept(how, asked, page, PAGE) as (runs, keep):
        with progress.counted(total, "running learners") as bar:
            found = both(spec, over, names, seeds, seed, limit, terms, runs.do, line(), bar)
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


@verb("How far does a learner climb a ladder?", out=FILE, instead=("--list", ladders))
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
    from hardness.runs import stress as climb
    from hardness.runs.stress import too_few_queries
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
    asked = {
        "command": "stress",
        "ladder": chosen.to_dict(),
        "learners": [*names, *beside],
        "seeds": seeds,
        "seed": seed,
        "budget": vars(limit),
    }
    if seed is None:
        for one in (*names, *beside):
            sources.require_unseen(sources.learner(one), how.get("out"))
    for said in too_few_queries((*names, *beside), chosen, limit):
        progress.note(said)

    total = (len(names) + len(beside)) * len(chosen.rungs) * seeds
    sources.require_carried(chosen.specs, (*names, *beside), how)
    with kept(how, asked) as (runs, keep):
        base = runs.base_seed if seed is None else seed
        with progress.counted(total, "climbing") as bar:
            found = climb(names, chosen, seeds, base, limit, runs.do, bar, beside, seed is None)
        keep(found)
    return found
