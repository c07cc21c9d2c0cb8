"""Modes, classes and wrappers of the program's own."""

from __future__ import annotations

import contextlib
import functools
import traceback
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.nn import functional

from tests.adapters.hostile import Loud, Ops, Sees, hostile, leaf


@hostile
def a_mode_of_functions() -> Any:
    with Sees() as mode:
        functional.cross_entropy(leaf(2, 3), torch.tensor([0, 1])).backward()
    return mode.seen


@hostile
def a_mode_of_ops() -> Any:
    with Ops() as mode:
        functional.layer_norm(leaf(2, 3), (3,)).sum().backward()
    return mode.seen


@hostile
def modes_in_each_other() -> Any:
    with Sees() as outer, Ops() as ops, Sees() as inner:
        leaf(3).softmax(0).sum().backward()
    return outer.seen, ops.seen, inner.seen


@hostile
def a_mode_with_a_wrapper() -> Any:
    with Sees() as mode, mock.patch.object(functional, "relu", wraps=functional.relu) as relu:
        nn.ReLU()(leaf(3))
    return len(mode.seen), relu.call_count


@hostile
def a_class_with_functions() -> Any:
    Loud.said.clear()
    y = functional.mse_loss(leaf(3).as_subclass(Loud), torch.ones(3))
    return Loud.said[:], type(y).__name__, y.item()


@hostile
def a_class_with_a_wrapper() -> Any:
    with mock.patch.object(functional, "mse_loss", wraps=functional.mse_loss) as loss:
        functional.mse_loss(leaf(3).as_subclass(Loud), torch.ones(3))
    return loss.call_count


@hostile
def a_class_with_methods() -> Any:
    class Counted(torch.Tensor):
        asked = 0

        def detach(self) -> Any:
            Counted.asked += 1
            return super().detach()

        @property
        def shape(self) -> Any:
            Counted.asked += 1
            return super().shape

    x = torch.ones(3).as_subclass(Counted)
    (x * 2 + 1).sum().item()
    return Counted.asked


@hostile
def methods_counted() -> Any:
    counts: dict[str, int] = {}

    def counted(name: str) -> Any:
        original = getattr(torch.Tensor, name)

        def method(*args: Any, **kwargs: Any) -> Any:
            counts[name] = counts.get(name, 0) + 1
            return original(*args, **kwargs)

        return method

    names = ("item", "detach", "cpu", "sum", "data_ptr", "is_contiguous", "stride", "numel", "to", "clone", "is_neg")
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch.object(torch.Tensor, name, counted(name)))
        x = leaf(4, 4)
        (x.t() @ x).expand(2, 4, 4).sum().backward()
        x.grad.sum().item()
    return counts


@hostile
def properties_counted() -> Any:
    count = [0]
    original = torch.Tensor.grad

    def get(tensor: Any) -> Any:
        count[0] += 1
        return original.__get__(tensor)

    with mock.patch.object(torch.Tensor, "grad", property(get, lambda tensor, value: original.__set__(tensor, value))):
        x = leaf(3)
        x.sin().sum().backward()
        x.grad.sum()
        x.grad = None
    return count


@hostile
def a_wrapper_that_raises() -> Any:
    with mock.patch.object(functional, "softmax", side_effect=ValueError("no")):
        try:
            leaf(3).softmax(0)
            functional.softmax(leaf(3), 0)
        except ValueError as error:
            return str(error), len(traceback.extract_tb(error.__traceback__)) > 0
    return None


@hostile
def a_wrapper_of_a_wrapper() -> Any:
    ran: list[int] = []

    def wrap(number: int, original: Any) -> Any:
        return functools.wraps(original)(lambda *args, **kwargs: (ran.append(number), original(*args, **kwargs))[1])

    with mock.patch.object(functional, "gelu", wrap(1, wrap(2, wrap(3, functional.gelu)))):
        nn.GELU()(leaf(3))
    with mock.patch.object(functional, "layer_norm", wrap(4, wrap(5, functional.layer_norm))):
        nn.LayerNorm(3)(leaf(3))
    return ran


@hostile
def functions_that_changed_places() -> Any:
    x = leaf(4)
    with mock.patch.multiple(functional, selu=functional.celu, celu=functional.selu):
        return functional.selu(x).tolist(), functional.celu(x).tolist()


@hostile
def arguments_that_are_forgotten() -> Any:
    x, out = leaf(3).detach(), torch.zeros(2, 2)
    torch.chain_matmul(torch.eye(2), torch.ones(2, 2), out=out)
    return functional.l1_loss(x, x * 3, weight=torch.tensor([1.0, 2, 3])).item(), out.tolist()
