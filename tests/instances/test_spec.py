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


UNEVEN = ["1,1,-1", "1,-1,-1,-1", "0,1,3"]  # profiles that are neither odd nor even


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
        ("parity:d=1,m=1", "at least 2"),
        ("parity:d=4,m=4", "d - 1"),
        ("parity:d=4,m=0", "between 1"),
        ("parity:d=4,m=2,noise=1/2", "below 1/2"),
        ("parity:d=4,m=2,noise=-1/9", "at least 0"),
        ("parity:d=4,m=2,rho=1", "above 1"),
        ("parity:d=999,m=500", "exact heads"),
        *((f"profile:g={g},d=9,m=3", "no function of h") for g in ("1", "m", "h*0", "[2,2,2,2]")),
        ("profile:g=parity*parity,d=9,m=3", "no function of h"),
        ("hardmax:g=1,d=9,m=3", "no function of h"),
        ("profile:g=majority,d=4,m=3", "one member only"),
        ("parity_position:d=8,m=3,w0=round", "one of identity, corner, gaussian"),
        ("tokens3:d=6,m=2,k=2", "unknown parameter of tokens3 'k'"),
        ("tokens3:d=6,m=2,noise=0.5", "below 1/2"),
        ("hidden:d=6,hard=6,nice=1", "hard=6"),
        ("hidden:d=6,hard=2,nice=0", "nice=0"),
        ("hidden:d=6,hard=2,nice=1,weight=0", "weight=0"),
        ("hidden:d=6,hard=2,nice=65", "nice=65"),
        *((f"profile_position:g=[{g}],d=6,m={g.count(',')}", "g(m - h) must be") for g in UNEVEN),
        ("direction:m=0,d=16", "between 1 and 24"),
        ("direction:m=25,d=16", "between 1 and 24"),
        ("direction:m=4,d=3", "between 4 and 4096"),
        ("direction:m=4,d=16,noise=1/2", "below 1/2"),
        ("direction:m=4,d=16,labels=hidden", "rounded or raw"),
        ("direction:m=4,d=16,kappa=2", "between 4 and 1000"),
        ("direction:m=4,d=16,labels=raw,noise=-1", "standard deviation"),
        ("lwr:n=4,q=12,p=2", "q=12 given: q must be a power of two"),
        ("lwr:n=4,q=16,p=3", "p=3 given with q=16: p must be at least 2 and divide q"),
        ("lwr:n=4,q=17,p=2", "divide q"),
        ("lwr:n=4,q=16,p=2,secret=binary,h=5", "h=5 given with n=4"),
        ("lwr:n=4,q=16,p=2,secret=odd", "secret=odd given"),
        ("lwr:n=4,q=16,p=2,secret=cbd", "spread=0 given with secret=cbd"),
        ("lwr:n=4,q=4,p=2,secret=cbd,spread=3", "need q of at least 7"),
        ("lwr:n=4,q=16,p=2,spread=1", "spread=1 given with secret=uniform"),
        ("lwr:n=4,q=16,p=2,secret=gaussian,spread=0.1", "all entries are 0, raise it"),
        ("lwr:n=4,q=16,p=2,beta=10000000000000000", "beyond the 2^53"),
        ("lwr:n=4,q=16,p=2,beta=0.5", "beta must be at least 1"),
        ("lwr:n=4,q=16,p=2,heads=many", "saturated or exact"),
        ("lwr:n=4,q=16,p=2,bits=5", "leave it out"),
        ("lwr:n=0,q=16,p=2", "n must be between"),
        ("lwr:n=4,q=16,p=4,labels=layer,beta=8", "lattice reduction finds s"),
        ("lwe:n=4,q=16,sigma=1,labels=layer", "gives <a, s> away"),
        ("lwe:n=4,q=17", "it needs sigma="),
        ("lwe:n=4,q=17,sigma=1,alpha=0.1", "alone"),
        ("lwe:n=4,q=17,sigma=-1", "above 0"),
        ("lwe:n=4,q=17,error=cbd,sigma=1", "it needs eta="),
        ("lwe:n=4,q=17,error=strange", "error=strange given"),
        ("lwe:n=4,q=17,error=uniform,width=40", "at most q - 1"),
        ("lwe:n=4,q=17,sigma=100", "labels then say nothing"),
        ("lpn:n=4,noise=0.5", "must be in [0, 1/2)"),
        ("lpn:n=4", "lpn needs noise"),
        ("window:n=4,q=16,parts=3", "a divisor of q"),
        ("lwe:n=4,q=17,sigma=1,bits=3", "between 5 and 62"),
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
