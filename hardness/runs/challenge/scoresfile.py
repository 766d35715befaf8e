"""Earlier scores, held against what is computed now, and digests that were published in time."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardness.runs.challenge.score import SCORES, Scores
from hardness.runs.challenge.submission import require_name
from instances.disk import damage, require_format
from instances.errors import DamagedFile, Refuted, UsageError
from instances.strict import SMALL, read_json, read_text, shown

_CLOSE = 1e-9  # as risks are ranked
_LONGEST_LIST = 1 << 20
_LINE = re.compile(r"[0-9a-f]{64} ")


def read_scores(path: Path) -> dict[str, Any]:
    """Read scores as JSON, to be held against others; raises DamagedFile."""
    data = read_json(path, SMALL)
    require_format(data, SCORES, path)
    listed = data.get("registered")
    with damage(path):
        if listed is not None and read_digests([f"{d} {n}" for d, n in listed.items()]) != listed:
            raise ValueError("`registered` is no list of digests and names")
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
            return f"{place}.{shown(odd[0])} is in one of both alone".lstrip(".")
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
    return None if same else f"{place} is {shown(found, 80)}, not {shown(earlier, 80)}"


def read_digests(given: Sequence[str]) -> dict[str, str]:
    """Read "DIGEST NAME", and files with one on each line: who published which digest.

    One digest a name: who has several could open whichever turns out best. Raises UsageError,
    DamagedFile.

    >>> read_digests(["ab" * 32 + " ann"]) == {"ab" * 32: "ann"}
    True
    """
    lines = [line for text in given for line in _lines(text)]
    found: dict[str, str] = {}
    owners: dict[str, str] = {}
    for line in lines:
        digest, _, name = line.strip().partition(" ")
        name = name.strip()
        require_name(name)
        if owners.setdefault(name.lower(), digest) != digest:
            raise UsageError(f"{name} has two digests among those registered: one a name counts")
        if found.setdefault(digest, name) != name:
            raise UsageError(f"{digest} is registered by {found[digest]} and by {name}")
    return found


def _lines(text: str) -> list[str]:
    """The digests and names that an argument gives: itself, or the lines of a file."""
    if _LINE.match(text):
        return [text]
    path = Path(text)
    try:
        there = path.exists()
    except (OSError, ValueError):
        there = False
    if not there:
        raise UsageError(
            f"--registered {text[:80]} given: a digest of 64 hexadecimal digits and the name of "
            "who published it, or a file of such lines"
        )
    lines = read_text(path, _LONGEST_LIST).splitlines()
    found = [line for line in lines if line.strip() and not line.startswith("#")]
    for line in found:
        if not _LINE.match(line):
            raise DamagedFile(f"{path} holds {shown(line)}, which is no digest and a name")
    return found
