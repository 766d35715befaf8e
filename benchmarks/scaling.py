"""How often the intervals of fitted growth cover: `make scaling-tables`.

Prints docs/scaling-tables.md. Costs are drawn from a known law with noise of several kinds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hardness.report.text import table
from hardness.runs.growth import power_law
from instances.streams import BitStream, generator, key

COVERED = 200  # simulated comparisons a cell
EXPONENT = 3.0
KINDS: dict[str, Callable[[np.random.Generator, int, int], Any]] = {
    "normal, sd 0.3": lambda rng, k, s: 0.3 * rng.standard_normal((k, s)),
    "normal, sd 0.1 to 0.4": lambda rng, k, s: _ramp(k) * rng.standard_normal((k, s)),
    "normal, sd 0.4 to 0.1": lambda rng, k, s: _ramp(k)[::-1] * rng.standard_normal((k, s)),
    "log of a uniform cost": lambda rng, k, s: 1 - rng.exponential(size=(k, s)),
    "sizes off the law, sd 0.2, and seeds, sd 0.2": lambda rng, k, s: (
        0.2 * (rng.standard_normal((k, 1)) + rng.standard_normal((k, s)))
    ),
}


def _ramp(count: int) -> Any:
    return np.linspace(0.1, 0.4, count)[:, None]


def drawn(kind: str, sizes: Any, seeds: int, rng: np.random.Generator) -> Any:
    """Costs (K, S) whose logarithms have the law as their mean."""
    law = EXPONENT * np.log(sizes)
    return np.exp(law[:, None] + KINDS[kind](rng, len(sizes), seeds))


def naive(costs: Any, sizes: Any, rng: np.random.Generator) -> Any:
    """The percentile interval that resamples seeds within each size."""
    u = np.log(sizes) - np.log(sizes).mean()
    picked = rng.integers(costs.shape[1], size=(999, *costs.shape))
    means = np.take_along_axis(np.log(costs)[None], picked, 2).mean(axis=2)
    return np.quantile(means @ u / (u @ u), [0.025, 0.975])


def coverage() -> str:
    rows = []
    for count in (4, 5, 6, 8):
        sizes = np.linspace(8, 20, count)
        for kind in KINDS:
            row = [str(count), kind]
            for seeds in (1, 3, 5, 10):
                rng, hits, plain = generator(0, "coverage", count, kind, seeds), 0, 0
                for i in range(COVERED):
                    costs = drawn(kind, sizes, seeds, rng)
                    law = power_law(sizes, costs, BitStream(key(i, "coverage", seeds)))
                    hits += law.low <= EXPONENT <= law.high
                    low, high = naive(costs, sizes, rng)
                    plain += low <= EXPONENT <= high
                row.append(f"{hits / COVERED:.2f}" + (f" ({plain / COVERED:.2f})" * (seeds > 1)))
            rows.append(row)
    return table(["sizes", "noise of the logarithm", "1 seed", "3", "5", "10"], rows)


def main() -> None:
    print("# Tables of fitted growth\n")
    print("Printed by `make scaling-tables`: costs drawn from a known law with noise, through the")
    print("fits that `hardness compare` prints. Seeds are 0.\n")
    print("## How often a 95 % interval covers the exponent\n")
    print(f"Truth x^3 over 8..20, {COVERED} comparisons a cell (one standard error: 0.015). In")
    print("brackets what resampling the seeds of each size would give.\n")
    print(f"```text\n{coverage()}\n```")


if __name__ == "__main__":
    main()
