"""Define-by-run beside define-then-run: a program eager, recorded, traced, scripted and compiled, here and by peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from benchmarks.engines import (
    Step,
    UnavailableError,
    convert,
    graphscope,
    hand,
    jax_eager,
    load,
    recording,
    single,
    tensorflow,
    torch_eager,
)
from benchmarks.workloads import Workload

UNROLLED: Final = ("W1", "W2")
"""Workloads that are also told as a scripted function: the cell, and the loop over it."""


def functional(workload: Workload, make: Callable[[Any], Any], module: Any) -> tuple[Any, list[Any]]:
    """A workload as a function of its parameters, and the parameters."""
    values = convert(workload.data(), make)
    parameters = [values[name].requires_grad_() for name in workload.parameters]

    def loss(*given: Any) -> Any:
        return workload.tensors(module, {**values, **dict(zip(workload.parameters, given, strict=True))})

    return loss, parameters


def differentiated(workload: Workload, call: Callable[..., Any], parameters: list[Any], optimizer: Any) -> Step:
    """A step that calls a function, goes backward, and makes the update."""

    def run() -> None:
        for parameter in parameters:
            parameter.grad = None
        call(*parameters).backward()
        if workload.rate is not None:
            optimizer.step()

    def gradients() -> dict[str, np.ndarray]:
        found = zip(workload.parameters, parameters, strict=True)
        return {name: np.array(parameter.grad.numpy()) for name, parameter in found}

    return Step(run, gradients)


def traced(workload: Workload, module: str = "graphscope") -> Step:
    """A traced function, called and differentiated as the function is."""
    torch = load(module)
    jit = load("graphscope.jit") if module == "graphscope" else torch.jit
    loss, parameters = functional(workload, lambda x: torch.tensor(single(x)), torch)
    call = jit.trace(loss, tuple(parameters))
    return differentiated(workload, call, parameters, torch.optim.SGD(parameters, lr=workload.rate or 0.0))


def scripted(workload: Workload, module: str = "graphscope") -> Step:
    """The recurrent workloads as a scripted function: a loop over the rows of the input."""
    if workload.name not in UNROLLED:
        raise UnavailableError("told as a script for the recurrent workloads alone")
    torch = load(module)
    jit = load("graphscope.jit") if module == "graphscope" else torch.jit
    data = workload.data()
    xs = torch.tensor(np.stack(data["x"] if workload.name == "W2" else [data["x"]]))
    h = torch.tensor(data["h"])
    parameters = [torch.tensor(data[name]).requires_grad_() for name in workload.parameters]
    loop = jit.script(_loop)
    return differentiated(workload, lambda w_h, w_x: loop(w_h, w_x, xs, h), parameters, None)


def _loop(w_h, w_x, xs, h):  # type: ignore[no-untyped-def]
    """The cell over the rows of a sequence, without types, as programs are written."""
    h = h.t()
    for x in xs:
        h = (w_h @ h + w_x @ x.t()).tanh()
    return h.sum()


def planned(workload: Workload, backend: str) -> Step:
    """Loss and gradients from one plan: arrays in, arrays out."""
    gs, jit = load("graphscope"), load("graphscope.jit")
    if backend == "machine":
        load("llvmlite")
    loss, parameters = functional(workload, lambda x: gs.tensor(single(x)), gs)
    step = jit.value_and_grad(loss, *parameters, argnums=range(len(parameters)), backend=backend)
    arrays = [parameter.array for parameter in parameters]
    run_plan, rate = step.plan.run, workload.rate
    last: list[Any] = []

    def run() -> None:
        last[:] = run_plan(arrays)[1:]
        if rate is not None:
            for array, gradient in zip(arrays, last, strict=True):
                np.multiply(gradient, rate, gradient)  # its memory is ours
                np.subtract(array, gradient, array)

    def gradients() -> dict[str, np.ndarray]:
        return {name: np.asarray(each) / (rate or 1) for name, each in zip(workload.parameters, last, strict=True)}

    return Step(run, gradients)


def torch_compiled(workload: Workload) -> Step:
    """`torch.compile`, with its default back end."""
    torch = load("torch")
    torch.set_num_threads(1)
    loss, parameters = functional(workload, lambda x: torch.tensor(single(x)), torch)
    optimizer = torch.optim.SGD(parameters, lr=workload.rate or 0.0)
    step = differentiated(workload, torch.compile(loss), parameters, optimizer)
    try:
        step.run()
    except Exception as error:
        raise UnavailableError(f"torch.compile does not run here: {str(error).splitlines()[0][:80]}") from error
    return step


CANDIDATES: Final[dict[str, Callable[[Workload], Step]]] = {
    "hand": hand,
    "graphscope": graphscope,
    "graphscope, recording": recording,
    "graphscope, traced": traced,
    "graphscope, scripted": scripted,
    "graphscope, plan of NumPy calls": partial(planned, backend="numpy"),
    "graphscope, machine code": partial(planned, backend="machine"),
    "torch eager": torch_eager,
    "torch.jit.trace": partial(traced, module="torch"),
    "torch.jit.script": partial(scripted, module="torch"),
    "torch.compile": torch_compiled,
    "TensorFlow eager": tensorflow,
    "tf.function": partial(tensorflow, compiled=True),
    "tf.function, XLA": partial(tensorflow, compiled=True, xla=True),
    "JAX eager": jax_eager,
    "JAX jit": partial(jax_eager, compiled=True),
}
"""Who is measured, in the order of the tables."""
