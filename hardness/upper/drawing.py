"""Drawing examples until enough of them say something."""

from collections.abc import Callable, Sized
from typing import TypeVar

from hardness.oracles import ExampleOracle, Spent
from instances.family import Examples

_AT_ONCE = 4096  # examples: the clock is looked at between draws

Part = TypeVar("Part", bound=Sized)


def draw_open(oracle: ExampleOracle, count: int, read: Callable[[Examples], Part]) -> list[Part]:
    """Draw examples until `count` are kept by `read`, or the budget of examples is over.

    read: keeps the open ones, half of them or so. The last part may hold more than is missing.
    Raises Spent where there are none, or where the time is over.
    """
    parts: list[Part] = []
    missing = count
    try:
        while missing > 0:
            oracle.meter.require_time()
            parts.append(read(oracle.draw(min(2 * missing + 8, _AT_ONCE))))
            missing -= len(parts[-1])
    except Spent as spent:
        if spent.resource != "examples" or not sum(map(len, parts)):
            raise
    return parts
