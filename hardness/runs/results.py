"""Read what a command wrote: `read_runs` opens its file or folder."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hardness.oracles import Budget
from hardness.runs.attack import Attacks
from hardness.runs.cache import NAME, Cache, is_cache
from hardness.runs.columns import BUDGET, natural, no_cycles, runs_frame
from hardness.runs.comparison import Comparison
from hardness.runs.jobs import record_of, text_of
from hardness.runs.least import Least, Threshold
from hardness.runs.record import Record
from hardness.runs.run import Run
from hardness.runs.stress import Stress
from hardness.runs.sweep import FORMAT as SWEEP_FORMAT
from instances.arguments import located
from instances.disk import damage, read_json, require_format
from instances.errors import DamagedFile, UsageError
from instances.result import Result, TableRow

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

_RESULTS: dict[str, type[Record]] = {
    kind._format.partition("/")[0]: kind for kind in (Comparison, Least, Stress, Attacks)
}
_THRESHOLD = '{"kind": "Threshold"'
_WRITERS = (
    "name the folder or the file that compare, least, stress, attack, learn or sweep wrote at --out"
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Runs(Result):
    """The runs of a sweep or another file of runs, ordered by spec, learner, budget and seed.

    source: the path of the file of runs. name: of the sweep. texts: the JSON text of each run; a
    table is made from them without holding a million runs in memory. sweep_file: the sweep file as
    the user named it, empty if it is not known.
    """

    source: str
    name: str
    texts: tuple[str, ...]
    sweep_file: str = ""

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs; raises DamagedFile if a field of one has a wrong type."""
        with no_cycles():
            return tuple(self._each())

    def _each(self) -> Iterator[Run]:
        with damage(Path(self.source)):
            for text in self.texts:
                yield record_of(Run, text)

    def counts(self) -> dict[str, dict[str, int]]:
        """Count runs by learner and outcome, both in natural order."""
        pairs = Counter((run.learner, run.outcome.value) for run in self.runs)
        counts: dict[str, dict[str, int]] = {}
        for learner, outcome in sorted(pairs, key=lambda pair: (*map(natural, pair),)):
            counts.setdefault(learner, {})[outcome] = pairs[learner, outcome]
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the number of runs, and of each outcome by learner, as JSON."""
        return {
            "name": self.name,
            "file": self.source,
            "runs": len(self.runs),
            "outcomes": self.counts(),
        }

    def filed(self) -> dict[str, Any]:
        """Return the runs themselves as JSON."""
        return {
            "format": "hardness-runs/1",
            "name": self.name,
            "runs": [r.filed() for r in self.runs],
        }

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of all runs: one row a run."""
        return runs_frame(self._each())

    def _rows(self) -> list[TableRow]:
        from pandas import isna

        frame = self.to_frame()
        frame["budget"] = list(map(_budget, self.runs))
        frame["version"] = list(map(_version, self.runs))
        keys = ["spec", "learner", "budget", "oracle", "tau", "version"]
        grouped: Any = frame.groupby(keys, sort=False, dropna=False)
        # Runs with different budgets, tolerances or versions are in different rows, and a column
        # shows such a difference if there is one.
        pairs = frame.groupby(keys[:2])
        differing = [name for name in keys[2:] if pairs[name].nunique(dropna=False).max() > 1]
        costs = {"examples": "examples", "queries": "queries", "values": "membership_queries"}
        empty = {name for name in ("queries", "values") if not frame[costs[name]].any()}
        rows: list[TableRow] = []
        for key, runs in grouped:
            solved = runs[runs["solved"]]
            cells = {n: None if isna(value) else value for n, value in zip(keys, key, strict=True)}
            rows.append(
                {name: cells[name] for name in (*keys[:2], *differing)}
                | {"solved": f"{len(solved)}/{len(runs)}"}
                | {n: _median(solved[column]) for n, column in costs.items() if n not in empty}
                | {"seconds": _median(solved["seconds"])}
            )
        return rows


def _median(column: Any) -> float | None:
    return None if column.empty else float(column.median())


def _budget(run: Run) -> str:
    limits = ((name, getattr(run.budget, name)) for name in BUDGET)
    return ",".join(f"{name}={most}" for name, most in limits if most is not None)


def _version(run: Run) -> str:
    keys = (run.details.get("sha256"), run.details.get("object_key"))
    return " ".join([*(str(key)[:8] for key in keys if key), *map(str, run.revisions.values())])


def read_runs(path: "str | PathLike[str]") -> Any:
    """Read what a command wrote: a folder with runs, a file of runs or a result as JSON.

    Parameters
    ----------
    path : path
        The folder or file, which need not be complete.

    Returns
    -------
    Comparison, Least, Stress, Attacks, Run or Runs
        The result that the command gave, with the runs that there are so far; Runs of a sweep.

    Raises
    ------
    UsageError
        If there is no such file, or for a folder without runs.
    DamagedFile
        For a file of another kind.

    Examples
    --------
    >>> import hardness, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = hardness.compare("parity:m=2", "d=6..7", "trivial", out=f"{folder}/both", jobs=1)
    ...     len(read_runs(f"{folder}/both").to_frame())
    6
    """
    where = Path(located("path", path))
    if where.is_dir() and (where / NAME).exists():
        where /= NAME
    if where.is_dir() and (where / "results.json").exists():
        where /= "results.json"
    if where.is_dir():
        raise UsageError(f"{path} is a folder without runs: {_WRITERS}")
    return _of_cache(where) if is_cache(where) else _of_json(where)


def _of_cache(path: Path) -> Any:
    with Cache(path, writes=False) as cache, damage(path), no_cycles():
        request = cache.request or {}
        kind = _RESULTS.get(str(request.get("format")).partition("/")[0])
        if kind is None:
            if request:
                require_format(request, SWEEP_FORMAT, path)
            texts = (text for text in cache.texts() if not text.startswith(_THRESHOLD))
            name = request.get("name", path.stem)
            file = str(request.get("file", ""))
            return Runs(source=str(path), name=name, texts=sort_texts(texts), sweep_file=file)
        require_format(request, kind._format, path)
        plan: Any = kind.read({name: part for name, part in request.items() if name != "format"})
        return plan.on(map(_row, cache.texts()))


def _row(text: str) -> Record:
    return record_of(Threshold if text.startswith(_THRESHOLD) else Run, text)


def _of_json(path: Path) -> Any:
    data = read_json(path)
    data = data if isinstance(data, dict) else {}
    name = str(data.get("format")).partition("/")[0]
    if name == "hardness-runs":
        with damage(path):
            texts = [text_of(Run.read(one)) for one in data["runs"]]
            return Runs(source=str(path), name=data["name"], texts=sort_texts(texts))
    kind = Run if "format" not in data and "learner" in data else _RESULTS.get(name)
    if kind is None:
        raise DamagedFile(f"{path} holds no runs: {_WRITERS}")
    return kind.load(path)


class _SortKey(msgspec.Struct):
    """The fields of a run by which runs are sorted."""

    spec: str
    learner: str
    budget: msgspec.Raw
    seed: int


def sort_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Sort JSON texts of runs by spec and learner in natural order, then by budget and seed."""
    import numpy as np

    unsorted = list(texts)
    rows = [*map(msgspec.json.Decoder(_SortKey).decode, unsorted)]

    def ranks(values: Iterable[Any], key: Callable[[Any], Any]) -> "NDArray[np.intp]":
        values = list(values)
        ranked = {value: i for i, value in enumerate(sorted(set(values), key=key))}
        return np.fromiter(map(ranked.__getitem__, values), np.intp, len(values))

    @cache
    def limits(budget: bytes) -> tuple[tuple[bool, float], ...]:
        read = msgspec.json.decode(budget, type=Budget)
        return tuple((most is None, most or 0) for most in map(read.__getattribute__, BUDGET))

    keys = (  # the last one is compared first
        ranks((row.seed for row in rows), int),
        ranks((limits(bytes(row.budget)) for row in rows), tuple),
        ranks((row.learner for row in rows), natural),
        ranks((row.spec for row in rows), natural),
    )
    return tuple(map(unsorted.__getitem__, np.lexsort(keys).tolist()))
