"""One layer of linear attention on in-context regression: its loss, its optimum, in closed form.

The prediction is (1/n) sum_i y_i x_i^T A x_query with A (d, d): one step of gradient descent from
w = 0, preconditioned by A. Its loss is E (prediction - <w, x_query>)^2 over sigma, task and noise
of a `Prompts`; sigma and task need not commute. [ACDS23] gives the optimum for task = I and
task = sigma^-1.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardness.icl.prompts import Prompts, root
from instances.errors import UsageError

Array = NDArray[np.float64]
_SIMPLE = 10**6  # the largest denominator that a float64 is read back as
_PLAIN = 1000  # that of a product of matrices, known to 1e-9 only


def whitened(law: Prompts) -> Prompts:
    """Return the law of sigma^(-1/2) x: sigma = I, task sigma^(1/2) C sigma^(1/2), equal losses."""
    half = root(law.sigma, 0.5)
    task = half @ law.task @ half
    return Prompts(n=law.n, sigma=np.eye(law.d), task=(task + task.T) / 2, noise=law.noise)


def spread(law: Prompts) -> float:
    """Return t = (tr(sigma task) + noise^2) / n, what n points leave of a label's variance."""
    return (law.power + law.noise**2) / law.n


def moment(law: Prompts) -> Array:
    """Return M = E g g^T, g = (1/n) sum_i y_i x_i, (d, d): (n+1)/n sigma task sigma + t sigma."""
    found = (law.n + 1) / law.n * law.sigma @ law.task @ law.sigma + spread(law) * law.sigma
    return np.asarray((found + found.T) / 2)


def loss(law: Prompts, a: Array) -> float:
    """Return L(A) = tr(A^T M A sigma) - 2 tr(sigma task sigma A) + tr(sigma task) for A (d, d).

    Summed as bias and variance, whose terms are all at least 0, so nothing cancels.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> loss(law, np.zeros((5, 5))), round(loss(law, optimum(law)) * 13, 12)
    (5.0, 15.0)
    """
    wide, tall = _roots(law)
    step = tall @ law.sigma @ square(law, a) @ wide
    bias = np.sum((step - tall @ wide) ** 2)
    return float(bias + np.sum(step**2) / law.n + spread(law) * np.sum((wide @ a @ wide) ** 2))


def gradient(law: Prompts, a: Array) -> Array:
    """Return the gradient of L at A, (d, d): 2 (M A - sigma task) sigma."""
    return np.asarray(2 * (moment(law) @ square(law, a) - law.sigma @ law.task) @ law.sigma)


def eigenvalues(law: Prompts) -> Array:
    """Return the eigenvalues kappa of sigma task, (d,), the largest first: L* depends on these."""
    tall = root(law.task, 0.5)
    return np.asarray(np.linalg.eigvalsh(tall @ law.sigma @ tall)[::-1])


def optimum(law: Prompts) -> Array:
    """Return A* = ((n+1)/n sigma + t task^-1)^-1, (d, d), symmetric: the one minimiser of L.

    >>> optimum(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)))[0].round(12).tolist()
    [0.769230769231, 0.0, 0.0, 0.0, 0.0]
    """
    tall = root(law.task, 0.5)
    values, basis = np.linalg.eigh(tall @ law.sigma @ tall)  # no inverse of sigma or of the task
    turned = tall @ basis
    found = (turned / ((law.n + 1) / law.n * values + spread(law))) @ turned.T
    return np.asarray((found + found.T) / 2)


def least_loss(law: Prompts) -> float:
    """Return L* = sum_j kappa_j (kappa_j / n + t) / ((n+1)/n kappa_j + t), the least loss.

    >>> round(least_loss(Prompts(n=20, sigma=np.eye(5), task=np.eye(5))) * 13, 12)
    15.0
    """
    kappa, t = eigenvalues(law), spread(law)
    return float(np.sum(kappa * (kappa / law.n + t) / ((law.n + 1) / law.n * kappa + t)))


def exact_eigenvalues(law: Prompts) -> list[Fraction] | None:
    """Return the kappa as fractions where sigma and task are diagonal or inverse, else None.

    An entry of a law is read as the simplest fraction of a denominator up to 10^6 that rounds to
    it, so 0.1 is 1/10, and None where it is not rational. sigma task = c I for other matrices is
    read as a fraction of a denominator up to 1000, to within 1e-9.

    >>> exact_eigenvalues(Prompts(n=20, sigma=np.diag([0.1, 2.0]), task=np.eye(2)))
    [Fraction(1, 10), Fraction(2, 1)]
    """
    sides = [law.sigma, law.task]
    if not any(np.count_nonzero(side - np.diag(np.diag(side))) for side in sides):
        read = [[simple(float(v)) for v in np.diag(side)] for side in sides]
        found = [a * b for a, b in zip(*read, strict=True) if a is not None and b is not None]
        if len(found) == law.d:
            return found
    if not law.isotropic:
        return None
    # A task was inverted in float64: the level is what both were meant to multiply to. Of all
    # numbers less than one in a thousand is this close to a fraction this simple.
    level = law.power / law.d
    near = Fraction(level).limit_denominator(_PLAIN)
    return [near] * law.d if abs(float(near) - level) <= 1e-9 * level else None


def exact_least(law: Prompts) -> Fraction | None:
    """Return L* as a fraction where `exact_eigenvalues` and the noise are fractions, else None.

    For task = sigma^-1 without noise it is d (d + 1) / (n + d + 1).

    >>> exact_least(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)))
    Fraction(15, 13)
    """
    if (found := _exact(law)) is None:
        return None
    kappa, total = found
    return sum((k * (k + total) / ((law.n + 1) * k + total) for k in kappa), Fraction())


def exact_multipliers(law: Prompts) -> list[Fraction] | None:
    """Return n kappa / ((n + 1) kappa + n t) as fractions: how much of a step each direction takes.

    Where all are one number c, A* = c sigma^-1; n / (n + d + 1) for task = sigma^-1, no noise.

    >>> exact_multipliers(Prompts(n=20, sigma=np.eye(2), task=np.eye(2)))
    [Fraction(20, 23), Fraction(20, 23)]
    """
    if (found := _exact(law)) is None:
        return None
    kappa, total = found
    return [law.n * k / ((law.n + 1) * k + total) for k in kappa]


def _exact(law: Prompts) -> tuple[list[Fraction], Fraction] | None:
    """Return kappa, and n t as the variance of a label, where both are fractions."""
    kappa, noise = exact_eigenvalues(law), simple(law.noise)
    if kappa is None or noise is None:
        return None
    return kappa, sum(kappa, Fraction()) + noise**2


def simple(value: float) -> Fraction | None:
    """Return the simplest fraction that rounds to a float, of a denominator up to 10^6, or None.

    >>> simple(1 / 3), simple(2**0.5)
    (Fraction(1, 3), None)
    """
    near = Fraction(value).limit_denominator(_SIMPLE)
    return near if float(near) == value else None


@lru_cache(maxsize=8)
def _roots(law: Prompts) -> tuple[Array, Array]:
    return root(law.sigma, 0.5), root(law.task, 0.5)


def square(law: Prompts, a: Array) -> Array:
    """Check that A is (d, d); raises UsageError."""
    found = np.asarray(a, np.float64)
    if found.shape != law.sigma.shape:
        raise UsageError(f"A must have the shape ({law.d}, {law.d}), got {found.shape}")
    return found
