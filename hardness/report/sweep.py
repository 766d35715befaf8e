"""Sweeps and stores in words: what a sweep would do, how it stands, what a store holds."""

import math
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from textwrap import fill
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hardness.report.text import count, duration, table, taken
from hardness.runs.names import one_line, short
from hardness.runs.record import Record
from hardness.runs.rows import THRESHOLDS, Progress, SweepRow
from hardness.sweep.store import FAILED
from instances.errors import UsageError
from instances.limits import readable_bytes
from instances.result import Answer, TableRow

if TYPE_CHECKING:
    from hardness.runs.least import Least
    from hardness.sweep import Ended
    from hardness.sweep.plan import Plan, Range

_WIDTH = 80
_WIDEST, _LEAST = 32, 6  # of a cell of an answer
_NAME = 44  # columns of a learner
_OPEN = 4  # labels in a line of progress
_SHOWN = 5  # of what is left out of a plan
_UNITS = (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, 48 * 3600.0))
Counts = Mapping[str, Mapping[str, int]]  # runs by learner and outcome


def cut(text: str, width: int) -> str:
    """Cut a text to a width, on one line.

    >>> cut("parity:d=8,m=2", 10)
    'parity:...'
    """
    text = one_line(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


# What a sweep would do


def plan_words(plan: "Plan") -> str:
    """Write what a sweep would do and what it may take."""
    sweep, limits = plan.sweep, plan.sweep.limits
    first = f"{sweep.name}: {'at most ' * bool(sweep.climbs)}{count(sweep.count, 'run')}"
    if plan.certificates:
        first += f", {count(plan.certificates, 'certificate')}"
    rows = [
        [
            title if i == 0 else "",
            cut(short(part.learner), 21),
            f"{'<= ' if part.at_most else ''}{part.runs}",
            span(part.seconds),
            f"{part.measured} of {part.cells}",
        ]
        for title, group in groupby(plan.parts, key=lambda part: part.group)
        for i, part in enumerate(group)
    ]
    share = "its share of 0.8 of what is free"
    costs = {
        "one after another": span(plan.seconds),
        "memory of a worker": "ended above "
        + (readable_bytes(limits.memory_bytes) if limits.memory_bytes else share),
        "attempts": f"ended {f'after {_time(limits.seconds)}' if limits.seconds else 'never'}, "
        f"{limits.retries} retries",
        "store": f"about {readable_bytes(plan.store_bytes)}",
    }
    said = [
        "A measured cell takes what its runs in the store took: learning alone, on the machine "
        "that did them."
    ] * any(part.measured for part in plan.parts)
    said += [
        "Any other run takes at most its budget of seconds, which is looked at between draws, or "
        "the limit of an attempt. Retries are not counted."
    ]
    said += ["A climb ends where a learner passes on no seed of a rung."] * bool(sweep.climbs)
    blocks = [
        fill(first, _WIDTH - 1),
        table(["group", "learner", "runs", "time of all", "cells measured"], rows) if rows else "",
        "\n".join(_left_out(plan)),
        "\n".join(f"{name:<20}{text}" for name, text in costs.items()),
        fill(" ".join(said), _WIDTH - 1),
    ]
    return "\n\n".join(filter(None, blocks))


def _left_out(plan: "Plan") -> Iterator[str]:
    every = [(group.title, one) for group in plan.sweep.grids for one in group.left_out]
    for title, one in every[:_SHOWN]:
        more = f" (and {one.reasons - 1} more reasons)" if one.reasons > 1 else ""
        said = f"left out of {title}: {cut(short(one.learner), 21)} on {count(one.specs, 'spec')}"
        yield fill(f"{said}: {one.why}{more}", _WIDTH - 1, subsequent_indent="  ")
    if len(every) > _SHOWN:
        yield f"and {len(every) - _SHOWN} more learners: see --json"


def span(seconds: "Range") -> str:
    """Write a range of seconds.

    >>> span((2, 80)), span((30, 9000)), span((0, 90)), span((5, math.inf)), span((0, math.inf))
    ('2-80 s', '30 s-2.5 h', '< 90 s', '> 5 s', 'not known')
    """
    low, high = seconds
    if high == math.inf:
        return f"> {_time(low)}" if low > 0 else "not known"
    if low <= 0:
        return f"< {_time(high)}"
    one, other = _time(low), _time(high)
    if one == other:
        return one
    return f"{one.split()[0]}-{other}" if one.split()[1] == other.split()[1] else f"{one}-{other}"


def _time(seconds: float) -> str:
    """Two digits with a unit that fits."""
    unit, size = next(((u, s) for u, s, most in _UNITS if seconds < most), ("d", 86400.0))
    value = seconds / size
    return f"{value:.0f} {unit}" if 10 <= value < 1e6 else f"{value:.2g} {unit}"


# How sweeps stand, and what they came to


def status_json(sweeps: Sequence[SweepRow], counts: Counts, writing: bool) -> dict[str, Any]:
    """Write how the sweeps of a store stand: all of their rows but the text of the file."""
    runs = _runs(counts)
    found = [
        {**vars(one), "state": state(one, writing), "missing": one.missing(runs)} for one in sweeps
    ]
    return {
        "writing": writing,
        "sweeps": [{k: v for k, v in one.items() if k != "text"} for one in found],
        "outcomes": {learner: dict(found) for learner, found in counts.items()},
    }


def state(sweep: SweepRow, writing: bool) -> str:
    """Say how a sweep stands; one that says it is running, and that nobody writes, was killed."""
    return "killed" if sweep.state == "running" and not writing else sweep.state


def status_words(store: Path, sweeps: Sequence[SweepRow], counts: Counts, writing: bool) -> str:
    """Say how the sweeps of a store stand."""
    if not sweeps:
        return f"{store} holds no sweep"
    parts = [_sweep(one, writing, _runs(counts)) for one in sweeps]
    if counts or not any(one.done.get(THRESHOLDS) for one in sweeps):
        parts.append(outcomes_table(counts))
    return "\n\n".join(parts)


def _runs(counts: Counts) -> dict[str, int]:
    return {learner: sum(ends.values()) for learner, ends in counts.items()}


def _sweep(one: SweepRow, writing: bool, runs: Mapping[str, int]) -> str:
    ago = duration(max(0.0, time.time() - one.updated))
    how, left = state(one, writing), one.remaining_seconds
    when = f", about {duration(left)} left" if how == "running" and left is not None else ""
    done, planned = sum(one.done.values()), sum(one.planned.values())
    if how == "killed":  # all that is known is that nobody writes and that it did not say why
        how = "all jobs done, then cut off" if done >= planned else "cut off (killed, or disk full)"
    first = (
        f"{one_line(one.name)}: {how}, {done} of {planned} jobs done{when}; engine {one.engine}, "
        f"written {ago} ago{missing_words(one, runs)}"
    )
    rows = [
        [cut(short(label), _NAME), *(str(n) for n in (n, one.done.get(label, 0), failed))]
        for label, n in one.planned.items()
        for failed in (one.failed.get(label, 0),)
    ]
    said = fill(first, _WIDTH)
    return f"{said}\n\n{table(['jobs', 'planned', 'done', 'failed'], rows)}" if rows else said


def missing_words(sweep: SweepRow, runs: Mapping[str, int]) -> str:
    """Say how many runs of a sweep a store lacks; runs: that it has, by learner."""
    lost = sweep.missing(runs)
    return f"; at least {count(lost, 'run')} of it missing here" if lost else ""


def ended_words(found: "Ended") -> str:
    """Say what a sweep came to."""
    at, counts = found.progress, found.counts()
    searched = at.done.get(THRESHOLDS)
    lines = [outcomes_table(counts), ""] if counts or not searched else []
    lines += [f"not done: {one}" for one in found.missing]
    failed = sum(n for ends in counts.values() for end, n in ends.items() if end in FAILED)
    if failed:
        lines.append(f"{count(failed, 'run')} failed: `--retry failed` does them again")
    if searched:
        lines.append(f"thresholds: `{shlex.join(['hardness', 'store', 'show', str(found.store)])}`")
    took = duration(at.elapsed)
    lines.append(f"{at.finished} of {at.total} jobs are done, in {took}: {found.store}")
    return "\n".join(lines)


def go_on(file: Path, store: Path, *options: str) -> str:
    """Write the command that goes on with a sweep, with the options that it had.

    >>> go_on(Path("a.toml"), Path("a.db"), "--jobs", "2")
    'hardness sweep run a.toml --store a.db --resume --jobs 2'
    """
    command = ["hardness", "sweep", "run", str(file), "--store", str(store), "--resume", *options]
    return shlex.join(command)


# What a store holds


@dataclass(frozen=True, kw_only=True, repr=False)
class Held(Answer):
    """What a store holds; its table is of its runs, made when it is asked for, or of thresholds."""

    db: Path
    least: "Mapping[str, Least]"

    @cached_property
    def _summary(self) -> dict[str, Any]:
        from hardness.report.stored import runs_of
        from hardness.report.summary import of_summary

        return of_summary(*runs_of(self.db))

    def caption(self) -> str:
        """Say what its table holds."""
        if not self.data["runs"] and self.least:
            return " ".join(one.caption() for one in self.least.values())
        return f"{self.db.name}: {self.data['runs']} runs. {self._summary['caption']}"

    def _rows(self) -> list[TableRow]:
        if not self.data["runs"] and self.least:
            return [row for one in self.least.values() for row in one._rows()]
        return list(self._summary["rows"])


def store_words(
    name: str,
    found: dict[str, Any],
    sweeps: Sequence[SweepRow],
    least: "Mapping[str, Least]" = MappingProxyType({}),
) -> str:
    """Say what a store holds, how its runs ended, how its sweeps stand and where thresholds lie."""
    size = readable_bytes(found["bytes"])
    lines = [f"{name}: {count(found['runs'], 'run')}, {size}, version {found['version']}"]
    if found["certificates"]:
        lines += [f"beside them {count(found['certificates'], 'certificate')}"]
    if found["thresholds"]:
        lines += [f"beside them {count(found['thresholds'], 'threshold')}"]
    if found["not_reproducible"]:
        some = count(found["not_reproducible"], "run")
        lines += [f"{some} ended by time, memory or the machine: left out of comparable exports"]
    if found["outcomes"]:
        lines += ["", outcomes_table(found["outcomes"])]
    for one in sweeps:
        done, planned = sum(one.done.values()), sum(one.planned.values())
        failed = sum(one.failed.values())
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(one.updated))
        lines += [
            "",
            f"sweep {cut(one.name, 40)}: {one.state}, {done} of {planned}"
            f"{f', {failed} failed' if failed else ''}, {when} UTC"
            f"{missing_words(one, _runs(found['outcomes']))}",
        ]
    for title, thresholds in least.items():
        from hardness.report.least import least_words  # which loads what certifies

        try:
            lines += ["", f"{title}:", least_words(thresholds)]
        except UsageError as error:  # of a family that is known where it is named
            lines += ["", f"{title}: {error}"]
    return "\n".join(lines)


def outcomes_table(counts: Counts) -> str:
    """Say how the runs of every learner ended.

    >>> from hardness.report.text import laid_out
    >>> print(laid_out(outcomes_table({"trivial": {"learned nothing": 3, "solved": 4}}), 80))
    learner  runs  ended with
    trivial     7  4 solved, 3 learned nothing
    """
    rows = []
    for learner, found in counts.items():
        ends = [f"{n} {end}" for end, n in sorted(found.items(), key=lambda one: -one[1])]
        rows.append([cut(short(learner), _NAME), str(sum(found.values())), ", ".join(ends)])
    return table(["learner", "runs", "ended with"], rows) if rows else "no runs yet"


def outcome_rows(counts: Counts) -> list[TableRow]:
    """Lay out how the runs of every learner ended: a row for each way.

    >>> outcome_rows({"trivial": {"solved": 4}})
    [{'learner': 'trivial', 'outcome': 'solved', 'runs': 4}]
    """
    return [
        {"learner": learner, "outcome": end, "runs": runs}
        for learner, ends in counts.items()
        for end, runs in ends.items()
    ]


class Queried(Record, frozen=True, kw_only=True):
    """The answer to a question in SQL: names of columns and rows."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    def to_dict(self) -> Any:
        """Give its rows as objects, bytes as hexadecimal digits.

        Raises UsageError where two columns have one name.

        >>> Queried(names=("n", "b"), values=((1, b"ab"),)).to_dict()
        [{'n': 1, 'b': '6162'}]
        """
        return self._rows()

    def _rows(self) -> list[TableRow]:
        if len(set(self.names)) < len(self.names):
            raise UsageError("two columns have one name, which no format can hold: use AS")
        return [dict(zip(self.names, map(_plain, row), strict=True)) for row in self.values]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and math.isinf(value) else value


def queried_words(found: Queried) -> str:
    """Lay out an answer within 80 columns: cells cut, or a line a value where that is not enough.

    >>> from hardness.report.text import laid_out
    >>> few = Queried(names=("n", "name"), values=((1, "a"), (None, "b")))
    >>> print(laid_out(queried_words(few), 80))
    n  name
    1  a
    -  b
    >>> print(queried_words(Queried(names=("a_long_name",) * 20, values=(tuple(range(20)),)))[:29])
    a_long_name  0
    a_long_name  1
    """
    names, rows = found.names, [list(map(shown, row)) for row in found.values]
    if not rows:
        return f"no rows ({', '.join(names)})"
    for width in range(_WIDEST, _LEAST - 1, -1):
        cells = [[cut(value, width) for value in row] for row in rows]
        text = table([cut(name, width) for name in names], cells)
        if max(map(taken, text.split("\n"))) <= _WIDTH:
            return text
    most = max(map(len, names))
    blocks = [[f"{n:{most}}  {v}" for n, v in zip(names, row, strict=True)] for row in rows]
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


def progress_line(at: Progress, width: int = 200) -> str:
    """Say how far a sweep is in a line of `width` columns at most; of labels those that are open.

    >>> progress_line(Progress(planned={"a": 8, "b": 2}, done={"a": 3, "b": 2}, failed={"a": 1},
    ...                        elapsed=60.0, remaining=75.0))
    '5 of 10 (50 %), 1 failed; a 3/8; 1 min 0 s so far, about 1 min 15 s left'
    """
    lines = (_line(at, shown) for shown in range(_OPEN, -1, -1))
    return next((line for line in lines if len(line) <= width), _line(at, 0)[:width])


def _line(at: Progress, most: int) -> str:
    """Say how far a sweep is, and of `most` labels."""
    share = f" ({100 * at.finished // at.total} %)" if at.total else ""
    failed = sum(at.failed.values())
    open_ = [(name, n) for name, n in at.planned.items() if at.done.get(name, 0) < n]
    parts = [
        f"{one_line(name.partition(':')[0])} {at.done.get(name, 0)}/{n}" for name, n in open_[:most]
    ]
    if parts and len(open_) > most:
        parts.append(f"{len(open_) - most} more")
    of = f"; {', '.join(parts)}" if parts else ""
    left = "" if at.remaining is None else f", about {duration(at.remaining)} left"
    return (
        f"{at.finished} of {at.total}{share}{f', {failed} failed' if failed else ''}"
        f"{of}; {duration(at.elapsed)} so far{left}"
    )
