"""Weights that are computed, whenever they are read, from others that are trained in their place.

Reading `module.weight` runs the computation, so the log shows what a weight is made of.
"""

from __future__ import annotations

from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import no_grad
from graphscope.engine.nn.container import ModuleDict, ModuleList
from graphscope.engine.nn.parameter import Parameter

__all__ = ["ParametrizationList", "is_parametrized", "remove_parametrizations"]


class ParametrizationList(ModuleList):
    """What a weight is computed by, from `original`, or from `original0` and `original1`."""

    def __init__(self, part: Any, weight: Any) -> None:
        super().__init__([part])
        with no_grad():
            made = part.right_inverse(weight)
        sources = (
            {f"original{number}": Parameter(each, weight.requires_grad) for number, each in enumerate(made)}
            if isinstance(made, tuple)
            else {"original": weight}
        )
        for name, source in sources.items():
            self.register_parameter(name, source)
        self._names = tuple(sources)

    def forward(self) -> Any:
        """The weight."""
        return self[0](*(getattr(self, name) for name in self._names))


def compute_by(part: Any, module: Any, name: str) -> Any:
    """Let a part compute a module's weight: a module, whose `right_inverse` says what is trained in its place.

    Raises:
        ValueError: The module has no parameter of this name.
    """
    if module._parameters.get(name) is None:
        raise ValueError(f"Module '{module}' has no parameter with name '{name}'")
    part.train(module.training)
    made = ParametrizationList(part, module._parameters[name])
    delattr(module, name)
    if not is_parametrized(module):
        module.__class__ = type(f"Parametrized{type(module).__name__}", (type(module),), {})
        module.parametrizations = ModuleDict()
    setattr(type(module), name, property(lambda self: self.parametrizations[name]()))
    module.parametrizations[name] = made
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether weights of a module are computed, or the one of this name."""
    held = module._modules.get("parametrizations")
    return isinstance(held, ModuleDict) and (len(held) > 0 if tensor_name is None else tensor_name in held)


def remove_parametrizations(module: Any, tensor_name: str) -> Any:
    """Make a computed weight an ordinary parameter again, with the value that it has.

    Raises:
        ValueError: It is not computed.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    value = getattr(module, tensor_name)
    weight = module.parametrizations[tensor_name]._parameters.get("original")
    if weight is None:
        weight = Parameter(value.detach(), value.requires_grad)
    else:
        weight.data = value.detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    module.register_parameter(tensor_name, weight)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__base__
    return module


_answer_for(__name__)
