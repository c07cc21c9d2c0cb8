"""What the log calls torch's dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch

from graphscope.eventlog.schema import DTYPE_CODES


@dataclass(frozen=True)
class NamedDtype:
    """A dtype that NumPy has no name for, as templates ask for it."""

    name: str
    itemsize: int
    kind: str
    isnative: bool = True
    hasobject: bool = False


DTYPES: Final[dict[torch.dtype, Any]] = {
    dtype: np.dtype(str(dtype).removeprefix("torch."))
    for dtype in (
        torch.float32, torch.float64, torch.float16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
} | {torch.bfloat16: NamedDtype("bfloat16", 2, "f")}  # fmt: skip
"""The log's dtypes by torch's."""


def log_dtype(dtype: torch.dtype) -> Any:
    """What the log calls a dtype; one that it has no code for is named and its values are not kept."""
    found = DTYPES.get(dtype)
    if found is None:
        name = str(dtype).removeprefix("torch.")
        kind = "f" if dtype.is_floating_point else "V"
        found = DTYPES[dtype] = (
            np.dtype(name) if name in DTYPE_CODES and hasattr(np, name) else NamedDtype(name, dtype.itemsize, kind)
        )
    return found
