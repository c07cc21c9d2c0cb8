"""Results that are no single new tensor, and call sites that are new."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import torch

from graphscope.adapters.torch import asking, control, writing
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.compiled import RULE
from graphscope.adapters.torch.describing import describe, flattened
from graphscope.adapters.torch.sites import CallSite
from graphscope.adapters.torch.unusual import grad_fn, requires_grad, shape_of
from graphscope.adapters.torch.walk import op_name
from graphscope.eventlog import arguments
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind

if TYPE_CHECKING:
    from graphscope.adapters.torch.forward import Calls

Tensor = torch.Tensor
_sequence: Final = torch._C._autograd._get_sequence_nr
_MOST_VARIANTS: Final = 512
"""So many kinds of results of one call site are remembered."""


def variant(
    calls: Calls, sites: dict[int, Any], key: int, call: Call, frame: FrameType, result: Tensor | None, args: Any,
    kwargs: Any, constants: list[Any], count: int, flags: Flag = Flag(0), several: bool = False,
) -> CallSite:  # fmt: skip
    """The template for a result that the last one used at a call site does not fit."""
    session = calls.session
    context = calls.place.context
    seen = None if result is None else (shape_of(result), asking.dtype(result), requires_grad(result))
    wanted = (torch.is_grad_enabled(), repr(constants), seen, count, flags, several)
    variants = context.variants.setdefault(key, {})
    if len(variants) > _MOST_VARIANTS:
        variants.clear()
    site = variants.get(wanted)
    if site is None:
        if not variants:  # there were too many
            sites.pop(key, None)
        told = arguments.entry(*describe(call, args, kwargs))
        if result is not None and asking.base(result) is not None:
            flags |= Flag.VIEW
        kind = Kind.OP
        if count == 0 and result is not None and not several:
            kind = Kind.LEAF
            told["function"] = call.name
        site = variants[wanted] = CallSite(
            session, call, frame, context, result, told,
            count=count, constants=constants, flags=flags, kind=kind, several=several,
        )  # fmt: skip
    _put_first(sites, key, site)
    return site


def _put_first(sites: dict[int, Any], key: int, site: CallSite) -> None:
    """Let a variant be the one that is looked at first at its place; the others follow."""
    first = before = sites.get(key)
    if first is site:
        return
    while before is not None and before.next is not site:
        before = before.next
    if before is not None:
        before.next = site.next
    site.next = first
    sites[key] = site


def other(
    calls: Calls, call: Call, result: Any, args: Any, kwargs: Any, rows: list[int], constants: list[Any],
    frame: FrameType, start: int, end: int,
) -> None:  # fmt: skip
    """Append the rows of a call that returned no plain new tensor, or wrote in place."""
    if call.in_place or call.setter or (kwargs and kwargs.get("out") is not None):
        writing.written(calls, call, result, args, kwargs, rows, constants, frame, start, end)
    else:
        outputs = [each for each in flattened(result) if isinstance(each, Tensor)]
        find = calls.session.identities.find
        if any(find(each) is None for each in outputs):
            made(calls, call, outputs, args, kwargs, rows, constants, frame, start, end)


def made(
    calls: Calls, call: Call, outputs: list[Tensor], args: Any, kwargs: Any, rows: list[int], constants: list[Any],
    frame: FrameType, start: int, end: int,
) -> None:  # fmt: skip
    """Append the row of a call that made these tensors, in one slot each."""
    session = calls.session
    place = calls.place
    context = place.context
    sites = context.sites if torch.is_grad_enabled() else context.sites_without_grad
    key = id(frame.f_code) + frame.f_lasti + call.key
    first = outputs[0]
    if len(outputs) == 1:
        site = variant(calls, sites, key, call, frame, first, args, kwargs, constants, len(rows))
        template, value = site.read(first)
        row = session.writer.append_many(template, value, rows, end, end - start, place.backward_row)
    else:
        shapes = [(shape_of(each), asking.dtype(each)) for each in outputs]
        every = [*constants, shapes]
        site = variant(calls, sites, key, call, frame, first, args, kwargs, every, len(rows), several=True)
        edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
        row = session.append_slots(site, list(outputs), edges, end, end - start, place.backward_row)
    low = place.sequence
    place.sequence = _sequence()
    own: Any = None  # the node of the first slot is the call's; those of other slots are parts of it
    for slot, each in enumerate(outputs):
        if session.identities.find(each) is None:
            known = session.identities.add(each, row | slot << SLOT_SHIFT)
            if asking.base(each) is not None or call.aliasing:
                writing.view(session, known, each, args)
            node: Any = grad_fn(each)
            if node is not None and (own is None or node is own):
                session.tie(node, row, site.fields, low)
                own = node
            elif node is not None:
                session.tie(node, row, site.fields, low, op_name(node.name()), own.metadata.get(RULE))
    if session.writer.gate is not None:
        control.after(session, row, first, None, frame)
