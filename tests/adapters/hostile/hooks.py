"""What programs do with the nodes of a graph: their metadata, their hooks, and the handles of those."""

# ruff: noqa: B023 - these programs do what people do

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import torch

from tests.adapters.hostile import hostile, leaf


def nodes(*results: Any) -> list[Any]:
    """All nodes behind some results, each before those that it feeds."""
    found: dict[Any, None] = {}
    waiting = [each.grad_fn for each in results]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found[node] = None
            waiting += [each for each, _ in node.next_functions]
    return list(found)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        context.metadata["made in"] = "forward"
        context.kept = dict(context.metadata)
        return x * 2

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        context.metadata["ran in"] = "backward"
        return gradient * 2


@hostile
def metadata_of_nodes() -> Any:
    x = leaf(2, 3)
    parts = (x.t() * 2).unbind(0)
    written = parts[0].exp().clone()
    written[0] = parts[1].sum()
    maximum, _ = torch.stack([*parts, written]).max(0)
    norm = torch.nn.functional.layer_norm(Doubled.apply(maximum), (2,))
    total = norm.sum()
    found = nodes(total)
    before = [(node.name(), dict(node.metadata)) for node in found]
    total.grad_fn.metadata["mine"] = 1
    total.backward(retain_graph=True)
    between = [dict(node.metadata) for node in found]
    same = [node.metadata is node.metadata for node in found]
    for node in found:
        node.metadata.clear()
    total.backward()
    return before, between, same, [dict(node.metadata) for node in found], x.grad


@hostile
def metadata_of_second_passes() -> Any:
    x = leaf(3)
    (first,) = torch.autograd.grad(x.sin().pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    return [(node.name(), node.metadata) for node in nodes(first, second)]


@hostile
def metadata_of_anomalies() -> Any:
    x = leaf(3)
    with torch.autograd.set_detect_anomaly(True):
        y = (x * 2).exp()
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return [(node.name(), sorted(node.metadata)) for node in nodes(y, gradient)]


@hostile
def hooks_in_order() -> Any:
    x, ran, ids = leaf(3), [], []
    y = x.sin()
    total = y.sum()

    def before(name: str, factor: float) -> Any:
        return lambda taken: (ran.append((name, taken[0].tolist())), (taken[0] * factor,))[1]

    def after(name: str, factor: float) -> Any:
        return lambda given, taken: (
            ran.append((name, given[0].tolist(), taken[0].tolist())), (given[0] * factor,)
        )[1]  # fmt: skip

    handles = [y.grad_fn.register_prehook(before("first", 2)), y.grad_fn.register_hook(after("first after", 3))]
    total.backward(retain_graph=True)
    handles += [y.grad_fn.register_prehook(before("second", 5)), y.grad_fn.register_hook(after("second after", 7))]
    total.backward(retain_graph=True)
    ids = [each.id - handles[0].id for each in handles]
    handles[0].remove()
    handles[1].remove()
    handles[1].remove()
    total.backward(retain_graph=True)
    with y.grad_fn.register_prehook(before("a while", 11)):
        total.backward(retain_graph=True)
    for each in handles:
        each.remove()
    total.backward()
    return ran, ids, [type(each) for each in handles], x.grad


@hostile
def hooks_that_come_and_go_in_a_pass() -> Any:
    x, ran = leaf(3), []
    y = x.sin()
    z = y.cos()

    def first(taken: Any) -> None:
        ran.append("first")
        y.grad_fn.register_prehook(lambda taken: ran.append("of the next node"))
        z.grad_fn.register_prehook(lambda taken: ran.append("of this node"))
        handle.remove()

    handle = z.grad_fn.register_prehook(first)
    for _ in range(3):
        z.sum().backward(retain_graph=True)
        ran.append("a pass")
    return ran, x.grad


@hostile
def hooks_that_return_too_much() -> Any:
    x, said = leaf(3), []
    for wrong in ((torch.ones(3), torch.ones(3)), torch.ones(3), 1, (torch.ones(2),), (1,)):
        y = x.sin()

        def refused(taken: Any) -> Any:
            return wrong

        y.grad_fn.register_prehook(refused)
        try:
            y.sum().backward()
        except (RuntimeError, TypeError) as error:
            said.append(str(error))
    return said, x.grad


@hostile
def hooks_of_leaves() -> Any:
    x, ran = leaf(3), []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_prehook(lambda taken: (ran.append("before"), (taken[0] * 2,))[1])
    node.register_hook(lambda given, taken: ran.append(("after", given, taken[0].tolist())))
    (x.sin() + x * x).sum().backward()
    node.metadata["mine"] = 1
    (x * 2).sum().backward()
    return ran, node.metadata, node.variable is x, x.grad


@hostile
def hooks_of_custom_functions() -> Any:
    x, ran = leaf(3), []
    y = Doubled.apply(x)
    y.grad_fn.register_prehook(lambda taken: (ran.append("before"), (taken[0] * 3,))[1])
    y.grad_fn.register_hook(lambda given, taken: ran.append("after"))
    y.sum().backward()
    return ran, x.grad, y.grad_fn.metadata, y.grad_fn.kept


@hostile
def hooks_of_tensors_and_nodes() -> Any:
    x, ran = leaf(3), []
    y = x.sin()
    y.register_hook(lambda taken: (ran.append("of the tensor"), taken * 2)[1])
    y.grad_fn.register_prehook(lambda taken: (ran.append("of the node"), (taken[0] + 1,))[1])
    y.retain_grad()
    other = x.cos()
    other.register_hook(lambda taken: ran.append("of the other"))
    torch.autograd.graph.register_multi_grad_hook((y, other), lambda taken: ran.append(len(taken)))
    (y * other).sum().backward()
    return ran, x.grad, y.grad


@hostile
def hooks_of_one_tensor_at_another_node() -> Any:
    x, ran = leaf(3), []
    y = x.sin()
    y.register_hook(lambda taken: ran.append("taken along"))
    y.grad_fn._register_hook_dict(y)
    y.sum().backward()
    return ran, x.grad


@hostile
def handles_that_are_copied() -> Any:
    x = leaf(3)
    y, said = x.sin(), []
    handle = y.grad_fn.register_prehook(print)
    for _ in range(2):
        same, read = copy.deepcopy(handle), pickle.loads(pickle.dumps(handle))
        said += [same.id == handle.id, read.id == handle.id, same.hooks_dict_ref(), read.hooks_dict_ref()]
        y.sum().backward(retain_graph=True)
    return said


@hostile
def handles_of_nodes_that_are_gone() -> Any:
    x = leaf(3)
    y = x.sin()
    handles = [y.grad_fn.register_prehook(print), y.grad_fn.register_hook(print)]
    alive = [each.hooks_dict_ref() is not None for each in handles]
    del y
    gc.collect()
    gone = [each.hooks_dict_ref() is None for each in handles]
    for each in handles:
        each.remove()
    return alive, gone


@hostile
def hooks_of_gradients_alone() -> Any:
    x, ran = leaf(3), []
    y, z = x.sin(), x.cos()
    y.grad_fn.register_prehook(lambda taken: ran.append("needed"))
    z.grad_fn.register_prehook(lambda taken: ran.append("not needed"))
    total = (y + z).sum()
    return torch.autograd.grad(total, y, retain_graph=True), torch.autograd.grad(total, x), ran


@hostile
def hooks_in_threads() -> Any:
    x, ran = leaf(3), []

    def work() -> None:
        y = x.sin()
        for each in range(3):
            y.grad_fn.register_prehook(lambda taken, each=each: ran.append(each))
        y.sum().backward()

    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return ran, x.grad


@hostile
def unbounded_graphs() -> Any:
    x = leaf(3)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.sum().backward()
    del y
    return x.grad
