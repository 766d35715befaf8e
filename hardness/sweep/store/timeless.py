"""What of a run's details is the same in every execution of it."""

from typing import Any

_TIMES = ("seconds", "bytes", "times")
_MACHINE = ("printed", "pid", "contained", "libraries")


def timeless(details: Any) -> Any:
    """Leave out times, memory and what the machine says, at any depth.

    >>> timeless({"steps": 3, "fit_seconds": 0.1, "stages": [{"name": "a", "seconds": 1.0}]})
    {'steps': 3, 'stages': [{'name': 'a'}]}
    """
    if isinstance(details, dict):
        return {k: timeless(v) for k, v in details.items() if not _passing(k)}
    if isinstance(details, list | tuple):
        return [timeless(value) for value in details]
    return details


def _passing(name: str) -> bool:
    return name in (*_TIMES, *_MACHINE) or name.endswith(("_seconds", "_bytes"))
