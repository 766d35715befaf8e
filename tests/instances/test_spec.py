import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import Parity, ToolkitError, UsageError, parse
from instances.catalog import CATALOG
from instances.parameters import fraction, plain

families = st.builds(
    lambda d, m, noise, rho: Parity(d=d + m, m=m, noise=noise, rho=rho),
    st.integers(1, 500),
    st.integers(1, 12),
    st.fractions(0, Fraction(49, 100), max_denominator=1000),
    st.fractions(Fraction(9, 8), 16, max_denominator=16),
)


@given(families)
def test_specs_read_back(family):
    assert parse(family.spec) == family
    assert parse(family.spec).spec == family.spec


@given(st.fractions(max_denominator=10**6))
def test_rationals_read_back(value):
    assert fraction(plain(value), "x") == value


def test_order_spaces_and_spelling_do_not_matter():
    assert parse(" parity: m=3 , d=16, noise=.10").spec == parse("parity:noise=1/10,d=16,m=3").spec


@pytest.mark.parametrize("name", CATALOG)
def test_catalog_names_are_specs(name):
    assert parse(name).spec == parse(CATALOG[name].spec).spec


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("partiy:d=8,m=2", "did you mean 'parity'"),
        ("parity", "needs d, m"),
        ("parity:d=8", "needs m"),
        ("parity:d=8,m=2,moise=0.1", "did you mean 'noise'"),
        ("parity:d=8,m=2,m=3", "twice"),
        ("parity:d=8,m", "key=value"),
        ("parity:d=8,m=two", "integer"),
        ("parity:d=8,m=2,noise=a", "number"),
        ("parity:d=8,m=2,noise=1/0", "number"),
        ("parity:d=8,m=2,noise=0.5", "below 1/2"),
        ("parity:d=8,m=2,noise=nan", "number"),
        ("parity-frist", "did you mean 'parity-first'"),
        ("parity:d=(8,m=2", "brackets"),
        ("", "unknown"),
        ("parity:d=８,m=2", "integer"),
        ("data:d=0,k=2", "at least 1"),
        ("data:d=2,k=1", "at least 2"),
        ("data:d=2,k=2,tokens=x", "boolean or real"),
    ],
)
def test_bad_specs_are_named(text, word):
    with pytest.raises(UsageError) as found:
        parse(text)
    assert word in str(found.value)
    assert "\n" not in str(found.value)


@given(st.text(max_size=40))
def test_no_text_does_anything_but_parse_or_be_refused(text):
    with contextlib.suppress(ToolkitError):
        parse(text)
