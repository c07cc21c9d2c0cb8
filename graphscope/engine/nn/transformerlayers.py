"""The layers of transformers: attention, then feed-forward, each added to what came in and normalized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


class TransformerEncoderLayer(Module):
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
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        if self.norm_first:
            src = src + self._attend(self.norm1(src), src_mask, src_key_padding_mask)
            return src + self._feed_forward(self.norm2(src))
        src = self.norm1(src + self._attend(src, src_mask, src_key_padding_mask))
        return self.norm2(src + self._feed_forward(src))

    def _attend(self, x: Any, mask: Any, padding: Any) -> Any:
        found, _ = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout1(found)

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Attention of a sequence to itself, then to what the encoder made, then feed-forward.

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
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

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
        within = (tgt_mask, tgt_key_padding_mask)
        across = (memory, memory_mask, memory_key_padding_mask)
        if self.norm_first:
            tgt = tgt + self._attend(self.norm1(tgt), *within)
            tgt = tgt + self._look_back(self.norm2(tgt), *across)
            return tgt + self._feed_forward(self.norm3(tgt))
        tgt = self.norm1(tgt + self._attend(tgt, *within))
        tgt = self.norm2(tgt + self._look_back(tgt, *across))
        return self.norm3(tgt + self._feed_forward(tgt))

    def _attend(self, x: Any, mask: Any, padding: Any) -> Any:
        found, _ = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout1(found)

    def _look_back(self, x: Any, memory: Any, mask: Any, padding: Any) -> Any:
        found, _ = self.multihead_attn(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout2(found)

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
