"""The least that a learner needs: thresholds over seeds and sizes, beside the certified floor."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.ask import called, choice, text, thing, whole
from hardness.verbs.asks import LEARNER, SEED, SEEDS, TAU, budget_of, specs
from hardness.verbs.command import verb
from hardness.verbs.keeping import KeptRuns, kept
from instances.arguments import exact

if TYPE_CHECKING:
    from hardness.runs import Least
    from hardness.verbs.comparing import Exact
    from hardness.verbs.sources import Learners, Source

LEAST = ("results.json", "figure.svg", "figure.pdf", "table.tex")  # what is in a folder of `least`


@verb(
    "The least examples that a learner needs.",
    out="Where to write: results, figure (svg, pdf) and table (tex), to a folder.",
    place="folder",
    ours=LEAST,
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
    from hardness.report.export import text as written
    from hardness.report.figures import FIGURES
    from hardness.runs import distinct, values_of
    from hardness.runs.least import PILOTS
    from hardness.runs.least import least as search
    from instances.disk import write_bytes, write_json, write_text

    names, spec = sources.names(learner), sources.spec_of(source, "least")
    limit = budget_of(how)
    within, sizes = exact(called("tau"), tau), len(values_of(over)[1]) if over else 1
    asked = {
        "command": "least",
        "spec": [spec, over],
        "learners": names,
        "seeds": [seed, seeds],
        "unit": [unit, total],
        "tau": str(tau),
        "budget": vars(limit),
    }

    def page(folder: Path, found: "Least") -> None:
        write_json(folder / "results.json", found.filed())
        write_text(folder / "table.tex", written("latex", found))
        if over:
            drawn = FIGURES["least"].draw(FIGURES["least"].rows(found))
            for kind in ("svg", "pdf"):
                write_bytes(folder / f"figure.{kind}", drawn.file(kind))

    sources.require_carried([spec], names, how)
    with kept(how, asked, page, LEAST) as (runs, keep):
        with progress.counted(
            sizes * len(distinct(names)) * (seeds + PILOTS), "searching thresholds"
        ) as bar:
            found = search(spec, over, names, seeds, seed, unit, limit, total, within, runs.do, bar)
        keep(found)
    return found
