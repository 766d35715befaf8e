"""Who does many runs, and where they are kept so that the same command goes on."""

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
    """Where runs go, who does them, and whether they go on.

    out: a folder, in which the same command goes on, or a FILE for the table; fresh: forget the
    runs in the folder and begin again; jobs: processes, None for all cores; backend, scheduler: who
    does the runs, "local" or "dask" with the address tcp://HOST:PORT of its scheduler; force:
    replace the file at `out`.
    """

    out: "str | PathLike[str] | None"
    fresh: bool
    jobs: int | None
    backend: str
    scheduler: str | None
    force: bool


class KeptRuns(Limits, Keeping, total=False):
    """What learners may use, and where their runs go."""


def read_keeping(options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split `KeptRuns` into limits and where runs go, read; raises UsageError, TypeError."""
    limits = {name: value for name, value in options.items() if name in Limits.__annotations__}
    how = {name: value for name, value in options.items() if name not in limits}
    if unknown := [name for name in how if name not in Keeping.__annotations__]:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    for name in how.keys() & {"fresh", "force"}:
        switch(name, how[name])
    if how.get("out") is not None:
        how["out"] = Path(located("out", how["out"]))
    one_of("backend", how.get("backend", "local"), BACKENDS)
    if how.get("scheduler") is not None:
        text_argument("scheduler", how["scheduler"])
    how["jobs"] = cores(how.get("jobs"))
    return limits, how


@contextmanager
def kept(
    how: Any, plan: "Record", total: int, label: str
) -> "Iterator[tuple[Any, Executor, Callable[[Any], None]]]":
    """Give what is asked, who does its jobs, and what writes what came of them.

    how: what `read_keeping` read. An `out` without an ending is a folder: its runs.db holds the
    runs and what was asked, and the same command goes on in it. total: how many jobs there are at
    most.
    """
    from hardness.report.export import ENDINGS, write
    from hardness.runs.cache import NAME
    from instances.disk import refuse_existing, refuse_unwritable

    out = how.get("out")
    form = ENDINGS.get(out.suffix.lower()) if out else None
    require_folder(out)
    foreign = out and not form and out.exists() and not (out / NAME).exists()
    if out and foreign and not (out.is_dir() and not any(out.iterdir())):
        raise AlreadyExists(f"{out} exists and was kept: it holds no runs, give another --out")
    if out and form:
        refuse_existing(out, bool(how.get("force")))
    if out:
        refuse_unwritable(out)
    if how.get("fresh") and (out is None or form):
        raise UsageError("--fresh needs a folder --out: no runs are kept anywhere else")
    file = None if out is None or form else out / NAME
    rows = plan._kept
    with running(how, file, total, label, rows) as runner:
        if runner.cache:
            plan = _taken_up(plan, runner.cache, bool(how.get("fresh")))
        earlier = [runner.cache.count] if runner.cache else []

        def keep(result: Any) -> None:
            if form:
                write(out, form, result, bool(how.get("force")))

        def executor(works: "Iterable[Work]") -> "list[Any]":
            works = list(works)
            if runner.cache:
                _require_same_versions(works, runner.cache)
            if earlier and (many := earlier.pop()):
                progress.note(f"{many} {rows} found in {file}, which are not done again")
            return list(runner.run(works))

        yield plan, executor, keep


@contextmanager
def running(
    how: Any, file: Path | None, total: int, label: str, rows: str = "runs"
) -> "Iterator[Any]":
    """Give who does jobs, which keeps them in a file of runs; says what is kept where it is cut."""
    from hardness.runs.cache import Cache
    from hardness.runs.jobs import Runner
    from instances.disk import os_errors

    made = [one for one in (file, file and file.parent) if one and not one.exists()]
    if file is not None:
        with os_errors(file.parent):
            file.parent.mkdir(parents=True, exist_ok=True)
    cache = Cache(file) if file else None
    try:
        with (
            progress.counted(total, label) as bar,
            Runner(
                cache=cache,
                backend=how.get("backend", "local"),
                scheduler=how.get("scheduler"),
                n_jobs=how["jobs"],
                progress=bar,
            ) as runner,
        ):
            yield runner
    except (KeyboardInterrupt, ToolkitError) as error:
        many = cache.count if cache and cache.in_place else 0
        said = f"{many} {rows} are kept in {file}: the same command goes on" if many else ""
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"interrupted; {said}" if said else "") from error
        if not said or isinstance(error, UsageError):
            raise
        raise type(error)(f"{error}; {said}") from error
    finally:
        if cache:
            empty = not cache.count
            cache.close()
            for one in made if empty and cache.in_place else ():  # nothing is left behind
                one.rmdir() if one.is_dir() else one.unlink()


def _taken_up(plan: Any, cache: Any, fresh: bool) -> Any:
    """Take up what a folder holds of the same command, or begin in it; raises UsageError."""
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
    """Refuse a learner or family that is another now than in the runs of a folder.

    The runs of one table would be of two versions. Raises UsageError.
    """
    now = {f"{one.learner} on {one.spec.partition(':')[0]}": one.version for one in works}
    held = cache.versions
    if changed := [name for name, version in now.items() if held.get(name, version) != version]:
        raise UsageError(
            f"{cache.path.parent} holds runs of another version of {changed[0]}: give another "
            "--out, or --fresh to begin again there"
        )
    if now.keys() - held.keys():
        cache.store_request({**held, **now}, "versions")


def _same(earlier: dict[str, Any], plan: dict[str, Any]) -> bool:
    """Whether two requests ask the same; a base seed that is drawn is that of the earlier one."""
    drawn = "operating system"
    left = {"command"}
    if earlier.get("seed_source") == plan.get("seed_source") == drawn:
        left |= {"base_seed"}
    earlier, plan = ({n: v for n, v in one.items() if n not in left} for one in (earlier, plan))
    return earlier == plan


def require_folder(out: Path | None) -> None:
    """Refuse what looks like a file of a format that there is not; raises UsageError."""
    from hardness.report.export import ENDINGS

    if out and out.suffix.lower() not in ENDINGS and out.suffix[1:].isalpha():
        raise UsageError(
            f"{out}: name a folder without an ending, or a table with one of {', '.join(ENDINGS)}"
        )
