"""What other papers say of one layer in context: shifts, ridge regression, and the drop of a loss.

Each is judged on x ~ N(0, I), w ~ N(0, I), where numbers follow from second moments of S = (1/n)
sum_i x_i x_i^T: E S^2 = (1 + (d + 1)/n) I.
"""

import math

import numpy as np
from statement import Measured, Predicted, equal, main, mean

from hardness.icl.gram import Layers, loss_and_gradient
from hardness.icl.prompts import Prompts
from hardness.icl.steps import best_steps
from hardness.icl.wishart import spectra

_SPECTRA, _PROMPTS = 200_000, 8000
_CERTAIN = 4  # standard errors of what is predicted by sampled spectra
_SETS, _STEP = 8, 0.005  # sets of prompts to train on; the step of descent


def _steps(values: tuple[float, ...], d: int) -> Layers:
    """Layers of gradient descent on w, from its steps."""
    q = np.array(values)[:, None, None] * np.eye(d)
    return Layers(p=np.zeros_like(q), q=q)


def predict_shifted_prompts(shift: str, n: int, d: int, c: float) -> Predicted:
    a = n / (n + d + 1)
    return equal(1 + a * c * (c - 2) if shift == "covariates" else 1 - a)


def measure_shifted_prompts(shift: str, n: int, d: int, c: float, seed: int) -> Measured:
    scale = {name: c if name == shift else 1.0 for name in ("covariates", "task", "query")}
    law = Prompts(n=n, sigma=scale["covariates"] * np.eye(d), task=scale["task"] * np.eye(d))
    drawn = law.draw(seed, "shift", 0, _PROMPTS)
    x, root = drawn.x.copy(), math.sqrt(scale["query"])
    x[:, -1] *= root
    predicted = _steps((n / (n + d + 1),), d).predict(x, drawn.y)
    errors = (predicted - root * drawn.target) ** 2 / (law.power * scale["query"])
    return mean(errors, "prompts", among=12)


def predict_layers_to_ridge(n: int, d: int, layers: int, noise: float) -> Predicted:
    values, h = spectra(n, d, _SPECTRA, 0), noise**2 / n
    ridge = d * (h / (values + h)).mean(axis=1)
    error = _CERTAIN * float(ridge.std()) / math.sqrt(_SPECTRA)
    apart = float(best_steps(n, d, layers, noise).loss) - float(ridge.mean())
    return Predicted(low=(apart - error) / d, high=(apart + error) / d)


def measure_layers_to_ridge(n: int, d: int, layers: int, noise: float, seed: int) -> Measured:
    law = Prompts(n=n, sigma=np.eye(d), task=np.eye(d), noise=noise)
    drawn = law.draw(seed, "ridge", 0, _PROMPTS)
    points = drawn.x[:, :-1]
    gram = points.swapaxes(1, 2) @ points + noise**2 * np.eye(d)
    w = np.linalg.solve(gram, points.swapaxes(1, 2) @ drawn.y[:, :, None])[:, :, 0]
    predicted = _steps(best_steps(n, d, layers, noise).steps, d).predict(drawn.x, drawn.y)
    return mean((predicted - (w * drawn.x[:, -1]).sum(axis=1)) ** 2 / d, "prompts", among=12)


def predict_abrupt_drop(n: int, d: int, start: float) -> Predicted:
    time = math.log(n / (n + d + 1) / start - 1) / (4 * math.sqrt(d))
    return Predicted(low=time, high=time * (1 + _STEP * math.sqrt(d)))


def measure_abrupt_drop(n: int, d: int, start: float, seed: int) -> Measured:
    law = Prompts(n=n, sigma=np.eye(d), task=np.eye(d))
    return mean([_half(law, start, seed, i) for i in range(_SETS)], "sets of prompts", among=8)


def _half(law: Prompts, start: float, seed: int, number: int) -> float:
    """When descent from v U = start I has come half of its way, by steps on sampled prompts."""
    d, v = law.d, math.sqrt(start) * law.d**0.25
    u, at, steps = v / math.sqrt(d) * np.eye(d), start, 0
    grams = law.draw(seed, f"drop {number}", 0, _PROMPTS // 8).gram
    while (now := v * np.trace(u) / d) < law.n / (law.n + d + 1) / 2:
        slope = loss_and_gradient(None, (v * u)[None], grams, law)[2][0]
        v, u = v - _STEP * float((slope * u).sum()), u - _STEP * v * slope
        at, steps = now, steps + 1
    return _STEP * (steps - (now - law.n / (law.n + d + 1) / 2) / (now - at))


if __name__ == "__main__":
    main("sources")
