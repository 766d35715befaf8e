"""Layers of a user: from arrays, from torch, from files; what `inspect` measures of them."""

import sys

import numpy as np
import pytest

import hardness as front
from instances import AttentionLayer, load_layer
from instances.errors import DamagedFile, UsageError
from instances.inspect import inspect_layer

M, D, R, S = 3, 12, 4, 5


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def attention(x, q, k, v, o, bq, bk, bv, bo):
    """Multi-head attention example by example, head by head and token by token: x (n, k, d)."""
    out = np.zeros((*x.shape[:2], o.shape[2]))
    for n, tokens in enumerate(x):
        for i in range(len(q)):
            queries, keys, values = (
                tokens @ q[i] + bq[i],
                tokens @ k[i] + bk[i],
                tokens @ v[i] + bv[i],
            )
            for a in range(len(tokens)):
                powers = np.exp(queries[a] @ keys.T / np.sqrt(q.shape[2]))
                out[n, a] += powers / powers.sum() @ values @ o[i]
    return out + bo


def drawn(rng):
    parts = (*rng.standard_normal((2, M, D, R)), rng.standard_normal((M, D, S)))
    return (*parts, rng.standard_normal((M, S, D)))


def with_constant(x):
    return np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2)


def test_a_layer_of_projections_is_their_attention(rng):
    parts, x = drawn(rng), rng.standard_normal((4, 5, D))
    none = (np.zeros((M, R)), np.zeros((M, R)), np.zeros((M, S)), np.zeros(D))
    layer = AttentionLayer.from_qkvo(*parts)
    assert np.abs(layer(x) - attention(x, *parts, *none)).max() < 1e-12
    assert (layer.d, layer.constant) == (D, False)
    scaled = AttentionLayer.from_qkvo(*parts, scale=0.25)
    assert np.allclose(scaled.theta, layer.theta * 0.25 * R**0.5)
    names = ("bq", "bk", "bv", "bo")
    zeros = AttentionLayer.from_qkvo(*parts, **dict(zip(names, none, strict=True)))
    assert (zeros.theta == layer.theta).all()  # biases of 0 need no coordinate


def test_biases_go_through_a_constant(rng):
    parts, x = drawn(rng), rng.standard_normal((4, 5, D))
    biases = (*rng.standard_normal((2, M, R)), rng.standard_normal((M, S)), rng.standard_normal(D))
    bq, bk, bv, bo = biases
    layer = AttentionLayer.from_qkvo(*parts, bq=bq, bk=bk, bv=bv, bo=bo)
    found = layer(with_constant(x))
    assert np.abs(found[..., :D] - attention(x, *parts, *biases)).max() < 1e-12
    assert np.abs(found[..., D]).max() == 0
    assert (layer.d, layer.constant) == (D + 1, True)
    without = AttentionLayer.from_qkvo(*parts, bq=bq, bv=bv, bo=bo)  # no softmax shows bk
    assert (without.theta == layer.theta).all()
    facts = front.inspect(layer).facts
    assert facts["biases"] == f"in coordinate {D + 1} of the tokens, which is always 1"


ONES = np.ones((M, D, R))
NAN = np.full((M, D, D), np.nan)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"q": ONES, "k": ONES, "v": ONES, "o": ONES}, "do not fit"),
        ({"q": ONES, "k": ONES[:, :, 1:], "v": ONES, "o": ONES.transpose(0, 2, 1)}, "do not fit"),
        (dict.fromkeys("qkvo", np.ones((D, D))), r"shape \(m, d, r\), no axis empty"),
        (
            dict.fromkeys("qkvo", np.ones((M, D, D))) | {"bq": np.ones((M, 2))},
            r"must have the shape \(3, 12\)",
        ),
        (
            dict.fromkeys("qkvo", np.ones((M, D, D))) | {"bo": np.ones(2)},
            r"must have the shape \(12,\)",
        ),
        (dict.fromkeys("qkvo", NAN), "not finite"),
        (dict.fromkeys("qkvo", np.ones((M, D, D))) | {"mask": ONES}, "holds k, mask, o, q, v"),
        ({"theta": np.ones((M, D, D)), "w": np.ones((M, D, D + 1))}, r"the shape \(m, d, d\)"),
        ({"theta": np.ones((M, D, D)), "w": np.ones((M + 1, D, D))}, "differ in shape"),
        ({"theta": np.ones((D, D)), "w": np.ones((D, D))}, r"must have the shape \(m, d, d\)"),
        ({"theta": NAN, "w": NAN}, "not finite"),
        ({"theta": NAN}, "holds theta: a layer is theta and w, or q, k, v and o"),
        (
            {"in_proj_weight": NAN},
            r"scale; of a torch module .* AttentionLayer.from_torch\(module\)",
        ),
    ],
)
def test_what_is_no_layer_is_refused_in_a_line(arrays, said, tmp_path):
    np.savez(tmp_path / "layer.npz", **arrays)
    with pytest.raises((DamagedFile, UsageError), match=said) as refused:
        load_layer(tmp_path / "layer.npz")
    assert "layer.npz" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_a_layer_in_a_file_is_the_layer(ending, rng, tmp_path):
    parts, path = drawn(rng), tmp_path / f"layer.{ending}"
    for layer in (
        AttentionLayer.from_qkvo(*parts),
        AttentionLayer.from_qkvo(*parts, bo=np.ones(D)),
        AttentionLayer(theta=np.ones((1, 2, 2)), w=np.ones((1, 2, 2)), kind="linear"),
    ):
        layer.save(path, force=True)
        again = load_layer(path)
        assert (again.theta == layer.theta).all()
        assert (again.w == layer.w).all()
        assert (again.kind, again.constant) == (layer.kind, layer.constant)
    np.savez(tmp_path / "qkvo.npz", **dict(zip("qkvo", parts, strict=True)), scale=np.array(0.5))
    made = AttentionLayer.from_qkvo(*parts, scale=0.5)
    assert (load_layer(tmp_path / "qkvo.npz").theta == made.theta).all()
    for name in ("layer.pt", "layer.bin", "model.npy"):
        with pytest.raises(
            UsageError, match=r"must end in .npz or .safetensors, got .*; write one by"
        ):
            load_layer(tmp_path / name)


@pytest.mark.plugins
@pytest.mark.parametrize("bias", [False, True])
def test_a_layer_of_torch_is_the_module(bias, rng):
    import torch

    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(D, M, bias=bias, batch_first=True).eval().double()
    with torch.no_grad():
        for value in module.parameters():  # biases are 0 at first
            value.normal_()
    x = rng.standard_normal((4, 5, D))
    wanted = module(*[torch.from_numpy(x)] * 3, need_weights=False)[0].detach().numpy()
    layer = AttentionLayer.from_torch(module)
    assert (layer.m, layer.constant) == (M, bias)
    found = layer(with_constant(x) if bias else x)[..., :D]
    assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert np.abs(layer.theta).max() > 1  # far from even attention
    for how in ({"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 5}, {"vdim": 5}):
        with pytest.raises(UsageError, match="MultiheadAttention must have "):
            AttentionLayer.from_torch(torch.nn.MultiheadAttention(D, M, **how))
    with pytest.raises(UsageError, match=r"must be a torch.nn.MultiheadAttention, got Linear"):
        AttentionLayer.from_torch(torch.nn.Linear(D, D))


@pytest.mark.plugins
def test_a_module_of_torch_is_inspected():
    import torch

    module = torch.nn.MultiheadAttention(D, M)
    found = front.inspect(module, k=4)
    assert found.facts == front.inspect(AttentionLayer.from_torch(module), k=4).facts
    with pytest.raises(UsageError, match=r"got Linear; take AttentionLayer.from_qkvo"):
        front.inspect(torch.nn.Linear(D, D), k=4)


class Heads:
    """What a module's method `layer()` may return."""

    def __init__(self, *parts):
        self.parts = parts

    def layer(self):
        return self.parts


def test_a_method_layer_returns_arrays_or_the_error_names_its_class(rng):
    theta, w = rng.standard_normal((2, M, D, D))
    assert (AttentionLayer.from_torch(Heads(theta, w.tolist())).w == w).all()
    for parts in ((), (theta,), (theta[0], w), (theta, 3), (theta, None), (theta, "w")):
        with pytest.raises(
            UsageError, match=r"Heads.layer\(\) must return theta and w, tensors or "
        ):
            AttentionLayer.from_torch(Heads(*parts))


@pytest.mark.plugins
def test_a_method_layer_returns_tensors():
    import torch

    theta, w = torch.randn(2, M, D, D, dtype=torch.bfloat16, requires_grad=True)
    layer = AttentionLayer.from_torch(Heads(theta, w))
    assert (layer.theta == theta.detach().double().numpy()).all()


def test_what_is_no_module_is_refused_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"must be a torch.nn.MultiheadAttention, got dict"):
        AttentionLayer.from_torch({})


def test_what_is_said_of_a_layer_does_not_depend_on_its_scale(rng):
    theta, w = rng.standard_normal((2, 2, 8, 8))
    said = []
    for size, times in ((1e9, 1), (1e15, 1e-60), (1e90, 1e90)):
        layer = AttentionLayer(theta=size * theta, w=times * w)
        conditions = inspect_layer(layer, "a layer").facts["fine_print"]
        said.append([c["value"] for c in conditions if c["name"] != "size"])
    for other in said[1:]:
        assert other == pytest.approx(said[0])
    for size in (1e150, 1e-150):
        with pytest.raises(UsageError, match=r"must be between .*: scale them"):
            inspect_layer(AttentionLayer(theta=size * theta, w=w), "a layer")


def test_inspect_of_arrays_files_and_specs(rng, hardness, tmp_path):
    layer = AttentionLayer(theta=rng.standard_normal((2, 5, 5)), w=rng.standard_normal((2, 5, 5)))
    layer.save(tmp_path / "layer.npz")
    found = front.inspect(layer, k=3)
    assert list(found.to_frame()["head"]) == [0, 1]
    assert next(c for c in found.facts["fine_print"] if c["name"] == "tokens")["value"] == 3
    read = front.inspect(tmp_path / "layer.npz", k=3)
    assert read.facts | {"source": ""} == found.facts | {"source": ""}
    assert "the theorem asks for" in repr(front.inspect("parity:d=8,m=3"))
    assert "evidence" in repr(front.inspect("lwe:n=16,q=97,sigma=1"))
    with pytest.raises(
        UsageError, match="--k only applies to a layer, and parity:d=8,m=3 has its own"
    ):
        front.inspect("parity:d=8,m=3", k=2)
    with pytest.raises(UsageError, match="SOURCE must be a SPEC"):
        front.inspect(3, k=2)
    with pytest.raises(UsageError, match="writes the layer of a SPEC"):
        front.inspect(layer, save_layer=tmp_path / "again.npz")
    hardness("inspect", tmp_path / "layer.pt").one_line("AttentionLayer.from_torch(module)")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("size", "scale", "said"), [(1, "a", "scale must be a number"), (1e200, None, "not finite")]
)
def test_projections_of_no_layer_are_refused(size, scale, said):
    q, k, v, o = np.random.default_rng(0).standard_normal((4, 2, 3, 3))
    with pytest.raises(UsageError, match=said):
        AttentionLayer.from_qkvo(size * q, size * k, v, o, scale=scale)
