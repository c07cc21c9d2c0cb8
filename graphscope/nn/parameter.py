"""Parameters: the leaves that training changes."""

from __future__ import annotations

from typing import Any

from graphscope.engine.tensor import Tensor


class _IsParameter(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.is_parameter


class Parameter(Tensor, metaclass=_IsParameter):
    """A tensor that a module counts among its parameters: `Parameter(torch.zeros(3))`.

    The result is an ordinary Tensor that is marked as a parameter: ops take the same fast way with it.
    """

    def __new__(cls, data: Any, requires_grad: bool = True) -> Any:
        made = Tensor(data.data if isinstance(data, Tensor) else data, requires_grad)
        made.is_parameter = True
        return made
