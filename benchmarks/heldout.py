"""How often the interval of a held-out error covers it: prints the table of docs/own-data.md.

`python benchmarks/heldout.py` takes some minutes. A linear fit 0.8 x to labels x + noise, 16 normal
entries each, the noise of a size that varies from example to example; and labels that are
log-normal numbers, predicted by their mean.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import table

from hardness.runs.heldout import ratio_interval, unsuited

_RUNS, _FIT, _SIZES = 500, 0.8, (100, 300, 1000)
Array = NDArray[Any]
Law = tuple[Callable[[np.random.Generator, int], tuple[Array, Array]], float]


def linear(sizes: Callable[[np.random.Generator, int], Array], square: float) -> Law:
    """A linear fit, by the sizes of the noise and their mean square."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x = rng.normal(size=(n, 16))
        y = x + sizes(rng, n)[:, None] * rng.normal(size=x.shape)
        return ((y - _FIT * x) ** 2).sum(1), (y**2).sum(1)

    return draw, ((1 - _FIT) ** 2 + square) / (1 + square)


def student(freedom: int) -> Law:
    return linear(
        lambda rng, n: np.sqrt(freedom / rng.chisquare(freedom, n)), freedom / (freedom - 2)
    )


def mean_label(sigma: float) -> Law:
    """A log-normal number in each example, predicted by its mean."""
    mean = math.exp(sigma**2 / 2)

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        y = np.exp(sigma * rng.normal(size=n))
        return (y - mean) ** 2, y**2

    return draw, 1 - math.exp(-(sigma**2))


LAWS: dict[str, Law] = {
    "noise: normal": linear(lambda rng, n: np.ones(n), 1.0),
    "Student, 5 degrees of freedom": student(5),
    "Student, 3 degrees of freedom": student(3),
    "log-normal size, σ = 0.7": linear(
        lambda rng, n: np.exp(0.7 * rng.normal(size=n)), math.exp(0.98)
    ),
    "in one example of 50": linear(lambda rng, n: 1.0 * (rng.random(n) < 0.02), 0.02),
    "labels: log-normal, σ = 0.7": mean_label(0.7),
    "log-normal, σ = 1.2": mean_label(1.2),
}


def cells(rng: np.random.Generator, law: Law) -> Iterator[str]:
    """Shares of simulations with an interval, and with one that does not hold the error."""
    draw, truth = law
    for n in _SIZES:
        given = wrong = 0
        for seed in range(_RUNS):
            pair = draw(rng, n)
            if not unsuited(*pair):
                low, high = ratio_interval(*pair, seed)
                given, wrong = given + 1, wrong + (not low <= truth <= high)
        yield f"{100 * given / _RUNS:.0f} %, {100 * wrong / _RUNS:.1f} %"


def main() -> None:
    header = f"| {_RUNS} runs each | {_SIZES[0]} held out | {' | '.join(map(str, _SIZES[1:]))} |"
    rng = np.random.default_rng(5)
    table("", header, ((name, *cells(rng, law)) for name, law in LAWS.items()))


if __name__ == "__main__":
    main()
