"""Pruning tables of BKZ 2.0 by fplll's pruner: `python benchmarks/pruning.py` writes the file.

hardness/attacks/pruning.json has the format of fplll's strategies: a block size, the block sizes of
its preprocessing, and pruned radii with the probability that a short vector is within them.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from fpylll import Pruning
from fpylll.util import gaussian_heuristic

from hardness.attacks.lattice import LARGEST_BLOCK, STRATEGIES, root_hermite

UNPRUNED = 30  # up to this block size, an enumeration is faster than its pruning
PREPROCESSING_GAP = 20  # the preprocessing of a larger block has a block size smaller by this
RADIUS = 1.1  # squared radius relative to the Gaussian heuristic, as in fplll
TARGET = 0.5  # success probability of all enumerations of a block together
# The pruner's probability is wrong by up to ten times for some radii, so it is sampled.
SEARCHES = (Pruning.GRADIENT, Pruning.GRADIENT | Pruning.HALF)
OVERHEAD_NODES = 2.0**22  # nodes that take as long as the work before an enumeration


def pruned(profile: list[float], flags: int) -> tuple[float, float, list[float]]:
    """Prune; return successes per node, nodes, and radii."""
    solution = Pruning.run(
        RADIUS * gaussian_heuristic(profile),
        OVERHEAD_NODES,
        [profile],
        TARGET,
        flags=flags,
        float_type="double" if len(profile) < 64 else "mpfr",
    )
    radii = [round(x, 5) for x in solution.coefficients]
    nodes = sum(solution.detailed_cost)
    return success(radii) / (OVERHEAD_NODES + nodes), nodes, radii


def strategy(size: int) -> dict[str, Any]:
    """Compute the strategy of a block size; odd sizes use the radii of the next even one."""
    preprocessing, pruning = [size - PREPROCESSING_GAP] if size > UNPRUNED else [], list[Any]()
    if size > UNPRUNED:
        even = size + size % 2
        profile = [root_hermite(size - PREPROCESSING_GAP) ** (-4 * i) for i in range(even)]
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
    """Estimate the probability that a vector of random direction is within the radii.

    Radius i, squared and relative, bounds its part in the last len(radii) - i directions.
    """
    squares = np.random.default_rng(seed).standard_normal((count, len(radii))) ** 2
    parts = np.cumsum(squares[:, ::-1], axis=1)[:, ::-1]
    return float(np.all(parts <= parts[:, :1] * np.array(radii), axis=1).mean())


if __name__ == "__main__":
    lines = [json.dumps(strategy(size)) for size in range(LARGEST_BLOCK + 1)]
    Path(STRATEGIES).write_text("[\n" + ",\n".join(lines) + "\n]\n")
