"""Run many jobs, and keep their results so that the same command can continue."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from hardness.api import progress
from hardness.api.limits import Limits, cores
from instances.arguments import located, one_of, switch, text_argument
from instances.errors import AlreadyExists, ToolkitError, UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.runs.jobs import Executor, Work
    from hardness.runs.record import Record

BACKENDS = ("local", "dask")


class Keeping(TypedDict, total=False):
    """Where runs are kept, and where they are done.

    out: a folder, in which the same command continues, or a FILE for the table. fresh: delete the
    runs in the folder and begin again. jobs: processes, None for all cores. backend, scheduler:
    "local", or "dask" with the address tcp://HOST:PORT of its scheduler. force: replace the file at
    `out`.
    """

    out: "str | PathLike[str] | None"
    fresh: bool
    jobs: int | None
    backend: str
    scheduler: str | None
    force: bool


class KeptRuns(Limits, Keeping, total=False):
    """Limits on what learners may use, and where their runs are kept."""


def read_keeping(options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split and check arguments: those of `Limits`, and those of `Keeping`.

    Raises UsageError for a wrong value, and TypeError for an unknown name.
    """
    limits = {name: value for name, value in options.items() if name in Limits.__annotations__}
    keeping = {name: value for name, value in options.items() if name not in limits}
    if unknown := [name for name in keeping if name not in Keeping.__annotations__]:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    for name in keeping.keys() & {"fresh", "force"}:
        switch(name, keeping[name])
    if keeping.get("out") is not None:
        keeping["out"] = Path(located("out", keeping["out"]))
    one_of("backend", keeping.get("backend", "local"), BACKENDS)
    if keeping.get("scheduler") is not None:
        text_argument("scheduler", keeping["scheduler"])
    keeping["jobs"] = cores(keeping.get("jobs"))
    return limits, keeping


@contextmanager
def kept(
    keeping: Any, plan: "Record", total: int, label: str
) -> "Iterator[tuple[Any, Executor, Callable[[Any], None]]]":
    """Yield the plan, an executor for its jobs, and a function that writes the result to a file.

    keeping: the second result of `read_keeping`. If `out` has no ending it is a folder. Its runs.db
    has the request and the runs, and the same command continues there. total: most jobs of the
    plan.
    """
    from hardness.report.export import ENDINGS, write
    from hardness.runs.cache import NAME
    from instances.disk import refuse_existing, refuse_unwritable

    out = keeping.get("out")
    form = ENDINGS.get(out.suffix.lower()) if out else None
    require_folder(out)
    foreign = out and not form and out.exists() and not (out / NAME).exists()
    if out and foreign and not (out.is_dir() and not any(out.iterdir())):
        raise AlreadyExists(f"{out} exists and was kept: it holds no runs, give another --out")
    if out and form:
        refuse_existing(out, bool(keeping.get("force")))
    if out:
        refuse_unwritable(out)
    if keeping.get("fresh") and (out is None or form):
        raise UsageError("--fresh needs a folder --out: no runs are kept anywhere else")
    file = None if out is None or form else out / NAME
    rows = plan._kept
    with running(keeping, file, total, label, rows) as runner:
        if runner.cache:
            plan = _continued(plan, runner.cache, bool(keeping.get("fresh")))
        earlier = [runner.cache.count] if runner.cache else []

        def keep(result: Any) -> None:
            if form:
                write(out, form, result, bool(keeping.get("force")))

        def executor(works: "Iterable[Work]") -> "list[Any]":
            works = list(works)
            if runner.cache:
                _require_same_versions(works, runner.cache)
            if earlier and (count := earlier.pop()):
                progress.note(f"{count} {rows} found in {file}, which are not done again")
            return list(runner.run(works))

        yield plan, executor, keep


@contextmanager
def running(
    keeping: Any, file: Path | None, total: int, label: str, rows: str = "runs"
) -> "Iterator[Any]":
    """Yield a Runner that keeps results in a file of runs, if there is one.

    If the block ends with an error or an interrupt, the message says how many runs are kept. Files
    and folders that were created are removed again if there are no runs.
    """
    from hardness.runs.cache import Cache
    from hardness.runs.jobs import Runner
    from instances.disk import os_errors

    created = [path for path in (file, file and file.parent) if path and not path.exists()]
    if file is not None:
        with os_errors(file.parent):
            file.parent.mkdir(parents=True, exist_ok=True)
    cache, done = Cache(file) if file else None, False
    try:
        with (
            progress.counted(total, label) as bar,
            Runner(
                cache=cache,
                backend=keeping.get("backend", "local"),
                scheduler=keeping.get("scheduler"),
                n_jobs=keeping["jobs"],
                progress=bar,
            ) as runner,
        ):
            yield runner
        done = True
    except (KeyboardInterrupt, ToolkitError) as error:
        count = cache.count if cache and cache.in_place else 0
        kept_words = f"{count} {rows} are kept in {file}: the same command goes on" if count else ""
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"interrupted; {kept_words}" if kept_words else "") from error
        if not kept_words or isinstance(error, UsageError):
            raise
        raise type(error)(f"{error}; {kept_words}") from error
    finally:
        if cache:
            abandoned = not done and not cache.count and cache.in_place
            cache.close()
            for path in created if abandoned else ():
                path.rmdir() if path.is_dir() else path.unlink()


def _continued(plan: Any, cache: Any, fresh: bool) -> Any:
    """Return the stored plan of the same command, or store this one in an empty folder.

    Raises UsageError if the folder has runs of another command.
    """
    if fresh:
        cache.clear()
    elif (earlier := cache.request) is not None:
        if not _same(earlier, plan.filed()):
            raise UsageError(
                f"{cache.path.parent} holds runs of another command: give another --out, or "
                "--fresh to begin again there"
            )
        plan = type(plan).read({n: v for n, v in earlier.items() if n != "format"})
        return plan
    cache.store_request(plan.filed())
    return plan


def _require_same_versions(works: "Sequence[Work]", cache: Any) -> None:
    """Raise UsageError if a learner or family has another version than the runs in a folder.

    Otherwise one table would have runs of two versions.
    """
    now = {f"{job.learner} on {job.spec.partition(':')[0]}": job.version for job in works}
    stored = cache.versions
    if changed := [name for name, version in now.items() if stored.get(name, version) != version]:
        raise UsageError(
            f"{cache.path.parent} holds runs of another version of {changed[0]}: give another "
            "--out, or --fresh to begin again there"
        )
    if now.keys() - stored.keys():
        cache.store_request({**stored, **now}, "versions")


def _same(earlier: dict[str, Any], plan: dict[str, Any]) -> bool:
    """Whether two requests are equal, except for the command and base seeds that were drawn."""
    drawn = "operating system"
    ignored = {"command"}
    if earlier.get("seed_source") == plan.get("seed_source") == drawn:
        ignored |= {"base_seed"}
    first, second = (
        {name: value for name, value in request.items() if name not in ignored}
        for request in (earlier, plan)
    )
    return first == second


def require_folder(out: Path | None) -> None:
    """Raise UsageError if the name of a folder has an ending, as of an unknown file format."""
    from hardness.report.export import ENDINGS

    if out and out.suffix.lower() not in ENDINGS and out.suffix[1:].isalpha():
        raise UsageError(
            f"{out}: name a folder without an ending, or a table with one of {', '.join(ENDINGS)}"
        )
