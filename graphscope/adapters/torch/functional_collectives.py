"""Collectives that are ops of torch's own: what distributed tensors, and `torch.distributed._functional_collectives`, use.

They return a tensor before it is there, which is so once the program has waited for it.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.sites import Fields
from graphscope.adapters.torch.tensor_properties import requires_grad, shape_of
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.adapters.torch.collectives import Collectives
    from graphscope.adapters.torch.peers import Message

_OPS: Final = ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast")
"""Each is given a tensor first, and the group, or its name, last."""
_WAIT: Final = "wait_tensor"


class Common(NamedTuple):
    """What the rows of a collective have in common."""

    columns: dict[str, Any]
    number: int
    awaited: Message | None = None
    """What comes from whoever sends."""


class Started(NamedTuple):
    """A collective that has begun."""

    common: Common
    targets: list[Known]
    """What it writes to."""
    row: int


class _Op:
    """An op of torch's, which is called as the recorder says; all else is asked of the op itself."""

    def __init__(self, op: Any, called: Callable[..., Any]) -> None:
        self._op = op
        self._called = called

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._called(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)


class FunctionalCollectives:
    """Follows them.

    Args:
        collectives: Numbers them, and writes their rows.
    """

    def __init__(self, collectives: Collectives) -> None:
        self._collectives = collectives
        self._begun: dict[int, tuple[weakref.ref[torch.Tensor], Started]] = {}
        """What has not been waited for, by the `id` of its result."""

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        if "torch.distributed.distributed_c10d" not in sys.modules:
            return
        space = torch.ops._c10d_functional
        for name in (*_OPS, _WAIT):
            op = getattr(space, name, None)
            if op is not None:
                yield space, name, _Op(op, self._waiting(op) if name == _WAIT else self._followed(name, op))

    def _followed(self, name: str, op: Any) -> Callable[..., Any]:
        session = self._collectives.session

        def collective(*args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            given = (*args, *kwargs.values())
            if session.ended or place.busy or not given or not isinstance(given[0], torch.Tensor):
                return op(*args, **kwargs)
            frame = session.frames.user(_getframe(1))
            place.busy = True  # what it calls to do its work is part of it
            try:
                common = self._come_to(name, given, frame)
                start = session.writer.clock()
                result = op(*args, **kwargs)
            finally:
                place.busy = False
            if common is not None:
                self._made(given[0], result, common, frame, start)
            return result

        return collective

    def _waiting(self, op: Any) -> Callable[..., Any]:
        session = self._collectives.session

        def wait_tensor(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            begun = None if session.ended or place.busy else self._begun.pop(id(tensor), None)
            if begun is None or begun[0]() is not tensor:
                return op(tensor, *args, **kwargs)
            frame = session.frames.user(_getframe(1))
            self._collectives.awaits(begun[1], frame)
            start = session.writer.clock()
            place.busy = True
            try:
                result = op(tensor, *args, **kwargs)
            finally:
                place.busy = False
            self._collectives.waited(begun[1], None, frame, start)
            return result

        return wait_tensor

    @guarded
    def _come_to(self, name: str, given: tuple[Any, ...], frame: FrameType) -> Common | None:
        library, group = torch.distributed.distributed_c10d, given[-1]
        told = self._collectives.told_of(library._resolve_process_group(group) if isinstance(group, str) else group)
        if told is None:
            return None
        told.attributes["asynchronous"] = True
        return self._collectives.come_to(name, told, frame, given[0])

    @guarded
    def _made(self, source: torch.Tensor, result: Any, common: Common, frame: FrameType, start: int) -> None:
        if not isinstance(result, torch.Tensor):
            return
        session = self._collectives.session
        rows = [session.leaves.meet(source, frame, None).row, common.number]
        columns, end = {**common.columns, "input_count": 1}, session.writer.clock()
        flags = Flag.REQUIRES_GRAD if requires_grad(result) else Flag(0)
        template = self._collectives.without_value(Kind.OP, result, {**columns, "flags": flags})
        row = session.writer.append_many(template, None, rows, end, end - start)
        known = session.identities.add(result, row)
        if requires_grad(result):
            session.link(result, row, self._fields(result, columns, frame))
        key = id(result)
        gone = weakref.ref(result, lambda _: self._begun.pop(key, None))
        self._begun[key] = gone, Started(common, [known], row)

    def _fields(self, result: torch.Tensor, columns: dict[str, Any], frame: FrameType) -> Fields:
        """What the rows of the backward node of a collective share."""
        dtype = tensor_base.dtype(result)
        base = {name: columns[name] for name in ("op", "site", "scope")}
        base |= {"shape": shape_of(result), "dtype": log_dtype(dtype), "attrs": 0}
        line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return Fields(self._collectives.session, line, base, dtype)
