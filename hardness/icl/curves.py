"""The loss against the number of layers: gradient descent, GD++, and what training finds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hardness.icl.evaluate import Reference
from hardness.icl.scalars import Kind, scalar_reference
from hardness.icl.train import Free, Trained, train
from instances.errors import UsageError
from instances.prompts import Prompts

Name = Literal["one step size", "optimal steps", "GD++ scalars", "trained, P = 0", "trained P, Q"]
MOST_LAYERS = 8
_SCALAR: dict[Name, Kind] = {
    "one step size": "common",
    "optimal steps": "q",
    "GD++ scalars": "both",
}
_TRAINED: dict[Name, Free] = {"trained, P = 0": "q", "trained P, Q": "both"}


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """The loss of one curve at one depth, and how it is known; error is None where it is exact."""

    name: Name
    layers: int
    loss: float
    error: float | None
    interval: tuple[float, float] | None  # 99 %
    method: str
    rare: dict[str, Any] | None  # the loss with rare prompts, by importance sampling
    distance: float | None  # of the matrix Q_l that is furthest from a multiple of I

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON."""
        return {**vars(self), "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """Points of all curves; the scalar ones are missing where nothing exact is known."""

    law: Prompts
    seed: int
    points: list[CurvePoint]

    def to_dict(self) -> dict[str, Any]:
        """Write the numbers as JSON."""
        return {
            "format": 1,
            "kind": "icl curves",
            "d": self.law.d,
            "n": self.law.n,
            "noise": self.law.noise,
            "sigma": self.law.sigma.tolist(),
            "task": self.law.task.tolist(),
            "power": self.law.power,
            "seed": self.seed,
            "points": [point.to_dict() for point in self.points],
        }


def curves(
    law: Prompts,
    most: int = 4,
    *,
    seed: int = 0,
    samples: int = 0,
    steps: int = 600,
    restarts: int = 1,
    seconds: float = math.inf,
    fresh: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> Curves:
    """Compute the curves for 1 .. most layers; training is L-BFGS from small random starts.

    samples: as for `train`, 0 for its defaults. progress is told of 2 * most * restarts * steps in
    all. Raises UsageError for most outside of 1 .. 8, and
    for what `train` refuses.

    >>> law = Prompts.named(2, 4, "identity", "inverse", 0.0)
    >>> found = curves(law, 1, samples=50, steps=20, fresh=50)
    >>> [(p.name, p.error is None) for p in found.points][1:4:2]
    [('optimal steps', True), ('trained, P = 0', False)]
    """
    if not 1 <= most <= MOST_LAYERS:
        raise UsageError(f"{most} layers given: curves have between 1 and {MOST_LAYERS}")
    points = []
    for layers in range(1, most + 1):
        for name, kind in _SCALAR.items():
            known = scalar_reference(law, layers, kind)
            if known is not None:
                points.append(_known(name, layers, known))
        for found, free in _TRAINED.items():
            trained = train(
                law,
                layers,
                free=free,
                seed=seed,
                samples=samples,
                steps=steps,
                restarts=restarts,
                seconds=seconds,
                fresh=fresh,
                progress=progress,
            )
            points.append(_found(found, trained))
    return Curves(law=law, seed=seed, points=points)


def _known(name: Name, layers: int, known: Reference) -> CurvePoint:
    return CurvePoint(
        name=name,
        layers=layers,
        loss=known.loss,
        error=None,
        interval=None,
        method=known.method,
        rare=None,
        distance=None,
    )


def _found(name: Name, trained: Trained) -> CurvePoint:
    data, loss = trained.to_dict(), trained.loss
    return CurvePoint(
        name=name,
        layers=len(trained.layers),
        loss=loss.value,
        error=loss.error,
        interval=loss.interval,
        method=f"L-BFGS, {trained.samples} samples ({trained.best.ended.value}); "
        f"{loss.samples} fresh",
        rare=trained.rare.to_dict(),
        distance=max(data["distance_q"]),
    )
