"""Costs over a grid of parameters, and the parameters that reach a level of security."""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hardness.lwe.estimate import estimate_all
from hardness.lwe.models import Setting
from hardness.lwe.parameters import KEYS, parse_parameters
from hardness.lwe.record import Estimate, Estimates
from hardness.lwe.sets import spec_and_samples
from instances import numbers
from instances.errors import ToolkitError, UsageError
from instances.export import frame
from instances.parameters import key_values
from instances.result import Result, TableRow

if TYPE_CHECKING:
    from pandas import DataFrame

MOST = 4096  # problems of a grid
FORMAT = "hardness-grid/1"
_POWERS = re.compile(r"2\^([0-9]{1,5})\.\.2\^([0-9]{1,5})(?:\.\.([0-9]{1,5}))?", re.ASCII)
_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})(?:\.\.([0-9]{1,18}))?", re.ASCII)
_RISING = ("n", "h", "sigma")  # keys of which the least value is looked for
_CHECKED = 4  # larger values at which a found one is checked
_FINENESS = 100  # parts of 1 that sigma is found to
_WIDEST = 1 << 20  # values of a range


def values(text: str) -> tuple[str, tuple[str, ...]]:
    """Read "n=512..1024..128", "q=2^20..2^40..4" or "h=32,64"; raises UsageError.

    >>> values("q=2^20..2^24..2")
    ('q', ('2^20', '2^22', '2^24'))
    """
    key, equals, rest = (part.strip() for part in text.partition("="))
    example = "n=512..1024..128, q=2^20..2^40..4 or h=32,64"
    if not equals or not rest:
        raise UsageError(f"--over {text[:60]} given: write {example}")
    if key not in KEYS:
        raise UsageError(f"--over {key[:60]} given: one of {', '.join(KEYS)}")
    powers, whole = _POWERS.fullmatch(rest), _RANGE.fullmatch(rest)
    ends = powers or whole
    if ends is None:
        found = tuple(part.strip() for part in rest.split(","))
    else:
        low, high, step = int(ends[1]), int(ends[2]), int(ends[3] or 1)
        if not (low <= high and step and (high - low) // step < MOST):
            raise UsageError(f"--over {text[:60]} given: a range that rises, of at most {MOST}")
        found = tuple(("2^" if powers else "") + str(v) for v in range(low, high + 1, step))
    if not all(found) or len(set(found)) < len(found):
        raise UsageError(f"--over {text[:60]} given: different values, such as {example}")
    return key, found


def size(over: Sequence[str]) -> int:
    """Count the problems of a grid.

    >>> size(["n=64..96..16", "h=4,6"])
    6
    """
    return math.prod(len(values(one)[1]) for one in over)


def places(over: Sequence[str]) -> list[dict[str, str]]:
    """List the values of a grid's parameters, the last key first; raises UsageError.

    >>> places(["n=64,80", "h=4"])
    [{'n': '64', 'h': '4'}, {'n': '80', 'h': '4'}]
    """
    read_over = [values(one) for one in over]
    keys = tuple(key for key, _ in read_over)
    if len(set(keys)) < len(keys) or not 1 <= len(keys) <= 3:
        raise UsageError(f"--over {', '.join(keys)} given: one to three different parameters")
    count = math.prod(len(found) for _, found in read_over)
    if count > MOST:
        raise UsageError(f"--over {', '.join(keys)} given: {count} problems, at most {MOST}")
    every = itertools.product(*(found for _, found in read_over))
    return [dict(zip(keys, place, strict=True)) for place in every]


def grid_words_of(text: str, samples: int | None) -> tuple[str, int | None]:
    """Return the words of a problem or of a named set, and how many samples there are."""
    words, counted = spec_and_samples(text)
    if words.partition(":")[0] not in ("lwe", "lwr"):
        raise UsageError(f"{text[:60]} given: a grid is of lwe:.., of lwr:.. or of a named set")
    return words, counted if samples is None else samples


def filled(words: str, given: dict[str, str]) -> str:
    """Put values into the words of a problem, whether or not their keys stand there.

    >>> filled("lwe:n=64,q=97,sigma=1", {"n": "80", "h": "6"})
    'lwe:n=80,q=97,sigma=1,h=6'
    """
    name, _, rest = words.strip().partition(":")
    kept = {**key_values(rest, name, list(KEYS)), **given}
    return f"{name}:" + ",".join(f"{k}={v}" for k, v in kept.items())


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One problem of a grid: its parameters and its estimates, or why it has none."""

    values: tuple[str, ...]
    found: Estimates | None
    reason: str = ""

    @property
    def least(self) -> Estimate | None:
        """The attack of least cost."""
        return self.found.least if self.found else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Grid(Result):
    """What problems over a grid of parameters cost; samples: None for any number."""

    spec: str
    samples: int | None
    keys: tuple[str, ...]
    cells: tuple[Cell, ...]

    def _rows(self) -> list[TableRow]:
        return [
            {
                **dict(zip(self.keys, cell.values, strict=True)),
                "least": cell.found.label(cell.least) if cell.found and cell.least else "-",
                "rop": f"{cell.least.rop:.1f}" if cell.least and cell.least.rop else None,
                "beta": cell.least.beta if cell.least else None,
                "uncontested": _brief(cell.found.uncontested if cell.found else None),
                "known": cell.least.known if cell.least else cell.reason or "no attack applies",
            }
            for cell in self.cells
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame: one row a problem, attack and model."""
        return frame(
            [
                {**dict(zip(self.keys, cell.values, strict=True)), "attack": e.name, **e.to_dict()}
                for cell in self.cells
                for e in (cell.found.estimates if cell.found else ())
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the grid as plain data; `problems` in the order of the last key first."""
        return {
            "format": FORMAT,
            "spec": self.spec,
            "samples": self.samples,
            "over": list(self.keys),
            "problems": [
                {
                    "values": dict(zip(self.keys, cell.values, strict=True)),
                    "least": cell.found.label(cell.least) if cell.found and cell.least else None,
                    "rop": cell.least.rop if cell.least else None,
                    "reason": cell.reason,
                    "estimates": {cell.found.label(e): e.to_dict() for e in cell.found.estimates}
                    if cell.found
                    else {},
                }
                for cell in self.cells
            ],
        }


def grid(
    words: str,
    over: Sequence[str],
    samples: int | None = None,
    settings: Sequence[Setting] = (),
    only: Sequence[str] = (),
    progress: Callable[[int], None] = lambda done: None,
) -> Grid:
    """Estimate all problems of a grid; raises UsageError where none of them is one.

    words: "lwe:.." or "lwr:..", of which keys of the grid may be left out. over: ranges or lists.

    >>> found = grid("lwe:q=3329,sigma=3,secret=binary", ["n=64,80", "h=4,6"], only=["brute-force"])
    >>> [round(cell.least.rop, 1) for cell in found.cells]
    [19.3, 26.2, 20.6, 28.2]
    """
    found = places(over)
    keys, cells = tuple(found[0]), []
    for at in found:
        one, place = filled(words, at), tuple(at.values())
        try:
            cells.append(Cell(values=place, found=_one(one, samples, settings, only)))
        except ToolkitError as error:
            cells.append(Cell(values=place, found=None, reason=str(error)))
        progress(1)
    if all(cell.found is None for cell in cells):
        raise UsageError(cells[0].reason)
    return Grid(spec=words, samples=samples, keys=keys, cells=tuple(cells))


def _brief(one: Estimate | None) -> str:
    return f"{one.name} {one.rank:.1f}" if one else "-"


def _one(
    words: str, samples: int | None, settings: Sequence[Setting], only: Sequence[str]
) -> Estimates:
    return estimate_all(parse_parameters(words, samples), words, settings, only)


@dataclass(frozen=True, kw_only=True, repr=False)
class SearchResult(Result):
    """The parameter that reaches a level, its neighbour that does not, and both estimates.

    below: None where the first value of the range reaches it. checked: further values at which the
    level was seen to hold.
    """

    spec: str
    samples: int | None
    bits: float
    key: str
    value: str
    found: Estimates
    below: Estimates | None
    checked: tuple[str, ...]

    @property
    def least(self) -> bool:
        """Whether the least value was looked for, else the largest."""
        return self.key in _RISING

    def _rows(self) -> list[TableRow]:
        return [
            {
                "spec": one.words,
                "least": one.label(one.least) if one.least else "-",
                "rop": f"{one.least.rop:.1f}" if one.least and one.least.rop else None,
                "beta": one.least.beta if one.least else None,
                "uncontested": _brief(one.uncontested),
            }
            for one in (self.found, self.below)
            if one
        ]

    def to_dict(self) -> dict[str, Any]:
        """Write what was found as plain data."""
        return {
            "spec": self.spec,
            "samples": self.samples,
            "bits": self.bits,
            "key": self.key,
            "value": self.value,
            "found": self.found.to_dict(),
            "below": self.below.to_dict() if self.below else None,
            "checked": list(self.checked),
        }


def search(
    words: str,
    key: str,
    bits: float,
    samples: int | None = None,
    settings: Sequence[Setting] = (),
    only: Sequence[str] = (),
) -> SearchResult:
    """Find the least n, h or sigma, or the largest q, at which no attack costs below 2^bits.

    key: "n=256..4096", "sigma=1..10" or "q=2^10..2^60". By bisection: costs rise with n, h and
    sigma and fall with q; what is found is checked at further values. Raises UsageError where the
    range does not reach the level, or costs are seen not to rise.

    >>> search("lwe:q=2^20,sigma=3,secret=binary", "n=8..64", 30, only=["brute-force"]).value
    '30'
    """
    name, every = _candidates(key)
    known: dict[str, Estimates] = {}

    def at(index: int) -> Estimates:
        value = every[index]
        if value not in known:
            known[value] = _one(filled(words, {name: value}), samples, settings, only)
        return known[value]

    def holds(index: int) -> bool:
        least = at(index).least
        if least is None:
            raise UsageError(f"{name}={every[index]} given: no published attack here applies")
        return least.rank >= bits

    if not every:
        raise UsageError(f"--find {key[:60]} given: the range is empty")
    last = len(every) - 1
    if not holds(last):
        least = at(last).least
        raise UsageError(
            f"{key} given: {name}={every[last]} has {least.rank if least else 0:.1f} bits, "
            f"{bits:g} are asked for: widen the range"
        )
    low, high = 0, last  # high holds
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    steps = sorted({high + (last - high) * i // _CHECKED for i in range(1, _CHECKED + 1)})
    failed = next((i for i in steps if not holds(i)), None)
    if failed is not None:
        raise UsageError(
            f"{key} given: {name}={every[high]} has {bits:g} bits and {name}={every[failed]} has "
            "not: costs do not rise over this range, take a narrower one"
        )
    return SearchResult(
        spec=words,
        samples=samples,
        bits=bits,
        key=name,
        value=every[high],
        found=at(high),
        below=at(high - 1) if high else None,
        checked=tuple(every[i] for i in steps),
    )


def _candidates(text: str) -> tuple[str, Sequence[str]]:
    """List the values of a range, from those that cost the least on."""
    key, equals, rest = (part.strip() for part in text.partition("="))
    powers = _POWERS.fullmatch(rest)
    ends = rest.split("..")
    if equals and key == "q" and powers and not powers[3]:
        return key, [f"2^{v}" for v in range(int(powers[2]), int(powers[1]) - 1, -1)]
    if equals and key in ("n", "h") and len(ends) == 2:
        low, high = (numbers.parse(end, int, key) for end in ends)
        if high - low > _WIDEST:
            raise UsageError(f"--find {text[:60]} given: a range of at most {_WIDEST}")
        return key, [str(v) for v in range(low, high + 1)]
    if equals and key == "sigma" and len(ends) == 2:
        low, high = (round(numbers.parse(end, float, key) * _FINENESS) for end in ends)
        if high - low > _WIDEST:
            raise UsageError(f"--find {text[:60]} given: a range of at most {_WIDEST // _FINENESS}")
        return key, [f"{v / _FINENESS:.2f}" for v in range(low, high + 1)]
    raise UsageError(
        f"--find {text[:60]} given: n=256..4096, h=16..256, sigma=1..10 or q=2^10..2^60"
    )
