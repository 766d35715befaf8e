"""Stage 1: a crude estimate of the sum of the W_i from sums over tokens. [CL24]

Takes examples; returns the sum, with attention that is uniform. By symmetry
E[sum_l Y_l | sum_j X_j] is about (sum_j X_j) (sum_i W_i): a least squares problem, as in the
theorem. Its error, 0.1 to 0.2 on generic layers, is bias: more examples do not help, stage 3 does.
"""

import numpy as np

from hardness.learners.fitting import Array, Data, OneHead, StageFailed, relative_error
from hardness.learners.regression import features

_LINEAR_ROWS = 200  # for each of the 2 d unknowns of a column


def moment(data: Data, validation: Data | None = None) -> OneHead:
    """Estimate w (d, d), the sum of the W_i; its layer attends uniformly. Raises StageFailed.

    Least squares of sum_l Y_l on sum_j X_j and a constant, (n, d) each: equals numpy.linalg.lstsq
    with a column of ones. Measures: label_rank and label_square, the number of eigenvalues of the
    mean of y^T y over rows above 1e-10 of the largest, and their mean; linear, with a hold-out.

    >>> x = np.random.default_rng(0).normal(size=(40, 2, 3))
    >>> np.allclose(moment(Data(x=x, y=x)).w, np.eye(3))
    True
    """
    if len(data) < 4 * data.d:
        raise StageFailed("moment", f"{len(data)} examples are too few", needs=4 * data.d)
    if not data.y.any():
        raise StageFailed("moment", "all labels are zero, there is nothing to learn")
    x, y = (np.sum(part, axis=1) for part in (data.x, data.y))
    w = regress(x - x.mean(axis=0), y - y.mean(axis=0))  # tokens may have a mean
    rows = data.y.reshape(-1, data.d)
    spectrum = np.maximum(np.linalg.eigvalsh(rows.T @ rows / len(rows))[::-1], 0.0)
    rank = int(np.sum(spectrum > 1e-10 * spectrum[0]))
    measures = {"label_rank": rank, "label_square": float(spectrum.mean())}
    if validation:
        measures["linear"] = beyond_linear(data, validation)
    return OneHead(theta=np.zeros_like(w), w=w, rows=len(rows), measures=measures)


def beyond_linear(data: Data, validation: Data) -> float:
    """Return the relative error on the hold-out of the best linear map of a token and their sum."""
    used = data.cut(0, -(-_LINEAR_ROWS * 2 * data.d // data.k))
    known, fresh = (features(part.x).reshape(-1, 2 * part.d) for part in (used, validation))
    weights = regress(known, used.y.reshape(-1, used.d))
    return relative_error((fresh @ weights).reshape(validation.y.shape), validation.y)


def regress(x: Array, y: Array) -> Array:
    """Return the minimum-norm W minimising ||x W - y||, by its d normal equations.

    Equals numpy.linalg.lstsq, 10 times faster for many rows, and good to half of the digits only
    where x is singular to within them.

    >>> regress(np.array([[1.0], [1.0]]), np.array([[2.0], [4.0]])).round(12).tolist()
    [[3.0]]
    """
    return np.asarray(np.linalg.lstsq(x.T @ x, x.T @ y, rcond=None)[0])
