"""Embeddings: a row of a table for each index."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from graphscope.engine.ops.joining import cat
from graphscope.engine.tensor import Tensor
from graphscope.nn import functional, init
from graphscope.nn.module import Module
from graphscope.nn.parameter import Parameter, blank, overwrite


class Embedding(Module):
    """A table whose rows are looked up by integers. It begins normal; the row of `padding_idx` is 0 and stays."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = blank(num_embeddings, embedding_dim, dtype=dtype)
            self.weight.requires_grad_(not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        _clear_row(self.weight, self.padding_idx)

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


def _largest(rows: Any, counts: Any) -> Any:
    if not rows.shape[1]:
        return rows.sum(1)
    found = rows.max(1)[0]
    return found if counts.all() else found.masked_fill(Tensor(counts == 0), 0.0)


_MODES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda rows, counts: rows.sum(1),
    "mean": lambda rows, counts: rows.sum(1) / Tensor(np.maximum(counts, 1).astype(rows.dtype)),
    "max": _largest,
}
"""By mode: how the rows of each bag become one, given how many count."""


class EmbeddingBag(Module):
    """The sum, mean or maximum of the rows of each bag of indices."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.weight = blank(num_embeddings, embedding_dim, dtype=dtype) if _weight is None else Parameter(_weight)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        if _weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        _clear_row(self.weight, self.padding_idx)

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        if self.mode not in _MODES:
            raise ValueError(f"mode has to be one of sum, mean, max, not {self.mode!r}")
        if per_sample_weights is not None and self.mode != "sum":
            raise NotImplementedError(f"per_sample_weights are there for mode 'sum' alone, not for {self.mode!r}")
        if input.ndim == 2:
            if offsets is not None:
                raise ValueError("if input is 2D, then offsets has to be None, as each row is a bag")
            return self._reduced(input, per_sample_weights)
        if input.ndim != 1 or offsets is None or offsets.ndim != 1:
            raise ValueError("input has to be 2D, or 1D with offsets, which are 1D")
        ends = [*offsets.tolist(), *([] if self.include_last_offset else [len(input)])]
        parts = [slice(begin, end) for begin, end in pairwise(ends)]
        weights = [None if per_sample_weights is None else per_sample_weights[part][None] for part in parts]
        bags = [self._reduced(input[part][None], weight) for part, weight in zip(parts, weights, strict=True)]
        return cat(bags, 0)

    def _reduced(self, bags: Any, weights: Any) -> Any:
        """One row for each bag of (bags, indices); rows of `padding_idx` do not count."""
        rows = functional.embedding(
            bags, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )
        counted = np.ones(bags.shape, bool) if self.padding_idx is None else bags.array != self.padding_idx
        if not counted.all():
            rows = rows.masked_fill(Tensor(~counted[..., None]), -np.inf if self.mode == "max" else 0.0)
        if weights is not None:
            rows = rows * weights[..., None]
        return _MODES[self.mode](rows, counted.sum(1)[:, None])

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


def _clear_row(weight: Any, row: int | None) -> None:
    if row is not None:
        overwrite(weight, np.where(np.arange(len(weight))[:, None] == row, 0, weight.array))


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
