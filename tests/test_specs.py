"""Specs of families and learners: what is read back, and what is refused in one line.

What `estimate` reads beyond families is in tests/hardness/lwe/test_laws.py.
"""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.lwe.parameters import parse_parameters
from hardness.oracles import Budget
from hardness.runs import registry, run
from hardness.runs.registry import parse_learner
from instances import Parity, ToolkitError, UsageError, numbers, parse
from instances.errors import withdrawn_names
from instances.numbers import write
from instances.spec import catalog
from tests.conftest import not_refused

families = st.builds(
    lambda d, m, noise, rho: Parity(d=d + m, m=m, noise=noise, rho=rho),
    st.integers(1, 500),
    st.integers(1, 12),
    st.fractions(0, Fraction(49, 100), max_denominator=1000),
    st.fractions(Fraction(9, 8), 16, max_denominator=16),
)
PROFILES = ["majority", "parity", "threshold(2)", "mod(3)", "[1,-1,0.5,2]", "[0,1/3,2/3,1e20]"]


@given(families)
def test_specs_read_back(family):
    assert parse(family.spec) == family
    assert parse(family.spec).spec == family.spec


@given(st.fractions(max_denominator=10**6))
def test_rationals_read_back(value):
    assert numbers.parse(write(value), Fraction, "x") == value


def test_order_spaces_spelling_and_names_do_not_matter():
    assert parse(" parity: m=3 , d=16, noise=.10").spec == parse("parity:noise=1/10,d=16,m=3").spec
    for name, entry in catalog().items():
        assert parse(name).spec == parse(entry.spec).spec
    for g in PROFILES:
        family = parse(f"profile:g={g},d=9,m=3")
        assert parse(family.spec) == family
        assert parse(family.spec).values == family.values


@given(st.text(max_size=40), st.text(max_size=1), st.integers(0, 40))
def test_no_text_does_anything_but_parse_or_be_refused(text, letter, place):
    right = "lwr:n=8,q=16,p=2,secret=gaussian,spread=1"
    for tried in (text, right[:place] + letter + right[place + 1 :]):
        with contextlib.suppress(ToolkitError):
            assert parse(parse(tried).spec) == parse(tried)


# ---- what is refused

NO_PROFILES = (
    *("x", "h", "1", "exactly(1)", "h**2", "parity+0.1*majority", "mod(0)", "mod(-1)", "mod"),
    *("threshold(m/2)", "majority(2)", "1-2*(h>=2)", "__import__"),
)

GONE = [
    (
        f"{kind.removeprefix('parameter of ')}:{name}=1",
        f"the {kind} '{name}' is gone: leave it out",
    )
    for kind in withdrawn_names()
    if kind.startswith("parameter")
    for name in withdrawn_names()[kind]
]
FAMILIES = [  # beyond values out of a declared range
    ("parity", "needs d, m"),
    ("parity:d=8,m=2,moise=0.1", "did you mean 'noise'"),
    ("parity:d=8,m=2,m=3", "twice"),
    ("parity:d=8,m", "key=value"),
    ("parity:d=8,m=two", "integer"),
    ("parity:d=8,m=2,noise=a", "number"),
    ("parity:d=8,m=2,noise=1/0", "number"),
    ("parity:d=(8,m=2", "brackets"),
    ("", "unknown"),
    ("parity:d=８,m=2", "integer"),
    ("data:d=0,k=2", "at least 1"),
    ("data:d=2,k=1", "at least 2"),
    ("data:d=2,k=2,tokens=x", "boolean or real"),
    ("parity:d=4,m=4", "m must be between 1 and 3 for d = 4, got 4"),
    *(
        (f"profile:g={g},d=9,m=3", "which is constant")
        for g in ("mod(1)", "threshold(4)", "[2,2,2,2]")
    ),
    *((f"profile:g={g},d=9,m=3", "g must be majority") for g in NO_PROFILES),
    *((f"profile:g=[{g}],d=9,m=3", "g must list 4 values for m = 3") for g in ("1,2", "1,2,3,4,5")),
    *(
        (f"profile:g=[{g}],d=9,m=3", "a number such as")
        for g in ("1,2,x,3", "1,2,3,", "1e99,1,1,1")
    ),
    ("profile:g=majority,d=4,m=3", "one member only"),
    ("hidden:d=6,hard=6,nice=1", "hard must be between 1 and 5 for d = 6, got 6"),
    ("lwr:n=4,q=12,p=2", "q must be a power of two or a prime for lwr"),
    ("lwr:n=4,q=16,p=3", "p must be at least 2 and divide q = 16, got 3"),
    ("lwr:n=4,q=16,p=2,secret=binary,h=5", "h must be between 1 and n = 4, or 0"),
    ("lwr:n=4,q=16,p=2,secret=odd", "got odd"),
    ("lwr:n=4,q=16,p=2,secret=cbd", "got 0 for secret=cbd"),
    ("lwr:n=4,q=4,p=2,secret=cbd,spread=3", "q must be at least 7 for secret=cbd"),
    ("lwr:n=4,q=16,p=2,spread=1", "got 1 for secret=uniform"),
    ("lwr:n=4,q=16,p=2,secret=gaussian,spread=0.1", "spread=0.1 is too small for secret=gaussian"),
    ("lwe:n=4,q=17", "needs sigma=... or alpha=... alone, above 0, got none: write lwe:n=4,q=17,s"),
    ("lwe:n=4,q=17,sigma=1,alpha=0.1", "alone"),
    ("lwe:n=4,q=17,sigma=-1", "above 0"),
    ("lwe:n=4,q=17,error=cbd,sigma=1", "needs eta="),
    ("lwe:n=4,q=17,error=uniform,width=40", "at most q - 1"),
    ("lwe:n=4,q=17,sigma=100", "labels then say nothing"),
    ("lpn:n=4,noise=0.5", "must be in [0, 1/2)"),
    ("lpn:n=4", "lpn needs noise"),
    ("nice:m=2,k=2,d=8,rank=9", "rank must be between 1 and d = 8"),
    ("nice:m=2,k=2,d=8,parity=0.5", "odd m"),
    ("nice:m=3,k=3,d=8,parity=0.5", "k = 2"),
    ("nice:m=9,k=2,d=9,parity=0.5", "below d"),
    *(
        (f"{name}{rest}", f"the family '{name}' is gone: ")
        for name in withdrawn_names()["family"]
        for rest in ("", ":d=9")
    ),
    *(case for case in GONE if not case[0].startswith(tuple(registry.LEARNERS))),
    *((f"lwr:n=4,q=2,p=2,secret={s}", "q must be at least") for s in ("ternary", "cbd,spread=1")),
]
LEARNERS = [
    ("elimniation", "did you mean 'elimination'"),
    ("lowdegree:degree=-1", "at least 0"),
    ("lowdegree:deg=1", "did you mean 'degree'"),
    ("student:optimizer=rmsprop", "adam, momentum or sgd"),
    ("elimination:checks=29", "at least 30"),
    ("queries:x=1", "there are none"),
    ("mlp:optimizer=rmsprop", "adam, momentum or sgd"),
    ("mlp:rate=0", "above 0"),
    ("mlp:steps=0", "at least 1"),
    ("mlp:view=signs", "z or tokens"),
    ("mlp:view=reduced", "z or tokens, got reduced: it is called z"),
    *((f"flips:confidence={v}", "must be above 0") for v in (0, 1)),
    *(case for case in GONE if case[0].startswith(tuple(registry.LEARNERS))),
    *((text, "must be ") for text in ("primal:block=1", "primal:start=2", "dual:weight=-1")),
    ("modlinear:checks=7", "must be at least 8, got 7"),
    ("staged:mode=theory", "practical or paper"),
    ("staged:heads=-1", "heads must be at least 0, got -1"),
    *((f"mine.py{end}", "must be path.py:Name") for end in ("", ":", ":9x")),
    *((text, "must be path.py:Name") for text in ("a/mine.py:a b", "x.py:-")),
]
UNFIT = [
    ("bruteforce", "lwr:n=128,q=64,p=2,secret=binary,h=20", "at most 2^44"),
    ("bruteforce", "profile:g=majority,d=10,m=3", "profile lacks `linear_forms`"),
    ("mitm", "lwr:n=512,q=64,p=2,secret=binary", "2^256.0 half secrets"),
    ("modlinear:checks=29", "lpn:n=8,noise=0", "at least 30 for a secret mod 2"),
    ("modlinear:checks=8", "lwr:n=4,q=8,p=8", "at least 10 for a secret mod 8"),
    ("restricted", "lwe:n=8,q=17,sigma=1", "lwe lacks `noisy_parities`"),
    ("restricted", "lpn:n=400,noise=0.2", "at most 2^50"),
    ("bkw", "lpn:n=300,noise=0.1", "2^22 samples"),
    ("bkw", "lwe:n=8,q=17,sigma=10", "say nothing"),
    ("flips", "nice:m=1,k=2,d=4", "nice lacks `coded`"),
    ("flips", "lwr:n=3,q=8,p=2", "its members are no functions of how many places"),
    ("flips", "parity:d=20,m=3,noise=0.49999", "noise=0.49999 is too near to 1/2"),
    ("modlinear", "lwr:n=4,q=16,p=4", "roughly"),
    ("primal", "lwe:n=4,q=17,error=none", "modlinear"),
    ("primal:zeta=3", "lwe:n=4,q=17,sigma=1,secret=binary,h=2", "zeta must be at most 2"),
    ("primal", "lwr:n=4,q=16,p=16", "modlinear"),
    ("primal", "lpn:n=4,noise=0.1", "lwe or lwr"),
    *((name, "lwe:n=4,q=2,error=cbd,eta=1", "lower the error") for name in ("mitm", "primal")),
    *(
        (name, "lwe:n=4,q=31,sigma=60", "lower the error")
        for name in ("bruteforce", "mitm", "primal")
    ),
    ("lifted", "linear:m=1,k=2,d=64", "133120"),
    ("lifted", "nice:m=1,k=2,d=40", "features"),
    ("staged:mode=paper,heads=5", "nice:m=2,k=2,d=16", "heads must be between 1 and 4"),
    ("staged:mode=paper", "nice:m=2,k=2,d=17", "d must be at most 16 in mode=paper, got 17"),
    (
        "lowdegree",
        "nice:m=2,k=2,d=6,tokens=gaussian",
        "its tokens are gaussian: monomials are of -1",
    ),
]


@pytest.mark.parametrize(
    ("read_", "table"),
    [(parse, FAMILIES), (parse_learner, LEARNERS)],
    ids=["families", "learners"],
)
def test_bad_words_are_named_in_one_line(read_, table):
    cases = ((text, lambda text=text: read_(text), word) for text, word in table)
    assert not_refused(UsageError, cases) == []


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("parity:d=8;m=3", "parity:d=8,m=3"),
        ("parity:d=8 m=3", "parity:d=8,m=3"),
        ("parity:d=8, m=3 ; noise=0.1", "parity:d=8,m=3,noise=0.1"),
        ("parity:d=8", "parity:d=8,m=3"),
        ("parity:d=3", "parity:d=3,m=2"),
        ("parity:m=9,noise=0.1", "parity:m=9,noise=0.1,d=32"),
        ("profile:d=4", "profile:d=4,g=majority,m=2"),
        ("lwr:n=4,q=16", "lwr:n=4,q=16,p=2"),
        ("lwe:n=4", "lwe:n=4,q=17,sigma=1"),
        ("lwe:n=4,q=17", "lwe:n=4,q=17,sigma=2"),
        ("lwe:n=4,q=17,error=cbd", "lwe:n=4,q=17,error=cbd,eta=2"),
        ("lpn", "lpn:n=32,noise=0.1"),
    ],
)
def test_a_proposal_keeps_what_is_written_and_can_be_read(text, proposed):
    with pytest.raises(UsageError, match=f"write {proposed}$"):
        parse(text)
    parse(proposed)


@pytest.mark.parametrize(
    ("text", "proposed"),
    [("lwe:n=4", "lwe:n=4,q=3329,sigma=2"), ("lwr:n=4,q=16", "lwr:n=4,q=16,p=2")],
)
def test_a_proposal_for_estimates_can_be_read(text, proposed):
    with pytest.raises(UsageError, match=f"write {proposed}$"):
        parse_parameters(text)
    parse_parameters(proposed)


def test_what_a_learner_cannot_do_is_said_before_it_starts():
    def start(learner, spec):
        run(parse_learner(learner), parse(spec).instance(0), Budget(seconds=30.0))

    cases = (((a, b), lambda a=a, b=b: start(a, b), word) for a, b, word in UNFIT)
    assert not_refused(ToolkitError, cases) == []
