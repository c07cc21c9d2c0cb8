"""Collectives: what the ranks of a program do together has a row on each rank, under the same group and number.

A mark ahead of it says that a rank has come there: one that hangs has that mark, and nothing behind it.
"""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any, Final, NamedTuple

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.functional_collectives import Common, FunctionalCollectives, Started
from graphscope.adapters.torch.joined_rank import JoinedRank
from graphscope.adapters.torch.known_tensors import Known, wrote
from graphscope.adapters.torch.peers import PEERS, Message, message
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.standing_gradients import tell_gradient
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import numbering
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.eventlog.template import Template

COLLECTIVES: Final = {
    "all_reduce": ("tensor", "tensor"),
    "broadcast": ("tensor", "tensor"),
    "reduce": ("tensor", "tensor"),
    "all_gather": ("tensor_list", "tensor"),
    "all_gather_into_tensor": ("output_tensor", "input_tensor"),
    "all_gather_single": ("output_tensor", "input_tensor"),
    "gather": ("gather_list", "tensor"),
    "scatter": ("tensor", "scatter_list"),
    "reduce_scatter": ("output", "input_list"),
    "reduce_scatter_tensor": ("output", "input"),
    "reduce_scatter_single": ("output", "input"),
    "all_to_all": ("output_tensor_list", "input_tensor_list"),
    "all_to_all_single": ("output", "input"),
    "barrier": ("", ""),
    "send": ("", "tensor"),
    "recv": ("tensor", ""),
    "isend": ("", "tensor"),
    "irecv": ("tensor", ""),
}
"""Functions of `torch.distributed`: the parameters that they write to, and those that they read."""


_TOGETHER: Final = "What the ranks of a group do together."


class Told(NamedTuple):
    """What tells a collective from all others."""

    attributes: dict[str, Any]
    """What is the same of many: their group, and the ranks that are in it."""
    number: int
    """It lies in the rows, so that the tables of a long run are those of a short one."""


class Collectives:
    """Follows the collectives of a process, and the averaging that `DistributedDataParallel` does by itself."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._counts: Counter[str] = Counter()
        self.replicas: list[weakref.ref[Any]] = []
        """Replicas that ran forward and will average gradients in the next backward pass."""
        self._seen: dict[Any, Any] = {}
        """What takes the place of a function of torch's."""
        self._started: dict[int, tuple[weakref.ref[Any], Started]] = {}
        """What has not ended when it returns, by the `id` of what the program waits for it with."""
        self._averaging: list[tuple[Any, Told]] = []
        """Replicas that do so now, and what tells their collective from all others."""
        self._joined = JoinedRank(self)

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        library = sys.modules.get("torch.distributed.distributed_c10d")
        if library is not None:
            for name in COLLECTIVES:
                original = getattr(library, name, None)
                if original is not None:
                    replacement = self._wrapped(name, original)
                    self._seen[original] = replacement
                    for owner in (library, torch.distributed):
                        if owner.__dict__.get(name) is original:
                            yield owner, name, replacement
            yield library.Work, "wait", self._waiting(library.Work.wait)
            if hasattr(library, "_check_op"):
                yield library, "_check_op", self._checking(library._check_op)
            if hasattr(library, "P2POp"):
                yield library.P2POp, "__init__", self._beginning(library.P2POp.__init__)
        replica = torch.nn.parallel.DistributedDataParallel
        yield replica, "forward", self._forward(replica.forward)
        yield from self._joined.entries()
        yield from FunctionalCollectives(self).entries()

    def _wrapped(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self.session
        signature = inspect.signature(original)

        @functools.wraps(original)
        def collective(*args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            if session.ended or place.busy:
                return original(*args, **kwargs)
            frame = session.frames.user(_getframe(1))
            place.busy = True  # what it calls to do its work is part of it
            try:
                common = self._announce(name, signature, args, kwargs, frame)
                start = session.writer.clock()
                result = original(*args, **kwargs)
            finally:
                place.busy = False
            if common is not None:
                self._met(name, signature, args, kwargs, common, frame, start, result)
            return result

        return collective

    def _checking(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        """What looks whether a function is `isend` or `irecv`: the program may have got it before it was replaced."""
        return lambda function: original(self._seen.get(function, function))

    def _beginning(self, original: Callable[..., None]) -> Callable[..., None]:
        """One of a batch, which calls that function later."""

        @functools.wraps(original)
        def init(pending: Any, op: Any, *args: Any, **kwargs: Any) -> None:
            original(pending, self._seen.get(op, op), *args, **kwargs)

        return init

    def _waiting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What waits until a collective has ended: its tensors are written then, which is a row of its own."""
        session = self.session

        @functools.wraps(original)
        def wait(work: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            found = None if session.ended or place.busy else self._started.pop(id(work), None)
            if found is None:
                return original(work, *args, **kwargs)
            started = found[1]
            frame = session.frames.user(_getframe(1))
            self.awaits(started, frame)
            start = session.writer.clock()
            result = original(work, *args, **kwargs)
            self.waited(started, work, frame, start)
            return result

        return wait

    @guarded
    def awaits(self, started: Started, frame: FrameType) -> None:
        """Append the mark that says that the program waits for the end of a collective."""
        writer = self.session.writer
        columns, number, _ = started.common
        columns.update(
            op=self.session.op_number("wait", "The end of what was begun together."), site=site_number(writer, frame)
        )
        template = self.without_value(Kind.WAIT, None, {**columns, "input_count": 0})
        writer.append_many(template, None, [number], writer.clock())

    @guarded
    def waited(self, started: Started, work: Any, frame: FrameType, start: int) -> None:
        """Append the rows of what it has written.

        Args:
            started: The collective.
            work: What the program has waited for it with; None where that is its result.
            frame: The program's.
            start: When it began to wait, in nanoseconds.
        """
        writer = self.session.writer
        end = writer.clock()
        alive = [tensor for known in started.targets if (tensor := known()) is not None]
        columns, number, _ = self._arrived(started.common, work, frame, next(iter(alive), None))
        common = Common({**columns, "input_count": 1}, number)
        for tensor in alive:
            self._write(tensor, [started.row], common, frame, start, end, False)
        if not alive:
            template = self.without_value(Kind.OP, None, common.columns)
            writer.append_many(template, None, [started.row, number], end, end - start)

    def _forward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def forward(replica: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.is_grad_enabled() and replica.require_backward_grad_sync and not self.session.ended:
                self.replicas.append(weakref.ref(replica))
            return original(replica, *args, **kwargs)

        return forward

    @guarded
    def _announce(self, name: str, signature: Any, args: Any, kwargs: Any, frame: FrameType) -> Common | None:
        """Say that the program comes to a collective; what its rows have in common, None if it takes no part."""
        given = signature.bind(*args, **kwargs).arguments
        sent = message(name, given) if name in PEERS else None
        told = self._told_of_message(sent) if name in PEERS else self.told_of(given.get("group"))
        if told is None:
            return None
        if given.get("async_op"):
            told.attributes["asynchronous"] = True
        for key in ("op", "src", "dst"):
            if key in given and isinstance(given[key], int):
                told.attributes[key] = given[key]
        moved = next((each for part in COLLECTIVES[name] for each in _tensors(given, part)), None)
        common = self.come_to(name, told, frame, moved)
        return common if sent is None or sent.sender is not None else common._replace(awaited=sent)

    def come_to(self, name: str, told: Told, frame: FrameType, moved: torch.Tensor | None = None) -> Common:
        """Append the mark that says that the program comes to a collective."""
        session = self.session
        writer = session.writer
        columns: dict[str, Any] = {
            "op": session.op_number(name, _TOGETHER),
            "site": site_number(writer, frame),
            "scope": session.places.here.context.path.number(writer),
            "attrs": writer.attributes(told.attributes),
            "graph_pass": Pass.BACKWARD if session.places.here.context.backward else Pass.FORWARD,
            "number_count": 1,
        }
        writer.append_many(self.without_value(Kind.WAIT, moved, columns), None, [told.number], writer.clock())
        return Common(columns, told.number)

    def without_value(self, kind: Kind, moved: torch.Tensor | None, columns: dict[str, Any]) -> Template:
        """The template of a row that tells of a tensor, if of any, and keeps nothing of it."""
        writer = self.session.writer
        if moved is None:
            return writer.template(kind, shape=(), dtype=None, **columns)
        return Keeping(
            writer.template(kind, shape=shape_of(moved), dtype=log_dtype(tensor_base.dtype(moved)), **columns)
        ).unkept

    @guarded
    def _met(
        self, name: str, signature: Any, args: Any, kwargs: Any, common: Common, frame: FrameType, start: int,
        result: Any,
    ) -> None:  # fmt: skip
        """Append the rows of a collective that was called: one for each tensor that it wrote to."""
        session = self.session
        writer = session.writer
        given = signature.bind(*args, **kwargs).arguments
        written, read = COLLECTIVES[name]
        sources = [session.leaves.meet(each, frame, None).row for each in _tensors(given, read)]
        targets = _tensors(given, written)
        end = writer.clock()
        late = isinstance(result, torch.distributed.Work)
        common = common if late else self._arrived(common, result, frame, next(iter(targets), None))
        common = common._replace(columns={**common.columns, "input_count": len(sources)})
        row = 0
        for target in targets:
            row = self._write(target, sources, common, frame, start, end, late)
        if not targets:
            template = self.without_value(Kind.OP, next(iter(_tensors(given, read)), None), common.columns)
            row = writer.append_many(template, None, [*sources, common.number], end, end - start)
        if late:
            known = [found for each in targets if (found := session.identities.find(each)) is not None]
            key = id(result)
            gone = weakref.ref(result, functools.partial(self._started.pop, key))
            self._started[key] = gone, Started(common, known, row)

    def _write(
        self, target: torch.Tensor, sources: list[int], common: Common, frame: FrameType, start: int, end: int,
        late: bool,
    ) -> int:  # fmt: skip
        session = self.session
        known: Known = session.identities.find(target) or session.leaves.leaf(target, frame)
        more = known.extended()
        template = session.writer.template(
            Kind.OP, shape=shape_of(target), dtype=log_dtype(tensor_base.dtype(target)), version=more.versions + 1,
            flags=Flag.IN_PLACE | Flag.NO_GRAD, **common.columns,
        )  # fmt: skip
        form = Keeping(template)
        value: Any = None
        if late:  # it is not written yet
            template = form.unkept
        else:
            template, value = form.read(target)
        first = more.first if more.first >= session.writer.base else None
        row = session.writer.append_many(template, value, [*sources, common.number], end, end - start, 0, first)
        wrote(known, target, row)
        return row

    def awaited(self, frame: FrameType) -> None:
        """At the beginning of a backward pass: say what replicas come to in it."""
        replicas = dict.fromkeys(replica for each in self.replicas if (replica := each()) is not None)
        self.replicas.clear()
        for replica in replicas:
            told = self.told_of(replica.process_group)
            if told is not None:
                self.come_to("all_reduce", told, frame)
                self._averaging.append((replica, told))

    def averaged(self, frame: FrameType, rest: int) -> None:
        """At the end of a backward pass: append what replicas made of their gradients, together with other ranks.

        They wait for each other when the last gradient is there, so that the end of the pass is theirs.

        Args:
            frame: Where.
            rest: How long the pass went on from then, in nanoseconds.
        """
        for replica, told in self._averaging:
            self._average(replica, told, frame, rest)
            rest = 0
        self._averaging.clear()

    def forget_averaging(self) -> None:
        """A backward pass has failed, and with it what replicas were to do in it."""
        self._averaging.clear()

    def _average(self, replica: Any, told: Told, frame: FrameType, rest: int) -> None:
        session = self.session
        reached = [
            (each, known)
            for each in replica.parameters()
            if tensor_base.gradient(each) is not None
            and (known := session.identities.find(each)) is not None
            and known.more is not None
        ]
        for parameter, known in reached:
            gradient = tensor_base.gradient(parameter)
            tell_gradient(
                session, known, gradient, ("all_reduce", _TOGETHER), told.attributes, frame, [told.number], rest
            )
            rest = 0

    def told_of(self, group: Any) -> Told | None:
        """What tells a collective from all others; None in a process that is not of the group."""
        library = torch.distributed.distributed_c10d
        if group is None:
            group = library._get_default_group()
        if group is library.GroupMember.NON_GROUP_MEMBER:
            return None
        return self._numbered(str(group.group_name), library.get_process_group_ranks(group))

    def _told_of_message(self, sent: Message | None) -> Told | None:
        """The same for what one rank sends to another."""
        if sent is None:
            return None
        told = self._numbered(sent.name, sent.ranks)
        return Told({**told.attributes, **sent.attributes}, told.number)

    def _arrived(self, common: Common, result: Any, frame: FrameType, moved: torch.Tensor | None) -> Common:
        """What rows have in common behind the end of a receive: where that was from whoever sends, it is known now."""
        if common.awaited is None:
            return common
        ended = self.without_value(Kind.OP, None, {**common.columns, "input_count": 0})
        writer = self.session.writer
        writer.append_many(ended, None, [common.number], writer.clock())
        told = self._told_of_message(common.awaited.sent(result))
        assert told is not None
        return self.come_to("recv", told, frame, moved)

    def _numbered(self, name: str, ranks: list[int]) -> Told:
        number = self._counts[name]
        self._counts[name] += 1
        attributes = numbering.entry(name, ranks)
        return Told({**attributes, numbering.JOINED: True} if self._joined.is_joined else attributes, number)


def _tensors(given: dict[str, Any], parameter: str) -> list[torch.Tensor]:
    return [each for each in flattened(given.get(parameter)) if isinstance(each, torch.Tensor)]
