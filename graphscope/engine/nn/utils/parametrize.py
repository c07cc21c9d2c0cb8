"""Parametrizations: a parameter of a module computed, whenever it is read, from others that are trained in its place.

Reading `module.weight` runs the parametrizations, so the log shows what a weight is made of; assigning to it sets what
it is made from, by their `right_inverse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.container import ModuleDict, ModuleList
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]


class ParametrizationList(ModuleList):
    """What one tensor of a module is computed by, in order, from `original` (or `original0`, `original1`, ...).

    Args:
        modules: The parametrizations.
        original: The parameter or buffer.
        unsafe: Whether they may change its shape and dtype.

    Raises:
        ValueError: They do, and may not; or a `right_inverse` returns what is no tensor.
    """

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        source = _undone(self, original)
        self.is_tensor = isinstance(source, Tensor)
        self.ntensors = 1 if self.is_tensor else len(source)
        if self.is_tensor:
            _check_dtype("right_inverse", source, dtype)
            _put(original, source)
            _hold(self, "original", original)
        else:
            for number, part in enumerate(source):
                if isinstance(original, Parameter):
                    part = Parameter(part.detach(), original.requires_grad)
                _hold(self, f"original{number}", part)
        if not unsafe:
            _check_result(self(), shape, dtype)

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the parametrized tensor becomes `value`.

        Raises:
            RuntimeError: A parametrization has no `right_inverse`.
            ValueError: It returns too many tensors, or of another dtype.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            parts = [value] if self.is_tensor else list(value)
            if len(parts) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                    f"Got a sequence of length {len(parts)}."
                )
            for part, original in zip(parts, self.originals(), strict=True):
                _check_dtype("right_inverse", part, original.dtype)
                _put(original, part)

    def originals(self) -> list[Any]:
        """The tensors that are kept and trained."""
        return [self.original] if self.is_tensor else [getattr(self, f"original{n}") for n in range(self.ntensors)]

    def forward(self) -> Any:
        """The parametrized tensor."""
        first, *others = self
        out = first(*self.originals())
        for module in others:
            out = module(out)
        return out


def _undone(modules: Any, value: Any) -> Any:
    """What the parametrizations would make `value` of; one that cannot tell leaves it as it is."""
    with no_grad():
        for module in reversed(list(modules)):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    continue
    if not isinstance(value, Tensor | Sequence):
        raise ValueError(  # noqa: TRY004 - as PyTorch
            "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
            f"Got {type(value).__name__}"
        )
    return value


def _put(original: Any, value: Any) -> None:
    if value is not original:
        original.data = value.detach()


def _hold(module: Any, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_dtype(what: str, value: Any, dtype: Any) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"`{what}` should return a tensor. Got {type(value).__name__}")  # noqa: TRY004 - as PyTorch
    if value.dtype != dtype:
        raise ValueError(f"`{what}` returned a tensor of dtype {value.dtype}; it may not change the dtype {dtype}")


def _check_result(value: Any, shape: Any, dtype: Any) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")  # noqa: TRY004
    for what, found, wanted in (("dtype", value.dtype, dtype), ("shape", value.shape, shape)):
        if found != wanted:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                f"enabled.\nunparametrized {what}: {wanted}\nparametrized {what}: {found}"
            )


class _Parametrized:
    """Comes first in the class of a module with parametrizations: assigning to such a tensor sets its originals."""

    parametrizations: Any

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__.get("parametrizations")
        if held is not None and name in held:
            held[name].right_inverse(value)
        else:
            super().__setattr__(name, value)


def _parametrized_class(module: Any) -> type:
    return type(f"Parametrized{type(module).__name__}", (_Parametrized, type(module)), {})


def _reader(name: str) -> property:
    return property(lambda self: self.parametrizations[name]())


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Compute a parameter or buffer of a module by a parametrization, after those that it has already.

    Args:
        module: The module; its class becomes one of its own.
        tensor_name: The name of the parameter or buffer.
        parametrization: A module from the original tensor to the one that is used. If it has a `right_inverse`, the
            original is made by that; this may return several tensors, which are then all passed to `forward`.
        unsafe: Whether it may change shape and dtype; it is not tried then.

    Returns:
        The module.

    Raises:
        ValueError: There is no such tensor, or shape or dtype would change.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known = module.parametrizations[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            _check_result(parametrization(before), before.shape, before.dtype)
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.__class__ = _parametrized_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _reader(tensor_name))
        module.parametrizations[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of the tensor of this name."""
    held = module.__dict__.get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a parametrized tensor an ordinary one again.

    Args:
        module: The module.
        tensor_name: Its name.
        leave_parametrized: Whether it keeps the value that it has; else it becomes its original.

    Returns:
        The module.

    Raises:
        ValueError: It is not parametrized, or has several originals that none of is to be it.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if not held.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    value = getattr(module, tensor_name)
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            _put(original, value)
    else:
        original = Parameter(value.detach()) if value.requires_grad else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _hold(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before it was given parametrizations."""
    return type(module).__bases__[1] if isinstance(module, _Parametrized) else type(module)


_answer_for(__name__)
