import itertools
import math

import numpy as np
import pytest
from flint import fmpz_poly, nmod_mat

from hardness.cost.arora_ge import (
    _unknowns,
    arora_gb,
    arora_ge,
    basis,
    equations,
    monomial_bits,
    regularity,
)
from hardness.cost.problem import cbd, gaussian, read
from hardness.cost.reduction import ROUGH

P = 10007


@pytest.mark.parametrize(("n", "degree"), [(3, 2), (4, 3), (2, 5), (5, 1)])
def test_monomials_by_enumeration(n, degree):
    powers = list(itertools.product(range(degree + 1), repeat=n))
    counts = [sum(p) for p in powers if 1 <= sum(p) <= degree]
    assert 2 ** monomial_bits(n, degree) == pytest.approx(len(counts), rel=1e-12)
    free = [p for p in powers if 1 <= sum(p) <= degree and max(p) <= 1]
    assert 2 ** monomial_bits(n, degree, binary=True) == pytest.approx(len(free), rel=1e-12)


def test_linear_equations_store_a_matrix_of_their_monomials():
    found = arora_ge(read("lwe:n=9,q=61,error=uniform,width=3"), ROUGH)
    assert found.mem == found.rop == pytest.approx(2 * math.log2(219))
    assert found.samples == 219
    wide = arora_ge(read("lwe:n=5,q=65537,error=uniform,width=5000"), ROUGH)
    assert wide.rop == pytest.approx(2 * math.log2(math.comb(5005, 5)))
    bits = arora_ge(read("lwe:n=5,q=65537,error=uniform,width=5000,secret=binary"), ROUGH)
    assert bits.rop == pytest.approx(2 * math.log2(31))


def test_linear_equations_of_gaussians_take_a_range_that_all_samples_stay_within():
    found = arora_ge(read("lwe:n=12,q=3329,sigma=2"), ROUGH)
    t = found.d // 2
    e = np.arange(-60, 61)
    shares = np.exp(-((e / 2) ** 2) / 2)
    tails = [shares[abs(e) > s].sum() / shares.sum() for s in (t - 1, t)]
    counts = [math.comb(13 + 2 * s, 12) - 1 for s in (t - 1, t)]
    assert (1 - tails[1]) ** counts[1] >= 0.99 > (1 - tails[0]) ** counts[0]


def macaulay_ends(n, degrees, rng):
    """Find the degree at which multiples of random forms fill all monomials, by ranks."""
    forms = []
    for degree in degrees:
        terms = [p for p in itertools.product(range(degree + 1), repeat=n) if sum(p) == degree]
        forms.append((degree, terms, rng.integers(0, P, len(terms))))
    for d in range(1, 30):
        place = {p: i for i, p in enumerate(_powers(n, d))}
        rows = []
        for degree, terms, values in forms:
            for shift in _powers(n, d - degree) if d >= degree else []:
                row = [0] * len(place)
                for term, value in zip(terms, values, strict=True):
                    row[place[tuple(np.add(term, shift))]] = int(value)
                rows.append(row)
        if rows and nmod_mat(rows, P).rank() == len(place):
            return d
    return None


def _powers(n, degree):
    return [p for p in itertools.product(range(degree + 1), repeat=n) if sum(p) == degree]


@pytest.mark.parametrize(
    ("n", "values", "degree", "count"),
    [(3, 2, 3, 1), (3, 3, 2, 2), (4, 2, 3, 2), (3, 4, 3, 3), (4, 3, 2, 4), (2, 5, 3, 2)],
)
def test_the_degree_of_regularity_is_where_random_forms_fill_all_monomials(
    n, values, degree, count
):
    rng = np.random.default_rng(n * 100 + values * 10 + degree)
    degrees = [values] * n + [degree] * count
    assert regularity(n, values, degree, count) == macaulay_ends(n, degrees, rng)


@pytest.mark.parametrize("law", [gaussian(3.0, 3329), gaussian(0.7, 3329), cbd(3, 3329)])
def test_all_errors_stay_within_t_with_the_probability_said(law):
    values = np.arange(law.low, law.high + 1)
    if law.kind == "cbd":
        shares = np.array([math.comb(6, 3 + v) / 64 for v in values])
    else:
        shares = np.exp(-((values / law.deviation) ** 2) / 2)
        shares /= shares.sum()
    degrees, logs = equations(law, 10**6)
    assert len(degrees)
    for degree, log in zip(degrees, logs, strict=True):
        count, tail = round(math.exp(log)), shares[abs(values) > degree // 2].sum()
        assert (1 - tail) ** count >= 0.99 - 1e-9
        assert count == 10**6 or (1 - tail) ** (count + 1) < 0.99 + 1e-9


def test_more_unknowns_never_lower_the_degree():
    _, least = basis(read("lwe:n=40,q=3329,sigma=3,secret=ternary", samples=10**4), 0.99)
    assert least(1) is None  # as an entry's own equation has it
    degrees = [least(n)[0] for n in range(20, 41)]
    assert degrees == sorted(degrees)


def test_large_primes_are_moduli():
    large = arora_gb(read("lwe:n=4096,q=2^881+707,sigma=3.2,secret=ternary"), ROUGH)
    assert large.applies
    assert large.rop > 1000


@pytest.mark.parametrize("values", [2, 3, 5, 40])
def test_series_of_the_unknowns_are_powers(values):
    power = fmpz_poly([1] * values) ** 30
    assert _unknowns(30, values, 60) == [int(power[i]) for i in range(60)]


def test_linear_equations_and_a_basis_agree_where_samples_abound():
    problem = read("lwe:n=12,q=3329,error=uniform,width=3")
    assert arora_gb(problem, ROUGH).rop == pytest.approx(arora_ge(problem, ROUGH).rop, abs=0.02)
