"""The factor of a two-token function of boolean tokens, as a table over z.

Where z_0 = -1 a label is X[l, 0] times a factor. That of a member is a function of z = X_1 * X_2
alone. A prediction F has the factor X[0,0] F(X)[0,0], which may depend on X_1 too; its mean over
X_1 is the function of z that comes closest to it. Row 1 says the same of an attention layer, which
treats all rows alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Predict
from hardness.numerics.walsh import LARGEST_LEVELS
from instances import tokens
from instances.errors import ToolkitError
from instances.family import require
from instances.limits import require_memory
from instances.streams import BitStream, key

EXACT_UP_TO = 11  # d: two million pairs of tokens there
MAX_DRAWS = 4096
_DRAWS, _WORK = 16, 1 << 22
_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True, kw_only=True, eq=False)
class Factor:
    """A prediction's factor where z_0 = -1, averaged over X_1.

    table: (2^(d-1),) float64, bit j-1 of an index is 1 where z_j = -1. draws: of X_1 for each z,
    None where every X_1 was taken. beyond: the mean over z of the factor's variance over X_1, which
    no function of z can show; an unbiased estimate with draws.
    """

    table: NDArray[np.float64]
    draws: int | None
    beyond: float

    @property
    def surplus(self) -> float:
        """What the draws add to the mean square of the table on average, 0 without.

        Draws are independent for each z, so it is spread evenly over all Walsh coefficients.
        """
        return self.beyond / self.draws if self.draws else 0.0


def require_table(d: int) -> None:
    """Refuse tokens whose functions of z are too long; raises UsageError, TooLarge."""
    n = d - 1
    require(n >= 1, f"d={d} given: d must be at least 2")
    require(
        n <= LARGEST_LEVELS,
        f"d={d} given: functions of z_1 .. z_{n} have 2^{n} Walsh coefficients, at most "
        f"2^{LARGEST_LEVELS} are computed: d may be up to {LARGEST_LEVELS + 1}",
    )
    # Two spectra, the table of one more, and twice as much in passing.
    require_memory(40 << n, f"Walsh spectra of functions of {n} coordinates")


def require_draws(draws: int | None) -> None:
    """Refuse a number of draws out of range; raises UsageError."""
    require(
        draws is None or 2 <= draws <= MAX_DRAWS,
        f"draws={draws} given: it must be between 2 and {MAX_DRAWS}",
    )


def factor(
    predict: Predict,
    d: int,
    draws: int | None = None,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Factor:
    """Tabulate E[X[0,0] F(X)[0,0] | z] where z_0 = -1.

    predict: (n, 2, d) tokens -> (n, 2, d) labels. draws: of X_1 for each z, from a stream of their
    own; None takes every X_1 if d <= 11, else 16 of them, or fewer where the table is long.
    progress is told how many more of the 2^(d-1) entries are done. Raises UsageError and TooLarge
    for d or draws out of range, ToolkitError for predictions not finite or of the wrong shape.

    >>> from instances import parse
    >>> family = parse("parity:d=3,m=2")
    >>> found = factor(family.layer((1, 2)), d=3)
    >>> found.table.round(9).tolist(), found.beyond < 1e-20
    ([1.0, -1.0, -1.0, 1.0], True)
    """
    require_table(d)
    require_draws(draws)
    size = 1 << d - 1
    if draws is None and d > EXACT_UP_TO:
        draws = max(2, min(_DRAWS, _WORK // size))
    each = draws or 1 << d
    stream = BitStream(key(seed, "tokens", "factor"))
    table, variance = np.empty(size), 0.0
    rows = _BATCH_NUMBERS // (2 * d * each) or 1
    for start in range(0, size, rows):
        stop = min(size, start + rows)
        index = np.arange(start, stop, dtype=np.uint64)[:, None]
        if draws:
            first = tokens.boolean(stream, start * draws, (stop - start) * draws, 1, d)
            first = first.reshape(stop - start, draws)
        else:
            first = np.broadcast_to(np.arange(each, dtype=np.uint64), (stop - start, each))
        values = _factors(predict, first, first ^ (index << np.uint64(1) | np.uint64(1)), d)
        table[start:stop] = values.mean(axis=1)
        variance += float(values.var(axis=1, ddof=1 if draws else 0).sum())
        progress(stop - start)
    return Factor(table=table, draws=draws, beyond=variance / size)


def factor_table(
    predict: Predict, d: int, draws: int | None = None, seed: int = 0
) -> NDArray[np.float64]:
    """Tabulate a prediction's factor as `factor` does: (2^(d-1),).

    >>> factor_table(lambda x: 3.0 * x, d=3).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    return factor(predict, d, draws, seed).table


def _factors(
    predict: Predict, first: NDArray[np.uint64], second: NDArray[np.uint64], d: int
) -> NDArray[np.float64]:
    """X[0,0] F(X)[0,0] of packed tokens X_1, X_2: (rows, draws) each -> (rows, draws)."""
    x = tokens.unpack(np.stack([first.reshape(-1), second.reshape(-1)], axis=1)[..., None], d)
    with np.errstate(all="ignore"):  # what overflows is not finite, and is refused below
        given: NDArray[Any] = np.asarray(predict(x))
    if given.shape != x.shape or given.dtype.kind not in "fiu":
        raise ToolkitError(
            f"the prediction gave {given.dtype} {given.shape} for tokens {x.shape}: it has no "
            "spectrum"
        )
    values = np.asarray(x[:, 0, 0] * given[:, 0, 0], np.float64)
    if not np.isfinite(values).all():
        raise ToolkitError("the prediction gave values that are not finite: it has no spectrum")
    return values.reshape(first.shape)
