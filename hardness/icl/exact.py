"""Loss against the number of layers for the models that are solved exactly, as plain numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hardness.icl import plusplus
from hardness.icl.plusplus import Scalars, best_scalars
from hardness.icl.spectra import Array, loss_on, spectra
from hardness.icl.steps import (
    Steps,
    best_steps,
    chebyshev_steps,
    common_step,
    limit_loss,
    with_steps,
)
from instances.errors import UsageError

MOST_LAYERS = 20
_NUMBERS = 1 << 27  # products of a sampled spectrum, all in all
_BINS = 80


def exact_curves(
    n: int,
    d: int,
    most: int,
    noise: float = 0.0,
    seed: int = 0,
    samples: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Solve 1 .. most layers over n points in dimension d: one step, best steps, GD++, references.

    Losses are exact at the scalars given, and stand beside means over at most so many sampled
    spectra as a second way; the floor, which no predictor beats, is sampled too if there is noise.
    GD++ is solved for 4 layers at most; Chebyshev steps on the edges of the Marchenko-Pastur law
    need d < n. progress is told of every number of layers. Raises UsageError for most outside of
    1 .. 20.

    >>> curves = exact_curves(20, 5, 2)
    >>> [round(entry["loss"], 5) for entry in curves["best"]], curves["best"][0]["exact"]
    ([1.15385, 0.36124], '15/13')
    """
    if not 1 <= most <= MOST_LAYERS:
        raise UsageError(f"{most} layers given: between 1 and {MOST_LAYERS} can be solved for")
    if samples < 2:
        raise UsageError(f"samples={samples} given: at least 2 are needed")
    depths = range(1, most + 1)
    ratio = d / n
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    best, common, scalars = [], [], []
    for layers in depths:
        best.append(best_steps(n, d, layers, noise))
        common.append(common_step(n, d, layers, noise))
        if layers <= plusplus.MOST_LAYERS:
            scalars.append(best_scalars(n, d, layers, noise))
        progress(1)
    bulk = [chebyshev_steps(layers, low, high) for layers in depths] if low > 0 and d < n else []
    count = int(np.clip(_NUMBERS // (n * d * min(n, d) // 4 + 1), 2, samples))
    values = spectra(n, d, count, seed)
    return {
        "format": 1,
        "kind": "icl steps",
        "n": n,
        "d": d,
        "noise": noise,
        "seed": seed,
        "samples": count,
        "layers": list(depths),
        "none": float(d),
        "floor": _floor(values, n, d, noise),
        "common": [_steps(found, values) for found in common],
        "best": [
            {
                **_steps(found, values),
                "exact": str(found.least),
                "least": float(found.least),
                "real": found.real,
                "polynomial": [float(c) for c in found.polynomial],
            }
            for found in best
        ],
        "plusplus": [_scalars(found, values) for found in scalars],
        "chebyshev": [_steps(with_steps(n, d, steps, noise), values) for steps in bulk],
        "limit": [] if noise else [d * limit_loss(ratio, layers) for layers in depths],
        "density": _density(values),
    }


def _floor(values: Array, n: int, d: int, noise: float) -> float:
    """The loss of the best predictor, ridge regression: d int h / (t + h) dmu, h = s^2 / n."""
    h = noise**2 / n
    return float(d * (h / (values + h)).mean()) if noise else float(max(d - n, 0))


def _steps(found: Steps, values: Array) -> dict[str, Any]:
    sampled = loss_on(values, np.zeros(len(found.steps)), found.steps, found.n, found.noise)
    return {
        "steps": list(found.steps),
        "loss": float(found.loss),
        "sampled": sampled.mean,
        "error": sampled.error,
    }


def _scalars(found: Scalars, values: Array) -> dict[str, Any]:
    sampled = loss_on(values, found.p, found.q, found.n, found.noise)
    return {
        "p": list(found.p),
        "q": list(found.q),
        "loss": float(found.loss),
        "sampled": sampled.mean,
        "error": sampled.error,
        "how": found.how,
    }


def _density(values: Array) -> dict[str, Any]:
    """A histogram of all eigenvalues but the 0 of n < d; heights are densities."""
    positive = values[values > 1e-12]
    heights, edges = np.histogram(positive, bins=_BINS, range=(0, float(positive.max())))
    share = heights / (values.size * (edges[1] - edges[0]))
    return {"edges": edges.tolist(), "heights": share.tolist(), "largest": float(positive.max())}
