"""Kernels and gradient descent on LWE-style families: never beaten, exact on lpn, and refused."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from hardness.check import check
from hardness.claims.independent import NO_DEGREE
from hardness.lower import BoundParameters
from hardness.lower.named import (
    BatchDescent,
    Kernel,
    LowDegree,
    NoClaim,
    NoisyDescent,
    RoundedDescent,
    Unknown,
    WorstDescent,
    certify_named,
    filled,
    least_error,
    least_features,
)
from hardness.lower.named.descent import batch_eigenvalue, bessel
from instances import parse
from instances.errors import Refuted, UsageError
from instances.streams import generator
from tests.conftest import sealed
from tests.hardness.test_modular_members import (
    by_class,
    every_vector,
    inner,
    kernel,
    members,
    token_density,
)

SPECS = [
    "lwr:n=3,q=4,p=2,secret=ternary",
    "lwr:n=3,q=8,p=4,secret=binary",
    "window:n=3,q=8,parts=4,secret=binary",
    "lpn:n=5,noise=0.2",
    "lwe:n=2,q=5,error=none,bits=6",
    "lwe:n=2,q=7,sigma=0.7,bits=6",
    "lwe:n=3,q=3,error=uniform,width=2,bits=5",
    "lwe:n=3,q=8,error=uniform,width=3,secret=binary",
    "lwr:n=2,q=5,p=5,bits=5",
]
ONE = Fraction(1)
ASKED = {
    "noise": NoisyDescent(steps=50, clip=Fraction(1, 2), std=Fraction(2)),
    "within": WorstDescent(steps=3, clip=ONE, within=Fraction(1, 30)),
    "grid": RoundedDescent(steps=2, clip=ONE, grid=Fraction(10), parameters=20),
    "batch": BatchDescent(steps=4, batch=2, state_bits=1),
    "kernel": Kernel(features=3),
}
CERTIFIED = [
    "lwr:n=64,q=256,p=2,secret=binary,h=6",
    "lwr:n=12,q=64,p=4",
    "lwe:n=8,q=17,sigma=1.5",
    "lwe:n=6,q=17,error=uniform,width=2,bits=9",
    "lpn:n=99,h=4,noise=0.1",
    "window:n=40,q=64,parts=4,h=8,secret=binary",
]


def number(value):
    return float(Fraction(str(value)))


class Small:
    """A small family: every a with its probability, its members, their labels."""

    def __init__(self, spec):
        family = self.family = parse(spec)
        self.unknown = Unknown.of(family)
        q, n = family.q, family.n
        self.p = token_density(q, family.length, n) if q % 2 else np.full(q**n, q**-n)
        self.members = members(family)[: self.unknown.size]
        assert len(self.members) == self.unknown.size
        self.t = inner(family, self.members, every_vector(q, n))
        self.least, self.most = (float(end) for end in self.unknown.found.density)

    @property
    def functions(self):
        """What is unknown of each on open tokens, norm 1 where a is uniform: (N, q^n)."""
        r = self.family.response - self.family.response.mean()
        return r[self.t] / np.sqrt((r**2).mean())

    @property
    def moves(self):
        """D_s - D_0 on open tokens: (N, q^n * codes); and D_0."""
        k = kernel(self.family)
        shares = k.mean(axis=0)
        moves = self.p[None, :, None] * (k[self.t] - shares) / 2
        return moves.reshape(len(self.t), -1), (self.p[:, None] * shares / 2).reshape(-1)


def mean_error(targets, features, p):
    """The error of the best combinations of features (F, points), averaged over targets."""
    root = np.sqrt(p)
    basis, sizes, _ = np.linalg.svd((features * root).T, full_matrices=False)
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    left = (targets * root).T
    left = left - basis @ (basis.T @ left)
    return (left**2).sum(axis=0)


@pytest.mark.parametrize("spec", SPECS)
def test_no_features_do_better_than_the_bound_and_members_attain_it_where_a_is_uniform(spec):
    small = Small(spec)
    u, p, rng = small.functions, small.p, generator(1, "features")
    gram = (u * p) @ u.T
    ends = np.linalg.eigvalsh(gram)
    alike = small.unknown.found.alike
    assert ends[-1] <= alike * small.most + 1e-12
    _, vectors = np.linalg.eigh(gram)
    ones = np.ones((1, len(p)))
    for count in sorted({1, 2, len(u) // 2, len(u) - 1, len(u)} - {0}):
        bound = number(least_error(small.unknown, count))
        best = vectors[:, ::-1].T[:count] @ u
        errors = [mean_error(u, best, p), mean_error(u, u[:count], p)]
        errors += [mean_error(u, rng.normal(size=(count, len(p))), p) for _ in range(5)]
        # What everyone knows is not added, and its place among the features is taken or not.
        targets = u + 3 * ones
        errors.append(mean_error(targets, np.vstack([ones, best[: count - 1]]), p))
        errors.append(mean_error(targets, best + 0.1 * ones, p))
        for found in errors:
            assert found.mean() >= bound - 1e-12
            for risk in (Fraction(0), Fraction(1, 10), Fraction(1, 2)):
                share = Fraction(int((found <= float(risk) + 1e-12).sum()), len(u))
                if share and risk < small.unknown.found.density[0]:
                    assert least_features(small.unknown, risk, share) <= count
        if alike > 1:
            continue
        assert small.least - 1e-12 <= ends[0]
        if small.most == 1:
            assert errors[1].mean() == pytest.approx(bound, abs=1e-12)
        else:  # the density costs no more than it has to, up to its ends
            assert errors[0].mean() <= bound + small.most - small.least + 1e-12
    assert filled(small.unknown) == [-(-len(u) // alike)]


@pytest.mark.parametrize(
    "spec", ["lwr:n=2,q=4,p=2,secret=binary", "lwe:n=1,q=3,error=none,bits=4,secret=binary"]
)
def test_bound_holds_for_layers_with_features_of_raw_tokens(spec):
    family = parse(spec)
    unknown, d = Unknown.of(family), family.d
    cube = 1 - 2 * ((np.arange(1 << 2 * d)[:, None] >> np.arange(2 * d)) & 1)
    x = cube.reshape(-1, 2, d).astype(np.int8)
    secrets = [c[0] for c in by_class(family).values()]
    assert len(secrets) == unknown.size
    labels = np.array([family.mean(s, x) for s in secrets])  # (N, tokens, 2, d)
    opened = (x[:, 0, 0] * x[:, 1, 0] == -1)[:, None]
    known = np.zeros(x.shape)
    known[:, :, 0] = opened * x[:, :, 0] * family.response.mean()
    scale = len(x) * family.trivial_risk / 2  # half of the tokens are open
    if family.q % 2 == 0:
        assert ((labels - known) ** 2).sum(axis=(1, 2, 3)) == pytest.approx(scale)
    rng = generator(3, "features")
    for target in (labels, labels - known):
        entries = target.transpose(0, 2, 3, 1)
        for count in range(1, unknown.size + 1):
            bound = number(least_error(unknown, count))
            guesses = [np.tanh(rng.normal(size=(count, 2 * d)) @ cube.T)]
            guesses += [(labels - known)[:count, :, 0, 0], labels[:count, :, 1, 0]]
            for guess in guesses:
                basis = np.linalg.qr(guess.T)[0]
                left = entries - (entries @ basis) @ basis.T
                assert (left**2).sum() / scale / unknown.size >= bound - 1e-12


def climbed(moves, parameters, rng, turns=60):
    """Vectors of norm 1 whose means move far: the largest value of a convex function, by steps."""
    v = rng.normal(size=(moves.shape[1], parameters))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    for _ in range(turns):
        grown = moves.T @ (moves @ v)
        sizes = np.linalg.norm(grown, axis=1, keepdims=True)
        v = np.where(sizes > 0, grown / np.where(sizes > 0, sizes, 1), v)
    return v


@pytest.mark.parametrize("spec", SPECS)
def test_mean_gradients_of_bounded_functions_obey_bessel_and_nearly_attain_it(spec):
    small = Small(spec)
    moves, _ = small.moves
    bound = number(bessel(small.unknown, ONE))
    rng, best = generator(2, "gradients"), 0.0
    for parameters in (1, 2, len(moves), 2 * len(moves)):
        for _ in range(6):
            v = rng.normal(size=(moves.shape[1], parameters))
            v /= np.linalg.norm(v, axis=1, keepdims=True)
            for one in (v, climbed(moves, parameters, rng)):
                best = max(best, float(((moves @ one) ** 2).sum()))
    assert best <= bound + 1e-12
    assert best > 0.5 * bound
    assert number(bessel(small.unknown, Fraction(3))) == pytest.approx(9 * bound)


@pytest.mark.parametrize("spec", SPECS)
def test_batches_are_told_apart_no_better_than_their_eigenvalue(spec):
    small = Small(spec)
    moves, reference = small.moves
    gram = (moves / reference) @ moves.T  # of the densities less 1; closed tokens add nothing
    for batch in (1, 2, 5):
        found = np.linalg.eigvalsh((1 + gram) ** batch - 1)[-1]
        bound = number(batch_eigenvalue(small.unknown, batch))
        assert found <= bound * (1 + 1e-12)
        if small.most == 1:
            assert found == pytest.approx(bound)
        else:
            assert found > bound / small.most ** (2 * batch)
    # States of B bits made of one example, the closed ones in any state.
    rng, least = generator(4, "states"), number(batch_eigenvalue(small.unknown, 1))
    for bits in (1, 2):
        for _ in range(20):
            to = np.eye(1 << bits)[rng.integers(1 << bits, size=len(reference))]
            base = reference @ to
            base[0] += 0.5
            chi = ((moves @ to) ** 2 / np.where(base > 0, base, 1)).sum()
            assert chi <= least * ((1 << bits) - 1)


def test_lpn_has_the_numbers_of_a_parity():
    for noise in ("0.125", "0.1"):
        lpn, parity = parse(f"lpn:n=99,h=4,noise={noise}"), parse(f"parity:d=100,m=4,noise={noise}")
        asked = [
            Kernel(features=1000),
            NoisyDescent(steps=1000, clip=ONE, std=Fraction(3)),
        ]
        for more in (
            WorstDescent(steps=1000, clip=ONE, within=Fraction(1, 9)),
            RoundedDescent(steps=9, clip=ONE, grid=Fraction(1, 8), parameters=100),
            BatchDescent(steps=5, batch=3, state_bits=8),
        ):
            one, other = (certify_named(family, [*asked, more]) for family in (lpn, parity))
            for left, right in zip(one.claims, other.claims, strict=True):
                assert left.quantity == right.quantity
                if noise == "0.125":  # a multiple of 2^-64
                    assert left.value == right.value
                else:
                    assert number(left.value) == pytest.approx(number(right.value), rel=1e-11)


@pytest.mark.parametrize("spec", CERTIFIED)
@pytest.mark.parametrize("name", ASKED)
def test_certificates_are_accepted(spec, name):
    data = json.loads(json.dumps(certify_named(parse(spec), [ASKED[name]]).to_dict()))
    assert len(check(data).statements) == 3


def test_claims_beside_the_question_and_risks_beyond_the_density_are_refused():
    made = certify_named(parse("lwe:n=6,q=17,sigma=1"), [ASKED["kernel"], ASKED["noise"]])
    data = json.loads(json.dumps(made.to_dict()))
    assert check(data)
    for about in (["kernel"], ["gd"]):
        data["evidence"]["about"] = about
        with pytest.raises(Refuted, match="not what the certificate is about"):
            check(sealed(data))
    data["evidence"]["about"] = ["gd", "kernel"]
    claim = next(c for c in data["claims"] if c["quantity"] == "kernel-features")
    for risk in ("1", "2"):
        claim["value"], claim["parameters"]["risk"] = "0", risk
        with pytest.raises(Refuted):
            check(sealed(data))


def test_certificates_of_profiles_and_of_independent_members_are_not_exchanged():
    parity = certify_named(parse("parity:d=100,m=4"), [ASKED["kernel"]]).to_dict()
    lpn = certify_named(parse("lpn:n=99,h=4,noise=0"), [ASKED["kernel"]]).to_dict()
    for one, other in ((parity, lpn), (lpn, parity)):
        data = json.loads(json.dumps(one))
        with pytest.raises(Refuted):
            check(sealed(data | {"spec": other["spec"]}))
        with pytest.raises(Refuted):
            check(sealed(data | {"scope": other["scope"]}))


def test_a_risk_that_says_nothing_and_numbers_out_of_range_get_a_line():
    dense = parse("lwe:n=4,q=17,sigma=1,bits=8")
    least = Unknown.of(dense).found.density[0]
    with pytest.raises(UsageError, match="the risk must be below: raise bits"):
        certify_named(dense, [Kernel()], BoundParameters(risk=least))
    just = certify_named(dense, [Kernel()], BoundParameters(risk=least - Fraction(1, 10**9)))
    assert check(just.to_dict())
    with pytest.raises(UsageError, match="1 to 83520 are allowed"):
        certify_named(dense, [Kernel(features=83521)])
    full = certify_named(dense, [Kernel(features=83520)])
    assert full.value("kernel-error") == "0"
    assert "vacuous" in check(full.to_dict()).statements[0]
    with pytest.raises(UsageError, match="batch=4000 given"):
        certify_named(parse("lwe:n=3000,q=17,sigma=1"), [BatchDescent(batch=4000, state_bits=1)])
    far = certify_named(dense, [BatchDescent(steps=1, batch=10**9, state_bits=10**9)])
    assert far.value("gd-batch-success") == "1"
    assert check(far.to_dict())


def test_numbers_of_any_length_are_written_and_read():
    long = certify_named(parse("lwe:n=2000,q=3329,sigma=3"), [Kernel(features=5), ASKED["noise"]])
    assert len(long.value("kernel-features")) > 4300
    assert check(long.to_dict())


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("lwe:n=4,q=17,sigma=1,bits=6", "leaves a far from uniform"),
        ("lwr:n=4,q=16,p=2,secret=gaussian,spread=0.12", "nearly all 0"),
        ("lwr:n=4,q=32,p=2,secret=gaussian,spread=1", "secret=gaussian is not, mod 32"),
        ("lwe:n=9,q=8,error=none,secret=ternary", "secret=ternary is not, mod 2"),
        ("lwr:n=6,q=16,p=8,h=2", "secret=uniform is not, mod 4"),
        ("lwe:n=4,q=2,error=cbd,eta=1", "labels do not depend on the secret"),
        ("nice:m=2,k=2,d=16", "whose members are independent"),
        ("linear:m=4,k=3,d=6", "nice|linear given"),
        ("dial:tau=0.3,m=2,k=2,d=8", "dial given"),
    ],
)
def test_there_is_no_claim_without_a_theorem(spec, words):
    with pytest.raises(NoClaim, match=words) as caught:
        certify_named(parse(spec), [Kernel()])
    assert str(caught.value).startswith("no claim")


def test_a_claim_under_another_law_of_the_secret_is_refused():
    made = json.loads(json.dumps(certify_named(parse(CERTIFIED[2]), [ASKED["noise"]]).to_dict()))
    law = {"weight": 0, "entries": [-1, ["1", "2", "1"]]}
    made["evidence"]["problem"]["secret"] = law
    made["spec"] = (
        made["spec"].replace("secret=uniform", "secret=cbd").replace("spread=0", "spread=1")
    )
    with pytest.raises(Refuted, match="not all as likely"):
        check(sealed(made))


def test_low_degree_has_no_claim_and_a_reason():
    family = parse("lwr:n=8,q=16,p=2,secret=binary,h=4")
    with pytest.raises(NoClaim, match="which of their bits a polynomial counts as degree"):
        certify_named(family, [LowDegree(degree=3)])
    made = certify_named(family, [Kernel(), LowDegree(degree=3)])
    assert made.evidence["no_claim"] == {"low-degree": NO_DEGREE}
    assert len(check(made.to_dict()).statements) == 2


def test_values_of_a_rounded_family():
    """K/N = 1/N, S = chi^2 V = 1: N alone counts."""
    family = parse("lwr:n=64,q=256,p=2,secret=binary,h=6")
    size = Unknown.of(family).size
    assert size == 74974368
    made = certify_named(family, [Kernel(features=1000), ASKED["noise"]])
    assert Fraction(made.value("kernel-error")) == 1 - Fraction(1000, size)
    assert int(made.value("kernel-features")) == -(-size * 1 // 2)
    excess = Fraction(made.value("gd-noise-success")) - Fraction(1, size)
    assert float(excess) == pytest.approx((1 / 16) * (50 / size) ** 0.5)
    four = Unknown.of(parse("lwr:n=64,q=256,p=4,secret=binary,h=6"))
    assert four.drift == fmpq(3, 4)
    window = Unknown.of(parse("window:n=8,q=16,parts=8,secret=binary"))
    assert window.drift == fmpq(7, 64)  # chi^2 = 1, V = 4 (1/8) (7/8)
