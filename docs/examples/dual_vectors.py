"""Measures on real short vectors what the dual estimates assume: `python dual_vectors.py SPEC ZETA`.

Fresh instances of SPEC are attacked by hand: lattices of all but ZETA coordinates are reduced, and
the sums of cosines, the signs of sums and their matches are held against the formulas of
hardness/cost/dual.py. Intervals are two standard errors of the mean over instances.
"""

import argparse
import math

import numpy as np

from hardness.cost.dual import Dual, Halves, label_price
from hardness.cost.problem import problem
from hardness.cost.reduction import DEFAULT, log_delta
from hardness.upper.dual import best_count, shorten
from hardness.upper.lattice import left_out
from instances import parse
from instances.samples import draw_samples


def guesses(values, places, a, q):
    """Sums <A', g> mod q of all guesses of some places, a column a guess: (N, guesses)."""
    sums = np.zeros((len(a), 1), np.int64)
    for place in places:
        sums = np.concatenate([sums + a[:, [place]] * v for v in values], axis=1)
    return sums % q


def main():
    ask = argparse.ArgumentParser(description=__doc__.split(":")[0])
    ask.add_argument("spec"), ask.add_argument("zeta", type=int)
    ask.add_argument("--block", type=int, default=2), ask.add_argument("--seeds", type=int, default=50)
    ask.add_argument("--vectors", type=int, default=200), ask.add_argument("--success", type=float, default=0.9)
    given = ask.parse_args()
    family = parse(given.spec)
    n, q, zeta, values = family.n, family.q, given.zeta, list(family.secrets.values)
    count = best_count(family, n - zeta, given.block)
    lattice = Dual(problem=problem(family).normal(), setting=DEFAULT)
    d, rows = count + n - zeta, []
    first = (d - 1) * float(log_delta(given.block)) + (n - zeta) / d * lattice.ln_scaled
    sigma = family.errors.deviation
    for seed in range(given.seeds):
        instance = family.instance(seed)
        secret = np.array(family.to_linear(instance.hidden.secret))
        found = draw_samples(instance, 2 * count)
        made = shorten(found, vectors=given.vectors, count=count, zeta=zeta, block=given.block, seed=seed)
        out = left_out(n, zeta, seed, 0)
        inside = np.setdiff1d(np.arange(n), out)
        a, b = made.a[: given.vectors], made.b[: given.vectors]
        length = made.noise(inside)[: given.vectors] / sigma
        power = (2 * math.pi * sigma * length / q) ** 2  # D of each vector
        half = [guesses(values, places, a, q) for places in (out[: zeta // 2], out[zeta // 2 :])]
        right = [
            next(i for i, s in enumerate(guesses(values, p, np.eye(n, dtype=int)[p], 10**9).T) if (s == secret[p] % 10**9).all())
            for p in (out[: zeta // 2], out[zeta // 2 :])
        ]
        mean = family.secrets.moments[0] * a[:, inside].sum(axis=1)
        centre = b - mean
        # all scores
        one = np.exp(2j * np.pi / q * (centre[:, None] - half[0]))
        two = np.exp(-2j * np.pi / q * half[1])
        scores = (one.T @ two).real
        true = scores[right[0], right[1]]
        unit = math.sqrt(len(a) / 2)
        wrong = scores.ravel() / unit
        wrong = np.delete(wrong, right[0] * scores.shape[1] + right[1])
        signs = (half[0] % q < q / 2), ((centre[:, None] - half[1]) % q < q / 2)
        agree = signs[0][:, right[0]] == signs[1][:, right[1]]
        bits = power.mean() / math.log(2)
        kept = 2.0 ** -float(label_price(bits))
        label = int(zeta // 2 * math.log2(len(values)))
        tries = math.ceil(math.log(1 - given.success) / math.log1p(-(kept**label)))
        rng, hit, matches = np.random.default_rng(seed), None, []
        weights = 1 << np.arange(label)
        for k in range(tries):
            some = rng.choice(len(a), label, replace=False)
            left, rest = (weights @ one[some] for one in signs)
            matches.append(np.bincount(left, minlength=1 << label) @ np.bincount(rest, minlength=1 << label))
            if hit is None and left[right[0]] == rest[right[1]]:
                hit = k
        rows.append(
            {
                "length, shortest / first of the model": length.min() / math.exp(first),
                "length, all / first of the model": math.sqrt((length**2).mean()) / math.exp(first),
                "D": power.mean(),
                "mean cosine / e^(-D/2), right guess": true / np.exp(-power / 2).sum(),
                "variance of wrong scores / (N/2)": wrong.var(),
                "largest wrong score / sqrt(2 ln T)": wrong.max() / math.sqrt(2 * math.log(len(wrong))),
                "right guess is the best": float(true / unit > wrong.max()),
                "signs kept / kappa": agree.mean() / kept,
                "wrong matches / 2^-l L R": np.mean(matches) / (scores.size / 2**label),
                "right pair met in K sets": float(hit is not None),
                "l": label, "K": tries, "sets until met / K": (tries if hit is None else hit + 1) / tries,
                "tails beyond 4": (wrong > 4).mean() / 3.167e-5,
            }
        )
    print(f"{given.spec}: {zeta} coordinates out, {d} = {count} samples + {n - zeta}, block {given.block}")
    for name in rows[0]:
        numbers = np.array([row[name] for row in rows])
        print(f"{name:40} {numbers.mean():8.3f} +- {2 * numbers.std() / math.sqrt(len(rows)):.3f}  spread {numbers.std():.3f}")


if __name__ == "__main__":
    main()
