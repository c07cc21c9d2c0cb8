"""What the newest recording of torch knows of a tensor given to `gs.explain`, and tensors of what the log holds."""

from __future__ import annotations

import numpy as np
import torch

from graphscope.adapters.torch.known_tensors import Identities
from graphscope.adapters.torch.tensor_elements import numbers
from graphscope.eventlog.foreign_tensors import TENSOR_READERS, TensorReader
from graphscope.eventlog.schema import ROW_MASK


def register(identities: Identities) -> None:
    """Let the rows and elements of a recording's tensors be found; those of the one before are not known any more."""

    def row(tensor: torch.Tensor) -> int:
        known = identities.find(tensor)
        return -1 if known is None else known.row & ROW_MASK

    TENSOR_READERS["torch"] = TensorReader(row, elements)


def elements(tensor: torch.Tensor) -> np.ndarray | None:
    """The elements of a tensor as numbers that NumPy has; a copy."""
    found = numbers(tensor)
    return None if found is None else np.array(found)


def tensor_of(array: np.ndarray, dtype: str) -> torch.Tensor:
    """A tensor with the elements of an array of the log, of the dtype that the log names; a copy."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.inference_mode(mode=False):
        found = torch.from_numpy(np.array(array))
        named = getattr(torch, dtype, None)
        return found.to(named) if isinstance(named, torch.dtype) else found
