"""Layers that learn the size of their input from the first input that they see; then they are ordinary ones."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from graphscope.engine.nn.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from graphscope.engine.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from graphscope.engine.nn.linear import Linear
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import Parameter
from graphscope.engine.nn.tree import HOLDERS


class _Lazy(Module):
    """A layer without its first argument. Its parameters are there already, and stay the same objects."""

    size: str
    """What the layer calls the size of its input."""
    dim: int = 1
    """The dim of the input that tells it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)  # the layer itself is made by and by
        becomes = type(self).__bases__[1]
        bound = inspect.signature(becomes).bind(1, *args, **kwargs)
        bound.apply_defaults()
        pattern = becomes(bound.arguments.get("groups", 1), *args, **kwargs)
        held = {name for holder in HOLDERS for name in getattr(pattern, holder)}
        self.__dict__.update({k: v for k, v in vars(pattern).items() if k not in held and k not in HOLDERS})
        for name, value in pattern._parameters.items():
            self.register_parameter(name, None if value is None else Parameter(np.zeros(0, value.dtype)))
        for name, value in pattern._buffers.items():
            self.register_buffer(name, value)
        self.__dict__.update({"_settings": (args, kwargs), self.size: 0})

    def forward(self, input: Any) -> Any:
        becomes: Any = type(self).__bases__[1]
        args, kwargs = self.__dict__.pop("_settings")
        made = becomes(input.shape[self.dim], *args, **kwargs)
        for holder in ("_parameters", "_buffers"):
            for name, value in getattr(made, holder).items():
                if value is not None:
                    getattr(self, name).array = value.array
        self.__dict__[self.size] = input.shape[self.dim]
        self.__class__ = becomes
        return self.forward(input)


class LazyLinear(_Lazy, Linear):
    """`Linear`, but for `in_features`."""

    size = "in_features"
    dim = -1


def _made(name: str, becomes: type[Module], size: str) -> Any:
    members = {"__doc__": f"`{becomes.__name__}`, but for `{size}`.", "__module__": __name__, "size": size}
    return type(name, (_Lazy, becomes), members)


LazyConv1d, LazyConv2d, LazyConv3d = (_made(f"Lazy{c.__name__}", c, "in_channels") for c in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _made(f"Lazy{c.__name__}", c, "in_channels") for c in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _made(f"Lazy{c.__name__}", c, "num_features") for c in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _made(f"Lazy{c.__name__}", c, "num_features") for c in (BatchNorm1d, BatchNorm2d, BatchNorm3d)
)
