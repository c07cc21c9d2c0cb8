"""Activations as modules: what `nn.functional` computes, element by element or along a dim."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import functional, init
from graphscope.engine.nn.attention import MultiheadAttention as MultiheadAttention  # where PyTorch has them
from graphscope.engine.nn.function_module import FunctionModule
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import blank


class ReLU(FunctionModule):
    """max(0, x)."""

    function = functional.relu
    inplace: bool = False


class ReLU6(FunctionModule):
    """x between 0 and 6."""

    function = functional.relu6
    inplace: bool = False


class LeakyReLU(FunctionModule):
    """x where it is positive, else negative_slope · x."""

    function = functional.leaky_relu
    negative_slope: float = 1e-2
    inplace: bool = False


class ELU(FunctionModule):
    """x where it is positive, else alpha · (e^x - 1)."""

    function = functional.elu
    alpha: float = 1.0
    inplace: bool = False


class SELU(FunctionModule):
    """`ELU` scaled so that mean and variance stay. Source: Klambauer and others, 2017."""

    function = functional.selu
    inplace: bool = False


class CELU(FunctionModule):
    """x where it is positive, else alpha · (e^(x / alpha) - 1)."""

    function = functional.celu
    alpha: float = 1.0
    inplace: bool = False


class GELU(FunctionModule):
    """x · Φ(x), with Φ the normal distribution; `tanh` approximates it."""

    function = functional.gelu
    approximate: str = "none"


class SiLU(FunctionModule):
    """x · sigmoid(x)."""

    function = functional.silu
    inplace: bool = False


class Mish(FunctionModule):
    """x · tanh(softplus(x))."""

    function = functional.mish
    inplace: bool = False


class Softplus(FunctionModule):
    """ln(1 + e^(beta · x)) / beta; x itself beyond the threshold."""

    function = functional.softplus
    beta: float = 1.0
    threshold: float = 20.0


class Softsign(FunctionModule):
    """x / (1 + |x|)."""

    function = functional.softsign


class Tanh(FunctionModule):
    """The hyperbolic tangent."""

    function = functional.tanh


class Sigmoid(FunctionModule):
    """1 / (1 + e^-x)."""

    function = functional.sigmoid


class LogSigmoid(FunctionModule):
    """The logarithm of the sigmoid."""

    function = functional.logsigmoid


class Hardtanh(FunctionModule):
    """x between min_val and max_val."""

    function = functional.hardtanh
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class Hardswish(FunctionModule):
    """x · relu6(x + 3) / 6."""

    function = functional.hardswish
    shown = ()
    inplace: bool = False


class Hardsigmoid(FunctionModule):
    """relu6(x + 3) / 6."""

    function = functional.hardsigmoid
    shown = ()
    inplace: bool = False


class Threshold(FunctionModule):
    """x where it is above the threshold, else the value."""

    function = functional.threshold
    threshold: float
    value: float
    inplace: bool = False


class Softmax(FunctionModule):
    """Exponentials that sum to 1 along a dim."""

    function = functional.softmax
    dim: int | None = None


class LogSoftmax(FunctionModule):
    """The logarithm of softmax."""

    function = functional.log_softmax
    dim: int | None = None


class Softmin(FunctionModule):
    """Softmax of -x."""

    function = functional.softmin
    dim: int | None = None


class GLU(FunctionModule):
    """The first half along a dim, times the sigmoid of the second."""

    function = functional.glu
    dim: int = -1


class PReLU(Module):
    """`LeakyReLU` with a slope that is learned, one for all or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = blank(num_parameters, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Begin again with the first slope."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
