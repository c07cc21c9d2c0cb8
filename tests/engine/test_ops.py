"""Every op, by its samples: shapes and values against PyTorch, gradients against differences, rules both ways."""

from __future__ import annotations

import numpy as np
import pytest

from graphscope.engine.core import shapes
from graphscope.engine.core.backward import unbroadcast
from graphscope.engine.core.gradients import grad
from graphscope.engine.core.node import ATTRS, PLAN, SAVED
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.flat_rules import refused
from tests.engine.sampling import (
    DIFFERENTIABLE,
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

STEP = 1e-5
PLAIN = [pair for pair in DIFFERENTIABLE if not pair[0].composite]
OF_MEMORY = {"view_dtype", "as_strided", "view_as_complex"}
"""Ops that look at the bytes."""
WITHOUT_NONE = [
    (op, sample) for op, sample in SAMPLES if op.shape is not None and op.shape.__module__ == shapes.__name__
]


@pytest.mark.parametrize("op", OPS.values(), ids=name_of)
def test_an_op_has_doc_formula_shape_rule_and_samples(op):
    assert op.doc.endswith(".")
    assert op.formula
    assert op.shape
    assert op.samples
    assert all(len(vjp.text) < 1000 for vjp in op.vjps if vjp)


@over_samples(SAMPLES)
def test_a_result_has_the_shape_that_the_rule_says(op, sample):
    made, attrs = arguments(op, sample)
    given = tensors(made)
    outs = results(run(op, given, attrs))
    for ruled, out in zip(ruled_shapes(op, given, attrs), outs, strict=True):
        assert len(ruled) == out.ndim
        assert all(told in (None, size) for told, size in zip(ruled, out.shape, strict=True))


@over_samples(WITHOUT_NONE)
def test_a_shape_rule_knows_what_it_does_not_know(op, sample):
    made, attrs = arguments(op, sample)
    given = tensors(made)
    if op.prepare is not None:
        given, attrs = op.prepare(*given, **attrs)
    known = [np.shape(getattr(value, "data", value)) for value in flat(given)]
    expected = op.shape(*known, **attrs)
    for number, shape in enumerate(known):
        for place in range(len(shape)):
            partly = (*shape[:place], None, *shape[place + 1 :])
            found = op.shape(*known[:number], partly, *known[number + 1 :], **attrs)
            assert len(found) == len(expected)
            assert all(mine in (None, true) for mine, true in zip(found, expected, strict=True))


def inner(one, other):
    """The inner product of two arrays as a real number: of complex ones, of the pairs of their parts."""
    return np.sum(np.real(np.conj(one) * other))


def directional(function, arrays, gradients):
    """How a number changes along a random direction of the arrays: by differences, and by the gradients."""
    numbers = np.random.default_rng(3)
    directions = [numbers.uniform(0.5, 1.0, array.shape) * numbers.choice([-1, 1], array.shape) for array in arrays]
    directions = [
        way * (1 + 0.7j) if np.iscomplexobj(array) else way for array, way in zip(arrays, directions, strict=True)
    ]
    ends = [
        function([array + sign * STEP * way for array, way in zip(arrays, directions, strict=True)]) for sign in (1, -1)
    ]
    told = sum(inner(gradient, way) for gradient, way in zip(gradients, directions, strict=True))
    return (ends[0] - ends[1]) / (2 * STEP), told


def replaced(made, arrays):
    """The arguments with other arrays in the place of the floating ones, in order."""
    arrays = iter(arrays)

    def other(value):
        if isinstance(value, list):
            return [other(part) for part in value]
        return next(arrays) if is_floating(value) else value

    return [other(value) for value in made]


def is_floating(value):
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"


def normal(numbers, like):
    """Random numbers of a shape, complex where the other is."""
    found = numbers.standard_normal(np.shape(like))
    return found + 1j * numbers.standard_normal(np.shape(like)) if like.dtype.kind == "c" else found


def floating_parts(values):
    """Which of the results have a gradient."""
    return [out for out in results(values) if isinstance(out, Tensor) and out.requires_grad]


def data(gradients, like):
    return [np.zeros(np.shape(a)) if g is None else g.array for g, a in zip(gradients, like, strict=True)]


@over_samples(DIFFERENTIABLE)
def test_gradients_of_first_and_second_order_agree_with_differences(op, sample):
    made, attrs = arguments(op, sample)
    arrays = [value for value in flat(made) if is_floating(value)]
    numbers = np.random.default_rng(2)
    weights = [normal(numbers, out) for out in floating_parts(run(op, tensors(made), attrs))]
    if not weights:
        return
    ways = [normal(numbers, array) for array in arrays]

    def value(arrays):
        outs = floating_parts(run(op, tensors(replaced(made, arrays)), attrs))
        return sum(inner(out.array, weight) for out, weight in zip(outs, weights, strict=True))

    def first(arrays, *, create_graph):
        given = tensors(replaced(made, arrays[: len(ways)]))
        cotangents = tensors(arrays[len(ways) :])
        wanted = [part for part in flat(given) if isinstance(part, Tensor) and part.requires_grad]
        found = grad(
            floating_parts(run(op, given, attrs)), wanted, cotangents, create_graph=create_graph, allow_unused=True
        )
        return found, [*wanted, *cotangents]

    def along(arrays):
        found, _ = first(arrays, create_graph=False)
        return sum(inner(gradient, way) for gradient, way in zip(data(found, ways), ways, strict=True))

    found, _ = first([*arrays, *weights], create_graph=False)
    expected, told = directional(value, arrays, data(found, arrays))
    np.testing.assert_allclose(told, expected, rtol=1e-6, atol=1e-7)

    found, wanted = first([*arrays, *weights], create_graph=True)
    total = sum(
        (gradient * Tensor(np.conj(way)[()])).sum().real
        for gradient, way in zip(found, ways, strict=True)
        if gradient is not None
    )
    if not isinstance(total, Tensor) or not total.requires_grad:
        return
    second = grad([total], wanted, allow_unused=True)
    everything = [*arrays, *weights]
    expected, told = directional(along, everything, data(second, everything))
    np.testing.assert_allclose(told, expected, rtol=1e-5, atol=1e-6)


@over_samples(PLAIN)
@in_turn("dtype", ["float32", "float64"])
def test_a_rule_says_the_same_on_arrays_and_on_tensors(op, sample, dtype):
    made, attrs = arguments(op, sample, dtype)
    out = run(op, tensors(made), attrs)
    if isinstance(out, tuple) or out.node is None:
        return
    record = out.node
    g = weights_of(out)
    plan = record[PLAN]
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        wanted = {name: record[ATTRS][name] for name in rule.attrs}
        bare = rule.rule(g, *args, **wanted)
        full = rule.rule(Tensor(g), *map(lifted, args), **wanted)
        assert isinstance(full, Tensor)
        assert bare.dtype == full.dtype
        assert bare.dtype.itemsize == out.dtype.itemsize or "c" in (bare.dtype.kind, out.dtype.kind)
        np.testing.assert_allclose(bare, full.array, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-7)


def lifted(value):
    """What a rule saved, with tensors for arrays."""
    if isinstance(value, tuple):
        return tuple(map(lifted, value))
    return Tensor(value) if isinstance(value, np.ndarray | np.generic) else value


@over_samples(SAMPLES)
def test_a_gradient_has_shape_and_dtype_of_its_input(op, sample):
    made, attrs = arguments(op, sample, "float32")
    given = tensors(made)
    outs = floating_parts(run(op, given, attrs))
    wanted = [value for value in flat(given) if isinstance(value, Tensor) and value.requires_grad]
    if not outs or not wanted or any(vjp and vjp.rule is refused for vjp in op.vjps):
        return
    found = grad(outs, wanted, [Tensor(np.ones_like(out.array)[()]) for out in outs], allow_unused=True)
    for value, gradient in zip(wanted, found, strict=True):
        if gradient is not None:
            assert gradient.dtype == value.dtype
            assert value.dtype in (np.float32, np.complex64)
            assert gradient.shape == value.shape


@over_samples(SAMPLES)
def test_a_result_does_not_depend_on_the_layout_of_memory(op, sample):
    made, attrs = arguments(op, sample)
    if op.name in OF_MEMORY or not any(isinstance(value, np.ndarray) and value.ndim for value in flat(made)):
        return
    spread = [
        [spaced(part) for part in value] if isinstance(value, list) else spaced(value) for value in made
    ]  # fmt: skip
    for mine, other in zip(
        results(run(op, tensors(made), attrs)), results(run(op, tensors(spread), attrs)), strict=True
    ):
        np.testing.assert_allclose(mine.array, other.array, rtol=1e-12, atol=1e-14)


def spaced(value):
    """The same elements with gaps between them, and the dims in another order in memory."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return value
    wide = np.zeros([2 * length for length in value.shape], value.dtype, order="F")
    part = wide[(slice(None, None, 2),) * value.ndim]
    part[...] = value
    return part


def test_unbroadcast_is_the_transpose_of_broadcasting():
    g = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(unbroadcast(g, (3, 1)), g.sum((0, 2)).reshape(3, 1))
    np.testing.assert_array_equal(unbroadcast(g, ()), g.sum())
    assert unbroadcast(g, (2, 3, 4)) is g
