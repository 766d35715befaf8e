"""Least squares on the features of linear attention, against brute force and its laws."""

import itertools

import numpy as np
import pytest

from hardness.learners import Outcome
from hardness.learners.lifted import Cubic, FirstOrder, LeastSquares, tensor
from hardness.report.run import run_words
from instances import AttentionLayer, parse
from instances.cubic import coefficients, evaluate, power
from instances.streams import generator
from tests.conftest import learn

SMALL = [(2, 1), (2, 2), (2, 3), (3, 3), (5, 2), (2, 4), (4, 3), (5, 4)]


def tokens(kind, n, k, d, seed=0):
    rng = generator(seed, "test", kind)
    if kind == "gaussian":
        return rng.standard_normal((n, k, d))
    if k * d <= 12:
        return np.array(list(itertools.product([-1.0, 1.0], repeat=k * d))).reshape(-1, k, d)
    return rng.choice([-1.0, 1.0], (n, k, d))


def planted(m, d, seed=0, kind="linear"):
    theta, w = generator(seed, "planted", m).standard_normal((2, m, d, d))
    return AttentionLayer(theta=theta, w=w, kind=kind)


def solved(features, x, y, cut=10**9):
    sums = LeastSquares(features=features.count, labels=x.shape[2])
    for start in range(0, len(x), cut):
        part = slice(start, start + cut)
        rows = features(x[part]).reshape(-1, features.count)
        sums.add(rows, y[part].reshape(-1, x.shape[2]))
    return sums.solve()


@pytest.mark.parametrize("make", [Cubic, FirstOrder])
def test_ranks_and_examples_are_those_of_all_rows(make):
    for kind, (k, d) in itertools.product(("gaussian", "boolean"), SMALL):
        features = make(k=k, d=d)
        rows = features(tokens(kind, 4 * features.count, k, d))
        rank = np.linalg.matrix_rank(rows.reshape(-1, features.count))
        assert rank == features.rank(kind == "boolean"), (kind, k, d)
        if kind == "gaussian":
            few = features.examples(False)
            before, then = (
                np.linalg.matrix_rank(rows[:n].reshape(-1, features.count)) for n in (few - 1, few)
            )
            assert before < features.count == then, (k, d)


def test_the_cubic_map_is_isometric_and_a_layer_is_linear_in_it():
    x = tokens("gaussian", 6, 3, 4)
    features = Cubic(k=3, d=4)
    rows, gram = features(x).reshape(18, -1), x.transpose(0, 2, 1) @ x
    full = np.einsum("nkp,nij->nkpij", x, gram).reshape(18, -1)
    assert np.allclose(rows @ rows.T, full @ full.T)
    layer, some = planted(5, 4), generator(0, "solution").standard_normal((features.count, 4))
    assert np.allclose(features.predict(some, x), features(x) @ some)
    assert np.allclose(evaluate(tensor(some), x), features(x) @ some)
    assert np.isclose((tensor(some) ** 2).sum(), (some**2).sum())
    fit = solved(features, tokens("gaussian", 40, 3, 4, 1), layer(tokens("gaussian", 40, 3, 4, 1)))
    assert np.allclose(tensor(fit.solution), coefficients(layer.theta, layer.w), atol=1e-11)


def test_softmax_is_linear_in_its_features_to_first_order():
    x, features = tokens("gaussian", 200, 3, 4), FirstOrder(k=3, d=4)
    some = generator(0, "solution").standard_normal((features.count, 4))
    assert np.allclose(features.predict(some, x), features(x) @ some)
    left = []
    for size in (1e-2, 1e-3):
        layer = planted(2, 4)
        small = AttentionLayer(theta=layer.theta * size, w=layer.w)
        left.append(solved(features, x, small(x)).unexplained)
    assert left[1] == pytest.approx(left[0] * 1e-4, rel=0.1)  # the residual is of second order


@pytest.mark.parametrize("kind", ["gaussian", "boolean"])
@pytest.mark.parametrize("n", [3, 12, 40, 400])
def test_solutions_equal_numpys_from_too_few_examples_to_many(kind, n):
    features, x = Cubic(k=2, d=4), tokens(kind, n, 2, 4)[:n]
    y = planted(3, 4)(x) + generator(0, "noise").standard_normal(x.shape)
    fit = solved(features, x, y)
    rows, labels = features(x).reshape(-1, features.count), y.reshape(-1, 4)
    wanted, _, rank, _ = np.linalg.lstsq(rows, labels)
    assert fit.rank == rank
    assert fit.rows == 2 * len(x)
    assert np.allclose(fit.solution, wanted, atol=1e-10)
    assert np.allclose(fit.residual, ((rows @ wanted - labels) ** 2).sum(axis=0), atol=1e-9)
    assert np.allclose(fit.total, (labels**2).sum(axis=0))
    if fit.rows <= fit.rank:
        assert fit.unexplained is None


def test_the_cut_of_the_stream_changes_nothing():
    features, x = Cubic(k=3, d=4), tokens("gaussian", 700, 3, 4)
    whole, *cut = (solved(features, x, planted(2, 4)(x), size) for size in (10**9, 1, 13, 512))
    for fit in cut:
        np.testing.assert_allclose(fit.solution, whole.solution, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "spec", ["linear:m=1,k=2,d=3", "linear:m=4,k=3,d=5", "linear:m=20,k=4,d=8"]
)
def test_linear_attention_is_exact_from_its_features_on(spec):
    found = learn("lifted", spec)
    assert found.outcome is Outcome.SOLVED
    assert found.risk < 1e-20
    details = found.details
    assert details["rank"] == details["expected_rank"] == details["features"]
    assert details["unexplained"] < 1e-20
    assert details["examples_needed"] <= found.examples <= 1.3 * details["examples_needed"]


def test_one_example_less_than_needed_is_told_apart():
    spec = "linear:m=3,k=2,d=4"
    needed = learn("lifted", spec).details["examples_needed"]
    short = learn("lifted", spec, examples=needed - 1)
    assert short.outcome is Outcome.EXAMPLES_SPENT
    assert short.risk > 1e-3
    assert f"{needed - 1} examples given, {needed} needed at least" in run_words(short)
    assert "not known" in run_words(short)
    enough = learn("lifted", spec, examples=needed)
    assert enough.outcome is Outcome.SOLVED  # with its last example it has all it can use
    assert enough.risk < 1e-15


@pytest.mark.parametrize("d", [2, 3, 5])
def test_on_boolean_tokens_the_function_is_found_and_the_coefficients_are_not(d):
    spec = f"linear:m=4,k=2,d={d},tokens=boolean"
    found = learn("lifted", spec)
    assert found.risk < 1e-20
    assert found.details["rank"] == d * (d * (d - 1) // 2 + 1) < found.details["features"]
    instance = parse(spec).instance(0)
    layer, drawn = instance.layer(), instance.examples(0, 200)
    fit = solved(Cubic(k=2, d=d), drawn.x, drawn.y)
    off = tensor(fit.solution) - coefficients(layer.theta, layer.w)
    assert (off**2).sum() > 0.01 * (coefficients(layer.theta, layer.w) ** 2).sum()
    assert power(off, 2, "boolean") < 1e-20 * power(tensor(fit.solution), 2, "boolean")


def test_noise_costs_what_the_law_says_and_what_is_due_is_drawn():
    features = Cubic(k=3, d=4)
    rows, excess = 200 * features.count, []
    for seed in range(8):
        x = tokens("gaussian", rows // 3 + 1, 3, 4, seed)
        layer = planted(2, 4, seed)
        fit = solved(features, x, layer(x) + generator(seed, "noise").standard_normal(x.shape))
        off = tensor(fit.solution) - coefficients(layer.theta, layer.w)
        excess.append(power(off, 3, "gaussian") / 12)
    assert np.mean(excess) * rows / features.count == pytest.approx(1, abs=0.12)
    found = learn("lifted", "linear:m=2,k=3,d=4,noise=2")
    assert 0.003 < found.risk < 0.03
    assert found.examples > 2 * found.details["examples_needed"]


def test_softmax_layers_are_learned_while_their_logits_are_small():
    risks = [learn("lifted", f"nice:scale={at},m=2,k=3,d=5").risk for at in (0.03, 0.3, 3)]
    assert risks[0] < 1e-5 < risks[1] < 0.02 < 0.05 < risks[2]
    parity = learn("lifted", "parity:d=9,m=3")
    assert parity.outcome is Outcome.LEARNED_NOTHING


def test_the_error_in_closed_form_is_that_on_fresh_tokens():
    family = parse("linear:m=2,k=3,d=3")
    instance = family.instance(0)
    drawn, fresh = instance.examples(0, 4), instance.examples(0, 200_000, axis="fresh")
    fit = solved(Cubic(k=3, d=3), drawn.x, drawn.y)
    truth = coefficients(instance.layer().theta, instance.layer().w)
    size = power(truth, 3, "gaussian")
    error = power(tensor(fit.solution) - truth, 3, "gaussian") / size
    off = ((Cubic(k=3, d=3).predict(fit.solution, fresh.x) - fresh.y) ** 2).sum()
    assert off / (fresh.y**2).sum() == pytest.approx(error, rel=0.05)
