"""How examples become a batch: tensors are stacked, numbers become tensors, dicts and tuples keep their form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.create import as_tensor, tensor
from graphscope.engine.ops.joining import stack


def default_collate(batch: Sequence[Any]) -> Any:
    """Make a batch of examples.

    Raises:
        RuntimeError: The examples have different lengths.
        TypeError: They are nothing that can be put together.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray | np.generic):
        if first.dtype.kind not in "biufc":
            raise TypeError(_unknown(first.dtype))
        if isinstance(first, np.ndarray):
            return stack([as_tensor(example) for example in batch], 0)
        return tensor(np.array(batch))
    if isinstance(first, bool):
        return tensor(list(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([example[key] for example in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        if isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*parts)
        return parts  # PyTorch makes lists of tuples, too
    raise TypeError(_unknown(type(first)))


def default_convert(data: Any) -> Any:
    """Make tensors of arrays, where there is no batch."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "biufc":
        return as_tensor(data)
    if isinstance(data, np.generic) and data.dtype.kind in "biufc":
        return tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(part) for key, part in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple | list):
        return [default_convert(part) for part in data]
    return data


def _like(pattern: Mapping[Any, Any], found: dict[Any, Any]) -> Any:
    try:
        return type(pattern)(found)  # type: ignore[call-arg]
    except TypeError:
        return found


def _unknown(kind: object) -> str:
    return f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
