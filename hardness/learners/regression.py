"""Learners by least squares on features of tokens, and the baseline that has none.

Linear: attention independent of the tokens, Y_l ~ X_l A + (sum_j X_j) B. The features are those of
a layer with Theta = 0 (uniform attention) and of one that attends to its own token. The rest is due
to the softmax. LowDegree: all monomials of z up to a degree, fitted to the unknown factor minus the
baseline; parts of higher degree are invisible to it. For layers on boolean tokens, monomials of
their bits are fitted to a row of the output.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import SPENT, BuiltIn, Hypothesis, Predict, View, nothing
from hardness.learners.reduced import predictor
from hardness.oracles import ExampleOracle, Spent
from instances.coded import Coded, reduce, require_coded
from instances.dense import Dense
from instances.family import Examples, Family, Secret
from instances.limits import require_memory
from instances.parameters import Range
from instances.sets import Symmetric
from instances.symmetric import to_float

Array = NDArray[np.float64]
_BATCH_NUMBERS = 1 << 18  # numbers in the tokens of a batch
_BATCH_EXAMPLES = 1 << 12


@dataclass(frozen=True, kw_only=True)
class Trivial(BuiltIn):
    """Predicts the baseline, which depends on the family alone, and uses no examples."""

    name: ClassVar[str] = "trivial"
    view: ClassVar[View] = "nothing"
    about: ClassVar[str] = "the baseline, from the family alone: a risk of 1"

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Return the baseline."""
        return nothing(oracle.family)


@dataclass(frozen=True, kw_only=True)
class Linear(BuiltIn):
    """Least squares on 2d features of each token, from `oversample` tokens a feature."""

    name: ClassVar[str] = "linear"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "least squares on each token and the sum of all tokens"

    oversample: Annotated[int, Range(1)] = 32

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Add up the normal equations batch by batch, and solve them once."""
        family = oracle.family
        d, k = family.d, family.rows or family.k
        require_memory(8 * 12 * d * d, f"a linear regression at d={d}")
        gram, right = np.zeros((2 * d, 2 * d)), np.zeros((2 * d, d))
        wanted, used, outcome = -(-2 * d * self.oversample // k), 0, None
        while used < wanted:
            try:
                batch = oracle.draw(min(wanted - used, max(1, _BATCH_NUMBERS // (k * d))))
            except Spent as spent:
                outcome = SPENT[spent.resource]
                break
            rows = features(batch.x)[:, :k].reshape(-1, 2 * d)
            gram += rows.T @ rows
            right += rows.T @ batch.y[:, :k].reshape(-1, d)
            used += len(batch)
        # The solution of minimum norm, if there are too few tokens.
        solution, _, rank, _ = np.linalg.lstsq(gram, right, rcond=None)
        return Hypothesis(
            predict=lambda x: features(x) @ solution,
            outcome=outcome,
            details={"features": 2 * d, "rank": int(rank)},
        )


def features(x: NDArray[Any]) -> NDArray[np.float64]:
    """Append the sum of all tokens to each token: (n, k, d) -> (n, k, 2d).

    >>> features(np.array([[[1], [2]]])).tolist()
    [[[1.0, 3.0], [2.0, 3.0]]]
    """
    total = np.broadcast_to(x.sum(axis=1, keepdims=True), x.shape)
    return np.concatenate([x, total], axis=2, dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class LowDegree(BuiltIn):
    """Fits a polynomial of degree `degree` to `oversample` examples a monomial."""

    name: ClassVar[str] = "lowdegree"
    view: ClassVar[View] = "z"
    about: ClassVar[str] = "least squares on monomials of z up to a degree"
    computes_long: ClassVar[bool] = True

    degree: Annotated[int, Range(0)] = 2
    oversample: Annotated[int, Range(2)] = 8

    def supports(self, family: Family) -> str | None:
        """Return None for families with codes and for layers on boolean tokens, else the reason."""
        if not isinstance(family, Dense):
            return None if isinstance(family, Coded) else family.lacks("coded")
        law = family.token_text
        return None if law == "boolean" else f"its tokens are {law}: monomials are of -1 and +1"

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Solve the normal equations, then scale the fit by least squares on fresh examples."""
        family = oracle.family
        dense = isinstance(family, Dense)
        view: _Factors | _Rows = _Rows(family) if dense else _Factors(require_coded(family))
        degree, places = min(self.degree, view.bits), range(1, view.bits + 1)
        size = sum(math.comb(view.bits, k) for k in range(degree + 1))
        require_memory(
            24 * size * (size + _BATCH_EXAMPLES), f"{size:.3g} monomials of degree {degree}"
        )
        monomials = [s for k in range(degree + 1) for s in itertools.combinations(places, k)]
        columns = _columns(monomials, degree)
        gram, moments, used = np.zeros((size, size)), list[Array](), 0
        try:
            while used < self.oversample * size:
                wanted = min(_BATCH_EXAMPLES, view.enough(self.oversample * size - used))
                z, values = view.read(oracle.draw(wanted))
                features = _monomials(z, columns)
                gram += features.T @ features
                moments.append(features.T @ values)
                used += len(z)
            moment = sum(moments[1:], moments[0])
            coefficients = np.asarray(np.linalg.lstsq(gram, moment, rcond=1e-10)[0], np.float64)
            z, values = view.read(oracle.draw(_BATCH_EXAMPLES))
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], monomials=size, examples_used=used)
        fitted = (_monomials(z, columns) @ coefficients).ravel()
        square = max(float(fitted @ fitted), 1e-300)
        scale = float(np.clip(float(fitted @ values.ravel()) / square, 0.0, 1.0))
        coefficients = scale * coefficients
        secret = None
        if coefficients.ndim == 1:
            top = int(np.argmax(np.abs(coefficients)))
            secret = _claimed(family, monomials[top], float(coefficients[top]))
        details = {"monomials": size, "degree": degree, "scale": scale}
        predict = view.predictor(lambda z: _monomials(z, columns) @ coefficients)
        return Hypothesis(predict=predict, secret=secret, details=details)


class _Factors:
    """The view of families with codes: z, and the unknown factor minus the baseline's."""

    def __init__(self, family: Coded) -> None:
        self.family, self.bits, self.enough = family, family.d - 1, family.enough

    def read(self, examples: Examples) -> tuple[Array, Array]:
        block = reduce(examples)
        return block.z(), block.values

    def predictor(self, fitted: Callable[[Array], Array]) -> Predict:
        return predictor(self.family, fitted)


class _Rows:
    """The view of layers on boolean tokens: bits of all tokens, and a row of the output."""

    def __init__(self, family: Family) -> None:
        self.family, self.bits, self.count = family, family.k * family.d, family.rows or family.k

    def enough(self, rows: int) -> int:
        return -(-rows // self.count)

    def read(self, examples: Examples) -> tuple[Array, Array]:
        x, y = examples.x, examples.y - self.family.known(examples.x)
        return self._turned(x), y[:, : self.count].reshape(-1, self.family.d)

    def predictor(self, fitted: Callable[[Array], Array]) -> Predict:
        def predict(x: NDArray[Any]) -> Array:
            out = np.array(self.family.known(x), np.float64)
            for start in range(0, len(x), _BATCH_EXAMPLES):
                z = self._turned(x[start : start + _BATCH_EXAMPLES])
                shape = (-1, self.count, self.family.d)
                out[start : start + _BATCH_EXAMPLES, : self.count] += fitted(z).reshape(shape)
            return out

        return predict

    def _turned(self, x: NDArray[Any]) -> Array:
        """Flatten tokens with each row's token first, after a 1: (n, k, d) -> (n rows, 1 + kd)."""
        turned = np.stack([np.roll(x, -row, axis=1) for row in range(self.count)], axis=1)
        flat = turned.reshape(-1, self.bits).astype(np.float64)
        return np.concatenate([np.ones((len(flat), 1)), flat], axis=1)


def _claimed(family: Family, monomial: Secret, coefficient: float) -> Secret | None:
    """Return the hidden set whose coefficient this is, within a factor of two, or None."""
    if not isinstance(family, Symmetric) or len(monomial) != family.m:
        return None
    peak = float(1 - 2 * family.noise) * to_float(family.fourier[family.m])
    return monomial if peak and coefficient / peak > 0.5 else None


def _columns(monomials: list[Secret], degree: int) -> NDArray[np.intp]:
    """Return index arrays (size, degree), padded with coordinate 0, which is +1 in z."""
    out = np.zeros((len(monomials), max(degree, 1)), np.intp)
    for row, monomial in zip(out, monomials, strict=True):
        row[: len(monomial)] = monomial
    return out


def _monomials(z: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    out: NDArray[np.float64] = z[:, columns[:, 0]]
    for k in range(1, columns.shape[1]):
        out = out * z[:, columns[:, k]]
    return out
