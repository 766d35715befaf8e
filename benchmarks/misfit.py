"""How often the interval of a misfit covers the truth: prints the table of docs/own-data.md.

`python benchmarks/misfit.py` takes some seconds. A linear fit 0.8 x to labels x + noise of k d
entries; the noise is normal in every example, of a size that varies.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hardness.runs.misfit import ratio_interval

_RUNS, _FIT, _SIZES = 1000, 0.8, (10, 20, 50, 100, 200, 1000)
Sizes = Callable[[np.random.Generator, int], NDArray[np.float64]]

# What the noise is like: k d, its size in each of n examples, and the mean square of that.
LAWS: dict[str, tuple[int, Sizes, float]] = {
    "the same in all, k d = 2": (2, lambda rng, n: np.ones(n), 1.0),
    "the same in all, k d = 16, as in all below": (16, lambda rng, n: np.ones(n), 1.0),
    "Student, 5 degrees of freedom": (
        16,
        lambda rng, n: np.sqrt(5 / rng.chisquare(5, n)),
        5 / 3,
    ),
    "log-normal, σ = 0.7": (16, lambda rng, n: np.exp(0.7 * rng.normal(size=n)), np.exp(0.98)),
    "Student, 3 degrees of freedom": (16, lambda rng, n: np.sqrt(3 / rng.chisquare(3, n)), 3.0),
    "none but in one example of 10": (16, lambda rng, n: 1.0 * (rng.random(n) < 0.1), 0.1),
    "none but in one example of 50": (16, lambda rng, n: 1.0 * (rng.random(n) < 0.02), 0.02),
}


def covered(rng: np.random.Generator, law: str, held_out: int) -> float:
    """The share of simulations in which the interval holds the misfit of the fit."""
    entries, sizes, square = LAWS[law]
    truth = ((1 - _FIT) ** 2 + square) / (1 + square)
    found = 0
    for _ in range(_RUNS):
        x = rng.normal(size=(held_out, entries))
        y = x + sizes(rng, held_out)[:, None] * rng.normal(size=x.shape)
        low, high = ratio_interval(((y - _FIT * x) ** 2).sum(1), (y**2).sum(1), 0.95)
        found += low <= truth <= high
    return found / _RUNS


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(5)
    print("| size of the noise | 10 held out |", *(f"{n} |" for n in _SIZES[1:]))
    print("|---" * (1 + len(_SIZES)) + "|")
    for law in LAWS:
        shares = (f"{100 * covered(rng, law, n):.1f} % |" for n in _SIZES)
        print(f"| {law} |", *shares, flush=True)


if __name__ == "__main__":
    main()
