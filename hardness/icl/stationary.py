"""Stationary points of one layer, and which of them are minima: exact curves and Hessians.

With sigma = I and a diagonal task (every law becomes one, `whitened`) flipping the sign of
coordinate i changes nothing. So a minimum over A and over b = (sqrt(u) e_j, 1) for one j and all
u in [0, inf] is a stationary point of the whole loss. u = 0 is the optimum A*; u = inf is a layer
of rank one, which reads the labels through sum_i y_i <e_j, x_i> only. In between lie mixtures.
Where the task is isotropic too, every b can be rotated onto such a curve: no other points exist but
those with b = 0, which are saddles.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hardness.icl.landscape import best_given, full_hessian, full_loss
from hardness.icl.onelayer import Array, eigenvalues
from instances.prompts import Prompts

MOST_D = 16  # of a Hessian with (d+1)^4 entries
_FLAT = 1e-8  # eigenvalues of a Hessian of unit diagonal below it count as 0


@dataclass(frozen=True, kw_only=True)
class Stationary:
    """A stationary point on curve j at u, its loss, and the signs of its Hessian's eigenvalues.

    u is None for the layer of rank one. The Hessian is scaled to a unit diagonal, which leaves the
    signs alone; least is its least eigenvalue that is not flat. Flat are (c b, A / c) and, where
    kappa repeats, rotations.
    """

    j: int
    u: float | None
    loss: float
    negative: int
    flat: int
    least: float

    @property
    def minimum(self) -> bool:
        """Return whether no direction goes down: a local minimum up to the flat directions."""
        return self.negative == 0

    def to_dict(self) -> dict[str, Any]:
        """Give all numbers away."""
        return {**asdict(self), "minimum": self.minimum}


def whitened(law: Prompts) -> Prompts:
    """Return the law with sigma = I and a diagonal task that has the same landscape.

    x = sigma^1/2 x', w = sigma^-1/2 w', then a rotation: diag(eigenvalues of sigma task).

    >>> whitened(Prompts(n=2, sigma=np.diag([4.0, 1.0]), task=np.eye(2))).task.tolist()
    [[4.0, 0.0], [0.0, 1.0]]
    """
    kappa = eigenvalues(law)
    if law.isotropic:
        kappa = np.full(law.d, law.power / law.d)  # symmetric beyond rounding
    return Prompts(n=law.n, sigma=np.eye(law.d), task=np.diag(kappa), noise=law.noise)


def curve(law: Prompts, j: int, u: Array) -> Array:
    """Return the least loss over A for b = (sqrt(u) e_j, 1), at each u; the largest kappa is j = 0.

    sum kappa - sum_{i != j} kappa_i^2 / (M_i + u/n) - kappa_j^2 N(u) / D(u), rational in u.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> (curve(law, 0, np.zeros(1)) * 13).round(9).tolist()
    [15.0]
    """
    kappa, n = np.diag(whitened(law).task), law.n
    variance = law.power + law.noise**2
    labels = (n + 1) / n * kappa + variance / n
    mixed = variance + 2 / n * kappa[j]
    fourth = (1 + 2 / n) * (variance**2 + 2 * np.sum(kappa**2))
    u = np.asarray(u, np.float64)
    rest = np.delete(np.arange(law.d), j)
    gain = (kappa[rest] ** 2 / (labels[rest] + u[:, None] / n)).sum(axis=1)
    top = (1 + 2 / n) * u**2 - 2 * u * mixed + fourth
    bottom = ((1 + 2 / n) * u + labels[j]) * (u * labels[j] + fourth) - u * (mixed + labels[j]) ** 2
    return np.asarray(kappa.sum() - gain - kappa[j] ** 2 * top / bottom)


def rank_one_loss(law: Prompts) -> float:
    """Return the loss of the best layer of rank one: sum kappa - kappa_1^2 / M_1.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> round(rank_one_loss(law) * 13, 9)
    55.0
    """
    kappa = eigenvalues(law)
    labels = (law.n + 1) / law.n * kappa[0] + (law.power + law.noise**2) / law.n
    return float(kappa.sum() - kappa[0] ** 2 / labels)


def rank_one_margin(law: Prompts) -> float:
    """Return what decides on the best layer of rank one: > 0 a local minimum, < 0 a saddle.

    E h^2 - (v + 2 kappa_1 / n)^2 n / (n + 2) - n sum_{i > 1} kappa_i^2 / m^2, in units of v^2,
    with v the variance of a label and m = kappa_1 / M_1.

    >>> [rank_one_margin(Prompts(n=n, sigma=np.eye(2), task=np.eye(2))) > 0 for n in (1, 2)]
    [True, False]
    """
    kappa, n = eigenvalues(law), law.n
    variance = law.power + law.noise**2
    slope = (n + 1) / n + variance / (n * kappa[0])  # 1 / m
    fourth = (1 + 2 / n) * (variance**2 + 2 * np.sum(kappa**2))
    mixed = (variance + 2 * kappa[0] / n) ** 2 * n / (n + 2)
    return float((fourth - mixed - n * np.sum(kappa[1:] ** 2) * slope**2) / variance**2)


def stationary(law: Prompts) -> list[Stationary]:
    """List the local minima of all d curves, their ends u = inf with them, the least loss first.

    u = 0, the optimum, is left out. Each is found between neighbours of a fine grid in u and
    polished; what its Hessian says holds in all (d+1)^2 directions. Empty for d > 16.

    >>> law = Prompts(n=100, sigma=np.eye(5), task=np.eye(5))
    >>> [(round(p.loss, 4), p.minimum) for p in stationary(law)]
    [(1.2979, True), (4.0566, False)]
    """
    if law.d > MOST_D:
        return []
    plain = whitened(law)
    found = []
    for j in range(1 if law.isotropic else law.d):
        found += [_judged(plain, j, u) for u in [*_dips(plain, j), None]]
    return sorted(found, key=lambda point: point.loss)


def _dips(law: Prompts, j: int) -> list[float]:
    from scipy.optimize import minimize_scalar

    unit = law.power + law.noise**2
    grid = np.linspace(-14, 14, 4001)  # log u; beyond it the curve is flat in float64

    def at(log: Array) -> Array:
        return curve(law, j, unit * np.exp(log))

    values = at(grid)
    below = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])
    # Dips of the size of rounding are none.
    places = [i for i in np.flatnonzero(below) + 1 if values[i] > values[0]]
    return [
        unit
        * float(
            np.exp(
                minimize_scalar(
                    lambda log: float(at(np.array([log]))[0]),
                    bounds=(grid[i - 1], grid[i + 1]),
                    method="bounded",
                    options={"xatol": 1e-10},
                ).x
            )
        )
        for i in places
    ]


def _judged(law: Prompts, j: int, u: float | None) -> Stationary:
    b = np.zeros(law.d + 1)
    b[j], b[-1] = (1.0, 0.0) if u is None else (u**0.5, 1.0)
    a = best_given(law, b)
    hessian = full_hessian(law, b, a)
    unit = np.diag(hessian) ** -0.5
    values = np.linalg.eigvalsh(hessian * np.outer(unit, unit))
    small = np.abs(values) <= _FLAT
    return Stationary(
        j=j,
        u=u,
        loss=full_loss(law, b, a),
        negative=int(np.sum(values[~small] < 0)),
        flat=int(small.sum()),
        least=float(values[~small][0]),
    )
