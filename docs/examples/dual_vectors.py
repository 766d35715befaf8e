"""Holds what dual estimates assume against real short vectors: dual_vectors.py SPEC ZETA.

Lattices of fresh instances are reduced without ZETA coordinates, and all guesses of these are
summed up, as `dual_guess` in hardness/lwe/attacks/dual.py counts it.
"""

import argparse
import math

import numpy as np

from hardness.attacks import dual
from hardness.lwe.attacks.dual import ShortVectors
from hardness.lwe.models import DEFAULT, log_delta
from hardness.lwe.parameters import parse_parameters
from instances import parse
from instances.samples import draw_samples


def measure(spec, zeta, block, vectors, seed):
    """Measure one instance: a name, and a number that should be 1, or as the name says."""
    family = parse(spec)
    q, values, sigma = family.q, list(family.secrets.values), family.errors.deviation
    learner = dual.Dual(block=block, zeta=zeta, vectors=vectors)
    instance, m = family.instance(seed), learner.lattice_samples(family)
    secret = np.array(family.to_linear(instance.hidden.secret))
    made, out = learner.reduced(draw_samples(instance, 2 * m), restart=seed)
    inside = np.setdiff1d(np.arange(family.n), out)
    length = made.noise(inside) / sigma
    noise = (2 * math.pi * sigma * length / q) ** 2
    # What is measured of lengths, against delta^(d - 1) Vol^(1/d).
    lattice, d = ShortVectors(parse_parameters(spec).normal(), DEFAULT), m + len(inside)
    first = math.exp((d - 1) * log_delta(block) + len(inside) / d * lattice.ln_scaled)
    # All sums of cosines: a row a guess of the first half, a column one of the second.
    parts, right, sums = (out[: zeta // 2], out[zeta // 2 :]), [], []
    for part in parts:
        guesses = np.array(np.meshgrid(*[values] * len(part), indexing="ij")).reshape(len(part), -1)
        right.append(int((guesses == secret[part][:, None]).all(axis=0).argmax()))
        sums.append(made.a[:, part] @ guesses % q)
    centre = (made.b - family.secrets.moments[0] * made.a[:, inside].sum(axis=1))[:, None]
    waves = [np.exp(2j * np.pi / q * s) for s in (centre - sums[0], -sums[1])]
    scores = (waves[0].T @ waves[1]).real.ravel() / math.sqrt(len(made) / 2)
    true = right[0] * sums[1].shape[1] + right[1]
    score, wrong = scores[true], np.delete(scores, true)
    return {
        "D": noise.mean(),
        "vectors": len(made),
        "shortest vector of a basis / the model's first": length.min() / first,
        "all vectors / the model's first": math.sqrt((length**2).mean()) / first,
        "mean cosine of the right guess / e^(-D/2)": score
        / np.exp(-noise / 2).mean()
        / math.sqrt(2 * len(made)),
        "deviation of wrong scores": wrong.std(),
        "wrong scores above 4 / as of a normal law": (wrong > 4).mean() / 3.167e-5,
        "right guess is the best": float(score > wrong.max()),
    }


def main():
    """Print means over instances, with two standard errors."""
    ask = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    ask.add_argument("spec")
    ask.add_argument("zeta", type=int)
    for name, value in (("block", 2), ("vectors", 600), ("seeds", 20)):
        ask.add_argument(f"--{name}", type=int, default=value)
    given = ask.parse_args()
    rows = [
        measure(given.spec, given.zeta, given.block, given.vectors, seed)
        for seed in range(given.seeds)
    ]
    print(f"{given.spec}, {given.zeta} coordinates guessed, block {given.block}")
    for name in rows[0]:
        numbers = np.array([row[name] for row in rows])
        error = 2 * numbers.std(ddof=1) / math.sqrt(len(rows))
        print(f"{name:48} {numbers.mean():9.3f} +- {error:.3f}")


if __name__ == "__main__":
    main()
