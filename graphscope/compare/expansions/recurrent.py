"""Recurrent cells and layers, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphscope.compare.expansions.activations import sigmoid
from graphscope.compare.expansions.part import Array, Part, Parts

State = tuple[Array, ...]
Step = Callable[[Array, State, Sequence[Array]], Any]


def lstm_step(x: Array, state: State, weights: Sequence[Array]) -> Any:
    """Gates, the new cell, the new hidden state."""
    hidden, cell = state
    of_input, of_hidden = yield from _products(x, hidden, weights)
    gates = of_input + of_hidden
    yield Part("gates", gates)
    entry, forget, fresh, output = np.split(gates, 4, -1)
    entry, forget, fresh, output = sigmoid(entry), sigmoid(forget), np.tanh(fresh), sigmoid(output)
    yield Part("input gate", entry)
    yield Part("forget gate", forget)
    yield Part("candidate", fresh)
    yield Part("output gate", output)
    cell = forget * cell + entry * fresh
    yield Part("cell", cell)
    hidden = output * np.tanh(cell)
    yield Part("hidden", hidden)
    return hidden, cell


def gru_step(x: Array, state: State, weights: Sequence[Array]) -> Any:
    """Reset and update gates, the candidate, the new hidden state."""
    (hidden,) = state
    of_input, of_hidden = yield from _products(x, hidden, weights)
    (reset, update, fresh), (reset_of, update_of, fresh_of) = (np.split(each, 3, -1) for each in (of_input, of_hidden))
    gate = sigmoid(reset + reset_of)
    yield Part("reset", gate)
    keep = sigmoid(update + update_of)
    yield Part("update", keep)
    candidate = np.tanh(fresh + gate * fresh_of)
    yield Part("candidate", candidate)
    hidden = (1 - keep) * candidate + keep * hidden
    yield Part("hidden", hidden)
    return (hidden,)


def rnn_step(x: Array, state: State, weights: Sequence[Array], curve: Any = np.tanh) -> Any:
    """The sum of both products, and its activation."""
    (hidden,) = state
    of_input, of_hidden = yield from _products(x, hidden, weights)
    inner = of_input + of_hidden
    yield Part("inner", inner)
    hidden = curve(inner)
    yield Part("hidden", hidden)
    return (hidden,)


def cell(step: Step) -> Callable[..., Parts]:
    """One step alone, as the cells of PyTorch are called."""

    def expand(input: Array, hx: Any, *weights: Array | None) -> Parts:
        state = tuple(hx) if isinstance(hx, list | tuple) else (hx,)
        yield from step(input, state, [each for each in weights if each is not None])

    return expand


def layers(step: Step) -> Callable[..., Parts]:
    """Layers of it over a sequence, as `torch.lstm` and its kin are called."""

    def expand(
        input: Array,
        hx: Any,
        params: Sequence[Array],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool = False,
    ) -> Parts:
        states = hx if isinstance(hx, list | tuple) else (hx,)
        sequence = input.swapaxes(0, 1) if batch_first else input
        directions, count = 1 + bidirectional, 4 if has_biases else 2
        for layer in range(num_layers):
            outputs = []
            for direction in range(directions):
                number = layer * directions + direction
                weights = params[number * count : (number + 1) * count]
                state = tuple(each[number] for each in states)
                order = range(len(sequence))[:: -1 if direction else 1]
                hidden: dict[int, Array] = {}
                for time in order:
                    state = yield from step(sequence[time], state, weights)
                    hidden[time] = state[0]
                outputs.append(np.stack([hidden[time] for time in sorted(hidden)]))
            sequence = np.concatenate(outputs, -1)
            yield Part(f"layer {layer}", sequence)
        yield Part("output", sequence.swapaxes(0, 1) if batch_first else sequence)

    return expand


rnn_relu_step = partial(rnn_step, curve=lambda x: np.maximum(x, 0))


def _products(x: Array, hidden: Array, weights: Sequence[Array]) -> Any:
    """What all gates take of the input, and of the hidden state."""
    found = []
    for name, value, weight, bias in zip(
        ("of the input", "of the state"), (x, hidden), weights, (weights[2:3], weights[3:4]), strict=False
    ):
        product: Array = value @ weight.T
        found.append(product + bias[0] if bias else product)
        yield Part(name, found[-1])
    return found
