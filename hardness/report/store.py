"""What a store holds, in words."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hardness.report.text import bad, count, good, table, taken
from hardness.runs.names import one_line, short
from hardness.runs.rows import SweepRow
from hardness.sweep.damage import Damage
from hardness.sweep.store import recover_with
from instances.errors import DamagedFile, UsageError
from instances.export import flat, frame
from instances.limits import readable_bytes
from instances.result import Result, TableRow

if TYPE_CHECKING:
    from pandas import DataFrame

_WIDTH = 80
_WIDEST = 32  # of a name in a table
_LEAST = 6
NAME = 44  # columns of a learner
Counts = Mapping[str, Mapping[str, int]]  # runs by learner and outcome


def store_words(name: str, found: dict[str, Any], sweeps: Sequence[SweepRow]) -> str:
    """Say what a store holds, how its runs ended and how its sweeps stand."""
    size = readable_bytes(found["bytes"])
    lines = [f"{name}: {count(found['runs'], 'run')}, {size}, version {found['version']}"]
    others = [count(found[kind], kind[:-1]) for kind in ("certificates", "figures") if found[kind]]
    lines += [f"beside them {', '.join(others)}"] if others else []
    if found["not_reproducible"]:
        some = count(found["not_reproducible"], "run")
        lines += [f"{some} ended by time, memory or the machine: left out of comparable exports"]
    if found["outcomes"]:
        lines += ["", outcomes_table(found["outcomes"])]
    for sweep in sweeps:
        runs = {name: sum(ends.values()) for name, ends in found["outcomes"].items()}
        lines += ["", sweep_line(sweep) + missing_words(sweep, runs)]
    return "\n".join(lines)


def outcomes_table(counts: Counts) -> str:
    """Say how the runs of every learner ended.

    >>> print(laid_out(outcomes_table({"trivial": {"learned nothing": 3, "solved": 4}}), 80))
    learner  runs  ended with
    trivial     7  4 solved, 3 learned nothing
    """
    rows = []
    for learner, found in counts.items():
        ends = [f"{n} {end}" for end, n in sorted(found.items(), key=lambda one: -one[1])]
        rows.append([cut(short(learner), NAME), str(sum(found.values())), ", ".join(ends)])
    return table(["learner", "runs", "ended with"], rows) if rows else "no runs yet"


def outcome_rows(counts: Counts) -> list[dict[str, Any]]:
    """Lay out how the runs of every learner ended: a row for each way.

    >>> outcome_rows({"trivial": {"solved": 4}})
    [{'learner': 'trivial', 'outcome': 'solved', 'runs': 4}]
    """
    return [
        {"learner": learner, "outcome": end, "runs": runs}
        for learner, ends in counts.items()
        for end, runs in ends.items()
    ]


def sweep_line(sweep: SweepRow) -> str:
    """Say how a sweep stands."""
    done, planned = sum(sweep.done.values()), sum(sweep.planned.values())
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(sweep.updated))
    failed = sum(sweep.failed.values())
    some = f", {failed} failed" if failed else ""
    return f"sweep {cut(sweep.name, 40)}: {sweep.state}, {done} of {planned}{some}, {when} UTC"


def missing_words(sweep: SweepRow, runs: Mapping[str, int]) -> str:
    """Say how many runs of a sweep a store lacks; runs: that it has, by learner."""
    lost = sweep.missing(runs)
    return f"; at least {count(lost, 'run')} of it missing here" if lost else ""


def answer_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lay out an answer within 80 columns: cells cut, or a line a value where that is not enough.

    >>> print(laid_out(answer_table(["n", "name"], [(1, "a"), (None, "b")]), 80))
    n  name
    1  a
    -  b
    >>> print(answer_table(["a_long_name"] * 20, [range(20)])[:29])
    a_long_name  0
    a_long_name  1
    """
    if not rows:
        return f"no rows ({', '.join(names)})"
    for width in range(_WIDEST, _LEAST - 1, -1):
        cells = [[cut(shown(value), width) for value in row] for row in rows]
        text = table([cut(name, width) for name in names], cells)
        if max(map(taken, text.split("\n"))) <= _WIDTH:
            return text
    most = max(map(len, names))
    blocks = [[f"{n:{most}}  {shown(v)}" for n, v in zip(names, row, strict=True)] for row in rows]
    return "\n\n".join("\n".join(cut(line, _WIDTH) for line in block) for block in blocks)


def shown(value: Any) -> str:
    """Write a value of an answer.

    >>> shown(None), shown(0.1 + 0.2), shown(bytes(4)), shown(7)
    ('-', '0.3', '4 bytes', '7')
    """
    if value is None:
        return "-"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())


def cut(text: str, width: int) -> str:
    """Cut a text to a width, on one line.

    >>> cut("parity:d=8,m=2", 10)
    'parity:...'
    """
    text = one_line(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def plain_value(value: Any) -> Any:
    """Write a value of an answer as JSON takes it: bytes as hexadecimal digits.

    >>> plain_value(b"ab"), plain_value(1.5)
    ('6162', 1.5)
    """
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and abs(value) == float("inf") else value


def answer_lines(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Write an answer as JSON objects.

    >>> answer_lines(["n"], [(1,)])
    [{'n': 1}]
    """
    return [dict(zip(names, map(plain_value, row), strict=True)) for row in rows]


@dataclass(frozen=True, kw_only=True, repr=False)
class Queried(Result):
    """The answer to a question in SQL: names of columns and rows."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    _words: ClassVar[str] = "hardness.report.store.queried_words"

    def to_dict(self) -> Any:
        """Give its rows as objects; raises UsageError where two columns have one name."""
        return self._rows()

    def _rows(self) -> list[TableRow]:
        if len(set(self.names)) < len(self.names):
            raise UsageError("two columns have one name, which no format can hold: use AS")
        return list(answer_lines(self.names, self.values))

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of it."""
        return frame(self._rows())


def queried_words(found: Queried) -> str:
    """Write the answer as a table."""
    return answer_table(found.names, found.values)


@dataclass(frozen=True, kw_only=True, repr=False)
class Checkup(Result):
    """Whether a store is damaged, and in what."""

    store: str
    damage: Damage | None

    _words: ClassVar[str] = "hardness.report.store.checkup_words"

    def to_dict(self) -> dict[str, Any]:
        """Give the pages and the rows that cannot be read, of these the first few."""
        rows = self.damage.rows if self.damage else {}
        return {
            "damaged": self.damage is not None,
            "records": {table: len(names) for table, names in rows.items()},
            "rows": {table: list(names[:20]) for table, names in rows.items()},
            "pages": list(self.damage.pages) if self.damage else [],
        }

    def _rows(self) -> list[TableRow]:
        return [flat(self.to_dict())]

    def require(self) -> None:
        """Raise DamagedFile for a store that is damaged."""
        if self.damage:
            raise DamagedFile(f"{self.store} is damaged")


def checkup_words(found: Checkup) -> str:
    """Say what is wrong with a store, and what reads the rest."""
    if found.damage is None:
        return f"{found.store}: {good('all is well')}"
    return f"{found.store} {bad('is damaged')}: {found.damage}; {recover_with(Path(found.store))}"
