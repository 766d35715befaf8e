"""Examples of an instance as machine learning hands data about: arrays (X, y), torch datasets.

The spec and random_state give the instance, its hidden part and its examples, as a seed does
elsewhere: `hardness.risk(predict, SPEC, random_state)` judges a model on others of the same.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from instances.arguments import integral
from instances.arrays import make_examples, make_reduced
from instances.errors import UsageError
from instances.lazy import require_extra

if TYPE_CHECKING:
    from hardness.icl.prompts import Prompts

Array = NDArray[Any]


def make(
    spec: str,
    n_samples: int,
    random_state: int = 0,
    *,
    view: Literal["tokens", "z"] = "tokens",
    test_samples: int = 0,
) -> tuple[Array, ...]:
    """Make (X, y) of an instance, as `sklearn.datasets.make_*` does; raises ToolkitError.

    view: tokens gives X and y (n, k, d), of any family. z gives X (n, d-1) of -1 and +1 and y (n,),
    the label's unknown factor, of families whose labels have one. test_samples: with it
    (X_train, X_test, y_train, y_test) are given, as by `train_test_split`: the first n_samples,
    then others. Where there are few tokens, draws of both may be equal. The first of more samples
    are the same.

    >>> X, y = make("nice:m=2,k=3,d=8", 100)
    >>> X.shape, y.shape
    ((100, 3, 8), (100, 3, 8))
    >>> X, X_test, y, y_test = make("parity:d=8,m=3", 100, 7, view="z", test_samples=20)
    >>> X.shape, X_test.shape, y.shape, y_test.shape
    ((100, 7), (20, 7), (100,), (20,))
    """
    if view not in ("tokens", "z"):
        raise UsageError(f"view={view!r} given: tokens or z")
    whole = integral("n_samples", n_samples, 0) + integral("test_samples", test_samples, 0)
    drawn = (make_examples if view == "tokens" else make_reduced)(spec, whole, random_state)
    if not test_samples:
        return drawn
    return tuple(part for both in drawn for part in np.split(both, [n_samples]))


def torch(
    spec: str,
    n_samples: int,
    random_state: int = 0,
    *,
    view: Literal["tokens", "z"] = "tokens",
    test_samples: int = 0,
) -> Any:
    """Make a torch TensorDataset of rows (x, y), float32, of any family; with test_samples two.

    Arguments are those of `make`. Raises ToolkitError if the extra `torch` is not installed.
    """
    made = make(spec, n_samples, random_state, view=view, test_samples=test_samples)
    datasets = [_tensors(*made[start :: len(made) // 2]) for start in range(len(made) // 2)]
    return tuple(datasets) if test_samples else datasets[0]


def prompts(law: "Prompts", n_samples: int, random_state: int = 0) -> Any:
    """Make a torch TensorDataset of prompts of in-context regression: rows (z, target), float32.

    z is (n+1, d+1): the n points with their labels in the last column, then the query, whose label
    is 0. target is <w, x_{n+1}>. law: of `hardness.icl.prompts`. `prompt_loss` judges a model.
    Raises ToolkitError if the extra `torch` is not installed.
    """
    return _tensors(*_prompts(law, "train", n_samples, random_state))


def prompt_loss(
    predict: Any, law: "Prompts", random_state: int = 0, n_samples: int = 10_000
) -> tuple[float, float]:
    """Judge a model of prompts on fresh ones: its mean squared error and the standard error.

    predict: (count, n+1, d+1), float32, as `prompts` has them -> (count,) or (count, 1). The
    prompts are of a stream of their own. Raises UsageError for predictions of another shape.

    >>> from hardness.icl.prompts import Prompts
    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> loss, error = prompt_loss(lambda z: np.zeros(len(z)), law)
    >>> abs(loss - law.power) < 4 * error
    True
    """
    z, target = _prompts(law, "test", integral("n_samples", n_samples, 2), random_state)
    said = predict(z)
    values = np.asarray(said.detach().cpu() if hasattr(said, "detach") else said)
    if values.size != len(z) or values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise UsageError(f"predict gives {values.shape}: {len(z)} finite numbers are needed")
    losses = (values.reshape(-1) - target) ** 2
    return float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(len(z)))


def _prompts(law: "Prompts", axis: str, count: int, seed: int) -> tuple[Array, Array]:
    drawn = law.draw(seed, axis, 0, count)
    labels = np.column_stack([drawn.y, np.zeros(len(drawn))])
    return np.concatenate([drawn.x, labels[..., None]], axis=2).astype(np.float32), drawn.target


def _tensors(*arrays: Array) -> Any:
    data = require_extra("torch.utils.data", "a torch dataset")
    from_numpy = require_extra("torch", "a torch dataset").from_numpy
    return data.TensorDataset(*(from_numpy(part.astype(np.float32)) for part in arrays))
