"""Stage 1: a crude estimate of the sum of the W_i from sums over tokens. [CL24]

Takes examples; returns the sum, with uniform attention. By symmetry E[sum_l Y_l | sum_j X_j] is
about (sum_j X_j) (sum_i W_i): a least squares problem, as in the theorem. Its error, 0.1 to 0.2 on
generic layers, is a bias that more examples do not reduce; stage 3 reduces it.
"""

import numpy as np

from hardness.learners.fitting import Array, Data, OneHead, StageFailed, relative_error
from hardness.learners.regression import features

_LINEAR_ROWS = 200  # for each of the 2 d unknowns of a column


def moment(data: Data, validation: Data | None = None) -> OneHead:
    """Estimate w (d, d), the sum of the W_i; its layer attends uniformly. Raises StageFailed.

    This is the least squares fit of sum_l Y_l to sum_j X_j and a constant, (n, d) each. It equals
    numpy.linalg.lstsq with a column of ones. Measures: label_rank, the number of eigenvalues of the
    mean of y^T y over rows above 1e-10 of the largest; label_square, the mean eigenvalue; and with
    a hold-out linear, the error of a linear map.

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
    """Return the relative hold-out error of the best linear map of a token and the tokens' sum."""
    used = data.cut(0, -(-_LINEAR_ROWS * 2 * data.d // data.k))
    known, fresh = (features(part.x).reshape(-1, 2 * part.d) for part in (used, validation))
    weights = regress(known, used.y.reshape(-1, used.d))
    return relative_error((fresh @ weights).reshape(validation.y.shape), validation.y)


def regress(x: Array, y: Array) -> Array:
    """Return the minimum-norm W minimising ||x W - y||, by its d normal equations.

    Equals numpy.linalg.lstsq and is 10 times faster for many rows. If x is nearly singular, only
    half of the digits are right.

    >>> regress(np.array([[1.0], [1.0]]), np.array([[2.0], [4.0]])).round(12).tolist()
    [[3.0]]
    """
    return np.asarray(np.linalg.lstsq(x.T @ x, x.T @ y, rcond=None)[0])
