"""What other papers say of one layer in context: shifts, ridge regression, and the drop of a loss.

Each is judged on x ~ N(0, I), w ~ N(0, I), where numbers follow from second moments of S = (1/n)
sum_i x_i x_i^T: E S^2 = (1 + (d + 1)/n) I.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardness.icl.gram import Layers, loss_and_gradient
from hardness.icl.steps import best_steps
from hardness.icl.wishart import spectra
from hardness.theory.statement import Measured, Predicted, Statement, mean
from instances.prompts import Prompts

Array = NDArray[np.float64]
_SPECTRA, _PROMPTS = 200_000, 8000
_CERTAIN = 4  # standard errors of what is predicted by sampled spectra
_SETS, _STEP = 8, 0.005  # sets of prompts to train on; the step of descent


def _steps(values: tuple[float, ...], d: int) -> Layers:
    """Layers of gradient descent on w, from its steps."""
    q = np.array(values)[:, None, None] * np.eye(d)
    return Layers(p=np.zeros_like(q), q=q)


def _predict_shift(shift: str, n: int, d: int, c: float) -> Predicted:
    a = n / (n + d + 1)
    error = 1 + a * c * (c - 2) if shift == "covariates" else 1 - a
    return Predicted(low=error, high=error)


def _shift(shift: str, n: int, d: int, c: float, seed: int) -> Measured:
    scale = {name: c if name == shift else 1.0 for name in ("covariates", "task", "query")}
    law = Prompts(n=n, sigma=scale["covariates"] * np.eye(d), task=scale["task"] * np.eye(d))
    drawn = law.draw(seed, "shift", 0, _PROMPTS)
    x, root = drawn.x.copy(), math.sqrt(scale["query"])
    x[:, -1] *= root
    found = _steps((n / (n + d + 1),), d).predict(x, drawn.y)
    errors = (found - root * drawn.target) ** 2 / (law.power * scale["query"])
    return mean(errors, "prompts", among=12)


def _predict_ridge(n: int, d: int, layers: int, noise: float) -> Predicted:
    values, h = spectra(n, d, _SPECTRA, 0), noise**2 / n
    ridge = d * (h / (values + h)).mean(axis=1)
    error = _CERTAIN * float(ridge.std()) / math.sqrt(_SPECTRA)
    apart = float(best_steps(n, d, layers, noise).loss) - float(ridge.mean())
    return Predicted(low=(apart - error) / d, high=(apart + error) / d)


def _ridge(n: int, d: int, layers: int, noise: float, seed: int) -> Measured:
    law = Prompts(n=n, sigma=np.eye(d), task=np.eye(d), noise=noise)
    drawn = law.draw(seed, "ridge", 0, _PROMPTS)
    points = drawn.x[:, :-1]
    gram = points.swapaxes(1, 2) @ points + noise**2 * np.eye(d)
    w = np.linalg.solve(gram, points.swapaxes(1, 2) @ drawn.y[:, :, None])[:, :, 0]
    found = _steps(best_steps(n, d, layers, noise).steps, d).predict(drawn.x, drawn.y)
    return mean((found - (w * drawn.x[:, -1]).sum(axis=1)) ** 2 / d, "prompts", among=12)


def _predict_drop(n: int, d: int, start: float) -> Predicted:
    time = math.log(n / (n + d + 1) / start - 1) / (4 * math.sqrt(d))
    return Predicted(low=time, high=time * (1 + _STEP * math.sqrt(d)))


def _drop(n: int, d: int, start: float, seed: int) -> Measured:
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


_stated = partial(Statement, subject="in context", owner="paper")
STATEMENTS = (
    _stated(
        name="shifted-prompts",
        source="ZFB24",
        says="One layer of linear attention, trained by gradient flow on prompts of linear "
        "regression, tolerates a number of shifts, but not shifts of the covariates.",
        predicts="The layer is a step of a = n/(n + d + 1). It leaves the share 1 - a of tasks or "
        "queries of c times the variance, 1 + a c (c - 2) of covariates of c times the variance.",
        meaning="A share that falls with n is learning. For covariates the share predicted tends "
        "to (c - 1)^2, which more examples do not lower. Shifts here are of scale, of a layer set "
        "to the minimum; the abstract does not name those that are tolerated.",
        settings=[
            {"shift": shift, "n": n, "d": 5, "c": 1.5}
            for shift in ("task", "query", "covariates")
            for n in (10, 30, 90, 270)
        ],
        predict=_predict_shift,
        measure=_shift,
        along="n",
        by="shift",
        x="examples in the prompt",
        y="share of the variance left",
        log="xy",
    ),
    _stated(
        name="layers-to-ridge",
        source="AASMZ23",
        says="Learners in context match gradient descent, ridge regression and least squares, and "
        "pass from one to another as depth and noise vary.",
        predicts="Ridge regression is the mean of the target given the prompt, so L layers of the "
        "best steps lie off it by their exact loss less that of ridge, in the mean square.",
        meaning="Where it falls with depth the layers come to ridge regression, with the penalty "
        "of the noise. Layers here are linear attention with the best steps; the paper trains "
        "transformers.",
        settings=[
            {"n": 20, "d": 5, "layers": layers, "noise": noise}
            for noise in (0.25, 0.5, 1.0)
            for layers in (1, 2, 3, 4)
        ],
        predict=_predict_ridge,
        measure=_ridge,
        along="layers",
        by="noise",
        x="layers",
        y="mean squared distance to ridge, by d",
        log="y",
    ),
    _stated(
        name="abrupt-drop",
        source="ZSLS25",
        says="With key and query merged into one matrix, training of linear attention has two "
        "fixed points and its loss one abrupt drop; its time course is known for some data and "
        "starts.",
        predicts="From v U = s I with |U| = v the product a obeys a' = 4 sqrt(d) a (1 - a/a*), "
        "a* = n/(n + d + 1): half of the way after ln(a*/s - 1)/(4 sqrt(d)), and at most "
        f"1 + {_STEP} sqrt(d) times that with steps of {_STEP}.",
        meaning="A smaller start waits longer, by the logarithm, and then falls as fast: the "
        "formula is that of all prompts, the descent sees a thousand of them.",
        settings=[
            {"n": n, "d": 6, "start": start} for n in (12, 60) for start in (1e-2, 1e-4, 1e-6, 1e-8)
        ],
        predict=_predict_drop,
        measure=_drop,
        along="start",
        by="n",
        x="the product v U at the start",
        y="time to half of the way",
        log="x",
    ),
)
