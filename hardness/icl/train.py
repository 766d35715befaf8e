"""Training of L layers with full matrices, from a small random start."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.icl.descent import Ending, adam, lbfgs
from hardness.icl.evaluate import Estimate, Rare, Reference, evaluate, rare, sample
from hardness.icl.gram import Layers, loss_and_gradient
from hardness.icl.scalars import scalar_reference
from hardness.oracles import clock
from instances.covariance import root
from instances.errors import UsageError
from instances.limits import require_draws
from instances.prompts import Prompts
from instances.streams import generator

Array = NDArray[np.float64]
Free = Literal["q", "both"]
Method = Literal["lbfgs", "adam"]
_START = 0.1  # norm of a column of a random start, whitened; the answers are of size 1
_FIXED = {"q": 10_000, "both": 3000}  # Gram matrices: a descent of P takes 20 times the steps
STEPS = {"lbfgs": 1000, "adam": 3000}  # at most, where they are left open
_MOST_PRODUCTS = 1 << 36  # a minute or two for each gradient
_KEPT = 200  # points of a training curve


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One descent: the layers, the loss on the fixed sample, why it ended, its curve.

    curve: dicts of step, loss and the distances of P and Q to the identity, layer by layer.
    """

    layers: Layers
    loss: float
    steps: int
    evaluations: int
    seconds: float
    ended: Ending
    curve: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """The best of several descents by its training loss, judged on fresh Gram matrices."""

    law: Prompts
    free: Free
    method: Method
    whiten: bool
    seed: int
    samples: int  # Gram matrices of the fixed sample, or of a batch
    runs: list[Run]
    loss: Estimate
    rare: Rare
    reference: Reference | None

    @property
    def best(self) -> Run:
        """The run of the least training loss."""
        return min(self.runs, key=lambda run: run.loss)

    @property
    def layers(self) -> Layers:
        """The trained layers, in the coordinates of the prompts."""
        return self.best.layers

    def to_dict(self) -> dict[str, Any]:
        """Write the numbers as JSON; matrices are whitened."""
        law, best = self.law, self.best
        white = best.layers.whitened(law.sigma)
        known = self.reference
        return {
            "format": 1,
            "kind": "icl train",
            "d": law.d,
            "n": law.n,
            "noise": law.noise,
            "sigma": law.sigma.tolist(),
            "task": law.task.tolist(),
            "power": law.power,
            "layers": len(best.layers),
            "free": self.free,
            "method": self.method,
            "whiten": self.whiten,
            "seed": self.seed,
            "samples": self.samples,
            "loss": self.loss.to_dict(),
            "rare": self.rare.to_dict(),
            "training_loss": best.loss,
            "reference": None if known is None else {"loss": known.loss, "method": known.method},
            "q": white.q.tolist(),
            "p": white.p.tolist() if self.free == "both" else None,
            "distance_q": [distance(q) for q in white.q],
            "distance_p": [distance(p) for p in white.p[:-1]] if self.free == "both" else None,
            "curve": best.curve,
            "runs": [
                {
                    "loss": run.loss,
                    "steps": run.steps,
                    "evaluations": run.evaluations,
                    "seconds": round(run.seconds, 3),
                    "ended": run.ended.value,
                }
                for run in self.runs
            ],
        }


def distance(matrix: Array) -> float:
    """Measure how far a matrix is from a multiple of I: |M - (tr M/d) I|_F / |M|_F, in 0 .. 1.

    >>> distance(2 * np.eye(3)), distance(np.diag([1.0, -1.0]))
    (0.0, 1.0)
    """
    size = float(np.linalg.norm(matrix))
    level = np.trace(matrix) / len(matrix)
    return float(np.linalg.norm(matrix - level * np.eye(len(matrix)))) / size if size else 0.0


def train(
    law: Prompts,
    layers: int,
    *,
    free: Free = "both",
    method: Method = "lbfgs",
    whiten: bool = True,
    seed: int = 0,
    samples: int = 0,
    steps: int = 0,
    rate: float = 0.02,
    restarts: int = 1,
    seconds: float = math.inf,
    fresh: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> Trained:
    """Train L layers of full matrices from small random starts, Q alone (P = 0) or both.

    method: L-BFGS on `samples` fixed Gram matrices (10000 for Q alone, 3000 for both), or Adam on
    `samples` fresh ones a step (256) at a rate; steps: at most so many (1000 and 3000). whiten:
    descend in the coordinates sigma^{-1/2} x; the starts and the prompts are the same either way.
    The loss comes from `fresh` Gram matrices of another stream. `seconds`, of each descent, is the
    one limit that depends on the machine. progress is told of restarts * steps in all. Raises
    UsageError for numbers out of range, and for prompts or layers that would take very long.
    """
    samples = samples or (256 if method == "adam" else _FIXED[free])
    steps = steps or STEPS[method]
    _check(layers, samples, steps, rate, restarts, seconds)
    _check_work(samples * layers * law.d**3, f"samples={samples}, layers={layers}, d={law.d}")
    require_draws(max(samples, fresh), law.n, law.d)
    descend = _Descent(law=law, free=free, whiten=whiten, seed=seed, samples=samples)
    runs = []
    for restart in range(restarts):
        start = descend.start(layers, restart)
        runs.append(descend.run(start, method, steps, rate, seconds, progress))
        progress(steps - runs[-1].steps)
    reference = scalar_reference(law, layers, free)
    best = min(runs, key=lambda run: run.loss)
    return Trained(
        law=law,
        free=free,
        method=method,
        whiten=whiten,
        seed=seed,
        samples=samples,
        runs=runs,
        loss=evaluate(best.layers, sample(law, seed, "fresh", fresh), law, reference),
        rare=rare(best.layers, law, seed, fresh),
        reference=reference,
    )


def _check(
    layers: int, samples: int, steps: int, rate: float, restarts: int, seconds: float
) -> None:
    for name, value, most in (
        ("layers", layers, 64),
        ("samples", samples, 10_000_000),
        ("steps", steps, 10_000_000),
        ("restarts", restarts, 1000),
    ):
        if not 1 <= value <= most:
            raise UsageError(f"{name}={value} given: between 1 and {most} is needed")
    if not 0 < rate <= 100:
        raise UsageError(f"rate={rate} given: it must be above 0, at most 100")
    if not seconds > 0:
        raise UsageError(f"seconds={seconds} given: it must be above 0")


def _check_work(products: int, what: str) -> None:
    if products > _MOST_PRODUCTS:
        raise UsageError(
            f"{what} given: {products:.1e} products in a step's samples x layers x d^3, "
            f"{_MOST_PRODUCTS:.1e} at most: lower one of them"
        )


class _Descent:
    """A parametrisation: flat vectors to layers, in the coordinates that are descended in."""

    def __init__(self, *, law: Prompts, free: Free, whiten: bool, seed: int, samples: int) -> None:
        self.law, self.free, self.seed, self.samples = law, free, seed, samples
        eye, wide = np.eye(law.d), root(law.sigma, 0.5)
        turned = wide @ law.task @ wide
        white = Prompts(n=law.n, sigma=eye, task=(turned + turned.T) / 2, noise=law.noise)
        self.within = white if whiten else law
        self.narrow = root(law.sigma, -0.5) if whiten else eye  # raw coordinates to those within
        self.back = root(law.sigma, -1.0) if whiten else eye  # for Layers.whitened

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
        found = x.reshape(2 if self.free == "both" else 1, -1, self.law.d, self.law.d)
        return (found[1] if self.free == "both" else None), found[0]

    def layers(self, x: Array) -> Layers:
        """Give the layers in raw coordinates."""
        p, q = self.unflat(x)
        return Layers(p=np.zeros_like(q) if p is None else p, q=q).whitened(self.back)

    def grams(self, axis: str, count: int, start: int = 0) -> Array:
        """Draw Gram matrices in the coordinates that are descended in."""
        return self.narrow @ sample(self.law, self.seed, axis, count, start) @ self.narrow

    def slope(self, x: Array, grams: Array) -> tuple[float, Array]:
        p, q = self.unflat(x)
        loss, dp, dq = loss_and_gradient(p, q, grams, self.within)
        return float(loss), self.flat(dp, dq)

    def run(
        self,
        start: Array,
        method: Method,
        steps: int,
        rate: float,
        seconds: float,
        progress: Callable[[int], None],
    ) -> Run:
        """Descend once."""
        began, evaluations = clock.now(), 0
        curve: list[dict[str, Any]] = []

        def watch(step: int, x: Array, loss: float) -> bool:
            progress(min(step, 1))
            curve.append({"step": step, "loss": loss, **self.distances(x)})
            return clock.now() - began > seconds

        def slope(x: Array, grams: Array) -> tuple[float, Array]:
            nonlocal evaluations
            evaluations += 1
            return self.slope(x, grams)

        def batch(step: int, x: Array) -> tuple[float, Array]:
            return slope(x, self.grams("batches", self.samples, (step - 1) * self.samples))

        fixed = self.grams("train", _FIXED[self.free] if method == "adam" else self.samples)
        watch(0, start, self.slope(start, fixed)[0])
        if method == "lbfgs":
            x, ended = lbfgs(lambda x: slope(x, fixed), start, steps, watch)
        else:
            x, ended = adam(batch, start, steps, rate, watch)
        return Run(
            layers=self.layers(x),
            loss=self.slope(x, fixed)[0],
            steps=curve[-1]["step"],
            evaluations=evaluations,
            seconds=clock.now() - began,
            ended=ended,
            curve=thinned(curve),
        )

    def distances(self, x: Array) -> dict[str, Any]:
        """Measure how far each whitened matrix is from a multiple of I."""
        p, q = self.unflat(x)
        within = Layers(p=np.zeros_like(q) if p is None else p, q=q)
        white = within.whitened(self.within.sigma)
        out: dict[str, Any] = {"q": [distance(m) for m in white.q]}
        return out if p is None else {**out, "p": [distance(m) for m in white.p[:-1]]}


def thinned(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep some 200 points, denser at the start; the first and the last stay."""
    if len(curve) <= _KEPT:
        return curve
    places = np.unique(np.round(np.geomspace(1, len(curve), _KEPT)).astype(int) - 1)
    return [curve[i] for i in places]
