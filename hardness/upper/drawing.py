"""Drawing examples until enough of them say something."""

from collections.abc import Callable, Sized
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from hardness.oracles import ExampleOracle, Spent
from instances.capabilities import CODED
from instances.family import Examples

_AT_ONCE = 4096  # examples: the clock is looked at between draws

Part = TypeVar("Part", bound=Sized)


def draw_open(
    oracle: ExampleOracle, count: int, read: Callable[[Examples], Part], *, every: bool = False
) -> list[Part]:
    """Draw examples until `count` are kept by `read`, or the budget of examples is over.

    read: keeps the open ones. The last part may hold more than is missing.
    Raises Spent where there are none, or where the time is over; with `every` also where fewer than
    `count` can be had.
    """
    parts: list[Part] = []
    missing, family = count, CODED.need(oracle.family)
    try:
        while missing > 0:
            oracle.meter.require_time()
            parts.append(read(oracle.draw(min(family.enough(missing) + 8, _AT_ONCE))))
            missing -= len(parts[-1])
    except Spent as spent:
        if every or spent.resource != "examples" or not sum(map(len, parts)):
            raise
    return parts


def draw_joined(oracle: ExampleOracle, count: int, read: Callable[[Examples], Part]) -> Part:
    """Draw like `draw_open` and join the parts: `count` or fewer, by a dataclass of arrays.

    Every field but `family` is an array with a row an example.
    """
    parts: list[Any] = list(draw_open(oracle, count, read))
    names = [field.name for field in fields(parts[0]) if field.name != "family"]
    rows = {n: np.concatenate([getattr(part, n) for part in parts])[:count] for n in names}
    joined: Part = replace(parts[0], **rows)
    return joined
