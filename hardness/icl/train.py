"""Training of L layers with full matrices by L-BFGS [LN89], and losses for each L."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np

from hardness.icl.gram import (
    Array,
    Estimate,
    Kind,
    Layers,
    Rare,
    evaluate,
    loss_and_gradient,
    rare,
    sample,
    scalar_reference,
)
from hardness.icl.onelayer import whitened
from hardness.icl.prompts import Count, Matrix, OfLaw, Prompts, of_law, require_draws, root
from instances.errors import UsageError
from instances.streams import generator

Free = Literal["q", "both"]
Ending = Literal["converged", "steps spent", "no further descent", "diverged"]
_ENDINGS: tuple[Ending, ...] = ("converged", "steps spent", "no further descent")  # by status
Name = Literal["one step size", "optimal steps", "GD++ scalars", "trained, P = 0", "trained P, Q"]
MOST_LAYERS = 8  # layers of curves, at most
_START_NORM = 0.1  # norm of columns of a random start, whitened; solutions have norms about 1
_DEFAULT_SAMPLES = {
    "q": 10_000,
    "both": 3000,
}  # Gram matrices: a descent of P takes 20 times the steps
_MOST_PRODUCTS = 1 << 36  # products for a gradient, at most: one or two minutes
_LBFGS_PAIRS = 20  # more than usual, because an evaluation costs far more than a pair
_SCALAR_CURVES: dict[Name, Kind]
_SCALAR_CURVES = {"one step size": "common", "optimal steps": "q", "GD++ scalars": "both"}
_TRAINED_CURVES: dict[Name, Free] = {"trained, P = 0": "q", "trained P, Q": "both"}


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A point of a training curve: loss, and distances of whitened matrices to multiples of I."""

    step: int
    loss: float
    q: list[float]
    p: list[float] | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One descent: the loss on the fixed sample, and the reason for its end."""

    loss: float
    steps: int
    evaluations: int
    ended: Ending


@dataclass(frozen=True, kw_only=True)
class ExactReference:
    """An exact loss, and the method that computed it."""

    loss: float
    method: str


class Trained(OfLaw, frozen=True, kw_only=True, tag="icl train"):
    """The best of several descents by training loss, evaluated on fresh Gram matrices.

    layers: their number. samples: the number of Gram matrices in training. q, p: whitened; p is
    None if it was 0, as are its distances to multiples of I. The last P has no influence, so its
    distance is omitted. curve: that of the best run.
    """

    layers: Count
    free: Free
    whiten: bool
    samples: Count
    loss: Estimate
    rare: Rare
    training_loss: float
    reference: ExactReference | None
    q: list[Matrix]
    p: list[Matrix] | None
    distance_q: list[float]
    distance_p: list[float] | None
    curve: list[CurvePoint]
    runs: list[Run]


def distance(matrix: Array) -> float:
    """Return the distance of a matrix to multiples of I: |M - (tr M/d) I|_F / |M|_F, in 0 .. 1.

    >>> distance(2 * np.eye(3)), distance(np.diag([1.0, -1.0]))
    (0.0, 1.0)
    """
    size, level = float(np.linalg.norm(matrix)), np.trace(matrix) / len(matrix)
    return float(np.linalg.norm(matrix - level * np.eye(len(matrix)))) / size if size else 0.0


def train(
    law: Prompts,
    layers: int,
    *,
    free: Free = "both",
    whiten: bool = True,
    seed: int = 0,
    samples: int = 0,
    steps: int = 1000,
    restarts: int = 1,
    fresh: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> Trained:
    """Train L layers of full matrices from small random starts, Q alone (P = 0) or both.

    L-BFGS uses `samples` fixed Gram matrices (0: 10000 for Q alone, 3000 for both), and at most
    `steps` steps. whiten: descend in the coordinates sigma^{-1/2} x; starts and prompts do not
    depend on it. The loss comes from `fresh` Gram matrices of another stream. progress counts
    restarts * steps in all. Raises UsageError for numbers out of range, and for very long runs.
    """
    samples = samples or _DEFAULT_SAMPLES[free]
    _check(layers=layers, samples=samples, steps=steps, restarts=restarts)
    products = samples * layers * law.d**3
    if products > _MOST_PRODUCTS:
        raise UsageError(
            f"a step's samples x layers x d^3 must be at most {_MOST_PRODUCTS:.1e}, got "
            f"{products:.1e} of samples={samples}, layers={layers}, d={law.d}: lower one of them"
        )
    require_draws(max(samples, fresh), law.n, law.d)
    descent = _Descent(law=law, free=free, whiten=whiten, seed=seed, samples=samples)
    ends = []
    for restart in range(restarts):
        ends.append(descent.run(descent.start(layers, restart), steps, progress))
        progress(steps - ends[-1][0].steps)
    best, trained, curve = min(ends, key=lambda end: end[0].loss)
    exact, white = scalar_reference(law, layers, free), trained.whitened(law.sigma)
    moved = {"p": white.p.tolist(), "distance_p": [distance(p) for p in white.p[:-1]]}
    still = dict.fromkeys(moved)
    asked = {"layers": layers, "free": free, "whiten": whiten, "seed": seed, "samples": samples}
    return Trained(
        **(of_law(law) | asked | (moved if free == "both" else still)),
        loss=evaluate(trained, sample(law, seed, "fresh", fresh), law, exact),
        rare=rare(trained, law, seed, fresh),
        training_loss=best.loss,
        reference=ExactReference(loss=exact.loss, method=exact.method) if exact else None,
        q=white.q.tolist(),
        distance_q=[distance(q) for q in white.q],
        curve=curve,
        runs=[run for run, *_ in ends],
    )


def _check(**counts: int) -> None:
    most = {"layers": 64, "samples": 10_000_000, "steps": 10_000_000, "restarts": 1000}
    for name, value in counts.items():
        if not 1 <= value <= most[name]:
            raise UsageError(f"{name} must be between 1 and {most[name]}, got {value}")


class _Descent:
    """A parametrisation of layers by flat vectors, in the coordinates of the descent."""

    def __init__(self, *, law: Prompts, free: Free, whiten: bool, seed: int, samples: int) -> None:
        self.law, self.free, self.seed = law, free, seed
        self.within = whitened(law) if whiten else law
        narrow = root(law.sigma, -0.5) if whiten else np.eye(law.d)  # from raw coordinates to these
        self.grams = narrow @ sample(law, seed, "train", samples) @ narrow
        self.back = root(law.sigma, -1.0) if whiten else np.eye(law.d)  # for Layers.whitened

    def start(self, layers: int, restart: int) -> Array:
        """Draw a small start, which is the same function of prompts, whitened or not."""
        rng, d = generator(self.seed, "start", restart), self.law.d
        p, q = rng.normal(0.0, _START_NORM / math.sqrt(d), (2, layers, d, d))
        white = Layers(p=p, q=q)
        within = white if self.within is not self.law else white.whitened(root(self.law.sigma, -1))
        return self.flat(within.p, within.q)

    def flat(self, p: Array, q: Array) -> Array:
        return np.concatenate([q.ravel(), p.ravel()]) if self.free == "both" else q.ravel()

    def unflat(self, x: Array) -> tuple[Array | None, Array]:
        q, *p = x.reshape(2 if self.free == "both" else 1, -1, self.law.d, self.law.d)
        return (p[0] if p else None), q

    def layers(self, x: Array) -> Layers:
        p, q = self.unflat(x)
        return Layers(p=np.zeros_like(q) if p is None else p, q=q)

    def slope(self, x: Array) -> tuple[float, Array]:
        loss, dp, dq = loss_and_gradient(*self.unflat(x), self.grams, self.within)
        return float(loss), self.flat(dp, dq)

    def run(
        self, start: Array, steps: int, progress: Callable[[int], None]
    ) -> tuple[Run, Layers, list[CurvePoint]]:
        """Descend once; return the result, the layers in raw coordinates, and the curve."""
        from scipy.optimize import OptimizeResult, minimize

        curve: list[CurvePoint] = []

        def mark(x: Array, loss: float) -> None:
            white = self.layers(x).whitened(self.within.sigma)
            p = [distance(m) for m in white.p[:-1]] if self.free == "both" else None
            q = [distance(m) for m in white.q]
            curve.append(CurvePoint(step=len(curve), loss=loss, q=q, p=p))

        def after(intermediate_result: OptimizeResult) -> None:
            progress(1)
            mark(np.array(intermediate_result.x), float(intermediate_result.fun))

        mark(start, self.slope(start)[0])
        options: Any = {"maxiter": steps, "maxfun": 20 * steps + 20, "maxcor": _LBFGS_PAIRS}
        options |= {"ftol": 1e-13, "gtol": 1e-11}
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # L-BFGS undoes a first step that is too long
            end = minimize(
                self.slope, start, jac=True, method="L-BFGS-B", callback=after, options=options
            )
        ended = _ENDINGS[end.status] if np.isfinite(end.fun) else "diverged"
        loss, steps = float(end.fun), len(curve) - 1
        run = Run(loss=loss, steps=steps, evaluations=int(end.nfev), ended=ended)
        return run, self.layers(end.x).whitened(self.back), curve


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The loss of one curve at one depth, and its method; error is None if it is exact.

    interval: with 99 % confidence. rare: the loss with rare prompts. distance: the largest distance
    of a matrix Q_l to multiples of I.
    """

    name: Name
    layers: Count
    loss: float
    error: float | None = None
    interval: tuple[float, float] | None = None
    method: str
    rare: Rare | None = None
    distance: float | None = None


class Curves(OfLaw, frozen=True, kw_only=True, tag="icl curves"):
    """Points of all curves; scalar curves are missing if their exact losses are unknown."""

    points: list[Point]

    def _listed(self) -> Iterable[Any]:
        return self.points


def curves(
    law: Prompts,
    depth: int = 4,
    *,
    seed: int = 0,
    samples: int = 0,
    steps: int = 600,
    fresh: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> Curves:
    """Compute the curves for 1 .. `depth` layers; training is L-BFGS from small random starts.

    samples: as in `train`, 0 for its defaults. progress counts 2 * depth * steps in all. Raises
    UsageError for a depth outside 1 .. 8, and as `train` does.
    """
    if not 1 <= depth <= MOST_LAYERS:
        raise UsageError(f"layers must be between 1 and {MOST_LAYERS}, got {depth}")
    points = []
    chosen: Any = {"seed": seed, "samples": samples, "steps": steps, "fresh": fresh}
    for layers in range(1, depth + 1):
        for name, kind in _SCALAR_CURVES.items():
            known = scalar_reference(law, layers, kind)
            if known is not None:
                points.append(Point(name=name, layers=layers, loss=known.loss, method=known.method))
        for name, free in _TRAINED_CURVES.items():
            found = train(law, layers, free=free, progress=progress, **chosen)
            ended, loss = min(found.runs, key=lambda run: run.loss).ended, found.loss
            method = f"L-BFGS, {found.samples} samples ({ended}); {loss.samples} fresh"
            judged = {"loss": loss.value, "error": loss.error, "interval": loss.interval}
            more: Any = {"rare": found.rare, "distance": max(found.distance_q)} | judged
            points.append(Point(name=name, layers=layers, method=method, **more))
    return Curves(**of_law(law), seed=seed, points=points)
