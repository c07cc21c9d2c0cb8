"""Every op against PyTorch's, by its samples: values, dtypes, gradients, corners, and which inputs raise."""

from __future__ import annotations

import numpy as np
import pytest

from graphscope.engine.core import shapes
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from tests.engine.sampling import (
    SAMPLES,
    arguments,
    flat,
    in_turn,
    name_of,
    over_samples,
    results,
    ruled_shapes,
    run,
    tensors,
    weights_of,
)

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

COARSE = {"digamma": 1e-8, "sinc": 1e-9, "hardsigmoid": 1e-7}
"""Where PyTorch's own gradients are no more exact than this."""
SIGNLESS = {"logit"}
"""Ops whose infinite slope at -0 PyTorch's vectorised kernels give another sign than its scalar ones do, which compute
the last elements of an array."""
UNREACHED = {"grid_sample"}
"""Ops of which PyTorch gives zeros to an input that no gradient reaches, where ours gives nothing."""
KEYWORDS = {("expand", "shape"): "size"}
"""Keyword arguments that PyTorch spells otherwise."""


def theirs_of(op):
    """PyTorch's function of an op's name, or None."""
    if op.torch is None or op.name in ("acosh_", "asinh_", "atanh_"):  # these it does not differentiate in place
        return None
    homes = [torch.Tensor] if op.in_place else [torch, torch.nn.functional, torch.Tensor]
    for home in homes:
        function = home
        for part in op.torch.split("."):
            function = getattr(function, part, None)
        if function is not None:
            return function
    return None


def torch_tensors(made):
    return [
        torch_tensors(value)
        if isinstance(value, list)
        else tuple(torch_tensors(list(value)))
        if value.__class__ is tuple and any(isinstance(place, np.ndarray) for place in value)
        else torch.from_numpy(np.array(value)).requires_grad_(value.dtype.kind in "fc")
        if isinstance(value, np.ndarray | np.generic)
        else value
        for value in made
    ]


def run_theirs(op, given, attrs):
    function = theirs_of(op)
    named = {KEYWORDS.get((op.name, name), name): torch_value(value) for name, value in attrs.items()}
    if op.in_place:
        return function(given[0].clone(), *given[1:], **named)
    return function(*given, **named)


def torch_value(value):
    if isinstance(value, np.dtype):
        return getattr(torch, value.name)
    if isinstance(value, Tensor):
        return torch.from_numpy(np.array(value.array))
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


COMPARED = [(op, sample) for op, sample in SAMPLES if theirs_of(op) is not None]


@over_samples(COMPARED)
@in_turn("dtype", ["float32", "float64"])
def test_value_dtype_and_gradients_are_those_of_torch(op, sample, dtype):
    made, attrs = arguments(op, sample, dtype)
    ours, theirs = tensors(made), torch_tensors(made)
    agree(op, run(op, ours, attrs), run_theirs(op, theirs, attrs), ours, theirs, dtype)


def agree(op, outs, expected, ours, theirs, dtype):
    """Hold results, and the gradients of what is floating, to PyTorch's."""
    tolerance = {"rtol": 2e-5, "atol": 1e-6} if dtype == "float32" else {"rtol": 1e-11, "atol": 1e-12}
    tolerance["rtol"] = max(tolerance["rtol"], COARSE.get(op.name.rstrip("_"), 0))
    outs, expected = results(outs), results(expected)
    assert len(outs) == len(expected)
    with_gradient = []
    for out, other in zip(outs, expected, strict=True):
        assert str(other.dtype) == f"torch.{out.dtype.name}"
        np.testing.assert_allclose(out.array, other.detach().resolve_conj().numpy(force=True), **tolerance)
        assert out.requires_grad == other.requires_grad
        if out.requires_grad and "NotImplemented" not in repr(other.grad_fn):
            with_gradient.append((out, other))
    for out, other in with_gradient:
        weights = weights_of(out)
        out.backward(Tensor(weights), retain_graph=True)
        other.backward(torch.from_numpy(np.array(weights)), retain_graph=True)
    for mine, other in zip(flat(ours), flat(theirs), strict=True):
        if isinstance(mine, Tensor) and mine.requires_grad and with_gradient:
            assert (mine.grad is None) == (other.grad is None) or (op.name in UNREACHED and not other.grad.any())
            if mine.grad is not None:
                found, wanted = mine.grad.array, other.grad.resolve_conj().numpy(force=True)
                if op.name.rstrip("_") in SIGNLESS:
                    found, wanted = (np.where(np.isinf(each), np.inf, each) for each in (found, wanted))
                np.testing.assert_allclose(found, wanted, **tolerance)


ELEMENTWISE = [
    op
    for op in OPS.values()
    if op.shape in (shapes.same, shapes.broadcast) and op.vjps and not op.composite and theirs_of(op) is not None
]
CORNERS = np.array([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 40.0, -40.0, np.inf, -np.inf, np.nan])


def plain_call(op):
    """Keyword arguments of a call of an op on tensors alone, or None when it takes others."""
    for sample in op.samples:
        parts = [part for part in sample if not isinstance(part, dict | str)]
        attrs = next((part for part in sample if isinstance(part, dict)), {})
        if len(parts) == len(op.vjps) and all(isinstance(part, tuple | np.ndarray) for part in parts):
            return None if "dim" in attrs or str(sample[0]) == "condition" else attrs
    return None


PLAIN_CALLS = [op for op in ELEMENTWISE if plain_call(op) is not None]


@pytest.mark.parametrize("op", PLAIN_CALLS, ids=name_of)
def test_corners_are_those_of_torch(op):
    count = len(op.vjps)
    grid = np.meshgrid(*[CORNERS] * min(count, 2), indexing="ij")
    made = [*grid, *[np.full_like(grid[0], 0.25)] * (count - len(grid))]
    if op.name.startswith("digamma"):
        made = [CORNERS[CORNERS > 0]]  # of negative numbers PyTorch's gradient is far off
    ours, theirs = tensors(made), torch_tensors(made)
    expected = outcome(lambda: run_theirs(op, theirs, plain_call(op)))
    if isinstance(expected, RuntimeError):
        assert isinstance(outcome(lambda: run(op, ours, plain_call(op))), RuntimeError)
        return
    agree(op, run(op, ours, plain_call(op)), expected, ours, theirs, "float64")


@pytest.mark.parametrize("op", PLAIN_CALLS, ids=name_of)
@in_turn(
    "kinds",
    [("int64",) * 3, ("bool",) * 3, ("uint8",) * 3, ("int32", "float32", "float32"), ("bool", "int64", "int64")],
)
def test_other_dtypes_raise_where_torch_does(op, kinds):
    made = [np.array([[1, 2, 0], [3, 1, 5]]).astype(kind) + (place > 0) for place, kind in enumerate(kinds)]
    made = [value.astype(kind) for value, kind in zip(made, kinds, strict=True)][: len(op.vjps)]
    attrs = plain_call(op)
    expected = outcome(lambda: run_theirs(op, torch_tensors(made), attrs))
    found = outcome(lambda: run(op, tensors(made), attrs))
    if isinstance(expected, Exception) or isinstance(found, Exception):
        assert isinstance(found, Exception) == isinstance(expected, Exception), (found, expected)
        return
    for out, other in zip(results(found), results(expected), strict=True):
        assert str(other.dtype) == f"torch.{out.dtype.name}"
        np.testing.assert_allclose(out.array, other.detach().numpy(), rtol=2e-5, atol=1e-6)


SHAPES = [
    ((0, 3), (3,), (3,)),
    ((), (), ()),
    ((2, 1), (1, 3), ()),
    ((2, 3), (2, 4), (2, 3)),
    ((0,), (2,), (1,)),
]


@pytest.mark.parametrize("op", PLAIN_CALLS, ids=name_of)
@in_turn("given", SHAPES)
def test_empty_and_dimless_inputs_and_broadcasting_are_those_of_torch(op, given):
    if op.name == "clamp_to" and given[0] == (2, 1):
        return  # PyTorch's gradient writes into a shape that is too small
    made = [np.full(shape, 0.4 + place) for place, shape in enumerate(given)][: len(op.vjps)]
    ours, theirs = tensors(made), torch_tensors(made)
    attrs = plain_call(op)
    expected = outcome(lambda: run_theirs(op, theirs, attrs))
    found = outcome(lambda: run(op, ours, attrs))
    if isinstance(expected, Exception) or isinstance(found, Exception):
        assert isinstance(found, RuntimeError) == isinstance(expected, RuntimeError), (found, expected)
        return
    assert ruled_shapes(op, ours, attrs) == [tuple(expected.shape)]
    agree(op, found, expected, ours, theirs, "float64")


def outcome(call):
    """The result of a call, or what it raises."""
    try:
        return call()
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return error
