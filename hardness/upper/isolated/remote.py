"""Statistical queries of a learner in another process: it evaluates them and sees no label.

The parent sends tokens; the learner's process answers with the query's value at every level that a
label can have there, and the parent, who knows the labels, takes its pick.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.query import Character, Pool, StatisticalQuery, bounded, on_factor
from hardness.upper.isolated.wire import Broken
from instances.coded import CodedExamples, as_coded, require_coded
from instances.errors import UsageError
from instances.family import Examples, Family

Array = NDArray[Any]
Evaluate = Callable[[dict[str, Array], dict[str, Any]], Array]  # arrays, more -> values
_NUMBERS = 1 << 20  # of a table that is sent at once


def remote(kind: str, data: Any, family: Family, evaluate: Evaluate) -> StatisticalQuery:
    """Make the query that a message describes; raises UsageError for what is none."""
    if kind == "character":
        return Character(subset=_sets([data])[0])
    if kind == "pool":
        return Pool(sets=_sets(data))
    if kind == "correlational":
        return _Correlational(evaluate)
    if kind == "factor":
        return _Factor(require_coded(family).d, evaluate)
    if kind == "levels":
        return _Levels(len(require_coded(family).levels), evaluate)
    raise UsageError(f"a query of kind {str(kind)[:40]!r} given: it is none")


def _sets(data: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(data, list) or not all(isinstance(one, list) for one in data):
        raise UsageError("a query's sets must be lists of coordinates")
    if any(type(j) is not int or not 0 <= j < 1 << 40 for one in data for j in one):
        raise UsageError("a query's coordinates must be integers of at least 0")
    return tuple(tuple(one) for one in data)


class _Levels:
    """Any phi(x, y) of two-token examples whose labels have one of a few levels."""

    def __init__(self, levels: int, evaluate: Evaluate) -> None:
        self._levels, self._evaluate = levels, evaluate

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        packed = as_coded(examples)
        out = np.empty(len(packed))
        for rows in _blocks(len(packed), self._levels):
            table = self._evaluate({"words": packed.words[rows]}, {})
            wanted = (len(packed.codes[rows]), self._levels)
            out[rows] = _shaped(table, wanted)[np.arange(wanted[0]), packed.codes[rows]]
        return bounded(out, len(packed))


class _Correlational:
    """phi = <y, h(x)>: the learner's process evaluates h."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        family = examples.family
        out = np.empty(len(examples))
        for rows in _blocks(len(examples), family.k * family.d):
            part = examples.cut(rows.start, rows.stop)
            h = _shaped(self._evaluate(tokens_of(part), {}), (len(part), family.k, family.d))
            out[rows] = np.sum(part.y * h, axis=(1, 2))
        return bounded(out, len(examples))


class _Factor:
    """phi(z, s) of z and the label's factor where z_0 = -1."""

    def __init__(self, d: int, evaluate: Evaluate) -> None:
        self._d, self._evaluate = d, evaluate

    def require(self, family: Family) -> None:
        """Refuse a family of another dimension; raises UsageError."""
        if self._d != family.d:
            raise UsageError(f"a query of d={self._d} given: {family.spec} has d={family.d}")

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        return on_factor(self, examples)

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate phi on packed z (n, words) at the factors (n,), none of which is sent."""
        values, place = np.unique(factor, return_inverse=True)
        out = np.empty(len(z))
        for rows in _blocks(len(z), len(values)):
            table = self._evaluate({"z": z[rows]}, {"factors": values.tolist()})
            wanted = (len(z[rows]), len(values))
            out[rows] = _shaped(table, wanted)[np.arange(wanted[0]), place[rows]]
        return bounded(out, len(z))


def tokens_of(examples: Examples) -> dict[str, Array]:
    """Return the tokens of examples, and nothing of their labels."""
    if isinstance(examples, CodedExamples):
        return {"words": examples.words}
    return {"x": examples.x}


def _blocks(count: int, numbers: int) -> list[slice]:
    each = max(1, _NUMBERS // max(1, numbers))
    return [slice(start, min(start + each, count)) for start in range(0, count, each)]


def _shaped(table: Array, wanted: tuple[int, ...]) -> NDArray[np.float64]:
    if table.shape != wanted or table.dtype.kind not in "biuf":
        raise Broken(f"a table of shape {table.shape} where {wanted} is wanted")
    return table.astype(np.float64)
