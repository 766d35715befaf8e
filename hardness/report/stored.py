"""Where a report or a figure of runs comes from: a folder, results.json, a store, a stress test."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hardness.runs import Comparison, Least
from hardness.runs.certified import Certifier
from hardness.runs.columns import parameters_of
from hardness.runs.groups import Plane, matching, over_one, over_two, single, where
from hardness.runs.least import Threshold
from hardness.runs.run import Run
from hardness.runs.stress import FORMAT, Stress
from hardness.sweep.store import Reader, read
from instances.disk import damage, opened, read_json
from instances.errors import DamagedFile, UsageError


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


def comparison_of(path: Path, query: str | None = None) -> Comparison:
    """Read a comparison: the folder of `compare`, its results.json, or runs of a store.

    query: which runs, as "m == 3". Raises DamagedFile, and UsageError where runs that are left
    cannot be compared.
    """
    if is_store(path):
        with read(path) as store:
            runs, certifier = where(store.runs(), query), Certifier(store.certificates())
        return single(over_one(runs, certifier), runs, str(path), query).comparison
    _refuse(path, query)
    return Comparison.load(path)


def phase_of(path: Path, query: str | None = None) -> tuple[Plane, Certifier]:
    """Read the plane of a phase diagram from a store, and what is certified in it.

    query: which runs, as "noise == 0". Raises DamagedFile, and UsageError as `comparison_of` and
    for runs over one parameter alone.
    """
    if not is_store(path):
        comparison_of(path, query)
        raise UsageError(
            f"{path} given: a phase diagram is drawn from a store: sweep over two parameters"
        )
    with read(path) as store:
        runs, certifier = where(store.runs(), query), Certifier(store.certificates())
    return single(over_two(runs), runs, str(path), query), certifier


def _refuse(path: Path, query: str | None) -> None:
    if query is not None:
        raise UsageError(
            f"--where '{query[:100]}' given: {path} is not a store: leave --where out, which "
            "chooses runs of a store"
        )


def runs_of(path: Path) -> tuple[list[Run], Certifier]:
    """Read all runs of a store, and what is certified in it; raises DamagedFile."""
    with read(path) as store:
        return list(store.runs()), Certifier(store.certificates())


def climbs_in(path: Path, asked: dict[str, Any], runs: Iterable[Run]) -> Stress:
    """Give climbs that a store asked, on its runs; raises DamagedFile if some are missing."""
    with damage(path):
        return Stress.of_store(asked, runs)


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


def least_of(path: Path, query: str | None = None) -> tuple[Least, ...]:
    """Read what `least` wrote, the thresholds of a demo, or some of a store.

    query: which of a store, as "m == 3"; its columns are the parameters of their specs, and
    `least`, their name. Raises DamagedFile, and UsageError if none or several are left.
    """
    if not is_store(path):
        _refuse(path, query)
        return least_beside(path) or (Least.load(path),)
    with read(path) as store:
        every = least_in(store)
    if not every:
        raise UsageError(
            f"{path} given: no search for a threshold is finished in it: run a sweep with "
            "[[least]] into it"
        )
    rows = [
        {"least": name, **parameters_of(spec)}
        for name, result in every.items()
        for spec in result.specs
    ]
    left = matching(rows, query) if query is not None else range(len(rows))
    kept = {rows[i]["least"]: every[str(rows[i]["least"])] for i in left}
    if len(kept) != 1:
        names = " or ".join(f'--where "least == {name!r}"' for name in list(kept or every)[:20])
        raise UsageError(f"{path} given: {len(kept)} searches match: choose one by {names}")
    return tuple(kept.values())


def least_beside(path: Path) -> tuple[Least, ...]:
    """Read the thresholds that a demo wrote beside its runs, if there are any; DamagedFile."""
    return tuple(Least.load(one) for one in sorted(path.glob("least-*.json")))


def study_of(path: Path) -> dict[str, Any]:
    """Read a JSON object, of a folder that of its results.json; raises DamagedFile."""
    return read_json(path / "results.json" if path.is_dir() else path)
