"""How sweeps stand, in words: for `sweep status`, and at the end of `sweep run`."""

import shlex
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.report.progress import duration
from hardness.report.store import NAME, Counts, cut, missing_words, outcomes_table
from hardness.report.text import count, table
from hardness.runs.names import one_line, short
from hardness.runs.rows import SweepRow
from hardness.sweep.store import FAILED

if TYPE_CHECKING:
    from hardness.sweep import Ended


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
    parts.append(outcomes_table(counts))
    return "\n\n".join(parts)


def _runs(counts: Counts) -> dict[str, int]:
    return {learner: sum(ends.values()) for learner, ends in counts.items()}


def _sweep(one: SweepRow, writing: bool, runs: Mapping[str, int]) -> str:
    ago = duration(max(0.0, time.time() - one.updated))
    how = state(one, writing)
    left = one.remaining_seconds
    when = f"about {duration(left)} left" if how == "running" and left is not None else ""
    done, planned = sum(one.done.values()), sum(one.planned.values())
    if how == "killed":  # all that is known is that nobody writes and that it did not say why
        how = "all jobs done, then cut off" if done >= planned else "cut off (killed, or disk full)"
    first = (
        f"{one_line(one.name)}: {how}, {done} of {planned} jobs done"
        f"{f', {when}' if when else ''}; engine {one.engine}, written {ago} ago"
        f"{missing_words(one, runs)}"
    )
    first = textwrap.fill(first, 80)
    rows = [
        [
            cut(short(label), NAME),
            str(n),
            str(one.done.get(label, 0)),
            str(one.failed.get(label, 0)),
        ]
        for label, n in one.planned.items()
    ]
    return f"{first}\n\n{table(['jobs', 'planned', 'done', 'failed'], rows)}" if rows else first


def ended_words(found: "Ended") -> str:
    """Say what a sweep came to."""
    at, counts = found.progress, found.counts()
    lines = [outcomes_table(counts), ""]
    lines += [f"not done: {one}" for one in found.missing]
    failed = sum(n for ends in counts.values() for end, n in ends.items() if end in FAILED)
    if failed:
        lines.append(f"{count(failed, 'run')} failed: `--retry failed` does them again")
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
