"""The attributes of a call: its arguments that are no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from graphscope.adapters.torch.calls import Call
from graphscope.eventlog.names import shown
from graphscope.eventlog.schema import Flag


def flattened(value: Any) -> list[Any]:
    """What lies in nested lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in flattened(each)]
    return [value]


_BINARY: Final = frozenset({"add", "sub", "mul", "div", "pow", "remainder", "floor_divide", "eq", "ne", "lt", "gt",
                            "le", "ge", "fmod", "add_", "sub_", "mul_", "div_", "pow_"})  # fmt: skip


_DATA: Final = frozenset({"tensor", "as_tensor", "asarray"})
"""Functions whose argument is the value itself."""


def describe(call: Call, args: Sequence[Any], kwargs: dict[str, Any] | None) -> tuple[dict[str, Any], Flag]:
    """The attributes of a call: its arguments that are no tensors."""
    described: dict[str, Any] = {}
    if call.name in _DATA:
        args = ()
    plain = [value for value in args if not any(isinstance(each, Tensor) for each in flattened(value))]
    flags = Flag(0)
    if call.name in _BINARY and len(plain) == 1 and len(args) == 2:
        described["other"] = attribute(plain[0])
        flags = Flag.SCALARS
    elif plain:
        names = list(call.parameters)[: len(args)]
        if len(names) == len(args):
            given = zip(names, args, strict=True)
            described.update((name, attribute(value)) for name, value in given if any(value is each for each in plain))
        else:
            described["arguments"] = [attribute(value) for value in plain]
    for name, value in (kwargs or {}).items():
        if not any(isinstance(each, Tensor) for each in flattened(value)):
            described[name] = attribute(value)
    defaults = call.parameters
    return {
        name: value for name, value in described.items() if value is not None and value != defaults.get(name, described)
    }, flags


_PLAIN: Final = (int, float, bool, str, type(None), complex)


def attribute(value: Any) -> Any:
    """A value as an attribute in the log: what JSON has a place for as it is, all else as text."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        return [attribute(each) for each in value][:64]
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, (slice, torch.device, torch.layout, type(Ellipsis), torch.memory_format)):
        return str(value)
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = shown(value)
    return text if len(text) <= 200 else f"<{type(value).__name__}>"
