"""Where a report or a figure of a comparison comes from: a folder, results.json, or a store."""

from pathlib import Path

from hardness.report.parts.climbs import of_climbs
from hardness.report.phase import Data, diagrams, of_phase, plane_of
from hardness.runs import Comparison, read_comparison
from hardness.runs.certified import Certifier
from hardness.runs.table import chosen, planes, slices, table
from hardness.sweep.store import read
from instances.errors import DamagedFile, UsageError
from instances.strict import opened


def is_store(path: Path) -> bool:
    """Return whether a path is an SQLite file, and so no results.json.

    >>> is_store(Path("no-such-file"))
    False
    """
    try:
        with opened(path) as file:
            return file.read(16) == b"SQLite format 3\0"
    except DamagedFile:  # a folder, or nothing: the reader of comparisons says so
        return False


def comparison_of(path: Path, choice: str | None = None) -> Comparison:
    """Read a comparison: the folder of `compare`, its results.json, or a slice of a store.

    choice: which slice, as "m=3,noise=0". Raises DamagedFile, and UsageError where the store has
    several slices and none is chosen, with their choices.
    """
    if is_store(path):
        with read(path) as store:
            found = slices(table(store.runs()), store.certificates())
        return chosen(found, choice, str(path)).comparison
    if choice is not None:
        raise UsageError(
            f"--slice '{choice[:100]}' given: {path} is no store: leave --slice out, for a "
            "comparison is one slice"
        )
    return read_comparison(path)


def phase_of(path: Path, choice: str | None = None) -> Data:
    """Collect a phase diagram of a comparison, or of the plane of a store that is chosen.

    A choice may name parameters that are axes of the plane; "part=2" chooses the second few
    learners where there are many. Raises DamagedFile, and UsageError as `comparison_of`.
    """
    if not is_store(path):
        comparison = comparison_of(path, choice)
        return of_phase(plane_of(comparison), Certifier(()))
    with read(path) as store:
        certifier = Certifier(store.certificates())
        found = diagrams(planes(table(store.runs())))
    return of_phase(chosen(found, choice, str(path)), certifier)


def climbs_of(path: Path, choice: str | None = None) -> Data:
    """Collect the figure of climbs of a store; choice: their name, as "climbs 1 of 4dadd984".

    Raises DamagedFile, and UsageError where there are none or several and none is chosen.
    """
    with read(path) as store:
        every = [one for one in store.figures() if "climbs" in one.data]
        kept = [one for one in every if choice is None or one.name.startswith(choice)]
        if len(kept) == 1:
            return of_climbs(kept[0], store.runs(), Certifier(store.certificates()))
    names = "; ".join(f"'{one.name}'" for one in every[:20])
    said = f"give one with --slice, of {names}" if every else "run a sweep with [[climbs]] into it"
    raise UsageError(f"{path} given: {len(kept)} of its climbs are meant: {said}")
