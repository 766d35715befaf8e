"""Examples for stages that come back for more: all that were drawn, and a hold-out among them.

Their tokens are whitened by a map that the first batch chooses.
"""

import numpy as np

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.staged.data import Data
from hardness.upper.staged.whiten import Whitening

_LARGEST_HOLD_OUT = 4096
_BATCH = 1 << 20  # numbers of a batch's tokens


class Supply:
    """Draws from an oracle and keeps what was drawn; whitening: None before the first draw.

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
        missing = count - len(self)
        if missing > 0 and not self.exhausted:
            try:
                self._draw(missing)
            except Spent as spent:
                if spent.resource != "examples" or not self._drawn:
                    raise
                self.exhausted = True
        if not self._drawn:
            raise Spent("examples")
        there = min(count, len(self))
        held_out = min(max(there // 8, 1), _LARGEST_HOLD_OUT)
        if there < 2:
            raise Spent("examples")
        return self._drawn.cut(0, there - held_out), self._drawn.cut(there - held_out, there)

    def _draw(self, missing: int) -> None:
        """Draw in batches, between which the oracle looks at its clock."""
        k, d = self.family.k, self.family.d
        parts = [self._drawn] if self._drawn else []
        try:
            while missing > 0:
                drawn = self._oracle.draw(min(missing, max(1, _BATCH // (k * d))))
                tokens = np.asarray(drawn.x, np.float64)
                self.whitening = self.whitening or Whitening.of(tokens)
                parts.append(Data(x=self.whitening.tokens(tokens), y=drawn.y))
                missing -= len(drawn)
        finally:
            if parts:
                x, y = (np.concatenate([getattr(p, name) for p in parts]) for name in ("x", "y"))
                self._drawn = Data(x=x, y=y)
