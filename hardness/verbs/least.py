"""The least that a learner needs: thresholds over seeds and sizes, beside the certified floor."""

from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from hardness.verbs import sources
from hardness.verbs.ask import called, choice, text, thing, whole
from hardness.verbs.asks import LEARNER, SEED, SEEDS, TAU, budget_of, specs
from hardness.verbs.command import verb
from hardness.verbs.keeping import OUT, KeptRuns, kept
from instances.arguments import exact

if TYPE_CHECKING:
    from hardness.runs import Least
    from hardness.verbs.comparing import Exact
    from hardness.verbs.sources import Learners, Source


@verb(
    "The least examples that a learner needs.",
    out=OUT,
    place="folder",
)
def least(
    source: Annotated["Source", thing("A SPEC without the parameter that varies.", specs)],
    learner: Annotated["Learners", LEARNER("repeatable.", many=True, flag="--learner")],
    over: Annotated[
        str | None,
        text(
            "A parameter's range: d=8..20, d=8..20..4, d=8,12.", flag="--over", default="one size"
        ),
    ] = None,
    *,
    seeds: Annotated[int, SEEDS("whose thresholds count, at least 6; three more are pilots.")] = 15,
    unit: Annotated[
        Literal["examples", "queries", "values"],
        choice("What is counted; seconds differ by machine.", "examples", "queries", "values"),
    ] = "examples",
    total: Annotated[int, whole("Most of the unit in all runs of a learner at a size.")] = 10**8,
    tau: Annotated["Exact", TAU] = "0.1",
    seed: Annotated[int, SEED] = 0,
    **how: Unpack[KeptRuns],
) -> "Least":
    """Find the least number of examples, queries or values by which a learner solves instances.

    Each seed's threshold is searched on nested prefixes of one instance's stream, and confirmed by
    three octaves that pass in a row; the median of the seeds has an exact interval. The most of a
    run is --budget-examples, --budget-queries or --budget-values.

    >>> found = least("parity:d=8,m=2", "elimination", seeds=6, jobs=1)
    >>> found.cells[0].interval
    (64, 91)
    """
    from hardness.runs.least import PILOTS, done, planned

    names, spec = sources.names(learner), sources.spec_of(source, "least")
    within, limit = exact(called("tau"), tau), budget_of(how)
    asked = planned(spec, over, names, seeds, seed, unit, limit, total, within)
    searches = len(asked.specs) * len(asked.learners) * (seeds + PILOTS)
    with kept(how, asked, searches, "searching thresholds") as (asked, do, keep):
        found = done(asked, do)
        keep(found)
    return found
