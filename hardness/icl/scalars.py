"""The scalar solutions as layers: exact losses that trained matrices are measured against."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from hardness.icl.evaluate import Reference
from hardness.icl.gram import Layers
from hardness.icl.plusplus import MOST_LAYERS as MOST_SCALARS
from hardness.icl.plusplus import best_scalars
from hardness.icl.steps import MOST_LAYERS as MOST_STEPS
from hardness.icl.steps import Steps, best_steps, common_step
from instances.covariance import root
from instances.prompts import Prompts

Kind = Literal["q", "both", "common"]


def scalar_reference(law: Prompts, layers: int, kind: Kind) -> Reference | None:
    """Return the best scalar layers Q_l = q_l sigma^-1, P_l = p_l I with their exact loss.

    kind: "q", gradient descent with optimal steps (P = 0); "common", with one step for all layers;
    "both", GD++. None where nothing exact is known: a task other than a multiple of sigma^-1, or
    more layers than can be solved for.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> round(scalar_reference(law, 1, "q").loss, 12) == round(15 / 13, 12)
    True
    """
    if not law.isotropic or layers > (MOST_SCALARS if kind == "both" else MOST_STEPS):
        return None
    level = law.power / law.d  # tasks of covariance level * sigma^-1: the loss scales with it
    noise = law.noise / level**0.5
    if kind == "both":
        found = best_scalars(law.n, law.d, layers, noise)
        loss, p, q = found.loss, found.p, found.q
        method = "best scalar minimum found, its loss exact"
    else:
        steps: Steps = (best_steps if kind == "q" else common_step)(law.n, law.d, layers, noise)
        loss, p, q = steps.loss, (0.0,) * layers, steps.steps
        method = "exact: rational arithmetic"
    inverse, eye = root(law.sigma, -1.0), np.eye(law.d)
    return Reference(
        layers=Layers(p=np.array(p)[:, None, None] * eye, q=np.array(q)[:, None, None] * inverse),
        loss=float(loss) * level,
        method=method,
    )


def linear_loss(law: Prompts) -> Callable[[int, int], float | None] | None:
    """Return the loss of the best scalars by numbers of points and layers, None as above.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> round(linear_loss(law)(19, 1), 12)
    1.2
    """
    if not law.isotropic:
        return None

    def loss(n: int, layers: int) -> float | None:
        found = scalar_reference(replace(law, n=n), layers, "both")
        return None if found is None else found.loss

    return loss
