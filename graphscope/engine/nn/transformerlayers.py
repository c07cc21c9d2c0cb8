"""The layers of transformers: attention, then feed-forward, each added to what came in and normalized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from graphscope.engine.nn import functional
from graphscope.engine.nn.attention import MultiheadAttention
from graphscope.engine.nn.dropout import Dropout
from graphscope.engine.nn.linear import Linear
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.normalization import LayerNorm

ACTIVATIONS = ("relu", "gelu")


def _activation(activation: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    if not isinstance(activation, str):
        return activation
    if activation not in ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    function: Callable[[Any], Any] = getattr(functional, activation)
    return function


class _Layer(Module):
    """Attention and feed-forward parts of a layer; `attentions` names the former."""

    attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        for name in self.attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for number in parts:
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
        for number in parts:
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _activation(activation)

    def _part(self, number: int, x: Any, compute: Callable[[Any], Any]) -> Any:
        """What a part makes of x, added to it; normalized before or after."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        return x + dropout(compute(norm(x))) if self.norm_first else norm(x + dropout(compute(x)))

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _attended(attention: Any, x: Any, memory: Any, mask: Any, padding: Any) -> Any:
    return attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0]


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then feed-forward.

    Args:
        d_model: The size of the vectors.
        nhead: How many heads the attention has.
        dim_feedforward: The size of the feed-forward part within.
        dropout: The probability that an element is left out.
        activation: `relu`, `gelu`, or a function.
        layer_norm_eps: The eps of the layer norms.
        batch_first: Whether the batch is the first dim instead of the second.
        norm_first: Whether each part is normalized before it instead of after it.
        bias: Whether linear layers and norms have one.
    """

    attentions = ("self_attn",)

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        src = self._part(1, src, lambda x: _attended(self.self_attn, x, x, src_mask, src_key_padding_mask))
        return self._part(2, src, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, then to what the encoder made, then feed-forward."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        tgt = self._part(1, tgt, lambda x: _attended(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask))
        across = (memory, memory_mask, memory_key_padding_mask)
        tgt = self._part(2, tgt, lambda x: _attended(self.multihead_attn, x, *across))
        return self._part(3, tgt, self._feed_forward)
