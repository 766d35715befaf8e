"""Runs of a verb that are kept until all are done: an interrupted one is taken up again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from hardness.verbs.ask import called, cores, path
from hardness.verbs.asks import FORCE, JOBS, RESUME, Limits, RungLimits
from instances.errors import ToolkitError, UsageError

if TYPE_CHECKING:
    from hardness.sweep.resumable import Resumable


class Keeping(TypedDict, total=False):
    """Where runs go, how many processes do them, and whether they go on."""

    out: Annotated[Path | None, path("A file or a folder.", writes=True)]
    resume: Annotated[bool, RESUME]
    jobs: Annotated[int | None, JOBS]
    force: Annotated[bool, FORCE]


class KeptRuns(Limits, Keeping, total=False):
    """Both what learners may spend and where their runs go."""


class KeptRungs(RungLimits, Keeping, total=False):
    """The same of rungs."""


def require_folder(out: Path | None) -> None:
    """Refuse what looks like a file of a format that there is not; raises UsageError."""
    from hardness.report.export import ENDINGS

    if out and out.suffix.lower() not in ENDINGS and out.suffix[1:].isalpha():
        raise UsageError(
            f"{called('out')} {out} given: name a folder without an ending, or a file of rows with "
            f"one of {', '.join(ENDINGS)}"
        )


@contextmanager
def kept(
    how: Any,
    asked: dict[str, Any],
    folder: Callable[[Path, Any], None] | None = None,
    ours: tuple[str, ...] = (),
) -> "Iterator[tuple[Resumable, Callable[[Any], None]]]":
    """Give who does runs, kept beside `out` until all are done, and what writes what they make.

    how: of Keeping. folder: writes the files `ours` of a folder; a file is written where there is
    none, and where the name of `out` says of which format. Of a cut what is whole is written.
    """
    from hardness.report.export import ENDINGS, write
    from hardness.runs import Cut
    from hardness.sweep.resumable import goes_on, resumable
    from instances.disk import new_folder

    out, resume = how.get("out"), how.get("resume", False)
    if folder:
        require_folder(out)
    again = how.get("force", False) or goes_on(out, resume)

    def keep(found: Any) -> None:
        if out and (form := ENDINGS.get(out.suffix.lower()) or (None if folder else "json")):
            write(out, form, found, again)
        elif out and folder:
            with new_folder(out, force=again, ours=ours) as made:
                folder(made, found)

    with resumable(out, asked, cores(how.get("jobs")), resume) as runs:
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
