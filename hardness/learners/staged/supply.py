"""Examples for stages that come back for more, their tokens brought to second moment one.

With x = z A, A invertible, a layer of Theta, W on x is that of A Theta A^T, A W on z, with the same
labels: so the stages work on z, and what they find is mapped back. A shift is no equivalence: with
x = z + mu logits get a part mu Theta z_b^T that no Theta gives. The stages after the first never
use that tokens have mean zero; what a large mean does is saturate the attention.
"""

from dataclasses import dataclass

import numpy as np

from hardness.learners.attention import Array
from hardness.learners.fitting import Data, draw, repeated
from hardness.oracles import ExampleOracle, Spent
from instances.layer import AttentionLayer

_EVEN = 4.0  # a ratio of eigenvalues that the stages do not mind
_RANK = 1e-12  # of the largest eigenvalue: below it is rounding
_STANDARD_MEAN, _STANDARD_REPEATS = 0.05, 0.5
_LARGEST_HOLD_OUT = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class Whitening:
    """The map x = z A, A symmetric, by its inverse; None where tokens are left as they are.

    measures: condition, of the second moment of the tokens on what they span; mean, the share of
    |E x|^2 in E|x|^2, over the tokens of an example; repeats, the share of the examples that stood
    before; unseen, the dimensions that they do not span; whitened, whether there is a map.

    >>> x = np.random.default_rng(0).normal(size=(500, 2, 2)) * [1.0, 10.0]
    >>> found = Whitening.of(x)
    >>> flat = found.tokens(x).reshape(-1, 2)
    >>> bool(np.allclose(flat.T @ flat / 1000, np.eye(2))), found.measures["unseen"]
    (True, 0)
    """

    inverse: Array | None
    measures: dict[str, float]

    @staticmethod
    def of(x: Array) -> "Whitening":
        """Choose the map for tokens like x (n, k, d): none where their moment is even enough."""
        n, k, d = x.shape
        flat = x.reshape(-1, d)
        values, vectors = np.linalg.eigh(flat.T @ flat / (n * k))
        size = float(values[-1]) or 1.0
        there = values > _RANK * size
        condition = size / float(values[there][0]) if there.any() else 1.0
        # A sample's moment is uneven by itself, by about this much.
        chance = np.sqrt(d / (n * k))
        least = _EVEN * ((1 + chance) / (1 - chance)) ** 2 if chance < 1 else np.inf
        roots = np.sqrt(np.where(there, values, 1.0))
        inverse = (vectors / roots) @ vectors.T if condition > least else None
        square = float(np.mean((flat**2).sum(axis=1))) or 1.0
        measures = {
            "condition": condition,
            "mean": float(np.mean((x.mean(axis=0) ** 2).sum(axis=1))) / square,
            "repeats": float(repeated(x).mean()),
            "unseen": d - int(there.sum()),
            "whitened": inverse is not None,
        }
        return Whitening(inverse=inverse, measures=measures)

    @property
    def standard(self) -> bool:
        """Whether there is nothing to say of the tokens."""
        even = self.inverse is None and not self.measures["unseen"]
        few = self.measures["repeats"] < _STANDARD_REPEATS
        return even and self.measures["mean"] < _STANDARD_MEAN and few

    def tokens(self, x: Array) -> Array:
        """Map tokens (n, k, d): x -> z."""
        return x if self.inverse is None else x @ self.inverse

    def back(self, layer: AttentionLayer) -> AttentionLayer:
        """Map a layer on z to the one on x."""
        if self.inverse is None:
            return layer
        theta = self.inverse @ layer.theta @ self.inverse
        return AttentionLayer(theta=theta, w=self.inverse @ layer.w)


class Supply:
    """Draws from an oracle and keeps what was drawn; whitening: None before the first draw.

    The first batch chooses the map of the tokens.

    >>> from hardness.oracles import Budget, Meter
    >>> from instances import parse
    >>> source = parse("parity:d=8,m=3").instance(0)
    >>> supply = Supply(ExampleOracle(source, Meter(Budget(examples=100))))
    >>> [len(part) for part in supply.take(80)], supply.exhausted
    ([70, 10], False)
    >>> [len(part) for part in supply.take(800)], supply.exhausted
    ([88, 12], True)
    """

    def __init__(self, oracle: ExampleOracle) -> None:
        """Start with nothing drawn."""
        self.family = oracle.family
        self.whitening: Whitening | None = None
        self._oracle = oracle
        self._drawn: Data | None = None
        self.exhausted = False

    def __len__(self) -> int:
        return len(self._drawn) if self._drawn else 0

    def take(self, count: int) -> tuple[Data, Data]:
        """Return data and hold-out, `count` examples together, fewer at the end of the budget.

        An eighth of the examples is held out, at most 4096. Raises Spent where there are none or
        the time is over.
        """
        if count > len(self) and not self.exhausted:
            spent = self._draw(count - len(self))
            if spent and (spent.resource != "examples" or not self._drawn):
                raise spent
            self.exhausted = spent is not None
        there = min(count, len(self))
        if not self._drawn or there < 2:
            raise Spent("examples")
        held_out = min(max(there // 8, 1), _LARGEST_HOLD_OUT)
        return self._drawn.cut(0, there - held_out), self._drawn.cut(there - held_out, there)

    def _draw(self, missing: int) -> Spent | None:
        """Add to what was drawn; returns what ended it early."""
        batches, spent = draw(self._oracle, missing)
        parts = [(self._drawn.x, self._drawn.y)] if self._drawn else []
        for drawn in batches:
            tokens = np.asarray(drawn.x, np.float64)
            self.whitening = self.whitening or Whitening.of(tokens)
            parts.append((self.whitening.tokens(tokens), drawn.y))
        if batches:
            x, y = (np.concatenate(part) for part in zip(*parts, strict=True))
            self._drawn = Data(x=x, y=y)
        return spent
