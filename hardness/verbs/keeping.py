"""Runs of a verb that are kept until all are done: an interrupted one is taken up again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.verbs.ask import cores
from instances.errors import ToolkitError

if TYPE_CHECKING:
    from hardness.sweep.resumable import Resumable

Keep = Callable[[Any], None]


@contextmanager
def kept(
    out: Path | None,
    asked: dict[str, Any],
    jobs: int | None,
    resume: bool,
    force: bool,
    folder: Callable[[Path, Any, bool], None] | None = None,
) -> Iterator[tuple["Resumable", Keep]]:
    """Keep runs beside `out` until all are done; gives who does them, and what writes a result.

    It is written to a file as its name ends, else by `folder`; of a cut, what is whole.
    """
    from hardness.runs import Cut
    from hardness.sweep.resumable import goes_on, resumable
    from instances.export import form_of, write

    again = force or goes_on(out, resume)

    def keep(found: Any) -> None:
        if not out:
            return
        if folder and not form_of(out):
            folder(out, found, again)
        else:
            write(out, form_of(out) or "json", found.filed, found, again)

    with resumable(out, asked, cores(jobs), resume) as runs:
        try:
            yield runs, keep
        except (Cut, KeyboardInterrupt) as cut:
            partial, why = getattr(cut, "partial", None), cut.__cause__
            done = ""
            if out and partial is not None:
                keep(partial)
                done = f"; {cut} and are kept in {out}"
            if out and runs.kept:
                many = f"{runs.kept} run{'s' * (runs.kept > 1)}"
                done += f"; {many} are kept: the same command with --resume goes on"
            ended: BaseException = KeyboardInterrupt(f"interrupted{done}" if done else "")
            if isinstance(why, ToolkitError):
                ended = type(why)(f"{why}{done}")
            ended.partial = None if out else partial  # type: ignore[attr-defined]
            raise ended from cut
