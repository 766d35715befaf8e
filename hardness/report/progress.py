"""The progress of a sweep: one line for terminals and logs, one for machines."""

from hardness.runs.names import one_line
from hardness.runs.rows import Progress

_SHOWN = 4


def duration(seconds: float) -> str:
    """Write a time in at most two units.

    >>> duration(0.4), duration(75), duration(7300), duration(200_000)
    ('0 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    whole = round(seconds)
    for unit, size, below, smaller in (("d", 86400, "h", 3600), ("h", 3600, "min", 60)):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // smaller} {below}"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def progress_line(at: Progress, width: int = 200) -> str:
    """Say how far a sweep is in a line of `width` columns at most; of labels those that are open.

    >>> progress_line(Progress(planned={"a": 8, "b": 2}, done={"a": 3, "b": 2}, failed={"a": 1},
    ...                        elapsed=60.0, remaining=75.0))
    '5 of 10 (50 %), 1 failed; a 3/8; 1 min 0 s so far, about 1 min 15 s left'
    """
    lines = (_line(at, shown) for shown in range(_SHOWN, -1, -1))
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
