"""Examples of an instance in the usual forms of machine learning: arrays (X, y), torch datasets.

random_state is the seed of the instance and its examples. Other examples of the same instance
measure a model: `hardness.risk(predict, SPEC, random_state)`.
"""

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from instances.arguments import integral
from instances.coded import reduce, require_coded
from instances.errors import UsageError
from instances.family import Instance
from instances.lazy import require_extra
from instances.limits import require_memory
from instances.parameters import OneOf
from instances.spec import parse

if TYPE_CHECKING:
    from hardness.icl.prompts import Prompts

Array = NDArray[Any]
_BATCH_NUMBERS = 1 << 21  # numbers in the tokens that are drawn at once


def make(
    spec: str,
    n_samples: int,
    random_state: int = 0,
    *,
    view: Literal["tokens", "z"] = "tokens",
    test_samples: int = 0,
) -> tuple[Array, ...]:
    """Make (X, y) of an instance, as `sklearn.datasets.make_*` does.

    The first of more samples are the same. Where there are few tokens, draws for training and test
    may be equal.

    Parameters
    ----------
    spec : str
        A SPEC.
    n_samples : int
        How many examples.
    random_state : int
        The seed of the instance and its examples.
    view : {"tokens", "z"}
        "tokens": X and y (n, k, d), of any family. "z": the product of the two tokens, X (n, d-1),
        of the examples whose label shows a factor, and y (n,), that factor less its public part.
    test_samples : int
        How many more examples are given apart, for a test.

    Returns
    -------
    tuple of arrays
        X, y; with `test_samples` X_train, X_test, y_train, y_test, as of `train_test_split`. X is
        int8 where it is -1 or +1, else float64; y is float64.

    Raises
    ------
    ToolkitError
        For an unknown SPEC, or more than memory holds.

    Examples
    --------
    >>> X, y = make("nice:m=2,k=3,d=8", 100)
    >>> X.shape, y.shape
    ((100, 3, 8), (100, 3, 8))
    >>> X, X_test, y, y_test = make("parity:d=8,m=3", 100, 7, view="z", test_samples=20)
    >>> X.shape, X_test.shape, y.shape, y_test.shape
    ((100, 7), (20, 7), (100,), (20,))
    """
    if view not in (views := OneOf(("tokens", "z"))):
        raise UsageError(views.refusal("view", view))
    total = integral("n_samples", n_samples, 0) + integral("test_samples", test_samples, 0)
    instance = _instance(spec, total, random_state)
    arrays = _tokens(instance, total) if view == "tokens" else _reduced(instance, total)
    if not test_samples:
        return arrays
    return tuple(part for array in arrays for part in np.split(array, [n_samples]))


def torch(
    spec: str,
    n_samples: int,
    random_state: int = 0,
    *,
    view: Literal["tokens", "z"] = "tokens",
    test_samples: int = 0,
) -> Any:
    """Make a torch TensorDataset of rows (x, y), float32, of any family.

    Parameters
    ----------
    spec, n_samples, random_state, view, test_samples
        As of `make`.

    Returns
    -------
    TensorDataset or two of them
        With `test_samples` one for training and one for the test.

    Raises
    ------
    ToolkitError
        If the extra `torch` is not installed.
    """
    arrays = make(spec, n_samples, random_state, view=view, test_samples=test_samples)
    datasets = [_tensors(*arrays[start :: len(arrays) // 2]) for start in range(len(arrays) // 2)]
    return tuple(datasets) if test_samples else datasets[0]


def stream(spec: str, batch: int, random_state: int = 0) -> Iterator[tuple[Array, Array]]:
    """Give the examples of `make` in batches without end.

    Parameters
    ----------
    spec : str
        A SPEC.
    batch : int
        How many examples in a batch.
    random_state : int
        The seed of the instance and its examples.

    Returns
    -------
    iterator of pairs of arrays
        X and y, both (batch, k, d).

    Examples
    --------
    >>> batches = stream("parity:d=8,m=3", 50)
    >>> bool((next(batches)[0] == make("parity:d=8,m=3", 50)[0]).all())
    True
    """
    instance = _instance(spec, integral("batch", batch, 1), random_state)
    drawn = (instance.examples(start, batch) for start in count(0, batch))
    return ((examples.x, examples.y) for examples in drawn)


def prompts(law: "Prompts", n_samples: int, random_state: int = 0) -> Any:
    """Make a torch TensorDataset of prompts of in-context regression.

    Parameters
    ----------
    law : hardness.icl.prompts.Prompts
        The distribution of prompts.
    n_samples : int
        How many prompts.
    random_state : int
        Their seed.

    Returns
    -------
    TensorDataset
        Rows (z, target), float32. z (n+1, d+1) has the n points with their labels in the last
        column, then the query, whose label is 0. target is <w, x_{n+1}>.

    Raises
    ------
    ToolkitError
        If the extra `torch` is not installed.
    """
    return _tensors(*_prompts(law, "train", n_samples, random_state))


def prompt_loss(
    predict: Any, law: "Prompts", random_state: int = 0, n_samples: int = 10_000
) -> tuple[float, float]:
    """Judge a model of prompts on fresh ones.

    Parameters
    ----------
    predict : function
        Maps prompts (count, n+1, d+1), float32, as `prompts` has them, to (count,) or (count, 1).
    law : hardness.icl.prompts.Prompts
        The distribution of prompts.
    random_state : int
        The seed. These prompts are of a stream of their own.
    n_samples : int
        How many prompts.

    Returns
    -------
    pair of floats
        The mean squared error and its standard error.

    Raises
    ------
    UsageError
        For predictions of another shape.

    Examples
    --------
    >>> from hardness.icl.prompts import Prompts
    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> loss, error = prompt_loss(lambda z: np.zeros(len(z)), law)
    >>> abs(loss - law.power) < 4 * error
    True
    """
    z, target = _prompts(law, "test", integral("n_samples", n_samples, 2), random_state)
    predictions = predict(z)
    is_tensor = hasattr(predictions, "detach")
    values = np.asarray(predictions.detach().cpu() if is_tensor else predictions)
    if values.size != len(z) or values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise UsageError(f"predict gives {values.shape}: {len(z)} finite numbers are needed")
    losses = (values.reshape(-1) - target) ** 2
    return float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(len(z)))


def _instance(spec: str, n: int, random_state: int) -> Instance:
    family = parse(spec)
    require_memory(24 * n * family.k * family.d, f"{n} examples of {family.spec} as arrays")
    return family.instance(integral("random_state", random_state, 0))


def _tokens(instance: Instance, n: int) -> tuple[Array, Array]:
    """Make the first n examples: tokens and labels."""
    k, d = instance.family.k, instance.family.d
    x, y = np.empty((n, k, d), instance.examples(0, 0).x.dtype), np.empty((n, k, d))
    rows = max(1, _BATCH_NUMBERS // (k * d))
    for start in range(0, n, rows):
        drawn = instance.examples(start, min(rows, n - start))
        x[start : start + rows], y[start : start + rows] = drawn.x, drawn.y
    return x, y


def _reduced(instance: Instance, n: int) -> tuple[Array, Array]:
    """Make the first n examples whose label shows a factor: z and the factor."""
    family = require_coded(instance.family)
    z, s = np.empty((n, family.d - 1), np.int8), np.empty(n)
    rows = max(1, _BATCH_NUMBERS // (2 * family.d))
    filled = start = 0
    while filled < n:
        drawn = min(rows, family.enough(n - filled) + 8)
        informative = reduce(instance.examples(start, drawn))
        count = min(len(informative), n - filled)
        z[filled : filled + count] = informative.signs()[:count]
        s[filled : filled + count] = informative.values[:count]
        filled, start = filled + count, start + drawn
    return z, s


def _prompts(law: "Prompts", axis: str, count: int, seed: int) -> tuple[Array, Array]:
    drawn = law.draw(seed, axis, 0, count)
    labels = np.column_stack([drawn.y, np.zeros(len(drawn))])
    return np.concatenate([drawn.x, labels[..., None]], axis=2).astype(np.float32), drawn.target


def _tensors(*arrays: Array) -> Any:
    data = require_extra("torch.utils.data", "a torch dataset")
    from_numpy = require_extra("torch", "a torch dataset").from_numpy
    return data.TensorDataset(*(from_numpy(part.astype(np.float32)) for part in arrays))
