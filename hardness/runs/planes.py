"""The runs of a store by two parameters of their specs, with all else fixed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hardness.oracles import Budget
from hardness.runs.choices import Fixed, choice_words, choices
from hardness.runs.lines import Point, components, point_of
from hardness.runs.ranges import Value
from hardness.runs.run import Run
from hardness.runs.worlds import worlds

Key = tuple[str, str, Fixed]  # x, y and what is fixed
DIMENSIONS, WEIGHTS = ("d", "n"), ("m", "h")


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Runs over two parameters: x as a dimension, y as a hidden weight, or any two that vary.

    y is empty, and ys (0,), where a spec has one number alone. specs: by (x, y), maybe not of all.
    """

    x: str
    y: str
    xs: tuple[Value, ...]
    ys: tuple[Value, ...]
    specs: dict[tuple[Value, Value], str] = field(repr=False)
    fixed: Fixed
    budget: Budget
    rows: tuple[Run, ...] = field(repr=False)
    choice: str = ""

    @property
    def words(self) -> str:
        """What tells it from the others, in words."""
        return choice_words(self.fixed, self.choice)

    @property
    def learners(self) -> tuple[str, ...]:
        """Canonical names of the learners, in the order of the runs."""
        return tuple(dict.fromkeys(row.learner for row in self.rows))


def planes(runs: Iterable[Run]) -> tuple[Plane, ...]:
    """Cut runs into planes: every run is in one of them, and in one alone.

    >>> planes([])
    ()
    """
    found: list[Plane] = []
    for fixed, rows in worlds(runs):
        by_spec: dict[str, list[Run]] = {}
        for row in rows:
            by_spec.setdefault(row.spec, []).append(row)
        parts: dict[Key, list[Point]] = {}
        for together in components([point_of(spec) for spec in by_spec]):
            x, y = axes(together)
            for point in together:
                parts.setdefault((x, y, _others(point, x, y)), []).append(point)
        found += [_plane(x, y, part, fixed, by_spec) for (x, y, _), part in parts.items()]
    named = choices([one.fixed for one in found])
    return tuple(replace(one, choice=choice) for one, choice in zip(found, named, strict=True))


def axes(points: Sequence[Point]) -> tuple[str, str]:
    """Choose the two parameters: d or n against m or h where they vary, else the longest ranges.

    >>> axes([point_of(f"parity:d={d},m=3,noise=0") for d in (8, 9)])
    ('d', 'm')
    >>> axes([point_of(f"parity:d={d},m=3,noise=0.{d}") for d in (1, 2)])
    ('d', 'noise')
    """
    shared = [n for n in points[0].numbers if all(n in p.numbers for p in points)]
    counts = {name: len({p.numbers[name] for p in points}) for name in shared}
    order = (*DIMENSIONS, *WEIGHTS)

    def rank(name: str) -> tuple[bool, bool, int, int]:
        place = order.index(name) if name in order else len(order)
        return counts[name] < 2, name not in order, -counts[name], place

    best = sorted(counts, key=rank)[:2]
    best.sort(key=lambda name: (name not in DIMENSIONS, name in WEIGHTS, -counts[name]))
    return (best[0], best[1]) if len(best) == 2 else (best[0], "") if best else ("size", "")


def _others(point: Point, x: str, y: str) -> Fixed:
    """What is fixed in a plane; with the spec itself where it has no such parameter."""
    kept = tuple(sorted(pair for pair in point.texts.items() if pair[0] not in (x, y)))
    return kept if x in point.texts else (*kept, ("", point.spec))


def _plane(
    x: str, y: str, points: list[Point], fixed: Fixed, by_spec: dict[str, list[Run]]
) -> Plane:
    places = {(p.numbers.get(x, 1), p.numbers[y] if y else 0): p.spec for p in points}
    rows = [row for spec in places.values() for row in by_spec[spec]]
    others = tuple(pair for pair in points[0].texts.items() if pair[0] not in (x, y))
    return Plane(
        x=x,
        y=y,
        xs=tuple(sorted({place[0] for place in places})),
        ys=tuple(sorted({place[1] for place in places})),
        specs=places,
        fixed=(*fixed[:1], *others, *fixed[1:]),
        budget=rows[0].budget,
        rows=tuple(rows),
    )
