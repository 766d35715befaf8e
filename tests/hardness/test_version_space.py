"""Query learners on families that are listed: exact means, games, and what no answer can tell."""

import importlib.util
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hardness.check import check
from hardness.oracles import (
    Budget,
    Character,
    Correlational,
    ExactOracle,
    Factor,
    Listed,
    Means,
    Meter,
    Query,
    ReferenceAdversary,
    SampledOracle,
    Table,
)
from hardness.oracles.means import by_code, unlisted
from hardness.oracles.query import enumerate_mean
from hardness.runs import play, run
from hardness.runs.game import listed_spread
from hardness.upper import Outcome, parse_learner
from instances import Coded, UsageError, parse
from instances.capabilities import SCHEME
from instances.errors import Refuted

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "signed_majority.py"
TENTH = Fraction(1, 10)
POINTS = "window:n=2,q=16,parts=16,secret=cbd,spread=3"  # alike secrets are not listed


def signed(**parameters):
    """A family that is neither symmetric nor modular; by its class, so that nothing registers."""
    spec = importlib.util.spec_from_file_location("signed_majority_of_tests", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SignedMajority(**parameters)


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
    parse("lwe:n=1,q=7,error=cbd,eta=1,bits=4"),
]


def queries_on(family, rng):
    def by_factor(z, s):
        place = (z < 0) @ (1 << np.arange(z.shape[1]))
        return table[place, np.rint(4 * s).astype(int) % 17]

    def by_tokens(x, y):
        place = (x.reshape(len(x), -1) < 0) @ (1 << np.arange(2 * x.shape[2]))
        return wide[place, np.rint(4 * y[:, 0, 0]).astype(int) % 17]

    table = rng.uniform(-1, 1, (2**family.d, 17))
    wide = rng.uniform(-1, 1, (4**family.d, 17))
    values = rng.uniform(-1, 1, (len(family.levels), 2 ** (family.d - 1)))
    yield Character(subset=(1, 2))
    yield Factor(phi=by_factor, d=family.d)
    yield Query(phi=by_tokens)
    yield Correlational(
        h=lambda x: np.sign(x.sum(axis=2, keepdims=True)) * (x > 0) / (2 * family.d)
    )
    yield Table(family=family, table=values)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.spec)
@pytest.mark.parametrize("seed", range(3))
def test_means_of_listed_members_by_enumeration(family, seed):
    listed = Listed(family)
    assert listed.secrets == tuple(family.members())
    for query in queries_on(family, np.random.default_rng(seed)):
        wanted = [enumerate_mean(query, family, s) for s in listed.secrets]
        np.testing.assert_allclose(listed.of(query), wanted, atol=1e-12)
        if SCHEME.of(family):
            np.testing.assert_allclose(Means(family).of(query), wanted, atol=1e-12)
        if not isinstance(query, Query | Correlational):
            instance = family.instance(seed)
            found = ExactOracle(instance, TENTH, Meter(Budget())).ask(query)
            place = listed.secrets.index(instance.hidden.secret)
            assert found == pytest.approx(wanted[place], abs=1e-12)


@pytest.mark.parametrize(
    "spec", ["lwe:n=2,q=7,error=cbd,eta=1,bits=3", "lpn:n=4,noise=0.2", "window:n=2,q=4,parts=2"]
)
def test_errors_are_averaged_in_exact_answers(spec):
    """Errors of LWE are no reflection: exact answers against many samples, two ways."""
    instance = parse(spec).instance(1)
    family = instance.family
    rng = np.random.default_rng(0)
    query = Table(
        family=family, table=rng.uniform(-1, 1, (len(family.levels), 2 ** (family.d - 1)))
    )
    exact = ExactOracle(instance, TENTH, Meter(Budget())).ask(query)
    assert exact == pytest.approx(enumerate_mean(query, family, instance.hidden.secret), abs=1e-12)
    sampled = SampledOracle(instance, Fraction(1, 100), Meter(Budget())).ask(query)
    assert abs(sampled - exact) < 0.01
    assert family.channel.sum(axis=1) == pytest.approx(1)


GAMES = [
    signed(d=7, m=3),
    signed(d=7, m=3, noise=TENTH),
    FAMILIES[3],
    FAMILIES[5],
    parse("lwr:n=2,q=8,p=4"),
    parse("window:n=2,q=8,parts=8"),
]


@pytest.mark.parametrize("family", GAMES, ids=lambda f: f.spec)
@pytest.mark.parametrize("learner", ["queries", "pooled:pool=3"])
@pytest.mark.parametrize("strategy", ["adversary", "stabbing"])
def test_query_learners_find_any_listed_member(family, learner, strategy):
    tau = Fraction(1, 25)
    game = play(parse_learner(learner), family, Budget(), 3, strategy, tau)
    assert game.run.outcome is Outcome.SOLVED
    assert game.run.secret_recovered
    assert game.run.usage.queries < family.size
    honest = run(parse_learner(learner), family.instance(2), Budget(), tau=tau)
    assert honest.secret_recovered
    assert honest.usage.queries == honest.details["asked"]


def test_a_game_on_a_profile_is_played_again_by_the_means_in_its_file():
    game = play(parse_learner("pooled"), parse("profile:g=majority,d=9,m=3"), Budget(), 1)
    data = json.loads(json.dumps(game.transcript.to_dict()))
    assert check(data).statements[0].startswith("given the means of")


def test_a_tolerance_that_hides_members_leaves_their_mean():
    family = signed(d=7, m=3)
    found = run(parse_learner("queries"), family.instance(0), Budget(), 0, "exact", Fraction(2, 5))
    assert found.outcome is Outcome.TOLERANCE
    assert found.details["left"] > 1
    assert found.secret_recovered is None
    assert found.risk.value < 1


def test_members_that_are_the_same_function_are_one():
    family = Listing(d=3, tables="0110 0110 1000")
    for seed in range(4):
        found = run(parse_learner("queries"), family.instance(seed), Budget(), seed, "exact")
        assert found.outcome is Outcome.SOLVED


def test_a_spent_budget_keeps_what_was_learned():
    family = signed(d=9, m=3)
    found = run(parse_learner("pooled"), family.instance(0), Budget(queries=3), 0, "exact")
    assert found.outcome is Outcome.QUERIES_SPENT
    assert 1 < found.details["left"] < family.size
    assert found.risk.high < 0.9


def test_answers_that_fit_no_member_are_said():
    class Liar(ExactOracle):
        def ask(self, query):
            return super().ask(query) + 0.45

    oracle = Liar(signed(d=7, m=3).instance(0), Fraction(1, 25), Meter(Budget()))
    found = parse_learner("queries").learn(oracle, np.random.default_rng(0))
    assert found.outcome is Outcome.INCONSISTENT


def test_what_cannot_be_listed_is_said_in_one_line():
    assert "members cannot be listed" in unlisted(parse(POINTS))
    assert "at most 2^27 values" in unlisted(parse("profile:g=majority,d=24,m=9"))
    assert "it lacks `factor`" in unlisted(parse("profile:g=majority,d=40,m=3"))
    assert "it lacks `factor`" in unlisted(parse("nice:m=1,k=2,d=4"))
    for count, word in ((1, "more"), (5, "2 different ones")):
        with pytest.raises(UsageError, match=f"size is {count}, and `members` lists {word}"):
            Listed(Listing(d=3, tables="0110 1000", count=count))


def test_tables_that_are_no_query_are_refused():
    family = FAMILIES[2]
    for table in (np.zeros((2, 4)), np.full((2, 16), 2.0), np.full((2, 16), np.nan)):
        with pytest.raises(UsageError):
            Table(family=family, table=table)
    query = Table(family=family, table=np.zeros((2, 16)))
    for other in (signed(d=5, m=3), parse("profile:g=majority,d=6,m=3")):
        with pytest.raises(UsageError, match="the oracle's is"):
            ExactOracle(other.instance(0), TENTH, Meter(Budget())).ask(query)
        with pytest.raises(UsageError, match="the oracle's is"):
            by_code(other, query)


LEARNER = """
import numpy as np
from hardness.oracles import Table
from hardness.upper import member

class Asks:
    access = "queries"

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        family = oracle.family
        table = np.ones((2, 2 ** (family.d - 1)))
        table[1] = -1
        answer = oracle.ask(Table(family=family, table=table))
        return member(family, (1, 2, 3) if abs(answer) < 0.01 else (2, 3, 4))
"""


def test_a_learner_in_its_own_process_asks_by_a_table(tmp_path):
    (tmp_path / "asks.py").write_text(LEARNER)
    learner = parse_learner(f"{tmp_path / 'asks.py'}:Asks")
    instance = parse("profile:g=majority,d=6,m=3").instance(0)
    found = run(learner, instance, Budget(), 0, "exact")
    assert found.details["claimed_secret"] == [1, 2, 3]


def parities(d, m, **more):
    """The parities of m places of d - 1, as a list of tables."""
    family = parse(f"parity:d={d},m={m}")
    rows = ["".join(map(str, family.factor.codes(s))) for s in family.members()]
    return Listing(d=d, tables=" ".join(rows), **more)


@pytest.mark.parametrize(("tau", "noise"), [("1/5", "0"), ("1/4", "0"), ("1/5", "1/8")])
def test_the_certified_number_of_listed_parities_is_that_of_parities(tau, noise):
    """Two ways to the same number: the general bound from all products, the bound by formula."""
    listing = parities(7, 3, noise=Fraction(noise))
    known = parse(f"parity:d=7,m=3,noise={Fraction(noise)}")
    learner, tau = parse_learner("queries"), Fraction(tau)
    mine, theirs = (play(learner, f, Budget(), 3, tau=tau) for f in (listing, known))
    assert mine.bound == theirs.bound > 1
    assert mine.run.usage.queries >= mine.bound


def test_the_certified_number_is_that_of_the_certificate_at_twice_the_tolerance():
    from hardness.lower import BoundParameters
    from hardness.lower.listed import certify_listed
    from hardness.lower.members import of_family

    family = signed(d=7, m=5)
    exact = BoundParameters(tau=Fraction(4, 5), risk=Fraction(0), success=Fraction(1))
    made = certify_listed(of_family(family), exact)
    game = play(parse_learner("pooled"), family, Budget(), 3, tau=Fraction(2, 5))
    assert game.bound == int(made.value("stat-queries")) > 1


def test_no_number_without_two_values_or_two_functions():
    family = Three(d=3, tables="0120 0112")
    assert play(parse_learner("queries"), family, Budget(), 3).bound is None
    assert listed_spread(Listing(d=3, tables="0110 0110")) is None


def test_a_query_that_moves_listed_members_too_far_is_refuted():
    """With an eigenvalue that is too small the game ends: the check can fail."""
    family = parities(6, 2)
    right = ReferenceAdversary(family, TENTH, Meter(Budget()), Fraction(1))
    right.ask(Character(subset=(1, 2)))
    wrong = ReferenceAdversary(family, TENTH, Meter(Budget()), Fraction(1, 2))
    with pytest.raises(Refuted, match="Bessel"):
        wrong.ask(Character(subset=(1, 2)))
