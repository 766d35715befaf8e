"""Training of softmax attention: L-BFGS on a fixed sample of prompts, from named starts.

Models are trained as multiples of the identity first, which rotations leave alone, from starts of
three kinds, then with full matrices.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.softmax import Array, SoftmaxTransformer, gradient
from instances.prompts import Prompts


@dataclass(frozen=True, kw_only=True, eq=False)
class Form:
    """The models of an affine family: offset (p,) + basis (p, k) @ z, for free parameters z (k,).

    p counts theta, value and scale of a model of shape (layers, heads, d), in that order.
    """

    shape: tuple[int, int, int]
    offset: Array
    basis: Any  # a sparse matrix (p, k) of zeros and ones

    @property
    def free(self) -> int:
        """The number of free parameters."""
        return int(self.basis.shape[1])

    def model(self, z: Array) -> SoftmaxTransformer:
        """Build the model of z."""
        layers, heads, d = self.shape
        flat = self.offset + self.basis @ z
        size = layers * heads * d * d
        return SoftmaxTransformer(
            theta=flat[:size].reshape(layers, heads, d, d),
            value=flat[size : 2 * size].reshape(layers, heads, d, d),
            scale=flat[2 * size :].reshape(layers, heads),
        )

    def nearest(self, model: SoftmaxTransformer) -> Array:
        """Return the z of the family's model that is nearest to another: least squares."""
        flat = np.concatenate([model.theta.ravel(), model.value.ravel(), model.scale.ravel()])
        # No two columns of a basis meet in a row, so they are orthogonal.
        lengths = self.basis.multiply(self.basis).sum(axis=0)
        return np.asarray((flat - self.offset) @ self.basis / lengths)


def full(layers: int, heads: int, d: int, scale: float | None = None) -> Form:
    """All matrices are free, and all scales unless one number is given for them."""
    return _form((layers, heads, d), np.arange(d * d), np.arange(d * d), scale)


def scalar(layers: int, heads: int, d: int, scale: float | None = None) -> Form:
    """Every matrix is a multiple of the identity: what rotations leave alone."""
    return _form((layers, heads, d), np.arange(0, d * d, d + 1), np.zeros(d, np.int64), scale)


def _form(
    shape: tuple[int, int, int],
    entries: NDArray[np.int64],
    variables: NDArray[np.int64],
    scale: float | None,
) -> Form:
    """Let entry entries[i] of every free matrix be the matrix's own variable variables[i]."""
    from scipy.sparse import csr_array

    layers, heads, d = shape
    cells, each = layers * heads, int(variables.max()) + 1
    matrices = 2 * cells - heads  # the values of the last layer move nothing
    rows = (np.arange(matrices)[:, None] * d * d + entries).ravel()
    columns = (np.arange(matrices)[:, None] * each + variables).ravel()
    width, size = matrices * each, 2 * cells * d * d
    offset = np.zeros(size + cells)
    if scale is None:
        rows = np.concatenate([rows, size + np.arange(cells)])
        columns = np.concatenate([columns, width + np.arange(cells)])
        width += cells
    else:
        offset[size:] = scale
    basis = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(offset), width))
    return Form(shape=shape, offset=offset, basis=basis)


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxFit:
    """Where L-BFGS ended: z, its model, the loss on its sample, the largest derivative."""

    z: Array
    model: SoftmaxTransformer
    loss: float
    slope: float
    evaluations: int


def fit(form: Form, law: Prompts, x: Array, start: Array, unit: Array, steps: int) -> SoftmaxFit:
    """Minimise the mean loss over the prompts x from z = start by L-BFGS in z / unit. [LN89]

    unit (k,) is the size of each parameter: those of opposite heads differ by factors of a hundred.
    """
    from scipy.optimize import minimize

    def goal(u: Array) -> tuple[float, Array]:
        loss, slope = gradient(form.model(u * unit), x, law)
        return loss, slope @ form.basis * unit

    options: Any = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-9, "gtol": 1e-7}
    end: Any = minimize(goal, start / unit, jac=True, method="L-BFGS-B", options=options)
    z = np.asarray(end.x * unit)
    return SoftmaxFit(
        z=z,
        model=form.model(z),
        loss=float(end.fun),
        slope=float(np.abs(end.jac).max()),
        evaluations=int(end.nfev),
    )


def start(form: Form, rng: np.random.Generator, k: int, free: bool) -> Array:
    """Draw multiples of the identity, of the kind that start number k is to have."""
    layers, heads, d = form.shape
    if not free:
        theta, value, scale = _loose(rng, layers, heads)
    elif heads > 1 and k % 2 == 0:
        theta, value, scale = _pairs(rng, layers, heads)
    else:
        theta, value, scale = _alike(rng, layers, heads)
    eye = np.eye(d)
    model = SoftmaxTransformer(
        theta=theta[..., None, None] * eye, value=value[..., None, None] * eye, scale=scale
    )
    return form.nearest(model)


def _loose(rng: np.random.Generator, layers: int, heads: int) -> tuple[Array, Array, Array]:
    """Draw theta and value of either sign; the scales are fixed."""
    theta, value = rng.standard_normal((2, layers, heads))
    return 0.5 * theta, 0.3 * value, np.ones((layers, heads))


def _alike(rng: np.random.Generator, layers: int, heads: int) -> tuple[Array, Array, Array]:
    """Draw positive parameters, of the sizes at which one head was seen to end."""
    jitter = np.exp(0.5 * rng.standard_normal((3, layers, heads)))
    last = np.where(np.arange(layers) == layers - 1, min(layers + 1, 4), 1)[:, None]
    return 0.5 * jitter[0], 0.8 * jitter[1], last * jitter[2] / heads


def _pairs(rng: np.random.Generator, layers: int, heads: int) -> tuple[Array, Array, Array]:
    """Draw pairs (theta, P, c), (-theta, -P, -c), theta small: near linear attention.

    A head without a partner starts with P = c = 0.
    """
    jitter = np.exp(0.3 * rng.standard_normal((3, layers, heads)))
    place = np.arange(heads)
    sign = np.where(place < heads - heads % 2, np.where(place % 2, -1.0, 1.0), 0.0)
    # What is left to predict shrinks from layer to layer, and so do the points.
    size = 0.05 * 2.0 ** np.arange(layers)[:, None] if layers > 1 else np.full((1, 1), 0.1)
    theta = np.where(sign, sign, 1.0) * size * jitter[0]
    return theta, 4 * sign * jitter[1], 4 * sign * jitter[2]


def twisted(model: SoftmaxTransformer, rng: np.random.Generator) -> SoftmaxTransformer:
    """Multiply each matrix by one near the identity: off the saddle that a symmetry may make."""
    shape = model.theta.shape
    first, second = (np.eye(model.d) + 0.002 * rng.standard_normal(shape) for _ in range(2))
    return SoftmaxTransformer(
        theta=model.theta @ first, value=model.value @ second, scale=model.scale
    )


def sizes(z: Array) -> Array:
    """Take the size of each parameter from a start, at least 0.01."""
    return np.maximum(np.abs(z), 0.01)


def spread(model: SoftmaxTransformer) -> SoftmaxTransformer:
    """Give each entry of a matrix the size of its first: the unit of full matrices."""
    shape = model.theta.shape
    return SoftmaxTransformer(
        theta=np.broadcast_to(sizes(model.theta[:, :, :1, :1]), shape),
        value=np.broadcast_to(sizes(model.value[:, :, :1, :1]), shape),
        scale=sizes(model.scale),
    )
