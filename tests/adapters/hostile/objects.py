"""Threads, finalizers, warnings, tracers, files: the rest of Python."""

from __future__ import annotations

import contextvars
import copy
import gc
import inspect
import io
import pickle
import signal
import sys
import threading
import types
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.adapters.hostile import hostile, leaf


@hostile
def pickles() -> Any:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    again = pickle.loads(pickle.dumps(model))
    x = leaf(1, 2)
    return torch.equal(model(x), again(x)), sorted(vars(pickle.loads(pickle.dumps(x))))


@hostile
def copies() -> Any:
    x = leaf(3)
    x.note = "kept"
    y = copy.deepcopy(x)
    model = copy.deepcopy(nn.Linear(2, 2))
    return y.note, y.requires_grad, sorted(vars(model)), vars(x)


@hostile
def files() -> Any:
    held = io.BytesIO()
    torch.save({"x": leaf(3), "y": leaf(3).detach().to_sparse()}, held)
    held.seek(0)
    return sorted(torch.load(held)), torch.load(io.BytesIO(held.getvalue()))["x"].tolist()


@hostile
def threads() -> Any:
    results: dict[int, float] = {}

    def work(number: int) -> None:
        x = leaf(3)
        (x * number).sin().sum().backward()
        results[number] = x.grad.sum().item()

    every = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in every:
        each.start()
    for each in every:
        each.join()
    return sorted(results.items())


@hostile
def pools() -> Any:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda number: (leaf(3) * number).sum().item(), range(5)))


@hostile
def weak_references() -> Any:
    dead: list[str] = []
    x = leaf(3)
    y = x * 2
    weakref.finalize(y, dead.append, "y")
    reference = weakref.ref(y.grad_fn)
    y.sum().backward()
    del y
    gc.collect()
    return dead, reference() is None


@hostile
def finalizers_that_compute() -> Any:
    seen: list[Any] = []

    class Last:
        def __del__(self) -> None:
            seen.append((torch.is_grad_enabled(), (torch.ones(2, requires_grad=True) * 2).requires_grad))

    x = leaf(3)
    x.held = Last()
    (x * 2).sum().backward()
    del x
    gc.collect()
    return seen


@hostile
def warned_at_a_line() -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        functional.mse_loss(torch.ones(2, 1), torch.ones(2))
        functional.softmax(torch.ones(2))
        nn.functional.sigmoid(torch.ones(1))
    return [(each.category.__name__, each.lineno - warned_at_a_line.__code__.co_firstlineno) for each in caught]


@hostile
def warnings_as_errors() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module=__name__.replace("__main__", "__main__"))
        try:
            functional.mse_loss(torch.ones(2, 1), torch.ones(2))
        except UserWarning:
            return "raised"
    return "went on"


@hostile
def a_tracer() -> Any:
    lines: list[int] = []

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is traced.__code__ and event == "line":
            lines.append(frame.f_lineno - traced.__code__.co_firstlineno)
        return trace

    def traced() -> Any:
        x = leaf(3)
        y = functional.relu(x)
        y.sum().backward()
        return x.grad.tolist()

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return traced(), lines
    finally:
        sys.settrace(before)


@hostile
def a_profile_function_that_computes() -> Any:
    told: set[Any] = set()
    library = str(Path(torch.__file__).parent)

    def look(frame: Any, event: str, _: Any) -> None:
        if not frame.f_code.co_filename.startswith(library):
            enabled = torch.is_grad_enabled()
            with torch.enable_grad():
                told.add((enabled or where, (torch.ones(2, requires_grad=True) * 2).requires_grad))

    x = leaf(2, 3)
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        where = "with gradients"
        loss = torch.nn.functional.layer_norm((x * 2).softmax(0), (3,)).sum()
        where = "and without"
        with torch.no_grad():
            x.exp().clamp_(0, 1).unbind(0)
    finally:
        sys.setprofile(before)
    loss.backward()
    return sorted(told, key=str), x.grad.tolist()


@hostile
def a_signal() -> Any:
    before = signal.signal(signal.SIGUSR1, lambda number, frame: torch.ones(3).sum())
    try:
        signal.raise_signal(signal.SIGUSR1)
        return (leaf(3) * 2).tolist()
    finally:
        signal.signal(signal.SIGUSR1, before)


@hostile
def swapped_parameters() -> Any:
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        model = nn.Linear(2, 2)
        model(leaf(1, 2)).sum().backward()
        return str(model.double().weight.dtype)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


@hostile
def signatures() -> Any:
    return [str(inspect.signature(each)) for each in (torch.Tensor.backward, nn.Module.__call__, nn.Module.zero_grad)]


@hostile
def lazy_negatives() -> Any:
    y = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    return y.is_neg(), (y * 2).tolist(), y.view(2, 1).tolist()


@hostile
def zeros_that_lie_nowhere() -> Any:
    zeros = torch._efficientzerotensor((4,))
    return (zeros[1:] + 1).tolist(), zeros._is_zerotensor()


@hostile
def contexts() -> Any:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)

    def run() -> int:
        variable.set(5)
        (leaf(2) * 2).sum().backward()
        return variable.get()

    return contextvars.copy_context().run(run), variable.get()


@hostile
def modules_made_by_hand() -> Any:
    module = types.ModuleType("made")
    exec("def f(x): return (x * 2).sum()", vars(module))
    return module.f(leaf(2)).item(), eval("x * 3", {"x": leaf(2)}).tolist()


@hostile
def attributes_of_tensors() -> Any:
    x = leaf(3)
    y = x * 2
    return vars(x), vars(y), y.grad_fn.next_functions[0][0].name(), x._backward_hooks, y._version


@hostile
def a_profiler() -> Any:
    with torch.profiler.profile() as profile:
        (leaf(3) * 2).sum().backward()
    return sorted({each.key for each in profile.key_averages() if each.key.startswith("aten::")})


@hostile
def printing() -> Any:
    x = leaf(2, 2)
    print(x, x * 2, nn.Linear(1, 1), f"{x.sum():.2f}", sep="\n")
    return repr(x), str(x.grad_fn), format(x.sum())
