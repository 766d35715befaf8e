"""How many heads a cubic map needs, and what of them can be told."""

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.runs import run
from hardness.upper import parse_learner
from hardness.upper.heads import descend, generic_heads, heads, told
from instances import UsageError, parse
from instances.cubic import coefficients
from instances.streams import generator


def planted(m, d, seed=0):
    return generator(seed, "planted", m).standard_normal((2, m, d, d))


FEW = [(1, 4), (2, 4), (3, 5), (4, 6)]  # heads and d; of d=2 boolean tokens tell too little


@pytest.mark.parametrize(
    ("m", "d", "boolean"), [(1, 2, False), *(FEW[i] + (i % 2 > 0,) for i in range(4))]
)
def test_the_elbow_is_sharp_where_heads_are_few(m, d, boolean):
    found = heads(coefficients(*planted(m, d)), m + 1, boolean=boolean)
    assert found.elbow == m
    assert found.residuals[-2] > 1e-3 > 1e-10 > found.residuals[-1]
    assert found.drop > 1e6
    assert len(found.residuals) == m + 1
    assert all(a >= b for a, b in zip(found.residuals, found.residuals[1:], strict=False))


def test_singular_values_do_not_count_heads():
    d, m = 5, 2
    theta, w = planted(m, d)
    plain = np.einsum("ipj,ilc->pjlc", theta, w).reshape(d * d, d * d)
    assert np.linalg.matrix_rank(plain) == m
    symmetric = coefficients(theta, w).reshape(d * d, d * d)
    assert np.linalg.matrix_rank(symmetric) == d * d
    assert heads(coefficients(theta, w), 3).elbow == m


def test_a_fit_is_a_layer_with_the_same_outputs():
    target = coefficients(*planted(2, 4))
    found = descend(target, generator(1, "start").standard_normal((2, 4, 4)), 500)
    assert found.left < 1e-10 * (target**2).sum()
    assert np.abs(coefficients(found.theta, found.w) - target).max() < 1e-4


def test_what_boolean_tokens_tell_is_all_that_is_compared():
    layer = planted(2, 3)
    x = generator(0, "x").choice([-1.0, 1.0], (20, 2, 3))
    from instances.cubic import evaluate

    cubic = coefficients(*layer)
    assert np.allclose(evaluate(told(cubic, True), x), evaluate(cubic, x))
    assert not np.allclose(told(cubic, True), cubic)
    assert told(cubic, False) is cubic


@pytest.mark.parametrize("d", [2, 3])
def test_beyond_the_generic_number_heads_are_not_counted(d):
    most = generic_heads(d)
    found = heads(coefficients(*planted(3 * most, d)), most + 1)
    assert found.elbow is not None
    assert found.elbow <= most + 1 < 3 * most
    assert found.residuals[most - 1] > 1e-9  # by counting, fewer cannot fit
    assert [generic_heads(n, boolean=True) for n in (2, 3, 4, 6)] == [2, 3, 4, 10]


def test_noise_moves_the_floor_and_not_the_elbow():
    for noise in (0.5, 1):
        spec = f"linear:m=3,k=3,d=5,noise={noise}"
        learner = parse_learner("lifted:heads=5,oversample=40")
        found = run(learner, parse(spec).instance(0), Budget())
        count = found.details["head_count"]
        assert count["elbow"] == 3
        assert 1e-5 < count["floor"] < 0.05
        assert count["residuals"][3] < 2 * count["floor"] < count["residuals"][2]
        assert "noise leaves" in run_words(found)


def test_words_say_what_cannot_be_told():
    found = run(parse_learner("lifted:heads=4"), parse("linear:m=2,k=2,d=4").instance(0), Budget())
    said = " ".join(run_words(found).split())
    assert "2 are enough" in said
    assert "cannot be told" in said
    many = run(parse_learner("lifted:heads=2"), parse("linear:m=9,k=2,d=5").instance(0), Budget())
    assert "no elbow up to 2 heads" in run_words(many)


def test_other_tensors_are_refused():
    for bad in (np.zeros((3, 3, 3)), np.zeros((2, 3, 3, 2))):
        with pytest.raises(UsageError, match="is needed"):
            heads(bad, 2)
    with pytest.raises(UsageError, match="symmetric"):
        heads(generator(0, "x").standard_normal((2, 2, 2, 2)), 2)
    with pytest.raises(UsageError, match="not finite"):
        heads(np.full((2, 2, 2, 2), np.nan), 2)
    for most, starts in ((0, 1), (1, 0)):
        with pytest.raises(UsageError, match="at least 1"):
            heads(np.zeros((2, 2, 2, 2)), most, starts=starts)
