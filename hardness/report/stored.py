"""Where a report or a figure of runs comes from: what `read_runs` reads."""

from pathlib import Path
from typing import Any

from hardness.runs import Comparison, Least
from hardness.runs.groups import Plane, over_one, over_two, single, where
from hardness.runs.results import Runs, read_runs
from instances.disk import read_json
from instances.errors import DamagedFile, UsageError


def comparison_of(path: Path, query: str | None = None) -> Comparison:
    """Read a comparison: what `compare` wrote, or runs of a sweep over one parameter.

    query: which runs, as "m == 3". Raises DamagedFile, and UsageError where runs that are left
    cannot be compared.
    """
    found = read_runs(path)
    if isinstance(found, Runs):
        runs = where(found.runs, query)
        return single(over_one(runs), runs, str(path), query).comparison
    _refuse(path, query)
    if not isinstance(found, Comparison):
        raise DamagedFile(f"{path} is of no comparison: a folder of `hardness compare` is needed")
    return found


def phase_of(path: Path, query: str | None = None) -> Plane:
    """Read the plane of a phase diagram from the runs of a sweep.

    query: which runs, as "noise == 0". Raises DamagedFile, and UsageError as `comparison_of` and
    for runs over one parameter alone.
    """
    found = read_runs(path)
    if not isinstance(found, Runs):
        raise UsageError(
            f"a phase diagram is drawn from runs of a sweep over two parameters, got {path}"
        )
    runs = where(found.runs, query)
    return single(over_two(runs), runs, str(path), query)


def least_of(path: Path, query: str | None = None) -> tuple[Least, ...]:
    """Read what `least` wrote, or the thresholds of a demo; raises DamagedFile."""
    _refuse(path, query)
    if beside := least_beside(path):
        return beside
    found = read_runs(path)
    if not isinstance(found, Least):
        raise DamagedFile(f"{path} has no thresholds: a folder of `hardness least` is needed")
    return (found,)


def least_beside(path: Path) -> tuple[Least, ...]:
    """Read the thresholds that a demo wrote beside its runs, if there are any; DamagedFile."""
    return tuple(Least.load(one) for one in sorted(path.glob("least-*.json")))


def study_of(path: Path) -> dict[str, Any]:
    """Read a JSON object, of a folder that of its results.json; raises DamagedFile."""
    return read_json(path / "results.json" if path.is_dir() else path)


def _refuse(path: Path, query: str | None) -> None:
    if query is not None:
        raise UsageError(
            f"--where chooses runs of a sweep, and {path} holds one comparison: leave "
            f"--where '{query[:100]}' out"
        )
