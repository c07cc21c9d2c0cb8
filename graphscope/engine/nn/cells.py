"""Recurrent cells: one step of an RNN, LSTM or GRU, to be called in a loop of one's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import functional, init
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import blank
from graphscope.engine.ops.recurrent import gru_cell, lstm_cell


class RNNCellBase(Module):
    """What cells have in common: their weights, and input with or without a batch."""

    gates: int = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = self.gates * hidden_size
        self.weight_ih = blank(rows, input_size, dtype=dtype)
        self.weight_hh = blank(rows, hidden_size, dtype=dtype)
        self.register_parameter("bias_ih", blank(rows, dtype=dtype) if bias else None)
        self.register_parameter("bias_hh", blank(rows, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform within ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _given(self, input: Any, state: tuple[Any, ...] | None, parts: int) -> tuple[Any, tuple[Any, ...]]:
        """Input and state with a batch; the state is zeros if there is none."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        for part in state or ():
            if part.ndim not in (1, 2):
                raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {part.ndim}D instead")
        whole = input if input.ndim == 2 else input.unsqueeze(0)
        if whole.shape[1] != self.input_size:
            raise RuntimeError(
                f"{name}: input has inconsistent input_size: got {whole.shape[1]}, expected {self.input_size}"
            )
        if state is None:
            zeros = Tensor(np.zeros((whole.shape[0], self.hidden_size), whole.dtype))
            return whole, (zeros,) * parts
        state = tuple(part if part.ndim == 2 else part.unsqueeze(0) for part in state)
        if any(tuple(part.shape) != (whole.shape[0], self.hidden_size) for part in state):
            raise RuntimeError(
                f"{name}: hidden has shape {tuple(state[0].shape)}, expected {(whole.shape[0], self.hidden_size)}"
            )
        return whole, state

    def _shares(self, input: Any, hidden: Any) -> tuple[Any, Any]:
        """What the input and the state add to the gates."""
        return (
            functional.linear(input, self.weight_ih, self.bias_ih),
            functional.linear(hidden, self.weight_hh, self.bias_hh),
        )

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias is True else f", bias={self.bias}")


class RNNCell(RNNCellBase):
    """`h = tanh(W · x + U · h + b)`; or with `relu`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        whole, (hidden,) = self._given(input, None if hx is None else (hx,), 1)
        share, other = self._shares(whole, hidden)
        result = getattr(functional, self.nonlinearity)(share + other)
        return result if input.ndim == 2 else result.squeeze(0)

    def extra_repr(self) -> str:
        nonlinearity = "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}"
        return super().extra_repr() + nonlinearity


class LSTMCell(RNNCellBase):
    """One step of an LSTM; the state is a pair of hidden and cell state."""

    gates = 4

    def forward(self, input: Any, hx: Any = None) -> Any:
        whole, (hidden, cell) = self._given(input, hx, 2)
        share, other = self._shares(whole, hidden)
        result = lstm_cell(share + other, cell)[:2]
        return tuple(result) if input.ndim == 2 else tuple(part.squeeze(0) for part in result)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    gates = 3

    def forward(self, input: Any, hx: Any = None) -> Any:
        whole, (hidden,) = self._given(input, None if hx is None else (hx,), 1)
        result = gru_cell(*self._shares(whole, hidden), hidden)
        return result if input.ndim == 2 else result.squeeze(0)
