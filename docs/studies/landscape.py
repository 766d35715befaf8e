"""The loss of one layer in all its parameters, and its stationary points: spurious minima.

The layer predicts b^T G A x_query with G = (1/n) sum_i z_i z_i^T, z_i = (x_i, y_i)
(up to sign, [ACDS23]). b = (0, 1), A = (A*; 0) is the best layer. The loss is quadratic in b and in
A, so its Hessian is exact too. (c b, A / c) is the same layer for every c.

With sigma = I and a diagonal task (every law becomes one, `diagonal`) flipping the sign of
coordinate i changes nothing. So take b = (sqrt(u) e_j, 1) for one j and all u in [0, inf]: a
minimum over A and these b is a stationary point of the whole loss. u = 0 is the optimum A*.
u = inf is a layer of rank one, which reads the labels through sum_i y_i <e_j, x_i> only. In between
lie mixtures.
If the task is isotropic too, every b can be rotated onto such a curve. Then the only other points
have b = 0 and are saddles. The curve is one rational function of u, whose derivative is a
polynomial over a square.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq, fmpq_poly
from scipy.optimize import minimize, minimize_scalar
from statement import Array

from hardness.icl import onelayer
from hardness.icl.prompts import Prompts
from instances.streams import generator

_FLAT = 1e-8  # eigenvalues of a Hessian of unit diagonal below it count as 0
_RUNS, _SIZE = 80, 0.1  # random starts: how many, and the size of their entries


def _second_moment(law: Prompts, middle: Array) -> Array:
    """Return E[G D G] for a symmetric D (d+1, d+1): a linear map, equal to its own adjoint."""
    n, sigma = law.n, law.sigma
    inner, column, corner = middle[:-1, :-1], middle[:-1, -1], middle[-1, -1]
    _, labels, mixed, fourth = _moments(law)
    moment = np.empty((law.d + 1, law.d + 1))
    moment[:-1, :-1] = (n + 1) / n * sigma @ inner @ sigma + np.sum(sigma * inner) / n * sigma
    moment[:-1, :-1] += corner * labels
    moment[:-1, -1] = moment[-1, :-1] = (mixed + labels) @ column
    moment[-1, -1] = np.sum(labels * inner) + corner * fourth
    return moment


def full_loss(law: Prompts, b: Array, a: Array) -> float:
    """Return E (b^T G A x_query - <w, x_query>)^2 for b (d+1,), A (d+1, d)."""
    quadratic = np.sum((_second_moment(law, np.outer(b, b)) @ a) * (a @ law.sigma))
    return float(quadratic - 2 * np.sum(_pull(law, b) * a) + law.power)


def full_gradient(law: Prompts, b: Array, a: Array) -> tuple[Array, Array]:
    """Return the gradients of the loss in b, (d+1,), and in A, (d+1, d)."""
    cross = _moments(law)[0]
    push = np.append(cross @ a[-1], np.sum(cross * a[:-1]))
    in_b = 2 * (_second_moment(law, a @ law.sigma @ a.T) @ b - push)
    in_a = 2 * (_second_moment(law, np.outer(b, b)) @ a @ law.sigma - _pull(law, b))
    return in_b, in_a


def full_hessian(law: Prompts, b: Array, a: Array) -> Array:
    """Return the Hessian in (b, A row by row), ((d+1)^2, (d+1)^2)."""
    size, sigma = law.d + 1, law.sigma
    hessian = np.empty((size**2, size**2))
    hessian[:size, :size] = 2 * _second_moment(law, a @ sigma @ a.T)
    hessian[size:, size:] = np.kron(2 * _second_moment(law, np.outer(b, b)), sigma)
    for i, unit in enumerate(np.eye(size)):
        turn = np.outer(unit, b)
        row = 2 * (_second_moment(law, turn + turn.T) @ a @ sigma - _pull(law, unit))
        hessian[i, size:] = hessian[size:, i] = row.ravel()
    return hessian


def best_given(law: Prompts, b: Array) -> Array:
    """Return the one A (d+1, d) of least loss for b (d+1,), not 0."""
    right = np.linalg.solve(law.sigma, _pull(law, b).T).T
    return np.asarray(np.linalg.solve(_second_moment(law, np.outer(b, b)), right))


def pack(b: Array, a: Array) -> Array:
    """Put b and A into one vector, ((d+1)^2,)."""
    return np.concatenate([b, np.ravel(a)])


def unpack(flat: Array) -> tuple[Array, Array]:
    """Take b (d+1,) and A (d+1, d) out of a vector, ((d+1)^2,)."""
    size = round(len(flat) ** 0.5)
    return flat[:size], flat[size:].reshape(size, size - 1)


@lru_cache(maxsize=8)
def _moments(law: Prompts) -> tuple[Array, Array, Array, float]:
    """Return sigma task sigma, E g g^T, E h S and E h^2, with g = S w + .., h = sum_i y_i^2 / n."""
    n, product = law.n, law.sigma @ law.task
    variance = n * onelayer.spread(law)  # of a label
    cross = product @ law.sigma
    mixed = variance * law.sigma + 2 / n * cross
    fourth = (1 + 2 / n) * (variance**2 + 2 * float(np.sum(product * product.T)))
    return cross, onelayer.moment(law), mixed, fourth


def _pull(law: Prompts, b: Array) -> Array:
    """Return E[G b w^T] sigma: the loss is linear in A along it."""
    cross = _moments(law)[0]
    return np.vstack([b[-1] * cross, cross @ b[:-1]])


class Stationary(NamedTuple):
    """A stationary point: its loss, and the signs of its Hessian's eigenvalues.

    u: its place on a curve, None for the layer of rank one. The Hessian is scaled to a unit
    diagonal, which leaves the signs alone. Flat are (c b, A / c) and, if kappa repeats, rotations.
    """

    u: float | None
    loss: float
    negative: int
    flat: int


def diagonal(law: Prompts) -> Prompts:
    """Return the law with sigma = I and a diagonal task that has the same landscape.

    x = sigma^1/2 x', w = sigma^-1/2 w', then a rotation: diag(eigenvalues of sigma task).
    """
    kappa = onelayer.eigenvalues(law)
    if law.isotropic:
        kappa = np.full(law.d, law.power / law.d)  # symmetric beyond rounding
    return replace(law, sigma=np.eye(law.d), task=np.diag(kappa))


def curve(law: Prompts, j: int, u: Array) -> Array:
    """Return the least loss over A for b = (sqrt(u) e_j, 1), at each u; the largest kappa is j = 0.

    sum kappa - sum_{i != j} kappa_i^2 / (M_i + u/n) - kappa_j^2 N(u) / D(u), rational in u.
    """
    kappa, n = np.diag(diagonal(law).task), law.n
    variance = law.power + law.noise**2
    labels = (n + 1) / n * kappa + variance / n
    mixed = variance + 2 / n * kappa[j]
    fourth = (1 + 2 / n) * (variance**2 + 2 * np.sum(kappa**2))
    rest = np.delete(np.arange(law.d), j)
    gain = (kappa[rest] ** 2 / (labels[rest] + u[:, None] / n)).sum(axis=1)
    top = (1 + 2 / n) * u**2 - 2 * u * mixed + fourth
    bottom = ((1 + 2 / n) * u + labels[j]) * (u * labels[j] + fourth) - u * (mixed + labels[j]) ** 2
    return np.asarray(kappa.sum() - gain - kappa[j] ** 2 * top / bottom)


def stationary(law: Prompts) -> list[Stationary]:
    """List the local minima of all d curves, their ends u = inf with them, the least loss first.

    u = 0, the optimum, is left out. What a Hessian says holds in all (d+1)^2 directions.
    """
    plain = diagonal(law)
    minima = []
    for j in range(1 if law.isotropic else law.d):
        minima += [_judged(plain, j, u) for u in [*_dips(plain, j), None]]
    return sorted(minima, key=lambda point: point.loss)


def _dips(law: Prompts, j: int) -> list[float]:
    unit = law.power + law.noise**2
    grid = np.linspace(-14, 14, 4001)  # log u; beyond it the curve is flat in float64

    def at(log: Array) -> Array:
        return curve(law, j, unit * np.exp(log))

    values, dips = at(grid), []
    for i in range(1, len(grid) - 1):
        # Dips of the size of rounding are none.
        if values[i] < min(values[i - 1], values[i + 1]) and values[i] > values[0]:
            ends: Any = {"bounds": (grid[i - 1], grid[i + 1]), "options": {"xatol": 1e-10}}
            log = minimize_scalar(lambda x: at(np.array([x]))[0], method="bounded", **ends).x
            dips.append(unit * float(np.exp(log)))
    return dips


def _judged(law: Prompts, j: int, u: float | None) -> Stationary:
    b = np.zeros(law.d + 1)
    b[j], b[-1] = (1.0, 0.0) if u is None else (u**0.5, 1.0)
    a = best_given(law, b)
    hessian = full_hessian(law, b, a)
    unit = np.diag(hessian) ** -0.5
    values = np.linalg.eigvalsh(hessian * np.outer(unit, unit))
    small = np.abs(values) <= _FLAT
    return Stationary(u, full_loss(law, b, a), int(np.sum(values[~small] < 0)), int(small.sum()))


def exact_dips(law: Prompts) -> int | None:
    """Count the local minima with 0 < u <= inf, of certified real roots; None if not isotropic.

    The curve rises at u = 0, the optimum, so roots of odd multiplicity are maxima and minima in
    turn. After an odd number of them the curve falls. Then u = inf, the layer of rank one, is a
    minimum.
    In d = 1 that is the optimum too, written in another way.
    """
    kappa, noise = onelayer.exact_eigenvalues(law), onelayer.simple(law.noise)
    if kappa is None or noise is None or len(set(kappa)) > 1:
        return None
    d, n = law.d, law.n
    level = fmpq(kappa[0].numerator, kappa[0].denominator)
    variance = d * level + fmpq(noise.numerator, noise.denominator) ** 2
    labels = (n + 1) * level / n + variance / n
    mixed = variance + 2 * level / n
    fourth = (variance**2 + 2 * d * level**2) * fmpq(n + 2, n)
    u = fmpq_poly([0, 1])
    first = u * fmpq(n + 2, n)
    top = first * u - 2 * mixed * u + fourth
    bottom = (first + labels) * (labels * u + fourth) - u * (mixed + labels) ** 2
    rest = u / n + labels
    slope: Any = (
        bottom**2 * (d - 1) / n - (top.derivative() * bottom - top * bottom.derivative()) * rest**2
    )
    roots = slope.numer().complex_roots()
    return (sum(r.imag == 0 and r.real > 0 and often % 2 for r, often in roots) + 1) // 2


def ends(law: Prompts, starts: int = _RUNS, seed: int = 0) -> tuple[list[float], int]:
    """Run BFGS on the exact loss in b and A from random starts: sorted losses, and how many move.

    Entries start as N(0, .1^2), in whitened coordinates with a mean kappa of 1. A run that moves
    ended with a gradient above 1e-5, in units of the power.
    """
    unit = law.power / law.d
    plain = diagonal(replace(law, task=law.task / unit, noise=law.noise / unit**0.5))

    def value(flat: Array) -> tuple[float, Array]:
        b, a = unpack(flat)
        return full_loss(plain, b, a) / law.d, pack(*full_gradient(plain, b, a)) / law.d

    rng, descents = generator(seed, "icl", "one layer", "starts"), []
    options: Any = {"gtol": 1e-6, "maxiter": 1000}
    for _ in range(starts):
        begin = _SIZE * rng.standard_normal((law.d + 1) ** 2)
        descents.append(minimize(value, begin, jac=True, method="BFGS", options=options))
    losses = sorted(law.power * float(each.fun) for each in descents)
    return losses, sum(float(np.abs(each.jac).max()) > 1e-5 for each in descents)


def near(law: Prompts, losses: list[float], loss: float) -> int:
    """Count the losses that are within a thousandth of the power of a loss."""
    return sum(abs(each - loss) <= law.power / 1000 for each in losses)


def study(law: Prompts, starts: int = _RUNS) -> str:
    """Say which minima a layer has in all its parameters, and where random starts end."""
    least, dips, every = onelayer.least_loss(law), exact_dips(law), stationary(law)
    points = [p for p in every if not p.negative and p.loss > least + 1e-9 * law.power]
    best = next(p for p in every if p.u is None)
    kind = "saddle" if best.negative else "local minimum"
    lines = [f"L* = {least:.10g}", f"best layer of rank one: loss {best.loss:.6g}, a {kind}"]
    lines += [
        f"spurious local minimum, loss {p.loss:.6g}: no negative curvature, {p.flat} flat"
        for p in points
    ]
    if not points:
        known = "on the curves searched" if dips is None else "at all: exact root count"
        if dips is not None and dips > (law.d == 1):  # in d = 1 the dip is the optimum once more
            known = f"found in float64, but an exact root count has {dips}"
        lines.append(f"no spurious local minimum {known}")
    losses, moving = ends(law, starts)
    reached, caught = near(law, losses, least), sum(near(law, losses, p.loss) for p in points)
    where = f"{reached} end at L*, {caught} at spurious minima"
    where += f", {starts - reached - caught} elsewhere ({moving} not converged)"
    return "\n".join([*lines, f"{starts} random starts (BFGS, scale {_SIZE}): {where}"])


if __name__ == "__main__":
    uneven = np.diag([1, 0.5, 0.25, 0.125, 0.06])
    for n, sigma in ((20, np.eye(5)), (20, uneven), (100, np.eye(5))):
        print(f"n = {n}, sigma = diag{tuple(np.diag(sigma).tolist())}, task = I")
        print(f"{study(Prompts(n=n, sigma=sigma, task=np.eye(5)))}\n")
