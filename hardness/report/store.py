"""What a store holds, in words."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from hardness.report.text import count, table
from hardness.runs.names import one_line, short
from hardness.runs.rows import SweepRow
from hardness.sweep.recover import Recovered
from instances.limits import readable_bytes

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

    >>> print(outcomes_table({"trivial": {"learned nothing": 3, "solved": 4}}))
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

    >>> print(answer_table(["n", "name"], [(1, "a"), (None, "b")]))
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
        if max(map(len, text.split("\n"))) <= _WIDTH:
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


def recovered_words(found: Recovered, out: str) -> str:
    """Return in two lines what was recovered and what was not."""
    kept = ", ".join(count(n, name[:-1]) for name, n in found.kept.items() if n)
    rejected = ", ".join(f"{n} of {name}" for name, n in found.rejected.items())
    lost = f"rejected, for they do not read as rows of a store: {rejected}"
    none = "no row was rejected; what lies on pages that cannot be read is in no count"
    return f"recovered to {out}: {kept}\n{lost if rejected else none}"


def answer_lines(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Write an answer as JSON objects.

    >>> answer_lines(["n"], [(1,)])
    [{'n': 1}]
    """
    return [dict(zip(names, map(plain_value, row), strict=True)) for row in rows]
