"""The progress of a sweep in words: one line for terminals and logs."""

from hardness.compare.sweep.tally import Progress


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


def progress_line(at: Progress) -> str:
    """Say how far a sweep is.

    >>> progress_line(Progress(planned={"a": 8, "b": 2}, done={"a": 3, "b": 2}, failed={"a": 1},
    ...                        elapsed=60.0, remaining=75.0))
    '5 of 10 (50 %), 1 failed; a 3/8, b 2/2; 1 min 0 s so far, about 1 min 15 s left'
    """
    share = f" ({100 * at.finished // at.total} %)" if at.total else ""
    failed = sum(at.failed.values())
    parts = ", ".join(
        f"{name.partition(':')[0]} {at.done.get(name, 0)}/{n}" for name, n in at.planned.items()
    )
    left = "" if at.remaining is None else f", about {duration(at.remaining)} left"
    return (
        f"{at.finished} of {at.total}{share}{f', {failed} failed' if failed else ''}"
        f"; {parts}; {duration(at.elapsed)} so far{left}"
    )
