"""Recorded calls of torch run again, outside of the program and of what is recorded of it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.kit.executor import RecordedCall
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.function_names import function_of
from graphscope.adapters.torch.tensor_reader import elements, tensor_of
from graphscope.errors import StaticError
from graphscope.eventlog.typed import Dtype, Input, Other, Outline, Structure, spelled

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


def tensor(array: np.ndarray, dtype: str) -> torch.Tensor:
    """See `Executor.tensor`."""
    return tensor_of(array, dtype)


def array(tensor: torch.Tensor) -> np.ndarray | None:
    """See `Executor.array`."""
    return elements(tensor)


def dtype(tensor: torch.Tensor) -> str:
    """See `Executor.dtype`."""
    return str(log_dtype(tensor.dtype).name)


def call(call: RecordedCall, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """See `Executor.call`."""
    known = _known(call.function)
    if known is None:
        raise StaticError(
            f"{call.where} can't run again: PyTorch {torch.__version__} has no function {call.function!r}",
            hint="run it with the version that it was recorded with",
        )
    function, about = known
    operands = [_argument(call, each, inputs) for each in call.operands]
    named = {name: _argument(call, each, inputs) for name, each in call.attributes.items()}
    target = operands[0] if call.writes else None
    if about.name.startswith(_OF_EACH):
        operands = [[each] if isinstance(each, torch.Tensor) else each for each in operands]
    if about.swapped and len(operands) == 2:
        operands.reverse()
    if call.writes and not (about.in_place or about.setter):
        operands, named["out"] = operands[1:], target
    try:
        result = function(*operands, **named)
    except Exception as error:  # whatever torch thinks of the inputs
        raise StaticError(f"{call.where} can't run again: {_first_line(error)}") from error
    return [target] if target is not None else [each for each in flattened(result) if isinstance(each, torch.Tensor)]


@functools.cache
def _known(name: str) -> tuple[Callable[..., Any], Call] | None:
    function = function_of(name)
    return None if function is None else (function, Call(function, 0))


def _argument(call: RecordedCall, value: Any, inputs: Sequence[torch.Tensor]) -> Any:
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


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
