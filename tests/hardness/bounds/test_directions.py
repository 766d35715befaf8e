"""Certificates of hidden directions: coefficients found twice, codes listed, changes refused."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy.special import betaln, eval_gegenbauer
from scipy.stats import norm

from hardness.bounds import checker
from hardness.bounds.checker import directions
from hardness.bounds.checker.directions import correlation, power_norm
from hardness.bounds.directions import polynomials
from hardness.runs.risk import measure
from instances import parse
from instances.direction import Alternating
from instances.symmetric import rational
from tests.conftest import script


def hermite(u, k):
    """The normalised Hermite polynomial of degree k."""
    h = [u * 0 + 1, u]
    for i in range(1, k):
        h.append((u * h[i] - arb(i).sqrt() * h[i - 1]) / arb(i + 1).sqrt())
    return h[k]


def of_signs(found, k):
    """E s h_k of the signs: polynomials integrated over the pieces between thresholds."""
    ends, total = [arb(-15), *map(arb, found.places), arb(15)], arb(0)
    for i, (low, high) in enumerate(itertools.pairwise(reversed(ends))):
        piece = acb.integral(
            lambda u, _: hermite(u, k) * (-u * u / 2).exp(), high, low, abs_tol=arb(2) ** -90
        )
        total += (-1) ** i * piece.real
    return total / (2 * arb.pi()).sqrt()


LOW = [
    *(f"direction:d=64,m={m}" for m in (1, 2, 3, 4, 7, 12)),
    pytest.param("direction:d=64,m=24", marks=pytest.mark.weekly),
]


@pytest.mark.parametrize("spec", LOW)
def test_low_coefficients_are_found_another_way(spec):
    """Bounds are above what quadrature finds: by 2^-60 of a coefficient, and by rounding."""
    family = parse(spec)
    found, m, low = family.response, family.m, family.response.low_squares
    # Even or odd with m, exactly: of the other degrees there is nothing.
    assert [-t for t in reversed(found.places)] == list(found.places)
    assert not any(low[k] for k in range(m) if (m - k) % 2)
    with ctx.workprec(160):
        for k in range(m % 2, m, 2):
            size = abs(of_signs(found, k)).mid()
            assert size < 1e-12
            least = (size + arb(2) ** -61) ** 2
            assert least < arb(rational(low[k])) < 5 * least


def test_coefficients_that_do_not_vanish_are_in_the_bound():
    """Other places than those of m = 4: the squares are those of a fine grid."""
    off = Alternating(kappa=100.0, places=(-1.5, -0.5, 0.5, 1.5))
    u = np.linspace(-12, 12, 480_001)
    g, weight = off.signs(u), norm.pdf(u) * (u[1] - u[0])
    h = [np.ones_like(u), u, (u**2 - 1) / math.sqrt(2)]
    wanted = [(weight * g * h[k]).sum() ** 2 for k in (0, 2)]
    assert [float(off.low_squares[k]) for k in (0, 2)] == pytest.approx(wanted, rel=0.01)
    assert min(wanted) > 1e-4


def test_means_of_powers_are_those_of_a_coordinate():
    for n, k in ((2, 2), (5, 4), (998, 12)):
        wanted = math.exp(betaln((k + 1) / 2, (n - 1) / 2) - betaln(0.5, (n - 1) / 2))
        assert float(power_norm(n, k)) == pytest.approx(wanted)


def test_a_small_code_is_as_far_apart_as_it_says():
    problem = checker.read_problem(direction(60, ["0"] * 6))
    witness = polynomials(problem)
    size, q = int(witness["size"]), witness["q"]
    points, degree = witness["points"], witness["degree"]
    directions = []
    for coefficients in itertools.product(range(q), repeat=degree + 1):
        row = np.zeros(60)
        for i in range(points):
            row[i * q + sum(c * i**e for e, c in enumerate(coefficients)) % q] = points**-0.5
        directions.append(row)
    gram = np.array(directions[:size]) @ np.array(directions[:size]).T
    np.fill_diagonal(gram, 0)
    assert len(directions) >= size > 50
    assert gram.max() <= degree / points + 1e-12
    assert correlation(problem, Fraction(degree, points)) * size <= 1


def test_risks_are_judged_by_the_coordinate_that_is_read():
    instance = parse("direction:m=2,d=60").instance(0)
    truth, secret = instance.family, instance.hidden.secret
    learned = measure(instance, lambda x: truth.mean(secret, x), examples=20_000)
    assert learned.value < 1e-20
    nothing = measure(instance, instance.family.known, examples=20_000)
    assert nothing.value == 1
    assert 0.7 < nothing.low < 1 < nothing.high < 1.4  # by all coordinates it has no upper end


def test_the_table_of_the_page_is_that_of_the_benchmark():
    root = Path(__file__).parents[3]
    maker = script("benchmarks/tables.py")
    page = (root / "docs/families/beyond.md").read_text("utf-8").splitlines()
    assert {f"| {' | '.join(map(str, row))} |" for row in maker.directions()} < set(page)


def direction(n, low):
    return {"kind": "direction", "dimension": n, "low": low, "noise": "0"}


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("g", [[0, 0, 0, 0.9, 0, 0.1], [0, 0, 1, 0], [0, 0.01, 0, 0, 0.99], [0, 1]])
def test_the_norm_of_directions_is_that_of_their_zonal_kernel(n, g):
    """Eigenvalues by Gegenbauer polynomials and quadrature (Funk and Hecke)."""
    r, weights = np.polynomial.legendre.leggauss(400)
    weights = weights * (1 - r**2) ** ((n - 3) / 2)
    weights /= weights.sum()
    values = sum(c * r**k for k, c in enumerate(g))
    zonal = [
        float(weights @ (values * eval_gegenbauer(k, n / 2 - 1, r)))
        / eval_gegenbauer(k, n / 2 - 1, 1.0)
        for k in range(len(g))
    ]
    m = next(k for k, c in enumerate(g) if c > 0.5)
    problem = checker.read_problem(direction(n, [str(Fraction(str(c))) for c in g[:m]]))
    found = directions.sphere(problem)[1]
    for true, bound in ((max(zonal), 1 - found.least), (max(zonal[1:]), found.top)):
        assert true * (1 - 1e-9) <= float(bound) <= 2.4 * true
