"""No choice costs much less: each attack's estimate against all of its choices, by brute force.

A scan may end near the least and not at it: `above` bits are allowed, and none below.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from scipy.special import erf, gammaln
from scipy.stats import hypergeom

from hardness.lwe.attacks.arora import equations, regularity, secret_values
from hardness.lwe.attacks.bkw import code_sizes, coded_costs, costs
from hardness.lwe.attacks.drop_and_solve import log_trials, without_zeros
from hardness.lwe.attacks.usvp import Embedding, usvp
from hardness.lwe.estimate import estimate_attack
from hardness.lwe.models import DEFAULT, MODELS, ROUGH, Lattice, Setting, log_delta, log_norm
from hardness.lwe.parameters import LweParameters, parse_parameters

Drawn = Iterator[tuple[LweParameters, Setting]]
TOY = 16.0  # bits: of what costs less reading the samples counts
HIGH = 1000.0  # bits: of what costs more any estimate may be none


@dataclass(kw_only=True)
class Case:
    """An attack, problems, and the least cost of all choices; above: bits that a scan may miss."""

    drawn: Callable[[np.random.Generator], Drawn]
    least: Callable[[LweParameters, Setting], float]
    above: float = 1e-6


def _of_words(*given: tuple[str, int | None], setting: Setting = ROUGH):
    return lambda rng: ((parse_parameters(spec, samples), setting) for spec, samples in given)


# ---- the primal attack: all block sizes and samples


def _middling(rng: np.random.Generator) -> Drawn:
    for model in [*MODELS.values()] * 4:
        n, limit = int(rng.integers(10, 130)), int(rng.integers(60, 260))
        spec = f"lwe:n={n},q={rng.choice([257, 3329, 65537])},sigma={rng.uniform(0.5, 8):.3f},"
        spec += f"secret={rng.choice(['binary', 'ternary', 'uniform'])}"
        yield parse_parameters(spec, samples=limit), Setting(model=model)


def _primal(given: LweParameters, setting: Setting) -> float:
    lattice, n, limit = Embedding(given), given.n, given.samples
    m, beta = np.arange(1, limit + 1)[:, None], np.arange(2, n + limit + 2)[None, :]
    able = (m + n + 1 >= beta) & (lattice.margin(beta, m) >= 0)
    return float(np.where(able, setting.model.cost(beta, m + n + 1), math.inf).min())


# ---- decoding: all beta, zeta, d, eta and weights, norm by norm


def _tiny(rng: np.random.Generator) -> Drawn:
    for i in range(8):
        n, q = int(rng.integers(4, 9)), int(rng.choice([31, 97, 257]))
        kinds = ["secret=ternary", "secret=binary", f"secret=ternary,h={n // 2}"]
        kinds.append("secret=gaussian,spread=2")  # wider than the errors
        spec = f"lwe:n={n},q={q},sigma={rng.choice([0.7, 1.0, 1.5])},{rng.choice(kinds)}"
        model = MODELS["matzov" if i % 2 else "adps16"]
        yield parse_parameters(spec, samples=int(rng.integers(n, n + 6))), Setting(model=model)


def _flat(rng: np.random.Generator) -> Drawn:
    """Secrets so sparse that the tail of a basis stays as it is, and few q-vectors are reduced."""
    for spec, samples in (
        ("lwe:n=9,q=5,sigma=0.8,secret=ternary,h=1", 14),
        ("lwe:n=10,q=7,sigma=1.2,secret=binary,h=1", 12),
        ("lwe:n=5,q=31,sigma=1,secret=ternary", 9),
    ):
        yield parse_parameters(spec, samples=samples), Setting(model=MODELS["matzov"], shape="zgsa")
    yield parse_parameters(spec, samples=samples), Setting(model=MODELS["adps16"], shape="lgsa")


def _of_forms(
    least: Callable[[LweParameters, Setting], float], given: LweParameters, setting: Setting
) -> float:
    """Take the least of all forms; a secret that is made of errors takes linear algebra."""
    floors = [3 * math.log2(form.n) if form.spent else 0.0 for form in given.forms()]
    return min(max(f, least(p, setting)) for f, p in zip(floors, given.forms(), strict=True))


def _decoding(meet: bool, given: LweParameters, setting: Setting) -> float:
    model, best = setting.model, math.inf
    n, rows, law, sigma = given.n, given.rows, given.secret, given.error.deviation
    ln_scale = math.log(sigma / law.deviation)
    for zeta in range(n):
        sets, counts, k = [], 0, n - zeta
        for w in range(zeta + 1):
            counts += math.comb(zeta, w) * law.alphabet**w
            share = hypergeom(n, law.weight or round(n * (1 - law.zero)), zeta).cdf(w)
            sets.append((counts, share))
        for beta, m in itertools.product(range(2, k + rows + 1), range(1, rows + 1)):
            d = k + m
            if beta > d or model.cost(beta, d) >= best:
                continue
            ln_volume = m * given.ln_q + k * ln_scale
            slope = 2 * float(log_delta(beta))
            lattice = Lattice(m=m, tail=k, ln_q=given.ln_q, ln_tail=ln_scale)
            ln_norms = log_norm(setting.shape, lattice, beta, np.arange(d)) - math.log(sigma)
            norms = np.exp(ln_norms)
            inside, wide = erf(norms / math.sqrt(8)), erf(norms / math.sqrt(2))
            meeting = wide - math.sqrt(2 / math.pi) / norms * (1 - np.exp(-(norms**2) / 2))
            flat = np.count_nonzero(ln_norms <= ln_scale - math.log(sigma) + 1e-9)
            if setting.shape != "zgsa":
                flat = 0
            inside[:flat], meeting[:flat] = (
                np.minimum(p[:flat], law.zero) for p in (inside, meeting)
            )
            if flat:  # the line goes on below, for the last call
                ln_norms[:flat] = ln_norms[min(flat, d - 1)] - slope * np.arange(flat, 0, -1)
            ball = d / 2 * math.log(math.pi * d) - gammaln(d / 2 + 1)
            room = ln_volume - d * math.log(sigma) - ball
            red = 2.0 ** float(model.cost(beta, d))
            for eta in [0] if meet else range(1, d):
                size = eta + 1
                ln_ball = size / 2 * math.log(math.pi) - gammaln(size / 2 + 1)
                ready = ln_norms[:eta].sum() - ln_ball >= size * math.log(size) / 2
                if not meet and not (ready and eta > flat):
                    continue
                one = float((d - eta) ** 2) + (0 if meet else 2.0 ** float(model.cost(size, size)))
                for count, share in sets:
                    prob = share * inside[eta:].prod()
                    if meet and count > 1:
                        prob *= meeting.prod()
                    if math.log(count) > room or prob < 1e-12:
                        continue
                    tries = count**0.5 if meet else count
                    again = math.ceil(math.log(0.01) / math.log1p(-min(prob, 0.99)) - 1e-9)
                    best = min(best, math.log2(again * (red + tries * one)))
    return best


# ---- BKW: all blocks, and all of b, l, n_test and k


def _plain(given: LweParameters, setting: Setting) -> float:
    return min(costs(given.n, given.q, given.error.log_bias, b)[0] for b in range(1, given.n + 1))


def _codable(rng: np.random.Generator) -> Drawn:
    for _ in range(16):
        n, q = int(rng.integers(2, 31)), int(2 ** rng.uniform(2.9, 14))
        secret = rng.choice(["binary", "ternary", "binary,h=2", "cbd,spread=3"])
        spec = f"lwe:n={n},q={q},sigma={min(q / 8, rng.uniform(0.5, 4)):g},secret={secret}"
        if parse_parameters(spec).normal() == parse_parameters(spec):
            yield parse_parameters(spec), ROUGH
    for spec, samples in (
        ("lwe:n=10,q=31,sigma=1,secret=ternary", 100),
        ("lwe:n=12,q=97,sigma=2,secret=binary", 40),
        ("lwr:n=12,q=256,p=32,secret=binary", 30),
    ):
        yield parse_parameters(spec, samples=samples), ROUGH


def _coded(given: LweParameters, setting: Setting) -> float:
    axes = np.meshgrid(*[np.arange(1, given.n + 1)] * 3)
    b, words, test = (axis.ravel() for axis in axes)
    b, words, test = (v[words <= test] for v in (b, words, test))
    steps, _, *sizes = code_sizes(given.n, given.log2_q, b, words, test, 24)
    best, rows = math.inf, given.rows
    for k in range(1, 2 if rows is None else 2 * rows // 3 + 1):
        rop, used = coded_costs(given, b, words, steps, sizes, np.full(len(b), k))
        sums = math.inf if rows is None else math.log2(math.comb(rows, k)) + k - 1
        best = min(best, rop[(used <= sums) & (steps <= 24)].min(initial=math.inf))
    return best


# ---- Groebner bases: all t. Guesses: all numbers of coordinates, in front of any attack

BASES = _of_words(
    ("lwe:n=8,q=101,sigma=1", 64),
    ("lwe:n=8,q=101,sigma=1", None),
    ("lwe:n=11,q=3329,sigma=3,secret=binary", 300),
    ("lwe:n=12,q=3329,sigma=2,secret=ternary", 10**5),
    ("lwe:n=9,q=3329,error=cbd,eta=3,secret=cbd,spread=2", 40),
    ("lwe:n=9,q=3329,error=cbd,eta=3,secret=cbd,spread=2", None),
    ("lwe:n=15,q=3329,sigma=1.5,secret=ternary,h=4", 500),
    ("lwe:n=7,q=97,error=uniform,width=4", 20),
    ("lwr:n=10,q=257,p=64,secret=binary", 100),
    ("lwe:n=20,q=65537,sigma=3.2,secret=binary", None),
)


def _basis(given: LweParameters, setting: Setting) -> float:
    degrees, logs = equations(given.error, given.rows)
    every = [
        regularity(given.n, secret_values(given), int(w), round(math.exp(min(log, 300.0))))
        for w, log in zip(degrees, logs, strict=True)
        if w < given.q
    ]
    best = min(d for d in every if d is not None)
    if best > given.n * (secret_values(given) - 1):  # that of the entries' equations alone
        return math.inf
    return 2 * math.log2(math.comb(given.n + best, best))


HARDER = [
    ("lwe:n=128,q=3329,sigma=3,secret=binary,h=10", 512),
    ("lwe:n=96,q=2^20,sigma=3.2,secret=ternary,h=16", None),
    ("lwe:n=90,q=257,sigma=3,secret=binary", 400),
    ("lwe:n=90,q=257,sigma=2,secret=cbd,spread=2", 90),
]


def _guesses(given: LweParameters, setting: Setting) -> float:
    rest = range(given.n - (given.secret.weight or 0))
    trials = log_trials(given.secret, given.n, np.array(rest), setting.success)
    best = min(usvp(without_zeros(given, z), setting).rank + trials[z] for z in rest)
    return math.inf if not given.secret.weight and best >= given.size_bits else best


CASES = {
    "usvp": Case(drawn=_middling, least=_primal),
    "bdd_hybrid": Case(drawn=_tiny, least=partial(_of_forms, partial(_decoding, False))),
    "bdd_mitm_hybrid": Case(drawn=_tiny, least=partial(_of_forms, partial(_decoding, True))),
    "bdd_hybrid, flat": Case(drawn=_flat, least=partial(_of_forms, partial(_decoding, False))),
    "bkw": Case(drawn=_of_words(("lwe:n=12,q=31,sigma=1", None)), least=_plain),
    "coded-bkw": Case(drawn=_codable, least=_coded, above=0.1),
    "arora-gb": Case(drawn=BASES, least=_basis),
    "guess+usvp": Case(drawn=_of_words(*HARDER), least=_guesses, above=0.05),
    "guess+usvp, matzov": Case(
        drawn=_of_words(*HARDER, setting=DEFAULT), least=_guesses, above=0.05
    ),
}


MORE = dict.fromkeys(("guess+usvp, matzov", "bdd_hybrid, flat"), pytest.mark.weekly)


@pytest.mark.parametrize("name", [pytest.param(n, marks=MORE.get(n, ())) for n in CASES])
def test_no_choice_costs_much_less(name):
    case, applied = CASES[name], 0
    for given, setting in case.drawn(np.random.default_rng(1)):
        found = estimate_attack(name.partition(",")[0], given, setting)
        best = case.least(given, setting)
        assert found.applies or best > HIGH or "several secrets" in found.reason, given
        if found.applies:
            applied += 1
            reads = math.log2(given.n) + found.sample_bits
            most = max(best, reads + 1 if best < TOY else 0.0)
            assert found.rop <= most + case.above or best > HIGH, given
            assert found.rop >= best - 1e-6, given
    assert applied


SCALINGS = [(v, 1) for v in (0.5, 1 / 1.1, 1, 1.1, 2)] + [(1, v) for v in (0.5, 1 / 1.1, 1.1, 2)]


def _least_block(n, q, error, secret, limit):
    """By trying every block size, every m, every count of secrets kept and many scalings."""
    m = np.arange(1, limit + 1)[:, None]
    kept = np.arange(n + 1)[None, :]
    d = m + n + 1
    allowed = m + n - kept <= limit
    for beta in range(2, n + limit + 2):
        best = -math.inf
        for one, other in SCALINGS:
            nu, last = one * error / secret, other * error
            volume = (m * math.log(q) + kept * math.log(nu) + math.log(last)) / d
            length = np.sqrt(((d - 1 - kept) * error**2 + kept * (nu * secret) ** 2 + last**2) / d)
            margin = (2 * beta - d - 1) * log_delta(beta) + volume - np.log(length)
            best = max(best, margin[allowed & (d >= beta)].max(initial=-math.inf))
        if best >= math.log(beta) / 2:
            return beta
    return None


def test_block_sizes_are_the_least_of_all_lattices():
    for spec, samples in (
        ("lwr:n=24,q=4096,p=8", 400),
        ("lwr:n=32,q=1024,p=16", 85),
        ("lwr:n=64,q=1024,p=8,secret=binary", 150),
        ("lwr:n=64,q=4096,p=32", 160),
        ("lwe:n=32,q=257,sigma=6", 80),
        ("lwe:n=20,q=1021,sigma=4", 60),
        ("lwe:n=60,q=3607,sigma=9,secret=gaussian,spread=20", 100),
        ("lwe:n=60,q=3607,alpha=0.015,secret=ternary", 200),
    ):
        one = parse_parameters(spec, samples)
        best = _least_block(one.n, one.q, one.error.deviation, one.secret.deviation, samples)
        assert usvp(one, ROUGH).beta == best, spec
