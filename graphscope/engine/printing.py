"""How a tensor prints: as PyTorch prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.engine import dtypes

if TYPE_CHECKING:
    from graphscope.engine.tensor import Tensor


def tensor_repr(tensor: Tensor) -> str:
    """`tensor([1., 2.], requires_grad=True)` and the like: four digits, long dims cut in the middle."""
    data = np.asarray(tensor.data)
    if data.ndim == 0:
        body = _number(data)
    else:
        body = np.array2string(
            data, precision=4, separator=", ", threshold=1000, edgeitems=3, prefix="tensor(", floatmode="maxprec_equal"
        )
        if data.dtype.kind == "f" and data.size and np.all(np.isfinite(data)) and np.all(data == np.floor(data)):
            body = np.array2string(
                data, precision=0, separator=", ", threshold=1000, edgeitems=3, prefix="tensor(", floatmode="fixed"
            )
    notes = []
    if data.dtype not in (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_):
        notes.append(f"dtype=torch.{data.dtype.name}")
    if tensor.node is not None:
        notes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    return f"tensor({', '.join([body, *notes])})"


def _number(data: np.ndarray) -> str:
    value = data.item()
    if data.dtype.kind != "f":
        return str(value)
    if not np.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e8:
        return f"{int(value)}."
    return f"{value:.4f}" if 1e-4 <= abs(value) < 1e8 else f"{value:.4e}"
