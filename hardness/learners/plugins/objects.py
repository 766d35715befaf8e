"""What can be seen of a user's object without calling it: what it is, says and takes."""

import inspect
from collections.abc import Callable
from typing import Any


def described(value: Any) -> str:
    """Return what an object is, in a few words: a class and a function by their names."""
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        try:
            return f"the function {value.__name__}{inspect.signature(value)}"[:100]
        except (TypeError, ValueError):
            return f"the function {value.__name__}"
    return f"a {type(value).__name__}"


def first_line(value: Any) -> str:
    """Return the first line of an object's own docstring, or nothing."""
    lines = (getattr(value, "__doc__", None) or "").strip().splitlines()
    return lines[0].strip()[:200] if lines else ""


def takes_examples(value: Callable[..., Any]) -> bool:
    """Return whether a function can be called as f(x, y), or f(x, y, rng), and needs both."""
    return 2 <= len(needs(value)) <= 3


def takes_rng(value: Callable[..., Any]) -> bool:
    """Return whether the third argument is needed, or is named rng."""
    places = _positional(value)
    return len(needs(value)) == 3 or (len(places) > 2 and places[2].name == "rng")


def needs(value: Callable[..., Any]) -> list[str]:
    """Name the positional arguments that must be given; those of *args are none."""
    return [p.name for p in _positional(value) if p.default is inspect.Parameter.empty]


def _positional(value: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # compiled functions that do not say
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
