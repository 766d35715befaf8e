"""Earlier scores, held against what is computed now, and digests that were published in time."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardness.compare.challenge.canonical import read_strict, require_size
from hardness.compare.challenge.score import SCORES, Scores
from instances.disk import require_format
from instances.errors import DamagedFile, Refuted, UsageError

_LARGEST = 1 << 26
_CLOSE = 1e-9  # as risks are ranked
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def read_scores(path: Path) -> dict[str, Any]:
    """Read scores as JSON, to be held against others; raises DamagedFile."""
    data = read_strict(path, _LARGEST)
    require_format(data, SCORES, path)
    listed = data.get("registered")
    if listed is not None and (
        type(listed) is not list or not all(type(v) is str and _DIGEST.fullmatch(v) for v in listed)
    ):
        raise DamagedFile(f"{path} is damaged: `registered` is no list of digests")
    return data


def require_same(found: Scores, earlier: dict[str, Any], path: Path) -> None:
    """Refuse earlier scores that are not those found now; raises Refuted, naming where."""
    where = difference(earlier, found.to_json())
    if where:
        raise Refuted(f"{path} does not hold: scored again, {where}")


def difference(earlier: Any, found: Any, place: str = "") -> str | None:
    """Find the first place where JSON differs, numbers beyond 1e-9; None where it does not.

    >>> difference({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]})
    'a[1] is 2.5, not 2.0'
    """
    if isinstance(earlier, dict) and isinstance(found, dict):
        odd = sorted(set(earlier) ^ set(found))
        if odd:
            return f"{place}.{odd[0][:40]} is in one of both alone".lstrip(".")
        inner = (difference(earlier[n], v, f"{place}.{n}".lstrip(".")) for n, v in found.items())
        return next((where for where in inner if where), None)
    if isinstance(earlier, list) and isinstance(found, list):
        if len(earlier) != len(found):
            return f"{place} has {len(found)} parts, not {len(earlier)}"
        parts = (
            difference(a, b, f"{place}[{i}]")
            for i, (a, b) in enumerate(zip(earlier, found, strict=True))
        )
        return next((where for where in parts if where), None)
    if type(earlier) is float and type(found) is float:
        same = math.isclose(earlier, found, rel_tol=_CLOSE, abs_tol=_CLOSE)
    else:
        same = type(earlier) is type(found) and earlier == found
    return None if same else f"{place} is {str(found)[:80]}, not {str(earlier)[:80]}"


def read_digests(given: Sequence[str]) -> list[str]:
    """Read digests, and files of them, one at the start of each line; raises UsageError.

    >>> read_digests(["ab" * 32]) == ["ab" * 32]
    True
    """
    found: list[str] = []
    for text in given:
        found += [text] if _DIGEST.fullmatch(text) else _in_file(text)
    return found


def _in_file(text: str) -> list[str]:
    path = Path(text)
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    if not there:
        raise UsageError(
            f"--registered {text[:80]} given: a digest of 64 hexadecimal digits, or a file of them"
        )
    require_size(path, 1 << 20)
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise DamagedFile(f"{path} is no text: one digest at the start of each line") from error
    found = [words[0] for words in lines if words and not words[0].startswith("#")]
    for word in found:
        if not _DIGEST.fullmatch(word):
            raise DamagedFile(f"{path} holds {word[:40]!r}, which is no digest")
    return found
