"""Single ops against torch eager: forward alone, and forward with backward, on large tensors and on small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from benchmarks.engines import UnavailableError, load
from benchmarks.measure import interleave
from benchmarks.results import Measurement
from benchmarks.workloads import normal

LARGE, SMALL = (1024, 1024), (20, 20)
ROUNDS: Final = 9


@dataclass(frozen=True)
class Case:
    """One op on tensors of given shapes."""

    name: str
    call: Callable[..., Any]
    """(module that speaks torch, its `nn.functional`, tensors) -> tensor."""
    shapes: tuple[tuple[int, ...], ...]
    backward: bool = True
    """Whether forward with backward is measured, too."""


@dataclass(frozen=True)
class Timed:
    """What is timed."""

    run: Callable[[], object]
    session: Callable[[], AbstractContextManager[object]] = field(default=nullcontext)


def _elementwise(shape: tuple[int, ...]) -> Iterator[Case]:
    size = "1M" if shape == LARGE else "20x20"
    calls: dict[str, Callable[..., Any]] = {
        "add": lambda t, f, x: x + x,
        "mul": lambda t, f, x: x * x,
        "exp": lambda t, f, x: x.exp(),
        "tanh": lambda t, f, x: x.tanh(),
        "relu": lambda t, f, x: f.relu(x),
        "sum": lambda t, f, x: x.sum(),
        "sum(0)": lambda t, f, x: x.sum(0),
        "sum(1)": lambda t, f, x: x.sum(1),
        "prod": lambda t, f, x: x.prod(),
        "cumsum(0)": lambda t, f, x: x.cumsum(0),
        "cumsum(1)": lambda t, f, x: x.cumsum(1),
        "cummax(1)": lambda t, f, x: x.cummax(1)[0],
        "max(1)": lambda t, f, x: x.max(1)[0],
        "scatter_add(1)": lambda t, f, x: t.zeros_like(x).scatter_add(1, t.arange(len(x)).flip(0).expand(*x.shape), x),
        "gather(1)": lambda t, f, x: x.gather(1, t.arange(len(x)).flip(0).expand(*x.shape)),
        "sigmoid": lambda t, f, x: x.sigmoid(),
        "softmax": lambda t, f, x: f.softmax(x, -1),
        "log_softmax": lambda t, f, x: f.log_softmax(x, -1),
        "gelu": lambda t, f, x: f.gelu(x),
        "gelu, tanh": lambda t, f, x: f.gelu(x, approximate="tanh"),
        "silu": lambda t, f, x: f.silu(x),
        "softplus": lambda t, f, x: f.softplus(x),
        "elu": lambda t, f, x: f.elu(x),
        "leaky_relu": lambda t, f, x: f.leaky_relu(x, 0.1),
        "layer_norm": lambda t, f, x: f.layer_norm(x, x.shape[-1:]),
        "mse_loss": lambda t, f, x: f.mse_loss(x, x * 0.5),
    }
    return (Case(f"{name}, {size}", call, (shape,)) for name, call in calls.items())


def _conv(**options: Any) -> Callable[..., Any]:
    return lambda t, f, x, w, b: f.conv2d(x, w, b, **options)


CASES: Final = (
    *_elementwise(LARGE),
    *_elementwise(SMALL),
    Case("matmul, 512x512", lambda t, f, x, y: x @ y, ((512, 512), (512, 512))),
    Case("matmul, 20x20", lambda t, f, x, y: x @ y, (SMALL, SMALL)),
    Case("matmul, 32x8 of 64x64", lambda t, f, x, y: x @ y, ((32, 8, 64, 64), (32, 8, 64, 64))),
    Case("linear, 32x128 to 256", lambda t, f, x, w, b: f.linear(x, w, b), ((32, 128), (256, 128), (256,))),
    Case("linear, 8x64x128 to 256", lambda t, f, x, w, b: f.linear(x, w, b), ((8, 64, 128), (256, 128), (256,))),
    Case("conv2d, 3 to 16, 32x32", _conv(padding=1), ((32, 3, 32, 32), (16, 3, 3, 3), (16,))),
    Case("conv2d, 16 to 32, 32x32", _conv(padding=1), ((32, 16, 32, 32), (32, 16, 3, 3), (32,))),
    Case("conv2d, 16 to 32, 6x6", _conv(), ((64, 16, 6, 6), (32, 16, 3, 3), (32,))),
    Case("conv2d, 64 to 64, 28x28", _conv(padding=1), ((8, 64, 28, 28), (64, 64, 3, 3), (64,))),
    Case("conv2d, 1x1", _conv(), ((16, 32, 16, 16), (64, 32, 1, 1), (64,))),
    Case("conv2d, depthwise", _conv(padding=1, groups=32), ((16, 32, 32, 32), (32, 1, 3, 3), (32,))),
    Case("max_pool2d", lambda t, f, x: f.max_pool2d(x, 2), ((32, 16, 32, 32),)),
    Case("avg_pool2d", lambda t, f, x: f.avg_pool2d(x, 2), ((32, 16, 32, 32),)),
    Case("batch_norm", lambda t, f, x, w, b: f.batch_norm(x, None, None, w, b, True), ((32, 16, 32, 32), (16,), (16,))),
    Case("layer_norm, 8x64x64", lambda t, f, x, w, b: f.layer_norm(x, (64,), w, b), ((8, 64, 64), (64,), (64,))),
    Case(
        "attention, 8x4x64x16",
        lambda t, f, q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True),
        ((8, 4, 64, 16),) * 3,
    ),
    Case("einsum bij,bjk->bik", lambda t, f, x, y: t.einsum("bij,bjk->bik", x, y), ((16, 64, 64), (16, 64, 64))),
    Case(
        "interpolate, bilinear", lambda t, f, x: f.interpolate(x, scale_factor=2, mode="bilinear"), ((8, 16, 32, 32),)
    ),
)
"""What is measured."""


def _forward(module: Any, case: Case) -> Timed:
    functional = module.nn.functional
    given = [module.from_numpy(normal(*shape, seed=place)) for place, shape in enumerate(case.shapes)]
    return Timed(lambda: case.call(module, functional, *given))


def _both(module: Any, case: Case) -> Timed:
    functional = module.nn.functional
    given = [module.from_numpy(normal(*shape, seed=place)) for place, shape in enumerate(case.shapes)]
    for tensor in given:
        tensor.requires_grad_()
    cotangent = module.from_numpy(normal(*case.call(module, functional, *given).shape, seed=9)[...])

    def run() -> None:
        case.call(module, functional, *given).backward(cotangent)

    return Timed(run)


def beside_torch(measured: Callable[[Any, Any], list[Measurement]]) -> list[Measurement]:
    """What a function of our module and of torch's measures, on one thread; a note where there is no torch."""
    try:
        torch = load("torch")
    except UnavailableError as reason:
        return [Measurement("torch eager", note=str(reason))]
    torch.set_num_threads(1)
    return measured(load("graphscope"), torch)


def measure() -> list[Measurement]:
    """Time every case, ours and torch's interleaved."""
    return beside_torch(_measured)


def _measured(gs: Any, torch: Any) -> list[Measurement]:
    found = []
    for case in CASES:
        numbers: dict[str, float] = {}
        for what, build in (("forward", _forward), ("both", _both))[: 1 + case.backward]:
            timings = interleave({"ours": build(gs, case), "torch": build(torch, case)}, rounds=ROUNDS)
            numbers[f"seconds, {what}"] = timings.median("ours")
            numbers[f"{what} to torch"] = timings.ratio("ours", "torch")
        found.append(Measurement(case.name, numbers))
    small = [measured.numbers for measured in found if measured.name.endswith(", 20x20")]
    ratios = {column: median(numbers[column] for numbers in small) for column in ("forward to torch", "both to torch")}
    return [*found, Measurement("20x20, median of all", ratios)]
