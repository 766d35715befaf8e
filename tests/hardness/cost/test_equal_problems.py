"""Problems that are equal, or easier by what they add, cost the same, or no more."""

import itertools
import math

import numpy as np
import pytest

from hardness.cost.attacks import LATTICE, OTHERS, estimate, setting
from hardness.cost.problem import read
from hardness.cost.reduction import DEFAULT
from hardness.cost.sets import given
from hardness.cost.usvp import usvp

CLOSE = 0.02  # bits: searches end near the least
MODELS = ("default", "rough", "bdgl16")


def costs(spec, samples=None, model="default", only=()):
    found = estimate(read(spec, samples), spec, [setting(model)], only)
    return {one.name: one for one in found.estimates}


# ---- more samples


def drawn(rng, most):
    """Draw the words of a problem, with secrets narrower and wider than the errors."""
    n = int(np.exp(rng.uniform(math.log(6), math.log(most))))
    q = rng.choice(["97", "521", "3329", "12289", "2^13", "2^20", "2^32", "2^50"])
    errors = [f"sigma={np.exp(rng.uniform(-2, 2.5)):.3g}", f"error=cbd,eta={rng.integers(1, 5)}"]
    errors += [f"error=uniform,width={rng.integers(2, 12)}", "error=ternary", "error=[0:.97,1:.03]"]
    h = int(rng.integers(1, n))
    secrets = ["binary", "ternary", "uniform", f"ternary,h={h}", f"binary,h={h}"]
    secrets += [f"gaussian,spread={np.exp(rng.uniform(0, 3)):.3g}", "[0:.9,30:.1]"]
    secrets += [f"cbd,spread={rng.integers(2, 12)}", f"range,spread={rng.integers(4, 40)}"]
    return n, f"lwe:n={n},q={q},{rng.choice(errors)},secret={rng.choice(secrets)}"


def limits(rng, n, count):
    """List numbers of samples that rise, to any number."""
    every = [n // 2, n, n + 1, n + n // 4, 3 * n // 2, 2 * n - 1, 2 * n, 3 * n, 8 * n, n**3]
    some = rng.choice([*every, 2**40, 2**80], size=count, replace=False)
    return [*sorted(max(1, int(m)) for m in some), None]


def rises(spec, counts, model):
    """List attacks that cost more with more samples, and by how much."""
    every = [costs(spec, m, model) for m in counts]
    return [
        (name, fewer, more, every[i + 1][name].rank - every[i][name].rank)
        for i, (fewer, more) in enumerate(itertools.pairwise(counts))
        for name in (*LATTICE, *OTHERS)
        if every[i + 1][name].rank > every[i][name].rank + CLOSE
    ]


@pytest.mark.parametrize(
    ("count", "most"), [(8, 48), pytest.param(200, 1024, marks=pytest.mark.slow)]
)
def test_more_samples_never_cost_more(count, most):
    rng = np.random.default_rng(52)
    for i in range(count):
        n, spec = drawn(rng, most)
        counts = limits(rng, n, 5 if n < 200 else 3)
        assert not rises(spec, counts, MODELS[i % len(MODELS)]), (spec, counts)
