"""Networks of torch: hardness learn torch_mlp.py:Mlp parity:d=16,m=3 --budget-examples 100000"""

import torch

from hardness.learners.plugins import Module


def network(inputs, outputs):
    """One hidden layer of 256 rectified units."""
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, 256),
        torch.nn.ReLU(),
        torch.nn.Linear(256, outputs),
    )


Mlp = Module(network, steps=4000, batch=256, rate=3e-3, view="z")
