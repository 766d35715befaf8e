"""Sweep files: TOML with specs, learners, seeds and budgets, read into a Sweep.

Every mistake is one line with the file and the key. Nothing that a file names is executed
here: a learner of one's own is known by its name until it runs, in a process of its own.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hardness.sweep.engines import Limits
from hardness.sweep.groups import GROUPS, SHARED, climb, gram, runs, shared
from hardness.sweep.node import Node, decimal
from hardness.sweep.record import Sweep
from instances.errors import DamagedFile, UsageError
from instances.strict import one_line, read_bytes, shown

FORMAT = "hardness-sweep/1"
MOST_RUNS = 10**7  # without --yes
_MOST_BYTES = 1 << 20
_LONGEST = 1e9  # seconds
_TOP = ("format", "name", *SHARED, "limits", *GROUPS)
_DOTS = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")
_DIGITS = re.compile(r"[0-9](?:_?[0-9]){1000}")


def read_sweep(path: Path) -> Sweep:
    """Read a sweep file; raises UsageError with the file and the key of a mistake."""
    name = str(path)[:200]
    try:
        data = read_bytes(path, _MOST_BYTES)
    except DamagedFile as error:
        raise UsageError(f"{error}: a sweep file (TOML) is needed, of a page or so") from error
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
            else f"{shown(stated)} given: this version reads {FORMAT!r}"
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
    """Parse TOML, every value with its key."""
    if _DOTS.search(text):
        raise UsageError(f"{where}: a key of over 100 parts given: sweep files have none such")
    if found := _DIGITS.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UsageError(f"{where}: line {line}: a number of over 1000 digits given")
    try:
        data = tomllib.loads(text, parse_float=decimal)
    except RecursionError as error:
        raise UsageError(f"{where}: its values are nested too deep for a sweep file") from error
    except ValueError as error:  # which says the line and the column
        raise UsageError(f"{where}: {one_line(error)[:200]}: mend the TOML") from error
    return Node(value=data, path=(), file=where)


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
