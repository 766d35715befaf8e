"""Correlations and spectra of symmetric families against matrices of all members."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import kernel
from hardness.lower import Johnson
from instances import parse
from instances.symmetric import to_float
from instances.threshold import python_fraction
from tests import closed

SMALL = [
    *((n, m) for n in range(1, 33) for m in range(1, n) if math.comb(n, m) <= 500),
    (500, 1),
    (60, 59),
]


def profiles(m):
    """Values at h = 0 .. m: monotone, not monotone, without a linear part, of many values."""
    return {
        "majority": [1 if 2 * h <= m else -1 for h in range(m + 1)],
        "parity": [(-1) ** h for h in range(m + 1)],
        "mod": [1 if h % 3 == 0 else -1 for h in range(m + 1)],
        "even": [(2 * h - m) ** 2 for h in range(m + 1)],  # its g^_1 is 0
        "many": [Fraction(h * h - 3 * h, 7) + (-1) ** h for h in range(m + 1)],
        "one": [int(h == m) for h in range(m + 1)],
    }


def members(n, m):
    """The indicator matrix of all m-subsets: (C(n,m), n)."""
    out = np.zeros((math.comb(n, m), n))
    for row, chosen in enumerate(itertools.combinations(range(n), m)):
        out[row, chosen] = 1
    return out


def gram(scheme):
    """The Gram matrix over all members, not scaled."""
    chosen = members(scheme.n, scheme.m)
    table = np.array([to_float(c) for c in scheme.correlations])
    return table[np.rint(chosen @ chosen.T).astype(int)]


@pytest.mark.parametrize("m", range(1, 6))
@pytest.mark.parametrize("n", [6, 8])
def test_correlations_by_enumeration_of_all_points(n, m):
    z = np.array(list(itertools.product((0, 1), repeat=n)))
    chosen = members(n, m)
    for name, values in profiles(m).items():
        if len(set(values)) == 1:
            continue
        scheme = Johnson.of(values, n)
        table = np.array([float(v) for v in values])
        f = table[(z @ chosen.T).astype(int)]
        f = f - f.mean(axis=0)
        np.testing.assert_allclose(f.T @ f / len(z), gram(scheme), atol=1e-11, err_msg=name)
        mean = f.mean(axis=1)
        assert abs((mean**2).mean() - to_float(scheme.average)) < 1e-12
        rest = f - mean[:, None]
        top = np.linalg.eigvalsh(rest.T @ rest / len(z)).max()
        assert abs(top - to_float(scheme.spread)) < 1e-9 * (1 + top)
        norms = (rest**2).mean(axis=0)
        np.testing.assert_allclose(norms, to_float(scheme.norm - scheme.average), atol=1e-11)


def test_the_spectrum_is_that_of_the_matrix_for_every_small_family():
    names = list(profiles(1))
    for count, (n, m) in enumerate(SMALL):
        for offset in range(1 if math.comb(n, m) > 60 else len(names)):
            name = names[(count + offset) % len(names)]
            values = profiles(m)[name]
            if len(set(values)) == 1:
                continue
            scheme = Johnson.of(values, n)
            matrix = gram(scheme)
            wanted = np.linalg.eigvalsh(matrix)[::-1]
            found = np.repeat([to_float(v) for v in scheme.eigenvalues], scheme.multiplicities)
            assert len(found) == len(wanted) == scheme.size
            scale = to_float(scheme.eigenvalues[0])
            np.testing.assert_allclose(found, wanted, atol=1e-9 * scale, err_msg=f"{name} {n} {m}")
            assert abs(matrix.mean() - to_float(scheme.average)) < 1e-10 * scale
            cross = to_float(scheme.cross_predictability)
            assert abs((matrix**2).mean() - cross) < 1e-10 * (1 + cross)


@given(st.data(), st.integers(1, 14), st.integers(1, 30))
@settings(max_examples=80)
def test_the_kernel_has_what_fourier_weights_give(data, m, more):
    values = data.draw(
        st.lists(st.fractions(-9, 9, max_denominator=7), min_size=m + 1, max_size=m + 1)
    )
    if len(set(values)) == 1:
        return
    found, wanted = Johnson.of(values, m + more), closed.Johnson.of(values, m + more)
    for name in ("size", "multiplicities"):
        assert getattr(found, name) == getattr(wanted, name), name
    for name in ("norm", "average", "spread", "cross_predictability"):
        assert python_fraction(getattr(found, name)) == getattr(wanted, name), name
    for name in ("weights", "correlations", "eigenvalues"):
        assert list(map(python_fraction, getattr(found, name))) == getattr(wanted, name), name
    c = wanted.correlations
    steps = [b - a for a, b in itertools.pairwise(c)]
    assert c[0] == 0 <= min(steps)
    assert steps == sorted(steps)  # convex
    assert c[-2] < c[-1]
    mean = sum(math.comb(m, h) * v for h, v in enumerate(values)) / Fraction(2**m)
    square = sum(math.comb(m, h) * v * v for h, v in enumerate(values)) / Fraction(2**m)
    assert c[-1] == square - mean**2


@pytest.mark.parametrize("g", ["majority", "mod(3)", "h**2-h/3", "exactly(2)", "(2*h-m)**2"])
@pytest.mark.parametrize(("d", "m"), [(5, 3), (9, 3), (12, 9), (30, 6), (8, 6)])
def test_what_no_one_knows_of_a_label_is_its_variance_less_that_of_the_mean_member(g, d, m):
    family = parse(f"profile:g={g},d={d},m={m}")
    scheme = Johnson.family(family)
    assert python_fraction(scheme.norm - scheme.average) == family.unknown_variance


@pytest.mark.parametrize(("values", "n"), [([2, 2, 2], 5), ([0, 1, 2], 1)])
def test_what_is_no_scheme_is_refused(values, n):
    with pytest.raises(kernel.Refused):
        Johnson.of(values, n)


def test_the_gram_matrix_of_one_member_is_its_norm():
    found = Johnson.of([0, 1, 2], 2)
    assert found.eigenvalues == [found.norm] == [found.average]
    assert (found.size, found.multiplicities) == (1, [1])
