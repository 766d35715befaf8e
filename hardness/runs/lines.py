"""Specs as points of a grid of parameters, and the lines through them along which one varies."""

from collections.abc import Sequence
from dataclasses import dataclass

from hardness.runs.ranges import Value, whole
from instances.errors import UsageError
from instances.parameters import fraction, plain, split_list

_FIRST = ("d", "n")  # where the ranges of two parameters are equally long


@dataclass(frozen=True, kw_only=True)
class Point:
    """A spec by its parameters: texts of all of them, and the numbers of those that are numbers."""

    spec: str
    name: str
    texts: dict[str, str]
    numbers: dict[str, Value]


def point_of(spec: str) -> Point:
    """Read the parameters of a spec as data, whether or not its family is known here.

    A spec that has none to read, as one from a file, is a point of one parameter, "size", 1.

    >>> point_of("parity:d=8,m=2,noise=1/3").numbers
    {'d': 8, 'm': 2, 'noise': Fraction(1, 3)}
    >>> point_of("mine.py:Family").texts, point_of("mine.py:Family").numbers
    ({'spec': 'mine.py:Family'}, {'size': 1})
    """
    name, _, rest = spec.partition(":")
    try:
        pairs = [part.partition("=") for part in split_list(rest)]
    except UsageError:
        pairs = []
    texts = {key: value for key, _, value in pairs if key and value}
    if ",".join(f"{key}={value}" for key, value in texts.items()) != rest:
        texts = {"spec": spec}  # of another grammar
    numbers: dict[str, Value] = {}
    for key, value in texts.items():
        try:
            number = whole(fraction(value, key))
        except (UsageError, ZeroDivisionError):
            continue  # a word, as secret=binary
        if plain(number) == value:  # as canonical specs write it: equal numbers are equal texts
            numbers[key] = number
    return Point(spec=spec, name=name, texts=texts, numbers=numbers or {"size": 1})


def lines(points: Sequence[Point]) -> list[tuple[str, tuple[Point, ...]]]:
    """Part points of one family into lines, each with the parameter that varies along it.

    Points that belong together, each a neighbour of another along some line, are cut along one
    parameter: that with the longest line. What stands alone there is cut again, along others.

    >>> grid = [point_of(f"parity:d={d},m={m}") for m in (2, 3) for d in (6, 8, 10)]
    >>> [(parameter, len(line)) for parameter, line in lines(grid)]
    [('d', 3), ('d', 3)]
    """
    found: list[tuple[str, tuple[Point, ...]]] = []
    for together in components(points):
        parameter, cut = _longest(together)
        alone = [line[0] for line in cut if len(line) == 1]
        if len(alone) == len(together):
            found += [(parameter, (point,)) for point in alone]
            continue
        found += [(parameter, line) for line in cut if len(line) > 1]
        found += lines(alone)
    return found


def _longest(points: Sequence[Point]) -> tuple[str, list[tuple[Point, ...]]]:
    names = dict.fromkeys(name for point in points for name in point.numbers)
    cuts = {name: _along(points, name) for name in names if all(name in p.numbers for p in points)}
    cuts = cuts or {next(iter(points[0].numbers)): [(point,) for point in points]}

    def rank(name: str) -> tuple[int, bool, int]:
        longest = max(len(line) for line in cuts[name])
        return longest, name in _FIRST, len({point.numbers[name] for point in points})

    best = max(cuts, key=rank)
    return best, cuts[best]


def _along(points: Sequence[Point], name: str) -> list[tuple[Point, ...]]:
    """The lines along a parameter, each in its order."""
    found: dict[tuple[tuple[str, str], ...], list[Point]] = {}
    for point in points:
        found.setdefault(_without(point, name), []).append(point)
    return [tuple(sorted(line, key=lambda p: p.numbers[name])) for line in found.values()]


def _without(point: Point, name: str) -> tuple[tuple[str, str], ...]:
    """What is fixed along a parameter; with the spec itself where there is none of that name."""
    kept = tuple(sorted(pair for pair in point.texts.items() if pair[0] != name))
    return kept if name in point.texts else (*kept, ("", point.spec))


def components(points: Sequence[Point]) -> list[list[Point]]:
    """Part points so that neighbours, which differ in one number, are together."""
    owner = list(range(len(points)))

    def root(i: int) -> int:
        while owner[i] != i:
            owner[i] = owner[owner[i]]
            i = owner[i]
        return i

    seen: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
    for i, point in enumerate(points):
        for name in point.numbers:
            first = seen.setdefault((name, _without(point, name)), i)
            owner[root(i)] = root(first)
    found: dict[int, list[Point]] = {}
    for i, point in enumerate(points):
        found.setdefault(root(i), []).append(point)
    return list(found.values())
