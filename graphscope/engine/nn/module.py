"""Modules: parameters and other modules under names; what runs in a module runs in the scope of its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from graphscope.engine.core import training
from graphscope.engine.core.element_types import dtype
from graphscope.engine.core.leaf_gradients import clear
from graphscope.engine.core.module_scopes import ran, scope
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import hooks
from graphscope.engine.nn.hooks import Hooks, RemovableHandle
from graphscope.engine.nn.state import Stateful
from graphscope.eventlog import record as recording


class Module(Stateful):
    """A part of a network. Subclasses assign parameters and modules to attributes and define `forward`."""

    training: bool = True
    """Whether it is being trained; `train()` and `eval()` say so."""

    _module_hooks: Hooks | None = None
    """Its hooks; of the class: those of every module. One look tells that there are none."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes.

        Raises:
            NotImplementedError: The subclass does not say.
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._module_hooks is None:
            if recording.writer is None:
                return self.forward(*args, **kwargs)
            if not self._scope_name:
                ran(self)
                return self.forward(*args, **kwargs)
            with scope(self._scope_name, type(self).__name__, self):
                return self.forward(*args, **kwargs)
        if recording.writer is None or not self._scope_name:
            ran(self)
            return hooks.call(self, Module._module_hooks, args, kwargs)
        with scope(self._scope_name, type(self).__name__, self):
            return hooks.call(self, Module._module_hooks, args, kwargs)

    # Training

    def train(self, mode: bool = True) -> Self:
        """Say that the module is being trained, or not.

        Raises:
            ValueError: The mode is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")  # noqa: TRY004 - as PyTorch
        told = training.told()
        if told is None:
            self._change_mode(mode)
        else:
            told.change_mode(self, mode)
        return self

    def _change_mode(self, mode: bool) -> None:
        self.training = mode
        for module in self.children():
            module.train(mode)

    def eval(self) -> Self:
        """Say that the module is being used, not trained."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask that gradients flow to the parameters, or no more."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0."""
        for parameter in self.parameters():
            clear(parameter, set_to_none=set_to_none)
        if (told := training.told()) is not None:
            told.forgot(self, self.parameters(), set_to_none)

    # Changing all of it

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call `fn` on every module inside, then on this one; for example to initialise them."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Put `fn(tensor)` in the place of every parameter, gradient and buffer; the tensors stay the same objects."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for tensor in (*self._parameters.values(), *self._buffers.values()):
            for held in (tensor, None if tensor is None else tensor.grad):
                if held is not None:
                    changed = fn(held.detach()).array
                    if changed is not held.array:
                        held.array = changed
                        held.row = -1  # the log is told anew at its next use
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Bring floating parameters and buffers to a dtype; there is one device, the CPU.

        Raises:
            TypeError: The dtype is not floating.
            RuntimeError: The device is none that exists here.
        """
        options = {name: value for name, value in kwargs.items() if name in ("device", "dtype", "tensor")}
        dtype: Any = None
        for value in (*args, *options.values()):
            if isinstance(value, Tensor):
                dtype = value.dtype
            elif _is_dtype(value):
                dtype = value
            elif value is not None and not isinstance(value, bool):
                Tensor(np.float32(0)).to(value)  # a device: it exists or this raises
        if dtype is None:
            return self
        if np.dtype(dtype).kind not in "fcV":
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.array.dtype.kind in "fcV" else tensor)

    def _cast(self, name: str) -> Self:
        """Bring what is floating, and not what is complex, to a dtype."""
        dtype = np.dtype(name)
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.array.dtype.kind in "fV" else tensor)

    def float(self) -> Self:
        """Bring floating parameters and buffers to float32."""
        return self._cast("float32")

    def double(self) -> Self:
        """Bring floating parameters and buffers to float64."""
        return self._cast("float64")

    def half(self) -> Self:
        """Bring floating parameters and buffers to float16."""
        return self._cast("float16")

    def bfloat16(self) -> Self:
        """Bring floating parameters and buffers to bfloat16.

        Raises:
            TypeError: The package `ml_dtypes` is not installed, which NumPy needs for it.
        """
        return self._cast("bfloat16")

    def cpu(self) -> Self:
        """The module itself: it is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """There is no such device here.

        Raises:
            RuntimeError: Always.
        """
        return self.to("cuda")

    # Hooks

    def _own_module_hooks(self) -> Hooks:
        return self.__dict__.setdefault("_module_hooks", Hooks())  # type: ignore[no-any-return]

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns takes the place of the arguments.

        Args:
            hook: The function.
            prepend: Whether it comes before the hooks that there are.
            with_kwargs: Whether it takes `(module, args, kwargs)` and returns None or both.
        """
        return RemovableHandle(self._own_module_hooks().before, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; what it returns takes the place of the output.

        Args:
            hook: The function.
            prepend: Whether it comes before the hooks that there are.
            with_kwargs: Whether it takes `(module, args, kwargs, output)`.
            always_call: Whether it is called even if `forward` raises.
        """
        return RemovableHandle(self._own_module_hooks().after, (hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when gradients have come to the module; it may return others."""
        return RemovableHandle(self._own_module_hooks().backward_before, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when gradients have passed the module; it may return others."""
        return RemovableHandle(self._own_module_hooks().backward, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The old name of `register_full_backward_hook`."""
        return self.register_full_backward_hook(hook)

    # Printing

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if not inner and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return "\n  ".join([f"{self._get_name()}(", *lines, *inner]) + "\n)"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})


def _is_dtype(value: Any) -> bool:
    return isinstance(value, dtype | np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))


def _everywhere() -> Hooks:
    """The hooks of every module."""
    if Module._module_hooks is None:
        Module._module_hooks = Hooks()
    return Module._module_hooks


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module."""
    return RemovableHandle(_everywhere().before, (hook, False))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the `forward` of every module."""
    return RemovableHandle(_everywhere().after, (hook, with_kwargs, always_call))


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when gradients have passed any module."""
    return RemovableHandle(_everywhere().backward, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` when gradients have come to any module."""
    return RemovableHandle(_everywhere().backward_before, hook)
