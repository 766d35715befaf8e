"""Certificates of LWE-style families: values by the maker's formulas, forged ones refused."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check, kernel
from hardness.check.problems import residues
from hardness.lower import BoundParameters, certify
from hardness.lower.certificate import pose
from hardness.lower.proof import Proof
from instances import UsageError, parse
from instances.modular import modulus
from tests import closed, laws
from tests.proofs import claimed, plain

SPECS = [
    "lwr:n=64,q=256,p=2,secret=binary,h=6",
    "lwr:n=5,q=16,p=2,secret=uniform,h=2",
    "lwr:n=6,q=64,p=8,secret=cbd,spread=3,h=3",
    "lwr:n=4,q=7,p=7,secret=ternary",
    "lwe:n=40,q=1601,alpha=0.005",
    "lwe:n=3,q=17,sigma=1,bits=7",
    "lwe:n=9,q=3329,error=cbd,eta=2,secret=gaussian,spread=3,h=4",
    "lwe:n=9,q=64,error=uniform,width=3,secret=ternary,h=2",
    "lwe:n=6,q=31,error=none,secret=binary",
    "lpn:n=64,noise=0.1",
    "lpn:n=20,noise=0,h=4",
    "window:n=5,q=16,parts=2,secret=ternary",
    "window:n=5,q=16,parts=8,secret=uniform,h=3",
    "lwr:n=5,q=2,p=2,secret=uniform,h=2",
    "lwe:n=5,q=257,error=none,secret=cbd,spread=40,h=2",
    "lwr:n=3,q=4096,p=2,secret=cbd,spread=40",
]


def counted(family):
    """V, the vectors mod M with a unit among their entries, and units that entries may be."""
    n, h, q, m = family.n, family.h, family.q, modulus(family)
    if family.secrets.law is None:  # of up to 2^40 values, which nobody lists
        units = m - 1 if m % 2 else m // 2
        others, zero = m - units - (h > 0 and m == q), m < q
    else:
        residues = {v % m for v in family.secrets.law}
        units = sum(math.gcd(v, m) == 1 for v in residues)
        others, zero = len(residues) - units, 0 in residues
    if not h or not zero:
        size = math.comb(n, h or n) * ((units + others) ** (h or n) - others ** (h or n))
    else:  # of j entries that are not 0 mod M one is a unit at least
        size = sum(
            math.comb(n, j) * ((units + others - 1) ** j - (others - 1) ** j)
            for j in range(1, h + 1)
        )
    return size, units


def expected(family, terms):
    """What is claimed where each secret is as likely, by formulas of their own."""
    least = most = Fraction(1)
    if family.q % 2:
        numbers = 1 << family.length
        rest = numbers % family.q
        least = 1 - Fraction(family.n * rest, numbers)
        most = 1 / (1 - Fraction(family.n * (family.q - rest), numbers))
    vectors, alike = counted(family)
    size = vectors if laws.orthogonal(family) else -(-vectors // alike)
    alike = alike if laws.orthogonal(family) else 1
    right = min(size, alike * math.floor(most / (least - terms.risk)))
    correlation = (most - least) / (most + least)
    unlike = -(-size // alike)
    chi, rarest = laws.chi_square(family), Fraction(1, family.rounding.parts)
    odd = Fraction(family.rounding.outcomes % 2, family.rounding.outcomes**2)
    variance = 4 * rarest * (1 - rarest) if family.rounding.outcomes == 2 else 1 - odd
    faint = 3 * terms.vstat * most * chi * (1 - rarest) / 2
    out = {
        "orthogonal-members": size,
        "pairwise-correlation": (0, correlation),
        "sq-dimension": min(unlike, math.floor(1 / correlation)) if correlation else unlike,
        "information-floor": closed.information_floor(size, terms, right, family.rounding.outcomes),
    }
    for name, square in (("stat", most * chi * variance / 4 / terms.tau**2), ("vstat", faint)):
        cap = min(math.floor(square), size)
        queries = closed.least_queries(cap, terms.success * size - right)
        out |= {f"{name}-queries": queries} if cap else {f"{name}-success": Fraction(right, size)}
    return out


def agree(made, family, terms):
    """Every value of a certificate is that of the formulas, and it is accepted.

    Where secrets are not all as likely, those that average over them are less or the same.
    """
    assert len(check(plain(made)).statements) == 6
    posed, wanted = pose(family, terms.success), expected(family, terms)
    even = posed.fact(posed.members).law is None
    assert {one.quantity for one in made.claims} == set(wanted)
    for one in made.claims:
        value = wanted[one.quantity]
        if isinstance(value, tuple):
            assert one.upper == value[1]
            value = value[0]
        found = one.value
        if one.quantity.endswith("-success"):
            assert found == value if even else found >= value
        elif one.quantity == "information-floor" or one.quantity.endswith("-queries"):
            assert found == value if even else found <= value, one.quantity
        else:
            assert found == value, one.quantity


@pytest.mark.parametrize("spec", SPECS)
def test_certificates_are_accepted_with_the_values_of_the_formulas(spec):
    family, terms = parse(spec), BoundParameters()
    assert family.hardness.evidence == "exact"
    agree(certify(family), family, terms)


@given(
    st.sampled_from(SPECS),
    st.fractions(Fraction(1, 500), 1, max_denominator=500),
    st.fractions(0, Fraction(3, 4), max_denominator=9),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
    st.integers(1, 10**5),
)
@settings(max_examples=40, deadline=None)
def test_any_terms_are_accepted(spec, tau, risk, success, vstat):
    family = parse(spec)
    terms = BoundParameters(tau=tau, vstat=vstat, risk=risk, success=success)
    agree(certify(family, terms), family, terms)


def test_errors_that_hide_everything_are_refused():
    family = parse("lwe:n=3,q=4,error=uniform,width=3")
    problem = residues(family) | {"errors": [0, [str(2**62)] * 4]}
    proof = Proof(problem, {"spec": family.spec})
    members = proof.step("secrets", base=Fraction(1), cut=0, weights=[])
    with pytest.raises(kernel.Refused):
        proof.step("laws", members)


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("lwe:n=40,q=17,sigma=1,bits=6", "bits of at least 11"),
        ("lwe:n=4,q=97,sigma=1,secret=gaussian,spread=0.12", "at least 1/8"),
        ("lwe:n=4,q=65537,sigma=5000", "lower the error"),
        ("lwe:n=4,q=2,error=cbd,eta=1", "do not depend on the secret"),
        ("lwe:n=6,q=64,error=none,secret=cbd,spread=2,h=3", "leave h out"),
    ],
)
def test_what_cannot_be_certified_says_why(spec, word):
    family = parse(spec)
    assert family.hardness.evidence == "assumption"
    assert word in family.hardness.why
    with pytest.raises(UsageError, match=word):
        certify(family)


def test_a_hypothesis_of_relative_risk_fits_few_members():
    """The mean of two orthonormal members has relative risk 1/2 on both: K = 2 there."""
    posed = pose(parse("lwr:n=3,q=8,p=2,secret=binary"), Fraction(2, 3))
    assert posed.fact(posed.fit(Fraction(1, 2))).most == 2
    assert posed.fact(posed.fit(Fraction(49, 100))).most == 1


@st.composite
def any_spec(draw):
    q = draw(st.sampled_from([2, 3, 4, 7, 8, 31, 97, 256, 3329, 65537, 2**40]))
    n = draw(st.integers(1, 40))
    secret = draw(
        st.sampled_from(["binary", "ternary", "uniform", "gaussian,spread=0.4", "cbd,spread=2"])
    )
    head = f"n={n},h={draw(st.integers(0, n))},q={q},secret={secret}"
    if q % 2:
        head += f",bits={draw(st.integers((q - 1).bit_length(), 120))}"
    size = q if q % 2 else 2 ** draw(st.integers(1, q.bit_length() - 1))
    label = ["sigma=1", "alpha=0.01", "error=uniform,width=2", "error=cbd,eta=2", "error=none"]
    body = st.sampled_from([f"lwr:p={size}", f"window:parts={size}", *(f"lwe:{x}" for x in label)])
    return f"{draw(body)},{head}"


@given(any_spec())
@settings(max_examples=80, deadline=None)
def test_what_is_called_exact_is_certified_and_accepted(spec):
    try:
        family = parse(spec)
    except UsageError:
        return  # out of range
    if family.hardness.evidence == "exact":
        agree(certify(family), family, BoundParameters())
    else:
        with pytest.raises(UsageError, match="given"):
            certify(family)


ML_KEM = plain(certify(parse("ml-kem-512")))


def test_ml_kem_is_bounded_by_the_law_that_it_draws():
    """10^356.3 queries, computed from types in floating point, find a likely secret."""
    value = Fraction(kernel.read("rational", claimed(ML_KEM, "stat-queries")["value"]))
    assert 10**356 * Fraction(2, 5) < value < 10**356 * 2
    assert claimed(ML_KEM, "information-floor")["value"] == "102"
    assert "no fewer than" in claimed(ML_KEM, "stat-queries")["says"]


def test_uniform_secrets_of_a_weight_that_reduction_makes_uneven():
    """10^76.9 secrets mod 4 hold 2/3, where there are 10^91.9."""
    family, success = parse("lwr:n=256,q=1024,p=512,h=64"), Fraction(2, 3)
    posed = pose(family, success)
    members = posed.fact(posed.members)
    assert math.log10(members.count) == pytest.approx(91.87, abs=0.01)
    assert math.log10(kernel.likely(members, success)) == pytest.approx(76.86, abs=0.01)
    check(plain(certify(family)))


NAMED = [
    *SPECS,
    *(f"lwe:n=3,q=3329,sigma={sigma}" for sigma in ("1/3", "1", "7/2", "40")),
    *(f"lwe:n=3,q=3329,alpha={alpha}" for alpha in ("0.001", "1/100")),
    *(f"lwe:n=3,q=8380417,error=none,secret=gaussian,spread={s}" for s in ("1/4", "2", "55/3")),
    *(f"lwe:n=3,q=97,error=cbd,eta={eta},secret=cbd,spread={eta}" for eta in (1, 2, 9)),
    *(f"lwe:n=3,q=97,error=uniform,width={width}" for width in (2, 5, 96)),
    *("lwe:n=5,q=97,sigma=2,secret=gaussian,spread=2,h=3", "lpn:n=20,noise=1/3"),
]


@pytest.mark.parametrize("spec", NAMED)
def test_the_laws_of_a_problem_are_those_that_its_spec_names(spec):
    """Probabilities are rounded to 2^-64, and the likeliest takes what is left."""
    family = parse(spec)
    problem = residues(family)
    entries, errors = problem["secret"]["entries"], problem["errors"]
    for law, named in ((entries, laws.named_entries(family)), (errors, laws.named_errors(family))):
        assert (law is None) == (named is None)
        counts = dict(enumerate(map(int, law[1]), law[0])) if law else {}
        assert {value for value in counts if counts[value]} <= set(named or {})
        for value, chance in (named or {}).items():
            off = abs(Fraction(counts.get(value, 0), sum(counts.values())) - chance)
            assert off <= len(named) * Fraction(1, 2**62) + chance * Fraction(1, 2**48), value
