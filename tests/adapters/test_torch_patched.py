"""A program that puts functions of its own in the place of torch's: each runs as often as it does unrecorded."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional, init

import graphscope as gs

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:torch.lu is deprecated")]

Tensor = torch.Tensor
X: Final = torch.linspace(-2, 2, 6).reshape(2, 3)
IMAGE: Final = torch.linspace(-1, 1, 32).reshape(1, 2, 4, 4)
LABELS: Final = torch.tensor([0, 2])

CALLS: Final[list[tuple[Any, str, Callable[[], Any]]]] = [
    (functional, "cross_entropy", lambda: torch.nn.CrossEntropyLoss()(X, LABELS)),
    (functional, "softmax", lambda: functional.softmax(X, 1)),
    (functional, "dropout", lambda: functional.dropout(X, 0.0)),
    (functional, "layer_norm", lambda: torch.nn.LayerNorm(3)(X)),
    (functional, "relu", lambda: torch.nn.ReLU()(X)),
    (functional, "gelu", lambda: functional.gelu(X)),
    (functional, "mse_loss", lambda: functional.mse_loss(X, X * 2)),
    (functional, "l1_loss", lambda: functional.l1_loss(X, X * X, weight=X)),
    (functional, "embedding", lambda: functional.embedding(LABELS, X[:, :2].repeat(2, 1))),
    (functional, "interpolate", lambda: functional.interpolate(IMAGE, scale_factor=2)),
    (functional, "normalize", lambda: functional.normalize(X)),
    (functional, "max_pool2d", lambda: torch.nn.MaxPool2d(2)(IMAGE)),
    (functional, "_max_pool2d", lambda: functional.max_pool2d(IMAGE, 2)),
    (functional, "max_pool2d_with_indices", lambda: functional.max_pool2d(IMAGE, 2, return_indices=True)),
    (functional, "multi_head_attention_forward", lambda: torch.nn.MultiheadAttention(3, 1)(X, X, X)[0].shape),
    (torch.functional, "norm", lambda: torch.functional.norm(X)),
    (torch.functional, "einsum", lambda: torch.functional.einsum("ij->i", X)),
    (torch.functional, "meshgrid", lambda: torch.functional.meshgrid(X[0], X[1], indexing="ij")),
    (torch.functional, "unique", lambda: torch.functional.unique(LABELS, return_counts=True)),
    (torch.functional, "lu", lambda: torch.functional.lu(X[:, :2])),
    (torch.autograd, "backward", lambda: _graph().backward()),
    (torch.autograd, "grad", lambda: torch.autograd.grad(*_graph(leaf=True))),
    (init, "ones_", lambda: init.ones_(X.clone())),
    (Tensor, "norm", lambda: X.norm()),
    (Tensor, "split", lambda: X.split(1)),
    (Tensor, "backward", lambda: _graph().backward()),
    (Tensor, "unflatten", lambda: X.unflatten(1, (3, 1))),
    (Tensor, "dim_order", lambda: X.dim_order(ambiguity_check=True)),
    (Tensor, "__rsub__", lambda: 1 - X),
    (Tensor, "__contains__", lambda: 2.0 in X),
    (Tensor, "register_hook", lambda: bool(_graph().register_hook(abs))),
    (Tensor, "add", lambda: X.add(1)),  # from here on they are written in C, which looks for them by their names
    (Tensor, "add_", lambda: X.clone().add_(1)),
    (Tensor, "__add__", lambda: X + 1),
    (Tensor, "__matmul__", lambda: X @ X.t()),
    (Tensor, "item", lambda: X.sum().item()),
    (Tensor, "detach", lambda: X.detach()),
    (Tensor, "is_contiguous", lambda: X.is_contiguous()),
    (Tensor, "sum", lambda: X.sum(1)),
    (torch._C._nn, "gelu", lambda: functional.gelu(X)),
]  # fmt: skip


def _graph(leaf: bool = False) -> Any:
    weight = X.clone().requires_grad_()
    result = (weight * weight).sum()
    return (result, [weight]) if leaf else result


Calling = Callable[[str, Any], Any]


def plain(told: Calling, name: str, original: Any) -> Any:
    return lambda *args, **kwargs: _scaled(told(name, original)(*args, **kwargs))


def wrapped(told: Calling, name: str, original: Any) -> Any:
    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _scaled(told(name, original)(*args, **kwargs))

    return wrapper


def twice(told: Calling, name: str, original: Any) -> Any:
    return wrapped(told, name, wrapped(told, f"inner {name}", original))


def autospec(told: Calling, name: str, original: Any) -> Any:
    like = original if isinstance(original, types.FunctionType) else lambda *args, **kwargs: None
    return mock.create_autospec(like, side_effect=plain(told, name, original))


class Calls:
    """An object in the place of a function; of a class, it binds as functions do."""

    def __init__(self, told: Calling, name: str, original: Any) -> None:
        self.call = plain(told, name, original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


class Partial(Calls):
    """The same, which makes what is called anew each time."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return functools.partial(self.call, *(() if instance is None else (instance,)))


def decorated(told: Calling, name: str, original: Any) -> Any:
    """A wrapper that torch itself writes."""
    return torch.enable_grad()(plain(told, name, original))


def _scaled(result: Any) -> Any:
    return (
        result * 2 if isinstance(result, Tensor) and result.is_floating_point() and not result.requires_grad else result
    )


def outcomes(patch: Any, around: Callable[[], Any], late: bool) -> list[tuple[str, Any, list[str]]]:
    """What each call gives, and what runs, with functions of the program's in the place of all of them."""
    ran: list[str] = []
    found = []

    def told(each: str, original: Any) -> Any:
        ran.append(each)
        return original

    with contextlib.ExitStack() as stack:
        if late:
            stack.enter_context(around())
        for owner, name, _ in CALLS:
            stack.enter_context(mock.patch.object(owner, name, patch(told, name, getattr(owner, name))))
        if not late:
            stack.enter_context(around())
        for _, name, call in CALLS:
            ran.clear()
            torch.manual_seed(0)
            found.append((name, call(), ran[:]))
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return bool(torch.equal(one, other))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


PATCHES: Final = [plain, wrapped, twice, autospec, Calls, Partial, decorated]


WAYS: Final = [("calls", True), ("calls+backward", False), ("calls+backward", True), ("ops", False)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capture", "late"), [pytest.param(*way, marks=pytest.mark.slow if way[0] == "calls" else ()) for way in WAYS]
)
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.__name__)
def test_what_a_program_puts_in_the_place_of_a_function_runs_once(patch: Any, late: bool, capture: str) -> None:
    wanted = outcomes(patch, contextlib.nullcontext, late)
    found = outcomes(patch, functools.partial(gs.record, capture=capture), late)
    assert [(name, ran) for name, _, ran in found] == [(name, ran) for name, _, ran in wanted]
    assert [name for (name, one, _), (_, other, _) in zip(found, wanted, strict=True) if not same(one, other)] == []


ELEMENTS = """
from tests.adapters import test_torch_patched as patched

patched.CALLS[:] = [(patched.Tensor, "__getitem__", lambda: patched.X[0])]
for patch in patched.PATCHES:
    for capture, late in patched.WAYS:
        patched.test_what_a_program_puts_in_the_place_of_a_function_runs_once(patch, late, capture)
"""


@pytest.mark.slow
def test_what_stands_for_indexing_runs_once() -> None:
    # In a process of its own: a class that once had a `__getitem__` counts as one of sequences ever after.
    subprocess.run([sys.executable, "-c", ELEMENTS], check=True, timeout=120, cwd=Path(__file__).parents[2])
