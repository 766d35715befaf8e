"""Names of learners that are not built in: in files, and of installed packages.

Nothing here executes a file, reads one or imports a package: a name is read, and what installed
packages say of themselves.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, distributions
from typing import Literal

from instances.userfile import split

GROUP = "hardness.learners"
_ENTRY = re.compile(r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)(?::(?P<rest>.*))?", re.DOTALL)
_VALUE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\s*:\s*[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, kw_only=True)
class PluginName:
    """A learner that is not built in: where it stands, under which name, with which parameters.

    place: the path of a file, or the name of an entry point. attribute: the name in the file, empty
    for an entry point. parameters: "key=value,..." as given, or empty.
    """

    kind: Literal["file", "entry"]
    place: str
    attribute: str
    parameters: str


@dataclass(frozen=True, kw_only=True)
class InstalledLearner:
    """A learner of an installed package, as the package names it; problem: why it cannot be used.

    value: "module:attribute". distribution, version: of the package.
    """

    name: str
    value: str
    distribution: str
    version: str
    problem: str | None = None


def plugin(text: str) -> PluginName | None:
    """Read "path.py:Name", "entry", or either with ":key=value,..." behind it; None for neither.

    Any plain word is the name of an entry point: a caller with other names looks there first.
    Raises UsageError for a path without a name.

    >>> plugin("C:\\\\my.dir\\\\mine.py:Nearest:degree=3").attribute
    'Nearest'
    >>> plugin("theirs:degree=3")
    PluginName(kind='entry', place='theirs', attribute='', parameters='degree=3')
    """
    file = split(text)
    if file:
        return PluginName(
            kind="file", place=str(file.path), attribute=file.name, parameters=file.parameters
        )
    found = _ENTRY.fullmatch(text.strip())
    if not found:
        return None
    return PluginName(
        kind="entry", place=found["name"], attribute="", parameters=(found["rest"] or "").strip()
    )


def installed(builtin: Collection[str] = ()) -> tuple[InstalledLearner, ...]:
    """List the learners that installed packages name, sorted; none of them is imported.

    What is wrong with one is its `problem`, and never hides the others. builtin: names that are
    taken.
    """
    found = sorted(_entries(), key=lambda e: (e.name, e.distribution, e.value))
    givers: dict[str, list[str]] = {}
    for entry in found:
        givers.setdefault(entry.name, []).append(entry.distribution)
    return tuple(
        entry if entry.problem else replace(entry, problem=_problem(entry, builtin, givers))
        for entry in found
    )


def _problem(
    entry: InstalledLearner, builtin: Collection[str], givers: dict[str, list[str]]
) -> str | None:
    if not _ENTRY.fullmatch(entry.name) or ":" in entry.name or entry.name.endswith(".py"):
        return f"its name '{entry.name[:40]}' is no plain word"
    if not _VALUE.fullmatch(entry.value):
        return f"its value '{entry.value[:80]}' is not of the form module:attribute"
    if entry.name in builtin:
        return f"the name '{entry.name}' is a built-in learner's"
    by = givers[entry.name]
    if len(by) > 1:
        names = ", ".join(dict.fromkeys(by))
        return f"the name '{entry.name}' is given {len(by)} times, by {names}"
    return None


def _entries() -> Iterator[InstalledLearner]:
    seen: set[str] = set()
    for distribution in distributions():
        try:
            name, version = (str(distribution.metadata[what]) for what in ("Name", "Version"))
        except Exception:  # the metadata of a package of somebody else, in any state
            name = version = "unknown"
        if name.lower() in seen:  # hidden by one that comes first on sys.path
            continue
        seen.add(name.lower())
        problem = None
        try:
            points = [p for p in distribution.entry_points if p.group == GROUP]
        except Exception as error:  # whatever a damaged file makes the parser raise
            if GROUP not in (distribution.read_text("entry_points.txt") or ""):
                continue
            points = [EntryPoint("?", "", GROUP)]
            said = " ".join(str(error).split())[:100]
            problem = f"its entry_points.txt cannot be read: {type(error).__name__}: {said}"
        for point in points:
            yield InstalledLearner(
                name=point.name,
                value=point.value,
                distribution=name,
                version=version,
                problem=problem,
            )
