"""Learners by torch: a transformer on the tokens, and the attention layer itself.

Both are trained like every torch module, see `Module`, and need the extra `torch`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hardness.learners.learner import BuiltIn, Hypothesis, View, no_softmax_heads
from hardness.learners.plugins.load import adapt
from hardness.learners.plugins.module import Module
from hardness.oracles import ExampleOracle
from instances.errors import require
from instances.family import Family
from instances.lazy import require_extra
from instances.parameters import OneOf, Range


class _Network(BuiltIn, ABC):
    """The base of both: training parameters, and training."""

    view: ClassVar[View] = "tokens"
    name: ClassVar[str]

    steps: int
    batch: int
    rate: float
    patience: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._training(len)

    def _training(self, make: Callable[..., Any]) -> Module:
        names = ("name", "steps", "batch", "rate", "patience")
        return Module(make, **{name: getattr(self, name) for name in names})

    @abstractmethod
    def network(self, torch: Any, family: Family) -> Any:
        """Make the module, drawn from torch's generator."""

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Train on minibatches of fresh examples, then in rounds, by AdamW."""
        torch = require_extra("torch", self.name)
        training = self._training(lambda: self.network(torch, oracle.family))
        return adapt(training, self.name).learn(oracle, rng)


@dataclass(frozen=True, kw_only=True)
class Transformer(_Network):
    """Trains an encoder: tokens, a linear map to `width`, `layers` blocks, a linear map to labels.

    A block is torch's TransformerEncoderLayer with `heads` heads, norms before its parts, no
    dropout and a feed-forward part of 4 `width` units. positions: learned, a vector for each token
    position, or none. Training takes at most `steps` minibatches of `batch` examples by AdamW at
    the rate `rate`. A tenth of the examples is held out; training ends when the loss on them has
    not fallen for `patience` steps.
    """

    name: ClassVar[str] = "transformer"
    revision: ClassVar[int] = 2
    about: ClassVar[str] = "a transformer encoder on the tokens, trained by AdamW"

    width: Annotated[int, Range(1)] = 32
    heads: Annotated[int, Range(1)] = 4
    layers: Annotated[int, Range(1)] = 2
    positions: Annotated[str, OneOf(("learned", "none"))] = "learned"
    steps: int = 4000
    batch: int = 256
    rate: float = 1e-3
    patience: int = 2000

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.width % self.heads == 0,
            f"width must be a multiple of heads={self.heads}, got {self.width}",
        )

    def network(self, torch: Any, family: Family) -> Any:
        """Make an encoder: (n, k, d) -> (n, k, d)."""
        nn, width, wide = torch.nn, self.width, 4 * self.width

        class Encoder(nn.Module):  # type: ignore[name-defined]
            def __init__(self, positions: str, heads: int, layers: int) -> None:
                super().__init__()
                self.read, self.write = nn.Linear(family.d, width), nn.Linear(width, family.d)
                spread = 0.02 * torch.randn(family.k, width)
                self.places = nn.Parameter(spread) if positions == "learned" else 0.0
                block = nn.TransformerEncoderLayer(
                    width, heads, wide, dropout=0.0, batch_first=True, norm_first=True
                )
                self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
                self.norm = nn.LayerNorm(width)

            def forward(self, x: Any) -> Any:
                return self.write(self.norm(self.blocks(self.read(x) + self.places)))

        return Encoder(self.positions, self.heads, self.layers)


@dataclass(frozen=True, kw_only=True)
class Attention(_Network):
    """Trains the layer itself, `heads` heads (0: as many as the family's layers have), by AdamW.

    Full matrices Theta_i and W_i are returned and compared with the true ones. Training is the same
    as for `transformer`.
    """

    name: ClassVar[str] = "attention"
    revision: ClassVar[int] = 2
    about: ClassVar[str] = "an attention layer trained by AdamW in torch, in rounds"

    heads: Annotated[int, Range(0)] = 0
    steps: int = 4000
    batch: int = 256
    rate: float = 1e-2
    patience: int = 1000

    def supports(self, family: Family) -> str | None:
        """Return None except for linear attention and an unknown number of heads."""
        return no_softmax_heads(family, self.name, self.heads)

    def network(self, torch: Any, family: Family) -> Any:
        """Make a layer: (n, k, d) -> (n, k, d)."""
        nn, m, d = torch.nn, self.heads or family.layer_heads, family.d
        counted = torch.arange(family.k) < (family.rows or family.k)

        class Layer(nn.Module):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.theta = nn.Parameter(torch.randn(m, d, d) / math.sqrt(d))
                self.w = nn.Parameter(torch.randn(m, d, d) / d)
                self.register_buffer("counted", counted[:, None].float(), persistent=False)

            def forward(self, x: Any) -> Any:
                x = x[:, None]
                weights = torch.softmax(x @ self.theta @ x.transpose(2, 3), -1)
                return (weights @ x @ self.w).sum(1) * self.counted

            def layer(self) -> tuple[Any, Any]:
                return self.theta, self.w

        return Layer()
