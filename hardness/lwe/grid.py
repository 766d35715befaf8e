"""Costs over a grid of parameters, and the parameters that reach a level of security."""

import itertools
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from hardness.lwe.estimate import estimate_all
from hardness.lwe.models import Setting
from hardness.lwe.parameters import KEYS, parse_parameters
from hardness.lwe.record import Estimate, Estimates
from hardness.lwe.sets import spec_and_samples
from instances import numbers
from instances.errors import ToolkitError, UsageError
from instances.family import require
from instances.parameters import key_values
from instances.result import Result, TableRow, frame

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = "hardness-grid/1"
MOST_PROBLEMS = 4096  # of a grid
_MOST_CANDIDATES = 1 << 20  # values in the range of a search
_SIGMA_STEPS = 100  # steps per unit of sigma in a search
_CHECKS = 4  # further values at which the result of a search is checked
_RISING = ("n", "h", "sigma")  # costs rise with these, so a search finds their least value
_RANGE = re.compile(r"(2\^)?([0-9]{1,18})\.\.(?:2\^)?([0-9]{1,18})(?:\.\.([0-9]{1,18}))?", re.ASCII)


def parse_range(
    text: str, option: str = "--over", limit: int = MOST_PROBLEMS
) -> tuple[str, list[str]]:
    """Read "n=512..1024..128", "q=2^20..2^40..4" or "h=32,64"; raises UsageError.

    >>> parse_range("q=2^20..2^24..2")
    ('q', ['2^20', '2^22', '2^24'])
    """
    key, _, rest = (part.strip() for part in text.partition("="))
    wrong = f"{option} {text[:60]}"
    require(key in KEYS, f"{wrong}: one of {', '.join(KEYS)}, as n=512..1024..128")
    if ends := _RANGE.fullmatch(rest):
        low, high, step = int(ends[2]), int(ends[3]), int(ends[4] or 1)
        rises = rest.count("2^") in (0, 2) and low <= high and step > 0
        require(rises, f"{wrong}: the range is empty")
        require((high - low) // step < limit, f"{wrong}: a range of at most {limit} values")
        return key, [f"{ends[1] or ''}{value}" for value in range(low, high + 1, step)]
    listed = [part.strip() for part in rest.split(",")]
    several = "=" not in rest and all(listed) and len(set(listed)) == len(listed)
    require(several, f"{wrong}: write n=512..1024..128, q=2^20..2^40..4 or h=32,64")
    return key, listed


def grid_points(over: Sequence[str]) -> list[dict[str, str]]:
    """List the points of a grid, the last key varying first; raises UsageError.

    >>> grid_points(["n=64,80", "h=4"])
    [{'n': '64', 'h': '4'}, {'n': '80', 'h': '4'}]
    """
    ranges = [parse_range(text) for text in over]
    keys = [key for key, _ in ranges]
    wrong = f"--over {', '.join(keys)}"
    require(len(set(keys)) == len(keys) in (1, 2, 3), f"{wrong}: one to three different parameters")
    many = math.prod(len(values) for _, values in ranges) > MOST_PROBLEMS
    require(not many, f"{wrong}: at most {MOST_PROBLEMS} problems")
    return [
        dict(zip(keys, point, strict=True)) for point in itertools.product(*dict(ranges).values())
    ]


def varied_spec(text: str, samples: int | None) -> tuple[str, int | None]:
    """Return the words of a problem or of a named set, and its number of samples.

    samples: replaces the number in the words, if it is given. Raises UsageError for other problems.
    """
    words, counted = spec_and_samples(text)
    wrong = f"{text[:60]}: a grid is of lwe:.., of lwr:.. or of a named set"
    require(words.startswith(("lwe:", "lwr:")), wrong)
    return words, counted if samples is None else samples


def filled(words: str, values: dict[str, str]) -> str:
    """Set parameters in the words of a problem, which may have other values of them.

    >>> filled("lwe:n=64,q=97,sigma=1", {"n": "80", "h": "6"})
    'lwe:n=80,q=97,sigma=1,h=6'
    """
    name, _, rest = words.strip().partition(":")
    pairs = key_values(rest, name, list(KEYS)) | values
    return f"{name}:" + ",".join(f"{key}={value}" for key, value in pairs.items())


def _estimated(
    words: str, samples: int | None, settings: Sequence[Setting], only: Sequence[str]
) -> Estimates:
    return estimate_all(parse_parameters(words, samples), words, settings, only)


def _least_row(estimates: Estimates | None) -> TableRow:
    """Return the columns of a table that name the cheapest attacks."""
    least, other = (estimates.least, estimates.undisputed) if estimates else (None, None)
    return {
        "least": estimates.label(least) if estimates and least else "-",
        "rop": f"{least.rop:.1f}" if least and least.rop else None,
        "beta": least.beta if least else None,
        "undisputed": f"{other.name} {other.rank:.1f}" if other else "-",
    }


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One problem of a grid: its parameters and its estimates, or the reason why it has none."""

    values: dict[str, str]
    estimates: Estimates | None
    reason: str = ""

    @property
    def least(self) -> Estimate | None:
        """The estimate of the cheapest attack."""
        return self.estimates.least if self.estimates else None

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        data = self.estimates.to_dict() if self.estimates else {"least": None, "estimates": {}}
        cost = {"least": data["least"], "rop": self.least.rop if self.least else None}
        rest = {"reason": self.reason, "estimates": data["estimates"]}
        return {"values": self.values, **cost, **rest}


@dataclass(frozen=True, kw_only=True, repr=False)
class Grid(Result):
    """The estimates of all problems of a grid; samples: None for any number."""

    spec: str
    samples: int | None
    cells: tuple[Cell, ...]

    def _rows(self) -> list[TableRow]:
        return [
            {**cell.values, **_least_row(cell.estimates)}
            | {"known": cell.least.known if cell.least else cell.reason or "no attack applies"}
            for cell in self.cells
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame with a row for each problem, attack and model."""
        return frame(
            [
                {**cell.values, "attack": estimate.name, **estimate.to_dict()}
                for cell in self.cells
                for estimate in (cell.estimates.estimates if cell.estimates else ())
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the grid as JSON; in `problems` the last key varies first."""
        problems = [cell.to_dict() for cell in self.cells]
        head = {"format": FORMAT, "spec": self.spec, "samples": self.samples}
        return {**head, "over": list(self.cells[0].values), "problems": problems}


def grid(
    words: str,
    over: Sequence[str],
    samples: int | None = None,
    settings: Sequence[Setting] = (),
    only: Sequence[str] = (),
    progress: Callable[[int], None] = lambda done: None,
) -> Grid:
    """Estimate all problems of a grid; raises UsageError if none of them is valid.

    words: "lwe:.." or "lwr:..", which need not have the keys of the grid. over: ranges or lists.

    >>> costs = grid("lwe:q=3329,sigma=3,secret=binary", ["n=64,80", "h=4,6"], only=["brute-force"])
    >>> [round(cell.least.rop, 1) for cell in costs.cells]
    [19.3, 26.2, 20.6, 28.2]
    """
    cells = []
    for point in grid_points(over):
        try:
            estimates = _estimated(filled(words, point), samples, settings, only)
            cells.append(Cell(values=point, estimates=estimates))
        except ToolkitError as error:
            cells.append(Cell(values=point, estimates=None, reason=str(error)))
        progress(1)
    if all(cell.estimates is None for cell in cells):
        raise UsageError(cells[0].reason)
    return Grid(spec=words, samples=samples, cells=tuple(cells))


@dataclass(frozen=True, kw_only=True, repr=False)
class SearchResult(Result):
    """The value of a parameter that reaches a level of security, with estimates.

    reached: the estimates at this value. below: those at the neighbour that does not reach the
    level, None if the value is the first of the range. checked: further values that reach it too.
    """

    spec: str
    samples: int | None
    bits: float
    key: str
    value: str
    reached: Estimates
    below: Estimates | None
    checked: tuple[str, ...]

    @property
    def least(self) -> bool:
        """Whether the value is the least that reaches the level, else the largest."""
        return self.key in _RISING

    def _rows(self) -> list[TableRow]:
        return [
            {"spec": estimates.words, **_least_row(estimates)}
            for estimates in (self.reached, self.below)
            if estimates
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            **{name: getattr(self, name) for name in ("spec", "samples", "bits", "key", "value")},
            "found": self.reached.to_dict(),
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

    key: "n=256..4096", "sigma=1..10" or "q=2^10..2^60". The search bisects, assuming that costs
    rise with n, h and sigma and fall with q. The result is checked at further values. Raises
    UsageError if no value of the range reaches the level, or if a check fails.

    >>> search("lwe:q=2^20,sigma=3,secret=binary", "n=8..64", 30, only=["brute-force"]).value
    '30'
    """
    name, values = _candidates(key)

    @cache
    def at(value: str) -> Estimates:
        return _estimated(filled(words, {name: value}), samples, settings, only)

    def cost(index: int) -> float:
        if (least := at(values[index]).least) is None:
            raise UsageError(f"{name}={values[index]}: no published attack here applies")
        return least.rank

    last = len(values) - 1
    if cost(last) < bits:
        raise UsageError(
            f"{key}: {name}={values[last]} has {cost(last):.1f} bits, {bits:g} are asked "
            "for: widen the range"
        )
    high = bisect_left(range(last), True, key=lambda index: cost(index) >= bits)
    steps = sorted({high + (last - high) * i // _CHECKS for i in range(1, _CHECKS + 1)})
    if failed := [values[i] for i in steps if cost(i) < bits]:
        raise UsageError(
            f"{key}: {name}={values[high]} has {bits:g} bits and {name}={failed[0]} has "
            "not: costs do not rise over this range, take a narrower one"
        )
    return SearchResult(
        spec=words,
        samples=samples,
        bits=bits,
        key=name,
        value=values[high],
        reached=at(values[high]),
        below=at(values[high - 1]) if high else None,
        checked=tuple(values[i] for i in steps),
    )


def _candidates(text: str) -> tuple[str, list[str]]:
    """Return the key of a range and its values, in the order of rising cost."""
    key, _, rest = (part.strip() for part in text.partition("="))
    ends = rest.split("..")
    fits = len(ends) == 2 and key in (*_RISING, "q") and (key == "q") == rest.startswith("2^")
    wrong = f"--find {text[:60]}"
    require(fits, f"{wrong}: no step: n=256..4096, h=16..256, sigma=1..10 or q=2^10..2^60")
    if key != "sigma":
        _, values = parse_range(text, "--find", _MOST_CANDIDATES)
        return key, values[::-1] if key == "q" else values
    low, high = (round(numbers.parse(end, float, key) * _SIGMA_STEPS) for end in ends)
    wide = f"{wrong}: a range of at most {_MOST_CANDIDATES // _SIGMA_STEPS}"
    require(0 <= high - low <= _MOST_CANDIDATES, wide)
    return key, [f"{value / _SIGMA_STEPS:.2f}" for value in range(low, high + 1)]
