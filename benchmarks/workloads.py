"""The five programs that every engine runs: in torch's spelling, in NumPy's spelling, and by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Data = dict[str, Any]
"""Arrays and scalars by name; a list of arrays where a program takes one each step."""
Values = dict[str, Any]
"""The same names as in `Data`, as some framework's tensors."""

UNROLLED: Final = 100
SCALAR_OPS: Final = 1_000
SCALE, SHIFT = 1.01, 0.001
"""Constants of W4: so chosen that 1,000 ops neither lose the gradient nor blow it up."""


@dataclass(frozen=True)
class Workload:
    """One program. `parameters` take gradients; everything else in the data is constant."""

    name: str
    title: str
    data: Callable[[], Data]
    parameters: tuple[str, ...]
    tensors: Callable[[Any, Values], Any]
    """(module that speaks torch, values) -> loss."""
    arrays: Callable[[Any, Values], Any]
    """(module that speaks NumPy, values) -> loss. No maximum is taken out of the softmax: logits are small here."""
    hand: Callable[[Data], Data]
    """Forward and derived backward, straight in NumPy (Python floats for scalars) -> gradient of each parameter."""
    rate: float | None = None
    """Learning rate of the SGD step at the end, if there is one."""


def normal(*shape: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """Normal float32 numbers, the same in every run."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def cell_data() -> Data:
    """Weights, one input and one state of the seed programs' RNN cell."""
    return {
        "W_h": normal(20, 20, seed=1, scale=0.2),
        "W_x": normal(20, 10, seed=2, scale=0.2),
        "x": normal(1, 10, seed=3),
        "h": normal(1, 20, seed=4),
    }


def cell_tensors(torch: Any, v: Values) -> Any:
    return torch.tanh(v["W_h"] @ v["h"].t() + v["W_x"] @ v["x"].t()).sum()


def cell_arrays(xp: Any, v: Values) -> Any:
    return xp.sum(xp.tanh(v["W_h"] @ v["h"].T + v["W_x"] @ v["x"].T))


def cell_hand(v: Data) -> Data:
    x, h = v["x"], v["h"]
    y = np.tanh(v["W_h"] @ h.T + v["W_x"] @ x.T)
    y.sum()
    g = 1.0 - y * y
    return {"W_h": g @ h, "W_x": g @ x}


def unrolled_data() -> Data:
    return {**cell_data(), "x": list(normal(UNROLLED, 1, 10, seed=3))}


def unrolled_tensors(torch: Any, v: Values) -> Any:
    w_h, w_x = v["W_h"], v["W_x"]
    h = v["h"].t()
    for x in v["x"]:
        h = torch.tanh(w_h @ h + w_x @ x.t())
    return h.sum()


def unrolled_arrays(xp: Any, v: Values) -> Any:
    w_h, w_x = v["W_h"], v["W_x"]
    h = v["h"].T
    for x in v["x"]:
        h = xp.tanh(w_h @ h + w_x @ x.T)
    return xp.sum(h)


def unrolled_hand(v: Data) -> Data:
    w_h, w_x, steps = v["W_h"], v["W_x"], v["x"]
    states = [v["h"].T]
    for x in steps:
        states.append(np.tanh(w_h @ states[-1] + w_x @ x.T))
    states[-1].sum()
    grad_h, grad_x = np.zeros_like(w_h), np.zeros_like(w_x)
    g = np.ones_like(states[-1])
    for t in range(len(steps) - 1, -1, -1):
        y = states[t + 1]
        g = g * (1.0 - y * y)
        grad_h += g @ states[t].T
        grad_x += g @ steps[t]
        g = w_h.T @ g
    return {"W_h": grad_h, "W_x": grad_x}


def mlp_data() -> Data:
    labels = np.random.default_rng(5).integers(0, 10, 64)
    return {
        "W1": normal(784, 256, seed=1, scale=0.05),
        "b1": np.zeros(256, np.float32),
        "W2": normal(256, 128, seed=2, scale=0.08),
        "b2": np.zeros(128, np.float32),
        "W3": normal(128, 10, seed=3, scale=0.1),
        "b3": np.zeros(10, np.float32),
        "x": normal(64, 784, seed=4),
        "labels": labels,
        "targets": np.eye(10, dtype=np.float32)[labels],
    }


def mlp_tensors(torch: Any, v: Values) -> Any:
    functional = torch.nn.functional
    h = functional.relu(v["x"] @ v["W1"] + v["b1"])
    h = functional.relu(h @ v["W2"] + v["b2"])
    return functional.cross_entropy(h @ v["W3"] + v["b3"], v["labels"])


def mlp_arrays(xp: Any, v: Values) -> Any:
    h = xp.maximum(v["x"] @ v["W1"] + v["b1"], 0.0)
    h = xp.maximum(h @ v["W2"] + v["b2"], 0.0)
    z = h @ v["W3"] + v["b3"]
    return xp.mean(xp.log(xp.sum(xp.exp(z), axis=1)) - xp.sum(z * v["targets"], axis=1))


def mlp_hand(v: Data) -> Data:
    x, labels = v["x"], v["labels"]
    rows = np.arange(len(labels))
    h1 = np.maximum(x @ v["W1"] + v["b1"], 0.0)
    h2 = np.maximum(h1 @ v["W2"] + v["b2"], 0.0)
    z = h2 @ v["W3"] + v["b3"]
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    -np.log(p[rows, labels]).mean()
    g = p
    g[rows, labels] -= 1.0
    g /= len(labels)
    grads = {"W3": h2.T @ g, "b3": g.sum(axis=0)}
    g = (g @ v["W3"].T) * (h2 > 0)
    grads |= {"W2": h1.T @ g, "b2": g.sum(axis=0)}
    g = (g @ v["W2"].T) * (h1 > 0)
    return grads | {"W1": x.T @ g, "b1": g.sum(axis=0)}


def scalars_tensors(torch: Any, v: Values) -> Any:
    y = v["v"]
    tanh = torch.tanh
    for _ in range(SCALAR_OPS // 3):
        y = y * SCALE
        y = y + SHIFT
        y = tanh(y)
    return y * SCALE


def scalars_hand(v: Data) -> Data:
    y = v["v"]
    tanh = math.tanh
    outputs = []
    for _ in range(SCALAR_OPS // 3):
        y = tanh(y * SCALE + SHIFT)
        outputs.append(y)
    y * SCALE
    g = SCALE
    for y in reversed(outputs):
        g = g * (1.0 - y * y) * SCALE
    return {"v": g}


def product_tensors(_: Any, v: Values) -> Any:
    return v["a"] * v["b"]


def product_hand(v: Data) -> Data:
    a, b = v["a"], v["b"]
    a * b
    return {"a": b, "b": a}


WORKLOADS: Final = {
    workload.name: workload
    for workload in (
        Workload("W1", "RNN cell", cell_data, ("W_h", "W_x"), cell_tensors, cell_arrays, cell_hand),
        Workload(
            "W2", "cell, T = 100", unrolled_data, ("W_h", "W_x"), unrolled_tensors, unrolled_arrays, unrolled_hand
        ),
        Workload(
            "W3", "MLP, SGD step", mlp_data, ("W1", "b1", "W2", "b2", "W3", "b3"), mlp_tensors, mlp_arrays, mlp_hand,
            rate=1e-3,
        ),
        Workload(
            "W4", "1,000 scalar ops", lambda: {"v": 0.5}, ("v",), scalars_tensors, scalars_tensors,
            scalars_hand,
        ),
        Workload(
            "W5", "c = a * b", lambda: {"a": 15.0, "b": 20.0}, ("a", "b"),
            product_tensors, product_tensors, product_hand,
        ),
    )
}  # fmt: skip
