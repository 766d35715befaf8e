"""Linear attention: F(X) = sum_i (X Theta_i X^T) X W_i, the layer without its softmax.

Every output is linear in d^2 (d+1) / 2 cubic features of the tokens, so the family is the control
of a picture of hardness: least squares learns it, whatever the number of heads. [YAMTJA24]
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from instances.dense import Dense, Norm
from instances.families.nice import random_matrix, unit
from instances.layer import AttentionLayer, Kind
from instances.ranges import Range

LARGEST_D = 64
_WORDS = f"at least 1 and at most {LARGEST_D}, where the cubic map has 2^24 coefficients"


@dataclass(frozen=True, kw_only=True)
class Linear(Dense):
    """Layers of m heads of linear attention on k tokens; raises UsageError out of range.

    Theta_i is a random matrix of Frobenius norm `scale`, W_i one of Frobenius norm sqrt(d). noise
    is the standard deviation of the label noise.

    >>> Linear(m=4, k=3, d=6).instance(0).examples(0, 5).y.shape
    (5, 3, 6)
    """

    name: ClassVar[str] = "linear"
    example: ClassVar[str] = "linear:m=4,k=3,d=6"
    about: ClassVar[str] = "attention without softmax: the easy control"
    label_text: ClassVar[str] = (
        "F(X) = sum_i (X Theta_i X^T) X W_i, plus noise * N(0,1) in every entry; stored in float64"
    )
    easy: ClassVar[str] = (
        "least squares on d^2 (d+1) / 2 cubic features learns it, whatever the number of heads "
        "[YAMTJA24]"
    )
    kind: ClassVar[Kind] = "linear"
    default_learners: ClassVar[tuple[str, ...]] = ("lifted", "linear")

    m: Annotated[int, Range(1, 1024, about="m, the heads,")]
    k: int
    d: Annotated[int, Range(1, LARGEST_D, words=_WORDS)]
    scale: Norm = 1.0
    tokens: str = "gaussian"
    noise: Fraction = Fraction(0)

    def build(self, rng: np.random.Generator) -> AttentionLayer:
        """Draw every Theta_i, then every W_i."""
        theta = [self.scale * unit(random_matrix(rng, self.d, 0)) for _ in range(self.m)]
        w = [math.sqrt(self.d) * unit(random_matrix(rng, self.d, 0)) for _ in range(self.m)]
        return AttentionLayer(theta=np.stack(theta), w=np.stack(w), kind="linear")
