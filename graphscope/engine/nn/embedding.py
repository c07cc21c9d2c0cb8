"""Embeddings: a row of a table for each index."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.settings import Declared
from graphscope.engine.nn import functional, init
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import Parameter, blank, overwrite


class _Table(Declared, Module):
    """Rows that are looked up by integers. They begin normal; the row of `padding_idx` is 0 and stays."""

    num_embeddings: int
    embedding_dim: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        settings = self.given(args, kwargs)
        weight, dtype, _ = (settings.pop(name) for name in ("_weight", "dtype", "device"))
        frozen = settings.pop("_freeze", False)
        for name, value in settings.items():
            setattr(self, name, value)
        shape = (self.num_embeddings, self.embedding_dim)
        self.padding_idx = _row(settings["padding_idx"], self.num_embeddings)
        if weight is None:
            self.weight = blank(*shape, dtype=dtype)
            self.reset_parameters()
        elif tuple(weight.shape) != shape:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(weight)
        self.weight.requires_grad_(not frozen)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            there = np.arange(self.num_embeddings)[:, None] == self.padding_idx
            overwrite(self.weight, np.where(there, 0, self.weight.array))


class Embedding(_Table):
    """A table whose rows are looked up by integers. It begins normal; the row of `padding_idx` is 0 and stays."""

    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    sparse: bool = False
    _weight: Any = None
    _freeze: bool = False
    device: Any = None
    dtype: Any = None

    def forward(self, input: Any) -> Any:
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + _settings(self)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """An embedding of rows that are there already."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(
            embeddings.shape[0],
            embeddings.shape[1],
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of each bag of indices."""

    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    mode: str = "mean"
    sparse: bool = False
    _weight: Any = None
    include_last_offset: bool = False
    padding_idx: int | None = None
    device: Any = None
    dtype: Any = None

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}" + _settings(self, padding=False)
        text += f", mode={self.mode!r}"
        return text if self.padding_idx is None else f"{text}, padding_idx={self.padding_idx}"


def _row(padding_idx: int | None, count: int) -> int | None:
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % count


def _settings(module: Any, padding: bool = True) -> str:
    parts = []
    if padding and module.padding_idx is not None:
        parts.append(f", padding_idx={module.padding_idx}")
    if module.max_norm is not None:
        parts.append(f", max_norm={module.max_norm}")
    if module.norm_type != 2:
        parts.append(f", norm_type={module.norm_type}")
    if module.scale_grad_by_freq:
        parts.append(f", scale_grad_by_freq={module.scale_grad_by_freq}")
    if module.sparse:
        parts.append(", sparse=True")
    return "".join(parts)
