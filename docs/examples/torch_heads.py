"""Attention of torch: hardness least nice:m=2,k=2,d=16 --learner torch_heads.py:heads"""

import numpy as np
import torch
from torch import nn

from hardness.learners.plugins import Module
from instances import AttentionLayer


class Heads(nn.Module):
    """Two heads as wide as a token: tokens (n, k, inputs) to labels (n, k, outputs)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.widen = nn.Linear(inputs, 2 * inputs, bias=False)
        self.attend = nn.MultiheadAttention(2 * inputs, 2, bias=False, batch_first=True)
        self.narrow = nn.Linear(2 * inputs, outputs, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.widen(x)
        return self.narrow(self.attend(x, x, x, need_weights=False)[0])

    def layer(self) -> tuple[np.ndarray, np.ndarray]:
        """The heads on tokens: theta and w, (heads, inputs, inputs) each, of linear maps alone."""
        wide = AttentionLayer.from_torch(self.attend)
        a, b = (part.weight.detach().cpu().numpy().T for part in (self.widen, self.narrow))
        return a @ wide.theta @ a.T, a @ wide.w @ b


heads = Module(Heads, steps=1000, rate=0.01, patience=500)
