"""Layers of a user: by factors, from arrays, from checkpoints in the public layouts."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from instances import AttentionLayer
from instances.checkpoint import of_projections, read_heads
from instances.errors import DamagedFile, UsageError
from instances.fineprint import fine_print, structure
from instances.heads import Heads, Matrices
from instances.layer import attention as weights_of
from instances.layer import pair_products

M, D, R = 3, 12, 4


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(x, q, k, v, o, bq=0.0, bk=0.0, bv=0.0, bo=0.0, heads=M, groups=M):
    """Multi-head attention as models write it: (n, k, d), one head after the other."""
    r = q.shape[1] // heads
    out = np.zeros(x.shape)
    for i in range(heads):
        own, shared = slice(i * r, (i + 1) * r), i * groups // heads
        of = slice(shared * r, (shared + 1) * r)
        query, key = (x @ q + bq)[..., own], (x @ k + bk)[..., of]
        weights = softmax(query @ key.transpose(0, 2, 1) / np.sqrt(r))
        out += weights @ (x @ v + bv)[..., of] @ o[own]
    return out + bo


def test_factors_measure_as_their_products(rng):
    left, right = rng.standard_normal((2, M, 70, R))
    factors = Matrices(left=left, right=right)
    whole = Matrices(left=left @ right.transpose(0, 2, 1))
    assert np.allclose(factors.products, whole.products)
    assert np.allclose(factors.cosines, whole.cosines)
    assert np.allclose(factors.singular_values, whole.singular_values[:, :R])
    assert np.allclose(factors.traces, whole.traces)
    assert np.allclose(factors.columns, whole.columns)
    assert np.allclose(factors.entries(1), whole.left[1])
    assert np.allclose(factors.dense(), whole.dense())
    one, other = Heads(theta=factors, w=factors), Heads(theta=whole, w=whole)
    for a, b in zip(fine_print(one, 4), fine_print(other, 4), strict=True):
        assert a.value == pytest.approx(b.value)
        assert a.by_head == pytest.approx(b.by_head)
    assert structure(one).step_rank == pytest.approx(structure(other).step_rank, rel=1e-5)
    x = rng.standard_normal((5, 3, 70))
    assert np.allclose(one.layer()(x), other.layer()(x))


def test_projections_with_biases_go_through_a_constant(rng):
    q, k, v = rng.standard_normal((3, M, D, R))
    o = rng.standard_normal((M, R, D))
    bq, bk, bv = rng.standard_normal((3, M, R))
    bo = rng.standard_normal(D)
    heads = of_projections((q, k, v, o), (bq, bk, bv, bo))
    x = rng.standard_normal((4, 5, D))
    flat = [part.transpose(1, 0, 2).reshape(D, M * R) for part in (q, k, v)]
    biases = [b.reshape(-1) for b in (bq, bk, bv)]
    wanted = attention(x, *flat, o.reshape(M * R, D), *biases, bo)
    found = heads.layer()(np.concatenate([x, np.ones((4, 5, 1))], axis=2))
    assert np.abs(found[..., :D] - wanted).max() < 1e-12
    assert np.abs(found[..., D]).max() == 0
    assert f"coordinate {D + 1}" in heads.notes[-1]
    without = of_projections((q, k, v, o), (bq, None, bv, bo))  # no softmax shows a bias of keys
    assert np.array_equal(without.theta.dense(), heads.theta.dense())
    assert "the bias of keys is left out" in heads.notes[1]


def gpt2(rng):
    tensors = {
        "transformer.h.1.attn.c_attn.weight": rng.standard_normal((D, 3 * D)),
        "transformer.h.1.attn.c_attn.bias": rng.standard_normal(3 * D),
        "transformer.h.1.attn.c_proj.weight": rng.standard_normal((D, D)),
        "transformer.h.1.attn.c_proj.bias": rng.standard_normal(D),
        "transformer.wte.weight": rng.standard_normal((5, D)),
    }
    joined, joined_bias, o, bo = list(tensors.values())[:4]
    parts = (*np.split(joined, 3, axis=1), o, *np.split(joined_bias, 3), bo)
    return tensors, {"n_head": M}, lambda x: attention(x, *parts), True


def llama(rng):
    groups, r = 2, 3
    shapes = {"q": (4 * r, D), "k": (groups * r, D), "v": (groups * r, D), "o": (D, 4 * r)}
    parts = {part: rng.standard_normal(shape) for part, shape in shapes.items()}
    tensors = {f"model.layers.1.self_attn.{p}_proj.weight": t for p, t in parts.items()}
    config = {"num_attention_heads": 4, "num_key_value_heads": groups}
    turned = [part.T for part in parts.values()]
    return tensors, config, lambda x: attention(x, *turned, heads=4, groups=groups), False


def bert(rng):
    start = "bert.encoder.layer.1.attention."
    names = ("self.query", "self.key", "self.value", "output.dense")
    weights = [rng.standard_normal((D, D)) for _ in names]
    biases = [rng.standard_normal(D) for _ in names]
    tensors = {f"{start}{n}.weight": w for n, w in zip(names, weights, strict=True)}
    tensors |= {f"{start}{n}.bias": b for n, b in zip(names, biases, strict=True)}
    turned = [w.T for w in weights]
    return tensors, {"num_attention_heads": M}, lambda x: attention(x, *turned, *biases), True


LAYOUTS = {"GPT-2": gpt2, "Llama": llama, "BERT": bert}


def write(folder, tensors, config=None, name="model.safetensors"):
    folder.mkdir(exist_ok=True)
    save_file({k: np.ascontiguousarray(t) for k, t in tensors.items()}, folder / name)
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layer_of_a_checkpoint_is_the_model_s(layout, rng, tmp_path):
    tensors, config, model, biased = LAYOUTS[layout](rng)
    folder = write(tmp_path / "model", tensors, config)
    heads = read_heads(folder, layer=1)
    assert f"layout of {layout}" in heads.source
    assert heads.left_out
    x = rng.standard_normal((3, 5, D))
    given = np.concatenate([x, np.ones((3, 5, 1))], axis=2) if biased else x
    assert np.abs(heads.layer()(given)[..., :D] - model(x)).max() < 1e-12
    small = {name: t.astype(np.float16) for name, t in tensors.items()}
    rounded = read_heads(write(tmp_path / "half", small, config), layer=1)
    assert "float16" in rounded.notes[-1]
    assert np.abs(rounded.layer()(given)[..., :D] - model(x)).max() < 0.1


def test_a_model_in_several_files(rng, tmp_path):
    tensors, config, model, _ = llama(rng)
    folder = tmp_path / "parts"
    parts = {name: f"part-{i}.safetensors" for i, name in enumerate(tensors)}
    for name, file in parts.items():
        write(folder, {name: tensors[name]}, config, file)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    x = rng.standard_normal((2, 4, D))
    for path in (folder, index):
        assert np.abs(read_heads(path, layer=1).layer()(x) - model(x)).max() < 1e-12
    with pytest.raises(DamagedFile, match="is missing: a model in several files"):
        read_heads(folder / "part-0.safetensors", layer=1)
    index.write_text(json.dumps({"weight_map": dict.fromkeys(tensors, "../x.safetensors")}))
    with pytest.raises(DamagedFile, match="must lie beside it"):
        read_heads(folder, layer=1)


def bfloat(values):
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_bfloat16_is_read_as_the_float32_that_it_is(rng, tmp_path):
    tensors, config, _, _ = llama(rng)
    header, body, at = {}, b"", 0
    for name, one in tensors.items():
        data = bfloat(one).tobytes()
        header[name] = {"dtype": "BF16", "shape": one.shape, "data_offsets": [at, at + len(data)]}
        body, at = body + data, at + len(data)
    text = json.dumps(header).encode()
    folder = write(tmp_path / "model", {"x": np.zeros(1)}, config)
    written = len(text).to_bytes(8, "little") + text + body
    (folder / "model.safetensors").write_bytes(written)
    rounded = {n: (bfloat(t).astype(np.uint32) << 16).view(np.float32) for n, t in tensors.items()}
    exact = read_heads(write(tmp_path / "exact", rounded, config), layer=1)
    found = read_heads(folder, layer=1)
    assert (found.theta.left == exact.theta.left).all()
    assert found.notes[-1] == "read as float32: stored as bfloat16"


def test_own_arrays(rng, tmp_path):
    theta, w = rng.standard_normal((2, M, D, D))
    np.savez(tmp_path / "layer.npz", theta=theta, w=w)
    x = rng.standard_normal((2, 3, D))
    assert np.allclose(
        read_heads(tmp_path / "layer.npz").layer()(x), AttentionLayer(theta=theta, w=w)(x)
    )
    q, k, v = rng.standard_normal((3, M, D, R))
    o = rng.standard_normal((M, R, D))
    np.savez(tmp_path / "qkvo.npz", q=q, k=k, v=v, o=o, scale=np.array(0.5))
    found = read_heads(tmp_path / "qkvo.npz")
    assert np.allclose(found.theta.dense(), 0.5 * q @ k.transpose(0, 2, 1))
    assert np.allclose(found.w.dense(), v @ o)


NAN = np.full((M, D, D), np.nan)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"theta": np.ones((M, D, D)), "w": np.ones((M, D, D + 1))}, r"\(m, d, d\) is needed"),
        ({"theta": np.ones((M, D, D)), "w": np.ones((M + 1, D, D))}, "they must be the same"),
        ({"theta": np.ones((D, D)), "w": np.ones((D, D))}, "3 axes are needed"),
        ({"theta": NAN, "w": NAN}, "not finite"),
        ({"theta": np.ones((M, D, D), int), "w": NAN}, "floating-point numbers are needed"),
        ({"theta": NAN}, "neither theta and w, nor q, k, v and o"),
        (dict.fromkeys("qkvo", np.ones((M, D, R))), "do not fit"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(arrays, said, tmp_path):
    np.savez(tmp_path / "layer.npz", **arrays)
    with pytest.raises((DamagedFile, UsageError), match=said) as refused:
        read_heads(tmp_path / "layer.npz")
    assert "\n" not in str(refused.value)


def test_what_is_not_said_is_asked_for(rng, tmp_path):
    tensors, *_ = bert(rng)
    folder = write(tmp_path / "model", tensors)
    with pytest.raises(UsageError, match=r"1 layers by --layer 1 .. 1"):
        read_heads(folder)
    with pytest.raises(UsageError, match=r"layer 5 given: .* has 1 .. 1"):
        read_heads(folder, layer=5)
    with pytest.raises(UsageError, match="number of heads is not known"):
        read_heads(folder, layer=1)
    with pytest.raises(UsageError, match="5 heads given: they do not divide 12"):
        read_heads(folder, layer=1, heads=5)
    assert read_heads(folder, layer=1, heads=M).m == M
    (folder / "config.json").write_text('{"num_attention_heads": "many"}')
    with pytest.raises(DamagedFile, match="is 'many', no number above 0"):
        read_heads(folder, layer=1)
    with pytest.raises(UsageError, match="pickles are not loaded"):
        read_heads(tmp_path / "model.pkl")


def test_what_is_said_of_a_layer_does_not_depend_on_its_scale(rng):
    theta, w = rng.standard_normal((2, 2, 8, 8))
    said = []
    for size, times in ((1e9, 1), (1e15, 1e-60), (1e90, 1e90)):
        heads = Heads(theta=Matrices(left=size * theta), w=Matrices(left=times * w))
        said.append([*vars(structure(heads)).values()])
    for other in said[1:]:
        assert other == pytest.approx(said[0])
    for kind, size in (("f8", 1e150), ("f8", 1e-150), ("f4", 1e9), ("f4", 1e-9)):
        with pytest.raises(UsageError, match="their squares can be computed: scale them"):
            Matrices(left=(size * theta).astype(kind))
    assert not Matrices(left=0 * theta).norms.any()


def test_inspect_of_arrays_files_and_specs(rng, hardness, tmp_path):
    import hardness as front

    layer = AttentionLayer(theta=rng.standard_normal((2, 5, 5)), w=rng.standard_normal((2, 5, 5)))
    np.savez(tmp_path / "layer.npz", theta=layer.theta, w=layer.w)
    found = front.inspect(layer, k=3)
    assert list(found.to_frame()["head"]) == [0, 1]
    assert next(c for c in found.facts["fine_print"] if c["name"] == "tokens")["value"] == 3
    assert "heads                2" in repr(front.inspect(tmp_path / "layer.npz"))
    assert "the theorem asks for" in repr(front.inspect("parity:d=8,m=3"))
    assert "evidence" in repr(front.inspect("lwe:n=16,q=97,sigma=1"))
    with pytest.raises(UsageError, match="--k 2 given: it is of a layer in a file"):
        front.inspect("parity:d=8,m=3", k=2)


# ---- as the public library writes them


WIDE, TOKENS, LAYER = 48, 5, 1
SIZES = {"hidden_size": WIDE, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 50}
MODELS = {
    "GPT2": ({"n_embd": WIDE, "n_layer": 2, "n_head": 4, "vocab_size": 50}, "h.1.attn"),
    "Llama": (SIZES | {"num_key_value_heads": 2, "intermediate_size": 64}, "layers.1.self_attn"),
    "Mistral": (SIZES | {"num_key_value_heads": 1, "intermediate_size": 64}, "layers.1.self_attn"),
    "Qwen2": (SIZES | {"num_key_value_heads": 2, "intermediate_size": 64}, "layers.1.self_attn"),
    "Bert": (SIZES | {"intermediate_size": 64}, "encoder.layer.1.attention"),
}


@pytest.fixture(params=list(MODELS))
def model(request, tmp_path):
    """A small random model of each layout, its attention module, and the folder it is saved in."""
    import torch
    import transformers

    torch.manual_seed(0)
    sizes, place = MODELS[request.param]
    config = getattr(transformers, f"{request.param}Config")(**sizes)
    config._attn_implementation = "eager"
    made = getattr(transformers, f"{request.param}Model")(config).eval()
    with torch.no_grad():
        for name, value in made.named_parameters():  # biases are zero and weights small at first
            if value.ndim == 1 and "norm" not in name.lower() and "ln_" not in name:
                value.normal_()
            elif "attn" in name or "attention" in name:
                value.mul_(8)
    made.save_pretrained(tmp_path)
    return request.param, made.get_submodule(place), tmp_path


def attended(name, module, x):
    """The module's output and weights on tokens, with no mask, no rotation and no residual."""
    import torch

    still = torch.ones(1, TOKENS, WIDE // 4), torch.zeros(1, TOKENS, WIDE // 4)  # an angle of 0
    with torch.no_grad():
        if name == "Bert":
            mixed, weights = module.self(x)[:2]
            return module.output.dense(mixed), weights
        if name == "GPT2":
            return module(x, attention_mask=torch.zeros(1, 1, TOKENS, TOKENS))[:2]
        return module(x, position_embeddings=still, attention_mask=None)[:2]


@pytest.mark.plugins
def test_heads_are_those_of_the_library(model):
    import torch

    name, module, folder = model
    heads = read_heads(folder, LAYER)
    x = torch.randn(3, TOKENS, WIDE)
    out, weights = (part.numpy() for part in attended(name, module, x))
    given = x.numpy()
    if heads.d == WIDE + 1:
        given = np.concatenate([given, np.ones((3, TOKENS, 1))], axis=2)
    last = slice(None) if name == "Bert" else slice(TOKENS - 1, TOKENS)  # it sees all tokens
    assert heads.m == weights.shape[1] == 4
    for i in range(heads.m):
        flat = heads.theta.times(given.reshape(-1, given.shape[2]), i)
        ours = weights_of(pair_products(flat.reshape(given.shape), given), heads.kind)
        assert np.abs(ours - weights[:, i])[:, last].max() < 1e-5
        assert weights[:, i].max() > 0.5  # far from even
    assert np.abs(heads(given)[..., :WIDE] - out)[:, last].max() < 1e-5 * np.abs(out).max()
