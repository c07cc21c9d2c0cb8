"""Distributed tensors: each rank holds a part of one, an ordinary tensor, and that is what its log tells of.

Nothing here loads what makes them, so that a program that has none pays a look at the classes of its tensors.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, Final

import torch

from graphscope.adapters.torch.tensor_base import ORDINARY

_LIBRARIES: Final = ("torch.distributed.tensor", "torch.distributed._tensor")
"""Where their class is, in versions of torch from 2.5 on and before."""
_FUNCTIONAL: Final = "torch.distributed._functional_collectives"
_distributed: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
_awaited: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def is_distributed(kind: type) -> bool:
    """Whether tensors of a class are distributed."""
    found = _distributed.get(kind)
    if found is None:
        found = _distributed[kind] = any(_is_a(kind, library, "DTensor") for library in _LIBRARIES)
    return found


def is_awaited(tensor: torch.Tensor) -> bool:
    """Whether a tensor stands for what a collective is to bring, which nobody has waited for."""
    return _stands_for_result(tensor.__class__) and not tensor.completed  # type: ignore[attr-defined]


def _stands_for_result(kind: type) -> bool:
    found = _awaited.get(kind)
    if found is None:
        found = _awaited[kind] = _is_a(kind, _FUNCTIONAL, "AsyncCollectiveTensor")
    return found


def _is_a(kind: type, library: str, name: str) -> bool:
    base = getattr(sys.modules.get(library), name, None)
    return isinstance(base, type) and issubclass(kind, base)


def held(tensor: torch.Tensor) -> torch.Tensor:
    """What this rank holds of a tensor: its part of a distributed one; of any other, and of what is not there, that.

    What a collective brings is not there before the program has waited for it.
    """
    kind: Any = tensor.__class__
    part: Any = None
    if kind not in ORDINARY:
        if is_distributed(kind):
            part = getattr(tensor, "_local_tensor", None)
        elif _stands_for_result(kind) and not is_awaited(tensor):
            part = tensor.elem  # type: ignore[attr-defined]
    return tensor if part is None else held(part)


def placing(tensor: torch.Tensor) -> dict[str, Any]:
    """How a distributed tensor lies on its mesh, for the log: empty of any other.

    `whole` is its shape, `mesh` that of its mesh, and `placements` has a word for each dimension of that: `Shard(0)`.
    """
    if tensor.__class__ in ORDINARY or not is_distributed(tensor.__class__):
        return {}
    spec: Any = tensor._spec  # type: ignore[attr-defined]
    words = [repr(each).replace("dim=", "") for each in spec.placements]
    return {"whole": list(tensor.shape), "mesh": list(spec.mesh.shape), "placements": words}


def adds_up(tensor: torch.Tensor) -> bool:
    """Whether the parts of a distributed tensor are to be added up: none of them is a piece of it."""
    if tensor.__class__ in ORDINARY or not is_distributed(tensor.__class__):
        return False
    return any(each.is_partial() for each in tensor._spec.placements)  # type: ignore[attr-defined]
