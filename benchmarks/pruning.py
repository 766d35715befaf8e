"""Pruning tables of BKZ 2.0 by fplll's pruner: `python benchmarks/pruning.py` writes the file.

hardness/attacks/pruning.json is in fplll's format of strategies: a block size, the blocks that it
is preprocessed with, and pruned radii with the probability that a short vector lies within them.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from fpylll import Pruning
from fpylll.util import gaussian_heuristic

from hardness.attacks.lattice import LARGEST_BLOCK, STRATEGIES, root_hermite

UNPRUNED = 30  # up to here an enumeration is faster than its pruning
LESS = 20  # than a larger block has that which it is preprocessed with
RADIUS = 1.1  # square of the radius over that of the Gaussian heuristic, as fplll has it
TARGET = 0.5  # of all enumerations of a block together
# The pruner's own probability is off by up to ten times for some radii: it is sampled instead.
SEARCHES = (Pruning.GRADIENT, Pruning.GRADIENT | Pruning.HALF)
NODES = 2.0**22  # that take as long as what is done before an enumeration


def pruned(profile: list[float], flags: int) -> tuple[float, float, list[float]]:
    """Prune: successes a node, nodes, radii."""
    solution = Pruning.run(
        RADIUS * gaussian_heuristic(profile),
        NODES,
        [profile],
        TARGET,
        flags=flags,
        float_type="double" if len(profile) < 64 else "mpfr",
    )
    radii = [round(x, 5) for x in solution.coefficients]
    nodes = sum(solution.detailed_cost)
    return success(radii) / (NODES + nodes), nodes, radii


def strategy(size: int) -> dict[str, Any]:
    """Make the strategy of a block size; an odd size has the radii of the next even one."""
    preprocessing, pruning = [size - LESS] if size > UNPRUNED else [], list[Any]()
    if size > UNPRUNED:
        even = size + size % 2
        profile = [root_hermite(size - LESS) ** (-4 * i) for i in range(even)]
        runs = [pruned(profile, flags) for flags in SEARCHES]
        _, nodes, radii = max(runs)
        radii = radii[:size]
        chance = success(radii)
        pruning = [[RADIUS, radii, float(f"{chance:.3g}")]]
        print(size, f"{chance:.3g}", f"2^{math.log2(nodes):.1f} nodes")
    return {
        "block_size": size,
        "preprocessing_block_sizes": preprocessing,
        "pruning_parameters": pruning,
    }


def success(radii: list[float], count: int = 100_000, seed: int = 0) -> float:
    """Sample the probability that a vector of random direction stays within the radii.

    Radius i, squared and relative, bounds its part in the last len(radii) - i directions.
    """
    squares = np.random.default_rng(seed).standard_normal((count, len(radii))) ** 2
    parts = np.cumsum(squares[:, ::-1], axis=1)[:, ::-1]
    return float(np.all(parts <= parts[:, :1] * np.array(radii), axis=1).mean())


if __name__ == "__main__":
    lines = [json.dumps(strategy(size)) for size in range(LARGEST_BLOCK + 1)]
    Path(STRATEGIES).write_text("[\n" + ",\n".join(lines) + "\n]\n")
