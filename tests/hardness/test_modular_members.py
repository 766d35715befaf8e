"""What certificates of LWE-style families rest on, against brute force."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from hardness.check.kernel import chance, likely
from hardness.lower.certificate import pose
from instances import UsageError, parse
from instances.modular import modulus, obstacle
from tests import laws
from tests.laws import orthogonal, representative

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


@pytest.mark.parametrize(("eta", "n"), [(3, 40), (2, 64), (1, 200), (6, 8)])
def test_binomial_secrets_have_the_probability_of_their_types(eta, n):
    family, success = parse(f"lwe:n={n},q=3329,sigma=1,secret=cbd,spread={eta}"), Fraction(2, 3)
    truth = laws.by_types(laws.entry(family), n, success)
    assert truth / 5 <= likely(facts(family)[0], success) <= truth


def test_a_gaussian_that_is_nearly_always_zero_has_few_secrets():
    """80 secrets, those with one entry that is 1 or -1, have .987 of the probability."""
    family = parse("lwe:n=40,q=5,error=none,secret=gaussian,spread=0.25")
    one = facts(family)[0]
    truth = laws.by_types(laws.entry(family), 40, Fraction(2, 3))
    assert one.alike == 4  # the law reaches 2 and -2
    assert likely(one, Fraction(2, 3)) == truth == 55


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
    law = kernel(family)
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


def kernel(family):
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


QUERIED = [
    "lwr:n=3,q=4,p=2,secret=ternary",
    "lwr:n=2,q=8,p=2,secret=uniform",
    "lwr:n=4,q=4,p=4,secret=binary",
    "lwr:n=3,q=8,p=4,secret=binary",
    "window:n=3,q=8,parts=4,secret=binary",
    "lpn:n=5,noise=0.2",
    "lwe:n=2,q=5,error=none,bits=6",
    "lwe:n=2,q=7,sigma=0.7,bits=6",
    "lwe:n=3,q=3,error=uniform,width=2,bits=5",
    "lwe:n=3,q=8,error=uniform,width=3,secret=binary",
    "lwr:n=2,q=16,p=4",
    "lwr:n=2,q=8,p=4",
]


@pytest.mark.parametrize("spec", QUERIED)
def test_no_query_sees_more_than_kappa(spec):
    family = parse(spec)
    proved, laws = facts(family)
    q, n = family.q, family.n
    k = kernel(family)
    shares = k.mean(axis=0)
    assert shares.min() == pytest.approx(1 / family.rounding.parts)
    assert ((k**2 / shares).sum() / q - 1) == pytest.approx(float(laws.square))
    p = token_density(q, family.length, n) if q % 2 else np.full(q**n, q**-n)
    chosen = members(family)
    assert len(chosen) >= proved.count
    t = inner(family, chosen, every_vector(q, n))
    # Half of the tokens are open; D_s - D_0 on them, (members, a, code).
    moves = (p[None, :, None] * (k[t] - shares) / 2).reshape(len(chosen), -1)
    reference = (p[:, None] * shares / 2).reshape(-1)
    kappa, faint = float(laws.moves), float(laws.moves01)
    rng = np.random.default_rng(0)
    best = sharp = 0.0
    for trial in range(150):
        phi = rng.choice([-1.0, 1.0], moves.shape[1])
        if trial % 2:  # climb: the largest value of a convex function is at a corner
            for _ in range(20):
                phi = np.where(moves.T @ (moves @ phi) >= 0, 1.0, -1.0)
        best = max(best, float(((moves @ phi) ** 2).sum()))
        part = rng.random(moves.shape[1]) < rng.choice([0.02, 0.1, 0.5])
        if trial % 3 == 0:  # where a few members put a code
            part = (moves[rng.choice(len(chosen), 1 + trial % 4)] > 0).any(axis=0)
        at = float(reference[part].sum())
        seen = float(((moves[:, part].sum(axis=1)) ** 2).sum())
        assert seen <= faint * min(at, 1 - at) + 1e-15
        sharp = max(sharp, seen / (faint * min(at, 1 - at) or 1))
    assert best <= kappa + 1e-12
    assert best > kappa / 4
    assert sharp > 0.2
