"""Properties of tensors of any class, read without an error and without a change to the program."""

from __future__ import annotations

import weakref
from typing import Any, Final

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.distributed_tensors import held
from graphscope.adapters.torch.tensor_base import ORDINARY
from graphscope.eventlog.interruptions import own

_OWN: Final = torch.Tensor.__dict__.get("__torch_dispatch__")
_opened: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary((kind, True) for kind in ORDINARY)


def opens(kind: type) -> bool:
    """Whether tensors of a class have elements of their own; those of `__torch_dispatch__` (fake, distributed, masked,
    jagged) stand for what only they know, and lazy parameters have none yet.
    """
    found = _opened.get(kind)
    if found is None:
        lazy = issubclass(kind, (UninitializedParameter, UninitializedBuffer))
        found = _opened[kind] = getattr(kind, "__torch_dispatch__", None) is _OWN and not lazy
    return found


def shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """The shape of a tensor; () where it has none (nested, lazy). That of a distributed one is of the part held here.

    A symbolic size is told by the number that stands for it: to compare it would write a guard into a traced program.
    """
    try:
        shape = tensor_base.shape(tensor if tensor.__class__ in ORDINARY else held(tensor))
    except own(Exception):  # a class of the program's own may raise anything
        return ()
    return tuple([size if size.__class__ is int else _hint(size) for size in shape])


def _hint(size: Any) -> int:
    try:
        hint = size.node.hint
    except own(Exception):  # a size of nested tensors has none, nor has one that data decide
        return 0
    return hint if isinstance(hint, int) else 0


def is_symbolic(value: Any) -> bool:
    """Whether a number stands for one that a tracer has not fixed."""
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def requires_grad(tensor: torch.Tensor) -> bool:
    """Whether gradients flow to a tensor."""
    try:
        return bool(tensor_base.requires_grad(tensor))
    except own(Exception):  # a class of the program's own may raise anything
        return False


def has_graph(tensor: torch.Tensor) -> bool:
    """Whether an op made a tensor that gradients flow back from."""
    try:
        return bool(tensor_base.requires_grad(tensor)) and not tensor_base.is_leaf(tensor)
    except own(Exception):  # a class of the program's own may raise anything
        return False


def grad_fn(tensor: torch.Tensor) -> Any:
    """The backward node of a tensor; None where it has none, or torch can't tell.

    It can't of a view made under `no_grad` whose memory was written with gradients on (`init.zeros_(weight[0])`).
    """
    try:
        return tensor_base.grad_fn(tensor)
    except own(RuntimeError):
        return None


def special_class(values: Any) -> type | None:
    """The class of the first tensor among nested values that need not answer as others do; None where all must."""
    if isinstance(values, torch.Tensor):
        strange = values.__class__ not in ORDINARY or torch._C._functorch.is_functorch_wrapped_tensor(values)
        return values.__class__ if strange else None
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, (list, tuple)):
        return next((found for each in values if (found := special_class(each)) is not None), None)
    return None


def strides_apart(tensor: torch.Tensor) -> list[int] | None:
    """The strides of an ordinary tensor whose elements do not lie in C order; None of any other."""
    if tensor.__class__ not in ORDINARY:
        return None
    try:
        if tensor_base.layout(tensor) is not torch.strided or tensor_base.Own.is_contiguous(tensor):
            return None
        return [int(each) for each in tensor_base.Own.stride(tensor)]
    except own(RuntimeError):  # a transform of `torch.func` hides them
        return None


def autocast() -> tuple[tuple[str, str], ...]:
    """The devices on which ops choose their dtypes themselves, each with the narrow one."""
    return tuple(
        (device, str(torch.get_autocast_dtype(device)).removeprefix("torch."))
        for device in ("cpu", "cuda")
        if torch.is_autocast_enabled(device)
    )


def is_floating(args: Any) -> bool:
    """Whether the first argument of a call is a tensor of numbers that change smoothly."""
    tensor = args[0] if args else None
    return isinstance(tensor, torch.Tensor) and bool(
        tensor_base.Own.is_floating_point(tensor) or tensor_base.Own.is_complex(tensor)
    )
