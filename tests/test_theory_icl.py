"""In-context statements: predictions against programs that share no code with them."""

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.theory import Predicted, find, icl, statement
from hardness.theory.statement import exactly


def small(name, *settings):
    return replace(statement(name), settings=settings)


def test_readouts_of_trained_layers_are_steps_of_descent_on_raw_prompts_by_numpy():
    n, d, layers = 8, 2, 2
    found, _ = icl._best(n, d, layers, "q", 0)
    rng = np.random.default_rng(3)
    x, w, new = rng.normal(size=(500, n, d)), rng.normal(size=(500, d)), rng.normal(size=(500, d))
    y = np.einsum("cni,ci->cn", x, w)
    guess, told = np.zeros((500, d)), np.zeros(500)
    labels, query = y.copy(), np.zeros(500)  # the readout of a layer is minus the query's label
    for q in found.q:
        step = np.trace(q) / d
        guess = guess + step * np.einsum("cni,cn->ci", x, y - np.einsum("cni,ci->cn", x, guess)) / n
        told = (guess * new).sum(axis=1)
        pull = np.einsum("cn,cni->ci", labels, x) / n @ q
        labels, query = labels - np.einsum("cni,ci->cn", x, pull), query - (pull * new).sum(axis=1)
        assert -query == pytest.approx(told, abs=1e-6)
    one = small("layer-by-layer", {"d": d, "n": n, "layers": layers, "readout": 1})
    assert find(one).verdict == "agrees"
    taken = sorted(np.trace(q) / d for q in found.q)
    assert taken == pytest.approx(sorted(1 / roots(n, d)), rel=1e-6)


def roots(n, d):
    """Give the roots of the best residual of two steps, from the moments of Wishart matrices."""
    m = [1, 1, (n + d + 1) / n]  # m_1, m_2, then by Isserlis
    m += [(n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4) / n**2]
    m += [
        (n**3 + d**3 + 6 * n**2 * d + 6 * n * d**2 + 6 * n**2 + 6 * d**2 + 17 * n * d) / n**3
        + (21 * n + 21 * d + 20) / n**3
    ]
    weigh = np.array([[m[1], m[2]], [m[2], m[3]]])  # orthogonal to 1 and t for t dmu
    b = np.linalg.solve(weigh, [-m[3], -m[4]])
    return np.roots([1, b[1], b[0]])


def test_other_lines_at_small_sizes_agree_and_fail_where_they_are_broken():
    for name, at in (
        ("looped", {"d": 2, "n": 7, "layers": 2}),
        ("depth-condition", {"kappa": 9, "way": "Chebyshev"}),
        ("depth-condition", {"kappa": 9, "way": "one step size"}),
        ("degree", {"layers": 2, "free": "both"}),
        ("sparsity", {"d": 1, "n": 4, "layers": 2, "entries": "row and column"}),
        ("gradient-flow", {"d": 1, "n": 9, "way": "flow", "start": "structured"}),
        ("layer-edge", {"d": 2, "n": 10, "layers": 1, "step": 20}),
    ):
        one = small(name, at)
        found = find(one)
        assert found.verdict == "agrees" or found.verdict.startswith("looser"), name
        seen = found.points[0].measured.value
        off = replace(one, measure=lambda seed, value=seen, **at: exactly(value * 3 + 1))
        assert find(off).verdict == "fails", name


def test_the_hessian_of_one_layer_is_its_closed_form_and_a_saddle_is_seen():
    d, n = 2, 9
    for order in ("rising", "falling"):
        at = {"d": d, "n": n, "layers": 1, "order": order}
        measured = icl._curvature(**at, seed=0)
        assert measured.value == pytest.approx(2 * (n + d + 1) / n)
    away = exactly(-0.1)
    assert find(replace(small("layer-hessian", at), measure=lambda **at: away)).verdict == "fails"


def test_the_corner_is_pulled_by_labels_as_sampled_prompts_say():
    n, layers = 4, 2
    scalars = icl.plusplus.best_scalars(n, 1, layers)
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(400_000, n)), rng.normal(size=400_000)
    new = rng.normal(size=400_000)

    def errors(corner):
        """Token by token, d = 1: corner is that of the first Q."""
        a, y, xq, yq = x.copy(), x * w[:, None], new.copy(), np.zeros(len(new))
        for layer, (p, q) in enumerate(zip(scalars.p, scalars.q, strict=True)):
            c = corner if layer == 0 else 0.0
            second, cross, size = (a * a).mean(axis=1), (a * y).mean(axis=1), (y * y).mean(axis=1)
            sides = [(a, y), (xq[:, None], yq[:, None])]
            moved = []
            for u, v in sides:
                on_x = second[:, None] * q * u + cross[:, None] * c * v
                on_y = cross[:, None] * q * u + size[:, None] * c * v
                moved.append((u - p * on_x, v - on_y))
            (a, y), (xq, yq) = moved[0], (moved[1][0][:, 0], moved[1][1][:, 0])
        return (yq + w * new) ** 2

    slopes = (errors(1e-4) - errors(-1e-4)) / 2e-4
    low, high = np.sort(slopes)[[400, -400]]
    calm = slopes[(slopes > low) & (slopes < high)]  # the tails are heavy: the sign is what is told
    assert abs(calm.mean()) > 5 * calm.std() / len(calm) ** 0.5
    one = small("sparsity", {"d": 1, "n": n, "layers": layers, "entries": "corner"})
    found = find(one)
    assert (found.verdict, found.telling.verdict) == ("outside its conditions", "fails")


def test_losses_of_attention_and_of_other_predictors_are_those_of_raw_prompts_by_numpy():
    n, d = 12, 2
    rng = np.random.default_rng(1)
    x, new = rng.normal(size=(30_000, n, d)), rng.normal(size=(30_000, d))
    w, phase = rng.normal(size=(30_000, d)) / 2, rng.uniform(0, 2 * np.pi, 30_000)
    y = 2**0.5 * np.cos(np.einsum("cni,ci->cn", x, w) + phase[:, None])
    target = 2**0.5 * np.cos((w * new).sum(axis=1) + phase)
    guess = np.einsum("cn,cni,ci->c", y, x, new) / n
    scale = (guess * target).mean() / (guess**2).mean()
    error = (scale * guess - target) ** 2
    at = {"d": d, "n": n, "task": "cosines", "attention": "linear"}
    close = 4 * error.std() / len(error) ** 0.5
    assert icl._predict_softmax(**at).low == pytest.approx(error.mean(), abs=close)
    assert find(small("softmax-nonlinear", at)).verdict == "agrees"
    w = rng.normal(size=(30_000, d))
    y = np.einsum("cni,ci->cn", x, w) + 0.5 * rng.normal(size=(30_000, n))
    second, right = x.swapaxes(1, 2) @ x, np.einsum("cn,cni->ci", y, x)
    for name, penalty in (("least squares", 0.0), ("ridge", 0.25)):
        found = np.linalg.solve(second + penalty * np.eye(d), right[..., None])[..., 0]
        error = ((found - w) ** 2).sum(axis=1)
        said = icl._predict_examples(d=d, n=n, predictor=name)
        assert said.low == pytest.approx(error.mean(), abs=4 * error.std() / len(error) ** 0.5)
        assert (
            find(small("examples-curve", {"d": d, "n": n, "predictor": name})).verdict == "agrees"
        )
    at = {"d": d, "n": n, "predictor": "ridge"}
    assert (
        find(
            replace(small("examples-curve", at), predict=lambda **at: Predicted(high=0.01))
        ).verdict
        == "fails"
    )


def test_the_edge_is_where_a_heavy_ball_on_a_parabola_starts_to_diverge():
    rate, size = 0.05, 1.0
    for units, grows in ((0.98, False), (1.02, True)):
        curvature, x, m = units * 2 * 1.9 / 0.1 / rate * size, 1.0, 0.0
        for _ in range(2000):
            m = 0.9 * m + 0.1 * curvature * x
            x -= rate * m / size
        assert (abs(x) > 1) is grows
