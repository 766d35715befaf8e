"""Loss against the number of layers for the models that are solved exactly, as a study."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np

from hardness.icl import steps
from hardness.icl.study import Count, Study
from hardness.icl.wishart import Array, loss_on, spectra
from instances.errors import UsageError

MOST_LAYERS = 20
_NUMBERS = 1 << 27  # products of a sampled spectrum, all in all
_BINS = 80


class Solved(msgspec.Struct, frozen=True, kw_only=True):
    """A loss, exact up to float64, and its mean over sampled spectra with the standard error."""

    loss: float
    sampled: float
    error: float


class Descent(Solved, frozen=True, kw_only=True):
    """Steps of gradient descent, and their loss."""

    steps: list[float]


class Best(Descent, frozen=True, kw_only=True):
    """The best steps; exact and least: the loss of the best polynomial, its coefficients."""

    exact: str
    least: float
    real: bool
    polynomial: list[float]


class PlusPlus(Solved, frozen=True, kw_only=True):
    """The best scalars of GD++ that were found, and how."""

    p: list[float]
    q: list[float]
    how: str


class Density(msgspec.Struct, frozen=True, kw_only=True):
    """A histogram of all eigenvalues but the 0 of n < d; heights are densities."""

    edges: list[float]
    heights: list[float]
    largest: float


class Exact(Study, frozen=True, kw_only=True, tag="icl steps"):
    """The losses of 1, 2, .. layers by model; none: of predicting 0; floor: of the best predictor.

    chebyshev: of the steps that are best on the bulk of the spectrum; limit: of the best steps
    where n and d grow alike. Both are empty where they are not known.
    """

    noise: float
    samples: Count
    layers: list[Count]
    none: float
    floor: float
    common: list[Descent]
    best: list[Best]
    plusplus: list[PlusPlus]
    chebyshev: list[Descent]
    limit: list[float]
    density: Density

    def _listed(self) -> Iterable[dict[str, Any]]:
        for way in ("common", "best", "plusplus", "chebyshev"):
            for layers, one in zip(self.layers, getattr(self, way), strict=False):
                yield {"way": way, "layers": layers, **msgspec.structs.asdict(one)}


def exact_curves(
    n: int,
    d: int,
    most: int,
    noise: float = 0.0,
    seed: int = 0,
    samples: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> Exact:
    """Solve 1 .. most layers over n points in dimension d: one step, best steps, GD++, references.

    Losses are exact at the scalars given, and stand beside means over at most so many sampled
    spectra as a second way; the floor, which no predictor beats, is sampled too if there is noise.
    GD++ is solved for 4 layers at most; Chebyshev steps on the edges of the Marchenko-Pastur law
    need d < n. progress is told of every number of layers. Raises UsageError for most outside of
    1 .. 20.

    >>> curves = exact_curves(20, 5, 2, samples=100)
    >>> [round(one.loss, 5) for one in curves.best], curves.best[0].exact
    ([1.15385, 0.36124], '15/13')
    """
    if not 1 <= most <= MOST_LAYERS:
        raise UsageError(f"layers must be between 1 and {MOST_LAYERS}, got {most}")
    if samples < 2:
        raise UsageError(f"samples must be at least 2, got {samples}")
    depths, ratio = range(1, most + 1), d / n
    best, common, scalars = [], [], []
    for layers in depths:
        best.append(steps.best_steps(n, d, layers, noise))
        common.append(steps.common_step(n, d, layers, noise))
        if layers <= steps.MOST_SCALARS:
            scalars.append(steps.best_scalars(n, d, layers, noise))
        progress(1)
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    bulk = (
        [steps.chebyshev_steps(layers, low, high) for layers in depths] if low > 0 and d < n else []
    )
    count = int(np.clip(_NUMBERS // (n * d * min(n, d) // 4 + 1), 2, samples))
    values, h = spectra(n, d, count, seed), noise**2 / n

    def losses(loss: Any, p: Any, q: Any) -> dict[str, float]:
        mean, error = loss_on(values, p, q, n, noise)
        return {"loss": float(loss), "sampled": mean, "error": error}

    def of_steps(solved: Any) -> dict[str, Any]:
        taken = list(solved.steps)
        return {"steps": taken, **losses(solved.loss, np.zeros(len(taken)), taken)}

    return Exact(
        n=n,
        d=d,
        noise=noise,
        seed=seed,
        samples=count,
        layers=list(depths),
        none=float(d),
        # Of ridge regression: d int h / (t + h) dmu.
        floor=float(d * (h / (values + h)).mean()) if noise else float(max(d - n, 0)),
        common=[Descent(**of_steps(found)) for found in common],
        best=[
            Best(
                **of_steps(found),
                exact=str(found.least),
                least=float(found.least),
                real=found.real,
                polynomial=[float(c) for c in found.polynomial],
            )
            for found in best
        ],
        plusplus=[
            PlusPlus(p=list(one.p), q=list(one.q), how=one.how, **losses(one.loss, one.p, one.q))
            for one in scalars
        ],
        chebyshev=[Descent(**of_steps(steps.with_steps(n, d, a, noise))) for a in bulk],
        limit=[] if noise else [d * steps.limit_loss(ratio, layers) for layers in depths],
        density=_density(values),
    )


def _density(values: Array) -> Density:
    positive = values[values > 1e-12]
    largest = float(positive.max())
    heights, edges = np.histogram(positive, bins=_BINS, range=(0, largest))
    share = heights / (values.size * (edges[1] - edges[0]))
    return Density(edges=edges.tolist(), heights=share.tolist(), largest=largest)
