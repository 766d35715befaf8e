"""Runs of a verb that are kept until all are done: an interrupted one is taken up again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.verbs.ask import cores
from instances.errors import ToolkitError

if TYPE_CHECKING:
    from hardness.sweep.resumable import Resumable


@contextmanager
def kept(
    out: Path | None,
    asked: dict[str, Any],
    jobs: int | None,
    resume: bool,
    keep: Callable[[Any], None] = lambda partial: None,
) -> Iterator["Resumable"]:
    """Keep runs beside `out` until all are done, and of a cut what is whole, by `keep`."""
    from hardness.runs import Cut
    from hardness.sweep.resumable import resumable

    with resumable(out, asked, cores(jobs), resume) as runs:
        try:
            yield runs
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
