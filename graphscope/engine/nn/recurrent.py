"""Recurrent layers: RNN, LSTM and GRU, of several layers and in both directions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import functional, init
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import blank
from graphscope.engine.nn.utils.rnn import PackedSequence
from graphscope.engine.ops.joining import cat, stack
from graphscope.engine.ops.recurrent import gru_cell, lstm_cell, lstm_layer
from graphscope.eventlog import record as recording

Step = Callable[..., tuple[Any, ...]]
"""From the input's share of a step, and the state as a tuple, to the next state; its first part is the output."""


class RNNBase(Module):
    """What recurrent layers have in common: their weights, and the way through layers and directions."""

    gates: int = 1
    """How many blocks of rows the weights have."""
    parts: int = 1
    """How many tensors the state has: of an LSTM two."""
    mode: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self._check_settings(dropout, proj_size)
        self.proj_size = proj_size
        directions = ("", "_reverse") if bidirectional else ("",)
        self._suffixes = [f"_l{layer}{direction}" for layer in range(num_layers) for direction in directions]
        for place, suffix in enumerate(self._suffixes):
            below = input_size if place < len(directions) else hidden_size * len(directions)
            rows = self.gates * hidden_size
            setattr(self, f"weight_ih{suffix}", blank(rows, below, dtype=dtype))
            setattr(self, f"weight_hh{suffix}", blank(rows, hidden_size, dtype=dtype))
            if bias:
                setattr(self, f"bias_ih{suffix}", blank(rows, dtype=dtype))
                setattr(self, f"bias_hh{suffix}", blank(rows, dtype=dtype))
        self.reset_parameters()

    def _check_settings(self, dropout: Any, proj_size: int) -> None:
        if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers=1",
                stacklevel=4,
            )
        for name in ("input_size", "hidden_size", "num_layers"):
            value = getattr(self, name)
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
            if value <= 0 and name != "input_size":
                raise ValueError(f"{name} must be greater than zero")
        if proj_size:
            raise NotImplementedError(f"{type(self).__name__}: proj_size is not there; use a Linear on the output")

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform within ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing to do: it is for devices that want all weights in one piece."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights and biases of each layer and direction."""
        return [self._weights(suffix) for suffix in self._suffixes]

    def _weights(self, suffix: str) -> list[Any]:
        names = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if self.bias else ()))
        return [getattr(self, name + suffix) for name in names]

    # Forward

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of all steps, and the last state of each layer and direction.

        Args:
            input: (steps, batch, features), or (batch, steps, features) with `batch_first`, or without a batch; or a
                packed sequence.
            hx: The first state, (layers · directions, batch, hidden); zeros if left out. Of an LSTM a pair.
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead: (steps, batch, "
                "features), or without the batch"
            )
        batched = input.ndim == 3
        state = self._states(hx)
        if not batched:
            input = input.unsqueeze(1)
            self._check_rank(state, 2, "unbatched 2-D", hx)
            state = [part.unsqueeze(1) for part in state]
        else:
            self._check_rank(state, 3, "batched 3-D", hx)
            if self.batch_first:
                input = input.transpose(0, 1)
        if not input.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        output, last = self._layers(input, None, self._begun(state, input, input.shape[1]))
        if not batched:
            return output.squeeze(1), self._result([part.squeeze(1) for part in last])
        return (output.transpose(0, 1) if self.batch_first else output), self._result(last)

    def _packed(self, input: PackedSequence, hx: Any) -> Any:
        data, sizes, places, back = input
        counts = [int(size) for size in sizes.tolist()]
        state = self._begun(self._states(hx), data, counts[0])
        if hx is not None and places is not None:
            state = [part[:, places] for part in state]
        output, last = self._layers(data, counts, state)
        if back is not None:
            last = [part[:, back] for part in last]
        return PackedSequence(output, sizes, places, back), self._result(last)

    def _states(self, hx: Any) -> list[Any]:
        if hx is None:
            return []
        return list(hx) if self.parts > 1 else [hx]

    def _check_rank(self, state: list[Any], rank: int, what: str, hx: Any) -> None:
        for part in state:
            if part.ndim != rank:
                raise RuntimeError(f"For {what} input, hx should also be {rank}-D but got {part.ndim}-D tensor")

    def _begun(self, state: list[Any], input: Any, batch: int) -> list[Any]:
        """The first state, checked, or zeros."""
        weight = self._parameters["weight_ih" + self._suffixes[0]]
        if weight is not None and input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        expected = (len(self._suffixes), batch, self.hidden_size)
        if not state:
            return [Tensor(np.zeros(expected, input.dtype)) for _ in range(self.parts)]
        for number, part in enumerate(state):
            if tuple(part.shape) != expected:
                name = "" if self.parts == 1 else f"[{number}]"
                raise RuntimeError(f"Expected hidden{name} size {expected}, got {list(part.shape)}")
        return state

    def _result(self, last: list[Any]) -> Any:
        return tuple(last) if self.parts > 1 else last[0]

    def _layers(self, x: Any, counts: list[int] | None, state: list[Any]) -> tuple[Any, list[Any]]:
        """Through all layers and directions. `counts` are the sizes of the steps of packed data."""
        last: list[Any] = []
        directions = 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                place = layer * directions + direction
                first = tuple(part[place] for part in state)
                output, end = self._layer(x, counts, first, self._weights(self._suffixes[place]), direction == 1)
                outputs.append(output)
                last.append(end)
            x = outputs[0] if directions == 1 else cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, True)
        return x, [stack(list(parts), 0) for parts in zip(*last, strict=True)]

    def _layer(
        self, x: Any, counts: list[int] | None, first: tuple[Any, ...], weights: list[Any], reverse: bool
    ) -> tuple[Any, tuple[Any, ...]]:
        """One direction of one layer, step by step; the shares of all inputs are one matrix product."""
        weight, recurrent, *biases = weights
        shares = functional.linear(x, weight, self._input_bias(biases))
        pieces = shares.unbind(0) if counts is None else shares.split(counts)
        outputs, last = over_steps(self._step(recurrent, biases), pieces, first, reverse)
        return (stack(outputs, 0) if counts is None else cat(outputs, 0)), last

    def _input_bias(self, biases: list[Any]) -> Any:
        """The bias that goes to the inputs' share."""
        return biases[0] + biases[1] if biases else None

    def _step(self, recurrent: Any, biases: list[Any]) -> Step:
        """What one step computes."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        text += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        text += "" if self.bias is True else f", bias={self.bias}"
        text += f", batch_first={self.batch_first}" if self.batch_first else ""
        text += f", dropout={self.dropout}" if self.dropout else ""
        return text + (f", bidirectional={self.bidirectional}" if self.bidirectional else "")


def over_steps(step: Step, pieces: Any, first: tuple[Any, ...], reverse: bool) -> tuple[list[Any], tuple[Any, ...]]:
    """Run a step on each piece; a piece may be for fewer sequences than the one before it, as packed data are.

    Args:
        step: What one step computes.
        pieces: The inputs' shares of the steps.
        first: The state of all sequences at their beginning.
        reverse: Whether the last piece comes first.

    Returns:
        The output of each step, and the last state of all sequences.
    """
    outputs: list[Any] = [None] * len(pieces)
    ended: list[tuple[Any, ...]] = []
    order = range(len(pieces))[:: -1 if reverse else 1]
    count = pieces[order[0]].shape[0]
    state = first if count == first[0].shape[0] else tuple(part[:count] for part in first)
    for place in order:
        before, count = count, pieces[place].shape[0]
        if count < before:
            ended.append(tuple(part[count:] for part in state))
            state = tuple(part[:count] for part in state)
        elif count > before:
            state = tuple(cat([part, begin[before:count]], 0) for part, begin in zip(state, first, strict=True))
        state = step(pieces[place], state)
        outputs[place] = state[0]
    for rest in reversed(ended):
        state = tuple(cat([part, end], 0) for part, end in zip(state, rest, strict=True))
    return outputs, state


class RNN(RNNBase):
    """`h = tanh(W · x + U · h + b)`, step by step; or with `relu`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        self.__dict__["mode"] = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, num_layers, *args, **kwargs)

    def _step(self, recurrent: Any, biases: list[Any]) -> Step:
        nonlinearity = getattr(functional, self.nonlinearity)
        turned = recurrent.t()
        return lambda share, state: (nonlinearity(share + state[0] @ turned),)


class LSTM(RNNBase):
    """Long short-term memory. Source: Hochreiter and Schmidhuber, 1997.

    While a log is recorded it runs step by step, so that each step can be looked at; else a layer is one node.
    """

    gates = 4
    parts = 2
    mode = "LSTM"

    def _layer(
        self, x: Any, counts: list[int] | None, first: tuple[Any, ...], weights: list[Any], reverse: bool
    ) -> tuple[Any, tuple[Any, ...]]:
        if counts is not None or recording.writer is not None:
            return super()._layer(x, counts, first, weights, reverse)
        output, cell = lstm_layer(x, *first, *weights, reverse=reverse)
        return output, (output[0 if reverse else -1], cell)

    def _step(self, recurrent: Any, biases: list[Any]) -> Step:
        turned = recurrent.t()

        def step(share: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            hidden, cell, _ = lstm_cell(share + state[0] @ turned, state[1])
            return hidden, cell

        return step


class GRU(RNNBase):
    """Gated recurrent units. Source: Cho and others, 2014."""

    gates = 3
    mode = "GRU"

    def _input_bias(self, biases: list[Any]) -> Any:
        return biases[0] if biases else None

    def _step(self, recurrent: Any, biases: list[Any]) -> Step:
        bias = biases[1] if biases else None
        return lambda share, state: (gru_cell(share, functional.linear(state[0], recurrent, bias), state[0]),)
