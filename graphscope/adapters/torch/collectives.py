"""Collectives: what the ranks of a program do together has a row on each rank, under the same group and number."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch

from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.guarding import guarded
from graphscope.adapters.torch.identity import Known, wrote
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.unusual import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, Flag, Kind, Pass

COLLECTIVES: Final = {
    "all_reduce": ("tensor", "tensor"),
    "broadcast": ("tensor", "tensor"),
    "reduce": ("tensor", "tensor"),
    "all_gather": ("tensor_list", "tensor"),
    "all_gather_into_tensor": ("output_tensor", "input_tensor"),
    "gather": ("gather_list", "tensor"),
    "scatter": ("tensor", "scatter_list"),
    "reduce_scatter": ("output", "input_list"),
    "reduce_scatter_tensor": ("output", "input"),
    "all_to_all": ("output_tensor_list", "input_tensor_list"),
    "all_to_all_single": ("output", "input"),
    "barrier": ("", ""),
}
"""Functions of `torch.distributed`: the parameters that they write to, and those that they read."""

TURN: Final = 1 << 16
"""Numbers begin again after so many, so that a long run needs no more room than a short one."""


class Collectives:
    """Follows the collectives of a process, and the averaging that `DistributedDataParallel` does by itself."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._counts: Counter[str] = Counter()
        self._replicas: list[weakref.ref[Any]] = []
        """Replicas that ran forward and will average gradients at the end of the backward pass."""

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        library = sys.modules.get("torch.distributed.distributed_c10d")
        if library is not None:
            for name in COLLECTIVES:
                original = getattr(library, name, None)
                if original is not None:
                    replacement = self._wrapped(name, original)
                    for owner in (library, torch.distributed):
                        if owner.__dict__.get(name) is original:
                            yield owner, name, replacement
        replica = torch.nn.parallel.DistributedDataParallel
        yield replica, "forward", self._forward(replica.forward)

    def _wrapped(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self.session
        signature = inspect.signature(original)

        @functools.wraps(original)
        def collective(*args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            if session.ended or place.busy:
                return original(*args, **kwargs)
            place.busy = True  # what it calls to do its work is part of it
            start = session.writer.clock()
            try:
                result = original(*args, **kwargs)
            finally:
                place.busy = False
            self._met(name, signature, args, kwargs, session.frames.user(_getframe(1)), start)
            return result

        return collective

    def _forward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def forward(replica: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.is_grad_enabled() and replica.require_backward_grad_sync and not self.session.ended:
                self._replicas.append(weakref.ref(replica))
            return original(replica, *args, **kwargs)

        return forward

    @guarded
    def _met(self, name: str, signature: Any, args: Any, kwargs: Any, frame: FrameType, start: int) -> None:
        """Append the rows of a collective that was called: one for each tensor that it wrote to."""
        session = self.session
        writer = session.writer
        given = signature.bind(*args, **kwargs).arguments
        written, read = COLLECTIVES[name]
        attributes = self._attributes(given.get("group"))
        if attributes is None:
            return
        if given.get("async_op"):
            attributes["asynchronous"] = True
        for key in ("op", "src", "dst"):
            if key in given and isinstance(given[key], int):
                attributes[key] = given[key]
        sources = [
            session.leaves.meet(each, frame, None).row
            for each in flattened(given.get(read))
            if isinstance(each, torch.Tensor)
        ]
        targets = [each for each in flattened(given.get(written)) if isinstance(each, torch.Tensor)]
        end = writer.clock()
        common: dict[str, Any] = {
            "op": session.op(name, "What the ranks of a group do together."),
            "site": site_number(writer, frame),
            "scope": session.places.here.context.path.number(writer),
            "attrs": writer.attributes(attributes),
            "graph_pass": Pass.BACKWARD if session.places.here.context.backward else Pass.FORWARD,
            "input_count": len(sources),
        }
        for target in targets:
            self._write(target, sources, common, frame, start, end, "asynchronous" in attributes)
        if not targets:
            template = writer.template(Kind.OP, shape=(), dtype=None, **common)
            session.append_many(template, None, sources, end, end - start)

    def _write(
        self, target: torch.Tensor, sources: list[int], common: Any, frame: FrameType, start: int, end: int, late: bool
    ) -> None:
        session = self.session
        known: Known = session.identities.find(target) or session.leaves.leaf(target, frame)
        more = known.extended()
        template = session.writer.template(
            Kind.OP, shape=shape_of(target), dtype=log_dtype(target.dtype), version=more.versions + 1,
            flags=Flag.IN_PLACE | Flag.NO_GRAD, **common,
        )  # fmt: skip
        form = Keeping(template)
        value: Any = None
        if late:  # it is not written yet
            template = form.unkept
        else:
            template, value = form.read(target)
        first = more.first if more.first >= session.writer.base else None
        wrote(known, target, session.append_many(template, value, sources, end, end - start, tensor=first))

    def averaged(self, frame: FrameType) -> None:
        """At the end of a backward pass: append what replicas made of their gradients, together with other ranks."""
        replicas = {replica for each in self._replicas if (replica := each()) is not None}
        self._replicas.clear()
        for replica in replicas:
            self._average(replica, frame)

    def _average(self, replica: Any, frame: FrameType) -> None:
        session = self.session
        writer = session.writer
        reached = [
            (each, known)
            for each in replica.parameters()
            if each.grad is not None and (known := session.identities.find(each)) is not None and known.more is not None
        ]
        attributes = self._attributes(replica.process_group) if reached else None
        if attributes is None:
            return
        now = writer.clock()
        for parameter, known in reached:
            more = known.extended()
            gradient = parameter.grad
            form = Keeping(
                writer.template(
                    Kind.ACCUMULATE,
                    op=session.op("all_reduce", "What the ranks of a group do together."),
                    site=site_number(writer, frame),
                    shape=shape_of(gradient),
                    dtype=log_dtype(gradient.dtype),
                    attrs=writer.attributes(attributes),
                    flags=Flag.FRESH,
                    graph_pass=Pass.BACKWARD,
                    input_count=int(bool(more.accumulated)),
                )
            )
            template, value = form.read(gradient)
            more.accumulated = writer.append(template, value, now, 0, known.row & ROW_MASK, more.accumulated)

    def _attributes(self, group: Any) -> dict[str, Any] | None:
        """What tells a collective from all others; None in a process that is not of the group."""
        library = torch.distributed.distributed_c10d
        if group is None:
            group = library._get_default_group()
        if group is library.GroupMember.NON_GROUP_MEMBER:
            return None
        name = str(group.group_name)
        number = self._counts[name] % TURN
        self._counts[name] += 1
        return {"group": name, "number": number, "ranks": library.get_process_group_ranks(group)}
