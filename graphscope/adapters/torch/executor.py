"""Recorded calls of torch run again, outside of the program and of what is recorded of it: see `kit.Executor`."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.kit.executor import RecordedCall
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.function_names import function_of
from graphscope.adapters.torch.functions import CUSTOM
from graphscope.adapters.torch.tensor_reader import elements, tensor_of
from graphscope.errors import StaticError
from graphscope.eventlog.typed import Dtype, Input, Other, Outline, Structure, spelled

Tensor = torch.Tensor

_OF_EACH: Final = "_foreach_"
"""How the names of functions begin that do the same with each of a list of tensors; the log has a row for each."""

_OTHERS: Final[dict[str, Callable[[str], Any]]] = {
    "device": torch.device,
    "memory_format": lambda text: getattr(torch, text.removeprefix("torch.")),
    "layout": lambda text: getattr(torch, text.removeprefix("torch.")),
}
"""Constants that the log has as text, and how they are read."""


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """See `Executor.aside`."""
    state = torch.get_rng_state()
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.inference_mode(mode=False):
        try:
            with torch.no_grad():
                yield
        finally:
            torch.set_rng_state(state)


# Tensors -------------------------------------------------------------------------------------------------------------


def tensor(array: np.ndarray, dtype: str, strides: Sequence[int] | None = None, has_gradient: bool = False) -> Tensor:
    """See `Executor.tensor`."""
    found = tensor_of(array, dtype)
    if strides is not None:
        found = torch.empty_strided(found.shape, tuple(strides), dtype=found.dtype).copy_(found)
    return found.requires_grad_(has_gradient)


def array(tensor: Tensor) -> np.ndarray | None:
    """See `Executor.array`."""
    return elements(tensor.detach())


def dtype(tensor: Tensor) -> str:
    """See `Executor.dtype`."""
    return str(log_dtype(tensor.dtype).name)


def write(tensor: Tensor, array: np.ndarray) -> None:
    """See `Executor.write`."""
    tensor.data.copy_(tensor_of(array, dtype(tensor)))


def share(one: Tensor, other: Tensor) -> bool:
    """See `Executor.share`."""
    return bool(one.untyped_storage()._cdata == other.untyped_storage()._cdata)


def writes(tensor: Tensor) -> int:
    """See `Executor.writes`."""
    return int(tensor._version)


# Calls ---------------------------------------------------------------------------------------------------------------


def draw_from(state: np.ndarray) -> None:
    """See `Executor.draw_from`."""
    torch.set_rng_state(torch.from_numpy(np.array(state)))


def call(call: RecordedCall, inputs: Sequence[Tensor]) -> list[Tensor]:
    """See `Executor.call`."""
    known = _custom(call.function) if call.custom else _known(call.function)
    if known is None and call.custom:
        raise StaticError(
            f"{call.where} can't run again here: its rule is the program's own code, which is not in the log",
            hint="ask where the program runs, as in `graphscope debug --console`",
        )
    if known is None:
        raise StaticError(
            f"{call.where} can't run again: PyTorch {torch.__version__} has no function {call.function!r}",
            hint="run it with the version that it was recorded with",
        )
    function, about = known
    operands = [_argument(call, each, inputs) for each in call.operands]
    named = {name: _argument(call, each, inputs) for name, each in call.attributes.items()}
    target = operands[0] if call.writes else None
    if call.writes and about.name.startswith(_OF_EACH):
        operands = [[each] if isinstance(each, Tensor) else each for each in operands]
    if about.swapped and len(operands) == 2:
        operands.reverse()
    if call.writes and not (about.in_place or about.setter or named.get("inplace")):
        operands, named["out"] = operands[1:], target
    try:
        with torch.set_grad_enabled(call.has_gradient), _casting(call.autocast or {}):
            result = function(*operands, **named)
    except Exception as error:  # whatever torch thinks of the inputs
        raise StaticError(f"{call.where} can't run again: {_first_line(error)}") from error
    return [target] if target is not None else [each for each in flattened(result) if isinstance(each, Tensor)]


@functools.cache
def _known(name: str) -> tuple[Callable[..., Any], Call] | None:
    function = function_of(name)
    return None if function is None else (function, Call(function, 0))


def _custom(name: str) -> tuple[Callable[..., Any], Call] | None:
    found: Any = CUSTOM.get(name)
    return None if found is None else (found.apply, Call(found, 0))


@contextlib.contextmanager
def _casting(autocast: Mapping[str, str]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for device, narrow in autocast.items():
            stack.enter_context(torch.autocast(device, getattr(torch, narrow), cache_enabled=False))
        yield


def _argument(call: RecordedCall, value: Any, inputs: Sequence[Tensor]) -> Any:
    """An argument as torch takes it."""
    if isinstance(value, Input):
        return inputs[value.number]
    if isinstance(value, (tuple, list)):
        return type(value)(_argument(call, each, inputs) for each in value)
    if isinstance(value, slice):
        return slice(*(_argument(call, each, inputs) for each in (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return {name: _argument(call, each, inputs) for name, each in value.items()}
    if isinstance(value, Dtype):
        return getattr(torch, value.name)
    if isinstance(value, Other) and value.type in _OTHERS:
        return _OTHERS[value.type](value.text)
    if isinstance(value, (Other, Outline, Structure)):
        raise StaticError(
            f"{call.where} can't run again: of a constant the log keeps only that it is {spelled(value)}",
            hint="give it as a tensor, which is recorded",
        )
    return value


# Gradients -----------------------------------------------------------------------------------------------------------


def backward(roots: Sequence[Tensor], cotangents: Sequence[np.ndarray]) -> None:
    """See `Executor.backward`."""
    with _engine():
        torch.autograd.backward(list(roots), _like(roots, cotangents), retain_graph=True)


def gradients(
    roots: Sequence[Tensor], cotangents: Sequence[np.ndarray], inputs: Sequence[Tensor]
) -> list[Tensor | None]:
    """See `Executor.gradients`."""
    with _engine():
        given = _like(roots, cotangents)
        return list(torch.autograd.grad(list(roots), list(inputs), given, retain_graph=True, allow_unused=True))


def gradient(tensor: Tensor) -> Tensor | None:
    """See `Executor.gradient`."""
    return tensor.grad if tensor.is_leaf else None


def set_gradient(tensor: Tensor, gradient: Tensor | None) -> None:
    """See `Executor.set_gradient`."""
    tensor.grad = gradient


def set_has_gradient(tensor: Tensor, has_gradient: bool) -> None:
    """See `Executor.set_has_gradient`."""
    tensor.requires_grad_(has_gradient)


def on_gradient(tensor: Tensor, replaced: Callable[[], np.ndarray | None]) -> None:
    """See `Executor.on_gradient`."""

    def hook(arrived: Tensor) -> Tensor | None:
        array = replaced()
        return None if array is None else tensor_of(array, dtype(arrived)).reshape(arrived.shape)

    tensor.register_hook(hook)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def _engine() -> Iterator[None]:
    try:
        with torch.enable_grad():
            yield
    except RuntimeError as error:
        raise StaticError(f"the backward pass can't run again: {_first_line(error)}") from error


def _like(roots: Sequence[Tensor], cotangents: Sequence[np.ndarray]) -> list[Tensor]:
    return [tensor_of(each, dtype(root)) for root, each in zip(roots, cotangents, strict=True)]


# Optimizers ----------------------------------------------------------------------------------------------------------


class _Optimizer:
    """One of torch's optimizers; each parameter is a group of its own, as it has its own settings."""

    def __init__(self, kind: type[torch.optim.Optimizer]) -> None:
        self.kind = kind
        self.steps: dict[int, tuple[Tensor, torch.optim.Optimizer]] = {}


def optimizer(kind: str) -> _Optimizer:
    """See `Executor.optimizer`."""
    found = getattr(torch.optim, kind, None)
    if not (isinstance(found, type) and issubclass(found, torch.optim.Optimizer)):
        raise StaticError(f"PyTorch {torch.__version__} has no optimizer {kind}: its steps can't run again")
    return _Optimizer(found)


def update(optimizer: _Optimizer, parameters: Sequence[Tensor], settings: Sequence[Mapping[str, Any]]) -> None:
    """See `Executor.update`."""
    taken = inspect.signature(optimizer.kind).parameters
    for parameter, told in zip(parameters, settings, strict=True):
        known = {name: value for name, value in told.items() if name in taken}
        _, own = optimizer.steps.get(id(parameter), (None, None))
        if own is None:
            own = optimizer.kind([parameter], **known)
            optimizer.steps[id(parameter)] = parameter, own
        own.param_groups[0].update(known)
        own.step()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
