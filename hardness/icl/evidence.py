"""Evidence for the closed forms of one layer: a numerical minimum, and Monte Carlo three ways.

The loss given S = (1/n) sum_i x_i x_i^T is known exactly: w, the query and label noise are
integrated out, and only S is sampled. Raw prompts give the same mean with a heavy tail.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.onelayer import gradient, loss, square
from instances.covariance import root
from instances.errors import UsageError
from instances.limits import require_draws, require_memory
from instances.prompts import DrawnPrompts, Prompts
from instances.streams import generator

Array = NDArray[np.float64]
_BATCH = 1 << 21  # numbers drawn at once


@dataclass(frozen=True, kw_only=True)
class Minimum:
    """What L-BFGS ended with, from a random start: the least loss found, and its gradient."""

    loss: float
    gradient: float  # largest entry, in whitened coordinates
    steps: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A mean over independent samples, its standard error, and their kurtosis (normal: 3)."""

    mean: float
    error: float
    kurtosis: float
    samples: int
    seed: int

    def z(self, value: float) -> float | None:
        """Return (mean - value) / error; None where the samples do not differ but for rounding."""
        exact = self.error <= 1e-12 * abs(self.mean)
        return None if exact else (self.mean - value) / self.error

    def to_dict(self) -> dict[str, Any]:
        """Give all numbers away."""
        return asdict(self)


def numerical(law: Prompts, seed: int) -> Minimum:
    """Minimise the closed-form loss over A (d, d) from a random start, knowing the gradient alone.

    In the coordinates sigma^1/2 A sigma^1/2 the condition number is below n + 2, for any law.

    >>> found = numerical(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)), 0)
    >>> abs(found.loss - 15 / 13) < 1e-10
    True
    """
    from scipy.optimize import minimize

    require_memory(8 * 40 * law.d**2, f"a numerical minimum at d={law.d}")
    narrow, scale = root(law.sigma, -0.5), law.power

    def value(flat: Array) -> tuple[float, Array]:
        a = narrow @ flat.reshape(law.d, law.d) @ narrow
        return loss(law, a) / scale, (narrow @ gradient(law, a) @ narrow).ravel() / scale

    start = generator(seed, "icl", "one layer", "start").standard_normal(law.d**2)
    options: Any = {"ftol": 0.0, "gtol": 1e-11, "maxiter": 2000, "maxfun": 4000}
    found = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    return Minimum(
        loss=scale * float(found.fun),
        gradient=scale * float(np.abs(found.jac).max()),
        steps=int(found.nit),
        seed=seed,
    )


def given_gram(law: Prompts, a: Array, gram: Array) -> Array:
    """Return the loss given S, (count,) for S (count, d, d): w, query and noise integrated out.

    tr(task (S A - I) sigma (S A - I)^T) + noise^2/n tr(A^T S A sigma).

    >>> law = Prompts(n=20, sigma=np.eye(2), task=np.eye(2))
    >>> given_gram(law, np.eye(2), np.eye(2)[None]).tolist()
    [0.0]
    """
    wide, tall = root(law.sigma, 0.5), root(law.task, 0.5)
    right = square(law, a) @ wide
    step = gram @ right
    found = ((tall @ (step - wide)) ** 2).sum(axis=(1, 2))
    return np.asarray(found + law.noise**2 / law.n * (right * step).sum(axis=(1, 2)))


def integrated(law: Prompts, a: Array, samples: int, seed: int) -> Sampled:
    """Estimate L(A) from sampled S.

    >>> law = Prompts(n=20, sigma=np.eye(2), task=np.eye(2))
    >>> integrated(law, np.zeros((2, 2)), 100, 0).mean
    2.0
    """
    return _mean(law, lambda part: given_gram(law, a, part.gram), samples, seed)


def raw(law: Prompts, a: Array, samples: int, seed: int) -> Sampled:
    """Estimate L(A) from raw prompts: squared errors, whose tail is heavy.

    >>> law = Prompts(n=20, sigma=np.eye(2), task=np.eye(2))
    >>> raw(law, np.zeros((2, 2)), 1000, 0).kurtosis > 10
    True
    """
    a = square(law, a)

    def errors(part: DrawnPrompts) -> Array:
        step = (part.x[:, :-1] * part.y[:, :, None]).sum(axis=1) / law.n
        return np.asarray((((step @ a) * part.x[:, -1]).sum(axis=1) - part.target) ** 2)

    return _mean(law, errors, samples, seed)


def bayes(law: Prompts, samples: int, seed: int) -> Sampled:
    """Estimate the loss of the posterior mean given the prompt, ridge regression: E tr(sigma P).

    P = (task^-1 + n S / noise^2)^-1 is the posterior covariance; without noise it projects on
    what n points do not span, and the loss is 0 from n = d on.

    >>> bayes(Prompts(n=3, sigma=np.eye(5), task=np.eye(5)), 10, 0).mean.__round__(9)
    2.0
    """
    tall = root(law.task, 0.5)

    def traces(part: DrawnPrompts) -> Array:
        values, basis = np.linalg.eigh(tall @ part.gram @ tall)
        turned = np.swapaxes(basis, 1, 2) @ (tall @ law.sigma @ tall)
        cost = (turned * np.swapaxes(basis, 1, 2)).sum(axis=2)
        if law.noise:
            left = law.noise**2 / (law.noise**2 + law.n * np.maximum(values, 0))
        else:
            left = (np.arange(law.d) < law.d - law.n).astype(np.float64)
        return np.asarray((cost * left).sum(axis=1))

    return _mean(law, traces, samples, seed)


def _mean(law: Prompts, measure: Any, samples: int, seed: int) -> Sampled:
    if samples < 2:
        raise UsageError(f"samples={samples} given: at least 2 are needed for a standard error")
    require_draws(samples, law.n, law.d)
    batch = max(1, _BATCH // ((law.n + 1) * law.d + law.d**2))
    require_memory(
        8 * (6 * batch * ((law.n + 1) * law.d + law.d**2) + samples), f"{samples} prompts"
    )
    values = np.concatenate(
        [
            measure(law.draw(seed, "one layer", start, min(batch, samples - start)))
            for start in range(0, samples, batch)
        ]
    )
    centred = values - values.mean()
    variance = float((centred**2).mean())
    return Sampled(
        mean=float(values.mean()),
        error=float(values.std(ddof=1) / np.sqrt(samples)),
        kurtosis=float((centred**4).mean()) / variance**2 if variance > 0 else 0.0,
        samples=samples,
        seed=seed,
    )
