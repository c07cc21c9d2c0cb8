"""A rank that has no data left, and comes to the collectives of those that have some (`torch.distributed`'s `Join`)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.adapters.torch.collectives import Collectives
    from graphscope.adapters.torch.functional_collectives import Common


class JoinedRank:
    """Knows when the process has joined, and tells of what it brings to the averaging of gradients: nothing.

    Args:
        collectives: What tells of all collectives.
    """

    def __init__(self, collectives: Collectives) -> None:
        self._collectives = collectives
        self.session = collectives.session
        self.is_joined = False

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        replica = torch.nn.parallel.DistributedDataParallel
        library = sys.modules.get("torch.distributed.algorithms.join")
        if library is not None:
            yield library.Join, "__exit__", self._leaving(library.Join.__exit__)
        original = getattr(replica, "_match_all_reduce_for_bwd_pass", None)
        if original is not None:
            yield replica, "_match_all_reduce_for_bwd_pass", self._matching(original)

    def _leaving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What a process does at the end of its data."""

        @functools.wraps(original)
        def leave(context: Any, *args: Any) -> Any:
            self.is_joined = True
            try:
                return original(context, *args)
            finally:
                self.is_joined = False

        return leave

    def _matching(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        """What brings zeros to the averaging in the backward pass of the others."""
        session = self.session

        @functools.wraps(original)
        def match(replica: Any) -> None:
            frame = None if session.ended else session.frames.user(_getframe(1))
            common = None if frame is None else self._begin(replica, frame)
            original(replica)
            if common is not None:
                self._end(common)

        return match

    @guarded
    def _begin(self, replica: Any, frame: FrameType) -> Common | None:
        told = self._collectives.told_of(replica.process_group)
        return None if told is None else self._collectives.come_to("all_reduce", told, frame)

    @guarded
    def _end(self, common: Common) -> None:
        writer = self.session.writer
        template = self._collectives.without_value(Kind.OP, None, {**common.columns, "input_count": 0})
        writer.append_many(template, None, [common.number], writer.clock(), 0)
