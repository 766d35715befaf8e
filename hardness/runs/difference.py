"""Where JSON that was stored differs from what is computed again."""

import math
from typing import Any

from instances.strict import shown


def difference(
    stored: Any, again: Any, near: float, absolute: float = 0.0, place: str = ""
) -> str | None:
    """Name the first place where stored JSON is not what is computed again; None if they agree.

    Numbers that are computed as floats may differ by `near`, relative, or by `absolute`.

    >>> difference({"a": [1, 2.0]}, {"a": [1, 2.5]}, 1e-9)
    'a[1] is 2.5, not 2.0'
    """
    if isinstance(stored, dict) and isinstance(again, dict):
        if odd := sorted(stored.keys() ^ again.keys()):
            return f"{place}.{odd[0][:80]} stands in one of the two alone".lstrip(".")
        parts = [(f"{place}.{name}".lstrip("."), stored[name], again[name]) for name in again]
    elif isinstance(stored, list | tuple) and isinstance(again, list | tuple):
        if len(stored) != len(again):
            return f"{place} has {len(again)} parts, not {len(stored)}"
        pairs = zip(stored, again, strict=True)
        parts = [(f"{place}[{i}]", *pair) for i, pair in enumerate(pairs)]
    else:
        if type(again) is float and type(stored) in (int, float):
            same = math.isclose(stored, again, rel_tol=near, abs_tol=absolute)
        else:
            same = type(stored) is type(again) and stored == again
        return None if same else f"{place} is {shown(again, 80)}, not {shown(stored, 80)}"
    found = (difference(before, now, near, absolute, inner) for inner, before, now in parts)
    return next((words for words in found if words), None)
