"""Checkpoints as the public library writes them: heads as its own modules compute them."""

import numpy as np
import pytest

from instances.checkpoint import read_heads
from instances.layer import attention, pair_products

pytestmark = pytest.mark.plugins

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
        ours = attention(pair_products(flat.reshape(given.shape), given), heads.kind)
        assert np.abs(ours - weights[:, i])[:, last].max() < 1e-5
        assert weights[:, i].max() > 0.5  # far from even
    assert np.abs(heads(given)[..., :WIDE] - out)[:, last].max() < 1e-5 * np.abs(out).max()
