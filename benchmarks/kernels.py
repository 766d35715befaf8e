"""The compiled kernels against memory bandwidth, sympy and BLAS.

Run on its own, it prints the row of the one-bit Gram matrix on all cores: BLAS reads its number of
threads once, as a process starts.
"""

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
from timing import bests

from hardness.kernels import onebit
from hardness.kernels.walsh import transform
from instances import tokens


def walsh() -> list[str]:
    from sympy import fwht

    rows = []
    small = np.random.default_rng(0).standard_normal(1 << 14).astype(np.float32)
    numbers = small.tolist()
    theirs = bests(lambda: fwht(numbers), rounds=3)[0]
    small[:] = 0  # repeated, the transform of anything else would overflow
    ours = bests(lambda: transform(small), rounds=1000)[0]
    rows.append(
        f"| Walsh-Hadamard transform, float32, n = 14 | {ours * 1e6:.1f} µs | "
        f"{theirs / ours:.0f} times as fast as sympy.fwht ({theirs * 1e3:.0f} ms) |"
    )
    for n in (22, 24, 26):
        values = np.zeros(1 << n, np.float32)
        values.fill(0)
        ours, once = bests(
            lambda v=values: transform(v), lambda v=values: np.negative(v, out=v), rounds=15
        )
        rate = 2 * values.nbytes / once / 1e9
        rows.append(
            f"| Walsh-Hadamard transform, float32, n = {n} | {ours * 1e3:.1f} ms | "
            f"{ours / (5 * once):.2f} times five passes over the array "
            f"({once * 1e3:.2f} ms each: {rate:.0f} GB/s read and written) |"
        )
    return rows


def one_bit() -> list[str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(cores))
    all_cores = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, check=True
    )
    return [_gram(onebit.gram, "one core"), *all_cores.stdout.splitlines()]


def _gram(gram: Callable[..., object], where: str) -> str:
    from scipy.linalg.blas import ssyrk

    members, samples = 1024, 1 << 16
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, (members, samples // 64), np.uint64)
    values = tokens.unpack(bits, samples).astype(np.float32)
    ours = bests(lambda: gram(bits, samples), rounds=20)[0]
    theirs = min(  # scipy and numpy bring a BLAS each
        bests(lambda: ssyrk(1.0, values.T, trans=1), lambda: values @ values.T, rounds=4)
    )
    rate = members**2 * samples / theirs / 1e9
    return (
        f"| one-bit Gram matrix, {members} members, {samples} samples, {where} | "
        f"{ours * 1e3:.1f} ms | {theirs / ours:.1f} times as fast as float32 BLAS syrk on as many "
        f"({theirs * 1e3:.0f} ms, {rate:.0f} Gop/s) |"
    )


if __name__ == "__main__":
    print(_gram(onebit.gram_parallel, "all cores"))
