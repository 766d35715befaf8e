"""Parities shown through positions: labels, correlations, means, risk; by brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.lower import certify
from hardness.oracles import (
    Budget,
    Character,
    Correlational,
    Factor,
    Meter,
    Pool,
    Query,
    ReferenceAdversary,
    Table,
)
from hardness.oracles.adversary import room
from hardness.oracles.means import listed, mean_of
from hardness.oracles.query import enumerate_mean
from hardness.runs import run
from hardness.runs.game import listed_spread, play
from hardness.runs.risk import losses, measure
from hardness.runs.spectrum import spectra
from hardness.upper import parse_learner
from instances import ToolkitError, parse
from instances.errors import Refuted
from instances.reduced import reduce
from instances.uniform import Uniform

WHOLE = ["identity", "corner", "gaussian"]


def spec(d, m, w0, **more):
    return parse(
        ",".join([f"parity_position:d={d},m={m},w0={w0}", *(f"{k}={v}" for k, v in more.items())])
    )


def made(g, d, w0):
    """Parities of g places, or the profile with the values g."""
    if isinstance(g, int):
        return spec(d, g, w0)
    return parse(f"profile_position:g=[{g}],d={d},m={g.count(',')},w0={w0}")


def cube(d):
    """All pairs of tokens of -1 and +1 with positions, by itertools alone."""
    rest = np.array(list(itertools.product((1, -1), repeat=2 * (d - 1))))
    x = np.empty((len(rest), 2, d), np.int8)
    x[:, 0, 0], x[:, 1, 0] = 1, -1
    x[:, 0, 1:], x[:, 1, 1:] = rest[:, : d - 1], rest[:, d - 1 :]
    return x


def by_hand(family, secret, x, sign=1.0):
    """The label of the docstring, from tokens alone."""
    chi = (sign * np.prod(x[:, 0, list(secret)] * x[:, 1, list(secret)], axis=1))[:, None]
    first, second = x[:, 0].astype(float), x[:, 1].astype(float)
    a = float(family.known_constant)
    known, apart = a / 2 * (first + second), chi / 2 * (first - second)
    return np.stack([known + apart, known - apart], axis=1) @ family.matrix


@pytest.mark.parametrize("w0", WHOLE)
@pytest.mark.parametrize("g", [1, 2, 3, "1,1,-1,-1", "3,0,3", "2,1,-1,-2"])
def test_correlations_over_the_whole_cube_are_those_without_the_matrix(g, w0):
    """Weighted by |(x_1 - x_2) W_0|^2, members of odd and even profiles correlate as on z alone."""
    family, x = made(g, 6, w0), cube(6)
    apart = np.array([family.label(s, x) - family.known(x) for s in family.members()])
    rows = np.einsum("inlc,jnlc->lij", apart, apart) / len(x)
    z = np.array(list(itertools.product((1, -1), repeat=5)))
    h = np.array([(z[:, np.array(s) - 1] < 0).sum(axis=1) for s in family.members()])
    factor = np.array([float(v) for v in family.values])[h]
    factor -= 0 if family.name == "parity_position" else factor.mean(axis=0)
    norm = ((family.matrix**2).sum() + (family.matrix[0] ** 2).sum()) / 2
    wanted = factor @ factor.T / len(z)
    for gram in rows:
        assert np.abs(gram - norm * wanted).max() <= 1e-13 * norm * 10
    assert family.power == pytest.approx(2 * norm, rel=1e-14)
    assert family.trivial_risk == pytest.approx(2 * norm * np.diag(wanted).mean(), rel=1e-12)
    assert family.size == len(apart)


def test_what_is_stored_is_what_is_drawn_and_positions_are_kept():
    family = spec(9, 3, "gaussian", noise="0.2")
    drawn = family.instance(1).examples(0, 400)
    assert (drawn.x[:, 0, 0] == 1).all()
    assert (drawn.x[:, 1, 0] == -1).all()
    assert (Uniform(family=family, seed=0).examples(0, 50).x[:, :, 0] == (1, -1)).all()
    assert len(reduce(drawn)) == 400
    flipped = drawn.codes != family.codes(
        family.instance(1).hidden.secret, drawn.words, np.zeros(400, bool)
    )
    assert 40 < flipped.sum() < 120
    signs = np.where(flipped, -1.0, 1.0)
    wanted = by_hand(family, family.instance(1).hidden.secret, drawn.x, signs)
    assert np.abs(drawn.y - wanted).max() < 1e-12
    assert np.abs(family.factor_of(drawn.x, drawn.y) - family.factors[drawn.codes]).max() < 1e-12
    moved = drawn.words.copy()
    moved[3, 1, 0] ^= np.uint64(1)
    with pytest.raises(ValueError, match="public coordinates"):
        family.restore({"words": moved, "codes": drawn.codes}, 400)


def queries(family):
    """One query of each kind; the last two see raw tokens and labels."""
    d, rng = family.d, np.random.default_rng(0)
    table = np.sign(rng.normal(size=(2, 1 << d - 1)))
    h = rng.normal(size=(2, d)) / 400
    return {
        "character": Character(subset=(1, 3)),
        "public": Character(subset=(0, 1, 3)),
        "pool": Pool(sets=((1, 3), (1, 2), (2, 4))),
        "factor": Factor(phi=lambda z, s: (0.5 + 0.5 * s) * z[:, 1] * z[:, 3], d=d),
        "table": Table(family=family, table=table),
        "correlational": Correlational(h=lambda x: x[:, :1, 1:2] * x[:, 1:, 3:4] * h),
        "raw": Query(phi=lambda x, y: np.sign(y[:, 0, 1] + 0.1 * x[:, 1, 2]) * x[:, 0, 3]),
    }


@pytest.mark.parametrize(
    "kind", ["character", "public", "pool", "factor", "table", "correlational", "raw"]
)
@pytest.mark.parametrize("w0", ["identity", "gaussian"])
def test_exact_means_are_those_of_the_whole_cube(kind, w0):
    family = spec(5, 2, w0, noise="0.1")
    query, secret, x = queries(family)[kind], (1, 3), cube(5)
    eta = float(family.noise)
    clean = np.prod(x[:, 0, list(secret)] * x[:, 1, list(secret)], axis=1)
    z = x[:, 0] * x[:, 1]
    wanted = 0.0
    for sign, chance in ((1, 1 - eta), (-1, eta)):
        y = by_hand(family, secret, x, sign)
        if kind in ("character", "public"):
            values = sign * clean * np.prod(z[:, list(query.subset)], axis=1)
        elif kind == "pool":
            total = sum(np.prod(z[:, list(s)], axis=1) for s in query.sets)
            values = sign * clean * np.sign(total)
        elif kind == "factor":
            values = query.phi(z, sign * clean)
        elif kind == "table":
            place = (z[:, 1:] < 0) @ (1 << np.arange(4))
            values = query.table[(sign * clean < 0).astype(int), place]
        elif kind == "correlational":
            values = (y * query.h(x)).sum(axis=(1, 2))
        else:
            values = query.phi(x, y)
        wanted += chance * values.mean()
    assert enumerate_mean(query, family, secret) == pytest.approx(wanted, abs=1e-12)
    members = listed(family)
    assert members.of(query)[members.secrets.index(secret)] == pytest.approx(wanted, abs=1e-12)
    if kind not in ("correlational", "raw"):
        assert mean_of(family, query, secret) == pytest.approx(wanted, abs=1e-12)
    if kind == "character":
        assert wanted == pytest.approx(1 - 2 * eta)  # a parity in half of the examples: half of it


def test_a_query_moves_the_members_by_up_to_1_in_squares_and_no_more():
    family, twin = spec(6, 2, "gaussian"), parse("parity:d=6,m=2")
    assert room(family, Fraction(1)) == 1
    assert room(twin, Fraction(1)) == Fraction(1, 4)
    assert room(spec(6, 2, "corner", noise="0.1"), Fraction(1)) == Fraction(16, 25)
    members = listed(family)
    one = members.of(Character(subset=(1, 2)))
    assert np.sort(np.abs(one)).tolist() == [0.0] * (family.size - 1) + [1.0]
    rng = np.random.default_rng(1)
    for _ in range(20):
        table = Table(family=family, table=rng.uniform(-1, 1, (2, 32)))
        coin = table.table.mean()
        assert ((members.of(table) - coin) ** 2).sum() <= 1 + 1e-12
    assert listed_spread(family) is None  # which the certificate knows
    with pytest.raises(Refuted, match="Bessel"):  # half of the room is refused by what is there
        ReferenceAdversary(family, Fraction(1, 10), Meter(Budget()), Fraction(1, 4)).ask(
            Character(subset=(1, 2))
        )


def test_the_certificate_and_the_game_agree_on_what_a_query_rules_out():
    family = spec(12, 4, "corner")
    at = certify(family).value("stat-queries")
    game = play(parse_learner("queries"), family, Budget(queries=20), seed=0)
    half = play(parse_learner("queries"), parse("parity:d=12,m=4"), Budget(queries=20), seed=0)
    # With success 1 and risk 0: ceil((N - 1) / floor(1/tau^2)), and a quarter of that cap in half.
    assert game.certified == -(-(330 - 1) // 100)
    assert half.certified == -(-(330 - 1) // 25)
    assert int(at) == -(-(2 * 330 - 3) // 300)


@pytest.mark.parametrize("w0", WHOLE)
def test_risks_are_relative_and_within_their_bounds(w0):
    instance = spec(6, 3, w0, noise="0.1").instance(0)
    family, secret = instance.family, instance.hidden.secret
    x = cube(6)
    target, known = family.mean(secret, x), family.known(x)
    scale = ((target - known) ** 2).sum(axis=(1, 2))
    assert scale.mean() == pytest.approx(family.trivial_risk, rel=1e-12)
    worst = family.clip(x, 2 * known - 9 * target)  # beyond the other end of the segment
    assert np.abs(worst - (2 * known - target)).max() < 1e-12 * np.abs(target).max() * 10
    loss = ((worst - target) ** 2).sum(axis=(1, 2)) / family.trivial_risk
    assert loss.mean() == pytest.approx(4)
    assert loss.max() <= family.risk_bound * (1 + 1e-12)
    found = measure(instance, family.known)
    assert found.low < 1 < found.high
    assert found.high - found.low < 0.2
    assert measure(instance, lambda x: family.mean(secret, x)).high < 0.05
    drawn = instance.examples(0, 500)
    assert losses(instance, drawn, family.mean(secret, drawn.x)).risk < 1e-30
    # A prediction off the segment by a part that no factor makes is no worse for it.
    rng = np.random.default_rng(0)
    off = family.clip(x, target + 100 * rng.normal(size=(1, 1, 6)))
    assert np.abs(off - target).max() < 1e-9 or w0 == "corner"


def test_learners_solve_it_with_every_example():
    family = spec(16, 3, "gaussian")
    found = run(parse_learner("elimination"), family.instance(0), Budget())
    assert found.secret_recovered
    assert found.usage.examples <= 15 + 32 + 20
    twin = run(parse_learner("elimination"), parse("parity:d=16,m=3").instance(0), Budget())
    assert twin.usage.examples > 1.5 * found.usage.examples
    small = spec(8, 2, "gaussian")
    for name in ("queries", "pooled", "lowdegree:degree=2", "restricted"):
        found = run(parse_learner(name), small.instance(0), Budget())
        assert found.risk.high < 0.1, name
    shown = spectra(small.instance(0), parse_learner("lowdegree:degree=2"))
    assert shown.attempt.learned.correlation == pytest.approx(1, abs=1e-6)
    assert shown.target.weights[2] == pytest.approx(1)


def test_what_counts_half_open_examples_refuses_it():
    from hardness.runs.parity_curves import require_noisy

    with pytest.raises(ToolkitError, match="every other one"):
        require_noisy(spec(20, 3, "corner", noise="0.1"))
