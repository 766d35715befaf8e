"""Training of L layers with full matrices by L-BFGS [LN89]; the loss by their number."""

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
MOST_LAYERS = 8  # of curves
_START = 0.1  # norm of a column of a random start, whitened; the answers are of size 1
_FIXED = {"q": 10_000, "both": 3000}  # Gram matrices: a descent of P takes 20 times the steps
_MOST_PRODUCTS = 1 << 36  # a minute or two for each gradient
_MEMORY = 20  # pairs that L-BFGS keeps: more than usual, an evaluation costs far more than a pair
_SCALAR: dict[Name, Kind]
_SCALAR = {"one step size": "common", "optimal steps": "q", "GD++ scalars": "both"}
_TRAINED: dict[Name, Free] = {"trained, P = 0": "q", "trained P, Q": "both"}


class Mark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A point of a training curve: distances of the whitened matrices to multiples of I."""

    step: int
    loss: float
    q: list[float]
    p: list[float] | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One descent: the loss on the fixed sample, and why it ended."""

    loss: float
    steps: int
    evaluations: int
    ended: Ending


@dataclass(frozen=True, kw_only=True)
class Known:
    """An exact loss, and how it is known."""

    loss: float
    method: str


class Trained(OfLaw, frozen=True, kw_only=True, tag="icl train"):
    """The best of several descents by its training loss, judged on fresh Gram matrices.

    layers: their number. samples: Gram matrices that it was trained on. q, p: whitened, p None if
    it was 0, as are the distances to multiples of I; that of the last P, which moves nothing, is
    left out. curve: of the best run.
    """

    layers: Count
    free: Free
    whiten: bool
    samples: Count
    loss: Estimate
    rare: Rare
    training_loss: float
    reference: Known | None
    q: list[Matrix]
    p: list[Matrix] | None
    distance_q: list[float]
    distance_p: list[float] | None
    curve: list[Mark]
    runs: list[Run]


def distance(matrix: Array) -> float:
    """Measure how far a matrix is from a multiple of I: |M - (tr M/d) I|_F / |M|_F, in 0 .. 1.

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

    L-BFGS on `samples` fixed Gram matrices (0: 10000 for Q alone, 3000 for both), at most `steps`
    steps. whiten: descend in the coordinates sigma^{-1/2} x; the starts and the prompts
    are the same either way. The loss comes from `fresh` Gram matrices of another stream. progress
    is told of restarts * steps in all. Raises UsageError for numbers out of range, and for what
    would take very long.
    """
    samples = samples or _FIXED[free]
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
        reference=Known(loss=exact.loss, method=exact.method) if exact else None,
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
    """A parametrisation: flat vectors to layers, in the coordinates that are descended in."""

    def __init__(self, *, law: Prompts, free: Free, whiten: bool, seed: int, samples: int) -> None:
        self.law, self.free, self.seed = law, free, seed
        self.within = whitened(law) if whiten else law
        narrow = root(law.sigma, -0.5) if whiten else np.eye(law.d)  # raw coordinates to these
        self.grams = narrow @ sample(law, seed, "train", samples) @ narrow
        self.back = root(law.sigma, -1.0) if whiten else np.eye(law.d)  # for Layers.whitened

    def start(self, layers: int, restart: int) -> Array:
        """Draw a small start: the same function of the prompts, whitened or not."""
        rng, d = generator(self.seed, "start", restart), self.law.d
        p, q = rng.normal(0.0, _START / math.sqrt(d), (2, layers, d, d))
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
    ) -> tuple[Run, Layers, list[Mark]]:
        """Descend once: what came of it, the layers in raw coordinates, the curve."""
        from scipy.optimize import OptimizeResult, minimize

        curve: list[Mark] = []

        def mark(x: Array, loss: float) -> None:
            white = self.layers(x).whitened(self.within.sigma)
            p = [distance(m) for m in white.p[:-1]] if self.free == "both" else None
            q = [distance(m) for m in white.q]
            curve.append(Mark(step=len(curve), loss=loss, q=q, p=p))

        def after(intermediate_result: OptimizeResult) -> None:
            progress(1)
            mark(np.array(intermediate_result.x), float(intermediate_result.fun))

        mark(start, self.slope(start)[0])
        options: Any = {"maxiter": steps, "maxfun": 20 * steps + 20, "maxcor": _MEMORY}
        options |= {"ftol": 1e-13, "gtol": 1e-11}
        with np.errstate(over="ignore", invalid="ignore"):  # a first step too long is taken back
            end = minimize(
                self.slope, start, jac=True, method="L-BFGS-B", callback=after, options=options
            )
        ended = _ENDINGS[end.status] if np.isfinite(end.fun) else "diverged"
        loss, steps = float(end.fun), len(curve) - 1
        run = Run(loss=loss, steps=steps, evaluations=int(end.nfev), ended=ended)
        return run, self.layers(end.x).whitened(self.back), curve


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The loss of one curve at one depth, and how it is known; error is None where it is exact.

    interval: 99 %. rare: the loss with rare prompts. distance: of the matrix Q_l that is furthest
    from a multiple of I.
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
    """Points of all curves; the scalar ones are missing where nothing exact is known."""

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

    samples: as for `train`, 0 for its defaults. progress is told of 2 * depth * steps in all.
    Raises UsageError for a depth outside of 1 .. 8, and for what `train` refuses.
    """
    if not 1 <= depth <= MOST_LAYERS:
        raise UsageError(f"layers must be between 1 and {MOST_LAYERS}, got {depth}")
    points = []
    chosen: Any = {"seed": seed, "samples": samples, "steps": steps, "fresh": fresh}
    for layers in range(1, depth + 1):
        for name, kind in _SCALAR.items():
            known = scalar_reference(law, layers, kind)
            if known is not None:
                points.append(Point(name=name, layers=layers, loss=known.loss, method=known.method))
        for name, free in _TRAINED.items():
            found = train(law, layers, free=free, progress=progress, **chosen)
            ended, loss = min(found.runs, key=lambda run: run.loss).ended, found.loss
            method = f"L-BFGS, {found.samples} samples ({ended}); {loss.samples} fresh"
            judged = {"loss": loss.value, "error": loss.error, "interval": loss.interval}
            more: Any = {"rare": found.rare, "distance": max(found.distance_q)} | judged
            points.append(Point(name=name, layers=layers, method=method, **more))
    return Curves(**of_law(law), seed=seed, points=points)
