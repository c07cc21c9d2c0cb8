"""References, hooks, transforms and classes that lean on what a recorder might disturb."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import signal
import threading
import weakref
from typing import Any

import torch
from torch import nn
from torch.autograd import forward_ad
from torch.nn.utils import parametrize
from torch.utils import checkpoint

from tests.adapters.hostile import Ops, hostile, leaf


@hostile
def a_plain_reference_hinders_swapping() -> Any:
    one, other = torch.zeros(2), torch.ones(2)
    one + other
    reference = weakref.ref(one)
    try:
        torch.utils.swap_tensors(one, other)
    except RuntimeError as error:
        return str(error)
    return reference() is one


@hostile
def references_that_call_back() -> Any:
    told: list[str] = []
    x = leaf(3)
    y = x * 2
    kept = weakref.ref(y, lambda _: told.append("y"))
    counted = weakref.getweakrefcount(x) >= 0
    del y
    gc.collect()
    return told, kept() is None, counted


@hostile
def proxies_and_sets_of_tensors() -> Any:
    x = leaf(3)
    held = weakref.WeakSet([x])
    keyed = weakref.WeakValueDictionary({"x": x})
    proxy = weakref.proxy(x)
    (proxy * 2).sum().backward()
    found = len(held), list(keyed), x.grad.tolist()
    del x, proxy
    gc.collect()
    return found, len(held), list(keyed)


@hostile
def a_finalizer_during_backward() -> Any:
    told: list[Any] = []

    class Last:
        def __del__(self) -> None:
            told.append((torch.is_grad_enabled(), torch.ones(2).sum().item()))

    x = leaf(3)
    y = x * 2
    held = [Last()]
    y.register_hook(lambda gradient: held.clear())
    y.sum().backward()
    return told, x.grad.tolist()


@hostile
def a_copied_module_with_hooks() -> Any:
    told: list[str] = []
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    model.register_forward_hook(lambda module, given, result: told.append(type(module).__name__))
    again = copy.deepcopy(model)
    again(torch.ones(1, 2)).sum().backward()
    model(torch.ones(1, 2))
    return told, sorted(vars(again[0])), list(again[0]._forward_hooks)


@hostile
def pickled_gradients() -> Any:
    x = leaf(3)
    (x * x).sum().backward()
    again = pickle.loads(pickle.dumps([x, x.grad, nn.Parameter(x.detach())]))
    return [(type(each).__name__, each.tolist(), each.requires_grad, vars(each)) for each in again], again[0].grad


@hostile
def functional_transforms() -> Any:
    model = nn.Linear(3, 1)
    with torch.no_grad():
        for each in model.parameters():
            each.fill_(0.25)
    parameters = {name: each.detach() for name, each in model.named_parameters()}

    def loss(parameters: Any, x: Any) -> Any:
        return torch.func.functional_call(model, parameters, (x,)).sum()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, torch.arange(6.0).reshape(2, 3))
    pulled = torch.func.vjp(torch.sin, torch.ones(2))[1](torch.ones(2))
    return {name: found.tolist() for name, found in each.items()}, [found.tolist() for found in pulled]


@hostile
def checkpoints() -> Any:
    ran: list[int] = []
    model = nn.Linear(2, 2)
    with torch.no_grad():
        model.weight.fill_(0.5)

    def part(x: Any) -> Any:
        ran.append(1)
        return torch.tanh(model(x))

    x = leaf(1, 2)
    for again in (True, False):
        checkpoint.checkpoint(part, x, use_reentrant=again).sum().backward()
    return ran, x.grad.tolist()


@hostile
def parametrizations() -> Any:
    class Doubled(nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    model = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(1)
    parametrize.register_parametrization(model, "weight", Doubled())
    with parametrize.cached():
        model(torch.ones(1, 2)).sum().backward()
    found = model.parametrizations.weight.original.grad.tolist(), type(model).__name__
    parametrize.remove_parametrizations(model, "weight")
    return found, type(model).__name__, model.weight.tolist()


@hostile
def a_class_that_wraps() -> Any:
    class Wrapped(torch.Tensor):
        held: Any

        @staticmethod
        def __new__(cls, held: Any) -> Any:
            made = torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype)
            made.held = held
            return made

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            given = [each.held if isinstance(each, cls) else each for each in args]
            return cls(func(*given, **(kwargs or {})))

    seen: list[str] = []
    y = Wrapped(torch.ones(2)) * 3 + 1
    return y.held.tolist(), seen


@hostile
def a_function_with_other_arguments() -> Any:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, scale: Any, names: Any) -> Any:
            ctx.scale = scale
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(whole := (x > 0).sum())
            return x * scale["by"], whole

        @staticmethod
        def backward(ctx: Any, gradient: Any, nothing: Any) -> Any:
            return gradient * ctx.scale["by"], None, None

    x = leaf(3)
    y, count = Scaled.apply(x, {"by": 3}, ("a", None))
    y.sum().backward()
    return x.grad.tolist(), count.item(), count.requires_grad, y.grad_fn.name(), sorted(y.grad_fn.__dict__)


@hostile
def views_written_in_place() -> Any:
    x = leaf(4)
    y = x * 1
    part = y[1:3]
    part.mul_(2)
    y[0] = 0
    y.view(2, 2)[1].add_(1)
    y.sum().backward()
    return y.tolist(), x.grad.tolist(), part._version, part._base is y, y.grad_fn.name(), part.grad_fn.name()


@hostile
def saved_tensors() -> Any:
    told: list[str] = []

    def pack(tensor: Any) -> Any:
        told.append(f"pack {tuple(tensor.shape)}")
        return tensor.detach().numpy().copy()

    def unpack(held: Any) -> Any:
        told.append("unpack")
        return torch.from_numpy(held)

    x = leaf(3)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = torch.sigmoid(x * x)
    y.sum().backward()
    return told, x.grad.tolist(), y.grad_fn._raw_saved_result is not None


@hostile
def forward_gradients() -> Any:
    x = leaf(3).detach()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(3))
        found = forward_ad.unpack_dual((dual * dual).sin())
        return found.primal.tolist(), found.tangent.tolist()


@hostile
def sparse_gradients() -> Any:
    table = nn.Embedding(4, 2, sparse=True)
    with torch.no_grad():
        table.weight.fill_(1)
    table(torch.tensor([1, 1, 3])).sum().backward()
    gradient = table.weight.grad
    torch.optim.SGD(table.parameters(), lr=0.5).step()
    return gradient.is_sparse, gradient.coalesce().indices().tolist(), table.weight.tolist()


@hostile
def signals_between() -> Any:
    told: list[int] = []

    def handle(number: int, frame: Any) -> None:
        told.append((torch.ones(2, requires_grad=True) * 2).sum().requires_grad)

    before = signal.signal(signal.SIGUSR2, handle)
    try:
        x = leaf(3)
        y = x * 2
        y.register_hook(lambda gradient: signal.raise_signal(signal.SIGUSR2))
        y.sum().backward()
        with torch.no_grad():
            signal.raise_signal(signal.SIGUSR2)
        return told, torch.is_grad_enabled(), x.grad.tolist()
    finally:
        signal.signal(signal.SIGUSR2, before)


@hostile
def threads_that_share_a_graph() -> Any:
    x = leaf(3)
    y = x * 2
    found: list[Any] = []

    def work() -> None:
        found.append(torch.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist())

    every = [threading.Thread(target=work) for _ in "ab"]
    for each in every:
        each.start()
        each.join()
    return found, x.grad


@hostile
def gradients_set_and_cleared() -> Any:
    x = leaf(3)
    given = torch.ones(3)
    x.grad = given
    (x * 2).sum().backward()
    found = x.grad is given, given.tolist()
    del x.grad
    try:
        x.grad = torch.ones(2)
    except RuntimeError as error:
        return found, x.grad, str(error)
    return None


@hostile
def frozen_and_thawed() -> Any:
    x = leaf(3)
    y = x * 2
    found = [x.requires_grad_(False) is x, x.requires_grad]
    x.requires_grad = True
    try:
        y.requires_grad_(False)
    except RuntimeError as error:
        found.append(str(error)[:40])
    return found, x.requires_grad_().is_leaf


@hostile
def a_mode_around_constants() -> Any:
    with Ops() as mode:
        torch.ones(3).add_(torch.tensor([1.0, 2.0, 3.0])).sum()
    return mode.seen


@hostile
def hooks_of_leaves_that_change() -> Any:
    x, told = leaf(3), []
    x.register_hook(lambda gradient: gradient * 2)
    x.register_post_accumulate_grad_hook(lambda tensor: told.append(tensor.grad.tolist()))
    (x * 2 + x.sin() * 0).sum().backward()
    x.grad = None
    (x * 3).sum().backward()
    return told, x.grad.tolist()


@hostile
def partial_functions_and_methods() -> Any:
    add = functools.partial(torch.add, alpha=2)
    x = leaf(3)
    return add(x, x).tolist(), list(map(torch.Tensor.item, x.detach().unbind())), torch.Tensor.__mul__(x, 2).tolist()
