"""Where training of one layer ends: BFGS on the exact loss in b and A, from random starts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hardness.icl.landscape import full_gradient, full_loss, pack, unpack
from hardness.icl.onelayer import Array
from hardness.icl.stationary import whitened
from instances.errors import UsageError
from instances.prompts import Prompts
from instances.streams import generator

MOST_D = 8  # (d+1)^2 variables: a run takes a tenth of a second at 8, seconds at 16


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The losses at which `starts` runs ended, sorted, and how many were still moving.

    Start: entries N(0, scale^2) of b and A, in whitened coordinates with a mean kappa of 1.
    """

    losses: tuple[float, ...]
    moving: int  # runs that ended with a gradient above 1e-5, in units of the power
    scale: float
    seed: int

    def near(self, value: float, unit: float) -> int:
        """Count the runs that ended within unit / 1000 of a value.

        >>> Ends(losses=(1.0, 2.0), moving=0, scale=0.1, seed=0).near(1.0001, 1.0)
        1
        """
        return sum(abs(each - value) <= unit / 1000 for each in self.losses)


def ends(
    law: Prompts,
    starts: int,
    scale: float,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Ends:
    """Run BFGS from random starts; raises UsageError for d > 8 or a scale that is not positive.

    >>> found = ends(Prompts(n=2, sigma=np.eye(1), task=np.eye(1)), 3, 0.1, 0)
    >>> [round(v, 6) for v in found.losses]
    [0.5, 0.5, 0.5]
    """
    from scipy.optimize import minimize

    if law.d > MOST_D:
        raise UsageError(f"d={law.d} given: random starts are run up to d = {MOST_D}")
    if starts < 1 or not 0 < scale <= 100:
        raise UsageError(f"{starts} starts of scale {scale} given: at least 1, of 0 to 100")
    unit = law.power / law.d
    plain = whitened(
        Prompts(n=law.n, sigma=law.sigma, task=law.task / unit, noise=law.noise / unit**0.5)
    )

    def value(flat: Array) -> tuple[float, Array]:
        b, a = unpack(flat)
        return full_loss(plain, b, a) / law.d, pack(*full_gradient(plain, b, a)) / law.d

    rng, found = generator(seed, "icl", "one layer", "starts"), []
    for _ in range(starts):
        begin = scale * rng.standard_normal((law.d + 1) ** 2)
        found.append(
            minimize(value, begin, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 1000})
        )
        progress(1)
    return Ends(
        losses=tuple(sorted(law.power * float(each.fun) for each in found)),
        moving=sum(float(np.abs(each.jac).max()) > 1e-5 for each in found),
        scale=scale,
        seed=seed,
    )
