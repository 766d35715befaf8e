"""One colour and one mark a learner, the same in every figure, whoever stands beside it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from instances.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a series is drawn: #RRGGBB, a mark of matplotlib, and a line style."""

    colour: str
    mark: str
    line: str = "-"


# Found by a search: a contrast of 3 at least on white and on #17181b, and colours 22 apart at least
# in CIELAB as they are seen with any kind of colour blindness; marks tell learners apart as well.
COLOURS = ("#025CDF", "#C8132E", "#2DA867", "#A14E9C", "#D57204", "#676767")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
# Those that mostly stand beside each other differ in both; no two are equal.
_BUILT_IN = {
    "queries": (0, "o"),
    "elimination": (1, "s"),
    "lowdegree": (2, "^"),
    "student": (3, "D"),
    "mlp": (4, "X"),
    "pooled": (5, "v"),
    "staged": (0, "^"),
    "levenberg": (4, "o"),
    "linear": (1, "X"),
    "lifted": (2, "s"),
    "bruteforce": (0, "s"),
    "mitm": (5, "D"),
    "restricted": (1, "P"),
    "bkw": (4, "v"),
    "modlinear": (1, "v"),
    "arora-ge": (2, "X"),
    "primal": (3, "o"),
    "trivial": (5, "X"),
    "pairs": (4, "^"),
}
# Of a learner's second, third, .. parameters in one figure; no learner has these marks as its own.
_VARIANTS = (("*", "--"), (">", "-."), ("p", ":"), ("<", "--"), ("h", "-."), ("d", ":"))


def style_of(learner: str) -> Style:
    """Return the style of a learner by its name, parameters aside; the same for ever.

    >>> style_of("queries") == style_of("queries:batch=3"), style_of("a.py:B").mark in MARKS
    (True, True)
    """
    base = _base(learner)
    return _own(base, _place(base))


def styles_of(learners: Iterable[str]) -> dict[str, Style]:
    """Return the styles of learners that stand in one figure, no two of them equal.

    A learner has its own style. Where it stands there with several parameters, the first of these
    in order of their text has it, the others have its colour with marks and lines of their own.
    Where a learner from a file meets the colour and mark of another, it moves on to free ones.

    >>> found = styles_of(["lowdegree:degree=2", "lowdegree:degree=1", "queries"])
    >>> found["queries"] == style_of("queries"), found["lowdegree:degree=2"].line
    (True, '--')
    """
    groups: dict[str, list[str]] = {}
    names = list(dict.fromkeys(learners))
    for learner in names:
        groups.setdefault(_base(learner), []).append(learner)
    taken: set[Style] = set()
    found: dict[str, Style] = {}
    for base in sorted(groups, key=lambda name: (name not in _BUILT_IN, name)):
        place = _place(base)
        for _ in range(len(COLOURS) * len(MARKS)):
            if _own(base, place) not in taken:
                break
            place += 1
        own = _own(base, place)
        taken.add(own)
        for i, learner in enumerate(sorted(groups[base], key=lambda text: (len(text), text))):
            found[learner] = _variant(own, i)
    return {learner: found[learner] for learner in names}


def series_style(number: int) -> Style:
    """Return the style of the number-th line of a figure whose lines are no learners."""
    return Style(colour=COLOURS[number % len(COLOURS)], mark=MARKS[number % len(MARKS)])


def _own(base: str, place: int) -> Style:
    """The style of a built-in learner, or the style at a place of one that is not."""
    if base in _BUILT_IN:
        colour, mark = _BUILT_IN[base]
        return Style(colour=COLOURS[colour], mark=mark)
    return series_style(place)


def _variant(own: Style, number: int) -> Style:
    if not number:
        return own
    mark, line = _VARIANTS[(number - 1) % len(_VARIANTS)]
    return Style(colour=own.colour, mark=mark, line=line)


def _base(learner: str) -> str:
    """The name without its parameters; of a file, without the folders it stands in.

    >>> _base("lowdegree:degree=2"), _base("a/b.py:Net:width=3")
    ('lowdegree', 'b.py:Net')
    """
    from hardness.upper.plugins.names import plugin

    try:
        found = plugin(learner)
    except UsageError:  # a figure may hold any text
        return learner
    if found is None or found.kind == "entry":
        return learner.partition(":")[0]
    return f"{PurePath(found.place).name}:{found.attribute}"


def _place(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:4])
