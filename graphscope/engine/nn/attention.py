"""Attention with several heads. Source: Vaswani and others, 2017."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import init
from graphscope.engine.nn.heads import Heads
from graphscope.engine.nn.linear import Linear
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import blank


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` that prints as PyTorch's last projection does."""


class MultiheadAttention(Heads, Module):
    """Each query looks at all keys and takes the mean of their values, by weights; in several heads.

    Args:
        embed_dim: The size of queries and results.
        num_heads: How many heads share it.
        dropout: The probability that a weight is left out.
        bias: Whether the projections have one.
        add_bias_kv: Whether there is a key more, with its value, that is learned.
        add_zero_attn: Whether there is a key more, with its value, of zeros.
        kdim: The size of keys; `embed_dim` if left out.
        vdim: The size of values; `embed_dim` if left out.
        batch_first: Whether the batch is the first dim instead of the second.

    Raises:
        ValueError: A size is not positive.
        AssertionError: The heads can't share `embed_dim`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(f"embed_dim must be divisible by num_heads: {embed_dim} is not by {num_heads}")
        one = self.kdim == embed_dim and self.vdim == embed_dim
        sizes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, size in sizes.items():
            self.register_parameter(name, None if one else blank(embed_dim, size, dtype=dtype))
        self.register_parameter("in_proj_weight", blank(3 * embed_dim, embed_dim, dtype=dtype) if one else None)
        self.register_parameter("in_proj_bias", blank(3 * embed_dim, dtype=dtype) if bias else None)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, blank(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if self._parameters[name] is not None:
                init.xavier_uniform_(self._parameters[name])
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The results, and the weights if they are needed.

        Args:
            query: (queries, batch, embed_dim), or the batch first, or without a batch.
            key: (keys, batch, kdim).
            value: (keys, batch, vdim).
            key_padding_mask: (batch, keys): True (or -inf) where a key does not count.
            need_weights: Whether the weights are returned.
            attn_mask: (queries, keys) or (batch · heads, queries, keys): True where a key may not be seen, or numbers
                that are added.
            average_attn_weights: Whether the weights are the mean of all heads.
            is_causal: A hint that `attn_mask` is causal; it must be given all the same.
        """
        return self.attend(
            query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        )
