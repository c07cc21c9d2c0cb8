"""What a composite op computes on its way is what PyTorch computes when the same is written out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.compare.expansions import expand
from graphscope.compare.expansions.table import EXPANSIONS

torch = pytest.importorskip("torch")

F = torch.nn.functional
pytestmark = pytest.mark.torch


def _random(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape)))


def _module(kind: str, *given: Any, **named: Any) -> Any:
    torch.manual_seed(3)
    return getattr(torch.nn, kind)(*given, **named)


X, Y = _random(4, 6, 8), torch.roll(_random(4, 6, 8), 1, 0)
P, Q = torch.sigmoid(X), torch.softmax(Y, -1)
IMAGE, WEIGHT = _random(2, 4, 9, 7), _random(6, 4, 3, 3)
LOGITS, TARGET = _random(6, 5), torch.tensor([0, 4, 2, -100, 1, 3])
DENSE = torch.tensor([[[0, 1], [2, -100]], [[1, 1], [0, 3]]])
HEADS = _random(2, 4, 5, 8)
LEAVES_OUT = torch.tensor([[False] * 5 + [True], [False] * 6, [False] * 4 + [True] * 2, [False] * 6])
REDUCTIONS = ("none", "sum", "mean")


def _losses(name: str, *given: Any, **named: Any) -> dict[str, Callable[[], Any]]:
    call = getattr(F, name)
    return {
        f"{name} {reduction} {sorted(named)}": (lambda reduction=reduction: call(*given, reduction=reduction, **named))
        for reduction in REDUCTIONS
    }


CALLS: dict[str, Callable[[], Any]] = {
    "linear": lambda: F.linear(X, _random(3, 8), _random(3)),
    "linear without bias": lambda: F.linear(X, _random(3, 8)),
    "linear of a vector": lambda: F.linear(X[0, 0], _random(3, 8), _random(3)),
    "addmm": lambda: torch.addmm(_random(6), X[0], _random(8, 6)),
    "addmm scaled": lambda: torch.addmm(_random(6, 6), X[0], _random(8, 6), beta=0.5, alpha=2),
    "addmv": lambda: torch.addmv(_random(6), X[0], _random(8), alpha=3),
    "baddbmm": lambda: torch.baddbmm(_random(4, 6, 3), X, _random(4, 8, 3), beta=2),
    "addbmm": lambda: torch.addbmm(_random(6, 3), X, _random(4, 8, 3), beta=2, alpha=0.1),
    "addcmul": lambda: torch.addcmul(X, Y, P, value=0.1),
    "addcdiv": lambda: torch.addcdiv(X, Y, P, value=-0.1),
    "lerp": lambda: torch.lerp(X, Y, 0.3),
    "lerp of a tensor": lambda: X.lerp(Y, P),
    "embedding": lambda: F.embedding(TARGET.clamp(min=0), LOGITS, padding_idx=0),
    "einsum": lambda: torch.einsum("bij,bkj->bik", X, Y),
    "einsum of three": lambda: torch.einsum("bij,bkj,kl->bil", X, Y, _random(6, 2)),
    "einsum without a result": lambda: torch.einsum("ij,jk", X[0], _random(8, 2)),
    "layer_norm": lambda: _module("LayerNorm", 8)(X),
    "layer_norm of two axes": lambda: F.layer_norm(X, (6, 8), _random(6, 8), _random(6, 8), 1e-3),
    "layer_norm bare": lambda: F.layer_norm(X * 1e-3, (8,), eps=1e-12),
    "rms_norm": lambda: F.rms_norm(X, (8,), _random(8), 1e-4),
    "rms_norm with the eps of the dtype": lambda: F.rms_norm(X * 1e-3, (6, 8)),
    "batch_norm": lambda: _module("BatchNorm2d", 4)(IMAGE),
    "batch_norm that was trained": lambda: _module("BatchNorm2d", 4, affine=False).eval()(IMAGE),
    "batch_norm of vectors": lambda: _module("BatchNorm1d", 5, eps=0.1)(LOGITS),
    "batch_norm of given statistics": lambda: F.batch_norm(IMAGE, _random(4), _random(4).abs(), _random(4), None),
    "group_norm": lambda: _module("GroupNorm", 2, 4)(IMAGE),
    "group_norm bare": lambda: F.group_norm(X, 3, eps=1e-2),
    "instance_norm": lambda: F.instance_norm(IMAGE, weight=_random(4), bias=_random(4)),
    "instance_norm of given statistics": lambda: F.instance_norm(
        IMAGE, _random(4), _random(4).abs(), use_input_stats=False
    ),
    "normalize": lambda: F.normalize(X),
    "normalize by another norm": lambda: F.normalize(X, p=1, dim=-1, eps=1e-2),
    "normalize nothing": lambda: F.normalize(torch.zeros(2, 3)),
    "cosine_similarity": lambda: F.cosine_similarity(X, Y),
    "cosine_similarity last": lambda: F.cosine_similarity(X, Y, dim=-1, eps=1e-3),
    "var": lambda: X.var(),
    "var of an axis": lambda: X.var(1, unbiased=False, keepdim=True),
    "var of axes": lambda: torch.var(X, (0, 2), correction=2),
    "var biased": lambda: torch.var(X, False),
    "std": lambda: X.std(-1),
    "softmax": lambda: F.softmax(X, -1),
    "softmax torch": lambda: torch.softmax(X * 100, 1),
    "softmax in double": lambda: torch.softmax(X, dim=-1, dtype=torch.float64),
    "log_softmax": lambda: X.log_softmax(0),
    "logsumexp": lambda: torch.logsumexp(X, -1),
    "logsumexp of two axes": lambda: torch.logsumexp(X, (0, 2), keepdim=True),
    "gelu": lambda: F.gelu(X * 3),
    "gelu tanh": lambda: F.gelu(X * 3, approximate="tanh"),
    "silu": lambda: F.silu(X * 5),
    "glu": lambda: F.glu(X, 1),
    "mish": lambda: F.mish(X * 4),
    "softplus": lambda: F.softplus(X * 9),
    "softplus scaled": lambda: F.softplus(X * 9, 2, 3),
    **_losses("mse_loss", X, Y),
    **_losses("l1_loss", X, Y),
    **_losses("smooth_l1_loss", X, Y, beta=0.3),
    **_losses("huber_loss", X, Y, delta=0.3),
    **_losses("binary_cross_entropy", P, Q),
    **_losses("binary_cross_entropy", P, Q, weight=_random(8).abs()),
    **_losses("binary_cross_entropy_with_logits", X * 9, Q),
    **_losses("binary_cross_entropy_with_logits", X, Q, weight=_random(8).abs(), pos_weight=_random(8).abs()),
    **_losses("kl_div", torch.log_softmax(X, -1), Q),
    **_losses("kl_div", torch.log_softmax(X, -1), Q.log(), log_target=True),
    "kl_div batchmean": lambda: F.kl_div(torch.log_softmax(X, -1), Q, reduction="batchmean"),
    **_losses("nll_loss", LOGITS, TARGET),
    **_losses("nll_loss", LOGITS, TARGET.clamp(min=0), weight=_random(5).abs(), ignore_index=2),
    **_losses("cross_entropy", LOGITS, TARGET),
    **_losses("cross_entropy", LOGITS, TARGET, weight=_random(5).abs(), label_smoothing=0.2),
    **_losses("cross_entropy", LOGITS, TARGET.clamp(min=0), ignore_index=1, label_smoothing=0.1),
    **_losses("cross_entropy", LOGITS, torch.softmax(LOGITS * 2, 1), weight=_random(5).abs(), label_smoothing=0.1),
    **_losses("cross_entropy", _random(2, 4, 2, 2), DENSE, weight=_random(4).abs()),
    "cross_entropy of one": lambda: F.cross_entropy(LOGITS[0], TARGET[2]),
    "conv1d": lambda: F.conv1d(IMAGE[:, :, 0], WEIGHT[:, :, 0], _random(6), 2, 1),
    "conv2d": lambda: F.conv2d(IMAGE, WEIGHT, _random(6)),
    "conv2d unlike each way": lambda: F.conv2d(IMAGE, WEIGHT, None, (2, 1), (1, 2), (1, 2)),
    "conv2d of groups": lambda: F.conv2d(IMAGE, _random(8, 2, 3, 2), _random(8), groups=2),
    "conv2d of one image": lambda: F.conv2d(IMAGE[0], WEIGHT, _random(6), padding=1),
    "conv2d same": lambda: F.conv2d(IMAGE, _random(6, 4, 2, 3), padding="same", dilation=2),
    "conv2d valid": lambda: F.conv2d(IMAGE, WEIGHT, padding="valid", stride=3),
    "conv2d padded by its edge": lambda: _module("Conv2d", 4, 5, 3, padding=2, padding_mode="reflect")(IMAGE),
    "conv2d circular": lambda: _module("Conv2d", 4, 4, 3, padding=1, padding_mode="circular", groups=4)(IMAGE),
    "conv3d": lambda: F.conv3d(_random(1, 2, 4, 5, 6), _random(3, 2, 2, 3, 2), _random(3), padding=1, stride=(1, 2, 1)),
    "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(HEADS, HEADS, HEADS),
    "scaled_dot_product_attention causal": lambda: F.scaled_dot_product_attention(
        HEADS, HEADS, HEADS, is_causal=True, scale=0.2
    ),
    "scaled_dot_product_attention of a mask": lambda: F.scaled_dot_product_attention(
        HEADS, HEADS, HEADS, torch.ones(5, 5).tril().bool(), 0.0
    ),
    "scaled_dot_product_attention of numbers": lambda: F.scaled_dot_product_attention(
        HEADS, HEADS, HEADS, _random(5, 5)
    ),
    "scaled_dot_product_attention across": lambda: F.scaled_dot_product_attention(
        HEADS, _random(2, 4, 3, 8), _random(2, 4, 3, 6)
    ),
    "scaled_dot_product_attention of groups": lambda: F.scaled_dot_product_attention(
        HEADS, _random(2, 2, 5, 8), _random(2, 2, 5, 8), enable_gqa=True
    ),
    "multi_head_attention_forward": lambda: _module("MultiheadAttention", 8, 2, batch_first=True)(X, X, X),
    "multi_head_attention_forward causal": lambda: _module("MultiheadAttention", 8, 2)(
        X, X, X, attn_mask=torch.ones(4, 4).triu(1).bool(), need_weights=False, is_causal=True
    ),
    "multi_head_attention_forward padded": lambda: _module("MultiheadAttention", 8, 4, bias=False, batch_first=True)(
        X, X, X, key_padding_mask=LEAVES_OUT
    ),
    "multi_head_attention_forward across": lambda: _module("MultiheadAttention", 8, 2, kdim=6, vdim=5)(
        X, _random(3, 6, 6), _random(3, 6, 5), attn_mask=_random(4, 3)
    ),
    "multi_head_attention_forward of one": lambda: _module("MultiheadAttention", 8, 2)(X[0], X[0], X[0]),
    "lstm": lambda: _module("LSTM", 8, 5)(X),
    "lstm of two layers both ways": lambda: _module("LSTM", 8, 5, 2, batch_first=True, bidirectional=True)(X),
    "lstm without bias": lambda: _module("LSTM", 8, 5, bias=False)(X, (_random(1, 6, 5), _random(1, 6, 5))),
    "gru": lambda: _module("GRU", 8, 5, 2, bidirectional=True)(X),
    "rnn_tanh": lambda: _module("RNN", 8, 5)(X),
    "rnn_relu": lambda: _module("RNN", 8, 5, nonlinearity="relu", batch_first=True)(X),
    "lstm_cell": lambda: _module("LSTMCell", 8, 5)(X[0]),
    "gru_cell": lambda: _module("GRUCell", 8, 5)(X[0], _random(6, 5)),
    "rnn_tanh_cell": lambda: _module("RNNCell", 8, 5, bias=False)(X[0]),
    "rnn_relu_cell": lambda: _module("RNNCell", 8, 5, nonlinearity="relu")(X[0]),
}


def _record(call: Callable[[], Any], op: str) -> Any:
    with gs.record(values="full") as log:
        call()
    return next(node for node in log.graph.nodes if node.kind == "op" and node.op == op)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("name", CALLS)
def test_the_last_part_is_the_result(name: str) -> None:
    """What is computed from the recorded inputs is what PyTorch made of them."""
    node = _record(CALLS[name], name.split()[0])
    parts = expand(node)
    assert parts is not None
    assert parts[-1].value.shape == node.shape
    np.testing.assert_allclose(parts[-1].value, node.value, rtol=2e-4, atol=2e-5)


def test_every_op_of_the_table_is_called() -> None:
    """No expansion without a call."""
    assert {name.split()[0] for name in CALLS} == set(EXPANSIONS)


PARTS: dict[str, dict[str, Callable[[], Any]]] = {
    "layer_norm bare": {
        "mean": lambda: (X * 1e-3).mean(-1, keepdim=True),
        "variance": lambda: (X * 1e-3).var(-1, unbiased=False, keepdim=True),
        "variance + eps": lambda: (X * 1e-3).var(-1, unbiased=False, keepdim=True) + 1e-12,
    },
    "rms_norm": {"mean of squares": lambda: X.pow(2).mean(-1, keepdim=True)},
    "batch_norm": {"variance": lambda: IMAGE.var((0, 2, 3), unbiased=False, keepdim=True)},
    "group_norm": {"normalised": lambda: F.group_norm(IMAGE, 2)},
    "scaled_dot_product_attention causal": {
        "scores": lambda: HEADS @ HEADS.mT,
        "scaled": lambda: HEADS @ HEADS.mT * 0.2,
        "masked": lambda: (HEADS @ HEADS.mT * 0.2).masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf),
        "weights": lambda: (HEADS @ HEADS.mT * 0.2).masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf).softmax(-1),
    },
    "cross_entropy mean []": {
        "log_softmax": lambda: LOGITS.log_softmax(1),
        "each element": lambda: F.cross_entropy(LOGITS, TARGET, reduction="none"),
    },
    "gelu": {"erf": lambda: torch.erf(X * 3 / math.sqrt(2))},
    "gelu tanh": {"tanh": lambda: torch.tanh(math.sqrt(2 / math.pi) * (X * 3 + 0.044715 * (X * 3) ** 3))},
    "linear": {"product": lambda: X @ _random(3, 8).T},
    "conv2d": {"product": lambda: F.conv2d(IMAGE, WEIGHT)},
    "einsum of three": {"-> bik": lambda: torch.einsum("bij,bkj->bik", X, Y)},
    "softmax": {"sum": lambda: (X - X.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True)},
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_those_of_the_op_written_out(name: str) -> None:
    """Each value on the way is one that a program makes which writes the op out."""
    parts = expand(_record(CALLS[name], name.split()[0])) or ()
    found = {part.label: part.value for part in parts}
    for label, written in PARTS[name].items():
        np.testing.assert_allclose(found[label], written().numpy(), rtol=1e-5, atol=1e-6)


def test_a_part_names_the_constants_that_come_in() -> None:
    """Defaults among them, which a call does not say."""
    parts = expand(_record(CALLS["layer_norm"], "layer_norm")) or ()
    assert [part.constants for part in parts if part.label == "variance + eps"] == [{"eps": 1e-5}]


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize(
    "call",
    [
        lambda: F.scaled_dot_product_attention(HEADS, HEADS, HEADS, dropout_p=0.5),
        lambda: _module("LSTM", 8, 5, proj_size=3)(X),
        lambda: _module("LSTM", 8, 5, 2, dropout=0.9)(X),
    ],
)
def test_what_is_not_known_has_no_parts(call: Callable[[], Any]) -> None:
    """Dropout and options that are not computed here give no parts rather than wrong ones."""
    with gs.record(values="full") as log:
        call()
    for node in log.graph.nodes:
        assert node.op not in ("lstm", "scaled_dot_product_attention") or expand(node) is None


@pytest.mark.parametrize("values", ["none", "summary"])
def test_without_values_there_are_no_parts(values: str) -> None:
    """Nothing is computed from what was not kept."""
    with gs.record(values=values) as log:
        F.layer_norm(_random(64, 64), (64,))
    assert [expand(node) for node in log.graph.nodes if node.op == "layer_norm"] == [None]
