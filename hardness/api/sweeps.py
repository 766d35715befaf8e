"""Do the runs of a sweep, and keep them in a file of runs."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.api import sources
from hardness.api.keeping import read_keeping, running
from instances.arguments import located, switch
from instances.disk import damage
from instances.errors import DamagedFile, UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.runs.cache import Cache
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
    """Do the runs of a sweep file that the file `out` does not hold yet.

    What is done is kept at once, so the same call goes on where it stopped.

    Parameters
    ----------
    file : path or dict
        A TOML file, or what it holds, with objects among its learners and specs.
    out : path, optional
        The file of runs, FILE.db.
    dry_run : bool
        Do nothing: give what would be done, and how much of it `out` holds.
    fresh : bool
        Forget the runs in `out`.
    backend : {"local", "dask"}
        Where the runs are done.
    scheduler : str, optional
        Of "dask": the address tcp://HOST:PORT of your cluster.
    jobs : int, optional
        The number of processes; all cores if it is not given.

    Returns
    -------
    Runs or Sweep
        The runs; with `dry_run` what the file asks for.

    Raises
    ------
    UsageError
        For a mistake in the file, with its place.

    Examples
    --------
    >>> few = {"specs": "parity:d=8,m=2", "learners": ["trivial", "elimination"], "seeds": 2}
    >>> sweep(few, jobs=1).to_frame()["learner_name"].tolist()
    ['elimination', 'elimination', 'trivial', 'trivial']
    """
    from dataclasses import replace

    from hardness.api import progress
    from hardness.runs.cache import Cache
    from hardness.runs.jobs import in_cache
    from hardness.runs.results import Runs, sort_texts
    from hardness.runs.sweep import read_sweep

    switch("dry_run", dry_run)
    options = {"fresh": fresh, "jobs": jobs, "backend": backend, "scheduler": scheduler}
    _, keeping = read_keeping(options)
    path = None if out is None else _file_of_runs(Path(located("out", out)))
    plan = read_sweep(_named(file) if isinstance(file, Mapping) else Path(located("file", file)))
    if fresh and path is None:
        raise UsageError("--fresh needs --out: no runs are kept anywhere else")
    works = plan.works
    if dry_run:
        if path is None or fresh or not path.exists():
            return plan
        with Cache(path, writes=False) as cache:
            _require_sweep(cache)
            return replace(plan, source=str(path), done=len(in_cache(cache, works)))
    with running(keeping, path, len(works), "running") as runner:
        if runner.cache:
            _require_sweep(runner.cache)
            if fresh:
                runner.cache.clear()
            if many := len(in_cache(runner.cache, works)):
                progress.note(f"{many} runs found in {path}, which are not done again")
            named = {} if isinstance(file, Mapping) else {"file": str(file)}
            runner.cache.store_request(plan.filed() | named)
        rows = [text for _, text in runner.texts(works)]
        with damage(path) if path else nullcontext():
            texts = sort_texts(rows)
    named_file = "" if isinstance(file, Mapping) else str(file)
    return Runs(source=str(path or ""), name=plan.name, texts=texts, sweep_file=named_file)


def _file_of_runs(path: Path) -> Path:
    """Return a path for a file of runs; raises UsageError for the ending of another format."""
    from hardness.report.export import ENDINGS

    if path.suffix.lower() in (*ENDINGS, ".html", ".toml"):
        raise UsageError(
            f"{path}: sweep keeps its runs in one SQLite file: name it {path.stem}.db, and "
            f"`hardness report {path.stem}.db` prints their table"
        )
    return path


def _require_sweep(cache: "Cache") -> None:
    """Raise UsageError if a file has the request of another command than `sweep`."""
    from hardness.runs.sweep import FORMAT

    request = cache.request or {}
    if not isinstance(request, dict):
        raise DamagedFile(f"{cache.path} is damaged: what was asked is no table")
    kind = str(request.get("format", FORMAT)).partition("/")[0]
    if kind != FORMAT.partition("/")[0]:
        raise UsageError(f"{cache.path} holds runs of another command: give another --out")


def _named(grids: "Mapping[str, Any]") -> dict[str, Any]:
    """Name the objects in a dictionary of a sweep, as its jobs know them."""

    def spec(source: Any) -> Any:
        return source if isinstance(source, str) else sources.spec_of(source, "sweep")

    def learner(source: Any) -> Any:
        return source if isinstance(source, str | dict) else sources.names(source)[0]

    def table(entries: "Mapping[str, Any]") -> dict[str, Any]:
        named = dict(entries)
        for name, read in (("specs", spec), ("learners", learner)):
            if name in named:
                several = isinstance(named[name], list | tuple)
                named[name] = [*map(read, named[name] if several else [named[name]])]
        return named

    named = table(grids)
    if "grid" in named:
        named["grid"] = [table(one) for one in named["grid"]]
    return named
