"""The candidates: one builder each, from a workload to a step that can be timed."""

from __future__ import annotations

import importlib
import math
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from benchmarks.workloads import Data, Values, Workload


class UnavailableError(Exception):
    """The peer is not installed, or cannot say this workload; the text says which."""


@dataclass(frozen=True)
class Step:
    """A workload in a candidate's hands. `run` does one step; the gradients are those of the last one."""

    run: Callable[[], object]
    gradients: Callable[[], dict[str, np.ndarray]]
    session: Callable[[], AbstractContextManager[object]] = field(default=nullcontext)
    """Held while the step is timed (a recording, say); entering and leaving it is not timed."""
    close: Callable[[], None] = field(default=lambda: None)
    """Called once, after the last use."""


def load(module: str) -> Any:
    """Import an optional peer, or say that it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnavailableError(f"{module.partition('.')[0]} is not installed") from error


def convert(data: Data, make: Callable[[Any], Any]) -> Values:
    """Every array and scalar of the data through `make`; lists item by item."""
    return {key: [make(x) for x in value] if isinstance(value, list) else make(value) for key, value in data.items()}


def single(value: Any) -> Any:
    """Python scalars as float32, as tensors are by default; arrays as they are."""
    return np.float32(value) if isinstance(value, float) else value


def hand(workload: Workload) -> Step:
    """Forward and derived backward in plain NumPy."""
    data = workload.data()
    last: Data = {}

    def run() -> None:
        last.update(workload.hand(data))

    def run_and_update() -> None:
        last.update(workload.hand(data))
        for name, gradient in last.items():
            data[name] -= workload.rate * gradient

    return Step(run if workload.rate is None else run_and_update, lambda: convert(last, np.asarray))


def torch_like(module: Any, make: Callable[[Any], Any], workload: Workload) -> Step:
    """The workload in a module that speaks torch: torch itself, or graphscope."""
    values = convert(workload.data(), make)
    parameters = [values[name].requires_grad_() for name in workload.parameters]
    program = workload.tensors

    def run() -> None:
        for parameter in parameters:
            parameter.grad = None
        program(module, values).backward()

    def run_and_update() -> None:
        optimizer.zero_grad()
        program(module, values).backward()
        optimizer.step()

    if workload.rate is not None:
        optimizer = module.optim.SGD(parameters, lr=workload.rate)
    return Step(
        run if workload.rate is None else run_and_update,
        lambda: {name: values[name].grad.numpy().copy() for name in workload.parameters},
    )


def torch_eager(workload: Workload) -> Step:
    """PyTorch as people run it."""
    torch = load("torch")
    torch.set_num_threads(1)
    return torch_like(torch, lambda x: torch.tensor(single(x)), workload)


def graphscope(workload: Workload) -> Step:
    """Ours, with no log."""
    gs = load("graphscope")
    return torch_like(gs, lambda x: gs.tensor(single(x)), workload)


SETTLING: Final = 3.0
"""Seconds that a recording runs before it is timed."""


def recording(workload: Workload) -> Step:
    """Ours, recording every node, edge, site, value and gradient to one log on disk, over all rounds."""
    step = graphscope(workload)
    record = load("graphscope.eventlog.record")
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    writer = record.start(folder / "run.gscope", policy="full")
    record.activate(None)
    load("graphscope.adapters").detach()  # else PyTorch, measured beside it, would run under our hooks

    # Paused between rounds, while the others have their turn; the log goes on, so that its steady state (segments made,
    # the oldest values dropped) is part of what is timed.
    session = partial(record.recording_to, writer)

    def close() -> None:
        record.stop(writer)
        shutil.rmtree(folder)

    with session():  # as after a while of recording: the budget is used up, and room that was dropped is used again
        another = graphscope(workload)
        end = perf_counter() + SETTLING
        while perf_counter() < end:
            another.run()
    return replace(step, session=session, close=close)


def updating(workload: Workload, values: Values, gradient_of: Callable[[], Any], new: Callable[[Any], Any]) -> Step:
    """A step from a function that returns all gradients; it makes the update with the peer's own arithmetic."""
    last: Values = {}
    names, rate = workload.parameters, workload.rate

    def run() -> None:
        last.update(zip(names, gradient_of(), strict=True))

    def run_and_update() -> None:
        run()
        for name in names:
            values[name] = new(values[name] - rate * last[name])

    return Step(run if rate is None else run_and_update, lambda: convert(last, np.asarray))


def same(value: Any) -> Any:
    """No conversion."""
    return value


def hips_autograd(workload: Workload) -> Step:
    """HIPS autograd: NumPy traced anew in each call."""
    gradient, xp = load("autograd").grad, load("autograd.numpy")
    values = convert(workload.data(), single)

    def loss(parameters: tuple[Any, ...]) -> Any:
        return workload.arrays(xp, {**values, **dict(zip(workload.parameters, parameters, strict=True))})

    derive = gradient(loss)
    return updating(workload, values, lambda: derive(tuple(values[name] for name in workload.parameters)), same)


def jax_eager(workload: Workload, compiled: bool = False) -> Step:
    """JAX, op by op, or compiled whole."""
    jax, xp = load("jax"), load("jax.numpy")
    values = convert(workload.data(), lambda x: xp.asarray(single(x)))

    def loss(parameters: tuple[Any, ...]) -> Any:
        return workload.arrays(xp, {**values, **dict(zip(workload.parameters, parameters, strict=True))})

    derive = jax.jit(jax.grad(loss)) if compiled else jax.grad(loss)

    def gradients() -> Any:
        return jax.block_until_ready(derive(tuple(values[name] for name in workload.parameters)))

    return updating(workload, values, gradients, same)


def tensorflow(workload: Workload, compiled: bool = False, xla: bool = False) -> Step:
    """TensorFlow under a GradientTape, op by op, or as a `tf.function`, with XLA if asked for."""
    tf, xp = load("tensorflow"), load("tensorflow.experimental.numpy")
    xp.experimental_enable_numpy_behavior()
    values = convert(workload.data(), lambda x: tf.constant(single(x)))

    def loss_gradients(*parameters: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            loss = workload.arrays(xp, {**values, **dict(zip(workload.parameters, parameters, strict=True))})
        return tape.gradient(loss, parameters)

    derive = tf.function(loss_gradients, jit_compile=xla) if compiled else loss_gradients
    return updating(workload, values, lambda: derive(*(values[name] for name in workload.parameters)), same)


def mygrad(workload: Workload) -> Step:
    """MyGrad as installed, its memory guards on."""
    mg = load("mygrad")
    values = convert(workload.data(), single)

    def gradients() -> list[Any]:
        tensors = [mg.tensor(values[name]) for name in workload.parameters]
        workload.arrays(mg, {**values, **dict(zip(workload.parameters, tensors, strict=True))}).backward()
        return [tensor.grad for tensor in tensors]

    return updating(workload, values, gradients, same)


def micrograd(workload: Workload) -> Step:
    """micrograd, which knows scalars alone; it has no tanh, so one is written as its own ops are."""
    value = load("micrograd.engine").Value
    data = workload.data()
    if not all(isinstance(x, float) for x in data.values()):
        raise UnavailableError("micrograd knows scalars alone")
    # Its topological sort calls itself once an op.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))

    def tanh(x: Any) -> Any:
        y = math.tanh(x.data)
        out = value(y, (x,), "tanh")

        def backward() -> None:
            x.grad += (1 - y * y) * out.grad

        out._backward = backward
        return out

    module = SimpleNamespace(tanh=tanh)

    def gradients() -> list[float]:
        leaves = convert(data, value)
        workload.tensors(module, leaves).backward()
        return [leaves[name].grad for name in workload.parameters]

    return updating(workload, data, gradients, same)


def tinygrad(workload: Workload) -> Step:
    """Tinygrad on its CPU backend, gradients realised in each step."""
    module = load("tinygrad")
    try:
        str(module.Device.DEFAULT)
    except RuntimeError as error:
        raise UnavailableError("tinygrad finds no device (its CPU backend wants clang)") from error
    tensor = module.Tensor
    methods = ("tanh", "sum", "maximum", "exp", "log", "mean")
    xp = SimpleNamespace(**{name: getattr(tensor, name) for name in methods})
    values = convert(workload.data(), lambda x: tensor(single(x).tolist() if np.ndim(x) == 0 else x))

    def gradients() -> Any:
        leaves = [values[name] for name in workload.parameters]
        found = workload.arrays(xp, values).gradient(*leaves)
        return [x.realize() for x in found]

    return updating(workload, values, gradients, lambda x: x.realize().detach())


CANDIDATES: Final[dict[str, Callable[[Workload], Step]]] = {
    "hand": hand,
    "graphscope": graphscope,
    "graphscope, recording": recording,
    "torch eager": torch_eager,
    "HIPS autograd": hips_autograd,
    "mygrad": mygrad,
    "micrograd": micrograd,
    "JAX eager": jax_eager,
    "JAX jit": partial(jax_eager, compiled=True),
    "TensorFlow eager": tensorflow,
    "tf.function": partial(tensorflow, compiled=True),
    "tinygrad": tinygrad,
}
"""Who is measured, in the order of the tables. Those that are not installed are left out, and it is said."""
