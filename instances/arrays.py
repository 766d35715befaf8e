"""Examples as plain arrays, for users of data alone: what a spec and a seed give, in order.

The seed reproduces them, so the labels hide nothing from a reader of the code.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.arguments import integral
from instances.coded import reduce, require_coded
from instances.family import Instance
from instances.lazy import require_extra
from instances.limits import require_memory
from instances.spec import parse

_NUMBERS = 1 << 21  # in the tokens that are drawn at once

Arrays = tuple[NDArray[Any], NDArray[np.float64]]


def make_examples(spec: str, n: int, seed: int) -> Arrays:
    """Make the first n examples of an instance: tokens and labels, both (n, k, d).

    Tokens are int8 where they are -1 or +1, else float64; labels are float64. The first n of a
    larger n are the same. Raises UsageError, TooLarge.

    >>> X, y = make_examples("parity:d=8,m=3", 100, seed=0)
    >>> X.shape, X.dtype.name, y.shape, y.dtype.name
    ((100, 2, 8), 'int8', (100, 2, 8), 'float64')
    """
    instance = _instance(spec, n, seed)
    k, d = instance.family.k, instance.family.d
    x, y = np.empty((n, k, d), instance.examples(0, 0).x.dtype), np.empty((n, k, d))
    rows = max(1, _NUMBERS // (k * d))
    for start in range(0, n, rows):
        drawn = instance.examples(start, min(rows, n - start))
        x[start : start + rows], y[start : start + rows] = drawn.x, drawn.y
    return x, y


def make_reduced(spec: str, n: int, seed: int) -> Arrays:
    """Make the first n open examples of an instance in the reduced view: (n, d-1) and (n,).

    z = X_1 * X_2 without coordinate 0, int8, -1 or +1; s, float64, is the factor of the label less
    its public part, +-1 for parities. Raises UsageError for families without such.

    >>> z, s = make_reduced("parity:d=8,m=1", 100, seed=0)
    >>> z.shape, sorted(set(s.tolist())), int((abs(z.T @ s) == 100).sum())
    ((100, 7), [-1.0, 1.0], 1)
    """
    instance = _instance(spec, n, seed)
    family = require_coded(instance.family)
    z, s = np.empty((n, family.d - 1), np.int8), np.empty(n)
    rows = max(1, _NUMBERS // (2 * family.d))
    filled = start = 0
    while filled < n:
        drawn = min(rows, family.enough(n - filled) + 8)
        found = reduce(instance.examples(start, drawn))
        taken = min(len(found), n - filled)
        z[filled : filled + taken] = found.signs()[:taken]
        s[filled : filled + taken] = found.values[:taken]
        filled, start = filled + taken, start + drawn
    return z, s


def stream(spec: str, batch: int, seed: int) -> Iterator[Arrays]:
    """Give the examples of an instance in batches without end: tokens and labels, (batch, k, d).

    Batch after batch they are those of `make_examples`. Raises UsageError, TooLarge.

    >>> batches = stream("parity:d=8,m=3", 50, seed=0)
    >>> X, y = next(batches)
    >>> X.shape, bool((next(batches)[0] == make_examples("parity:d=8,m=3", 100, 0)[0][50:]).all())
    ((50, 2, 8), True)
    """
    integral("batch", batch, 1)
    instance = _instance(spec, batch, seed)
    drawn = (instance.examples(start, batch) for start in count(0, batch))
    return ((examples.x, examples.y) for examples in drawn)


def dataset(spec: str, n: int, seed: int) -> Any:
    """Make a torch TensorDataset of the first n examples: rows (x, y), both (k, d), float32.

    It is held in memory: 8 k d bytes an example. For a DataLoader with any number of workers.
    Raises UsageError, TooLarge, and ToolkitError where the extra `torch` is not installed.
    """
    data = require_extra("torch.utils.data", "a torch Dataset")
    torch = require_extra("torch", "a torch Dataset")
    parts = make_examples(spec, n, seed)
    return data.TensorDataset(*(torch.from_numpy(part.astype(np.float32)) for part in parts))


def _instance(spec: str, n: int, seed: int) -> Instance:
    integral("n", n, 0)
    integral("seed", seed, 0)
    family = parse(spec)
    require_memory(24 * n * family.k * family.d, f"{n} examples of {family.spec} as arrays")
    return family.instance(seed)
