"""Short names of learners and specs for people, and ranges of numbers as people write them.

Names leave out defaults. No file of a learner or a family is executed to shorten a name.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from hardness.runs.registry import LEARNERS, parse_learner
from instances.errors import UsageError
from instances.numbers import parse
from instances.parameters import brief, split_list
from instances.spec import kind_of, parse_stored

if TYPE_CHECKING:
    from instances.ladders import Ladder

Value = int | Fraction  # of a parameter

_DIGEST = re.compile(r"(sha256=[0-9a-f]{12})[0-9a-f]{52}")


def one_line(text: str) -> str:
    """Write a name that came from a file on one line; unprintable characters become escapes.

    >>> print(one_line("mine" + chr(10) + "solved"))
    mine\\nsolved
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@lru_cache(1024)
def short(learner: str) -> str:
    """Write a learner's canonical name without defaults; names that are not built in stay as is.

    >>> short("lowdegree:degree=3,oversample=8"), short("mine.py:Net"), short("gone:a=1")
    ('lowdegree:degree=3', 'mine.py:Net', 'gone:a=1')
    """
    learner = one_line(learner)
    if learner.startswith("decode:"):
        return f"decode:{short(learner.removeprefix('decode:'))}"
    if learner.partition(":")[0] not in LEARNERS:
        return learner
    try:
        parsed = parse_learner(learner)
    except UsageError:  # a name of another version, with other parameters
        return learner
    return brief(parsed, parsed.name)


def brief_spec(spec: str, *without: str) -> str:
    """Write a spec without its defaults and the parameters `without`; digests are shortened.

    >>> brief_spec("parity:d=8,m=3,noise=0,rho=3", "d"), brief_spec("gone:d=8,a=1", "d")
    ('parity:m=3', 'gone:a=1')
    >>> brief_spec("specs:d=6,members=15,sha256=" + 64 * "7")
    'specs:d=6,members=15,sha256=777777777777…'
    """
    text = spec = one_line(spec)
    name = spec.partition(":")[0]
    if kind_of(name):
        try:
            text = brief(parse_stored(spec), name)
        except UsageError:  # a spec of another version, with other parameters
            text = spec
    try:
        pairs = split_list(text.partition(":")[2])
    except UsageError:
        return text
    kept = [
        _DIGEST.sub(r"\1…", pair)
        for pair in pairs
        if pair and pair.partition("=")[0] not in without
    ]
    return f"{name}:{','.join(kept)}" if kept else name


def labels(learners: Sequence[str]) -> list[str]:
    """Write learners from files without their folders, if the names stay different.

    >>> labels(["a/mine.py:One", "queries"]), labels(["a/x.py:One", "b/x.py:One"])
    (['mine.py:One', 'queries'], ['a/x.py:One', 'b/x.py:One'])
    """
    names = [re.sub(r"^.*/(?=[^/]*\.py:)", "", name) for name in learners]
    return names if len(set(names)) == len(set(learners)) else list(learners)


def short_specs(ladder: "Ladder") -> tuple[str, list[str]]:
    """Split the specs of a ladder into the part that all have, and the rest of each.

    >>> from instances.ladders import ladder_of
    >>> short_specs(ladder_of(["parity:d=8,m=2,noise=0.1", "parity:d=9,m=2,noise=0.1"]))
    ('parity:m=2,noise=0.1', ['d=8', 'd=9'])

    A level that differs only by a default shows this default.

    >>> short_specs(ladder_of(["parity:d=8,m=2", "parity:d=8,m=2,noise=0.1"]))
    ('parity:d=8,m=2', ['noise=0', 'noise=0.1'])
    """
    specs = [brief_spec(spec) for spec in ladder.specs]
    names = {spec.partition(":")[0] for spec in specs}
    if len(names) > 1 or len(specs) == 1:
        return "family", specs
    parts = [split_list(spec.partition(":")[2]) for spec in specs]
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    short = [",".join(p for p in pairs if p not in shared) for pairs in parts]
    varied = {part.partition("=")[0] for label in short for part in split_list(label)}
    short = [
        label or _parameters(spec, varied) for label, spec in zip(short, ladder.specs, strict=True)
    ]
    name = names.pop()
    return (f"{name}:{','.join(shared)}" if shared else name), short


def _parameters(spec: str, names: set[str]) -> str:
    """Write the named parameters of a spec, also if they are defaults."""
    pairs = split_list(parse_stored(spec).spec.partition(":")[2])
    return ",".join(pair for pair in pairs if pair.partition("=")[0] in names)


# Ranges: "8..20", "8..20..4", "8..1024..*2", "8,12,16", "0,0.5".

_NUMBER = r"[0-9]{1,18}"
_LIST = re.compile(rf"{_NUMBER}([./]{_NUMBER})?(,{_NUMBER}([./]{_NUMBER})?)*", re.ASCII)
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.(\*?)({_NUMBER}))?", re.ASCII)


def numbers(text: str, subject: str) -> range | tuple[Value, ...] | None:
    """Read a list or range of numbers in growing order; None if the text is neither.

    An arithmetic range is returned as a `range`. subject: the name in messages. Raises UsageError
    for an empty range and a step of 0.

    >>> numbers("1..1000000000", "d"), numbers("8..64..*2", "d"), numbers("1/2,0.25,1", "noise")
    (range(1, 1000000001), (8, 16, 32, 64), (Fraction(1, 4), Fraction(1, 2), 1))
    """
    text = text.strip()
    if _LIST.fullmatch(text):
        return tuple(sorted({whole(parse(v, Fraction, subject)) for v in text.split(",")}))
    match = _RANGE.fullmatch(text)
    if not match:
        return None
    low, high, times, step = int(match[1]), int(match[2]), match[3], int(match[4] or 1)
    if step < 1 or (times and (step < 2 or low < 1)):
        allowed = "a factor of at least 2, from at least 1," if times else "a step of at least 1"
        raise UsageError(f"{subject}={text}: {allowed} is needed")
    values = range(low, high + 1, step)
    if not values:
        raise UsageError(f"{subject}={text}: the range is empty")
    if not times:
        return values
    powers = [low]
    while powers[-1] * step <= high:
        powers.append(powers[-1] * step)
    return tuple(powers)


def whole(value: Fraction) -> Value:
    """Convert a whole number to int, and return other fractions unchanged.

    >>> whole(Fraction(4, 2)), whole(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    return int(value) if value.denominator == 1 else value
