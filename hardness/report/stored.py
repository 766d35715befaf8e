"""Read the source of a report or a figure: files and folders of runs."""

from pathlib import Path
from typing import Any

from hardness.runs import Comparison, Least
from hardness.runs.groups import Plane, over_one, over_two, single, where
from hardness.runs.results import Runs, read_runs
from instances.disk import read_json
from instances.errors import DamagedFile, UsageError


def comparison_of(path: Path, query: str | None = None) -> Comparison:
    """Read a comparison: the folder of `compare`, or runs of a sweep over one parameter.

    query: selects runs, as "m == 3". Raises DamagedFile, and UsageError if the selected runs cannot
    be compared.
    """
    result = read_runs(path)
    if isinstance(result, Runs):
        runs = where(result.runs, query)
        return single(over_one(runs), runs, str(path), query).comparison
    _refuse_query(path, query)
    if not isinstance(result, Comparison):
        raise DamagedFile(f"{path} is of no comparison: a folder of `hardness compare` is needed")
    return result


def phase_of(path: Path, query: str | None = None) -> Plane:
    """Read the plane of a phase diagram from the runs of a sweep.

    query: selects runs, as "noise == 0". Raises DamagedFile, and UsageError as `comparison_of` and
    for runs over one parameter only.
    """
    result = read_runs(path)
    if not isinstance(result, Runs):
        raise UsageError(
            f"a phase diagram is drawn from runs of a sweep over two parameters, got {path}"
        )
    runs = where(result.runs, query)
    return single(over_two(runs), runs, str(path), query)


def least_of(path: Path, query: str | None = None) -> tuple[Least, ...]:
    """Read the folder of `least`, or the thresholds of a demo; raises DamagedFile."""
    _refuse_query(path, query)
    if thresholds := least_beside(path):
        return thresholds
    result = read_runs(path)
    if not isinstance(result, Least):
        raise DamagedFile(f"{path} has no thresholds: a folder of `hardness least` is needed")
    return (result,)


def least_beside(path: Path) -> tuple[Least, ...]:
    """Read the thresholds that a demo wrote into its folder, if any; raises DamagedFile."""
    return tuple(Least.load(file) for file in sorted(path.glob("least-*.json")))


def study_of(path: Path) -> dict[str, Any]:
    """Read the JSON object of a file, or of results.json in a folder; raises DamagedFile."""
    return read_json(path / "results.json" if path.is_dir() else path)


def _refuse_query(path: Path, query: str | None) -> None:
    if query is not None:
        raise UsageError(
            f"--where chooses runs of a sweep, and {path} holds one comparison: leave "
            f"--where '{query[:100]}' out"
        )
