"""What statistical queries cannot do: growth of certified numbers, and what runs beside them."""

import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
from statement import Measured, Predicted, equal, exactly, family_of, main, mean, share

from hardness.bounds import certify
from hardness.bounds.learners import Kernel
from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import parse
from instances.streams import generator


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
    found = certify(parse(f"parity:d={d},m={m}")).first_tolerance("stat-queries")
    return exactly(float(found or math.nan))


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
    certificate = certify(parse(spec), about=[Kernel(features=features)])
    return Predicted(low=float(Fraction(certificate["kernel-error"].value)))


def measure_kernel_bound(spec: str, features: int, seed: int) -> Measured:
    """The error of the best combination of random units, on average over all members, exactly.

    A unit is tanh(w z + b) / sqrt(features); members are less what is public of their values.
    """
    family = family_of(spec)
    n, values = family.d - 1, np.array([float(v) for v in family.values])
    minus = np.array(list(itertools.product((0, 1), repeat=n)))
    places = np.array(list(itertools.combinations(range(n), family.m)))
    hidden = (values[minus[:, places].sum(axis=2)] - family.prior[minus.sum(axis=1)][:, None]).T
    errors = []
    for i in range(5):
        rng = generator(seed, "theory", "units", str(i))
        inner, bias = rng.standard_normal((n, features)), rng.standard_normal(features)
        units = np.tanh((1.0 - 2 * minus) @ inner / np.sqrt(n) + bias) / np.sqrt(features)
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
