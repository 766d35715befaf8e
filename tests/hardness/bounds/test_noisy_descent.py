"""The bound on noisy gradient descent against the best that a coordinate for each member does."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.bounds import certify
from hardness.bounds.learners import NoisyDescent
from instances import parse

RUNS = 20_000


def right(size, shift, rng):
    """How often the largest of `size` normal numbers is the first, whose mean is the shift."""
    first = shift + rng.standard_normal(RUNS)
    others = rng.standard_normal((RUNS, size - 1)).max(axis=1)
    return float(np.mean(first > others))


@pytest.mark.parametrize("noise", ["0", "1/10"])
@pytest.mark.parametrize(("d", "m"), [(3, 1), (5, 2), (6, 2)])
def test_no_simulation_beats_the_bound_and_some_come_near(d, m, noise):
    """Each example's gradient, of norm 1, has a coordinate chi_S(z) y / sqrt(M) for each member S.

    Half of the tokens are public, so the mean is (1 - 2 noise) / (2 sqrt(M)) at the hidden member
    and 0 elsewhere. T answers with normal noise are averaged, and the largest coordinate is named.
    A bound that had lost a factor of 4 is beaten.
    """
    family, rng, near = parse(f"parity:d={d},m={m},noise={noise}"), np.random.default_rng(0), []
    size, std = family.size, Fraction(2)
    moved = float(1 - 2 * family.noise) / (2 * math.sqrt(size)) / float(std)
    for steps in range(1, 60):
        asked = NoisyDescent(steps=steps, clip=Fraction(1), std=std)
        bound = Fraction(certify(family, about=[asked])["gd-noise-success"].value)
        found, error = right(size, moved * math.sqrt(steps), rng), 4 * math.sqrt(1 / 4 / RUNS)
        assert found - error <= bound
        if bound < 1:
            near.append((found + error - 1 / size) / float(bound - Fraction(1, size)))
    assert max(near) > (0.5 if size == 2 else 0.25)
