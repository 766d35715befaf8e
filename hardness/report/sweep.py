"""Sweeps in words: a plan of runs, or the runs that were done."""

from hardness.report.text import count, number, table
from hardness.runs.names import brief_spec, short
from hardness.runs.results import Runs
from hardness.runs.sweep import Sweep

_NAME_WIDTH = 44  # most columns of a learner or a spec


def cut_to_width(text: str, width: int) -> str:
    """Cut a text to a width.

    >>> cut_to_width("parity:d=8,m=2", 10)
    'parity:...'
    """
    return text if len(text) <= width else f"{text[: width - 3]}..."


def sweep_words(sweep: Sweep) -> str:
    """Write the runs that a sweep would do, and the learners that it leaves out."""
    rows = [
        [
            str(row["grid"]),
            cut_to_width(short(str(row["learner"])), _NAME_WIDTH),
            str(row["specs"]),
            str(row["runs"]),
            "no limit" if row["at most s"] is None else number(row["at most s"]),
        ]
        for row in sweep._rows()
    ]
    left_out = [
        f"left out of {one.grid}: {short(one.learner)} on {count(one.specs, 'spec')}: {one.reason}"
        for grid in sweep.grids
        for one in grid.left_out
    ]
    head = f"{sweep.name}: {count(sweep.count, 'run')}"
    if sweep.done is not None:
        head += f", of which {sweep.source} holds {sweep.done}"
    lines = [head, "", table(["grid", "learner", "specs", "runs", "at most s"], rows)]
    return "\n".join([*lines, *([""] if left_out else []), *left_out])


def runs_words(runs: Runs) -> str:
    """Write how the runs of each learner ended, and the median costs of those that solved."""
    if not runs.runs:
        return f"{runs.source or runs.name}: no runs"
    ended = [
        [
            cut_to_width(short(learner), _NAME_WIDTH),
            str(sum(ends.values())),
            ", ".join(f"{n} {end}" for end, n in sorted(ends.items(), key=lambda pair: -pair[1])),
        ]
        for learner, ends in runs.counts().items()
    ]
    rows = runs._rows()
    names = [name for name in rows[0] if name not in ("spec", "learner")]
    cells = [
        [
            cut_to_width(brief_spec(str(row["spec"])), _NAME_WIDTH),
            cut_to_width(short(str(row["learner"])), _NAME_WIDTH),
            *(
                "-" if row[n] is None else row[n] if isinstance(row[n], str) else number(row[n])
                for n in names
            ),
        ]
        for row in rows
    ]
    head = f"{runs.source or runs.name}: {count(len(runs.runs), 'run')}"
    parts = [head, table(["learner", "runs", "ended with"], ended)]
    parts += ["medians of the runs that solved", table(["spec", "learner", *names], cells)]
    return "\n\n".join(parts)
