import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.lower import Terms, certify, verify
from hardness.lower.modular import Independent, independent_members, reach
from hardness.report.figures import draw, numbers
from hardness.upper.leap import leap, leap_of_masks
from hardness.upper.spectra import residue_spectrum
from instances import UsageError, parse
from instances.errors import Refuted
from instances.independence import chi_square, obstacle, representative, rule
from tests.hardness.test_certificate import sealed

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
]
KINDS = {
    "binary": (0, 1),
    "ternary": (-1, 0, 1),
    "uniform": None,
    "gaussian,spread=0.4": tuple(range(-4, 5)),
    "cbd,spread=2": tuple(range(-2, 3)),
}


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


@pytest.mark.parametrize(("q", "n"), [(4, 3), (8, 3), (16, 2)])
def test_half_turns_leave_a_correlation_to_odd_multiples_alone(q, n):
    family = parse(f"lwr:n={n},q={q},p=2")
    chosen = list(secrets(family))
    assert len(chosen) == family.size
    f = family.noiseless[inner(family, chosen, every_vector(q, n))]
    gram = f @ f.T / f.shape[1]
    kin = np.unique([representative(family, s) for s in chosen], axis=0, return_inverse=True)[1]
    same = kin.reshape(-1, 1) == kin.reshape(1, -1)
    assert (gram[~same] == 0).all()
    assert kin.max() + 1 == independent_members(family) == (q**n - (q // 2) ** n) // (q // 2)
    # Half of what is orthogonal is not independent: the rule for other labels is stricter.
    assert len({tuple(v % 2 for v in s) for s in chosen}) == 2**n - 1 < kin.max() + 1


@pytest.mark.parametrize(("q", "n"), [(2, 6), (4, 3), (8, 2), (3, 2), (5, 2), (7, 2), (3, 3)])
def test_pairs_are_uniform_exactly_where_the_rule_says(q, n):
    family = parse(f"lwe:n={n},q={q},error=uniform,width=1,secret=uniform")
    assert rule(family) == ("lines" if q % 2 else "bits")
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
    classes = by_class(family)
    size = independent_members(family)
    bound = reach(family)
    if bound:
        inside = [c for c in classes.values() if any(max(map(abs, s)) <= bound for s in c)]
        assert size <= len(inside) <= len(classes)
        small = [s for c in classes.values() for s in c if max(map(abs, s)) <= bound]
        assert size == len({representative(family, s) for s in small})
    else:
        assert size == len(classes)
    different = {tuple(v % q for v in s) for s in secrets(family)}
    assert Independent(family=family).secrets >= len(different)


def test_entries_beyond_the_reach_may_be_parallel():
    """2 B^2 < q cannot be left out: mod 7 the vectors (1, 2) and (-3, 1) are multiples."""
    family = parse("lwe:n=2,q=7,error=none,secret=uniform")
    assert representative(family, (1, 2)) == representative(family, (-3, 1))


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
    found = Independent(family=family)
    least, most = map(float, found.density)
    p = token_density(q, length, 2)
    assert least <= p.min() * q**2 <= 1 <= p.max() * q**2 <= most
    chosen = [c[0] for c in by_class(family).values()]
    r = (family.response - family.response.mean())[inner(family, chosen, every_vector(q, 2))]
    gram = r * p @ r.T / family.response.var()
    eigenvalues = np.linalg.eigvalsh(gram)
    assert least <= eigenvalues[0] <= eigenvalues[-1] <= most
    cosines = gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    np.fill_diagonal(cosines, 0)
    assert np.abs(cosines).max() <= float(found.correlation)
    # A bound a quarter as wide would be false.
    assert p.max() * q**2 > 1 + (most - 1) / 4 or p.min() * q**2 < 1 - (1 - least) / 4
    assert eigenvalues[-1] > 1 + (most - 1) / 16 or eigenvalues[0] < 1 - (1 - least) / 16


def kernel(family):
    """Pr[code | <a, s>]: (q, levels)."""
    q = family.q
    out = np.zeros((q, family.outcomes))
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
]


@pytest.mark.parametrize("spec", QUERIED)
def test_no_query_sees_more_than_kappa(spec):
    family = parse(spec)
    found = Independent(family=family)
    q, n = family.q, family.n
    k = kernel(family)
    shares = k.mean(axis=0)
    assert shares.min() == pytest.approx(float(family.rarest))
    assert ((k**2 / shares).sum() / q - 1) == pytest.approx(float(found.chi_square))
    p = token_density(q, family.length, n) if q % 2 else np.full(q**n, q**-n)
    bound = reach(family) or q
    chosen = [
        min(c, key=lambda s: max(map(abs, s)))
        for c in by_class(family).values()
        if any(max(map(abs, s)) <= bound for s in c)
    ]
    assert len(chosen) >= found.size
    t = inner(family, chosen, every_vector(q, n))
    # Half of the tokens are open; D_s - D_0 on them, (members, a, code).
    moves = (p[None, :, None] * (k[t] - shares) / 2).reshape(len(chosen), -1)
    reference = (p[:, None] * shares / 2).reshape(-1)
    most = float(found.density[1])
    kappa = most * float(found.chi_square * found.variance) / 4
    faint = most * float(found.chi_square) * (1 - float(family.rarest)) / 2
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


@pytest.mark.parametrize("spec", SPECS)
def test_certificates_are_accepted(spec):
    family = parse(spec)
    assert family.hardness.evidence == "exact"
    data = json.loads(json.dumps(certify(family).to_json()))
    assert len(check(data).statements) == 6


def test_values_are_those_of_the_formulas():
    made = certify(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"))
    assert made.value("sq-dimension") == made.value("independent-members") == "74974368"
    # The parity of the same size, without noise, has the same bounds.
    from hardness.lower import stat_queries, vstat_queries

    assert int(made.value("stat-queries")) == stat_queries(74974368, Fraction(0), Terms())
    assert int(made.value("vstat-queries")) == vstat_queries(74974368, Fraction(0), Terms())
    # Errors are those that are drawn: a rate rounded to a multiple of 2^-64.
    noise = Fraction(int(Fraction(1, 10) * 2**64), 2**64)
    made = certify(parse("lpn:n=64,noise=0.1"))
    assert int(made.value("stat-queries")) == stat_queries(2**64 - 1, noise, Terms())
    assert int(made.value("vstat-queries")) == vstat_queries(2**64 - 1, noise, Terms())


@given(
    st.sampled_from(SPECS),
    st.fractions(Fraction(1, 500), 1, max_denominator=500),
    st.fractions(0, Fraction(3, 4), max_denominator=9),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
    st.integers(1, 10**5),
)
@settings(max_examples=40, deadline=None)
def test_any_terms_are_accepted(spec, tau, risk, success, vstat):
    terms = Terms(tau=tau, vstat=vstat, risk=risk, success=success)
    assert len(check(certify(parse(spec), terms).to_json()).statements) == 6


@pytest.mark.parametrize("spec", ["lwe:n=3,q=17,sigma=1,bits=7", "lwr:n=5,q=16,p=2,secret=ternary"])
def test_any_digit_of_value_or_evidence_is_refused_even_with_a_fitting_digest(spec):
    data = certify(parse(spec)).to_json()
    for part in ("evidence", *range(len(data["claims"]))):
        text = json.dumps(data[part] if part == "evidence" else data["claims"][part]["value"])
        for place in (i for i, c in enumerate(text) if c.isdigit()):
            changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
            forged = json.loads(json.dumps(data))
            if part == "evidence":
                forged["evidence"] = json.loads(changed)
            else:
                forged["claims"][part]["value"] = json.loads(changed)
            with pytest.raises(Refuted):
                check(sealed(forged))


def swapped(counts):
    """Two counts exchanged: they still add up."""
    counts[0], counts[len(counts) // 2] = counts[len(counts) // 2], counts[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["evidence"].update(rule="bits"),
        lambda d: d["evidence"].update(meaning="different"),
        lambda d: d["evidence"].update(errors=None),
        lambda d: d["evidence"]["errors"].update(least=-8),
        lambda d: swapped(d["evidence"]["errors"]["counts"]),
        lambda d: d["evidence"]["errors"].update(counts=[str(2**64)], least=0),
        lambda d: d["evidence"]["errors"].update(more=1),
        lambda d: d["evidence"].update(density=["1", "1"]),
        lambda d: d["evidence"]["density"].pop(),
        lambda d: d["evidence"].update(chi_square="1"),
        lambda d: d["evidence"].update(more=1),
        lambda d: d["evidence"]["members"].update(reach=1.0),
        lambda d: d["evidence"]["members"].update(secret="binary"),
        lambda d: d["evidence"]["labels"].update(levels="2"),
        lambda d: d.update(spec=d["spec"].replace("n=3", "n=4")),
        lambda d: d.update(spec=d["spec"].replace("q=17", "q=19")),
        lambda d: d.update(spec=d["spec"].replace("q=17", "q=15")),
        lambda d: d.update(spec=d["spec"].replace("bits=7", "bits=0")),
        lambda d: d.update(spec=d["spec"].replace("bits=7", "bits=6")),
        lambda d: d.update(spec=d["spec"].replace("bits=7", "bits=007")),
        lambda d: d.update(spec=d["spec"].replace("sigma=1", "sigma=1.1")),
        lambda d: d.update(spec=d["spec"].replace("alpha=0", "alpha=1")),
        lambda d: d.update(spec=d["spec"].replace("error=gaussian", "error=none")),
        lambda d: d.update(spec=d["spec"].replace("secret=uniform", "secret=ternary")),
        lambda d: d.update(spec=d["spec"].replace("h=0", "h=2")),
        lambda d: d.update(spec=d["spec"].replace("lwe:", "lwr:")),
        lambda d: d.update(scope="every learner"),
        lambda d: d["claims"].pop(),  # the information floor
        lambda d: d["claims"].pop(0),  # N
        lambda d: d["claims"][0].update(kind="exact"),
        lambda d: d["claims"][0]["parameters"].update(upper="4913"),
        lambda d: d["claims"][1]["parameters"].update(upper="1/5"),
        lambda d: d["claims"][3].update(meaning="nobody can learn it"),
        lambda d: d["claims"][3]["parameters"].update(tau="1/2"),
        lambda d: d["claims"][3]["parameters"].update(risk="9/10"),
        lambda d: d["claims"][5]["parameters"].update(levels="2"),
    ],
)
def test_a_forged_certificate_is_refused(change):
    data = json.loads(json.dumps(certify(parse("lwe:n=3,q=17,sigma=1,bits=7")).to_json()))
    change(data)
    with pytest.raises(Refuted) as found:
        check(sealed(data))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("lwe:n=40,q=17,sigma=1,bits=6", "bits of at least 11"),
        ("lwe:n=4,q=97,sigma=1,secret=gaussian,spread=0.1", "at least 1/8"),
        ("lwe:n=4,q=65537,sigma=5000", "lower the error"),
        ("lwe:n=4,q=2,error=cbd,eta=1", "do not depend on the secret"),
    ],
)
def test_what_cannot_be_certified_says_why(spec, word):
    family = parse(spec)
    assert family.hardness.evidence == "assumption"
    assert word in family.hardness.why
    for refuse in (certify, verify):
        with pytest.raises(UsageError, match=word):
            refuse(family)


def test_the_bits_that_are_asked_for_are_enough_and_no_more_than_needed():
    for bits, wanted in ((10, True), (11, False)):
        assert bool(obstacle(parse(f"lwe:n=40,q=17,sigma=1,bits={bits}"))) is wanted


def test_a_risk_beyond_the_density_is_refused():
    with pytest.raises(UsageError, match="raise bits"):
        certify(parse("lwe:n=3,q=17,sigma=1,bits=7"), Terms(risk=Fraction(9, 10)))


@pytest.mark.parametrize("spec", ["lwe:n=3,q=16,error=cbd,eta=3", "lpn:n=4,noise=0.3"])
def test_chi_square_is_that_of_the_float_table(spec):
    family = parse(spec)
    assert float(chi_square(family)) == pytest.approx(family.q * (family.chances**2).sum() - 1)


def test_verification_sees_members_that_are_not_independent(monkeypatch):
    monkeypatch.setattr("hardness.lower.residues.representative", lambda family, s: s)
    found = verify(parse("lwr:n=3,q=8,p=2,secret=ternary"), members=26, samples=40_000)
    assert found.disagreements >= 13
    with pytest.raises(Refuted, match="worst pair"):
        found.require()


def test_verification_sees_a_layer_that_is_not_the_formula(monkeypatch):
    family = parse("lwe:n=2,q=5,sigma=1,bits=8")
    verify(family, members=6, samples=20_000).require()
    right = type(family).mean
    monkeypatch.setattr(type(family), "mean", lambda self, s, x: right(self, s, x) + 1e-9)
    with pytest.raises(Refuted, match="differs from the label formula"):
        verify(family, members=6, samples=20_000).require()


def test_a_layer_that_is_too_large_is_left_out_and_said_to_be():
    from hardness.report.words import verification_words

    found = verify(parse("lwe:n=40,q=1601,alpha=0.005"), members=10, samples=2000)
    found.require()
    assert found.layer.members == 0
    assert "not checked" in verification_words(found)


def test_verification_reads_folders_and_their_errors(tmp_path):
    from instances import write_folder

    for i, spec in enumerate(("lwe:n=3,q=17,sigma=1", "lwr:n=4,q=16,p=4,secret=binary")):
        instance = parse(spec).instance(1)
        folder = write_folder(tmp_path / str(i), instance, 20_000)
        found = verify(folder.family, 20, 20_000, folder=folder)
        found.require()
        assert representative(instance.family, found.gram.members[0]) == representative(
            instance.family, instance.hidden.secret
        )
        assert bool(found.stored.different) == (i == 0)


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


@given(st.sets(st.integers(0, 255), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_both_leaps_agree(masks):
    sets = [tuple(j for j in range(8) if m >> j & 1) for m in masks]
    assert leap_of_masks(np.array(sorted(masks))) == leap(sets)


def test_the_command_shows_spectra_of_lwe_style_members(hardness):
    found = hardness("spectrum", "lwr:n=3,q=8,p=2,secret=binary", "--json").json
    weights = found["target"]["weights"]
    assert sum(weights) == pytest.approx(1)
    assert len(weights) == 10
    units = sum(parse("lwr:n=3,q=8,p=2,secret=binary").instance(0).hidden.secret)
    assert found["target"]["information_exponent"] == units
    assert weights[:units] == [0.0] * units


def test_the_figure_draws_its_numbers():
    data = numbers("walsh", parse("lwr:n=4,q=16,p=2,secret=binary,h=3"))
    assert data["odd"] == 3
    assert data["weight"][:3] == [0.0] * 3
    assert sum(data["weight"]) == pytest.approx(1) == sum(data["random"])
    for kind in ("svg", "png"):
        assert draw("walsh", data, kind) == draw("walsh", data, kind)
    with pytest.raises(UsageError, match="given"):
        numbers("walsh", parse("nice:m=2,k=2,d=6"))


def test_a_hypothesis_of_relative_risk_fits_few_members():
    """The mean of two orthonormal members has relative risk 1/2 on both: K = 2 there."""
    found = Independent(family=replace(parse("lwr:n=3,q=8,p=2,secret=binary")))
    assert found.right_about(Fraction(1, 2)) == 2
    assert found.right_about(Fraction(49, 100)) == 1


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("independent_members", lambda right: lambda family: right(family) + 1),
        ("chi_square", lambda right: lambda family: right(family) / 2),
        ("reach", lambda right: lambda family: right(family) + 1),
        ("rule", lambda right: lambda family: "bits" if right(family) != "bits" else "lines"),
    ],
)
@pytest.mark.parametrize("spec", ["lwe:n=9,q=3329,error=cbd,eta=2,secret=ternary", SPECS[0]])
def test_a_maker_that_errs_is_found_out(spec, name, wrong, monkeypatch):
    from hardness.lower import modular

    monkeypatch.setattr(modular, name, wrong(getattr(modular, name)))
    with pytest.raises(Refuted):
        check(certify(parse(spec)).to_json())


@st.composite
def any_spec(draw):
    q = draw(st.sampled_from([2, 3, 4, 7, 8, 31, 97, 256, 3329, 65537, 2**40]))
    n = draw(st.integers(1, 40))
    secret = draw(st.sampled_from(["binary", "ternary", "uniform", *list(KINDS)[3:]]))
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
        check(json.loads(json.dumps(certify(family).to_json())))
    else:
        with pytest.raises(UsageError, match="given"):
            certify(family)
