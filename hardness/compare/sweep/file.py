"""Sweep files: TOML with specs, learners, seeds and budgets, read into a Sweep.

Every mistake is one line with the file, the line and the key. Nothing that a file names is executed
here: a learner of one's own is known by its name until it runs, in a process of its own.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hardness.compare.engines import Limits
from hardness.compare.sweep.groups import GROUPS, SHARED, climb, gram, runs, shared
from hardness.compare.sweep.lines import Lines, locate
from hardness.compare.sweep.node import Node, Source, decimal, named
from hardness.compare.sweep.record import Sweep
from instances.errors import UsageError

FORMAT = "hardness-sweep/1"
MOST_RUNS = 10**7  # without --yes
_MOST_BYTES = 1 << 20
_LONGEST = 1e9  # seconds
_TOP = ("format", "name", *SHARED, "limits", *GROUPS)
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_DOTS = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")


def read_sweep(path: Path) -> Sweep:
    """Read a sweep file; raises UsageError with the file, the line and the key of a mistake."""
    name = str(path)[:200]
    try:
        if path.is_dir():
            raise UsageError(f"{name} given: it is a folder, a sweep file (TOML) is needed")
        if not path.is_file():
            raise UsageError(f"{name} given: there is no such file")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} cannot be read: {error}") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{name} is over 1 MiB: a sweep file is a page, use ranges under `over`")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{name}: line {line}: it is no UTF-8 text, as TOML must be") from error
    return read_text(text, name)


def read_text(text: str, where: str) -> Sweep:
    """Read the text of a sweep file; `where` is its name in messages.

    >>> lines = ['format = "hardness-sweep/1"', 'name = "few"', "[[runs]]", 'spec = "parity:m=2"']
    >>> lines += ['over = {d = "8..10"}', 'learners = ["queries"]', "seeds = 5"]
    >>> read_text(chr(10).join(lines), "few.toml").count
    15
    """
    top = _parsed(text, where)
    own = top.fields(_TOP, "a sweep")
    stated = own["format"].value if "format" in own else None
    if stated != FORMAT:
        here = own.get("format", top)
        raise here.complaint(
            f'format = "{FORMAT}" must stand in the file, which is what this version reads'
            if stated is None
            else f"{str(stated)[:40]!r} given: this version reads {FORMAT!r}"
        )
    if "name" not in own:
        raise top.complaint('a sweep needs a name: write name = "..." at the top')
    if not any(group in own for group in GROUPS):
        raise top.complaint("there is no group: write [[runs]], [[climbs]] or [[grams]]")
    defaults = {key: own[key] for key in SHARED if key in own}
    shared(defaults)  # a mistake in a default is one, used or not

    def groups(key: str) -> Iterator[Node]:
        return own[key].groups() if key in own else iter(())

    sweep = Sweep(
        name=own["name"].text("a text"),
        text=text,
        runs=tuple(runs(one, defaults) for one in groups("runs")),
        climbs=tuple(climb(one, defaults) for one in groups("climbs")),
        grams=tuple(gram(one) for one in groups("grams")),
    )
    return _limited(sweep, own.get("limits"))


def require_count(sweep: Sweep, yes: bool = False) -> None:
    """Refuse a sweep of over 1e7 runs unless `yes`; raises UsageError with the number."""
    if sweep.count > MOST_RUNS and not yes:
        raise UsageError(
            f"{sweep.name[:60]}: {sweep.count} runs asked for, over {MOST_RUNS}: ask for fewer "
            "sizes, seeds or learners, or say --yes"
        )


def _parsed(text: str, where: str) -> Node:
    """Parse TOML, every value with its line."""
    if _DOTS.search(text):
        raise UsageError(f"{where}: a key of over 100 parts given: sweep files have none such")
    try:
        data = tomllib.loads(text, parse_float=decimal)
        lines = locate(text)
    except RecursionError as error:
        raise UsageError(f"{where}: its values are nested too deep for a sweep file") from error
    except ValueError as error:  # of tomllib, or of an integer of over 4300 digits
        raise _malformed(text, where, error) from error
    return Node(value=data, path=(), source=Source(name=where, lines=lines))


def _malformed(text: str, where: str, error: ValueError) -> UsageError:
    """Say what tomllib says, with the key that it happened in."""
    said, found = str(error), _PLACE.search(str(error))
    text = text.replace("\r\n", "\n")
    if not found:
        digits = re.search(r"[0-9][0-9_]{4000}", text)
        line = text.count("\n", 0, digits.start()) + 1 if digits else 1
        return UsageError(f"{where}: line {line}: an integer of over 4000 digits given")
    line, column = (int(n) for n in found.groups(str(len(text))))
    ends = [0, *(m.end() for m in re.finditer("\n", text))]
    if found[1] is None:
        line, stop = len(ends), len(text)
    else:
        stop = min(len(text), ends[line - 1] + column - 1)
    try:
        before = locate(text[:stop])
    except RecursionError:
        before = Lines()
    key, said = before.last, said[: found.start()]
    if said.startswith("Cannot overwrite a value"):
        key, line = before.pair
        first = before.of(key)
        said = (
            f"it is given twice, first in line {first}" if first < line else f"{said}: it is there"
        )
    about = f": {named(key)}" if key else ""
    return UsageError(f"{where}: line {line}{about}: {said[:200]}: mend the TOML")


def _limited(sweep: Sweep, node: Node | None) -> Sweep:
    """Give a sweep its hard limits: those of the file, else by its budgets."""
    own = node.fields(("seconds", "memory", "retries"), "[limits]") if node else {}
    seconds = own["seconds"].number(0, _LONGEST) if "seconds" in own else usual_seconds(sweep)
    limits = Limits(
        seconds=seconds,
        memory_bytes=own["memory"].size() if "memory" in own else None,
        retries=own["retries"].whole(0, 100) if "retries" in own else 2,
    )
    return replace(sweep, limits=limits)


def usual_seconds(sweep: Sweep) -> float:
    """Choose the hard limit of an attempt: 4 times the most seconds of any budget, and 60 more.

    At least an hour where some run has no budget of seconds, or a Gram matrix is asked for.
    """
    given = [b.seconds for group in sweep.runs for b in group.budgets]
    for one in sweep.climbs:
        given += [one.budget.seconds or rung.seconds for rung in one.ladder.rungs]
    most = 4 * max((s for s in given if s is not None), default=0.0) + 60
    return max(3600.0, most) if None in given or not given or sweep.grams else most
