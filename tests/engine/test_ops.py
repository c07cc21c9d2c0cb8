"""Every op, by its samples: values against PyTorch, gradients against differences, rules on arrays and on tensors."""

from __future__ import annotations

import numpy as np
import pytest

from graphscope.engine.autograd import unbroadcast
from graphscope.engine.gradcheck import gradcheck, gradgradcheck
from graphscope.engine.node import ATTRS, PLAN, SAVED
from graphscope.engine.op import OPS
from graphscope.engine.tensor import Tensor
from tests.engine.sampling import DIFFERENTIABLE, SAMPLES, arguments, flat, name_of, run, tensors

TORCH_NAMES = {
    "sum_dim": "sum",
    "put": None,
    "linear": "nn.functional.linear",
    "getitem": None,
    "setitem": None,
    "to": None,
}
"""Where PyTorch's function has another name, or none that takes the same arguments."""
TORCH_KEYWORDS = {
    ("permute", "dims"): "dims",
    ("expand", "shape"): "size",
}


@pytest.mark.parametrize("op", OPS.values(), ids=name_of)
def test_an_op_has_doc_formula_and_samples(op):
    assert op.doc.endswith(".")
    assert op.formula
    assert op.samples
    assert all(len(vjp.text) < 1000 for vjp in op.vjps if vjp)


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE, ids=name_of)
def test_first_order_gradients_agree_with_differences(op, sample):
    made, attrs = arguments(op, sample)
    given = tensors(made)
    gradcheck(lambda *_: run(op, given, attrs), flat(given))


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE, ids=name_of)
def test_second_order_gradients_agree_with_differences(op, sample):
    made, attrs = arguments(op, sample)
    given = tensors(made)
    gradgradcheck(lambda *_: run(op, given, attrs), flat(given))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE, ids=name_of)
def test_a_rule_says_the_same_on_arrays_and_on_tensors(op, sample, dtype):
    made, attrs = arguments(op, sample, dtype)
    out = run(op, tensors(made), attrs)
    record = out.node
    g = np.linspace(0.5, 1.5, out.numel()).reshape(out.shape).astype(out.dtype)[()]
    plan = record[PLAN]
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        wanted = {name: record[ATTRS][name] for name in rule.attrs}
        bare = rule.rule(g, *args, **wanted)
        full = rule.rule(
            Tensor(g), *(Tensor(arg) if isinstance(arg, np.ndarray | np.generic) else arg for arg in args), **wanted
        )
        assert isinstance(full, Tensor)
        assert bare.dtype == full.dtype == out.dtype
        np.testing.assert_array_equal(bare, full.data)


@pytest.mark.parametrize(("op", "sample"), SAMPLES, ids=name_of)
def test_a_rule_keeps_the_dtype_of_its_input(op, sample):
    made, attrs = arguments(op, sample, "float32")
    given = tensors(made)
    out = run(op, given, attrs)
    if out.node is None:
        return
    out.backward(Tensor(np.ones_like(out.data)))
    for value in flat(given):
        if isinstance(value, Tensor) and value.grad is not None:
            assert value.grad.dtype == value.dtype == np.float32
            assert value.grad.shape == value.shape


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("op", "sample"), SAMPLES, ids=name_of)
def test_value_dtype_and_gradients_are_those_of_torch(op, sample, dtype):
    torch = pytest.importorskip("torch")
    function = _torch_function(torch, op)
    if function is None:
        pytest.skip(f"PyTorch has no {op.name} of these arguments")
    made, attrs = arguments(op, sample, dtype)
    ours = tensors(made)
    theirs = _torch_tensors(torch, made)
    out = run(op, ours, attrs)
    torch_attrs = {TORCH_KEYWORDS.get((op.name, name), name): _torch_value(torch, v) for name, v in attrs.items()}
    if op.in_place:
        expected = function(theirs[0].clone(), *theirs[1:], **torch_attrs)
    else:
        expected = function(*theirs, **torch_attrs)
    tolerance = {"rtol": 2e-5, "atol": 1e-6} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-12}
    assert str(expected.dtype) == f"torch.{out.dtype.name}"
    np.testing.assert_allclose(out.data, expected.detach().numpy(), **tolerance)
    assert out.requires_grad == expected.requires_grad
    if not out.requires_grad:
        return
    weights = np.linspace(0.5, 1.5, out.numel()).reshape(out.shape).astype(out.dtype)
    out.backward(Tensor(weights[()]))
    expected.backward(torch.from_numpy(weights))
    for mine, other in zip(flat(ours), flat(theirs), strict=True):
        if isinstance(mine, Tensor) and mine.requires_grad:
            np.testing.assert_allclose(mine.grad.data, other.grad.numpy(), **tolerance)


def _torch_function(torch, op):
    name = TORCH_NAMES.get(op.name, op.name)
    if name is None:
        return None
    if op.in_place:
        return getattr(torch.Tensor, name)
    for home in (torch, torch.nn.functional, torch.Tensor):
        function = home
        for part in name.split("."):
            function = getattr(function, part, None) if function is not torch else getattr(torch, part, None)
        if function is not None:
            return function
    return None


def _torch_tensors(torch, made):
    return [
        _torch_tensors(torch, value)
        if isinstance(value, list)
        else torch.from_numpy(np.array(value)).requires_grad_(value.dtype.kind == "f")
        if isinstance(value, np.ndarray | np.generic)
        else value
        for value in made
    ]


def _torch_value(torch, value):
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def test_unbroadcast_is_the_transpose_of_broadcasting():
    g = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(unbroadcast(g, (3, 1)), g.sum((0, 2)).reshape(3, 1))
    np.testing.assert_array_equal(unbroadcast(g, ()), g.sum())
    assert unbroadcast(g, (2, 3, 4)) is g
