"""Attention and transformers against PyTorch's, of the same state dict."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from tests.engine.nn.twins import both, compare

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0)
Q, K, V = (NUMBERS.standard_normal((5, 3, 4)) for _ in range(3))
K6, V6 = NUMBERS.standard_normal((6, 3, 3)), NUMBERS.standard_normal((6, 3, 5))
MEMORY = NUMBERS.standard_normal((6, 3, 4))
PADDING = np.array([[0, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 1, 0, 1, 1]], bool)
MASK = np.triu(np.ones((5, 5), bool), 1)
NUMBERS_MASK = NUMBERS.standard_normal((5, 5))
HEADS_MASK = NUMBERS.standard_normal((6, 5, 5))


def masks(t, **given):
    return {name: t.tensor(value) for name, value in given.items()}


CALLS = {
    "self": lambda t, m, q, k, v: m(q, q, q),
    "cross": lambda t, m, q, k, v: m(q, k, k),
    "three": lambda t, m, q, k, v: m(q, k, v),
    "without weights": lambda t, m, q, k, v: m(q, k, v, need_weights=False),
    "weights of each head": lambda t, m, q, k, v: m(q, k, v, average_attn_weights=False),
    "mask": lambda t, m, q, k, v: m(q, k, v, **masks(t, attn_mask=MASK)),
    "added mask": lambda t, m, q, k, v: m(q, q, q, **masks(t, attn_mask=NUMBERS_MASK)),
    "mask of each head": lambda t, m, q, k, v: m(q, k, v, **masks(t, attn_mask=HEADS_MASK)),
    "padding": lambda t, m, q, k, v: m(q, k, v, **masks(t, key_padding_mask=PADDING)),
    "both masks": lambda t, m, q, k, v: m(
        q, q, q, need_weights=False, **masks(t, key_padding_mask=PADDING, attn_mask=MASK)
    ),
    "causal": lambda t, m, q, k, v: m(q, q, q, need_weights=False, is_causal=True, **masks(t, attn_mask=MASK)),
    "one sequence": lambda t, m, q, k, v: m(q[:, 0], k[:, 0], v[:, 0]),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_attention(call, bias):
    modules = both(lambda t: t.nn.MultiheadAttention(4, 2, bias=bias))
    compare(modules, call, Q, K, V)
    assert repr(modules[0]) == repr(modules[1])


def test_attention_with_the_batch_first():
    modules = both(lambda t: t.nn.MultiheadAttention(4, 2, batch_first=True))
    compare(modules, lambda t, m, q, k: m(q, k, k), Q.swapaxes(0, 1), K.swapaxes(0, 1))


@pytest.mark.parametrize("call", [CALLS[name] for name in CALLS if name != "causal"])  # there PyTorch hides the keys
@pytest.mark.parametrize("settings", [{"add_bias_kv": True}, {"add_zero_attn": True, "add_bias_kv": True}], ids=str)
def test_attention_with_more_keys(call, settings):
    compare(both(lambda t: t.nn.MultiheadAttention(4, 2, **settings)), call, Q, K, V)


def test_keys_and_values_of_other_sizes():
    modules = both(lambda t: t.nn.MultiheadAttention(4, 2, kdim=3, vdim=5))
    assert list(modules[0].state_dict()) == list(modules[1].state_dict())
    compare(modules, lambda t, m, q, k, v: m(q, k, v), Q, K6, V6)


LAYER = {"dim_feedforward": 7, "dropout": 0.0}
SETTINGS = [
    {},
    {"norm_first": True, "activation": "gelu"},
    {"batch_first": True, "bias": False},
    {"layer_norm_eps": 1e-2, "activation": "tanh"},
]


def settings_of(t, settings):
    own = {**LAYER, **settings}
    return {**own, "activation": t.tanh} if own.get("activation") == "tanh" else own


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_layers(settings):
    first = settings.get("batch_first")
    x, memory, padding = (Q.swapaxes(0, 1), MEMORY.swapaxes(0, 1), PADDING) if first else (Q, MEMORY, PADDING)
    encoder = both(lambda t: t.nn.TransformerEncoderLayer(4, 2, **settings_of(t, settings)))
    compare(encoder, lambda t, m, x: m(x), x)
    compare(encoder, lambda t, m, x: m(x, **masks(t, src_mask=MASK, src_key_padding_mask=padding)), x)
    decoder = both(lambda t: t.nn.TransformerDecoderLayer(4, 2, **settings_of(t, settings)))
    compare(decoder, lambda t, m, x, y: m(x, y, **masks(t, tgt_mask=MASK)), x, memory)
    for mine, theirs in (encoder, decoder):
        assert repr(mine) == repr(theirs)
        assert list(mine.state_dict()) == list(theirs.state_dict())


@pytest.mark.parametrize("settings", SETTINGS[:3], ids=str)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_encoder_and_decoder(settings):
    first = settings.get("batch_first")
    source, target = (MEMORY.swapaxes(0, 1), Q.swapaxes(0, 1)) if first else (MEMORY, Q)
    modules = both(lambda t: t.nn.Transformer(4, 2, 2, 1, **LAYER, **settings))

    def program(t, module, source, target):
        mask = t.nn.Transformer.generate_square_subsequent_mask(5, dtype=t.float64)
        return module(source, target, tgt_mask=mask, tgt_is_causal=True)

    compare(modules, program, source, target)
    assert repr(modules[0]) == repr(modules[1])
    assert list(modules[0].state_dict()) == list(modules[1].state_dict())


def test_a_stack_of_layers_has_weights_of_its_own(tmp_path):
    layer = gs.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    stack = gs.nn.TransformerEncoder(layer, 2, norm=gs.nn.LayerNorm(4))
    assert stack.layers[0].linear1.weight is not stack.layers[1].linear1.weight
    assert stack.layers[0].linear1.weight.equal(stack.layers[1].linear1.weight)
    with gs.record(tmp_path / "run.gscope"):
        stack(gs.randn(1, 3, 4))
    log = gs.load(tmp_path / "run.gscope")
    paths = {log.scope_path(log.event(row).scope) for row in range(log.first, log.end)}
    assert {"layers.0.self_attn.out_proj", "layers.1.norm2", "norm"} <= paths


def test_the_causal_mask():
    for t in (gs, torch):
        mask = t.nn.Transformer.generate_square_subsequent_mask(3)
        assert mask.tolist() == [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]]
        assert mask.dtype == t.float32


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda t: t.nn.MultiheadAttention(4, 3), AssertionError, "divisible by num_heads"),
        (lambda t: t.nn.MultiheadAttention(0, 1), ValueError, "greater than 0"),
        (lambda t: t.nn.MultiheadAttention(4, 2)(*[t.ones(3, 1, 5)] * 3), AssertionError, "embedding dim"),
        (
            lambda t: t.nn.MultiheadAttention(4, 2)(*[t.ones(3, 1, 4)] * 3, attn_mask=t.ones(2, 3)),
            RuntimeError,
            "2D attn",
        ),
        (
            lambda t: t.nn.MultiheadAttention(4, 2)(*[t.ones(3, 1, 4)] * 3, is_causal=True),
            RuntimeError,
            "Need attn_mask",
        ),
        (
            lambda t: t.nn.MultiheadAttention(4, 2)(*[t.ones(3, 1, 4)] * 3, key_padding_mask=t.ones(2, 3)),
            AssertionError,
            "key_padd",
        ),
        (
            lambda t: t.nn.TransformerEncoderLayer(4, 2, activation="x"),
            RuntimeError,
            "activation should be relu/gelu, not x",
        ),
        (lambda t: t.nn.Transformer(4, 2, 1, 1, 4)(t.ones(3, 1, 4), t.ones(3, 2, 4)), RuntimeError, "batch number"),
        (lambda t: t.nn.Transformer(4, 2, 1, 1, 4)(t.ones(3, 1, 5), t.ones(3, 1, 4)), RuntimeError, "feature number"),
    ],
)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_both_refuse_what_makes_no_sense(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t)
