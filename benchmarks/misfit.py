"""How often the interval of a misfit covers the truth: prints the tables of docs/own-data.md.

`python benchmarks/misfit.py` takes one or two minutes. A linear fit 0.8 x to labels x + noise, x
and the noise of k d normal entries, both of sizes that vary from example to example; and labels
that are log-normal numbers, predicted by their mean.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from timing import table

from hardness.runs.misfit import ratio_interval

_RUNS, _FIT, _SIZES = 2000, 0.8, (20, 50, 100, 300, 1000)
Array = NDArray[np.float64]
Sizes = Callable[[np.random.Generator, int], Array]


def same(rng: np.random.Generator, n: int) -> Array:
    return np.ones(n)


def student(freedom: int) -> tuple[Sizes, float]:
    """Sizes that make normal entries a multivariate Student law, and their mean square."""
    return lambda rng, n: np.sqrt(freedom / rng.chisquare(freedom, n)), freedom / (freedom - 2)


def lognormal(sigma: float) -> tuple[Sizes, float]:
    """Log-normal sizes, and their mean square."""
    return lambda rng, n: np.exp(sigma * rng.normal(size=n)), math.exp(2 * sigma**2)


def rare(share: float) -> tuple[Sizes, float]:
    """Size 1 in such a share of the examples, 0 in the others, and the mean square."""
    return lambda rng, n: 1.0 * (rng.random(n) < share), share


# Losses and squared labels of n examples, and the misfit.
Law = tuple[Callable[[np.random.Generator, int], tuple[Array, Array]], float]


def linear(entries: int, tokens: tuple[Sizes, float], noise: tuple[Sizes, float]) -> Law:
    """A linear fit; k d, and the sizes of tokens and of noise with the mean square of each."""
    (lengths, length), (sizes, size) = tokens, noise

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x = lengths(rng, n)[:, None] * rng.normal(size=(n, entries))
        y = x + sizes(rng, n)[:, None] * rng.normal(size=x.shape)
        return ((y - _FIT * x) ** 2).sum(1), (y**2).sum(1)

    return draw, ((1 - _FIT) ** 2 * length + size) / (length + size)


def mean_label(sigma: float) -> Law:
    """A log-normal number in each example, predicted by its mean."""
    mean = math.exp(sigma**2 / 2)

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        y = np.exp(sigma * rng.normal(size=n))
        return (y - mean) ** 2, y**2

    return draw, 1 - math.exp(-(sigma**2))


LAWS: dict[str, Law] = {
    "noise: normal, k d = 2": linear(2, (same, 1.0), (same, 1.0)),
    "normal, k d = 16, as in all below": linear(16, (same, 1.0), (same, 1.0)),
    "Student, 5 degrees of freedom": linear(16, (same, 1.0), student(5)),
    "log-normal size, σ = 0.7": linear(16, (same, 1.0), lognormal(0.7)),
    "Student, 3 degrees of freedom": linear(16, (same, 1.0), student(3)),
    "tokens: log-normal length, σ = 0.7": linear(16, lognormal(0.7), (same, 1.0)),
    "log-normal length, σ = 1": linear(16, lognormal(1.0), (same, 1.0)),
}
# Laws of which n examples show too little: there is hardly ever an interval where n is large.
HEAVY = {
    "noise: log-normal size, σ = 1.2": linear(16, (same, 1.0), lognormal(1.2)),
    "labels: log-normal, σ = 0.7": mean_label(0.7),
    "log-normal, σ = 1": mean_label(1.0),
    "log-normal, σ = 1.2": mean_label(1.2),
    "log-normal, σ = 1.5": mean_label(1.5),
    "log-normal, σ = 2": mean_label(2.0),
}
# Noise that n examples may all be without.
RARE = {
    "noise in one example of 10": linear(16, (same, 1.0), rare(0.1)),
    "noise in one example of 50": linear(16, (same, 1.0), rare(0.02)),
}


def covered(rng: np.random.Generator, law: Law, held_out: int, runs: int) -> tuple[float, float]:
    """The shares of simulations with an interval, and with one that holds the misfit."""
    draw, truth = law
    given = found = 0
    for _ in range(runs):
        low, high = ratio_interval(*draw(rng, held_out))
        given += high < math.inf
        found += low <= truth <= high < math.inf
    return given / runs, found / runs


def cells(rng: np.random.Generator, law: Law, heavy: bool) -> Iterator[str]:
    for n in _SIZES:
        given, right = (100 * share for share in covered(rng, law, n, _RUNS))
        of = "" if given >= 99.95 else f" of {given:.1f} %"
        wrong = f"{given:.1f} %, {given - right:.1f} %"
        yield wrong if heavy else f"{100 * right / given:.1f} %{of}"


def main() -> None:
    rng = np.random.default_rng(5)
    for laws in (LAWS, HEAVY, RARE):
        header = f"| {_RUNS} runs each | 20 held out | {' | '.join(map(str, _SIZES[1:]))} |"
        table("", header, ((name, *cells(rng, law, laws is HEAVY)) for name, law in laws.items()))


if __name__ == "__main__":
    main()
