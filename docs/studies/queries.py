"""What statistical queries cannot do: growth of certified numbers, and what runs beside them."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
from statement import Array, Measured, Predicted, equal, exactly, family_of, main, mean, share

from hardness.lower import BoundParameters, certify
from hardness.lower.learners import Kernel, certify_named
from hardness.lower.tolerances import of_members
from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from instances import parse
from instances.family import Secret
from instances.streams import generator
from instances.symmetric import Symmetric


def predict_sq_dimension(d: int, m: int) -> Predicted:
    return equal(comb(d - 1, m))


def measure_sq_dimension(d: int, m: int, seed: int) -> Measured:
    return exactly(_certified(f"parity:d={d},m={m}", "sq-dimension"))


def _certified(spec: str, quantity: str) -> float:
    return float(certify(parse(spec)).integer(quantity))


def predict_sq_queries(d: int, m: int) -> Predicted:
    return Predicted(low=m, high=sum(d / (d - 1 - j) for j in range(m)))


def measure_sq_queries(d: int, m: int, seed: int) -> Measured:
    few, many = (_certified(f"parity:d={size},m={m}", "stat-queries") for size in (d, 2 * d))
    # Each is rounded up to a whole number.
    return exactly(math.log2(many / few), 2 / few)


def predict_floor_growth(d: int, m: int) -> Predicted:
    least, most = math.log2((d - 1) / m), math.log2(math.e * (d - 1) / m)
    kept = math.log2(2 / 3)
    return Predicted(low=m * least + kept, high=m * most + kept + 1)


def measure_floor_growth(d: int, m: int, seed: int) -> Measured:
    return exactly(_certified(f"parity:d={d},m={m}", "information-floor"))


def predict_tolerance_window(d: int, m: int) -> Predicted:
    missing = math.ceil(Fraction(2, 3) * comb(d - 1, m)) - 1
    least = 1 / math.sqrt(4 * math.ceil(missing / 2))
    return Predicted(low=least, high=1.1 * least)


def measure_tolerance_window(d: int, m: int, seed: int) -> Measured:
    certificate = of_members(parse(f"parity:d={d},m={m}"), BoundParameters())
    return exactly(float((certificate and certificate.first()) or math.nan))


def predict_plain_training(learner: str, examples: int) -> Predicted:
    members = comb(_PLACES, _HIDDEN)
    known = examples <= 40  # more examples tell any member, and no theorem binds training then
    return Predicted(high=2.0**examples / members if known else None, within=known)


def measure_plain_training(learner: str, examples: int, seed: int) -> Measured:
    family, chosen = parse(f"parity:d={_PLACES + 1},m={_HIDDEN}"), parse_learner(learner)
    budget = Budget(examples=examples)
    made = (run(chosen, family.instance(_RUNS * seed + i), budget) for i in range(_RUNS))
    return share(sum(each.outcome is Outcome.SOLVED for each in made), _RUNS, "runs")


def predict_kernel_bound(spec: str, features: int) -> Predicted:
    certificate = certify_named(parse(spec), [Kernel(features=features)])
    return Predicted(low=float(Fraction(certificate["kernel-error"].value)))


def _cube(n: int) -> Array:
    """List {-1,+1}^n, (2^n, n), the last coordinate the fastest.

    >>> _cube(2).astype(int).tolist()
    [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    """
    return np.array(list(itertools.product((1.0, -1.0), repeat=n)))


def _signs(family: Symmetric, points: Array, secrets: Sequence[Secret]) -> Array:
    """The values of members as +-1 at points of z_1 .. z_n: (members, points)."""
    minus = (points < 0).astype(np.intp)
    chosen = np.array(secrets, np.intp).reshape(len(secrets), family.m) - 1
    profile = (np.array([float(v) for v in family.values]) - float(family.centre)) / _half(family)
    return np.asarray(profile[minus[:, chosen].sum(axis=2).T])


def _known_signs(family: Symmetric, points: Array) -> Array:
    """The public part of the values as +-1, noise aside: (points,); 0 for a parity."""
    count = np.count_nonzero(points < 0, axis=1)
    return np.asarray((family.prior[count] - float(family.centre)) / _half(family))


def _half(family: Symmetric) -> float:
    return float(max(family.values) - min(family.values)) / 2


def _random_units(points: Array, width: int, rng: np.random.Generator) -> Array:
    """`width` fixed random units tanh(w z + b) at the points, scaled by 1/sqrt(width)."""
    n = points.shape[1]
    inner, bias = rng.standard_normal((n, width)), rng.standard_normal(width)
    return np.asarray(np.tanh(points @ inner / np.sqrt(n) + bias) / np.sqrt(width))


def measure_kernel_bound(spec: str, features: int, seed: int) -> Measured:
    """The error of the best combination of random units, on average over all members, exactly."""
    family = family_of(spec)
    points = _cube(family.d - 1)
    places = list(itertools.combinations(range(1, family.d), family.m))
    hidden = _signs(family, points, places) - _known_signs(family, points)
    errors = []
    for i in range(5):
        units = _random_units(points, features, generator(seed, "theory", "units", str(i)))
        basis = np.linalg.svd(units, full_matrices=False)[0]
        errors.append(1 - float(((hidden @ basis) ** 2).sum() / (hidden**2).sum()))
    return mean(errors, "sets of random units", among=8)


def predict_two_tokens(d: int, m: int) -> Predicted:
    family = family_of(f"parity:d={d},m={m}")
    return Predicted(high=family.layer_tolerance(family.instance(0).layer()))


def measure_two_tokens(d: int, m: int, seed: int) -> Measured:
    instance = parse(f"parity:d={d},m={m}").instance(seed)
    drawn = instance.examples(0, 4096)
    off = float(np.abs(instance.layer()(drawn.x) - drawn.y).max())
    return Measured(value=off, low=off, high=off, how="the largest of 4096 inputs")


_PLACES, _HIDDEN, _RUNS = 15, 3, 20

if __name__ == "__main__":
    main("queries")
