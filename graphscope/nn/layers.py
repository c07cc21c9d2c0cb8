"""The layers: modules that are ready for use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from graphscope.engine import dtypes
from graphscope.engine.random import generator
from graphscope.nn import functional
from graphscope.nn.module import Module
from graphscope.nn.parameter import Parameter


class Linear(Module):
    """`x @ weight.t() + bias`, on the last dim. Both begin uniform within ±1/√in_features, as in PyTorch."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = _uniform(bound, out_features, in_features)
        self.bias = _uniform(bound, out_features) if bias else None

    def forward(self, input: Any) -> Any:
        """Apply the map."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _uniform(bound: float, *size: int) -> Any:
    return Parameter(generator().uniform(-bound, bound, size).astype(dtypes.get_default_dtype()))


class _Holder(Module):
    """Modules in an order, under their numbers."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __getitem__(self, index: int) -> Module:
        return list(self._modules.values())[index]

    def append(self, module: Module) -> None:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)


class Sequential(_Holder):
    """Modules that run one after the other."""

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def forward(self, input: Any) -> Any:
        """Run them in order."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_Holder):
    """A list of modules for a module to run as it likes; they are named `layers.0` where the list is `layers`."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def add_module(self, name: str, module: Module) -> None:
        """Hold a module; as the list itself is never called, the module's scope bears the name of both."""
        super().add_module(name, module)
        module._called(f"{self._name}.{name}" if self._name else name)

    def _called(self, name: str) -> None:
        super()._called(name)
        for key, module in self._modules.items():
            module._called(f"{name}.{key}")


class ReLU(Module):
    """`functional.relu` as a module."""

    def forward(self, input: Any) -> Any:
        """Apply it."""
        return functional.relu(input)


class Tanh(Module):
    """`functional.tanh` as a module."""

    def forward(self, input: Any) -> Any:
        """Apply it."""
        return functional.tanh(input)


class Sigmoid(Module):
    """`functional.sigmoid` as a module."""

    def forward(self, input: Any) -> Any:
        """Apply it."""
        return functional.sigmoid(input)


class _Along(Module):
    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """The dim."""
        return f"dim={self.dim}"


class Softmax(_Along):
    """`functional.softmax` as a module."""

    def forward(self, input: Any) -> Any:
        """Apply it."""
        return functional.softmax(input, self.dim)


class LogSoftmax(_Along):
    """`functional.log_softmax` as a module."""

    def forward(self, input: Any) -> Any:
        """Apply it."""
        return functional.log_softmax(input, self.dim)


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction


class CrossEntropyLoss(_Loss):
    """`functional.cross_entropy` as a module."""

    def forward(self, input: Any, target: Any) -> Any:
        """Apply it."""
        return functional.cross_entropy(input, target, self.reduction)


class NLLLoss(_Loss):
    """`functional.nll_loss` as a module."""

    def forward(self, input: Any, target: Any) -> Any:
        """Apply it."""
        return functional.nll_loss(input, target, self.reduction)


class MSELoss(_Loss):
    """`functional.mse_loss` as a module."""

    def forward(self, input: Any, target: Any) -> Any:
        """Apply it."""
        return functional.mse_loss(input, target, self.reduction)


class L1Loss(_Loss):
    """`functional.l1_loss` as a module."""

    def forward(self, input: Any, target: Any) -> Any:
        """Apply it."""
        return functional.l1_loss(input, target, self.reduction)
