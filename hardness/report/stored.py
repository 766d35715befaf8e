"""Where a report or a figure of runs comes from: a folder, results.json, a store, a stress test."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hardness.report.charts.phase import diagrams
from hardness.runs import Comparison, Least
from hardness.runs.certified import Certifier
from hardness.runs.least import Threshold
from hardness.runs.run import Run
from hardness.runs.slices import Plane, chosen, planes, slices
from hardness.runs.stress import FORMAT, Stress
from hardness.sweep.store import Reader, read
from instances.checkpoint import holds_layer, read_heads
from instances.disk import damage
from instances.errors import DamagedFile, UsageError
from instances.inspect import inspect_heads
from instances.strict import opened, read_json


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


def is_stress(path: Path) -> bool:
    """Return whether a path is a JSON file that `hardness stress` wrote.

    >>> is_stress(Path("no-such-file"))
    False
    """
    try:
        data = read_json(path)
    except DamagedFile:
        return False
    return isinstance(data, dict) and data.get("format") == FORMAT


def record_of(path: Path) -> Comparison | Least | Stress:
    """Read what `compare`, `least` or `stress` wrote, or the thresholds of a store without runs.

    Raises DamagedFile, and UsageError for a store with runs.
    """
    if is_store(path):
        with read(path) as store:
            if any(store.counts()) or not least_in(store):
                raise UsageError(
                    f"report {path} needs --out FILE.html: `hardness store export` writes the "
                    "table of a store"
                )
        return least_of(path)[0]
    if is_stress(path):
        return Stress.load(path)
    where = path / "results.json" if path.is_dir() else path
    data = read_json(where)
    is_least = isinstance(data, dict) and data.get("format") == Least._format
    return (Least if is_least else Comparison).load(where)


def comparison_of(path: Path, choice: str | None = None) -> Comparison:
    """Read a comparison: the folder of `compare`, its results.json, or a slice of a store.

    choice: which slice, as "m=3,noise=0". Raises DamagedFile, and UsageError where the store has
    several slices and none is chosen, with their choices.
    """
    if is_store(path):
        with read(path) as store:
            found = slices(store.runs(), store.certificates())
        return chosen(found, choice, str(path)).comparison
    if choice is not None:
        raise UsageError(
            f"--slice '{choice[:100]}' given: {path} is no store: leave --slice out, for a "
            "comparison is one slice"
        )
    return Comparison.load(path)


def plane_of(path: Path, choice: str | None = None) -> tuple[Plane, Certifier]:
    """Read the plane of a phase diagram from a store, one chosen, with what is certified in it.

    A choice may name parameters that are axes of the plane; "part=2" chooses the second few
    learners where there are many. Raises DamagedFile, and UsageError as `comparison_of` and for
    runs over one parameter alone.
    """
    curve = UsageError(
        f"{path} given: its runs are over one parameter, and a phase diagram is over two: draw "
        "both-sides or risks, or sweep over two parameters into a store"
    )
    if not is_store(path):
        comparison_of(path, choice)
        raise curve
    with read(path) as store:
        certifier = Certifier(store.certificates())
        found = diagrams(planes(store.runs()))
    if not found:
        raise curve
    return chosen(found, choice, str(path)), certifier


def runs_of(path: Path, choice: str | None = None) -> tuple[list[Run], Certifier]:
    """Read all runs of a store, and what is certified in it; raises DamagedFile and UsageError."""
    if choice is not None:
        raise UsageError(
            "--slice given: it chooses a part of a store, and this figure is of all runs"
        )
    if not is_store(path):
        raise UsageError(f"{path} given: it is no store: give one that `hardness sweep run` wrote")
    with read(path) as store:
        return list(store.runs()), Certifier(store.certificates())


def climbs_in(path: Path, asked: dict[str, Any], runs: Iterable[Run]) -> Stress:
    """Give climbs that a store asked, on its runs; raises DamagedFile where some are missing."""
    with damage(path):
        return Stress.of_store(asked, runs)


def stress_of(path: Path, choice: str | None = None) -> Stress:
    """Read a stress test's file, or climbs of a store.

    choice: the name of climbs, as "climbs 1 of 4dadd984". Raises DamagedFile, and UsageError where
    there are none or several and none is chosen.
    """
    if not is_store(path):
        if choice is not None:
            raise UsageError("--slice given: it chooses a part of a store, which stress is not of")
        return Stress.load(path)
    with read(path) as store:
        return climbs_in(path, _named(path, store.climbs(), choice, "climbs"), store.runs())


def least_in(store: Reader) -> dict[str, Least]:
    """Give the thresholds of the sweeps of a store by name: of sizes that are finished.

    Of several revisions the latest counts. What was searched by two versions of a user's file is
    left out, for no row says which is meant. Raises DamagedFile.
    """
    with damage(store.path):
        every = [Threshold.read(row.threshold) for row in store.rows("thresholds")]
        latest = {one.asked: one.revisions for one in sorted(every, key=_revision)}
        every = [one for one in every if one.revisions == latest[one.asked]]
        times = Counter(one.asked for one in every)
        every = [one for one in every if times[one.asked] == 1]
        asked = {name: one for sweep in store.sweeps() for name, one in sweep.least.items()}
        made = {name: Least.of_store(one, every) for name, one in asked.items()}
    return {name: one for name, one in made.items() if one.specs}


def _revision(one: Threshold) -> tuple[int, ...]:
    return tuple(one.revisions[name] for name in sorted(one.revisions))


def least_of(path: Path, choice: str | None = None) -> tuple[Least, ...]:
    """Read what `least` wrote, the thresholds of a demo, or some of a store.

    choice: their name in a store, as "least 1 of 4dadd984". Raises DamagedFile, and UsageError
    where a store has none or several and none is chosen.
    """
    if is_store(path):
        with read(path) as store:
            return (_named(path, least_in(store), choice, "least"),)
    if choice is not None:
        raise UsageError("--slice given: it chooses a part of a store, which these are not of")
    return least_beside(path) or (Least.load(path),)


def least_beside(path: Path) -> tuple[Least, ...]:
    """Read the thresholds that a demo wrote beside its runs, if there are any; DamagedFile."""
    return tuple(Least.load(one) for one in sorted(path.glob("least-*.json")))


def _named(path: Path, every: dict[str, Any], choice: str | None, group: str) -> Any:
    """Take the one of a store that is meant; raises UsageError with the names of several."""
    kept = [name for name in every if choice is None or name.startswith(choice)]
    if len(kept) == 1:
        return every[kept[0]]
    if not every:
        done = "" if group == "climbs" else " of a size that is finished"
        raise UsageError(
            f"{path} given: it has no {group}{done}: run a sweep with [[{group}]] into it"
        )
    names = "; ".join(f"'{name}'" for name in list(every)[:20])
    raise UsageError(
        f"{path} given: {len(kept)} of its {group} are meant: give one with --slice, of {names}"
    )


def study_of(path: Path) -> dict[str, Any]:
    """Read a JSON object, of a folder that of its results.json; raises DamagedFile."""
    return read_json(path / "results.json" if path.is_dir() else path)


def facts_of(path: Path) -> dict[str, Any]:
    """Read what `hardness inspect` wrote of a layer, or look at the layer of a file."""
    return inspect_heads(read_heads(path)).to_dict() if holds_layer(path) else read_json(path)
