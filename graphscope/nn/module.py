"""Modules: parameters and other modules under names; what runs in a module runs in the scope of its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphscope.engine.scopes import scope
from graphscope.engine.tensor import Tensor
from graphscope.nn.parameter import Parameter


class Module:
    """A part of a network. Subclasses assign parameters and modules to attributes and define `forward`."""

    training: bool = True
    _name: str = ""
    """What the module that holds it calls it; the outermost has no name, and opens no scope."""

    def __init__(self) -> None:
        self._parameters: dict[str, Tensor] = {}
        self._modules: dict[str, Module] = {}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes.

        Raises:
            NotImplementedError: The subclass does not say.
        """
        raise NotImplementedError(f"{type(self).__name__} has no forward(): define it")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._name:
            return self.forward(*args, **kwargs)
        with scope(self._name, type(self).__name__):
            return self.forward(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        held = isinstance(value, Parameter | Module)
        if held and "_modules" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: call super().__init__() before anything is assigned")
        if held or name in self.__dict__.get("_modules", ()):
            self._parameters.pop(name, None)
            self._modules.pop(name, None)
        if isinstance(value, Parameter):
            self._parameters[name] = value
            value.name = name
        elif isinstance(value, Module):
            self.add_module(name, value)
        object.__setattr__(self, name, value)

    def add_module(self, name: str, module: Module) -> None:
        """Hold a module under a name."""
        self._modules[name] = module
        module._called(name)
        for path, parameter in module.named_parameters():
            parameter.name = f"{name}.{path}"

    def _called(self, name: str) -> None:
        self._name = name

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Every parameter, of the modules inside too, with its path; one that is shared comes once."""
        seen: set[int] = set()
        for path, module in self.named_modules():
            for name, parameter in module._parameters.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{path}.{name}" if path else name, parameter

    def parameters(self) -> Iterator[Any]:
        """Every parameter, of the modules inside too."""
        return (parameter for _, parameter in self.named_parameters())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that this one holds, by name."""
        return iter(self._modules.items())

    def children(self) -> Iterator[Module]:
        """The modules that this one holds."""
        return iter(self._modules.values())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all inside it, with their paths."""
        yield prefix, self
        for name, module in self._modules.items():
            yield from module.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Module]:
        """This module and all inside it."""
        return (module for _, module in self.named_modules())

    def train(self, mode: bool = True) -> Module:
        """Say that the module is being trained, or not."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Say that the module is being used, not trained."""
        return self.train(False)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.zero_()

    def state_dict(self) -> dict[str, Any]:
        """Every parameter by its path, outside the graph but in the same memory."""
        return {path: parameter.detach() for path, parameter in self.named_parameters()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Copy values into the parameters.

        Raises:
            RuntimeError: Names or shapes differ from those of the parameters.
        """
        own = dict(self.named_parameters())
        missing, unexpected = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
        if missing or unexpected:
            raise RuntimeError(
                f"load_state_dict of {type(self).__name__}: missing {', '.join(missing) or 'nothing'}; "
                f"unexpected {', '.join(unexpected) or 'nothing'}"
            )
        for path, parameter in own.items():
            value = np.asarray(state[path])
            if value.shape != parameter.shape:
                raise RuntimeError(f"load_state_dict: {path} has shape {parameter.shape}, the value {value.shape}")
            np.copyto(parameter.data, value)

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed."""
        return ""

    def __repr__(self) -> str:
        inner = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if not inner:
            return f"{type(self).__name__}({self.extra_repr()})"
        return "\n  ".join([f"{type(self).__name__}(", *inner]) + "\n)"
