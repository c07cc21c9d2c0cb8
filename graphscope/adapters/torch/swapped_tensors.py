"""`torch.utils.swap_tensors`: two tensors change places, which is refused where somebody has a weak reference to one.

Modules swap where `torch.__future__.set_swap_module_params_on_conversion` says so. That the recorder knows a tensor is
no reference of the program's, also when the recording is over.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from graphscope.adapters.kit import identity
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session

_SWAP = "_swap_tensor_impl"


class Swaps:
    """Follows tensors that change places."""

    def __init__(self, session: Session) -> None:
        self.session = session
        if vars(torch.utils).get("weakref") is weakref:
            vars(torch.utils)["weakref"] = _References()

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        original = getattr(torch._C, _SWAP, None)
        if original is None:
            return

        @functools.wraps(original)
        def swap(one: torch.Tensor, other: torch.Tensor) -> None:
            original(one, other)
            self._swapped(one, other)

        yield torch._C, _SWAP, swap

    @guarded
    def _swapped(self, one: torch.Tensor, other: torch.Tensor) -> None:
        self.session.identities.exchange(one, other)


class _References:
    """The module `weakref`, as what swaps tensors sees it: without references of the recorder's."""

    def __getattr__(self, name: str) -> Any:
        return getattr(weakref, name)

    def getweakrefs(self, tensor: Any) -> list[Any]:
        """The weak references to an object that are not the recorder's."""
        return [each for each in weakref.getweakrefs(tensor) if type(each) not in _OURS]


_OURS = (identity.Reference, compiled.Reference, compiled.Known)
