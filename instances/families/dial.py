"""One dial from easy to hard: softmax layers whose attention looks ever more closely.

||Theta_i||_F = tau. At small tau the softmax is nearly linear in its logits, and least squares on
features of linear attention learns the layer; at large tau it is not.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from instances.dense import Dense
from instances.families.nice import Nice
from instances.layer import AttentionLayer


@dataclass(frozen=True, kw_only=True)
class Dial(Dense):
    """Layers of m random heads with ||Theta_i||_F = tau; raises UsageError out of range.

    Logits x Theta x' of two tokens have the standard deviation tau, in any dimension.

    >>> Dial(tau=0.3, m=2, k=2, d=8).instance(0).examples(0, 5).y.shape
    (5, 2, 8)
    """

    name: ClassVar[str] = "dial"
    example: ClassVar[str] = "dial:tau=0.3,m=2,k=2,d=8"
    about: ClassVar[str] = "softmax layers from nearly linear to hard, by the norm of the logits"
    easy: ClassVar[str] = (
        "at small tau least squares learns it; layers that are not degenerate can be learned to a "
        "small error, in polynomial time for a constant number of heads [CL24]"
    )
    default_learners: ClassVar[tuple[str, ...]] = ("lifted", "student", "staged")

    tau: float
    m: int
    k: int
    d: int
    tokens: str = "boolean"
    noise: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        self.require_ranges(heads=64, norm="tau")

    def build(self, rng: np.random.Generator) -> AttentionLayer:
        """Draw a layer as the family nice does, at the norm tau."""
        return Nice(m=self.m, k=self.k, d=self.d, scale=self.tau).build(rng)
