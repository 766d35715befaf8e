"""Certificates of LWE-style families: what they rest on by brute force, values by formulas."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check, kernel
from hardness.check.kernel import chance, likely
from hardness.check.problems import residues
from hardness.lower import BoundParameters, certify
from hardness.lower.certificate import pose
from hardness.lower.proof import Proof
from hardness.report.figures import numbers
from hardness.upper.spectra import residue_spectrum
from instances import UsageError, parse, tokens
from instances.modular import modulus, obstacle
from tests import closed, laws
from tests.charts import said
from tests.laws import orthogonal, representative
from tests.proofs import claimed, plain

KINDS = (
    *("binary", "ternary", "uniform"),
    *("gaussian,spread=0.4", "cbd,spread=2"),
)


def secrets(family):
    """All secrets of a small family, one by one."""
    q = family.q
    entries = family.secrets.entries.values if family.secrets.entries else range(-(q // 2), q // 2)
    if family.secret == "uniform" and q % 2:
        entries = range(-(q // 2), q // 2 + 1)
    for s in itertools.product(entries, repeat=family.n):
        weight = sum(v != 0 for v in s)
        if any(map(family.secrets.is_unit, s)) and (not family.h or weight == family.h):
            yield s


def inner(family, chosen, vectors):
    """<a, s> mod q: (secrets, vectors)."""
    return np.array(chosen) @ vectors.T % family.q


def every_vector(q, n):
    return np.array(list(itertools.product(range(q), repeat=n)))


def by_class(family):
    out = {}
    for s in secrets(family):
        out.setdefault(representative(family, s), []).append(s)
    return out


def members(family):
    """Those that are counted: different mod M, or one of each class, by the rule."""
    m = modulus(family)
    key = (lambda s: tuple(v % m for v in s)) if orthogonal(family) else None
    found = {(key or (lambda s: representative(family, s)))(s): s for s in secrets(family)}
    return list(found.values())


def facts(family, success=Fraction(2, 3)):
    """What the kernel proves of the members that are counted, and of their laws."""
    posed = pose(family, success)
    return posed.fact(posed.members), posed.fact(posed.gram)


@pytest.mark.parametrize(("q", "n"), [(2, 6), (4, 3), (8, 2), (3, 2), (5, 2), (7, 2), (3, 3)])
def test_pairs_are_uniform_exactly_where_the_rule_says(q, n):
    family = parse(f"lwe:n={n},q={q},error=uniform,width=1,secret=uniform")
    assert modulus(family) == (q if q % 2 else 2)
    chosen = list(secrets(family))
    t = inner(family, chosen, every_vector(q, n))
    for (i, s), (j, other) in itertools.combinations(enumerate(chosen), 2):
        counts = np.bincount(t[i] * q + t[j], minlength=q * q)
        uniform = bool((counts == q ** (n - 2)).all())
        assert uniform == (representative(family, s) != representative(family, other)), (s, other)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("h", [0, 1, 2])
@pytest.mark.parametrize(
    ("head", "q", "n"),
    [
        ("lwr:p=2", 4, 3),
        ("lwr:p=2", 16, 2),
        ("lwr:p=2", 2, 3),
        ("lwr:p=4", 8, 3),
        ("lwr:p=4", 64, 2),
        ("lwe:error=none", 5, 3),
        ("lwe:error=none", 23, 2),
    ],
)
def test_members_are_counted(kind, h, head, q, n):
    if h > n:
        return
    try:
        family = parse(f"{head},n={n},q={q},h={h},secret={kind}")
    except UsageError as error:
        assert "need q of at" in str(error)  # noqa: PT017 - entries that wrap are refused
        return
    reason = obstacle(family)
    if reason:
        assert "leave h out" in reason
        return
    proved, classes, chosen = facts(family)[0], by_class(family), members(family)
    assert proved.count <= len(chosen)
    if kind in ("binary", "ternary", "uniform"):
        assert proved.count == len(chosen)
    assert -(-proved.count // proved.alike) <= len(classes)
    groups = Counter(representative(family, s) for s in chosen)
    assert max(groups.values()) <= proved.alike
    different = {tuple(v % q for v in s) for s in secrets(family)}
    assert proved.upper >= len(different)
    assert proved.law is not None or even(family)


def even(family):
    """Whether all members are as likely, by enumeration."""
    return len(set(laws.members(family).values())) == 1


@pytest.mark.parametrize("seed", range(200))
def test_no_law_has_fewer_members_of_the_probability_than_are_certified(seed):
    """Random families: never above the truth, and never more than five times below it."""
    family, success = drawn_family(seed)
    truth = laws.least(laws.vectors(family), success)
    one = facts(family, success)[0]
    units = len({v % modulus(family) for v in laws.entry(family) if family.secrets.is_unit(v)})
    as_one = 1 if orthogonal(family) else units
    assert likely(one, success) <= laws.least(laws.members(family), success), family.spec
    assert truth <= 5 * as_one * math.ceil(likely(one, success)), family.spec
    for held in (1, 2, 7):
        share = laws.likeliest(laws.members(family), held)
        assert share <= chance(one, held), family.spec
    assert one.law is not None or even(family)


def drawn_family(seed):
    """A family of at most some thousand secrets, and a probability."""
    rng = np.random.default_rng(seed)
    heads = ("lwe:error=none,q={},n={}", "lwr:p=2,q={},n={}", "lwr:p=4,q={},n={}",
             "window:parts=2,q={},n={}")  # fmt: skip
    while True:
        kind = rng.choice(["binary", "ternary", "uniform", "cbd", "gaussian"])
        spread = {"cbd": rng.integers(1, 5), "gaussian": rng.choice([0.125, 0.25, 0.5, 0.8])}
        size, n = rng.choice([2, 3, 4, 5, 7, 8, 11, 16, 32]), rng.integers(1, 5)
        head = str(rng.choice(heads)).format(size, n)
        spec = f"{head},secret={kind},h={rng.choice([0, 0, rng.integers(0, n + 1)])}"
        try:
            family = parse(spec + (f",spread={spread[kind]}" if kind in spread else ""))
        except UsageError:
            continue
        many = family.h or family.n
        if obstacle(family) is None and len(laws.entry(family)) ** many <= 5000:
            return family, Fraction(int(rng.integers(1, 21)), 20)


def test_a_gaussian_that_is_nearly_always_zero_has_few_secrets():
    """80 secrets, those with one entry that is 1 or -1, have .987 of the probability."""
    family = parse("lwe:n=40,q=5,error=none,secret=gaussian,spread=0.25")
    one = facts(family)[0]
    assert one.alike == 4  # the law reaches 2 and -2
    assert likely(one, Fraction(2, 3)) == 55


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "head",
    [
        *("lwe:n=2,q=7,error=none", "lwe:n=2,q=11,sigma=1", "lwe:n=3,q=5,error=uniform,width=2"),
        *("lwr:n=3,q=8,p=4", "lwr:n=2,q=16,p=8", "lwr:n=2,q=32,p=16", "lwr:n=3,q=4,p=2"),
        *("lwr:n=2,q=16,p=4", "lwr:n=2,q=32,p=4", "lwr:n=3,q=8,p=2", "lwr:n=2,q=8,p=8"),
        *("window:n=2,q=32,parts=8", "window:n=2,q=7,parts=7", "window:n=2,q=4,parts=2"),
        *("lwe:n=3,q=8,sigma=1", "lpn:n=4,noise=0.2"),
    ],
)
def test_members_are_orthogonal_and_what_is_not_alike_is_independent(head, kind):
    """Every pair of members, by enumerating Z_q^n; and one hypothesis fits at most K of them."""
    if head.startswith("lpn") and kind != "binary":
        return
    try:
        family = parse(head if head.startswith("lpn") else f"{head},secret={kind}")
    except UsageError as error:
        assert "need q of at" in str(error)  # noqa: PT017 - entries that wrap are refused
        return
    chosen, q = members(family), family.q
    t = inner(family, chosen, every_vector(q, family.n))
    law = channel(family)
    ell = law / law.mean(axis=0) - 1
    gram = np.einsum("iac,jac,c->ij", ell[t], ell[t], law.mean(axis=0)) / t.shape[1]
    assert np.abs(gram - np.diag(np.diagonal(gram))).max() < 1e-12
    r = family.response - family.response.mean()
    functions = r[t] / np.sqrt((r**2).mean())
    group = np.unique([representative(family, s) for s in chosen], axis=0, return_inverse=True)[1]
    unlike = group.reshape(-1, 1) != group.reshape(1, -1)
    correlations = functions @ functions.T / t.shape[1]
    assert np.abs(correlations[unlike]).max(initial=0) < 1e-12
    posed, rng = pose(family, Fraction(2, 3)), np.random.default_rng(0)
    least = posed.fact(posed.gram).least
    for risk in (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)):
        if risk >= least:
            continue
        most = posed.fact(posed.fit(risk)).most
        for trial in range(30):
            some = functions[rng.permutation(len(chosen))[: 1 + trial % 6]]
            guess = some.mean(axis=0) * rng.uniform(0.2, 1)
            right = (((functions - guess) ** 2).mean(axis=1) <= float(risk) + 1e-12).sum()
            assert right <= most


def token_density(q, length, n):
    """The probabilities of a where its entries are numbers of L bits mod q: (q^n,)."""
    one = np.bincount(np.arange(1 << length) % q, minlength=q) / (1 << length)
    out = np.ones(1)
    for _ in range(n):
        out = np.outer(out, one).reshape(-1)
    return out


@pytest.mark.parametrize(
    ("q", "length"), [(3, 4), (3, 5), (5, 5), (5, 6), (7, 5), (7, 6), (7, 8), (3, 9)]
)
def test_tokens_of_a_prime_keep_to_the_density(q, length):
    family = parse(f"lwe:n=2,q={q},error=uniform,width=2,bits={length}")
    laws = facts(family)[1]
    least, most = float(laws.least), float(laws.top)
    p = token_density(q, length, 2)
    assert least <= p.min() * q**2 <= 1 <= p.max() * q**2 <= most
    chosen = [c[0] for c in by_class(family).values()]
    r = (family.response - family.response.mean())[inner(family, chosen, every_vector(q, 2))]
    gram = r * p @ r.T / family.response.var()
    eigenvalues = np.linalg.eigvalsh(gram)
    assert least <= eigenvalues[0] <= eigenvalues[-1] <= most
    cosines = gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    np.fill_diagonal(cosines, 0)
    correlation = laws.claims["pairwise-correlation"][1]["upper"]
    assert np.abs(cosines).max() <= float(Fraction(correlation))
    # A bound a quarter as wide would be false.
    assert p.max() * q**2 > 1 + (most - 1) / 4 or p.min() * q**2 < 1 - (1 - least) / 4
    assert eigenvalues[-1] > 1 + (most - 1) / 16 or eigenvalues[0] < 1 - (1 - least) / 16


def channel(family):
    """Pr[code | <a, s>]: (q, levels)."""
    q = family.q
    out = np.zeros((q, family.rounding.outcomes))
    for t in range(q):
        for e, weight in (
            zip(family.errors.values, family.errors.weights, strict=True)
            if family.errors
            else [(0, 1)]
        ):
            out[t, family.table[(t + e) % q]] += float(weight)
    return out


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
        for value, part in (named or {}).items():
            off = abs(Fraction(counts.get(value, 0), sum(counts.values())) - part)
            assert off <= len(named) * Fraction(1, 2**62) + part * Fraction(1, 2**48), value


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
    from instances import tokens

    family = parse("lwe:n=2,q=5,sigma=0.5,bits=4")
    secret = family.instance(3).hidden.secret
    x = np.ones((1 << family.d - 1, 2, family.d), np.int8)
    x[:, 1, 1:] = tokens.unpack(np.arange(len(x), dtype=np.uint64)[:, None], family.d - 1)
    x[:, 1, 0] = -1
    values = family.mean(secret, x)[:, 0, 0]
    found = residue_spectrum(family, secret)
    assert found.norm == pytest.approx((values**2).mean())
    assert found.coefficient((1, 5)) == pytest.approx((values * x[:, 1, 1] * x[:, 1, 5]).mean())


def test_the_figure_draws_its_numbers():
    data = numbers("walsh", parse("lwr:n=4,q=16,p=2,secret=binary,h=3"))
    assert data["odd"] == 3
    names = dict.fromkeys(row["series"] for row in data["rows"])
    weight, random = ([r["weight"] for r in data["rows"] if r["series"] == n] for n in names)
    assert weight[:3] == [0.0] * 3
    assert sum(weight) == pytest.approx(1) == sum(random)
    assert "odd entries of the secret" in said("walsh", data)
    with pytest.raises(UsageError, match="given"):
        numbers("walsh", parse("nice:m=2,k=2,d=6"))


@pytest.mark.parametrize("beta", [4, 8, 40])
def test_layers_may_miss_by_what_their_heads_are_not_saturated(beta):
    family = parse(f"lwr:n=2,q=8,p=2,secret=ternary,beta={beta}")
    layer = family.layer((1, -1))
    total = np.abs(layer.w).sum()
    allowed = family.layer_tolerance(layer)
    assert allowed == pytest.approx(1e-12 + (1 - math.tanh(beta / 2)) * total, rel=1e-9, abs=0)
    x = tokens.unpack(family.instance(0).examples(0, 500).words, family.d)
    error = np.abs(layer(x) - family.mean((1, -1), x)).max()
    assert error <= allowed
    assert beta == 40 or error > allowed / (2 * total)
    exact = parse(f"lwr:n=2,q=8,p=2,secret=ternary,beta={beta},heads=exact")
    layer = exact.layer((1, -1))
    assert exact.layer_tolerance(layer) == 1e-12 * max(1.0, np.abs(layer.w).sum() / 200)
