"""Write samples of a ring in the layout of LWE-benchmarking: `python ring_samples.py FOLDER`.

`--degree`, `--rank`, `--weight`, `--rows` and `--seed` say their sizes. FOLDER/orig_A.npy has rows
of `rank` polynomials side by side; below it orig_b_H_0.npy has the coefficients of each row's
product with the secret mod x^degree + 1, and of an error. The secret lies beside, where no command
looks for it.
"""

import argparse
from pathlib import Path

import numpy as np

Q, SIGMA = 842779, 3.0  # 7 * 120397, of the data that VERDE's authors released


def product(a, s, q):
    """Multiply two polynomials mod x^n + 1 and q: (n,), (n,) -> (n,)."""
    whole = np.append(np.convolve(a, s), 0)
    return (whole[: len(a)] - whole[len(a) :]) % q


def write(folder, degree=64, rank=1, weight=5, rows=8, seed=0):
    """Write the files; returns that of b, and the secret (rank degree,)."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, Q, (rows, rank * degree))
    secret = np.zeros(rank * degree, np.int64)
    secret[rng.choice(len(secret), weight, replace=False)] = 1
    pieces = np.split(secret, rank)
    b = np.rint(rng.normal(0, SIGMA, (rows, degree))).astype(np.int64)
    for i, row in enumerate(a):
        b[i] += sum(product(*pair, Q) for pair in zip(np.split(row, rank), pieces, strict=True))
    below = Path(folder) / f"binary_secrets_h{weight}_{weight}"
    below.mkdir(parents=True, exist_ok=True)
    np.save(Path(folder) / "orig_A.npy", a)
    np.save(below / f"secret_{weight}_0.npy", secret)
    np.save(below / f"orig_b_{weight}_0.npy", b % Q)
    return below / f"orig_b_{weight}_0.npy", secret


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    for name, size in {"degree": 64, "rank": 1, "weight": 5, "rows": 8, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    print(write(**vars(parser.parse_args()))[0])
