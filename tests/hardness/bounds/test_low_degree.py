"""Polynomials of low degree: the theorem against its definition, by all examples."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from hardness.bounds import checker
from hardness.bounds.checker.hidden_sets import low_degree, overlaps
from hardness.bounds.checker.theorem import Terms

NOISES = ["0", "1/10", "1/3"]


@cache
def claims(signs, n, noise, degree, examples=None, most=None):
    """What is claimed of profiles of two values: quantity -> value."""
    values = [str(v) for v in signs]
    problem = {"kind": "hidden-set", "places": n, "chosen": len(signs) - 1, "values": values,
               "noise": noise}  # fmt: skip
    numbers = {"degree": degree, "examples": examples, "sample_degree": most}
    about = {name: str(v) for name, v in numbers.items() if v is not None}
    terms = Terms(tau=Fraction(1, 10), t=100, gamma=Fraction(1, 20), risk=Fraction(1, 4),
                  success=Fraction(2, 3), about={"low-degree": about})  # fmt: skip
    parsed = checker.read_problem(problem)
    made = low_degree(parsed, overlaps(parsed)[0], terms)
    return {claim.quantity: claim.value for claim in made}


def two_valued(m):
    """All profiles of two values, as signs that begin with +1."""
    return [(1, *rest) for rest in itertools.product((1, -1), repeat=m) if -1 in rest]


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


def agree(signs, n, noise, found, examples, end, sample_degrees=(None,)):
    for degree in range(1, examples * len(signs) + 1):
        for k in sample_degrees:
            got = claims(signs, n, noise, degree, examples, k)[f"low-degree-advantage{end}"]
            wanted = float(found[1 : degree + 1, : (examples if k is None else k) + 1].sum())
            assert abs(float(got) - wanted) <= 1e-12 * max(1, wanted), (degree, k)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_open_examples_by_all_their_values(n, noise):
    """Two, and three of few places; where m = n there is one member."""
    for m in range(1, n + 1):
        for signs in two_valued(m):
            case = Examples(signs, n, noise).open()
            agree(signs, n, noise, by_definition(case, 2), 2, "-open", (None, 1, 2))
            if n < 4:
                agree(signs, n, noise, by_definition(case, 3), 3, "-open", (None, 1, 2))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_examples_of_the_layer_by_all_their_values(n, noise):
    for m in range(1, n + 1):
        for signs in two_valued(m):
            case = Examples(signs, n, noise).layer()
            agree(signs, n, noise, by_definition(case, 2), 2, "", (None, 1, 2))
            agree(signs, n, noise, by_pairs(case, 3)[:, None], 3, "")


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
    n = 2 if signs == (1, -1, 1) else len(signs)
    case = raw_example(signs, n, "1/10")
    for examples in (1, 2):
        found = np.cumsum(by_pairs(case, examples))
        for raw in range(2, 2 * examples * len(signs) + 2):
            ratio = claims(signs, n, "1/10", raw // 2, examples)["low-degree-advantage"]
            at = found[min(raw, len(found) - 1)]
            assert at == pytest.approx(1 + float(ratio), abs=1e-10), raw


def test_a_parity_has_a_closed_form_and_its_thresholds_are_where_their_asymptotics_say():
    signs, size = tuple((-1) ** h for h in range(21)), math.comb(1000, 20)
    for degree, t in ((20, 0), (21, 1), (84, 4), (104, 4)):
        for examples in (1, 7, 10**20):
            total = sum(math.comb(examples, i) * Fraction(9, 16) ** i for i in range(1, t + 1))
            found = claims(signs, 1000, "1/8", degree, examples)
            assert found["low-degree-advantage-open"] == total / size
        middle = (math.factorial(t) * size) ** (1 / t) if t else 0
        for end, faded in (("-open", 9 / 16), ("", 9 / 32)):
            assert (f"low-degree-examples{end}" in found) == (t > 0)
            least = found.get(f"low-degree-examples{end}", 0)
            low, high = (middle - 2 * t) / faded, middle / faded + t
            assert low * (1 - 1e-9) <= least <= high * (1 + 1e-9)
