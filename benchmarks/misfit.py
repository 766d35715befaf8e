"""How often the interval of a misfit covers the truth: prints the tables of docs/own-data.md.

`python benchmarks/misfit.py` takes one or two minutes. A linear fit 0.8 x to labels x + noise, x
and the noise of k d normal entries, both of sizes that vary from example to example.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hardness.runs.misfit import ratio_interval

_RUNS, _FIT, _SIZES = 2000, 0.8, (20, 50, 100, 300, 1000)
Sizes = Callable[[np.random.Generator, int], NDArray[np.float64]]


def same(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Size 1 in every example."""
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


# k d, the sizes of tokens and of noise in each of n examples, and the mean square of each.
Law = tuple[int, tuple[Sizes, float], tuple[Sizes, float]]
LAWS: dict[str, Law] = {
    "noise: normal, k d = 2": (2, (same, 1.0), (same, 1.0)),
    "normal, k d = 16, as in all below": (16, (same, 1.0), (same, 1.0)),
    "Student, 5 degrees of freedom": (16, (same, 1.0), student(5)),
    "log-normal size, σ = 0.7": (16, (same, 1.0), lognormal(0.7)),
    "log-normal size, σ = 1.2": (16, (same, 1.0), lognormal(1.2)),
    "Student, 3 degrees of freedom": (16, (same, 1.0), student(3)),
    "tokens: log-normal length, σ = 0.7": (16, lognormal(0.7), (same, 1.0)),
    "log-normal length, σ = 1": (16, lognormal(1.0), (same, 1.0)),
}
# Noise that n examples may all be without.
RARE = {
    "noise in one example of 10": (16, (same, 1.0), rare(0.1)),
    "noise in one example of 50": (16, (same, 1.0), rare(0.02)),
}


def covered(rng: np.random.Generator, law: Law, held_out: int, runs: int) -> tuple[float, float]:
    """The share of simulations with an interval, and that of these where it holds the misfit."""
    entries, (lengths, length), (sizes, size) = law
    truth = ((1 - _FIT) ** 2 * length + size) / (length + size)
    given = found = 0
    for _ in range(runs):
        x = lengths(rng, held_out)[:, None] * rng.normal(size=(held_out, entries))
        y = x + sizes(rng, held_out)[:, None] * rng.normal(size=x.shape)
        low, high = ratio_interval(((y - _FIT * x) ** 2).sum(1), (y**2).sum(1))
        given += high < math.inf
        found += low <= truth <= high < math.inf
    return given / runs, found / given


def main() -> None:
    """Print the tables."""
    rng = np.random.default_rng(5)
    for laws in (LAWS, RARE):
        print(f"\n| {_RUNS} runs each | 20 held out |", *(f"{n} |" for n in _SIZES[1:]))
        print("|---" * (1 + len(_SIZES)) + "|")
        for name, law in laws.items():
            cells = []
            for n in _SIZES:
                given, share = covered(rng, law, n, _RUNS)
                of = "" if given == 1 else f" of {100 * given:.1f} %"
                cells.append(f"{100 * share:.1f} %{of} |")
            print(f"| {name} |", *cells, flush=True)


if __name__ == "__main__":
    main()
