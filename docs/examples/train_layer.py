"""Train two heads of attention on a planted task, and save them: `python train_layer.py layer.npz`.

Each token must find, among k, the one that points where a hidden rotation turns it, and give that
one back as another rotation turns it; a second pair of rotations does the same, and both are added.
"""

import sys

import numpy as np
import torch

HEADS, WIDE, TOKENS, BATCH, STEPS = 2, 12, 4, 512, 4000


def planted(x, find, give):
    """Labels (n, k, d) of tokens (n, k, d): the best partner of each token by two rules, added."""
    own = x[:, None]
    partner = (own @ find @ own.transpose(2, 3)).argmax(-1, keepdim=True)
    return (own.expand(-1, HEADS, -1, -1).take_along_dim(partner, 2) @ give).sum(1)


def train(seed=0):
    """Return q, k, v and o of two heads, (2, 12, 12) each, and the relative error they reach."""
    torch.manual_seed(seed)
    find, give = (torch.linalg.qr(torch.randn(HEADS, WIDE, WIDE))[0] for _ in range(2))
    q, k, v, o = (torch.nn.Parameter(torch.randn(HEADS, WIDE, WIDE) / WIDE**0.5) for _ in range(4))
    descent = torch.optim.Adam([q, k, v, o], 3e-3)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(descent, STEPS)
    error = 1.0
    for _ in range(STEPS):
        x = torch.randn(BATCH, TOKENS, WIDE)
        y = planted(x, find, give)
        own = x[:, None]
        weights = torch.softmax((own @ q) @ (own @ k).transpose(2, 3) / WIDE**0.5, -1)
        loss = ((weights @ (own @ v) @ o).sum(1) - y).square().sum() / y.square().sum()
        descent.zero_grad()
        loss.backward()
        descent.step()
        slower.step()
        error = 0.99 * error + 0.01 * loss.item()
    return [part.detach().numpy() for part in (q, k, v, o)], error


if __name__ == "__main__":
    parts, error = train()
    np.savez(sys.argv[1], **dict(zip("qkvo", parts, strict=True)))
    print(f"{sys.argv[1]}: two heads that explain {1 - error:.0%} of the labels")
