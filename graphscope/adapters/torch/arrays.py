"""Arrays of NumPy that a program takes over as tensors: their leaves are told at the line that did."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.kit.imported import importers
from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog.places import site_number

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session


class Arrays:
    """Follows `torch.from_numpy`, which no mode sees. The value is read at the first use: arrays are filled later."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._sites: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        """By the `id` of a tensor."""

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced."""
        taking = self._followed(torch.from_numpy)
        for module, name in importers({"from_numpy": torch.from_numpy}):
            yield module, name, taking

    def site(self, tensor: torch.Tensor) -> int:
        """The number of the line that took over the array of a tensor; 0 where none was seen to."""
        reference, number = self._sites.get(id(tensor), (None, 0))
        return number if reference is not None and reference() is tensor else 0

    def _followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self.session

        @functools.wraps(original)
        def from_numpy(array: Any) -> Any:
            tensor = original(array)
            if not session.ended and not session.places.here.busy:
                self._note(tensor, _getframe(1))
            return tensor

        return from_numpy

    @guarded
    def _note(self, tensor: torch.Tensor, frame: FrameType) -> None:
        key = id(tensor)
        reference = compiled.Reference(tensor, functools.partial(self._sites.pop, key))
        self._sites[key] = reference, site_number(self.session.writer, self.session.frames.user(frame))
