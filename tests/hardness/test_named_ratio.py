"""The low-degree ratio against its definition, by all values of some examples."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from hardness.check.named.members import Members
from hardness.check.named.ratio import Reach
from hardness.check.scheme import Scheme
from hardness.lower.named import Ratio, Unknown, thresholds
from hardness.lower.named.ratio import LAYER, OPEN
from instances import parse
from instances.streams import generator
from instances.symmetric import to_float

NOISES = ["0", "1/10", "1/3"]


def two_valued(m):
    """All profiles of two values, as signs that begin with +1."""
    return [(1, *rest) for rest in itertools.product((1, -1), repeat=m) if -1 in rest]


def spec_of(signs, n, noise="0"):
    return f"profile:g=[{','.join(map(str, signs))}],d={n + 1},m={len(signs) - 1},noise={noise}"


def graded_basis(chances, columns):
    """Orthonormal functions of an example under the null, with degrees, by Gram-Schmidt.

    columns: (degree, values) in order of degree; -> degrees, (count, points).
    """
    root = np.sqrt(chances)
    degrees, basis = [], np.zeros((len(root), len(root)))
    for degree, values in sorted(columns, key=lambda pair: pair[0]):
        left, there = values * root, basis[: len(degrees)]
        for _ in range(2):  # twice is enough
            left = left - there.T @ (there @ left)
        size = np.linalg.norm(left)
        if size > 1e-9:
            basis[len(degrees)] = left / size
            degrees.append(degree)
    return np.array(degrees), basis[: len(degrees)] / root


def characters(n):
    """z in {-1,+1}^n by rows, and every (degree, values) of a product of its bits."""
    z = np.array(list(itertools.product((1, -1), repeat=n)))
    sets = [s for k in range(n + 1) for s in itertools.combinations(range(n), k)]
    return z, [(len(s), z[:, list(s)].prod(axis=1).astype(float)) for s in sets]


class Examples:
    """One example by all its values: chances under the null and under every member."""

    def __init__(self, signs, n, noise):
        self.m = len(signs) - 1
        self.z, self.characters = characters(n)
        fade = 1 - 2 * float(Fraction(noise))
        members = list(itertools.combinations(range(n), self.m))
        counts = np.array([(self.z[:, list(s)] == -1).sum(axis=1) for s in members])
        self.mean = fade * np.array(signs)[counts]  # E[s | z]: (members, points)
        self.mu = float(self.mean[0].mean())

    def open(self):
        """(z, s): chances under the null, under each member, and the graded basis."""
        label = np.array([1.0, -1.0])
        null = np.repeat((1 + label * self.mu) / 2, len(self.z)) / len(self.z)
        planted = np.concatenate([(1 + s * self.mean) / 2 for s in label], axis=1) / len(self.z)
        columns = [
            (degree + power, np.concatenate([s**power * values for s in label]))
            for degree, values in self.characters
            for power in (0, 1)
        ]
        return null, planted, graded_basis(null, columns)

    def layer(self):
        """(z_0, u, z), u the label's unknown part: 0 where z_0 = +1."""
        kinds = [(1, 0.0), (-1, 1.0), (-1, -1.0)]
        weights = [0.5, (1 + self.mu) / 4, (1 - self.mu) / 4]
        null = np.repeat(weights, len(self.z)) / len(self.z)
        chance = [np.full_like(self.mean, 0.5), (1 + self.mean) / 4, (1 - self.mean) / 4]
        planted = np.concatenate(chance, axis=1) / len(self.z)
        columns = [
            (degree + a + b, np.concatenate([z0**a * u**b * values for z0, u in kinds]))
            for degree, values in self.characters
            for a in (0, 1)
            for b in (0, 1, 2)
        ]
        return null, planted, graded_basis(null, columns)


def by_definition(case, examples):
    """Squared coefficients of the mixture's density: {(degree, examples looked at): sum}."""
    null, planted, (degrees, basis) = case
    members = len(planted)
    mixture = np.zeros([len(null)] * examples)
    for row in planted:
        mixture += np.multiply.outer(row, row if examples == 2 else np.multiply.outer(row, row))
    mixture /= members
    # E_null[L e] = E_planted e: one axis after the other
    for axis in range(examples):
        mixture = np.moveaxis(np.tensordot(basis, mixture, (1, axis)), 0, axis)
    total, looked = np.zeros(1, int), np.zeros(1, int)
    for _ in range(examples):
        total = np.add.outer(total, degrees).reshape(-1)
        looked = np.add.outer(looked, degrees > 0).reshape(-1)
    found = np.zeros((total.max() + 1, examples + 1))
    np.add.at(found, (total, looked), mixture.reshape(-1) ** 2)
    return found


def by_pairs(case, examples):
    """The same from pairs of members: E_{S,S'} of a product of polynomials, by degree."""
    _, planted, (degrees, basis) = case
    coefficients = planted @ basis.T  # (members, functions)
    top = degrees.max()
    one = np.array(
        [coefficients[:, degrees == j] @ coefficients[:, degrees == j].T for j in range(top + 1)]
    )
    total = one
    for _ in range(examples - 1):
        longer = np.zeros((len(total) + top, *one.shape[1:]))
        for i, a in enumerate(total):
            for j, b in enumerate(one):
                longer[i + j] += a * b
        total = longer
    return total.mean(axis=(1, 2))


def agree(unknown, found, examples, share, sample_degrees=(None,)):
    top = examples * (unknown.scheme.m + 1)
    for degree in range(1, top + 1):
        for k in sample_degrees:
            ratio = Ratio.of(unknown, degree, k).thinned(share)
            kept = found[1 : degree + 1, : (examples if k is None else k) + 1]
            wanted = float(kept.sum())
            got = to_float(ratio.advantage(examples))
            assert abs(got - wanted) <= 1e-12 * max(1, wanted), (degree, k)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_two_open_examples_by_all_their_values(n, noise):
    for m in range(1, n):
        for signs in two_valued(m):
            unknown = Unknown.of(parse(spec_of(signs, n, noise)))
            found = by_definition(Examples(signs, n, noise).open(), 2)
            agree(unknown, found, 2, OPEN, (None, 1, 2))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_three_open_examples_by_all_their_values(n, noise):
    for m in range(1, n):
        for signs in two_valued(m):
            unknown = Unknown.of(parse(spec_of(signs, n, noise)))
            found = by_definition(Examples(signs, n, noise).open(), 3)
            agree(unknown, found, 3, OPEN, (None, 1, 2))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [5, 6])
def test_three_examples_by_pairs_of_members(n, noise):
    for m in range(1, n):
        for signs in two_valued(m):
            unknown = Unknown.of(parse(spec_of(signs, n, noise)))
            found = by_pairs(Examples(signs, n, noise).open(), 3)
            agree(unknown, found[:, None], 3, OPEN)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_examples_of_the_layer_by_all_their_values(n, noise):
    for m in range(1, n):
        for signs in two_valued(m):
            unknown = Unknown.of(parse(spec_of(signs, n, noise)))
            case = Examples(signs, n, noise).layer()
            agree(unknown, by_definition(case, 2), 2, LAYER, (None, 1, 2))
            agree(unknown, by_pairs(case, 3)[:, None], 3, LAYER)


def test_a_parity_on_all_places_is_one_member():
    unknown = Unknown.of(parse("parity:d=4,m=3,noise=1/10"))
    case = Examples((1, -1, 1, -1), 3, "1/10")
    agree(unknown, by_definition(case.open(), 3), 3, OPEN, (None, 1, 2))
    agree(unknown, by_definition(case.layer(), 2), 2, LAYER, (None, 1, 2))


def raw_example(signs, n, noise, known=2.0, centre=0.5, half=1.5):
    """(X, Y) of the layer by all their values, monomials in the entries of both."""
    case = Examples(signs, n, noise)
    d = n + 1
    x = np.array(list(itertools.product((1, -1), repeat=2 * d)))
    z = x[:, :d] * x[:, d:]
    index = ((z[:, 1:] == -1) @ (1 << np.arange(n)[::-1])).astype(int)
    mean, opened = case.mean[:, index], z[:, 0] == -1
    parts, null, planted = [], [], []
    for s in (1, -1):  # where z_0 = +1 both are the same value: half of its chance each
        parts.append(np.where(opened, centre + half * s, known))
        null.append(np.where(opened, (1 + s * case.mu) / 2, 0.5) / len(x))
        planted.append(np.where(opened, (1 + s * mean) / 2, 0.5) / len(x))
    bits = np.concatenate([x, x]).astype(float)
    psi = np.concatenate(parts)
    y = [bits[:, 0] * psi, bits[:, d] * psi]
    columns = [
        (len(s) + a + b, bits[:, list(s)].prod(axis=1) * y[0] ** a * y[1] ** b)
        for k in range(2 * d + 1)
        for s in itertools.combinations(range(2 * d), k)
        for a in (0, 1, 2)
        for b in (0, 1, 2)
    ]
    null = np.concatenate(null)
    return null, np.concatenate(planted, axis=1), graded_basis(null, columns)


@pytest.mark.parametrize("signs", [(1, -1), (1, -1, -1), (1, -1, 1)])
def test_degrees_in_tokens_and_outputs_are_twice_those_counted(signs):
    # 2 D and 2 D + 1 in X and Y are D in z_0, z and the label's unknown part, exactly.
    n, noise = len(signs) - 1 or 1, "1/10"
    family = parse(f"parity:d={n + 1},m={n},noise={noise}")
    if signs != tuple(int(v) for v in family.values):
        n = len(signs)
        family = parse(spec_of(signs, n, noise))
    unknown = Unknown.of(family)
    case = raw_example(signs, n, noise)
    for examples in (1, 2):
        found = np.cumsum(by_pairs(case, examples))
        for raw in range(2, 2 * examples * len(signs) + 2):
            ratio = Ratio.of(unknown, raw // 2).thinned(LAYER)
            wanted = 1 + to_float(ratio.advantage(examples))
            assert found[min(raw, len(found) - 1)] == pytest.approx(wanted, abs=1e-10), raw


def test_the_figures_of_a_noisy_parity():
    unknown = Unknown.of(parse("parity:d=100,m=4,noise=1/10"))
    found = [Ratio.of(unknown, degree).advantage(200) for degree in range(1, 16)]
    assert found[:4] == [0] * 4
    assert found[4:9] == [fmpq(16, 470547)] * 5
    assert found[9:14] == [fmpq(16, 7275)] * 5
    assert to_float(found[14]) == pytest.approx(0.0937, abs=5e-5)
    assert Ratio.of(unknown, 15, 2).advantage(200) == fmpq(16, 7275)


@pytest.mark.parametrize("examples", [1, 7, 10**20])
def test_a_parity_has_a_closed_form(examples):
    unknown = Unknown.of(parse("parity:d=1001,m=20,noise=1/8"))
    for degree, most in ((20, 0), (21, 1), (84, 4), (104, 4)):
        terms = (math.comb(examples, t) * fmpq(9, 16) ** t for t in range(1, most + 1))
        total = sum(terms, fmpq(0))
        assert Ratio.of(unknown, degree).advantage(examples) == total / math.comb(1000, 20)


def random_spec(rng):
    n = int(rng.integers(3, 14))
    m = int(rng.integers(1, n))
    signs = rng.choice([1, -1], m + 1)
    signs[0], signs[-1] = 1, -1
    return spec_of(tuple(map(int, signs)), n, str(Fraction(int(rng.integers(0, 9)), 20)))


def test_powers_and_the_recurrence_of_the_checker_are_one():
    rng = generator(7, "ratio", "recurrence")
    for _ in range(60):
        family = parse(random_spec(rng))
        members = Members(scheme=Scheme.read(family.spec), orthonormal=False)
        degree, examples = int(rng.integers(1, 30)), int(rng.integers(1, 10**6))
        k = None if rng.random() < 0.3 else int(rng.integers(1, 8))
        ratio = Ratio.of(Unknown.of(family), degree, k)
        for share in (1, 2):
            reach = Reach(members=members, degree=degree, sample_degree=k, share=share)
            wanted = reach.value(examples)
            assert ratio.thinned(fmpq(1, share)).advantage(examples) == wanted


def test_thresholds_against_a_scan():
    rng = generator(7, "ratio", "thresholds")
    seen = set()
    for _ in range(40):
        unknown = Unknown.of(parse(random_spec(rng)))
        degree = int(rng.integers(1, 10))
        k = None if rng.random() < 0.5 else int(rng.integers(1, 4))
        ratio = Ratio.of(unknown, degree, k).thinned(LAYER)
        reached = (n for n in range(1, 2000) if ratio.advantage(n) >= 1)
        least = ratio.least_examples()
        assert least == next(reached, 0) or least >= 2000
        seen.add(least)
    assert 0 in seen
    assert len(seen) > 10


def test_thresholds_of_a_parity_are_where_their_asymptotics_say():
    unknown = Unknown.of(parse("parity:d=1001,m=20,noise=1/10"))
    size = math.comb(1000, 20)
    for share, faded in ((OPEN, 0.64), (LAYER, 0.32)):
        for degree, found in thresholds(unknown, [21, 42, 63, 105], share):
            t = degree // 21
            middle = (math.factorial(t) * size) ** (1 / t)
            assert middle > 4 * t
            low, high = (middle - 2 * t) / faded, middle / faded + t
            assert low * (1 - 1e-9) <= found <= high * (1 + 1e-9)
        assert thresholds(unknown, [20], share) == [(20, 0)]
