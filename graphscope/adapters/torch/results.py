"""Results that are no single new tensor, and call sites that are new."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import torch

from graphscope.adapters.torch import control, slots, tensor_base, writing
from graphscope.adapters.torch.backward_graph import op_name
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.compiled import rule_of
from graphscope.adapters.torch.describing import describe, flattened
from graphscope.adapters.torch.sites import CallSite, Fields
from graphscope.adapters.torch.tensor_properties import autocast, grad_fn, requires_grad, shape_of
from graphscope.eventlog import arguments
from graphscope.eventlog.schema import SLOT_SHIFT, Flag, Kind

if TYPE_CHECKING:
    from graphscope.adapters.torch.forward import Calls

Tensor = torch.Tensor
_sequence: Final = torch._C._autograd._get_sequence_nr
_MOST_VARIANTS: Final = 512
"""So many kinds of results of one call site are remembered."""
_MOST_NUMBERS: Final = 60
"""Of so many numbers the compiled part is told whether they vary."""


def variant(
    calls: Calls, sites: dict[int, Any], key: int, call: Call, frame: FrameType, result: Tensor | None, args: Any,
    kwargs: Any, constants: list[Any], count: int, flags: Flag = Flag(0), shapes: Any = None,
) -> tuple[CallSite, list[int]]:  # fmt: skip
    """The template for a result that the last one used at a call site does not fit, and the numbers that vary.

    Args:
        constants: Of the arguments, what is no tensor, behind its place.
        shapes: Of several results.
    """
    session = calls.session
    context = calls.place.context
    cast = autocast()
    seen = None if result is None else (shape_of(result), tensor_base.dtype(result), requires_grad(result))
    given = describe(call, args, kwargs)
    numbers: list[float] = []
    structure = arguments.separated(given, numbers)
    told = [arguments.bits(number) for number in numbers]
    wanted = (torch.is_grad_enabled(), structure, seen, count, flags, shapes, cast)
    variants = context.variants_at(key, frame.f_code)
    if len(variants) > _MOST_VARIANTS:
        variants.clear()
    site = variants.get(wanted)
    places = () if site is None else arguments.varying_with(site.places, site.numbers, told)
    if site is None or places is not site.places:
        if not variants:  # there were too many
            sites.pop(key, None)
        entry = arguments.entry(*given, places)
        if cast:
            entry["autocast"] = dict(cast)
        if result is not None and _is_view_of_first(result, args, kwargs):
            flags |= Flag.VIEW
        kind = Kind.OP
        if count == 0 and result is not None and shapes is None:
            kind = Kind.LEAF
            entry["function"] = call.name
        if calls.place.line_calls is not None and not call.in_place:
            entry["name"] = ""  # the variable of the line is what its call returns
        site = variants[wanted] = CallSite(
            session, call, frame, context, result, given, entry,
            count=count, numbers=told, places=places, flags=flags, kind=kind, several=shapes is not None,
        )  # fmt: skip
    site.constants = constants if shapes is None else None
    site.shapes, site.beside = shapes, constants
    site.varying = _bits(constants, numbers, site.places)
    _put_first(sites, key, site)
    return site, [told[place] for place in site.places]


def _is_for(site: CallSite, frame: FrameType, shapes: Any, first: Tensor, constants: list[Any], count: int) -> bool:
    """Whether a call site's template is for several results like these, of a call with such constants."""
    return bool(
        site.shapes == shapes
        and site.code() is frame.f_code
        and not site.varying
        and site.count == count
        and site.requires_grad is requires_grad(first)
        and arguments.alike(site.beside, constants)
    )


def _is_view_of_first(result: Tensor, args: Any, kwargs: Any) -> bool:
    """Whether a result shares the memory of the first tensor of its call; it may be a view of what the call made."""
    base = tensor_base.base(result)
    if base is None:
        return False
    given = flattened([*args, *(kwargs or {}).values()])
    first = next((each for each in given if isinstance(each, Tensor)), None)
    return first is not None and (base is first or base is tensor_base.base(first))


def _bits(constants: list[Any], numbers: list[float], varying: Sequence[int]) -> int:
    """See `Site.varying`."""
    if not varying:
        return 0
    found: list[float] = []
    arguments.separated(constants[1::2], found)
    if max(varying) > _MOST_NUMBERS or list(map(repr, found)) != list(map(repr, numbers)):
        return -1
    return sum(1 << place for place in varying)


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
) -> tuple[int, Fields] | None:  # fmt: skip
    """Append the rows of a call that returned no plain new tensor, or wrote in place; what new ones are known by."""
    if call.in_place or call.setter or (kwargs and kwargs.get("out") is not None):
        writing.written(calls, call, result, args, kwargs, rows, constants, frame, start, end)
    else:
        outputs = [each for each in flattened(result) if isinstance(each, Tensor)]
        find = calls.session.identities.find
        if any(find(each) is None for each in outputs):
            return made(calls, call, outputs, args, kwargs, rows, constants, frame, start, end)
    return None


def made(
    calls: Calls, call: Call, outputs: list[Tensor], args: Any, kwargs: Any, rows: list[int], constants: list[Any],
    frame: FrameType, start: int, end: int,
) -> tuple[int, Fields]:  # fmt: skip
    """Append the row of a call that made these tensors, in one slot each."""
    session = calls.session
    place = calls.place
    context = place.context
    sites = context.sites if torch.is_grad_enabled() else context.sites_without_grad
    key = id(frame.f_code) + frame.f_lasti + call.key
    first = outputs[0]
    if len(outputs) == 1:
        site, numbers = variant(calls, sites, key, call, frame, first, args, kwargs, constants, len(rows))
        template, value = site.read(first)
        row = session.writer.append_many(template, value, rows + numbers, end, end - start, place.backward_row)
    else:
        shapes = tuple([(shape_of(each), tensor_base.dtype(each)) for each in outputs])
        known_site = sites.get(key)
        if known_site is not None and _is_for(known_site, frame, shapes, first, constants, len(rows)):
            site, numbers = known_site, []
        else:
            given = calls, sites, key, call, frame, first, args, kwargs, constants, len(rows)
            site, numbers = variant(*given, shapes=shapes)
        row = slots.append(session, site, list(outputs), rows, end, end - start, place.backward_row, numbers)
    place.took(row)
    low = place.sequence
    place.sequence = _sequence()
    own: Any = None  # the node of the first slot is the call's; those of other slots are parts of it
    for slot, each in enumerate(outputs):
        if session.identities.find(each) is None:
            known = session.identities.add(each, row | slot << SLOT_SHIFT)
            session.identities.share_part(each, known)
            if tensor_base.base(each) is not None or call.aliasing:
                writing.view(session, known, each, args)
            node: Any = grad_fn(each)
            if node is not None and (own is None or node is own):
                session.tie(node, row, site.fields, low)
                own = node
            elif node is not None:
                main = rule_of(own) if session.follows else None
                session.tie(node, row, site.fields, low, op_name(node.name()), main)
    if session.writer.gate is not None:
        control.after(session, row, first, None, frame)
    return row, site.fields
