"""What is left of the labels after a fit: noise, or structure that the fit has missed."""

import numpy as np

from hardness.upper.staged.data import Array

LIKE_NOISE = 0.75  # two heads fitted as one, with 10 % of label noise, reach 0.56
_LOW = 0.01
_LEAST_FREEDOM = 6  # below, the norms of noise spread too far to tell
# Of fewer rows the quantile is little else than the least norm: at d = 6, a head fitted to the
# labels of three passed for noise on 10 of 12 instances by 36 rows, and on none by 1000.
LEAST_ROWS = 1000


def evenness(norms: Array, freedom: int) -> float:
    """Return how even residual norms are: about 1 for isotropic noise of `freedom` dimensions.

    It is their 1 % quantile over their median, in units of the same for noise. Misfits are small
    on some rows and so give less. 0 for exact fits, and where `freedom` or the rows are too few.

    >>> rng = np.random.default_rng(0)
    >>> noise = np.linalg.norm(rng.normal(size=(4000, 15)), axis=1)
    >>> round(evenness(noise, 15), 1), round(evenness(noise * rng.random(4000), 15), 1)
    (1.0, 0.0)
    """
    from scipy.stats import chi2

    if freedom < _LEAST_FREEDOM or norms.size < LEAST_ROWS:
        return 0.0
    low, median = np.quantile(norms, [_LOW, 0.5])
    expected = np.sqrt(chi2.ppf(_LOW, freedom) / chi2.ppf(0.5, freedom))
    return float(low / median / expected) if median else 0.0
