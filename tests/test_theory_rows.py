"""Rows on which heads agree, and bodies: predictions against programs of their own, and faults."""

import itertools
from math import comb, pi, sqrt

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.optimize import linprog

from hardness.theory import bodies, find, rows, statement

RNG, LAYERS = np.random.default_rng, rows.layers


def short(monkeypatch, name, *settings, **changes):
    """A statement at small settings, with few layers of few examples."""
    monkeypatch.setattr(rows, "layers", lambda spec, seed, _, n: LAYERS(spec, seed, 6, n // 4))
    monkeypatch.setattr(bodies, "_BODIES", 4)
    for one in (rows._apart, rows._ratios, rows._sure):
        one.cache_clear()
    return replace(statement(name), settings=settings, **changes)


def test_the_rate_of_lucky_rows_is_the_density_at_zero_over_random_tokens():
    rng, epsilon, scale, d = RNG(0), 0.01, 2.0, 10
    for m, k in ((2, 2), (3, 2), (2, 3), (3, 3)):
        x = rng.standard_normal((100_000, k, d))
        apart = x[:, 1:] - x[:, :1]
        own = np.sum(x[:, 0] ** 2, axis=1) * scale**2 / d**2
        gram = own[:, None, None] * apart @ apart.swapaxes(1, 2)
        heads = np.eye(m - 1) + 1
        q = (m - 1) * (k - 1)
        density = np.linalg.det(heads) ** (-(k - 1) / 2) * np.linalg.det(gram) ** (-(m - 1) / 2)
        brute = np.mean(density) * (2 * pi) ** (-q / 2) * (2 * epsilon) ** q
        assert rows.gaussian_rate(m, k, d, scale, epsilon) == pytest.approx(brute, rel=0.05)


def test_the_rate_on_signs_is_that_of_all_pairs_of_tokens_over_random_heads():
    rng, d, m, scale = RNG(1), 3, 3, 2.0
    cube = np.array(list(itertools.product((-1.0, 1.0), repeat=d)))
    theta = rng.standard_normal((4000, m, d, d))
    theta *= scale / np.sqrt(np.sum(theta**2, axis=(2, 3), keepdims=True))
    logits = np.einsum("ad,nmde,be->nmab", cube, theta, cube)
    logits -= np.einsum("nmaa->nma", logits)[..., None]
    most = np.abs(logits[:, 1:] - logits[:, :1]).max(axis=1)
    for epsilon in (0.001, 0.1, 1.0):
        shares = np.mean(most <= epsilon, axis=(1, 2))
        error = 4 * shares.std() / sqrt(len(shares)) + 1e-3 * shares.mean()
        assert abs(rows.boolean_rate(m, d, scale, epsilon) - shares.mean()) < error
    assert rows.boolean_rate(m, d, scale, 1e-9) == pytest.approx(0.5**d)  # tokens coincide


def test_lucky_rows_are_counted_and_a_wrong_rate_or_count_is_refused(monkeypatch):
    at = [{"layer": f"nice:m=2,k=2,d=9{law}", "epsilon": 0.3} for law in ("", ",tokens=gaussian")]
    assert find(short(monkeypatch, "lucky-rows", *at)).verdict != "fails"
    for wrong in (2.0, 0.5):
        bad = replace(
            short(monkeypatch, "lucky-rows", *at),
            predict=lambda wrong=wrong, **one: rows.equal(
                wrong * (rows._predict_lucky(**one).high or 0)
            ),
        )
        assert find(bad).verdict == "fails"
    bound = find(short(monkeypatch, "lucky-bound", at[1]))
    assert bound.points[0].factor == pytest.approx(sqrt(2), rel=0.2)
    monkeypatch.setattr(rows, "scores", lambda theta, x: np.zeros((len(theta), 2, 2, x.shape[2])))
    assert find(short(monkeypatch, "lucky-rows", *at)).verdict == "fails"


def test_residuals_follow_their_law_by_another_program():
    rng, d, k, m, n = RNG(2), 12, 3, 2, 400
    found = []
    for _ in range(40):
        w = rng.standard_normal((m, d, d)) / sqrt(d)
        for _ in range(n // 40):
            x, p = rng.standard_normal((k, d)), rng.dirichlet(np.ones(k), size=m)
            left = sum(p[i] @ x @ w[i] for i in range(m)) - x.mean(axis=0) @ w.sum(axis=0)
            z = (x - x.mean(axis=0)) @ w.sum(axis=0)
            residual = left - z[:-1].T @ np.linalg.lstsq(z[:-1].T, left, rcond=None)[0]
            apart = sum(np.sum(((p[i] - p.mean(axis=0)) @ x) ** 2) for i in range(m))
            found.append(np.sum(residual**2) / apart)
    assert np.mean(found) == pytest.approx((d - k + 1) / d, abs=0.08)
    for ratio in (0.8, 1.0):
        at = rows._predict_residual(f"nice:m={m},k={k},d={d}", ratio)
        assert at.low - 0.08 < np.mean(np.sqrt(found) <= ratio) < at.high + 0.08
    assert rows._predict_residual("nice:m=2,k=5,d=4", 0.1).low == 1  # nothing is certified


def test_the_precision_of_a_certificate_is_that_of_its_model_drawn():
    rng, d, scale, n = RNG(3), 12, 2.0, 1_000_000
    apart = rng.binomial(d, 0.5, n)
    logits = rng.standard_normal((2, n)) * scale * np.sqrt(4 * apart / d)
    p = 1 / (1 + np.exp(-logits))
    slope = np.mean(8 * p[0] * (1 - p[0]) * apart / d)
    length = (d - apart + apart * (p.sum(axis=0) - 1) ** 2) / d
    gap = np.abs(p[0] - p[1])
    square = 2 * apart / d * gap**2 + length * (slope * scale) ** 2 / (2 * d)
    best = np.argsort(square * rng.chisquare(d - 1, n))[: n // 1000]
    drawn = np.mean(gap[best] <= 0.05)
    assert rows.precision(d, scale, True) == pytest.approx(drawn, abs=0.05)
    assert rows.precision(d, scale, False) == pytest.approx(1)


def test_a_certificate_is_right_with_the_true_sum_and_wrong_with_a_crude_one(monkeypatch):
    at = [{"sum_of_w": w, "d": 10} for w in ("true", "stage 1")]
    found = find(short(monkeypatch, "certificate", *at))
    assert found.verdict == "agrees, fails outside its conditions"
    assert found.points[0].measured.value == 1 > found.points[1].measured.value
    monkeypatch.setattr(rows, "smallest", lambda r, count: np.divmod(np.arange(count), r.shape[1]))
    assert find(short(monkeypatch, "certificate", *at)).verdict == "fails"  # rows as they come


def test_margins_of_heads_beside_a_proxys_are_those_of_normal_numbers(monkeypatch):
    rng, d, scale = RNG(4), 400, 2.0  # so large that the tokens differ in half of the entries
    for m, near, taken in ((2, 0.0, 0.03), (3, 0.5, 0.01)):
        z = sqrt(1 - near) * rng.standard_normal((m, 500_000))
        z = (z + sqrt(near) * rng.standard_normal(500_000)) * scale * sqrt(2)
        best = np.argsort(-np.abs(z.mean(axis=0)))[: int(taken * z.shape[1])]
        drawn = np.mean((np.sign(z.mean(axis=0)) * z).min(axis=0)[best] >= np.log(19))
        assert rows.proxy_share(m, d, scale, near, taken)[0] == pytest.approx(drawn, abs=0.02)
    at = {"layer": "nice:m=3,k=2,d=9,coherence=0", "taken": 0.03}
    assert find(short(monkeypatch, "proxy-share", at)).verdict != "fails"
    assert find(short(monkeypatch, "proxy-margin", at)).verdict == "outside its conditions"


def test_patterns_of_one_winner_differ_by_e_to_the_margin():
    found = find(replace(statement("margin-pattern"), settings=[{"k": 2, "margin": 98.0}]))
    assert found.points[0].measured.value == pytest.approx(np.exp(-98), rel=1e-12)
    assert found.verdict == "agrees"


def test_constraints_leave_the_hull_and_nothing_else(monkeypatch):
    at = [{"layer": "nice:m=3,k=2,d=5", "rows": n} for n in (7, 22, 23, 40)]
    found = find(short(monkeypatch, "body-dimension", *at))
    assert [one.measured.value for one in found.points] == [18, 3, 2, 2]
    assert found.verdict == "agrees"
    theta = RNG(5).standard_normal((3, 5, 5))
    u = bodies.agreeing(theta, 30, 3, 0.0, RNG(6))
    for i in (1, 2):
        assert np.abs(u @ (theta[i] - theta[0]).ravel()).max() < 1e-10
    drawn = bodies.agreeing
    monkeypatch.setattr(bodies, "agreeing", lambda *a: drawn(*a[:3], 0.1, a[4]))
    assert find(short(monkeypatch, "body-dimension", *at)).verdict == "fails"


def test_the_width_of_a_body_is_the_least_sum_of_multipliers(monkeypatch):
    rng, n = RNG(7), 49
    monkeypatch.setattr(bodies, "_lengths", lambda d: np.ones(1))
    for times in (2, 6):
        found = []
        for _ in range(6):
            u, g = rng.standard_normal((times * n, n)), rng.standard_normal(n)
            both = np.hstack([u.T, -u.T])
            found.append(linprog(np.ones(2 * times * n), A_eq=both, b_eq=g / np.linalg.norm(g)).fun)
        wanted = bodies.half_width(7, times) / sqrt(2 / 3)
        assert np.mean(found) == pytest.approx(wanted, rel=0.1)


def test_spans_turn_by_chance_as_least_squares_say_and_further_by_an_adversary(monkeypatch):
    rng, n, times = RNG(8), 64, 4
    monkeypatch.setattr(bodies, "_lengths", lambda d: np.ones(1))
    u = rng.standard_normal((times * n, n))
    wanted = sqrt(np.trace(np.linalg.inv(u.T @ u)) * 2 / 3 / 3)
    assert bodies.span_tangent(8, times, False) == pytest.approx(wanted, rel=0.1)
    monkeypatch.undo()
    at = [{"layer": "nice:m=2,k=2,d=5", "noise": n, "rows": 3} for n in ("random", "adversary")]
    at.append({"layer": "nice:m=2,k=2,d=5", "noise": "cube", "rows": 1})
    found = find(short(monkeypatch, "span-unclear", *at))
    assert found.verdict == "agrees at 2 of 3"  # four layers cannot tell what chance does
    chance, adversary, cube = (one.measured.value for one in found.points)
    assert 2 * chance < adversary < cube == pytest.approx(0.1 * sqrt(24))
    monkeypatch.setattr(bodies, "extract", lambda body, count, rng: (np.eye(25)[:1], np.ones(1)))
    assert find(short(monkeypatch, "span-unclear", *at)).verdict == "fails"


def test_nets_have_the_tuples_and_the_error_predicted(monkeypatch):
    for m, steps in ((2, 6), (3, 5), (4, 3)):
        every = itertools.product(range(-steps, steps + 1), repeat=m - 1)
        points = sum(sum(i * i for i in one) <= steps**2 for one in every)
        assert bodies._tuples(m, steps, 0).value == comb(points, m)
        predicted = bodies._predict_tuples(m, steps)
        assert predicted.low <= comb(points, m) <= predicted.high
    at = [{"layer": "nice:m=2,k=2,d=5", "steps": n} for n in (5, 20)]
    found = find(short(monkeypatch, "net-error", *at))
    assert found.verdict.startswith("looser by")
    assert found.points[1].measured.value < found.points[0].measured.value / 4
