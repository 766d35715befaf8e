"""LWE-style families: what their certificates rest on, by brute force, and their laws and layers.

Claims about random families of them are those of test_claims.py.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.bounds import certify
from hardness.bounds.certify import pose
from hardness.bounds.check import check
from hardness.learners.spectra import residue_spectrum
from hardness.report.claims import sentence
from instances import UsageError, parse, tokens
from tests import laws
from tests.conftest import with_bits
from tests.hardness.bounds.test_claims import LARGER
from tests.laws import representative
from tests.proofs import plain


def secrets(family):
    """All secrets of a small family, one by one."""
    entries = laws.named_entries(family) or range(-(family.q // 2), -(-family.q // 2))
    for s in itertools.product({0, *entries}, repeat=family.n):
        if any(map(family.secrets.is_unit, s)):
            yield s


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=2,q=4,error=none",
        "lwe:n=2,q=5,error=none",
        "lwe:n=3,q=4,error=none,secret=ternary",
        "lwr:n=3,q=8,p=4,secret=binary,h=2",
    ],
)
def test_there_are_as_many_secrets_as_the_upper_ends_say(spec):
    """Of q = 4 and n = 2 they are 12: the vectors of Z_4^2 with an odd entry."""
    family = parse(spec)
    every = {tuple(v % family.q for v in s) for s in secrets(family)}
    every = {s for s in every if not family.h or family.h == len(s) - s.count(0)}
    made = certify(family)
    assert made["orthogonal-members"].upper == made["sq-dimension"].upper == len(every)


def inner(family, chosen):
    """<a, s> mod q for all vectors a: (secrets, vectors)."""
    vectors = np.array(list(itertools.product(range(family.q), repeat=family.n)))
    return np.array(chosen) @ vectors.T % family.q


@pytest.mark.parametrize(
    ("q", "length"), [(3, 4), (3, 5), (5, 5), (5, 6), (7, 5), (7, 6), (7, 8), (3, 9)]
)
def test_tokens_of_a_prime_keep_to_the_density(q, length):
    family = with_bits(f"lwe:n=2,q={q},error=uniform,width=2", length)
    known = pose(family, Fraction(2, 3)).known
    least, most = float(known.gram.least), float(known.gram.top)
    one = np.bincount(np.arange(1 << length) % q, minlength=q) / (1 << length)
    p = np.outer(one, one).reshape(-1)  # of vectors of numbers of L bits mod q
    assert least <= p.min() * q**2 <= 1 <= p.max() * q**2 <= most
    chosen = list({representative(family, s): s for s in secrets(family)}.values())
    r = (family.response - family.response.mean())[inner(family, chosen)]
    gram = r * p @ r.T / family.response.var()
    eigenvalues = np.linalg.eigvalsh(gram)
    assert least <= eigenvalues[0] <= eigenvalues[-1] <= most
    cosines = gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    np.fill_diagonal(cosines, 0)
    [claim] = [claim for claim in known.claims if claim.quantity == "pairwise-correlation"]
    assert np.abs(cosines).max() <= float(claim.parameters["upper"])
    # A bound a quarter as wide would be false.
    assert p.max() * q**2 > 1 + (most - 1) / 4 or p.min() * q**2 < 1 - (1 - least) / 4
    assert eigenvalues[-1] > 1 + (most - 1) / 16 or eigenvalues[0] < 1 - (1 - least) / 16


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("lwe:n=4,q=97,sigma=1,secret=gaussian,spread=0.12", "at least 1/8"),
        ("lwe:n=4,q=65537,sigma=5000", "lower the error"),
        ("lwe:n=4,q=2,error=cbd,eta=1", "do not depend on the secret"),
        ("lwe:n=6,q=64,error=none,secret=cbd,spread=2,h=3", "leave h out"),
    ],
)
def test_what_cannot_be_certified_says_why(spec, word):
    family = parse(spec)
    assert family.hardness.evidence == "assumption"
    assert word in family.hardness.summary
    with pytest.raises(UsageError, match=word):
        certify(family)


@st.composite
def any_spec(draw):
    q = draw(st.sampled_from([2, 3, 4, 7, 8, 31, 97, 256, 3329, 65537, 2**40]))
    n = draw(st.integers(1, 40))
    secret = draw(
        st.sampled_from(["binary", "ternary", "uniform", "gaussian,spread=0.4", "cbd,spread=2"])
    )
    head = f"n={n},h={draw(st.integers(0, n))},q={q},secret={secret}"
    size = q if q % 2 else 2 ** draw(st.integers(1, q.bit_length() - 1))
    label = ["sigma=1", "alpha=0.01", "error=uniform,width=2", "error=cbd,eta=2", "error=none"]
    body = st.sampled_from([f"lwr:p={size}", *(f"lwe:{x}" for x in label)])
    return f"{draw(body)},{head}"


@given(any_spec())
@settings(max_examples=25)
def test_what_is_called_exact_is_certified_and_accepted(spec):
    try:
        family = parse(spec)
    except UsageError:
        return  # out of range
    if family.hardness.evidence == "exact":
        assert len(check(plain(certify(family))).certificate.claims) == 6
    else:
        with pytest.raises(
            UsageError,
            match=r"neither a power|nothing is proved|spread|values|leave h out|depend on",
        ):
            certify(family)


def test_ml_kem_is_bounded_by_the_law_that_it_draws():
    """10^356.3 queries, computed from types in floating point, find a likely secret."""
    made = certify(parse("ml-kem-512"))
    assert 10**356 * Fraction(2, 5) < made["stat-queries"].value < 10**356 * 2
    assert made.integer("information-floor") == 102
    assert "members together have that probability" in sentence(made, made["stat-queries"])
    assert check(plain(made)).certificate == made


NAMED = [
    *(spec for spec in LARGER if spec[:2] == "lw"),
    *(f"lwe:n=3,q=3329,sigma={sigma}" for sigma in ("1/3", "1", "7/2", "40")),
    *(f"lwe:n=3,q=3329,alpha={alpha}" for alpha in ("0.001", "1/100")),
    *(f"lwe:n=3,q=8380417,error=none,secret=gaussian,spread={s}" for s in ("1/4", "2", "55/3")),
    *(f"lwe:n=3,q=97,error=cbd,eta={eta},secret=cbd,spread={eta}" for eta in (1, 2, 9)),
    *(f"lwe:n=3,q=97,error=uniform,width={width}" for width in (2, 5, 96)),
    *("lwe:n=5,q=97,sigma=2,secret=gaussian,spread=2,h=3", "lpn:n=20,noise=1/3"),
]


def test_the_laws_of_a_problem_are_those_that_its_spec_names():
    """Probabilities are rounded to 2^-64, and the likeliest takes what is left."""
    for spec in NAMED:
        family = parse(spec)
        problem = family.problem()
        entries, errors = problem["secret"]["entries"], problem["errors"]
        for law, named in (
            (entries, laws.named_entries(family)),
            (errors, laws.named_errors(family)),
        ):
            assert (law is None) == (named is None), spec
            counts = dict(enumerate(map(int, law[1]), law[0])) if law else {}
            assert {value for value in counts if counts[value]} <= set(named or {}), spec
            for value, part in (named or {}).items():
                off = abs(Fraction(counts.get(value, 0), sum(counts.values())) - part)
                most = len(named) * Fraction(1, 2**62) + part * Fraction(1, 2**48)
                assert off <= most, (spec, value)


@pytest.mark.parametrize("secret", ["binary", "ternary", "uniform", "uniform,h=2", "cbd,spread=3"])
@pytest.mark.parametrize("q", [8, 16])
def test_walsh_coefficients_contain_the_top_bits_of_odd_entries(secret, q):
    family = parse(f"lwr:n=3,q={q},p=2,secret={secret}")
    length = family.length
    for seed in range(5):
        s = family.instance(seed).hidden.secret
        top = sum(1 << (j + 1) * length - 1 for j, v in enumerate(s) if v % 2)
        found = residue_spectrum(family, s)
        assert (found.sets & top == top).all()
        assert len(found.sets) > 0
        assert found.degrees.least >= top.bit_count()
        if secret == "binary":  # and the product of the top bits is there
            assert found.degrees.least == top.bit_count()


def test_a_spectrum_is_that_of_the_formula():
    family = with_bits("lwe:n=2,q=5,sigma=0.5", 4)
    secret = family.instance(3).hidden.secret
    x = np.ones((1 << family.d - 1, 2, family.d), np.int8)
    x[:, 1, 1:] = tokens.unpack(np.arange(len(x), dtype=np.uint64)[:, None], family.d - 1)
    x[:, 1, 0] = -1
    values = family.mean(secret, x)[:, 0, 0]
    found = residue_spectrum(family, secret)
    assert found.norm == pytest.approx((values**2).mean())
    assert found.coefficient((1, 5)) == pytest.approx((values * x[:, 1, 1] * x[:, 1, 5]).mean())
