"""Speed of the bounds on named learners: rows of docs/benchmarks.md."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import fmpq, fmpq_poly
from timing import best

from hardness.check import check
from hardness.kernels.pairsums import pair_sums
from hardness.lower import BoundParameters
from hardness.lower.learners import Kernel, LowDegree, NoisyDescent, certify_named
from instances import parse
from instances.streams import generator

FIVE = ("parity", "majority", "mod(3)", "threshold(3)", "exactly(2)")


def features(d: int, m: int) -> list[str]:
    families = [parse(f"profile:g={g},d={d},m={m}") for g in FIVE]
    terms = BoundParameters(risk=Fraction(1, 2), success=Fraction(1))

    def bounds() -> None:
        for family in families:
            certify_named(family, [Kernel(features=1000)], terms)

    small = 12, 3  # the largest Gram matrix that eigenvalues are found of here: 220 members
    z = 1 - 2 * ((np.arange(1 << small[0])[:, None] >> np.arange(small[0])) & 1)
    members = np.array([z[:, list(s)].sum(axis=1) > 0 for s in combinations(range(small[0]), 3)])

    def brute() -> None:
        centred = members - members.mean()
        np.linalg.eigvalsh(centred @ centred.T)

    ours, gram = best(bounds), best(brute)
    return [
        f"| error of 1000 fixed features and features for error 1/2, d = {d}, m = {m}, five "
        f"profiles, certified | {ours * 1e3:.1f} ms | {gram / ours:.1f} times as fast as numpy's "
        f"eigenvalues of one Gram matrix of 220 members, n = 12 ({gram * 1e3:.0f} ms) |"
    ]


def ratio(d: int, m: int, degree: int, examples: int) -> list[str]:
    family = parse(f"profile:g=mod(3),d={d},m={m},noise=0.1")
    fade, half = 1 - 2 * Fraction(family.noise), (max(family.values) - min(family.values)) / 2

    def ours() -> Fraction:
        made = certify_named(family, [LowDegree(degree=degree, examples=examples)])
        return Fraction(made.value("low-degree-advantage-open"))

    def plain() -> Fraction:
        """Powers of each overlap's polynomial one after the other, by flint."""
        mean = fmpq(family.fourier[0]) - fmpq(*Fraction(family.centre).as_integer_ratio())
        unit = fmpq(*(fade**2 / Fraction(half) ** 2).as_integer_ratio())
        unit /= 1 - unit * mean**2
        total, count = fmpq(0), math.comb(d - 1, m)
        for t in range(1, m + 1):
            chance = fmpq(math.comb(m, t) * math.comb(d - 1 - m, m - t), count)
            terms = [fmpq(0), fmpq(0)]
            terms += [unit * w**2 * math.comb(t, a) for a, w in enumerate(family.fourier) if a]
            lead = fmpq_poly(terms)
            power, ways = fmpq_poly([1]), fmpq(1)
            for i in range(1, degree // 2 + 1):
                power = fmpq_poly((power * lead).coeffs()[: degree + 1])
                ways = ways * (examples - i + 1) / i
                total += chance * ways * sum(power.coeffs(), fmpq(0))
        return Fraction(int(total.p), int(total.q))

    assert ours() == plain()
    mine, peer = best(ours), best(plain, 2)
    return [
        f"| low-degree ratio of mod(3), d = {d}, m = {m}, D = {degree}, {examples:.0e} examples, "
        f"certified | {mine * 1e3:.1f} ms | {peer / mine:.1f} times as fast as flint's rational "
        f"polynomials, power by power ({peer * 1e3:.0f} ms) |"
    ]


def certificates(d: int, m: int) -> list[str]:
    family = parse(f"parity:d={d},m={m},noise=0.1")
    asked = [
        Kernel(features=10**6),
        NoisyDescent(steps=10**9, clip=Fraction(1), std=Fraction(1, 1000)),
        LowDegree(degree=84, examples=10**20),
    ]
    data = certify_named(family, asked).to_dict()
    making, checking = best(lambda: certify_named(family, asked)), best(lambda: check(data))
    return [
        f"| check of a certificate about kernel, gd and low degree, parity, d = {d}, m = {m} | "
        f"{checking * 1e3:.1f} ms | {checking / making:.1f} times the making of it "
        f"({making * 1e3:.1f} ms) |"
    ]


def pairs(n: int, count: int) -> list[str]:
    rng = generator(0, "benchmark", "pairs")
    words = rng.integers(0, 2**63, size=(count, -(-n // 64)), dtype=np.uint64)
    values, table = rng.normal(size=(count, n)), rng.normal(size=64 * words.shape[1] + 1)
    square = rng.normal(size=(256, count))

    def product() -> None:
        for _ in range(count // 512):  # half of all pairs
            square @ values

    ours, peer = best(lambda: pair_sums(words, values, table), 2), best(product, 2)
    each = ours / (count * (count - 1) / 2)
    return [
        f"| sums over pairs of {count} samples, {n} places | {each * 1e9:.1f} ns a pair | "
        f"{ours / peer:.1f} times the matrix products alone (float64 BLAS, {peer * 1e3:.0f} ms) |"
    ]


def named() -> list[str]:
    return [
        *features(1001, 20),
        *ratio(1001, 20, 84, 10**20),
        *certificates(1001, 20),
        *pairs(100, 8192),
    ]
