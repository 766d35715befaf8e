"""What statistical queries cannot do: growth of certified numbers, and what runs beside them."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower import BoundParameters, certify
from hardness.lower.learners import Kernel, certify_named
from hardness.lower.tolerances import of_members
from hardness.oracles import Budget
from hardness.runs import run
from hardness.theory.statement import Measured, Predicted, Statement, exactly, mean, share
from hardness.upper import Outcome, parse_learner
from instances import parse
from instances.family import Secret
from instances.streams import generator
from instances.symmetric import Symmetric

Array = NDArray[np.float64]


def _predict_dimension(d: int, m: int) -> Predicted:
    return Predicted(low=comb(d - 1, m), high=comb(d - 1, m))


def _dimension(d: int, m: int, seed: int) -> Measured:
    return exactly(_certified(f"parity:d={d},m={m}", "sq-dimension"))


def _certified(spec: str, quantity: str) -> float:
    return float(certify(parse(spec)).integer(quantity))


def _predict_queries(d: int, m: int) -> Predicted:
    return Predicted(low=m, high=sum(d / (d - 1 - j) for j in range(m)))


def _queries(d: int, m: int, seed: int) -> Measured:
    few, many = (_certified(f"parity:d={size},m={m}", "stat-queries") for size in (d, 2 * d))
    # Each is rounded up to a whole number.
    return exactly(math.log2(many / few), 2 / few)


def _predict_floor(d: int, m: int) -> Predicted:
    least, most = math.log2((d - 1) / m), math.log2(math.e * (d - 1) / m)
    kept = math.log2(2 / 3)
    return Predicted(low=m * least + kept, high=m * most + kept + 1)


def _floor(d: int, m: int, seed: int) -> Measured:
    return exactly(_certified(f"parity:d={d},m={m}", "information-floor"))


def _predict_window(d: int, m: int) -> Predicted:
    missing = math.ceil(Fraction(2, 3) * comb(d - 1, m)) - 1
    least = 1 / math.sqrt(4 * math.ceil(missing / 2))
    return Predicted(low=least, high=1.1 * least)


def _window(d: int, m: int, seed: int) -> Measured:
    found = of_members(parse(f"parity:d={d},m={m}"), BoundParameters())
    return exactly(float((found and found.first()) or math.nan))


def _predict_training(learner: str, examples: int) -> Predicted:
    members = comb(_PLACES, _HIDDEN)
    known = examples <= 40  # more examples tell any member, and no theorem binds training then
    return Predicted(high=2.0**examples / members if known else None, within=known)


def _training(learner: str, examples: int, seed: int) -> Measured:
    family, chosen = parse(f"parity:d={_PLACES + 1},m={_HIDDEN}"), parse_learner(learner)
    budget = Budget(examples=examples)
    made = (run(chosen, family.instance(_RUNS * seed + i), budget) for i in range(_RUNS))
    return share(sum(one.outcome is Outcome.SOLVED for one in made), _RUNS, "runs")


def _predict_kernel(spec: str, features: int) -> Predicted:
    found = certify_named(parse(spec), [Kernel(features=features)])
    return Predicted(low=float(Fraction(found["kernel-error"].value)))


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


def _kernel(spec: str, features: int, seed: int) -> Measured:
    """The error of the best combination of random units, on average over all members, exactly."""
    family: Any = parse(spec)
    points = _cube(family.d - 1)
    places = list(itertools.combinations(range(1, family.d), family.m))
    hidden = _signs(family, points, places) - _known_signs(family, points)
    found = []
    for i in range(5):
        units = _random_units(points, features, generator(seed, "theory", "units", str(i)))
        basis = np.linalg.svd(units, full_matrices=False)[0]
        found.append(1 - float(((hidden @ basis) ** 2).sum() / (hidden**2).sum()))
    return mean(found, "sets of random units", among=len(_KERNEL))


def _predict_tokens(d: int, m: int) -> Predicted:
    family: Any = parse(f"parity:d={d},m={m}")
    return Predicted(high=family.layer_tolerance(family.instance(0).layer()))


def _two_tokens(d: int, m: int, seed: int) -> Measured:
    instance = parse(f"parity:d={d},m={m}").instance(seed)
    drawn = instance.examples(0, 4096)
    off = float(np.abs(instance.layer()(drawn.x) - drawn.y).max())
    return Measured(value=off, low=off, high=off, how="the largest of 4096 inputs")


_PLACES, _HIDDEN, _RUNS = 15, 3, 20
_STUDENT, _MLP = "student:steps=2500", "mlp:steps=2000"
_TRAINING = [(_STUDENT, 4), (_STUDENT, 10**6), (_MLP, 4), (_MLP, 10**6)]
_KERNEL = [
    {"spec": spec, "features": features}
    for spec in ("parity:d=11,m=3", "profile:g=majority,d=11,m=3")
    for features in (5, 20, 60, 100)
]
_hard = partial(Statement, subject="hardness", owner="docs", source="CL24")


STATEMENTS = (
    _hard(
        name="sq-dimension",
        says="Two-token layers of m heads have statistical-query dimension d^Ω(m).",
        predicts="C(d - 1, m) hidden sets of m of d - 1 coordinates, pairwise uncorrelated.",
        meaning="The exponent of d is m.",
        identity=True,
        settings=[{"d": d, "m": m} for m in (2, 3, 4) for d in (16, 64, 256, 1024)],
        predict=_predict_dimension,
        measure=_dimension,
        along="d",
        by="m",
        log="xy",
        y="SQ dimension",
    ),
    _hard(
        name="sq-queries",
        owner="talk",
        says="Even for k = 2, statistical query lower bounds suggest that in the worst case some "
        "exponential dependence on m is necessary. The slide's formula for queries or inverse "
        "tolerance cannot be read; here: d^Ω(m).",
        predicts="At tolerance 1/10 the slope between d and 2d is at least m, and at most the sum "
        "of d/(d - 1 - j) over j below m, as queries are nearly a multiple of C(d - 1, m).",
        meaning="The exponent of the bound is the number of hidden coordinates, m.",
        identity=True,
        settings=[{"d": 4**i, "m": m} for m in (2, 4, 8, 16) for i in (5, 7, 9)],
        predict=_predict_queries,
        measure=_queries,
        along="d",
        by="m",
        log="x",
        y="exponent of d, between d and 2d",
    ),
    _hard(
        name="floor-growth",
        source="",
        says="Every learner needs about m log2(d/m) examples: the information floor.",
        predicts="An example has one bit, and 2/3 of C(d - 1, m) members are to be told apart: "
        "between m log2((d - 1)/m) and m log2(e(d - 1)/m), less log2(3/2), rounded up.",
        meaning="Statistical queries cost about d^m, examples need not: that is the gap.",
        identity=True,
        settings=[{"d": 10**i, "m": m} for m in (2, 8, 32) for i in (2, 3, 4, 5)],
        predict=_predict_floor,
        measure=_floor,
        along="d",
        by="m",
        log="x",
        y="examples",
    ),
    _hard(
        name="tolerance-window",
        says="For fixed m, the bound on queries says nothing below a tolerance of about d^(-m/2). "
        "It says something from there to 1/2; above 1/2 no number of queries is enough.",
        predicts="With M = 2/3 C(d - 1, m) - 1 members to rule out and 1/(4 tau^2) a query, more "
        "than two queries are needed from tau = 1/sqrt(2M) on; two digits are kept.",
        meaning="The talk has 'queries/inv. tolerance': this is where the one turns into the "
        "other.",
        identity=True,
        settings=[{"d": d, "m": m} for m in (2, 4, 8) for d in (16, 64, 256, 1024)],
        predict=_predict_window,
        measure=_window,
        along="d",
        by="m",
        log="xy",
        y="least tolerance with a bound",
    ),
    _hard(
        name="plain-training",
        source="",
        says="Four examples cannot tell a parity of 3 among 15 coordinates from the others. Above "
        "the information floor no theorem here bounds training on single examples.",
        predicts="With four examples a success of at most 2^4/C(15, 3); nothing with a million.",
        meaning="The student is an attention layer that sees the tokens, mlp a ReLU network that "
        "sees their product. What they do with a million examples is measured, not proved.",
        revised="more runs, and more steps of the student",
        settings=[{"learner": name, "examples": count} for name, count in _TRAINING],
        predict=_predict_training,
        measure=_training,
        along="examples",
        x="examples that it may draw",
        by="learner",
        log="x",
        y="share of runs that solve",
    ),
    _hard(
        source="Fan49",
        name="kernel-bound",
        says="Frozen features, as those of heads that are not trained, leave a part of the members "
        "of a family unlearned, whatever is fitted on top.",
        predicts="At least the certified error for as many features, on average over members.",
        meaning="The best features attain it, random units need not. For parities it is "
        "1 - (features + 1)/members. The bound is proved for every set of features.",
        settings=_KERNEL,
        predict=_predict_kernel,
        measure=_kernel,
        along="features",
        by="spec",
        log="x",
        y="relative risk of the best fit",
    ),
    _hard(
        name="two-tokens",
        says="The lower bounds hold even for two tokens. Here: a layer on two tokens "
        "computes a parity of m bits, with m heads if m is odd and m + 1 if it is even.",
        predicts="The layer is off the parity by rounding alone: at most the bound over all "
        "inputs by interval arithmetic.",
        meaning="The hard family is made of layers, not of something like them.",
        identity=True,
        settings=[{"d": d, "m": m} for m in (1, 3, 8, 21) for d in (32, 128, 512)],
        predict=_predict_tokens,
        measure=_two_tokens,
        along="d",
        by="m",
        log="xy",
        y="largest error of the layer",
    ),
)
