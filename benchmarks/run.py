"""Speed against named peers, as ratios in one run; prints the page docs/benchmarks.md.

One BLAS thread and one process; what is timed is warmed before; the best of several rounds.
"""

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from timing import best, bests, hardness, table  # isort: skip

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray
from scipy.linalg.blas import ssyrk
from sympy import fwht

from hardness.bounds import certify
from hardness.bounds.check import check
from hardness.bounds.gram import of_sets, sampled
from hardness.bounds.learners import Kernel, LowDegree, NamedLearner, NoisyDescent
from hardness.numerics.gf2 import LinearSystem
from hardness.numerics.sign_gram import add_sign_gram
from hardness.numerics.walsh import walsh_hadamard
from instances import Parity, parse, tokens
from instances.streams import BitStream


def generation(d: int, m: int) -> str:
    instance = parse(f"parity:d={d},m={m}").instance(0)
    layer = instance.layer()
    count, few = 1 << 20, max(64, (1 << 22) // d**2)
    step = max(256, (1 << 19) // d)

    def packed() -> None:
        for start in range(0, count, step):
            instance.examples(start, step)

    def dense() -> None:
        examples = instance.examples(0, 1 << 13)
        _ = examples.x, examples.y

    x = instance.examples(0, few).x
    fast, slow, full = count / best(packed), (1 << 13) / best(dense), few / best(lambda: layer(x))
    return (
        f"| labelled examples, d = {d}, m = {m}, packed | {fast:.2e}/s | {fast / slow:.0f} times "
        f"the dense path ({slow:.2e}/s), {fast / full:.0f} times the full layer ({full:.2e}/s) |"
    )


def elimination(d: int) -> str:
    rng = np.random.default_rng(0)
    rows, secret = rng.integers(0, 2, (d + 40, d)), rng.integers(0, 2, d)
    bits = (rows @ secret % 2).astype(np.uint8)
    packed = tokens.pack(1 - 2 * rows)
    matrix = nmod_mat(np.column_stack([rows, bits]).tolist(), 2)
    ours, theirs = best(lambda: LinearSystem(d).add_equations(packed, bits)), best(matrix.rref)
    return (
        f"| GF(2) elimination, {d + 40} equations in {d} unknowns | {ours * 1e3:.0f} ms | "
        f"{theirs / ours:.1f} times as fast as flint's nmod_mat.rref ({theirs * 1e3:.0f} ms) |"
    )


def gram(members: int, samples: int) -> str:
    family, rng, stream = Parity(d=64, m=5), np.random.default_rng(0), BitStream((1, 2))
    chosen = tuple(dict.fromkeys(family.draw(rng) for _ in range(members)))

    def draw(start: int, count: int) -> NDArray[np.uint64]:
        words = tokens.boolean(stream, start, count, 2, 64)
        return np.asarray(words[family.open(words)])

    values = rng.choice([-1.0, 1.0], (len(chosen), 1 << 12))
    ours = best(lambda: sampled(of_sets(family, chosen, draw), samples, 0.99), 2)

    def products() -> None:
        for _ in range(samples // 2 // values.shape[1]):
            _ = values @ values.T

    blas = best(products, 2)
    return (
        f"| sampled correlations, {members} members, {samples} tokens | {ours:.2f} s | "
        f"{ours / blas:.1f} times the matrix products alone (float64 BLAS, {blas:.2f} s) |"
    )


def checked(what: str, make: Callable[[], Any], ready: str = "") -> str:
    data = make().to_dict()
    making, checking = best(make), best(lambda: check(data))
    return (
        f"| check of a certificate{what} | {checking * 1e3:.1f} ms | {checking / making:.1f} times "
        f"the making of it{ready} ({making * 1e3:.1f} ms) |"
    )


def certificates() -> Iterator[str]:
    family, noisy = parse("parity:d=1000,m=21"), parse("parity:d=1001,m=20,noise=0.1")
    asked: list[NamedLearner] = [
        Kernel(features=10**6),
        NoisyDescent(steps=10**9, clip=Fraction(1), std=Fraction(1, 1000)),
        LowDegree(degree=84, examples=10**20),
    ]
    yield checked(", d = 1000, m = 21", lambda: certify(family), " from ready heads")
    learners = " about kernel, gd and low degree, parity, d = 1001, m = 20"
    yield checked(learners, lambda: certify(noisy, about=asked))


# The compiled kernels.


def walsh() -> Iterator[str]:
    small = np.random.default_rng(0).standard_normal(1 << 14).astype(np.float32)
    numbers = small.tolist()
    theirs = bests(lambda: fwht(numbers), rounds=3)[0]
    small[:] = 0  # repeated, the transform of anything else would overflow
    ours = bests(lambda: walsh_hadamard(small), rounds=1000)[0]
    yield (
        f"| Walsh-Hadamard transform, float32, n = 14 | {ours * 1e6:.1f} µs | "
        f"{theirs / ours:.0f} times as fast as sympy.fwht ({theirs * 1e3:.0f} ms) |"
    )
    for n in (22, 24, 26):
        values = np.zeros(1 << n, np.float32)
        values.fill(0)
        once_over = partial(np.negative, values, out=values)
        ours, once = bests(partial(walsh_hadamard, values), once_over, rounds=15)
        rate = 2 * values.nbytes / once / 1e9
        yield (
            f"| Walsh-Hadamard transform, float32, n = {n} | {ours * 1e3:.1f} ms | "
            f"{ours / (5 * once):.2f} times five passes over the array "
            f"({once * 1e3:.2f} ms each: {rate:.0f} GB/s read and written) |"
        )


def one_bit(members: int, samples: int) -> str:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, (members, samples // 64), np.uint64)
    values = tokens.unpack(bits, samples).astype(np.float32)

    def gram() -> NDArray[np.int64]:
        sums = np.zeros((members, members), np.int64)
        add_sign_gram(bits, samples, sums)
        return sums

    ours = bests(gram, rounds=20)[0]
    theirs = min(  # scipy and numpy bring a BLAS each
        bests(lambda: ssyrk(1.0, values.T, trans=1), lambda: values @ values.T, rounds=4)
    )
    rate = members**2 * samples / theirs / 1e9
    return (
        f"| one-bit Gram matrix, {members} members, {samples} samples | "
        f"{ours * 1e3:.1f} ms | {theirs / ours:.1f} times as fast as float32 BLAS syrk on as many "
        f"({theirs * 1e3:.0f} ms, {rate:.0f} Gop/s) |"
    )


def start_up() -> str:
    ours = best(lambda: hardness("--help"))
    bare = best(lambda: subprocess.run([sys.executable, "-c", "pass"], capture_output=True))
    return f"| `hardness --help` | {ours:.2f} s | {ours / bare:.1f} times a bare Python |"


def rows() -> Iterator[str]:
    yield generation(64, 5)
    yield generation(1024, 8)
    yield elimination(1000)
    yield gram(500, 200_000)
    yield from certificates()
    yield from walsh()
    yield one_bit(1024, 1 << 16)
    yield start_up()


def main() -> None:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = next((s.split(":")[1].strip() for s in flags.splitlines() if "model name" in s), "?")
    print(
        "# Benchmarks\n\nPrinted by `make bench`: ratios within one run, on one core. Absolute "
        "figures were measured on the machine named below.\n\n"
        f"{model}, Python {platform.python_version()}, numpy {np.__version__}."
    )
    table("", "| what | figure | against |", rows())


if __name__ == "__main__":
    main()
