"""Collectives that are ops of torch's own, as distributed tensors and `_functional_collectives` use them.

They return a tensor before it is there, which is so once the program has waited for it.
"""

from __future__ import annotations

import sys
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
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.adapters.torch.collectives import Collectives
    from graphscope.adapters.torch.peers import Message

_OPS: Final = ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast")
"""Each is given a tensor first, and the group, or its name, last."""
_WAIT: Final = "wait_tensor"
_MOST: Final = 4096


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


def _storage_of(tensor: torch.Tensor) -> int:
    return int(tensor_base.Own.untyped_storage(tensor)._cdata)


class FunctionalCollectives:
    """Follows them.

    Args:
        collectives: Numbers them, and writes their rows.
    """

    def __init__(self, collectives: Collectives) -> None:
        self._collectives = collectives
        self._begun: dict[int, Started] = {}
        """What has not been waited for, by the storage of its result: it goes on under other tensors."""

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
            begun = None if session.ended or place.busy else self._begun.pop(_storage_of(tensor), None)
            if begun is None:
                return op(tensor, *args, **kwargs)
            frame = session.frames.user(_getframe(1))
            self._collectives.awaits(begun, frame)
            start = session.writer.clock()
            place.busy = True
            try:
                result = op(tensor, *args, **kwargs)
            finally:
                place.busy = False
            self._ended(tensor, begun, frame, start)
            return result

        return wait_tensor

    @guarded
    def _come_to(self, name: str, given: tuple[Any, ...], frame: FrameType) -> Common | None:
        library: Any = torch.distributed.distributed_c10d
        group = given[-1]
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
        # That has no value: what is there in the end is made of what this rank gave.
        known = session.identities.add(result, row)
        if requires_grad(result):
            session.link(result, row, self._fields(result, columns, frame))
        if len(self._begun) >= _MOST:  # nobody waits for them
            self._begun.clear()
        self._begun[_storage_of(result)] = Started(common, [known], rows[0])

    @guarded
    def _ended(self, tensor: torch.Tensor, begun: Started, frame: FrameType, start: int) -> None:
        session = self._collectives.session
        result = begun.targets[0].extended().first
        known = session.identities.find(tensor) or session.identities.add(tensor, result)
        self._collectives.waited(begun._replace(targets=[known]), None, frame, start)
        awaiting = session.places.here.awaiting
        for each in awaiting:  # what the call that runs was given is there now
            if _storage_of(each.tensor.elem) == _storage_of(tensor):
                each.rows[each.place] = self._arrived(each.tensor, each.rows[each.place], known.row, frame)
        awaiting.clear()

    def _arrived(self, tensor: Any, row: int, source: int, frame: FrameType) -> int:
        """Append the row of a tensor that stood for a result, which is there from now on."""
        session, writer = self._collectives.session, self._collectives.session.writer
        form = Keeping(
            writer.template(
                Kind.OP,
                op=session.op_number("arrived", "What stood for the result of a collective, now that it is there."),
                site=site_number(writer, frame),
                scope=session.places.here.context.path.number(writer),
                shape=shape_of(tensor),
                dtype=log_dtype(tensor_base.dtype(tensor)),
                flags=Flag.VIEW | (Flag.REQUIRES_GRAD if requires_grad(tensor) else Flag(0)),
                graph_pass=Pass.BACKWARD if session.places.here.context.backward else Pass.FORWARD,
                input_count=2,
            )
        )
        template, value = form.read(tensor.elem)
        found = writer.append_many(template, value, [row, source], writer.clock())
        if (known := session.identities.find(tensor)) is not None:
            known.row = found
        return found

    def _fields(self, result: torch.Tensor, columns: dict[str, Any], frame: FrameType) -> Fields:
        """What the rows of the backward node of a collective share."""
        dtype = tensor_base.dtype(result)
        base = {name: columns[name] for name in ("op", "site", "scope")}
        base |= {"shape": shape_of(result), "dtype": log_dtype(dtype), "attrs": 0}
        line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return Fields(self._collectives.session, line, base, dtype)
