"""Storages that a program resizes: tensors on one that was made smaller reach past its end, where nothing may be read.

Torch looks at the sizes of storages where it makes a view, and no more. To ask each tensor for that of its own costs a
tenth of a small op, so that nobody asks before a program resizes one, or a leaf is met that was on such a one before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from graphscope.adapters.torch import compiled, tensor_base
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.eventlog.interruptions import own

_is_asked = False
"""Whether each tensor is asked."""


class ResizedStorages:
    """Follows the resizing of storages.

    Args:
        resized: Is told of a storage that was resized: what lies on it is to be looked at again.
    """

    def __init__(self, resized: Callable[[Any], None]) -> None:
        self._resized = resized

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        original, resized = torch.UntypedStorage.resize_, self._resized

        @functools.wraps(original)
        def resize_(storage: Any, *args: Any) -> Any:
            _ask_from_now_on()  # ahead of it, for other threads
            result = original(storage, *args)
            resized(storage)
            return result

        yield torch.UntypedStorage, "resize_", resize_


def meet(tensor: torch.Tensor) -> None:
    """A leaf is met for the first time, whose storage may have been resized when nobody looked."""
    if _is_asked or tensor.__class__ not in ORDINARY:
        return
    try:
        if not _reaches(tensor):
            _ask_from_now_on()
    except own(RuntimeError):  # sparse ones have no storage, and a transform of `torch.func` hides it
        pass


def is_within(tensor: torch.Tensor) -> bool:
    """Whether the storage of a tensor reaches as far as its elements do.

    Raises:
        RuntimeError: It has no storage of its own.
    """
    return not _is_asked or _reaches(tensor)


def _reaches(tensor: torch.Tensor) -> bool:
    shape = tensor_base.shape(tensor)
    if 0 in shape:
        return True
    last = sum((size - 1) * stride for size, stride in zip(shape, Own.stride(tensor), strict=True))
    end = (Own.storage_offset(tensor) + last + 1) * Own.element_size(tensor)
    return bool(end <= tensor_base.storage_bytes(Own.untyped_storage(tensor)))


def _ask_from_now_on() -> None:
    global _is_asked
    _is_asked = True
    compiled.look_at_storages(tensor_base.storage_bytes)
