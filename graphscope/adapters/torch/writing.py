"""Writes in place: a new version of the tensor, and of what shares its memory when that is next used."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import torch

from graphscope.adapters.torch import control, results, tensor_base
from graphscope.adapters.torch.calls import ZEROING, Call
from graphscope.adapters.torch.describing import flattened, has_tensor
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known, version_of, wrote
from graphscope.adapters.torch.tensor_properties import grad_fn, requires_grad, shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.adapters.torch.forward import Calls
    from graphscope.adapters.torch.session import Session

OPS: Final = {
    "copy_slices": "What a tensor is after a write through a view of it.",
    "take_view": "What a view is after a write into the memory that it shares.",
    "accumulate_grad": "What a gradient is after a backward pass added to it.",
    "changed": "What a tensor is after a write that no recorded call made.",
}
"""Ops that no function of torch is: they say how a write reaches other tensors."""


def view(session: Session, known: Known, result: torch.Tensor, args: Any) -> None:
    """Note whose memory a new tensor shares."""
    base = tensor_base.base(result)
    if base is None:
        base = next((each for each in args if isinstance(each, torch.Tensor)), None)
    if base is None:
        return
    owner = session.identities.find(base)
    if owner is None and any(base is each for each in args):
        owner = session.leaves.leaf(base, None)
    if owner is not None and owner is not known:
        session.identities.alias(owner, known)
        leaf = session.identities.gradients.of(base)
        if leaf is not None and shape_of(base) == shape_of(result):  # to write to it is to write to the gradient
            session.identities.gradients.note(result, leaf)


def written(
    calls: Calls, call: Call, result: Any, args: Any, kwargs: Any, rows: list[int], constants: list[Any],
    frame: FrameType, start: int, end: int,
) -> None:  # fmt: skip
    """Append the rows of a call that wrote into tensors: one for each of them."""
    session = calls.session
    targets = _targets(result, args, kwargs)
    for position, target in enumerate(targets):
        known = session.identities.find(target)
        if known is None:  # an `out=` that was never used
            known = session.leaves.leaf(target, frame)
        rows_of, given, named = rows, args, kwargs
        if len(targets) > 1:  # each is made of what stands at its place in the lists given
            given = [target, *_beside(args, position, len(targets))]
            named = {name: each for name, each in (kwargs or {}).items() if not has_tensor(each)}
            rows_of = [known.row, *_rows(session, given[1:])]
        elif kwargs and kwargs.get("out") is not None:
            place = _tensors_ahead(args, kwargs)
            rows_of, given = [known.row, *rows[:place], *rows[place + 1 :]], (target, *args)
        elif known.row not in rows:
            rows_of, given = [known.row, *rows], (target, *args)
        _append(calls, call, known, target, given, named, constants, rows_of, frame, start, end)
    if call.setter and len(args) > 1 and isinstance(args[1], torch.Tensor) and targets:
        known, other = session.identities.find(targets[0]), session.identities.find(args[1])
        if known is not None and other is not None:
            session.identities.alias(known, other)


def _append(
    calls: Calls, call: Call, known: Known, target: torch.Tensor, args: Any, kwargs: Any, constants: list[Any],
    rows: list[int], frame: FrameType, start: int, end: int,
) -> None:  # fmt: skip
    session = calls.session
    writer = session.writer
    place = calls.place
    context = place.context
    more = known.extended()
    sites = context.sites if torch.is_grad_enabled() else context.sites_without_grad
    key = id(frame.f_code) + frame.f_lasti + call.key
    site, numbers = results.variant(
        calls, sites, key, call, frame, target, args, kwargs, constants, len(rows), Flag.IN_PLACE
    )
    template, value = site.read(target)
    first = more.first if more.first >= writer.base else None
    row = session.writer.append_many(
        template, value, rows + numbers, end, end - start, place.backward_row, first, more.versions + 1
    )
    place.took(row)
    wrote(known, target, row)
    if call.name in ZEROING and (call.name != "fill_" or constants[1:] == [0]):
        session.leaves.zeroed(target)
    _link(session, target, row, site)
    if writer.gate is not None:
        control.after(session, row, target, value, frame)


def _link(session: Session, target: torch.Tensor, row: int, site: Any) -> None:
    """Let the backward nodes that a write made say so: that of the tensor, and that of what it is a view of."""
    if not requires_grad(target):
        return
    sequence = session.places.here.sequence
    session.link(target, row, site.fields)
    if tensor_base.base(target) is not None and grad_fn(tensor_base.base(target)) is not None:
        session.places.here.sequence = sequence
        session.link(tensor_base.base(target), row, site.fields)


def _targets(result: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The tensors that a call wrote into: `out=`, else its first argument."""
    given = kwargs.get("out") if kwargs else None
    if given is None:
        given = args[0] if args else next(iter((kwargs or {}).values()), None)
    if isinstance(given, torch.Tensor):
        return [given]
    return [each for each in given or () if isinstance(each, torch.Tensor)]


def _tensors_ahead(args: Any, kwargs: dict[str, Any]) -> int:
    """How many tensors a call was given ahead of its `out=`."""
    named = list(kwargs)
    ahead = [*args, *(kwargs[name] for name in named[: named.index("out")])]
    return sum(isinstance(each, torch.Tensor) for each in flattened(ahead))


def _beside(args: Any, position: int, count: int) -> list[Any]:
    """What stands at a position of the lists that were given beside the first."""
    return [
        given[position] if isinstance(given, (list, tuple)) and len(given) == count else given for given in args[1:]
    ]


def _rows(session: Session, given: Sequence[Any]) -> list[int]:
    """The rows of the tensors among arguments that were met before."""
    found = [session.identities.find(each) for each in given if isinstance(each, torch.Tensor)]
    return [known.row for known in found if known is not None]


def follow(session: Session, known: Known, tensor: torch.Tensor, frame: FrameType) -> None:
    """Bring a tensor up to date that was written through another one with the same memory."""
    more = known.extended()
    group = known.group
    if group is not None and more.gathered is not None:
        session.leaves.leaf(tensor, frame, None, known)
        known.seen = group.turn
    elif group is not None:
        name = "copy_slices" if tensor_base.base(tensor) is None else "take_view"
        row = _version(session, name, known, tensor, [known.row, group.row], frame)
        known.row = row
        known.counter = version_of(tensor)
        more.versions += 1
        known.seen = group.turn


def changed(session: Session, known: Known, tensor: torch.Tensor, frame: FrameType) -> None:
    """Bring a tensor up to date that was written by something that no row tells of."""
    wrote(known, tensor, _version(session, "changed", known, tensor, [known.row], frame))


def accumulated(session: Session, known: Known, tensor: torch.Tensor, rows: list[int], frame: FrameType) -> None:
    """Bring a gradient up to date: of what it was, and of the row of what was last added to it."""
    owner = session.identities.gradients.of(tensor)
    leaf = owner.more.name if owner is not None and owner.more is not None else None
    attrs = {} if leaf is None else {"name": f"{leaf}.grad"}
    wrote(known, tensor, _version(session, "accumulate_grad", known, tensor, rows, frame, attrs))


def _version(
    session: Session, name: str, known: Known, tensor: torch.Tensor, rows: list[int], frame: FrameType,
    attrs: dict[str, Any] | None = None,
) -> int:  # fmt: skip
    """Append the row of a new version that no call of its own made."""
    writer = session.writer
    context = session.places.here.context
    more = known.extended()
    template = writer.template(
        Kind.OP,
        op=session.op_number(name, OPS[name]),
        site=site_number(writer, frame),
        scope=context.path.number(writer),
        shape=shape_of(tensor),
        dtype=log_dtype(tensor_base.dtype(tensor)),
        attrs=writer.attributes(attrs or {}),
        version=more.versions + 1,
        flags=Flag.IN_PLACE,
        graph_pass=Pass.BACKWARD if context.backward else Pass.FORWARD,
        input_count=len(rows),
    )
    form, value = Keeping(template).read(tensor)
    first = more.first if more.first >= writer.base else None
    second = rows[1] if len(rows) > 1 else 0
    return writer.append(form, value, writer.clock(), 0, 0, rows[0], second, 0, tensor=first)
