"""One colour and one mark a learner, the same in every figure, whoever stands beside it."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a series is drawn: #RRGGBB, a mark of matplotlib, and a line style."""

    colour: str
    mark: str
    line: str = "-"


# Told apart with any colour vision, and with a contrast of 3 at least on white and on #17181b;
# after Okabe and Ito's palette.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B9609B", "#9A7500", "#767676")
MARKS = ("o", "s", "^", "D", "v", "P", "X")


def style_of(learner: str) -> Style:
    """Return the style of a learner by its name, parameters aside; the same for ever.

    >>> style_of("queries") == style_of("queries:batch=3"), style_of("a.py:B").mark in MARKS
    (True, True)
    """
    from hardness.upper import LEARNERS

    name = learner if ".py:" in learner else learner.partition(":")[0]
    names = list(LEARNERS)
    if name in names:
        place = names.index(name)
    else:
        place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    return Style(colour=COLOURS[place % len(COLOURS)], mark=MARKS[place % len(MARKS)])
