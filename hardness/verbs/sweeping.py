"""Many runs that a file names, done into one file of runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from hardness.verbs import sources
from hardness.verbs.ask import Ask, cores, flag, path
from hardness.verbs.asks import FRESH, JOBS, Sandboxed
from hardness.verbs.command import verb
from hardness.verbs.keeping import BACKEND, SCHEDULER, running
from instances.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardness.runs.results import Runs
    from hardness.runs.sweep import Sweep


def _source(name: str, given: Any) -> Any:
    """Read the path of a sweep file; a dictionary of what it holds stays as it is."""
    return given if isinstance(given, dict) else path("").value(name, given)


@verb(
    "Many runs, named by a file.",
    out="Where to write: the runs, to a file FILE.db.",
    place="own",
)
def sweep(
    file: Annotated["Path | Mapping[str, Any]", Ask("The sweep file.", _source, "FILE")],
    out: Annotated[Path | None, path("A file of runs.", flag="--out")] = None,
    *,
    dry_run: Annotated[bool, flag("Say what would be done, and do nothing.")] = False,
    fresh: Annotated[bool, FRESH] = False,
    backend: Annotated[str, BACKEND] = "local",
    scheduler: Annotated[str | None, SCHEDULER] = None,
    jobs: Annotated[int | None, JOBS] = None,
    **closed: Unpack[Sandboxed],
) -> "Runs | Sweep":
    """Do the runs of a sweep file that the file --out does not hold yet.

    What is done is kept at once, so the same command goes on where it was cut. A cluster is one of
    yours: --backend dask --scheduler tcp://HOST:PORT. From Python a dictionary may stand in the
    place of the file, with objects among its learners and specs.

    >>> few = {"specs": "parity:d=8,m=2", "learners": ["trivial", "elimination"], "seeds": 2}
    >>> sweep(few, jobs=1).to_frame()["learner"].tolist()
    ['elimination', 'elimination', 'trivial', 'trivial']
    """
    from dataclasses import replace

    from hardness.runs.jobs import record_of
    from hardness.runs.results import Runs, read_runs, sort_runs
    from hardness.runs.run import Run
    from hardness.runs.sweep import read_sweep
    from hardness.verbs import progress

    asked = read_sweep(file if isinstance(file, Path) else _named(file))
    if dry_run:
        return asked
    if fresh and out is None:
        raise UsageError("--fresh given without --out: no runs are kept anywhere")
    how = {"jobs": cores(jobs), "backend": backend, "scheduler": scheduler}
    works, kept = asked.works, list[Any]()
    with running(how, out, len(works), "running") as runner:
        if runner.cache:
            if fresh:
                runner.cache.clear()
            if many := runner.cache.count:
                progress.note(f"{many} runs found in {out}, which are not done again")
            runner.cache.ask(asked.filed())
            for place, text in runner.texts(works):
                if not works[place].key:  # of an object, which no file keeps
                    kept.append(record_of(Run, text))
        else:
            kept = runner.run(works)
    if out is None:
        return Runs(source="", name=asked.name, runs=sort_runs(kept))
    made: Runs = read_runs(out)
    return replace(made, runs=sort_runs((*made.runs, *kept))) if kept else made


def _named(given: "Mapping[str, Any]") -> dict[str, Any]:
    """Name the objects in a dictionary of a sweep, as its jobs know them."""

    def spec(one: Any) -> Any:
        return one if isinstance(one, str) else sources.spec_of(one, "sweep")

    def learner(one: Any) -> Any:
        return one if isinstance(one, str | dict) else sources.names(one)[0]

    def table(one: "Mapping[str, Any]") -> dict[str, Any]:
        made = dict(one)
        for name, read in (("specs", spec), ("learners", learner)):
            if name in made:
                several = isinstance(made[name], list | tuple)
                made[name] = [*map(read, made[name] if several else [made[name]])]
        return made

    made = table(given)
    if "grid" in made:
        made["grid"] = [table(one) for one in made["grid"]]
    return made
