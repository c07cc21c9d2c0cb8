"""What the log calls a function of torch, so that it can be found again: no other name leads to anything."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, GetSetDescriptorType
from typing import Any, Final

import torch

_LIBRARY: Final = "aten."
"""How names of ATen's own ops begin."""
_WITH_FILES: Final = frozenset({"from_file"})


def name_of(function: Any) -> str:
    """The name of a function: `torch.nn.functional.linear`, `torch.Tensor.add_`, `torch.Tensor.T.__get__`."""
    if isinstance(function, torch._ops.OpOverload):
        return str(function)
    name = getattr(function, "__name__", "")
    owner = getattr(function, "__self__", None)
    if name in _ACCESSORS and owner is not None:
        return f"torch.Tensor.{getattr(owner, '__name__', '')}.{name}"
    module = getattr(function, "__module__", None)
    if hasattr(function, "__objclass__") or getattr(function, "__qualname__", "").startswith("Tensor."):
        return f"torch.Tensor.{name}"
    return f"{module or 'torch'}.{name}"


_ACCESSORS: Final = ("__get__", "__set__", "__delete__")


def function_of(name: str) -> Callable[..., Any] | None:
    """The function of such a name; None where this version of torch has none that computes with tensors."""
    if name.startswith(_LIBRARY):
        return _of_aten(*name.removeprefix(_LIBRARY).split("."))
    return _functions().get(name)


def _of_aten(name: str, overload: str = "default", *rest: str) -> Callable[..., Any] | None:
    packet = None if rest or name in _WITH_FILES else getattr(torch.ops.aten, name, None)
    found = getattr(packet, overload, None)
    return found if isinstance(found, torch._ops.OpOverload) else None


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    return {name_of(function): function for function in _every()}


def _every() -> Iterator[Callable[..., Any]]:
    """What a mode may be handed: functions of tensors, none of which touches a file."""
    makers = torch._C._VariableFunctions
    yield from (getattr(makers, name) for name in dir(makers) if name[:2] != "__" and name not in _WITH_FILES)
    for functions in torch.overrides.get_overridable_functions().values():
        yield from functions
    for module in (torch.nn.functional, torch.functional, torch.nn.init):
        yield from (each for each in vars(module).values() if isinstance(each, (FunctionType, BuiltinFunctionType)))
    yield from (each for name, each in vars(torch.Tensor).items() if name[:1] != "_" and isinstance(each, FunctionType))
    for each in vars(torch._C.TensorBase).values():
        if isinstance(each, GetSetDescriptorType):
            yield from (each.__get__, each.__set__)
