"""Noisy gradient descent against the bound on it: how often runs succeed after so many steps."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hardness.check import kernel
from hardness.lower.learners import NoisyDescent, pose_family
from hardness.lower.record import NoClaim
from hardness.lower.terms import BoundParameters
from hardness.oracles.budget import Budget, Meter
from hardness.runs.cells import interval
from hardness.upper.noisygd import (
    GradientOracle,
    Members,
    Model,
    Network,
    Normal,
    affine,
    cube,
    descend,
    known_signs,
    random_features,
    signs,
)
from instances.capabilities import CHARACTERS, PROVED_AS, SCHEME
from instances.errors import unknown as unknown_name
from instances.family import Family, require
from instances.limits import require_memory
from instances.result import Record, TableRow, json_of
from instances.streams import generator
from instances.symmetric import Symmetric

_MOST_PLACES = 12
Array = NDArray[np.float64]


class DescentPoint(Struct, frozen=True, kw_only=True):
    """Runs after some number of steps: how many are right, beside what the bound allows.

    right: the relative risk is at most what was asked, by the best multiple of the hypothesis.
    """

    steps: int
    right: int
    runs: int
    bound: Fraction

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds on the probability at 95% confidence. [CP34]"""
        return interval(self.right, self.runs)

    @property
    def beaten(self) -> bool:
        """Whether the runs refute the bound with this confidence: then the bound is wrong."""
        return self.interval[0] > self.bound


class DescentStudy(Record, frozen=True, kw_only=True):
    """Runs of one model beside the bound.

    needed: steps that the bound asks for the goal's success; enough: what is known to be about
    enough, of "members" on parities; curve: steps and what the bound allows after them.
    """

    spec: str
    members: int
    model: str
    clip: Fraction
    std: Fraction
    rate: float
    momentum: float
    risk: Fraction
    success: Fraction
    needed: int
    enough: int | None
    points: tuple[DescentPoint, ...]
    curve: tuple[tuple[int, float], ...]

    _words: ClassVar[str] = "hardness.report.studies.descent_words"

    @property
    def reached(self) -> float | None:
        """Steps after which the rate of success passes the goal's, between points on a log axis."""
        found = [(p.steps, p.right / p.runs) for p in self.points]
        for (low, under), (high, over) in itertools.pairwise(found):
            if under < self.success <= over:
                share = (float(self.success) - under) / (over - under)
                return float(low * (high / low) ** share)
        return None

    @property
    def bracket(self) -> tuple[int, int] | None:
        """Points around `reached` whose intervals lie below and above the goal's success."""
        below = [p.steps for p in self.points if p.interval[1] < self.success]
        above = [p.steps for p in self.points if p.interval[0] > self.success]
        return (below[-1], above[0]) if below and above else None

    def _rows(self) -> list[TableRow]:
        return [json_of(point) for point in self.points]


def descent_study(
    family: Family,
    *,
    model: str = "members",
    steps: Sequence[int] = (),
    clip: Fraction = Fraction(1),
    std: Fraction = Fraction(1),
    runs: int = 200,
    rate: float = 0.1,
    momentum: float = 0.0,
    seed: int = 0,
    terms: BoundParameters | None = None,
) -> DescentStudy:
    """Run a model on random members and judge it after each number of steps.

    model: "members", "network", "features" or "linear"; steps: by default up to what is enough for
    "members". Raises UsageError for more than 12 places, NoClaim where the bound makes none.

    >>> from instances import parse
    >>> study = descent_study(parse("parity:d=7,m=2"), steps=(100, 400, 1600), runs=100)
    >>> study.needed, any(point.beaten for point in study.points)
    (87, False)
    """
    terms, given = terms or BoundParameters(), _hidden_sets(family)
    _require_small(given, runs)
    steps = tuple(steps) or default_steps(given, clip, std)
    posed = pose_family(given, terms)
    bounds: dict[int, Fraction] = {}
    for count in sorted({*steps, *_spread(steps[-1])}):
        try:
            step = NoisyDescent(steps=count, clip=clip, std=std).step(posed, terms)
        except kernel.Refused as reason:
            raise NoClaim(f"no claim: {reason}") from reason
        claims = posed.proof.fact(step).claims
        bounds[count] = claims["gd-noise-success"][0]
    needed = claims["gd-noise-steps"][0]
    rng = generator(seed, "descent", given.spec, model)
    secrets = [given.draw(rng) for _ in range(runs)]
    answers = Normal(std=float(std))
    oracle = GradientOracle(given, secrets, float(clip), answers, rng, Meter(Budget()))
    built = build(model, given, float(clip), rng)
    _require_gradients(built, given.d, runs)
    thetas = descend(built, oracle, steps, rng, rate, momentum)
    right = [np.count_nonzero(judge(oracle, built, t) <= float(terms.risk)) for t in thetas]
    strongest = model == "members" and CHARACTERS.of(given) is not None
    return DescentStudy(
        spec=given.spec,
        members=given.size,
        model=model,
        clip=clip,
        std=std,
        rate=rate,
        momentum=momentum,
        risk=terms.risk,
        success=terms.success,
        needed=needed,
        enough=enough_steps(given, clip, std) if strongest else None,
        points=tuple(
            DescentPoint(steps=t, right=int(count), runs=runs, bound=bounds[t])
            for t, count in zip(steps, right, strict=True)
        ),
        curve=tuple((t, float(bound)) for t, bound in bounds.items()),
    )


def _require_gradients(model: Any, d: int, runs: int) -> None:
    """Refuse gradients of all examples that do not fit, of a model whose gradients vary."""
    if not model.constant:
        parameters = model.start(1, generator(0)).shape[1]
        wanted = 32 * runs * parameters << (d - 1)
        require_memory(wanted, f"the gradients of {runs} runs of {parameters} parameters")


def descent_sizes(family: Family, **how: Any) -> tuple[DescentStudy, ...]:
    """Study the same family in fewer dimensions and in its own, up to it; as `descent_study`."""
    given = _hidden_sets(family)
    _require_small(given, 1)
    least = min(given.m + 2, given.d)
    sizes = [replace(cast(Any, given), d=d) for d in range(least, given.d + 1)]
    return tuple(descent_study(one, **how) for one in sizes)


def judge(oracle: GradientOracle, model: Model, theta: Array) -> Array:
    """The exact relative risk of the best multiple of what a hypothesis adds to what is known.

    (runs,), in units of what is unknown; the bound counts hypotheses by this risk as well.
    """
    family = oracle.family
    public = known_signs(family, oracle.points)
    hidden = oracle.signs - public
    found = model.values(theta)
    if not isinstance(model, Members):
        found = found - float(1 - 2 * family.noise) * public
    size = np.einsum("rz,rz->r", found, found)
    along = np.einsum("rz,rz->r", found, hidden) ** 2
    cosine = along / np.maximum(size * np.einsum("rz,rz->r", hidden, hidden), 1e-300)
    # Rounding must not let a risk of exactly 0 fail a goal of 0.
    return np.maximum(np.round(1 - cosine, 12), 0.0)


def build(name: str, family: Symmetric, clip: float, rng: np.random.Generator) -> Model:
    """Make a model by its name for a family's points; raises UsageError for an unknown name."""
    points = cube(family.d - 1)
    makers: dict[str, Callable[[], Model]] = {
        "members": lambda: Members(functions=_functions(family, points), size=clip),
        "network": lambda: Network(points=points, width=8),
        "features": lambda: random_features(points, 2 * points.shape[1], rng),
        "linear": lambda: affine(points),
    }
    if name not in makers:
        raise unknown_name("model", name, makers)
    return makers[name]()


def enough_steps(family: Symmetric, clip: Fraction, std: Fraction) -> int:
    """Steps after which "members" succeeds on parities: 8 M ln(M) std^2 / (fade^2 clip^2).

    The mean of so many answers puts the secret's coordinate sqrt(2 ln M) deviations of the noise up
    from the others.
    """
    size, fade = family.size, 1 - 2 * family.noise
    return math.ceil(8 * size * math.log(size) * float((std / fade / clip) ** 2))


def default_steps(family: Symmetric, clip: Fraction, std: Fraction) -> tuple[int, ...]:
    """Steps by factors of sqrt(2), from 1/64 to 4 times what is enough for "members"."""
    enough = enough_steps(family, clip, std)
    return tuple(sorted({max(1, round(enough * 2 ** (k / 2 - 6))) for k in range(17)}))


def _hidden_sets(family: Family) -> Symmetric:
    """The parity or profile whose labels a family's are."""
    if scheme := SCHEME.of(family):
        shown = PROVED_AS.of(scheme)
        return shown[0] if shown else scheme
    raise NoClaim(f"no claim: {family.name} given: runs are simulated on parity and profile")


def _functions(family: Symmetric, points: Array) -> Array:
    """What is unknown of every member: (M, points)."""
    places = itertools.combinations(range(1, family.d), family.m)
    return signs(family, points, list(places)) - known_signs(family, points)


def _spread(most: int) -> list[int]:
    """Some 60 numbers of steps up to `most`, even on a log axis."""
    return sorted({round(most ** (i / 60)) for i in range(61)})


def _require_small(family: Symmetric, runs: int) -> None:
    require(
        family.d - 1 <= _MOST_PLACES,
        f"d={family.d} given: every z is enumerated, up to d={_MOST_PLACES + 1}",
    )
    require(runs >= 1, f"{runs} runs given: at least one is needed")
    require_memory(32 * (runs + family.size) << (family.d - 1), f"runs on {family.spec}")
