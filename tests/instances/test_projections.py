"""Projections under the names of the field: orientation, heads, biases; a module of torch."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import hardness as front
from instances.checkpoint import heads_of, read_heads
from instances.errors import DamagedFile, ToolkitError, UsageError

M, D, R = 3, 12, 4


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(x, q, k, v, o, biases=(0, 0, 0, 0), heads=M, groups=M):
    """Example by example, head by head and token by token: x (n, k, d), matrices of x W."""
    bq, bk, bv, bo = biases
    out = np.zeros((*x.shape[:2], o.shape[1]))
    for n, tokens in enumerate(x):
        queries, keys, values = tokens @ q + bq, tokens @ k + bk, tokens @ v + bv
        split = np.split(queries, heads, 1)
        shared = [np.split(part, groups, 1) for part in (keys, values)]
        for a in range(len(tokens)):
            mixed = []
            for i, own in enumerate(split):
                of = [part[i * groups // heads] for part in shared]
                weights = softmax(own[a] @ of[0].T / np.sqrt(own.shape[1]))
                mixed.append(weights @ of[1])
            out[n, a] = np.concatenate(mixed) @ o + bo
    return out


def holds(heads, wanted, x):
    given = np.concatenate([x, np.ones((*x.shape[:2], 1))], 2) if heads.constant else x
    return np.abs(heads(given)[..., : wanted.shape[2]] - wanted).max() < 1e-12


# How each writes queries, keys, values and outputs; biases beside them; whether as (out, in).
NAMES = [
    ("self_attn.{}_proj.weight", "qkvo", "self_attn.{}_proj.bias", True),
    ("{}.weight", ("query", "key", "value", "out"), "{}.bias", True),
    ("blocks.0.to_{}.weight", ("q", "k", "v", "out.0"), "blocks.0.to_{}.bias", True),
    ("W{}", "qkvo", "b{}", False),
    ("attn.W_{}", "qkvo", "attn.b_{}", False),
    ("{}", "qkvo", "b{}", False),
]


@pytest.mark.parametrize(("weight", "parts", "bias", "turned"), NAMES)
def test_projections_are_read_as_they_are_named(weight, parts, bias, turned, rng, tmp_path):
    x = rng.standard_normal((2, 5, D))
    for width, biased in ((D, False), (D, True), (6, True)):
        q, k, v = rng.standard_normal((3, D, width))
        matrices = (q, k, v, rng.standard_normal((width, D)))
        biases = [rng.standard_normal(n) if biased else np.zeros(n) for n in (width,) * 3 + (D,)]
        names = [weight.format(part) for part in parts]
        state = {n: w.T if turned else w for n, w in zip(names, matrices, strict=True)}
        state |= {bias.format(p): b for p, b in zip(parts, biases, strict=True)}
        np.savez(tmp_path / "layer.npz", **state)
        found = read_heads(tmp_path / "layer.npz", heads=M)
        assert holds(found, attention(x, *matrices, biases), x)
        assert found.constant is biased  # biases that are all 0 need no coordinate
        assert ("(out, in), as nn.Linear" in " ".join(found.notes)) is turned
        assert "what a state does not show" in found.left_out[-1]
        assert (heads_of(state, heads=M).theta.left == found.theta.left).all()


def test_joined_stacked_and_fewer_projections(rng):
    x = rng.standard_normal((2, 4, D))
    q, k, v, o = rng.standard_normal((4, D, D))
    wanted = attention(x, q, k, v, o)
    joined = np.concatenate([q, k, v], axis=1)
    for state, said in (  # the transposed of what the name says are noticed by the shapes
        ({"in_proj_weight": joined.T, "out_proj.weight": o.T}, "nn.Linear stores it: x W^T"),
        ({"qkv.weight": joined.T, "proj.weight": o.T}, "nn.Linear stores it: x W^T"),
        ({"c_attn.weight": joined, "c_proj.weight": o}, "is read as x W, by the shapes"),
        ({"qkv": joined.T, "proj": o.T}, "x W^T, by the shapes"),
    ):
        found = heads_of(state, heads=M)
        assert holds(found, wanted, x)
        assert any(said in note for note in found.notes)
    stacks = [part.reshape(D, M, R).transpose(1, 0, 2) for part in (q, k, v)]
    state = dict(zip("qkvo", (*stacks, o.reshape(M, R, D)), strict=True))
    assert holds(heads_of(state), wanted, x)
    shared = rng.standard_normal((2, D, 2 * R))  # two groups of keys and values serve four heads
    wide, back = rng.standard_normal((D, 4 * R)), rng.standard_normal((4 * R, D))
    wanted = attention(x, wide, *shared, back, heads=4, groups=2)
    parts = dict(zip(("Wq", "Wk", "Wv", "Wo"), (wide, *shared, back), strict=True))
    for turn in (False, True):
        found = heads_of({n: p.T if turn else p for n, p in parts.items()}, heads=4)
        assert holds(found, wanted, x)
        assert found.notes[1].endswith("by the shapes")
    single = {f"{n}.weight": part[:, :R].T for n, part in (("query", q), ("key", k), ("value", v))}
    found = heads_of(single, heads=1)  # no projection of outputs
    assert holds(
        found, attention(x, *(p[:, :R] for p in (q, k, v)), np.eye(R), heads=1, groups=1), x
    )
    assert not found(x)[..., R:].any()


LINEAR = {f"{p}_proj.weight": np.ones((D, D)) for p in "qkvo"}
NAN = np.full((D, D), np.nan)


@pytest.mark.parametrize(
    ("state", "heads", "said"),
    [
        (LINEAR, 5, "5 heads given: they do not divide 12 columns"),
        (LINEAR, None, "the number of heads is not known: give --heads"),
        (LINEAR | {"k_proj.weight": np.ones((D, 7))}, M, "do not fit together"),
        (LINEAR | {"q_proj.bias": np.ones(7)}, M, "do not fit together, nor with their biases"),
        (LINEAR | {"v_proj.weight": NAN}, M, "not finite"),
        (LINEAR | {"k_proj.weight": np.ones((D, D), int)}, M, "holds int64: floating-point"),
        (LINEAR | {"q_proj.weight": np.ones(D)}, M, "2 axes are needed"),
        (LINEAR | {"q_proj.weight": np.ones((0, D))}, M, "2 axes are needed"),
        (LINEAR | {"bias_k": np.ones((1, 1, D))}, M, "one more token to attend to"),
        (LINEAR | {"o_proj.weight": np.ones((2 * D, D))}, M, "do not fit together"),
        ({"q_proj.weight": np.ones((D, D))}, M, "k_proj.weight is missing"),
        ({"fc.weight": NAN}, M, "under a name of torch or of GPT-2, Llama or BERT, but fc.weight"),
        ({**dict(list(LINEAR.items())[:3]), "last.weight": NAN}, M, "no projection of outputs"),
        ({f"{n}.{k}": w for n in "ab" for k, w in LINEAR.items()}, M, "holds a.q_proj, b.q_proj"),
        ({"q_proj.weight": [[1], [1, 2]]}, M, "ragged"),
    ],
)
def test_what_is_no_such_layer_is_refused_in_a_line(state, heads, said):
    with pytest.raises((UsageError, DamagedFile), match=said) as refused:
        heads_of(state, heads=heads)
    assert "\n" not in str(refused.value)


def test_arrays_have_no_configuration_beside_them(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text('{"n_head": 4}')
    monkeypatch.chdir(tmp_path)
    state = {
        "h.0.attn.c_attn.weight": np.ones((D, 3 * D)),
        "h.0.attn.c_proj.weight": np.ones((D, D)),
    }
    with pytest.raises(UsageError, match="give --heads"):
        heads_of(state, layer=0)
    more = {"theta": np.ones((1, D, D)), "w": np.ones((1, D, D)), "mask": np.ones((2, 2))}
    assert heads_of(more).left_out == ("what else is there: mask",)


def test_states_of_torch_need_torch(tmp_path, monkeypatch, hardness):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ToolkitError, match=r"layer.pt needs torch, which is not installed: pip"):
        read_heads(tmp_path / "layer.pt")


def test_square_matrices_from_the_command_line_and_from_python(rng, hardness, tmp_path):
    state = {f"{p}_proj.weight": rng.standard_normal((6, 6)) for p in "qkvo"}
    np.savez(tmp_path / "layer.npz", **state)
    asked = ("inspect", tmp_path / "layer.npz", "--heads", 2)
    told = hardness(*asked, "--json").json
    assert told["heads"] == 2
    assert told["layer"] == front.inspect(state, heads=2).facts["layer"]
    hardness("inspect", tmp_path / "layer.npz").one_line("give --heads")
    hardness(*asked[:2], "--heads", 4).one_line("4 heads given: they do not divide 6 columns")
    found = front.learn("trivial", teacher=state, heads=2, budget_examples=300)
    assert found.spec == "teacher:d=6,k=2,m=2,noise=0,tokens=gaussian"


# ---- modules of torch


def own(torch, turn=False, scale=R**-0.5, mask=False, width=D):
    """A module of M heads with square matrices of its own."""

    class Own(torch.nn.Module):
        n_heads = M

        def __init__(self):
            super().__init__()
            for name in ("Wq", "Wk", "Wv", "Wo"):
                setattr(self, name, torch.nn.Parameter(torch.randn(width, D)))

        def forward(self, x):
            way = [w.T if turn else w for w in (self.Wq, self.Wk, self.Wv, self.Wo)]
            q, k, v = (torch.stack((x @ w).chunk(M, -1), 1) for w in way[:3])
            logits = q @ k.mT * scale
            if mask:
                logits = logits + torch.full(logits.shape[-2:], -1e9).triu(1)
            mixed = torch.softmax(logits, -1) @ v
            return torch.cat(list(mixed.unbind(1)), -1) @ way[3]

    torch.manual_seed(0)
    return Own()


def projected(torch, mask):
    """The same with projections as Llama names them."""
    made = own(torch, turn=True, mask=mask)
    forward = type(made).forward
    for name in ("q", "k", "v", "o"):
        weight = getattr(made, f"W{name}").detach()
        delattr(made, f"W{name}")
        linear = torch.nn.Linear(D, D, bias=False)
        linear.weight = torch.nn.Parameter(weight)
        setattr(made, f"{name}_proj", linear)
    weights = {f"W{n}": getattr(made, f"{n}_proj").weight for n in "qkvo"}
    double = SimpleNamespace(**{name: w.double() for name, w in weights.items()})
    made.forward = lambda x: forward(double, x)
    return made


def multihead(torch, biased=True, **how):
    torch.manual_seed(1)
    made = torch.nn.MultiheadAttention(D, M, bias=biased, dropout=0.5, **how)
    with torch.no_grad():
        for value in made.parameters():
            value.normal_()
    return made


def evaluated(module, x):
    import torch

    module, given = module.double().eval(), torch.from_numpy(x)
    with torch.no_grad():
        if module.batch_first:
            return module(given, given, given)[0].numpy()
        turned = given.transpose(0, 1)
        return module(turned, turned, turned)[0].transpose(0, 1).numpy()


@pytest.mark.plugins
def test_multihead_attention_is_f_of_its_heads(rng, tmp_path, hardness):
    import torch

    x = rng.standard_normal((3, 4, D))
    for how in ({}, {"biased": False}, {"batch_first": True}):
        module = multihead(torch, **how)
        found = heads_of(module)
        assert found.m == M
        assert "F(X) is what the module gives on 20 random tokens" in found.notes[-1]
        assert module.training
        assert next(module.parameters()).dtype is torch.float32
        torch.save(module.state_dict(), tmp_path / "state.pt")
        read = read_heads(tmp_path / "state.pt", heads=M)
        assert np.abs(read.theta.dense() - found.theta.dense()).max() < 1e-5
        assert holds(found, evaluated(module, x), x)
    within = torch.nn.TransformerEncoderLayer(D, M, batch_first=True)
    found = heads_of(within)
    assert found.source == "self_attn of TransformerEncoderLayer"
    assert "norm1.weight" in found.left_out[0]
    assert holds(found, evaluated(within.self_attn, x), x)
    more = multihead(torch, add_zero_attn=True), multihead(torch, add_bias_kv=True)
    for module, said in zip(more, ("it is not F", "one more token"), strict=True):
        with pytest.raises(UsageError, match=said):
            heads_of(module)
    cross = torch.nn.MultiheadAttention(D, M, kdim=7, vdim=7)
    with pytest.raises(ToolkitError, match="do not fit together"):
        heads_of(cross)
    assert hardness("inspect", tmp_path / "state.pt", "--heads", M, "--json").json["heads"] == M
    assert front.inspect(multihead(torch)).facts["heads"] == M
    ran = front.learn("trivial", teacher=multihead(torch), budget_examples=300)
    assert ran.spec == f"teacher:d={D + 1},k=2,m={M},noise=0,tokens=given"


@pytest.mark.plugins
def test_the_snippet_of_the_docs(tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2] / "docs/families/teacher.md"
    [snippet] = (b for b in page.read_text().split("```python\n")[1:] if b.startswith("import"))
    monkeypatch.chdir(tmp_path)
    exec(snippet.partition("```")[0], {})
    gap, end = capsys.readouterr().out.splitlines()
    assert float(gap) < 1e-12
    assert end == "heads found"
    assert read_heads(tmp_path / "layer.pt", heads=2).m == 2


@pytest.mark.plugins
def test_a_module_shows_what_a_state_does_not():
    import torch

    for how, said in (
        ({}, "Wq (12, 12) is read as x W, by its name"),
        ({"turn": True}, "nn.Linear stores it: x W^T, the other way than it is named"),
        ({"scale": 1.0}, "Theta_i = Q_i K_i^T * 1, r = 4"),
        ({"turn": True, "scale": D**-0.5}, "the other way"),
    ):
        found = heads_of(own(torch, **how))
        assert any(said in note for note in found.notes), found.notes
        assert ("it would be off by" in found.notes[-1]) is bool(how)
    narrow = own(torch, turn=True, scale=2**-0.5)  # as named it takes tokens of six numbers
    for name, shape in {"Wq": (6, D), "Wk": (6, D), "Wv": (6, D), "Wo": (D, 6)}.items():
        setattr(narrow, name, torch.nn.Parameter(torch.randn(*shape)))
    assert heads_of(narrow).notes[-1].endswith("it would not take its tokens")
    for mask in (False, True):  # names of Llama: what such a model has, this one may not have
        whole = torch.nn.Module()
        whole.layers = torch.nn.ModuleList([torch.nn.Module()])
        whole.layers[0].self_attn = projected(torch, mask)
        if mask:
            with pytest.raises(UsageError, match=r"it is not F.X. of its matrices"):
                heads_of(whole, layer=0)
        else:
            assert not heads_of(whole, layer=0).left_out
    for module, said in (
        (own(torch, mask=True), "it is not F.X. of its matrices: outputs differ by"),
        (own(torch, width=7), "do not fit together"),
        (torch.nn.Linear(D, D), "neither theta and w"),
    ):
        with pytest.raises(ToolkitError, match=said) as refused:
            heads_of(module)
        assert "\n" not in str(refused.value)
    module = torch.nn.Module()
    module.theta, module.w = (torch.nn.Parameter(torch.randn(2, D, D)) for _ in range(2))
    for turn in (False, True):

        def forward(x, turn=turn):
            theta = module.theta.double().mT if turn else module.theta.double()
            logits = x[:, None] @ theta @ x[:, None].mT
            return (torch.softmax(logits, -1) @ x[:, None] @ module.w.double()).sum(1)

        module.forward = forward
        if turn:
            with pytest.raises(UsageError, match=r"it is not F.X. of its matrices"):
                heads_of(module)
        else:
            assert "F(X) is what the module gives" in heads_of(module).notes[-1]
    with pytest.raises(DamagedFile, match="numbers are needed"):
        heads_of(torch.nn.MultiheadAttention(D, M, device="meta"))
    module = own(torch)
    module.forward = lambda x, mask: x
    with pytest.raises(UsageError, match=r"it fails: .*missing 1 required positional argument"):
        heads_of(module)


@pytest.mark.plugins
def test_files_of_torch_are_read_by_weights_alone(tmp_path, rng):
    import torch

    state = multihead(torch).state_dict()
    half = {name: value.bfloat16() for name, value in state.items()}
    good = {"a": state, "nested": {"model": state, "epoch": 3, "optimizer": {"state": {}}}}
    for name, given in (good | {"half": half}).items():
        torch.save(given, tmp_path / f"{name}.pth")
        found = read_heads(tmp_path / f"{name}.pth", heads=M)
        assert found.m == M
    assert "read as float32: stored as bfloat16" in found.notes
    torch.save({p: torch.eye(D) for p in "qkvo"} | {"scale": 0.5}, tmp_path / "scale.pt")
    assert read_heads(tmp_path / "scale.pt", heads=1).theta.dense()[0, 0, 0] == 0.5
    torch.save(multihead(torch), tmp_path / "module.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    torch.save({"model": 3}, tmp_path / "number.pt")
    torch.save(half | {"in_proj_weight": torch.eye(D).to_sparse()}, tmp_path / "sparse.pt")
    (tmp_path / "text.pt").write_text("text")
    whole = (tmp_path / "a.pth").read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: len(whole) // 2])
    for name, said in {
        "module": r"no tensors by name. A pickled module is not loaded.*module.state_dict",
        "list": "no tensors by name",
        "number": "no tensors by name",
        "sparse": "in_proj_weight holds no dense float32: floating-point",
        "text": "damaged or not ours",
        "cut": "damaged or not ours",
        "none": "does not exist",
    }.items():
        with pytest.raises(ToolkitError, match=said) as refused:
            read_heads(tmp_path / f"{name}.pt", heads=M)
        assert "\n" not in str(refused.value)
