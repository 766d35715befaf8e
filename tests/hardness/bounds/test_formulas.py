"""Bounds as formulas: each with its symbols put in is what `certify` claims, by sympy too."""

import contextlib
import itertools
import random
import re
from fractions import Fraction

import pytest

import hardness
from hardness.bounds import BoundParameters, certify
from hardness.bounds.bound import Bound
from hardness.bounds.certificate import NoClaim
from hardness.bounds.checker.theorem import members_of_probability
from hardness.bounds.formulas import INTEGER_NAMES, formulas
from hardness.bounds.quantities import put_in
from hardness.report.export import text as export
from instances import parse
from instances.errors import UsageError
from instances.result import Math
from tests.latex import compiled

# What follows from no formula of a few numbers: a theorem's 0, counts of pairs, codes.
COMPUTED = {
    *("pairwise-correlation", "random-members", "sq-dimension-at-least", "cross-predictability"),
    *("largest-correlation", "average-correlation", "operator-norm", "second-eigenvalue"),
    *("operator-norm-at-most", "second-eigenvalue-at-most", "stat-success", "vstat-success"),
    "sda-all-subsets",
}


def known(made):
    """The claims with a formula: of a code's size, SQ-DIM of a profile, there is none."""
    computed = {"sq-dimension"} if made.known.products else set()
    return [c for c in made.claims if c.quantity not in COMPUTED | computed]


def held(made):
    found = formulas(made)
    for one in known(made):
        assert found[one.quantity].at_values({}) == one.value, (made.spec, one.quantity)


def held_by_sympy(formula):
    values = {
        one: number_of(formula.names[one.name].value) for one in formula.expression.free_symbols
    }
    assert all(one.is_integer for one in values if one.name in INTEGER_NAMES)
    assert formula.expression.subs(values) == number_of(formula.claim.value)


def number_of(value):
    import sympy

    return sympy.Rational(value.numerator, value.denominator)


def test_formulas_of_laws_bounds_of_success_and_listed_members():
    made = certify(parse("ml-kem-512"))
    found = formulas(made)["stat-queries"]
    assert (found.names["T"].value, found.at_values({})) == (
        members_of_probability(made.known.members, Fraction(2, 3)),
        made["stat-queries"].value,
    )
    assert made["stat-queries"].formula == "⌈(8.76...e359 - 6)/18749⌉"
    fine = certify(parse("parity:d=9,m=3"), BoundParameters(tau=Fraction(9, 10), vstat=1))
    assert fine["stat-success"].formula is None  # the value is K / N
    assert formulas(fine)["stat-success"].at_values({}) == fine["stat-success"].value
    held(hardness.certify("docs/examples/majorities.py:threes"))


def test_the_page_has_the_formula_with_its_values_in_and_so_has_latex():
    made = hardness.certify("parity:d=24,m=3")
    text = made.text().splitlines()
    line = "stat-queries 48 ⌈(2/3·1771 - 1)/25⌉ exact [BFJKMR94]"
    assert line in [" ".join(row.split()) for row in text]
    [row] = [row for row in made._rows() if row["quantity"] == "stat-queries"]
    assert row["formula"].latex == r"\lceil (2/3 \cdot 1771 - 1)/25\rceil"


@pytest.mark.parametrize(
    ("form", "value", "text", "latex"),
    [
        ("max(0, ceil(log_L(success N / K)))", 1, "⌈log_2(2/3·8/(1/9))⌉",
         r"\lceil \log_{2}(2/3 \cdot 8/(1/9))\rceil"),
        ("max(0, ceil((success N - K) / r)), r = min(N, w)", 0, "max(0, ⌈(2/3·8 - 1/9)/25⌉)",
         r"\max(0, \lceil (2/3 \cdot 8 - 1/9)/25\rceil )"),
        ("binomial(N, L) M", 1, "C(8, 2)·1.00...e50",
         r"\binom{8}{2} \cdot 1.00\ldots  \cdot 10^{50}"),
        ("K / N", 1, "(1/9)/8", "(1/9)/8"),
        ("N (K / L)^r", 1, "8·((1/9)/2)^25", r"8 \cdot ((1/9)/2)^{25}"),
        ("the size of a code", 1, None, None),
        ("success x", 1, None, None),
    ],
)  # fmt: skip
def test_numbers_are_put_in_a_closed_form(form, value, text, latex):
    numbers = {"success": Fraction(2, 3), "N": 8, "K": Fraction(1, 9), "r": 25, "L": 2}
    numbers |= {"M": 10**50, "x": Fraction(1, 10**20 + 1)}
    found = put_in(form, numbers, Fraction(value))
    assert (found, found and found.latex) == (text, latex)


def test_what_is_solved_for_is_the_least_by_certifying_every_value():
    cases = [
        ("parity:d=20", "m", range(1, 20), {"queries": 60}),
        ("parity:m=3,noise=0.1", "d", range(5, 60), {"queries": 40}),
        ("parity:m=2", "d", range(4, 60), {"examples": 9}),
        ("lwr:n=6,p=2", "q", [2, 4, 8, 16, 32], {"queries": 10**6}),
        ("lpn:n=30,noise=0.1", "h", range(1, 31), {"queries": 10**4}),
        ("lwe:n=6,sigma=1/2", "q", [2, 3, 4, 5, 7, 8, 11, 13, 16], {"queries": 10**4}),
    ]
    for spec, name, values, wanted in cases:
        quantity = "stat-queries" if "queries" in wanted else "information-floor"
        [least] = wanted.values()
        right = [
            v for v in values if hardness.certify(f"{spec},{name}={v}").integer(quantity) >= least
        ]
        found = hardness.bound(spec, solve=name, **wanted).solution
        assert found["least"] == {name: min(right)}, spec
        at, below = found["certified"]
        assert (at["reached"], below["reached"]) == (True, False)
        assert int(below["value"]) < least <= int(at["value"])


def test_what_is_found_by_the_middle_is_not_called_the_least():
    far = hardness.bound("parity:m=2", solve="d", queries=10**5)
    assert (far.solution["every"], ": the least found with" in far.text()) == (False, True)
    two = hardness.bound("lwr:p=2", solve="n,q", queries=30)
    assert two.solution["every"] is False  # at n = 1 there is a modulus above 512
    near = hardness.bound("parity:m=3", solve="d", queries=40)
    assert (near.solution["every"], ": the least with" in near.text()) == (True, True)


def test_where_queries_rule_nothing_out_a_success_within_reach_is_not_out_of_it():
    """One hypothesis fits 1 of 101 members: no queries are needed for a success of 1/101."""
    found = hardness.bound("parity:m=1", solve="d", queries=5, tau="0.9", success="1/100").solution
    assert found["least"] == {"d": 102}
    assert [one["value"] for one in found["certified"]] == [None, "0"]


def test_a_share_of_directions_that_is_ruled_out_is_not_whole():
    found = hardness.bound("direction:m=4,d=16")
    assert 0 < found["stat-queries"].at_values({}, ruled_out=True) < 1
    assert "eliminates nothing if v_0*(1 - 2*eta)**2/tau**2 == 0: then" in found.text()


def test_a_search_of_two_finds_the_least_first_one_of_all_pairs():
    found = hardness.bound("parity", solve="d,m", queries=500).solution
    by = {
        (d, m): hardness.certify(f"parity:d={d},m={m}").integer("stat-queries")
        for d in range(3, 20)
        for m in range(1, d)
    }
    least = min(pair for pair, value in by.items() if value >= 500)
    assert tuple(found["least"].values()) == least
    at, before, other = found["certified"]
    assert [one["reached"] for one in (at, before, other)] == [True, False, False]
    assert int(before["value"]) == max(v for (d, _), v in by.items() if d == least[0] - 1)


def over(name, **values):
    """Specs of a family over a grid, those that there are."""
    for point in itertools.product(*values.values()):
        pairs = ",".join(f"{n}={v}" for n, v in zip(values, point, strict=True))
        with contextlib.suppress(UsageError):
            yield parse(f"{name}{',' if ':' in name else ':'}{pairs}").spec


NOISE, POWERS = ["0", "1/10", "2/5"], [2, 4, 8, 32]
SECRETS = ["binary", "ternary", "uniform", "cbd,spread=1", "gaussian,spread=1"]
GRIDS = {
    **{
        name: {"d": range(4, 9), "m": range(1, 6), "noise": NOISE}
        for name in ("parity", "profile:g=majority")
    },
    "profile:g=parity": {"d": range(4, 7), "m": range(1, 4), "noise": NOISE},
    "hidden:nice=2": {"d": range(7, 10), "hard": range(1, 4), "noise": NOISE[:2]},
    "direction": {"d": range(8, 11), "m": range(1, 4), "noise": NOISE[:2]},
    "lpn": {"n": range(2, 8), "noise": NOISE},
    "lpn:noise=0.1": {"n": range(2, 7), "h": range(1, 7)},
    **{
        f"{family}{',' if ':' in family else ':'}secret={secret}": grid
        for secret in SECRETS
        for family, grid in {
            "lwr:h=0": {"n": [1, 2, 4], "q": [*POWERS, 3, 17], "p": [*POWERS, 3, 17]},
            "lwr": {"n": [2, 5], "q": POWERS, "p": POWERS, "h": [1, 2]},
            "lwe:sigma=1": {"n": [1, 2, 4], "q": [2, 3, 4, 7, 8, 17, 257]},
            "lwe:sigma=1/2": {"n": [2, 5], "q": [2, 3, 4, 8, 17, 257], "h": [1, 2]},
            "lwe:error=none": {"n": [1, 2, 4], "q": [2, 3, 4, 7, 8, 17, 257]},
        }.items()
    },
}
GOALS = [
    BoundParameters(),
    BoundParameters(tau=Fraction(1, 2), vstat=1, risk=Fraction(9, 10), success=Fraction(1, 3)),
    BoundParameters(tau=Fraction(9, 10), vstat=10**4, risk=Fraction(0), success=Fraction(1)),
    BoundParameters(risk=Fraction(49, 100), success=Fraction(1)),
]


def point_of(made, asked):
    """The values of all that formulas have symbols of, by name, but for what is only computed."""
    family, problem = parse(made.spec), made.problem
    names = ("d", "m", "hard", "n", "q", "h", "p", "parts")
    values = {name: getattr(family, name) for name in names if hasattr(family, name)}
    values |= {"eta": getattr(family, "noise", 0), "bits": problem.get("bits", 0)}
    goal = {"tau": asked.tau, "t": asked.vstat, "epsilon": asked.risk, "delta": asked.success}
    return {name: Fraction(value) for name, value in (values | goal).items()}


# One secret a kind of error or rounding at each commit; sets and directions all.
EVERY_WEEK = [name for name in GRIDS if re.search("secret=(?!binary)|none,", name)]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.weekly if n in EVERY_WEEK else ()) for n in GRIDS],
)
@pytest.mark.parametrize("places", [2, pytest.param(None, marks=pytest.mark.weekly)])
def test_a_formula_is_the_certificate_inside_its_domain_and_is_refused_outside(name, places):
    """Evaluate every formula of a grid, one of a kind, at every other place or at some places.

    So does sympy, at its own place.
    """
    certified, rng = [], random.Random(f"domains {name}")
    grid = [*itertools.product(over(name, **GRIDS[name]), GOALS)]
    assert grid
    for spec, asked in rng.sample(grid, min(places or len(grid), len(grid))):
        with contextlib.suppress(UsageError, NoClaim):
            certified.append((certify(parse(spec), asked), asked))
    kept = {}
    for made, _ in certified:
        held(made)
        symbols = [pair for one in formulas(made).values() for pair in one.symbols.items()]
        assert len(dict(symbols)) == len(set(symbols)), "a symbol has one value in all formulas"
        for formula in formulas(made).values():
            whens = map(str, formula.domain)
            whens = tuple(re.sub(r"^Eq\((\w+), .*", r"\1", one) for one in whens)
            kept.setdefault(
                (formula.claim.quantity, str(formula.expression), whens), (made, formula)
            )
    for _, formula in kept.values():
        held_by_sympy(formula)
    for (made, formula), (other, asked) in itertools.product(kept.values(), certified):
        name = formula.claim.quantity
        point = {n: v for n, v in point_of(other, asked).items() if n in formula.names}
        right = {claim.quantity: claim.value for claim in other.claims}.get(name)
        try:
            value = Bound(certificate=made).evaluate(name, **point)
        except UsageError:
            assert other is not made
        else:
            assert value == right, (made.spec, name, other.spec, asked)


def test_the_domain_of_rounded_residues():
    """SQ-DIM is 20 for q >= 2p and 10 for q = p, where entries -1 and 1 are the same mod 2."""
    found = hardness.bound("lwr:n=5,q=64,p=16,secret=ternary,h=2")
    assert found["sq-dimension"].at_values({}) == 20
    assert hardness.certify("lwr:n=5,q=64,p=64,secret=ternary,h=2").integer("sq-dimension") == 10
    holds = r"holds if Mod\(q, 2\) == 0 and 2\*q/p > 2 and h > 0, not at"
    for values, here in (({"p": 64}, "p = 64"), ({"h": 0}, "h = 0")):
        with pytest.raises(UsageError, match=f"{holds} {here}"):
            found.evaluate("sq-dimension", **values)
    assert found.evaluate("sq-dimension", p=2) == 20
    text, latex = " ".join(found.text().split()), export("latex", found)
    holds = "holds if Mod(q, 2) == 0 and 2*q/p > 2 and h > 0 and q != 2*p"
    assert f"{holds} a query eliminates nothing if" in text
    assert r"\frac{2 q}{p} > 2,\ h > 0,\ q \neq 2 p" in latex
    assert "stat-queries, if $q \\bmod 2 = 0,\\ \\frac{2 q}{p} > 2" in latex
    assert "; a query eliminates at most $r = \\left\\lfloor" in latex
    assert "$$" not in export("latex", hardness.bound("parity"))
    assert found.to_dict()["formulas"]["stat-queries"]["domain"][1:] == [
        *("2*q/p > 2", "h > 0", "q != 2*p")
    ]


def test_sq_dimension_counts_members_that_are_alike_once():
    """Mod M = 4 < q members are alike in pairs; N of them has no formula with h uniform entries."""
    found = hardness.bound("lwr:n=8,q=8,p=4,h=8")
    assert found["orthogonal-members"].at_values({}) == 4**8 - 2**8
    assert found["sq-dimension"].at_values({}) == found.certificate["sq-dimension"].value == 32640


def test_where_a_query_rules_nothing_out_there_is_no_number():
    found = hardness.bound("parity:d=9,m=3")
    assert found.evaluate("stat-queries", tau="1/2") == 37
    with pytest.raises(UsageError, match="no number of queries is enough, as a query eliminates"):
        found.evaluate("stat-queries", tau="0.51")
    with pytest.raises(UsageError, match="unknown symbol 'k'"):
        found.evaluate("stat-queries", k=2)
    with pytest.raises(UsageError, match="tau must be above 0 and at most 1, got 2"):
        found.evaluate("stat-queries", tau=2)
    with pytest.raises(UsageError, match="m must be between 1 and 8"):
        found.evaluate("stat-queries", m=9)
    found = hardness.bound("lwe:n=8,q=17,sigma=1")
    for values in ({"q": 15}, {"q": 16}, {"bits": 5}, {"q": 19}):  # X is that of q = 17
        with pytest.raises(UsageError) as error:
            found.evaluate("stat-queries", **values)
        assert "\n" not in str(error.value)
    assert found.evaluate("orthogonal-members", q=19) == 19**8 - 1


def test_bits_follow_n_and_q():
    """At other n and q a formula is the number that `certify` finds there."""
    found = hardness.bound("lwe:n=40,q=17,error=none")
    for n, q in ((40, 4099), (2000, 17), (40, 2**36 + 31), (60, 2**40 + 15)):
        there = hardness.bound(f"lwe:n={n},q={q},error=none")
        for quantity in ("sq-dimension", "stat-queries"):
            value = found.evaluate(quantity, n=n, q=q)
            assert value == there.certificate[quantity].value


def test_mistakes_are_one_line():
    for source, given, told in [
        ("prity", {}, "unknown family or catalog name"),
        ("parity:d=20", {}, "m"),
        *(
            (name, {}, "lower bounds by statistical queries are known of parity, profile")
            for name in ("nice", "linear", "teacher")
        ),
        ("parity:d=20", {"solve": "k", "queries": 5}, "unknown parameter 'k': known: d, m"),
        ("parity:d=20", {"solve": "m,m", "queries": 5}, "give it once, in --solve"),
        ("parity:d=20", {"solve": "m"}, "--solve needs exactly one of --queries and --examples"),
        ("parity:d=20,m=3", {"queries": 5}, "--solve needs exactly one of"),
        ("parity:d=20,m=3", {"solve": "m", "queries": 5}, "not in parity:d=20,m=3"),
        (
            "parity:d=20",
            {"solve": "m", "queries": "2^128"},
            "the most of 19 is 2464, at parity:d=20,m=9",
        ),
        ("parity:d=20", {"solve": "m", "queries": "2^x"}, "queries must be a number such as"),
        ("lwr", {"solve": "n,q,h", "queries": 9}, "lwr needs p"),
        ("profile:g=[1,-1,0],d=16", {"solve": "m", "queries": 9}, "no bound on general queries"),
        ("nice:k=2,d=16", {"solve": "m", "queries": 9}, "are not formulas"),
        ("docs/examples/majorities.py:threes", {"solve": "m", "queries": 5}, "built-in"),
    ]:
        with pytest.raises(UsageError, match=re.escape(told)) as error:
            hardness.bound(source, **given)
        assert "\n" not in str(error.value), source


def test_a_search_that_finds_nothing_ends(monkeypatch):
    monkeypatch.setattr("hardness.bounds.bound._MOST_SPECS", 30)
    with pytest.raises(UsageError, match="the most of 30 is 1, at profile:g=majority,d=5,m=1"):
        hardness.bound("profile:g=majority", solve="d,m", queries=10**6)


@pytest.mark.weekly
def test_latex_of_formulas_compiles(tmp_path):
    specs = [next(over(name, **grid)) for name, grid in GRIDS.items() if name[:3] != "lwr"]
    made = [certify(parse(spec)) for spec in [*specs, "ml-kem-512", "parity:d=1000,m=21"]]
    cells = [
        cell
        for one in made
        for table in (one, Bound(certificate=one))
        for row in table._rows()
        for cell in row.values()
    ]
    rows = [f"\\[ {cell.latex} \\]" for cell in cells if isinstance(cell, Math)]
    compiled("\n".join(rows), tmp_path)
