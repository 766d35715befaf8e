"""How often the intervals of fitted growth cover, and its verdicts err: `make scaling-tables`.

Prints docs/scaling-tables.md. Costs are drawn from a known law with noise of several kinds.
"""

import time

import numpy as np

from hardness.report.text import table
from hardness.runs.growth import growth
from instances.streams import BitStream, generator, key

COVERED, TOLD = 200, 150  # simulated comparisons a cell
EXPONENT = 3.0
RANGES = {
    "8..20, 5 sizes": np.linspace(8, 20, 5),
    "8..20, 8 sizes": np.linspace(8, 20, 8),
    "8..20, 13 sizes": np.arange(8.0, 21),
    "8..256, 6 sizes": 8 * 2.0 ** np.arange(6),
}
KINDS = {
    "normal, sd 0.3": lambda rng, k, s: 0.3 * rng.standard_normal((k, s)),
    "normal, sd 0.1 to 0.4": lambda rng, k, s: _ramp(k) * rng.standard_normal((k, s)),
    "normal, sd 0.4 to 0.1": lambda rng, k, s: _ramp(k)[::-1] * rng.standard_normal((k, s)),
    "log of a uniform cost": lambda rng, k, s: 1 - rng.exponential(size=(k, s)),
    "sizes off the law, sd 0.2, and seeds, sd 0.2": lambda rng, k, s: (
        0.2 * (rng.standard_normal((k, 1)) + rng.standard_normal((k, s)))
    ),
}


def _ramp(count):
    return np.linspace(0.1, 0.4, count)[:, None]


def drawn(kind, truth, sizes, seeds, rng):
    """Costs (K, S) whose logarithms have a law as their mean."""
    law = EXPONENT * np.log(sizes)
    if truth == "exponential":  # as large at both ends as the power law
        law = law[0] + (sizes - sizes[0]) * (law[-1] - law[0]) / (sizes[-1] - sizes[0])
    return np.exp(law[:, None] + KINDS[kind](rng, len(sizes), seeds))


def naive(costs, sizes, rng):
    """The percentile interval that resamples seeds within each size."""
    u = np.log(sizes) - np.log(sizes).mean()
    picked = rng.integers(costs.shape[1], size=(999, *costs.shape))
    means = np.take_along_axis(np.log(costs)[None], picked, 2).mean(axis=2)
    return np.quantile(means @ u / (u @ u), [0.025, 0.975])


def coverage():
    rows = []
    for count in (4, 5, 6, 8):
        sizes = np.linspace(8, 20, count)
        for kind in KINDS:
            row = [str(count), kind]
            for seeds in (1, 3, 5, 10):
                rng, hits, plain = generator(0, "coverage", count, kind, seeds), 0, 0
                for i in range(COVERED):
                    costs = drawn(kind, "power law", sizes, seeds, rng)
                    law = growth(sizes, costs, BitStream(key(i, "coverage", seeds))).power
                    hits += law.low <= EXPONENT <= law.high
                    low, high = naive(costs, sizes, rng)
                    plain += low <= EXPONENT <= high
                row.append(f"{hits / COVERED:.2f}" + (f" ({plain / COVERED:.2f})" * (seeds > 1)))
            rows.append(row)
    return table(["sizes", "noise of the logarithm", "1 seed", "3", "5", "10"], rows)


def verdicts():
    rows = []
    for name, sizes in RANGES.items():
        for kind in KINDS:
            row = [name, kind]
            for truth in ("power law", "exponential"):
                for seeds in (3, 10):
                    rng, right, wrong = generator(0, "verdict", name, kind, truth, seeds), 0, 0
                    for i in range(TOLD):
                        costs = drawn(kind, truth, sizes, seeds, rng)
                        said = growth(sizes, costs, BitStream(key(i, "verdict"))).verdict
                        right += said == truth
                        wrong += said not in (truth, "cannot tell")
                    row.append(f"{right / TOLD:.2f} / {wrong / TOLD:.3f}")
            rows.append(row)
    header = ["sizes", "noise of the logarithm", "power, 3", "power, 10", "exp., 3", "exp., 10"]
    return table(header, rows)


def bent():
    rows = []
    for name, sizes in RANGES.items():
        for said, law in (
            ("31 + x", 31 + sizes),
            ("1000 + x^3", 1000 + sizes**3),
            ("C(x-1, 3)", (sizes - 1) * (sizes - 2) * (sizes - 3) / 6),
            ("2^x", 2.0**sizes),
        ):
            counts = {"power law": 0, "exponential": 0, "cannot tell": 0}
            rng = generator(0, "bent", name, said)
            for i in range(TOLD):
                noise = 0.1 * rng.standard_normal((len(sizes), 5))
                found = growth(sizes, law[:, None] * np.exp(noise), BitStream(key(i, "bent")))
                counts[found.verdict] += 1
            rows.append([name, said, *(f"{n / TOLD:.2f}" for n in counts.values())])
    return table(["sizes", "cost", "power law", "exponential", "cannot tell"], rows)


def main():
    """Print the page."""
    start = time.perf_counter()
    print("# Tables of fitted growth\n")
    print("Printed by `make scaling-tables`: costs drawn from a known law with noise, through the")
    print("fits that `hardness compare` prints. Seeds are 0.\n")
    print("## How often a 95 % interval covers the exponent\n")
    print(f"Truth x^3 over 8..20, {COVERED} comparisons a cell (one standard error: 0.015). In")
    print("brackets what resampling the seeds of each size would give.\n")
    print(f"```text\n{coverage()}\n```\n")
    print("## How often a law is named, and wrongly\n")
    print(f"Right / wrong verdicts of {TOLD} comparisons a cell, the rest `cannot tell`: under a")
    print("power law x^3 and an exponential with the same ends, with 3 and 10 seeds.\n")
    print(f"```text\n{verdicts()}\n```\n")
    print("## Costs that are neither\n")
    print(f"Verdicts of {TOLD} comparisons, 5 seeds, normal noise of sd 0.1. An exponential is")
    print("named only where power laws with a constant are refused too.\n")
    print(f"```text\n{bent()}\n```\n")
    print(f"All in {time.perf_counter() - start:.0f} s on one core.")


if __name__ == "__main__":
    main()
