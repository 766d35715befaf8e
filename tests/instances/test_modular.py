"""LWE-style families: layers against formulas, secrets by enumeration, what is refused and why."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from instances import UsageError, parse, tokens
from instances.errors import ToolkitError
from instances.residues import centred
from instances.samples import samples
from instances.secrets import Secrets, bernoulli, centred_binomial, gaussian, integers, uniform
from tests.conftest import every_token, with_bits


def by_hand(family, secret, words):
    """<a, s> mod q from the bits, in Python integers."""
    out = []
    for z in tokens.unpack(words[:, 0] ^ words[:, 1], family.d)[:, 1:]:
        numbers = np.where(z.reshape(family.n, -1) == -1, 1, 0).tolist()
        a = (sum(bit << b for b, bit in enumerate(bits)) for bits in numbers)
        out.append(sum(x * y for x, y in zip(a, secret, strict=True)) % family.q)
    return np.array(out)


@pytest.mark.parametrize("kind", ["binary", "ternary", "uniform"])
@pytest.mark.parametrize("p", [2, 4])
@pytest.mark.parametrize(("n", "q"), [(4, 8), (4, 16), (5, 32), (6, 64), (8, 16)])
def test_the_real_layer_is_the_formula_with_one_head_a_step_and_two(n, q, p, kind):
    family = parse(f"lwr:n={n},q={q},p={p},secret={kind}")
    for seed in range(2):
        instance = family.instance(seed)
        secret, layer = instance.hidden.secret, instance.layer()
        found = instance.examples(0, 400)
        t = by_hand(family, secret, found.words)
        factor = 1 - 2 * (t * p // q) / (p - 1)
        wanted = np.zeros(found.x.shape)
        opened = found.x[:, 0, 0] != found.x[:, 1, 0]
        wanted[:, :, 0] = found.x[:, :, 0] * np.where(opened, factor, 0.0)[:, None]
        assert np.abs(found.y - wanted).max() <= 1e-15
        assert np.abs(layer(found.x) - wanted).max() <= 1e-12
        assert (family.label(secret, found.x) == found.y).all()
        # K by its definition: thresholds k q/p in (-R_-, R_+]
        w = [centred((s << b) % q, q) for s in secret for b in range(family.length)]
        low, high = sum(v for v in w if v < 0), sum(v for v in w if v > 0)
        k = sum(low < i * q // p <= high for i in range(-high - n * q, n * q * 4))
        assert len(family.steps(secret)[1]) == k
        used = np.count_nonzero(np.abs(layer.w).sum(axis=(1, 2)) + np.abs(layer.theta).sum((1, 2)))
        assert used <= k + 2 <= layer.m == family.layer_heads


@pytest.mark.parametrize("error", ["sigma=1.5", "error=uniform,width=3", "error=cbd,eta=2"])
def test_errors_are_those_of_lwe_and_its_layer_is_the_mean_of_labels(error):
    family = parse(f"lwe:n=3,q=16,{error}")
    instance = family.instance(0)
    secret, examples = instance.hidden.secret, instance.examples(0, 60_000)
    few = examples.words[:2000]
    assert (family.inner(secret, few) == by_hand(family, secret, few)).all()
    found = samples(examples)
    residuals, law = found.residuals(secret), family.errors
    for r, count in law.residues(16).items():
        share = count / 2**64
        off = abs(np.mean(residuals == centred(r, 16)) - share)
        assert off < 5 * math.sqrt(share / len(found)) + 1e-4
    assert {r % 16 for r in residuals.tolist()} <= set(law.residues(16))
    factor = (examples.x * examples.y)[:, 0, 0]
    t = np.where(family.open(examples.words), family.inner(secret, examples.words), -1)
    for value in range(16):
        mine = factor[t == value]
        spread = mine.std() / math.sqrt(len(mine))
        assert abs(mine.mean() - family.response[value]) < 5 * spread + 1e-9
    x = examples.x[:200]
    assert np.abs(instance.layer()(x) - family.mean(secret, x)).max() < 1e-12


@pytest.mark.parametrize("kind", ["binary", "ternary", "uniform", "cbd", "gaussian"])
@pytest.mark.parametrize(("q", "h"), [*itertools.product((8, 7, 6, 9, 15), (0, 2))])
def test_secrets_by_enumeration(kind, q, h):
    spread = Fraction({"cbd": 2, "gaussian": Fraction(3, 10)}.get(kind, 0))
    made = Secrets(kind=kind, n=3, q=q, h=h, spread=spread)
    values = made.entries.values if made.entries else [centred(v, q) for v in range(q)]
    every = [
        s
        for s in itertools.product(values, repeat=3)
        if any(math.gcd(v, q) == 1 for v in s) and (not h or sum(v != 0 for v in s) == h)
    ]
    assert made.size == len(every)
    assert sorted(made.listed()) == sorted(every)
    rng = np.random.default_rng(0)
    drawn = {made.draw(rng) for _ in range(300)}
    assert drawn <= set(every)
    assert len(drawn) >= min(len(every), 5)
    wrong = [s for s in itertools.product(range(-5, 6), repeat=3) if s not in every]
    assert not any(map(made.allows, (*wrong, (1, 1), (1, 1, 0, 0))))
    assert {made.lift(v % q for v in secret) for secret in every} == set(every)
    assert {made.lift(v % q for v in s) for s in wrong} <= {None, *every}
    with pytest.raises(UsageError, match="at least one a unit"):
        made.require(wrong[0])


@pytest.mark.parametrize(
    "spec",
    [
        "lpn:n=6,noise=0.1",
        "lpn:n=7,h=3,noise=0",
        "lwr:n=2,q=8,p=4",
        "lwr:n=2,q=8,p=2,secret=ternary",
        "lwr:n=2,q=2,p=2",
        "lwe:n=3,q=8,secret=ternary,h=2,sigma=1",
        ("lwr:n=2,q=5,p=5", 4),
        ("lwe:n=2,q=7,sigma=1", 4),
        ("lwe:n=2,q=6,sigma=1", 4),
        "lwe:n=2,q=8,error=none,secret=cbd,spread=2",
        "lwe:n=2,q=16,error=none,secret=gaussian,spread=0.5",
    ],
)
def test_the_members_that_are_listed_are_all_functions_once_each(spec):
    """Against tables over all z of all vectors that are secrets."""
    family = parse(spec) if isinstance(spec, str) else with_bits(*spec)
    table = lambda secret: family.table_codes(secret).tobytes()  # noqa: E731
    listed = list(family.members())
    entries = range(-(family.q // 2), family.q - family.q // 2)
    functions = {}
    for vector in itertools.product(entries if family.q > 2 else (-1, 0, 1), repeat=family.n):
        if (secret := family.secrets.lift(vector)) is not None:
            functions.setdefault(table(secret), []).append(secret)
    assert family.size == len(listed) == len(functions)
    assert {table(secret) for secret in listed} == set(functions)
    for alike in functions.values():
        assert all(family.same(alike[0], other) for other in alike)
    assert family.draw(np.random.default_rng(0)) in set().union(*functions.values())


def test_distributions_are_exact_and_sampled_as_they_say():
    words = np.random.default_rng(0).integers(0, 2**64, 200_000, dtype=np.uint64)
    made = (
        uniform((0, 1, 2)),
        centred_binomial(3),
        gaussian(2.5),
        bernoulli(Fraction(1, 10)),
        gaussian(Fraction(1, 5)),
    )
    for one in made:
        assert sum(one.counts) == 2**64
        drawn = one.draw(words)
        for value, share in zip(one.values, one.shares, strict=True):
            assert abs(np.mean(drawn == value) - share) < 5 * math.sqrt(share / len(words)) + 1e-5
        assert abs(drawn.mean() - one.mean) < 5 * one.deviation / math.sqrt(len(words))
    assert centred_binomial(2).counts == tuple(v << 60 for v in (1, 4, 6, 4, 1))
    assert centred_binomial(2).without_zero().values == (-2, -1, 1, 2)
    assert gaussian(3).deviation == pytest.approx(3, abs=1e-9)
    last = np.array([2**64 - 1], np.uint64)
    assert integers({5: Fraction(1, 3), 9: Fraction(2, 3)}).draw(last).tolist() == [9]


def test_errors_that_hide_everything_leave_nothing_to_learn():
    with pytest.raises(ToolkitError, match="nothing to learn"):
        _ = parse("lwe:n=4,q=3,error=cbd,eta=64").trivial_risk


def test_noise_of_lpn_counts_once_in_the_risk_as_that_of_a_parity():
    lpn, parity = parse("lpn:n=4,h=2,noise=1/10"), parse("parity:d=5,m=2,noise=1/10")
    x = tokens.unpack(every_token(5), 5)
    opened = x[:, 0, 0] != x[:, 1, 0]
    for family in (lpn, parity):
        apart = [(family.mean(s, x) - family.known(x))[opened] for s in family.members()]
        enumerated = np.mean([(a**2).sum(axis=(1, 2)) for a in apart])
        assert family.trivial_risk == pytest.approx(enumerated) == pytest.approx(2 * 0.8**2)
        assert family.risk_bound == pytest.approx(4)
