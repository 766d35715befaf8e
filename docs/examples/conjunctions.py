"""Conjunctions for `hardness compare docs/examples/conjunctions.py:Conjunctions --over d=8..11`."""

from itertools import combinations

import numpy as np


class Conjunctions:
    """Conjunctions of w of d variables: -1 where all of them are -1, else 1."""

    def __init__(self, d, w=3):
        self.d, self.w = d, w
        places = list(combinations(range(d), w))
        self.names = [" and ".join(f"x{j}" for j in chosen) for chosen in places]
        self.functions = [self.conjunction(list(chosen)) for chosen in places]

    def conjunction(self, places):
        return lambda x: np.where((x[:, places] < 0).all(axis=1), -1, 1)
