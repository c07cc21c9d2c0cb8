"""Contractions: sums of products over given dims of two tensors."""

from __future__ import annotations

import math
from typing import Any

from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.linalg import matmul
from graphscope.engine.ops.shape import expand, permute, reshape

__all__ = ["tensordot"]


def _contracted(dims: Any, ranks: tuple[int, int]) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0 or dims > min(ranks):
            raise RuntimeError(f"tensordot: dims is {dims}; it must be from 0 to the number of dims, {min(ranks)}")
        return list(range(ranks[0] - dims, ranks[0])), list(range(dims))
    left, right = ([part] if isinstance(part, int) else list(part) for part in dims)
    return [dim % ranks[0] for dim in left], [dim % ranks[1] for dim in right]


def _tensordot_shape(a: Any, b: Any, *, dims: Any = 2) -> Any:
    left, right = _contracted(dims, (len(a), len(b)))
    rows = tuple(size for dim, size in enumerate(a) if dim not in left)
    return rows + tuple(size for dim, size in enumerate(b) if dim not in right)


@composite(
    "Sum of products over pairs of dims of two tensors.", formula="out[i, j] = Σ_k x[i, k] · y[k, j]",
    samples=[((2, 3, 4), (3, 4, 2)), ((2, 3), (3, 2), {"dims": 1}), ((2, 3, 4), (4, 5, 2), {"dims": ([0, 2], [2, 0])}),
             ((2,), (3,), {"dims": 0})],
    shape=_tensordot_shape,
)  # fmt: skip
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Sum of products over pairs of dims.

    Args:
        a: The first tensor.
        b: The second tensor.
        dims: How many of the last dims of `a` go with as many of the first of `b`; or two lists of dims.

    Raises:
        RuntimeError: Dims that go together differ in size, or are not equally many.
    """
    left, right = _contracted(dims, (len(a.shape), len(b.shape)))
    if len(left) != len(right):
        raise RuntimeError(f"tensordot: both lists of dims must have the same length, not {len(left)} and {len(right)}")
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise RuntimeError(
                f"tensordot: contracted dims need to match, but dim {i} of the first is {a.shape[i]} "
                f"and dim {j} of the second is {b.shape[j]}"
            )
        if a.shape[i] != b.shape[j]:  # as PyTorch: a dim of size 1 is spread
            whole = max(a.shape[i], b.shape[j])
            a = expand(a, tuple(whole if k == i else size for k, size in enumerate(a.shape)))
            b = expand(b, tuple(whole if k == j else size for k, size in enumerate(b.shape)))
    rows = [dim for dim in range(len(a.shape)) if dim not in left]
    columns = [dim for dim in range(len(b.shape)) if dim not in right]
    count = math.prod(a.shape[i] for i in left)
    x = reshape(permute(a, (*rows, *left)), (math.prod(a.shape[i] for i in rows), count))
    y = reshape(permute(b, (*right, *columns)), (count, math.prod(b.shape[j] for j in columns)))
    return reshape(matmul(x, y), tuple(a.shape[i] for i in rows) + tuple(b.shape[j] for j in columns))
