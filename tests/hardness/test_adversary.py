import copy
import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.lower import Johnson
from hardness.oracles import (
    Budget,
    CertificateAdversary,
    Character,
    Correlational,
    Factor,
    Means,
    Meter,
    Pool,
    Query,
    ReferenceAdversary,
    StabbingAdversary,
)
from hardness.oracles.means import secrets
from hardness.oracles.query import enumerate_mean
from hardness.runs import play
from hardness.upper import Outcome, parse_learner
from instances import ToolkitError, UsageError, parse
from instances.errors import Refuted, TooLarge
from tests.conftest import sealed

SPECS = [
    "parity:d=5,m=2",
    "parity:d=5,m=2,noise=0.1",
    "profile:g=majority,d=5,m=3",
    "profile:g=mod(3),d=5,m=3,noise=1/5",
    "profile:g=[1,1/2,-1],d=5,m=2,noise=1/4",
]


def second(family):
    found = Johnson.family(family).spread
    return Fraction(int(found.p), int(found.q))


def by_tokens(table):
    """A query of raw tokens and labels, from a table of numbers."""

    def phi(x, y):
        place = (x.reshape(len(x), -1) < 0) @ (1 << np.arange(2 * x.shape[2]))
        return table[place % table.shape[0], np.rint(4 * y[:, 0, 0]).astype(int) % table.shape[1]]

    return phi


def by_factor(table):
    def phi(z, s):
        place = (z < 0) @ (1 << np.arange(z.shape[1]))
        return table[place % table.shape[0], np.rint(4 * s).astype(int) % table.shape[1]]

    return phi


@st.composite
def queries(draw, d):
    kind = draw(st.sampled_from(["character", "pool", "factor", "query", "correlational"]))
    if kind == "character":
        return Character(subset=tuple(sorted(draw(st.sets(st.integers(0, d - 1))))))
    if kind == "pool":
        sets = draw(st.lists(st.sets(st.integers(0, d - 1)), min_size=1, max_size=5))
        return Pool(sets=tuple(tuple(sorted(s)) for s in sets))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = 2**d if kind == "factor" else 4**d
    table = rng.uniform(-1, 1, (size, 17))
    if draw(st.booleans()):
        table = np.sign(table)
    if kind == "factor":
        return Factor(phi=by_factor(table), d=d)
    if kind == "correlational":
        return Correlational(h=lambda x: np.zeros(x.shape))
    return Query(phi=by_tokens(table))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("kind", [ReferenceAdversary, StabbingAdversary])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_at_the_end_some_member_fits_every_answer(spec, kind, data):
    family = parse(spec)
    tau = data.draw(st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=100))
    if kind is ReferenceAdversary:
        oracle = kind(family, tau, Meter(Budget()), second(family))
    else:
        oracle = kind(family, tau, Meter(Budget()))
    asked = data.draw(st.lists(queries(family.d), min_size=1, max_size=8))
    answers = [oracle.ask(query) for query in asked]
    left = set(secrets(Means(family).members))
    within = float(tau) - 1e-10  # what the oracle keeps to spare: means of signs may tie with tau
    for query, answer in zip(asked, answers, strict=True):
        left = {s for s in left if abs(enumerate_mean(query, family, s) - answer) <= within}
    assert len(left) == oracle.alive >= 1
    secret = oracle.draw(np.random.default_rng(data.draw(st.integers(0, 99))))
    assert secret in left
    written = json.loads(json.dumps(oracle.transcript(secret).to_dict()))
    assert any(str(list(secret)) in s for s in check(written).statements)


@pytest.mark.parametrize("spec", ["parity:d=6,m=2", "profile:g=threshold(1),d=6,m=2"])
@given(seed=st.integers(0, 2**32), signs=st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_query_rules_out_more_than_the_cap(spec, seed, signs):
    family = parse(spec)
    table = np.random.default_rng(seed).uniform(-1, 1, (2**family.d, 3))
    query = Factor(phi=by_factor(np.sign(table) if signs else table), d=family.d)
    tau = Fraction(1, 50)
    oracle = ReferenceAdversary(family, tau, Meter(Budget()), second(family))
    means, reference = Means(family).with_reference(query)
    oracle.ask(query)
    assert ((means - reference) ** 2).sum() <= oracle.room + 1e-12
    assert family.size - oracle.alive <= oracle.room // tau**2


def test_the_cap_is_reached_by_the_best_query_and_a_smaller_one_is_refuted():
    family = parse("parity:d=6,m=2")
    members = secrets(Means(family).members)

    def phi(z, s):
        return s * np.sign(sum(z[:, list(t)].prod(axis=1) for t in members))

    query = Factor(phi=phi, d=6)
    means, reference = Means(family).with_reference(query)
    total = Fraction(float(((means - reference) ** 2).sum()))
    wrong = ReferenceAdversary(
        family, Fraction(1, 10), Meter(Budget()), 4 * total * Fraction(9, 10)
    )
    with pytest.raises(Refuted, match="Bessel"):
        wrong.ask(query)


def test_a_cut_game_leaves_many_members_and_a_guess_is_rarely_right():
    family = parse("parity:d=1000,m=5")
    game = play(parse_learner("queries"), family, Budget(queries=30), 1)
    assert game.transcript.mode == "certificate"
    assert game.transcript.entries[-1].alive == family.size - 30
    assert game.run.outcome is Outcome.QUERIES_SPENT
    assert game.run.risk.value == 1.0
    statements = check(json.loads(json.dumps(game.transcript.to_dict()))).statements
    assert statements[0].startswith("certificate adversary: 30 queries")


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_without_following_members_it_does_not_contradict_itself_either(data):
    family = parse(
        data.draw(st.sampled_from(["parity:d=4,m=2", "parity:d=4,m=3", "parity:d=5,m=1"]))
    )
    tau = data.draw(st.sampled_from([Fraction(1, 10), Fraction(2, 5), Fraction(1, 2)]))
    oracle = CertificateAdversary(family, tau, Meter(Budget()))
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
    check(json.loads(json.dumps(oracle.transcript(secret).to_dict())))


def played():
    game = play(parse_learner("pooled"), parse("parity:d=8,m=2"), Budget(queries=6))
    return json.loads(json.dumps(game.transcript.to_dict()))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["queries"].pop(0),
        lambda d: d.update(secret=d["queries"][0]["query"]["sets"][0]),
        lambda d: d.update(secret=[1]),
        lambda d: d.update(secret=[2, 1]),
        lambda d: d.update(secret=[1, 99]),
        lambda d: d.update(spec="parity:d=8,m=3,noise=0,rho=3"),
        lambda d: d.update(spec="parity:d=8,m=2"),
        lambda d: d.update(mode="certificate"),
        lambda d: d.update(mode="honest"),
    ],
)
def test_a_transcript_that_is_not_what_was_played_is_refused(change):
    data = played()
    check(data)
    changed = copy.deepcopy(data)
    change(changed)
    with pytest.raises(Refuted):
        check(sealed(changed))


def test_what_the_adversary_cannot_play_is_said_in_one_line():
    queries, elimination = parse_learner("queries"), parse_learner("elimination")
    with pytest.raises(ToolkitError, match="sees examples"):
        play(elimination, parse("parity:d=8,m=2"), Budget())
    with pytest.raises(UsageError, match="stabbing needs"):
        play(queries, parse("parity:d=64,m=3"), Budget(queries=1), strategy="stabbing")
    with pytest.raises(UsageError, match="one of adversary"):
        play(queries, parse("parity:d=8,m=2"), Budget(), strategy="honest")
    large = CertificateAdversary(parse("parity:d=64,m=3"), Fraction(1, 10), Meter(Budget()))
    with pytest.raises(UsageError, match="characters only"):
        large.ask(Pool(sets=((1, 2, 3),)))
    with pytest.raises(UsageError, match="only parities"):
        CertificateAdversary(parse("profile:g=majority,d=64,m=3"), Fraction(1, 10), Meter(Budget()))
    oracle = ReferenceAdversary(parse("parity:d=16,m=2"), Fraction(1, 10), Meter(Budget()))
    with pytest.raises(UsageError, match="2d <= 26"):
        oracle.ask(Query(phi=lambda x, y: np.zeros(len(x))))
    with pytest.raises(UsageError, match="d - 1 <= 26"):
        Means(parse("parity:d=29,m=2"))
    with pytest.raises(UsageError, match="too many to follow"):
        Means(parse("parity:d=27,m=13"))


def given(means, answer, reference=0.0, alive=1, mode="reference", spec="parity:d=16,m=3"):
    family = parse(spec)
    entry = {
        "query": {"kind": "given", "means": means, "reference": reference},
        "answer": answer,
        "ruled_out": family.size - alive,
        "alive": str(alive),
    }
    return sealed(
        {
            "format": "hardness-transcript/1",
            "spec": family.spec,
            "tau": "1/10",
            "mode": mode,
            "members": str(family.size),
            "queries": [entry],
            "secret": list(range(1, family.m + 1)),
        }
    )


def test_given_means_that_no_query_has_are_refused():
    size = parse("parity:d=16,m=3").size
    honest = check(given([0.0] * (size - 1) + [0.5], 0.0, alive=size - 1)).statements
    assert all(s.startswith("given the means of 1 query in the file") for s in honest[:2])
    for data in (
        given([0.0] + [0.9] * (size - 1), 0.0),
        given([0.9] + [0.0] * (size - 1), 0.9),
        given([0.0] + [1e9] * (size - 1), 0.0),
        given([0.0] + ["0.3"] * (size - 1), 0.0),
        given([0.0] + [True] * (size - 1), 0.0),
        given([0.0] * (size - 1), 0.0),
        given([0.0] * size, 0.05, alive=size),
    ):
        with pytest.raises(Refuted):
            check(data)


def test_where_no_query_tells_anything_the_words_say_so():
    family = parse("parity:d=12,m=2,noise=0.4")
    game = play(parse_learner("queries"), family, Budget(), tau=Fraction(12, 100))
    assert not game.transcript.entries
    oracle = ReferenceAdversary(family, Fraction(12, 100), Meter(Budget()), Fraction(1))
    oracle.ask(Character(subset=(1, 2)))
    assert oracle.alive == family.size
    written = oracle.transcript((1, 2)).to_dict()
    assert (
        check(json.loads(json.dumps(written))).statements[-1].startswith("a query can rule out no")
    )


def test_a_tolerance_that_rounding_would_blur_is_refused():
    for tau in (Fraction(1, 10**11), Fraction(1, 10**7)):
        with pytest.raises(UsageError, match="at least"):
            play(parse_learner("queries"), parse("parity:d=8,m=2"), Budget(), tau=tau)


def test_pools_too_large_to_play_again_are_no_refusal():
    family = parse("parity:d=26,m=2")
    data = json.loads(json.dumps(played()))
    entry = {
        "query": {"kind": "pool", "sets": [[1, 2]]},
        "answer": 0.0,
        "ruled_out": 0,
        "alive": "1",
    }
    data |= {"spec": family.spec, "members": str(family.size), "queries": [entry] * 400}
    with pytest.raises(TooLarge, match="too much to play again"):
        check(sealed(data | {"secret": [1, 2]}))
