"""Tables looked up by number: embeddings, and numbers as one-hot vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.row_sums import add_rows
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.gathering import integers, raw

__all__: list[str] = []


def _padding(padding_idx: int | None, length: int) -> int | None:
    if padding_idx is None:
        return None
    if not -length <= padding_idx < length:
        raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} for {length} rows")
    return padding_idx % length


def _to_embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    if len(weight.shape) != 2:
        raise RuntimeError(f"'weight' must be 2-D, not of shape {tuple(weight.shape)}")
    length = weight.shape[0]
    numbers = raw(input)
    try:
        integers(numbers, "embedding", length=length)
    except IndexError as error:
        raise IndexError(f"index out of range in self: {error}; the table has {length} rows") from None
    if max_norm is not None:
        _shorten(raw(weight), numbers, max_norm, norm_type)
    return (weight, input), {
        "padding_idx": _padding(padding_idx, length),
        "scale_grad_by_freq": scale_grad_by_freq,
        "_from": tuple(weight.shape),
    }


def _shorten(weight: np.ndarray, numbers: Any, most: float, power: float) -> None:
    """Scale the rows that are looked up, in place, to norms of `most` at most."""
    rows = np.unique(numbers)
    norms = np.linalg.norm(weight[rows], power, axis=1)
    long = norms > most
    weight[rows[long]] *= (most / (norms[long] + 1e-7))[:, None].astype(weight.dtype)


def _table(x: Any, y: Any, *, padding_idx: int | None, scale_grad_by_freq: bool, shape: tuple[int, ...]) -> Any:
    numbers = np.reshape(y, -1)
    rows = np.reshape(x, (numbers.size, shape[1]))
    if scale_grad_by_freq:
        rows = rows / np.bincount(numbers)[numbers][:, None].astype(rows.dtype)
    out = add_rows(rows, numbers, shape[0])
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


def _cotangent(g: Any, y: Any, *, padding_idx: int | None, scale_grad_by_freq: bool) -> Any:
    rows = embedding(y, g)
    if scale_grad_by_freq:
        numbers = raw(y)
        times = np.bincount(np.reshape(numbers, -1))[numbers][..., None].astype(g.dtype)
        rows = rows / (times if isinstance(y, np.ndarray) else Tensor(times))
    return rows if padding_idx is None else rows * (y != padding_idx)[..., None]


embedding: Any = define(
    "embedding", "Rows of a table x, looked up by number y; the row `padding_idx` gets no gradient.",
    formula="out = x[y]",
    tensor_method=False, promotes=False, torch="nn.functional.embedding",
    prepare=_to_embedding,
    forward=lambda x, y, *, padding_idx, scale_grad_by_freq, _from: np.take(x, y, 0),
    vjp=[lambda g, y, *, padding_idx, scale_grad_by_freq, _from: table_of(g, y, padding_idx, scale_grad_by_freq, _from),
         None],
    shape=lambda x, y, **_: (*y, x[1]),
    samples=[(np.array([[0, 2], [2, 1]]), (3, 4)), (np.array([0, 0]), (3, 2), {"scale_grad_by_freq": True}),
             (np.array([0, 2, 0]), (3, 2), {"padding_idx": 0}),
             (np.array(1), (3, 2))],
)  # fmt: skip

table_of: Any = define(
    "table_of", "Rows added up by number y in a table of zeros: what embedding takes back.", formula="out[y] += x",
    tensor_method=False, promotes=False, grad_name="EmbeddingDenseBackwardBackward0",
    prepare=lambda x, y, padding_idx, scale_grad_by_freq, shape: (
        (x, y), {"padding_idx": padding_idx, "scale_grad_by_freq": scale_grad_by_freq, "shape": tuple(shape)}),
    forward=_table,
    vjp=[_cotangent,
         None],
    shape=shapes.given,
    samples=[((2, 4), np.array([0, 2]), {"padding_idx": None, "scale_grad_by_freq": False, "shape": (3, 4)}),
             ((3, 4), np.array([0, 2, 2]), {"padding_idx": 0, "scale_grad_by_freq": False, "shape": (3, 4)})],
)  # fmt: skip


def _to_one_hot(tensor: Any, num_classes: int = -1) -> Any:
    numbers = raw(tensor)
    if numbers.dtype != np.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, not {numbers.dtype}")
    if not numbers.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor: give num_classes.")
    if numbers.size and numbers.min() < 0:
        raise RuntimeError(f"Class values must be non-negative, but {numbers.min()} is among them.")
    if num_classes == -1:
        num_classes = int(numbers.max()) + 1
    if numbers.size and numbers.max() >= num_classes:
        raise RuntimeError(f"Class values must be smaller than num_classes: {numbers.max()} is not, of {num_classes}.")
    return (tensor,), {"num_classes": num_classes}


one_hot = define(
    "one_hot", "Numbers as vectors that are 1 at that place and 0 elsewhere.",
    tensor_method=False,
    prepare=_to_one_hot,
    forward=lambda x, *, num_classes: (x[..., None] == np.arange(num_classes)).astype(np.int64),
    vjp=[None],
    shape=lambda x, *, num_classes: (*x, num_classes),
    samples=[(np.array([0, 2, 1]),), (np.array([[0], [2]]), {"num_classes": 4}), (np.array(1),)],
)  # fmt: skip
