"""Games of query learners against adversaries: exact means, and what each query rules out."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.bounds.hidden_sets import Johnson
from hardness.learners import Outcome
from hardness.oracles import (
    Budget,
    CertificateAdversary,
    Character,
    Correlational,
    ExactOracle,
    Factor,
    Listed,
    Means,
    Meter,
    Pool,
    Query,
    ReferenceAdversary,
    Table,
)
from hardness.oracles.means import mean_by_code, unlisted_reason
from hardness.runs import play, run
from hardness.runs.game import listed_spread
from hardness.runs.registry import parse_learner
from instances import Coded, ToolkitError, UsageError, parse
from instances.errors import Refuted
from tests.conftest import enumerate_mean, not_refused, script, with_bits

SPECS = [
    "parity:d=5,m=2",
    "parity:d=5,m=2,noise=0.1",
    "profile:g=majority,d=5,m=3",
    "profile:g=mod(3),d=5,m=3,noise=1/5",
    "profile:g=[1,1/2,-1],d=5,m=2,noise=1/4",
]
KINDS = ("character", "pool", "factor", "query", "correlational", "table")
TENTH = Fraction(1, 10)
QUERIES, POOLED = parse_learner("queries"), parse_learner("pooled")


def second(family):
    return Johnson.family(family).spread


def meter(**limits):
    return Meter(Budget(**limits))


def query(kind, family, seed, signs=False):
    """A query of a kind on a family, by random numbers, or by their signs."""
    rng, d = np.random.default_rng(seed), family.d

    def looked_up(bits, labels):
        place = (bits < 0) @ (1 << np.arange(bits.shape[1]))
        return table[place, np.rint(4 * labels).astype(int) % 17]

    if kind == "character":
        return Character(subset=tuple(np.flatnonzero(rng.integers(0, 2, d)).tolist()))
    if kind == "pool":
        sets = rng.integers(0, 2, (rng.integers(1, 6), d))
        return Pool(sets=tuple(tuple(np.flatnonzero(row).tolist()) for row in sets))
    if kind == "correlational":
        return Correlational(h=lambda x: np.sign(x.sum(axis=2, keepdims=True)) * (x > 0) / (2 * d))
    table = rng.uniform(-1, 1, (4**d if kind == "query" else 2**d, 17))
    if signs:
        table = np.sign(table)
    if kind == "factor":
        return Factor(phi=looked_up, d=d)
    if kind == "query":
        return Query(phi=lambda x, y: looked_up(x.reshape(len(x), -1), y[:, 0, 0]))
    levels = len(family.levels)
    return Table(family=family, table=table[: 2 ** (d - 1), :levels].T.copy())


@st.composite
def queries(draw, family):
    kind, seed = draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**32))
    return query(kind, family, seed, draw(st.booleans()))


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_at_the_end_some_member_fits_every_answer(spec, data):
    family = parse(spec)
    tau = data.draw(st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=100))
    oracle = ReferenceAdversary(family, tau, meter(), second(family))
    asked = data.draw(st.lists(queries(family), min_size=1, max_size=8))
    answers = [oracle.ask(query) for query in asked]
    left = set(family.members())
    within = float(tau) - 1e-10  # what the oracle keeps to spare: means of signs may tie with tau
    rounds = []
    for one, answer in zip(asked, answers, strict=True):
        before = len(left)
        left = {s for s in left if abs(enumerate_mean(one, family, s) - answer) <= within}
        rounds.append((before - len(left), len(left)))
    record = oracle.record()
    assert (record.mode, record.members, list(record.rounds)) == ("reference", family.size, rounds)
    assert len(left) == oracle.alive == record.left >= 1
    secret = oracle.draw(np.random.default_rng(data.draw(st.integers(0, 99))))
    assert secret in left


@pytest.mark.parametrize("spec", ["parity:d=6,m=2", "profile:g=threshold(1),d=6,m=2"])
@given(seed=st.integers(0, 2**32), signs=st.booleans())
def test_no_query_rules_out_more_than_the_cap(spec, seed, signs):
    family, tau = parse(spec), Fraction(1, 50)
    asked = query("factor", family, seed, signs)
    oracle = ReferenceAdversary(family, tau, meter(), second(family))
    means, reference = Means(family).with_reference(asked)
    oracle.ask(asked)
    assert ((means - reference) ** 2).sum() <= oracle.bessel_cap + 1e-12
    assert family.size - oracle.alive <= oracle.bessel_cap // tau**2


def test_the_cap_is_reached_by_the_best_query_and_a_smaller_one_is_refuted():
    family = parse("parity:d=6,m=2")
    members = [*family.members()]

    def phi(z, s):
        return s * np.sign(sum(z[:, list(t)].prod(axis=1) for t in members))

    best = Factor(phi=phi, d=6)
    means, reference = Means(family).with_reference(best)
    total = Fraction(float(((means - reference) ** 2).sum()))
    wrong = ReferenceAdversary(family, TENTH, meter(), 4 * total * Fraction(9, 10))
    with pytest.raises(Refuted, match="Bessel"):
        wrong.ask(best)
    # Of listed members too: with an eigenvalue that is too small the check can fail.
    listing = parities(6, 2)
    ReferenceAdversary(listing, TENTH, meter(), Fraction(1)).ask(Character(subset=(1, 2)))
    with pytest.raises(Refuted, match="Bessel"):
        ReferenceAdversary(listing, TENTH, meter(), Fraction(1, 2)).ask(Character(subset=(1, 2)))


def test_a_cut_game_leaves_many_members_and_a_guess_is_rarely_right():
    family = parse("parity:d=1000,m=5")
    game = play(QUERIES, family, Budget(queries=30), 1)
    assert game.game_record.mode == "certificate"
    assert game.game_record.left == family.size - 30
    assert game.game_record.runs() == [(1, 30, 1, family.size - 30)]
    assert game.outcome is Outcome.QUERIES_SPENT
    assert game.risk == 1.0


@given(data=st.data())
def test_without_following_members_it_does_not_contradict_itself_either(data):
    family = parse(
        data.draw(st.sampled_from(["parity:d=4,m=2", "parity:d=4,m=3", "parity:d=5,m=1"]))
    )
    tau = data.draw(st.sampled_from([Fraction(1, 10), Fraction(2, 5), Fraction(1, 2)]))
    oracle = CertificateAdversary(family, tau, meter())
    subsets = st.sets(st.integers(0, family.d - 1)).map(lambda s: tuple(sorted(s)))
    asked = [Character(subset=s) for s in data.draw(st.lists(subsets, min_size=1, max_size=30))]
    answers = [oracle.ask(q) for q in asked]
    left = [
        s
        for s in itertools.combinations(range(1, family.d), family.m)
        if all(
            abs(family.coefficient(s, q.subset) - Fraction(a)) <= tau
            for q, a in zip(asked, answers, strict=True)
        )
    ]
    assert len(left) == oracle.alive
    secret = oracle.draw(np.random.default_rng(0))
    assert secret in left


D64 = "parity:d=64,m=3"


def adversary(kind, spec, *asked):
    oracle = kind(parse(spec), TENTH, meter())
    return [oracle.ask(one) for one in asked]


def test_what_cannot_be_played_is_said_in_one_line():
    parity, pool = parse("parity:d=8,m=2"), Pool(sets=((1, 2, 3),))
    raw = Query(phi=lambda x, y: np.zeros(len(x)))
    cases = [
        ("examples", lambda: play(parse_learner("elimination"), parity, Budget()), "sees examples"),
        ("pool", lambda: adversary(CertificateAdversary, D64, pool), "characters only"),
        (
            "profile",
            lambda: adversary(CertificateAdversary, "profile:g=majority,d=64,m=3"),
            "only parities",
        ),
        (
            "raw",
            lambda: adversary(ReferenceAdversary, "parity:d=16,m=2", raw),
            "d must be at most 13",
        ),
        ("d", lambda: Means(parse("parity:d=29,m=2")), "d - 1 <= 26"),
        ("members", lambda: Means(parse("parity:d=27,m=13")), "too many to follow"),
    ]
    for tau in (Fraction(1, 10**11), Fraction(1, 10**7)):  # rounding would blur these
        cases += [(tau, lambda tau=tau: play(QUERIES, parity, Budget(), tau=tau), "at least")]
    assert not_refused(ToolkitError, cases) == []


def test_where_no_query_tells_anything_none_is_asked():
    family = parse("parity:d=12,m=2,noise=0.4")
    game = play(QUERIES, family, Budget(), tau=Fraction(12, 100))
    assert not game.game_record.rounds
    assert game.game_record.left == family.size


EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "signed_majority.py"


def signed(**parameters):
    """A family that is neither symmetric nor modular; by its class, so that nothing registers."""
    return script(EXAMPLE).SignedMajority(**parameters)


@dataclass(frozen=True, kw_only=True)
class Listing(Coded):
    """Members given by their codes over z, in a text: "0110 1001" is two of two coordinates."""

    name = "listing"
    example = "listing:d=3,tables=0110 1001"
    about = "functions of tests"
    levels = (Fraction(1), Fraction(-1))
    layer_heads = 1
    d: int
    tables: str
    noise: Fraction = Fraction(0)
    count: int = 0

    @property
    def rows(self):
        return self.tables.split()

    @property
    def size(self):
        return self.count or len(self.rows)

    def members(self):
        return iter([(i,) for i in range(len(self.rows))])

    def draw(self, rng):
        return (int(rng.integers(len(self.rows))),)

    def code(self, secret, z):
        place = (z[:, 1:] < 0) @ (1 << np.arange(self.d - 1))
        return np.array([int(v) for v in self.rows[secret[0]]])[place]

    def layer(self, secret):
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Silent(Listing):
    """The same, which lists no members."""

    def members(self):
        return None


@dataclass(frozen=True, kw_only=True)
class Three(Listing):
    """The same, of three levels."""

    levels = (Fraction(1), Fraction(0), Fraction(-1))


FAMILIES = [
    signed(d=5, m=1),
    signed(d=5, m=3, noise=TENTH),
    parse("profile:g=majority,d=5,m=3"),
    parse("profile:g=[1,1/2,-1],d=5,m=2,noise=1/4"),
    Listing(d=3, tables="0110 1001 0001 1111", noise=TENTH),
    parse("lpn:n=4,noise=0.1"),
    with_bits("lwe:n=1,q=7,error=cbd,eta=1", 4),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.spec)
@pytest.mark.parametrize("seed", range(3))
def test_means_of_listed_members_by_enumeration(family, seed):
    listed = Listed(family)
    assert listed.secrets == tuple(family.members())
    for kind in KINDS:
        if kind == "pool" and family.hidden_sets is None:
            continue
        asked = query(kind, family, seed)
        wanted = [enumerate_mean(asked, family, s) for s in listed.secrets]
        np.testing.assert_allclose(listed.expectations(asked), wanted, atol=1e-12)
        if family.hidden_sets:
            np.testing.assert_allclose(Means(family).expectations(asked), wanted, atol=1e-12)
        instance = family.instance(seed)
        found = ExactOracle(instance, TENTH, meter()).ask(asked)
        place = listed.secrets.index(instance.hidden.secret)
        assert found == pytest.approx(wanted[place], abs=1e-12)


GAMES = [
    signed(d=7, m=3),
    signed(d=7, m=3, noise=TENTH),
    FAMILIES[3],
    FAMILIES[5],
    parse("lwr:n=2,q=8,p=4"),
    parse("lwr:n=2,q=8,p=2"),
]


@pytest.mark.parametrize("family", GAMES, ids=lambda f: f.spec)
@pytest.mark.parametrize("learner", ["queries", "pooled:pool=3"])
def test_query_learners_find_any_listed_member(family, learner):
    tau = Fraction(1, 25)
    game = play(parse_learner(learner), family, Budget(), 3, tau)
    assert game.outcome is Outcome.SOLVED
    assert game.secret_recovered
    assert game.queries < family.size
    honest = run(parse_learner(learner), family.instance(2), Budget(), tau=tau)
    assert honest.secret_recovered
    assert honest.queries == honest.details["asked"]


def test_members_that_are_the_same_function_are_one():
    family = Listing(d=3, tables="0110 0110 1000")
    for seed in range(4):
        found = run(QUERIES, family.instance(seed), Budget(), seed, "exact")
        assert found.outcome is Outcome.SOLVED


def test_answers_that_fit_no_member_are_said():
    class Liar(ExactOracle):
        def ask(self, query):
            return super().ask(query) + 0.45

    oracle = Liar(signed(d=7, m=3).instance(0), Fraction(1, 25), meter())
    found = QUERIES.learn(oracle, np.random.default_rng(0))
    assert found.outcome is Outcome.NO_CLAIM


def test_what_cannot_be_listed_is_said_in_one_line():
    assert "listing cannot be listed" in unlisted_reason(Silent(d=3, tables="0110 1001"))
    assert "at most 2^27 values" in unlisted_reason(parse("profile:g=majority,d=24,m=9"))
    assert "lacks `factor`" in unlisted_reason(parse("profile:g=majority,d=40,m=3"))
    assert "lacks `factor`" in unlisted_reason(parse("nice:m=1,k=2,d=4"))
    for count, word in ((1, "more"), (5, "2 different ones")):
        with pytest.raises(UsageError, match=f"the size {count}, and its `members` lists {word}"):
            Listed(Listing(d=3, tables="0110 1000", count=count))


def test_tables_that_are_no_query_are_refused():
    family = FAMILIES[2]
    for table in (np.zeros((2, 4)), np.full((2, 16), 2.0), np.full((2, 16), np.nan)):
        with pytest.raises(UsageError):
            Table(family=family, table=table)
    asked = Table(family=family, table=np.zeros((2, 16)))
    for other in (signed(d=5, m=3), parse("profile:g=majority,d=6,m=3")):
        with pytest.raises(UsageError, match="the oracle's, got"):
            ExactOracle(other.instance(0), TENTH, meter()).ask(asked)
        with pytest.raises(UsageError, match="the oracle's, got"):
            mean_by_code(other, asked)


def parities(d, m, **more):
    """The parities of m places of d - 1, as a list of tables."""
    family = parse(f"parity:d={d},m={m}")
    rows = ["".join(map(str, family.table_codes(s))) for s in family.members()]
    return Listing(d=d, tables=" ".join(rows), **more)


def test_the_certified_number_is_that_of_the_certificate_at_twice_the_tolerance():
    from hardness.bounds import BoundParameters, certify
    from hardness.bounds.members import of_family

    family = signed(d=7, m=5)
    exact = BoundParameters(tau=Fraction(4, 5), risk=Fraction(0), success=Fraction(1))
    made = certify(of_family(family), exact)
    game = play(POOLED, family, Budget(), 3, tau=Fraction(2, 5))
    assert game.certified == int(made.value("stat-queries")) > 1


def test_no_number_without_two_values_or_two_functions():
    family = Three(d=3, tables="0120 0112")
    assert play(QUERIES, family, Budget(), 3).certified is None
    assert listed_spread(Listing(d=3, tables="0110 0110")) is None


def test_a_game_is_repeated_by_the_seed_that_it_was_drawn_with():
    family, pooled = parse("parity:d=12,m=2"), parse_learner("pooled")
    drawn = play(pooled, family, Budget(queries=2))
    again = play(pooled, family, Budget(queries=2), drawn.seed)
    assert (drawn.drawn, again.drawn) == (True, False)
    assert drawn.seed > 2**32  # so that no learner tries all that may be
    assert drawn.game_record == again.game_record


def test_the_words_say_that_the_seed_was_given(hardness):
    line = ["learn", "queries", "parity:d=8,m=2", "--oracle", "adversary", "--seed", "3"]
    assert "seed 3 was given, so it" in hardness(*line).out
