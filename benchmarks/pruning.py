"""Pruning tables of BKZ 2.0 by fplll's pruner: `python benchmarks/pruning.py` writes the file.

hardness/attacks/pruning.json is in fplll's format of strategies: a block size, the blocks that it
is preprocessed with, and pruned radii with the probability that a short vector lies within them.
"""

import json
import math
from pathlib import Path
from typing import Any

from fpylll import Pruning
from fpylll.util import gaussian_heuristic

from hardness.attacks.lattice import LARGEST_BLOCK, STRATEGIES, root_hermite

UNPRUNED = 30  # up to here an enumeration is faster than its pruning
LESS = 20  # than a larger block has that which it is preprocessed with
RADIUS = 1.1  # square of the radius over that of the Gaussian heuristic, as fplll has it
TARGET = 0.5  # of all enumerations of a block together
NODES = 2.0**22  # that take as long as what is done before an enumeration


def strategy(size: int) -> dict[str, Any]:
    """Make the strategy of a block size; an odd size has the radii of the next even one."""
    preprocessing, pruning = [size - LESS] if size > UNPRUNED else [], list[Any]()
    if size > UNPRUNED:
        even = size + size % 2
        profile = [root_hermite(size - LESS) ** (-4 * i) for i in range(even)]
        found = Pruning.run(
            RADIUS * gaussian_heuristic(profile),
            NODES,
            [profile],
            TARGET,
            flags=Pruning.GRADIENT,
            float_type="double" if even < 64 else "mpfr",
        )
        radii = [round(x, 5) for x in found.coefficients[:size]]
        pruning = [[RADIUS, radii, float(f"{found.expectation:.4g}")]]
        print(
            size, f"{found.expectation:.3g}", f"2^{math.log2(sum(found.detailed_cost)):.1f} nodes"
        )
    return {
        "block_size": size,
        "preprocessing_block_sizes": preprocessing,
        "pruning_parameters": pruning,
    }


if __name__ == "__main__":
    lines = [json.dumps(strategy(size)) for size in range(LARGEST_BLOCK + 1)]
    Path(STRATEGIES).write_text("[\n" + ",\n".join(lines) + "\n]\n")
