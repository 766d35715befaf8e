"""Where the training of softmax attention starts: multiples of the identity of three kinds."""

import numpy as np
from numpy.typing import NDArray

from hardness.icl.softmax import SoftmaxTransformer
from hardness.icl.softmax_fit import Form

Array = NDArray[np.float64]


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
