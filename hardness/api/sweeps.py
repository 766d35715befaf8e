"""Many runs that a file names, done into one file of runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.api import sources
from hardness.api.keeping import read_keeping, running
from instances.arguments import located, switch
from instances.errors import UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.runs.results import Runs
    from hardness.runs.sweep import Sweep


def sweep(
    file: "str | PathLike[str] | Mapping[str, Any]",
    out: "str | PathLike[str] | None" = None,
    *,
    dry_run: bool = False,
    fresh: bool = False,
    backend: str = "local",
    scheduler: str | None = None,
    jobs: int | None = None,
) -> "Runs | Sweep":
    """Do the runs of a sweep file that the file --out does not hold yet.

    What is done is kept at once, so the same call goes on where it was cut. file: a TOML file, or a
    dictionary of what it holds, with objects among its learners and specs. out: the file of runs,
    FILE.db. dry_run: give what would be done, and do nothing. fresh: forget the runs in the file.
    jobs: processes, None for all cores. backend, scheduler: "local", or "dask" with the address
    tcp://HOST:PORT of a cluster of yours. Raises UsageError.

    >>> few = {"specs": "parity:d=8,m=2", "learners": ["trivial", "elimination"], "seeds": 2}
    >>> sweep(few, jobs=1).to_frame()["learner_name"].tolist()
    ['elimination', 'elimination', 'trivial', 'trivial']
    """
    from dataclasses import replace

    from hardness.api import progress
    from hardness.runs.jobs import record_of
    from hardness.runs.results import Runs, read_runs, sort_runs
    from hardness.runs.run import Run
    from hardness.runs.sweep import read_sweep

    switch("dry_run", dry_run)
    how = read_keeping({"fresh": fresh, "jobs": jobs, "backend": backend, "scheduler": scheduler})[
        1
    ]
    path = None if out is None else Path(located("out", out))
    asked = read_sweep(_named(file) if isinstance(file, Mapping) else Path(located("file", file)))
    if dry_run:
        return asked
    if fresh and path is None:
        raise UsageError("--fresh needs --out: no runs are kept anywhere else")
    works, kept = asked.works, list[Any]()
    with running(how, path, len(works), "running") as runner:
        if runner.cache:
            held = str((runner.cache.request or {}).get("format", "")).partition("/")[0]
            if held not in ("", str(asked.filed().get("format", "")).partition("/")[0]):
                raise UsageError(f"{path} holds runs of another command: give another --out")
            if fresh:
                runner.cache.clear()
            if many := len(runner.cache.found(work.key for work in works if work.key)):
                progress.note(f"{many} runs found in {path}, which are not done again")
            runner.cache.ask(asked.filed())
            for place, text in runner.texts(works):
                if not works[place].key:  # of an object, which no file keeps
                    kept.append(record_of(Run, text))
        else:
            kept = runner.run(works)
    if path is None:
        return Runs(source="", name=asked.name, runs=sort_runs(kept))
    made: Runs = read_runs(path)
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
