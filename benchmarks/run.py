"""Speed against named peers, as ratios in one run; prints the page docs/benchmarks.md.

One BLAS thread and one process, but for rows that say all cores; everything is warmed before it is
timed; the best of several rounds.
"""

import math
import os
import platform
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
from flint import nmod_mat
from isolation import isolation
from kernels import one_bit, walsh
from named import named
from numpy.typing import NDArray
from timing import best

from hardness.check import check
from hardness.kernels import System
from hardness.lower import Johnson, certify, hidden_sets
from hardness.lower.codes import best_code
from hardness.lower.gram import of_sets, sampled
from instances import Parity, parse, steps, tokens
from instances.families.parity import signs
from instances.streams import BitStream
from instances.symmetric import exact_heads


def generation(d: int, m: int) -> list[str]:
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
    fast = count / best(packed)
    slow = (1 << 13) / best(dense)
    full = few / best(lambda: layer(x))
    return [
        f"| labelled examples, d = {d}, m = {m}, packed | {fast:.2e}/s | {fast / slow:.0f} times "
        f"the dense path ({slow:.2e}/s), {fast / full:.0f} times the full layer ({full:.2e}/s) |"
    ]


def elimination(d: int) -> list[str]:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (d + 40, d))
    secret = rng.integers(0, 2, d)
    bits = (rows @ secret % 2).astype(np.uint8)
    packed = tokens.pack(1 - 2 * rows)
    matrix = nmod_mat(np.column_stack([rows, bits]).tolist(), 2)
    ours = best(lambda: System(d).add(packed, bits))
    theirs = best(matrix.rref)
    return [
        f"| GF(2) elimination, {d + 40} equations in {d} unknowns | {ours * 1e3:.0f} ms | "
        f"{theirs / ours:.1f} times as fast as flint's nmod_mat.rref ({theirs * 1e3:.0f} ms) |"
    ]


def gram(members: int, samples: int) -> list[str]:
    family = Parity(d=64, m=5)
    rng = np.random.default_rng(0)
    chosen = tuple(dict.fromkeys(family.draw(rng) for _ in range(members)))
    stream = BitStream((1, 2))

    def draw(start: int, count: int) -> NDArray[np.uint64]:
        words = tokens.boolean(stream, start, count, 2, 64)
        return np.asarray(words[family.open(words)])

    values = rng.choice([-1.0, 1.0], (len(chosen), 1 << 12))
    rounds = samples // 2 // values.shape[1]
    ours = best(lambda: sampled(of_sets(family, chosen, draw), samples, 0.99), 2)

    def products() -> None:
        for _ in range(rounds):
            _ = values @ values.T

    blas = best(products, 2)
    return [
        f"| sampled correlations, {members} members, {samples} tokens | {ours:.2f} s | "
        f"{ours / blas:.1f} times the matrix products alone (float64 BLAS, {blas:.2f} s) |"
    ]


def certificates() -> list[str]:
    family = parse("parity:d=1000,m=21")
    data = certify(family).to_dict()
    making, checking = best(lambda: certify(family)), best(lambda: check(data))
    ratio = checking / making
    return [
        f"| check of a certificate, d = 1000, m = 21 | {checking * 1e3:.1f} ms | {ratio:.1f} times "
        f"the making of it from ready heads ({making * 1e3:.1f} ms) |"
    ]


def heads(m: int) -> list[str]:
    def exact() -> None:
        exact_heads.cache_clear()
        exact_heads(signs(m), Fraction(3))

    alternating = (-1.0) ** np.arange(m + 1)
    ours, fast = best(exact), best(lambda: steps.exact(alternating, 0, math.log(3)))
    return [
        f"| exact heads, m = {m}, all rationals | {ours * 1e3:.0f} ms | {ours / fast:.0f} times "
        f"the same in balls ({fast * 1e3:.1f} ms) |"
    ]


def dimensions(n: int, m: int) -> list[str]:
    family = parse(f"profile:g=majority,d={n + 1},m={m}")
    scheme = Johnson.family(family)
    bracket = best(lambda: hidden_sets.dimensions(family, [Fraction(1, 20)]), 2)
    code = best(lambda: best_code(scheme), 2)
    sda, dimension = map(certify(family).__getitem__, ("sda-all-subsets", "sq-dimension"))
    return [
        f"| SDA(1/20) over all subsets of majority, n = {n}, m = {m}: {sda.value}.."
        f"{sda.upper} | {bracket * 1e3:.0f} ms | {bracket / code:.0f} times the code "
        f"of SQ-DIM, {dimension.value}..{dimension.upper} ({code * 1e3:.2f} ms) |"
    ]


def start_up() -> list[str]:
    folder = Path(sys.executable).parent
    ours = best(lambda: subprocess.run([folder / "hardness", "--help"], capture_output=True))
    bare = best(lambda: subprocess.run([sys.executable, "-c", "pass"], capture_output=True))
    return [f"| `hardness --help` | {ours:.2f} s | {ours / bare:.1f} times a bare Python |"]


def main() -> None:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = next((s.split(":")[1].strip() for s in flags.splitlines() if "model name" in s), "?")
    lines = [
        "# Benchmarks",
        "",
        "Printed by `make bench`: ratios within one run, on one core where a row does not say all "
        "cores. Absolute figures are those of the machine named below.",
        "",
        f"{model}, Python {platform.python_version()}, numpy {np.__version__}.",
        "",
        "| what | figure | against |",
        "|---|---|---|",
        *generation(64, 5),
        *generation(1024, 8),
        *elimination(1000),
        *gram(500, 200_000),
        *heads(60),
        *certificates(),
        *dimensions(1000, 20),
        *named(),
        *walsh(),
        *one_bit(),
        *isolation(),
        *start_up(),
    ]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
