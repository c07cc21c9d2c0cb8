"""Ops of several outputs: one node with a slot for each; joint rules; residuals."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.calls import define
from graphscope.engine.core.gradcheck import gradcheck, gradgradcheck
from graphscope.engine.core.op import OPS, joint
from graphscope.engine.ops.joining import stack
from graphscope.eventlog.schema import Kind

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def _defined(name, **definition):
    function = define(name, "For the tests.", formula="out = ...", tensor_method=False, **definition)
    del OPS[name]
    return function


def _double(g, x, out):
    product, total, nothing = g
    assert nothing is None
    return product * 2 * x + total * out[1] / out[1]


def _masked(x):
    mask = x > 0
    return x * mask, mask


powers = _defined(
    "powers", outputs=("square", "same", "sign"), forward=lambda x: (x * x, x * 1.0, (x > 0).astype(int)), vjp=[_double]
)
to_polar = _defined(
    "to_polar",
    outputs=("r", "angle"),
    forward=lambda x, y: (np.sqrt(x * x + y * y), np.arctan2(y, x)),
    vjp=[
        lambda g, x, y, out: g[0] * x / out[0] - g[1] * y / (out[0] * out[0]),
        lambda g, x, y, out: g[0] * y / out[0] + g[1] * x / (out[0] * out[0]),
    ],
)
parts = _defined("parts", outputs=(), view=True, prepare=lambda x: ((x,), {}),
                 forward=lambda x: tuple(x), vjp=[lambda g: stack(list(g)) if isinstance(g[0], gs.Tensor)
                                                  else np.stack(g)])  # fmt: skip
product = _defined("product", forward=np.multiply,
                   vjp=[joint(lambda g, x, y: (g * y, g * x))] * 2, prepare=lambda x, y: ((x, y), {}))  # fmt: skip
partly = _defined("partly", forward=lambda x, y: x * y, prepare=lambda x, y: ((x, y), {}),
                  vjp=[joint(lambda g, x, y: (g * y, None))] * 2)  # fmt: skip
kept = _defined("kept", residuals=True, forward=_masked, vjp=[lambda g, residuals: g * residuals])


def leaves(*shapes, seed=0):
    numbers = np.random.default_rng(seed)
    return [gs.tensor(numbers.uniform(0.5, 2, shape), requires_grad=True) for shape in shapes]


PROGRAMS = {
    "both outputs": lambda x, y: to_polar(x, y)[0] * to_polar(x, y)[1],
    "one output": lambda x, y: to_polar(x, y).r,
    "the other output": lambda x, y: to_polar(x, y).angle * 2,
    "an output used twice": lambda x, y: (lambda r, a: r * a + r.sin())(*to_polar(x, y)),
    "chained": lambda x, y: to_polar(*to_polar(x, y))[0].exp(),
    "a mask besides": lambda x, y: powers(x).square * y + powers(x).same,
    "views": lambda x, y: parts(x * y)[1] * parts(x)[0],
    "joint": lambda x, y: product(x, y * 2),
    "residuals": lambda x, y: kept(x - 1) * y,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_gradients_of_both_orders_agree_with_differences(program):
    given = leaves((2, 3), (2, 3))
    gradcheck(program, given)
    gradgradcheck(program, given)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_recording_changes_no_gradient_and_edges_name_node_and_slot(program, tmp_path):
    plain, recorded = leaves((2, 3), (2, 3)), leaves((2, 3), (2, 3))
    program(*plain).sum().backward()
    with gs.record(tmp_path / "a.gscope") as log:
        program(*recorded).sum().backward()
    for one, other in zip(plain, recorded, strict=True):
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None:
            np.testing.assert_array_equal(one.grad.array, other.grad.array)
    graph = gs.Graph(gs.load(log.path))
    for node in graph.nodes:
        for edge in node.inputs:
            assert edge.source.row < node.row
            if edge.source.kind == "op":
                assert edge.source.output(edge.slot) is not None


def test_the_log_has_one_node_with_its_outputs_and_one_backward_node(tmp_path):
    x, y = leaves((3,), (3,))
    with gs.record(tmp_path / "a.gscope") as log:
        r, angle = to_polar(x, y)
        (r * 2 + angle * r).sum().backward()
    graph = gs.Graph(gs.load(log.path))
    (node,) = graph.select("op:to_polar forward")
    np.testing.assert_array_equal(node.output(0), r.array)
    np.testing.assert_array_equal(node.output(1), angle.array)
    used = [(edge.slot, edge.target.op) for edge in node.users if edge.target.kind == "op"]
    assert used == [(0, "mul"), (1, "mul"), (0, "mul")]
    (back,) = [each for each in node.backward if each.event.kind == Kind.GRAD]
    np.testing.assert_allclose(back.output(0), 2 + angle.array)
    np.testing.assert_allclose(back.output(1), r.array)
    sources = [edge.source for edge in back.inputs]
    assert [source.attrs["slot"] for source in sources] == [1, 0, 0] or len(sources) == 3
    assert all(source.kind == "accumulate" and source.inputs for source in sources)


def test_a_row_with_a_slot_is_of_no_later_recording(tmp_path):
    x, y = leaves((3,), (3,))
    with gs.record(tmp_path / "a.gscope"):
        r, angle = to_polar(x, y)
    with gs.record(tmp_path / "b.gscope") as log:
        total = (angle * r).sum()
    (node,) = gs.Graph(gs.load(log.path)).select("op:mul")
    assert [(edge.source.kind, edge.slot) for edge in node.inputs] == [("leaf", 0), ("leaf", 0)]
    total.backward()
    assert x.grad is not None


def test_slots_show_as_torch_shows_them():
    a = gs.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    b = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    ours, theirs = parts(a), b.unbind(0)
    mine, other = ours[1] * ours[0], theirs[1] * theirs[0]
    assert ours[1].grad_fn == ours[0].grad_fn
    assert [slot for _, slot in mine.grad_fn.next_functions] == [slot for _, slot in other.grad_fn.next_functions]
    assert ours[1].output_nr == theirs[1].output_nr == 1
    assert ours[1]._base is a


def test_a_slot_has_hooks_and_keeps_its_gradient():
    x, y = leaves((3,), (3,))
    r, angle = to_polar(x, y)
    seen = []
    r.register_hook(lambda g: seen.append(g) or g * 2)
    angle.retain_grad()
    (r * angle).sum().backward()
    np.testing.assert_allclose(seen[0].array, angle.array)
    np.testing.assert_allclose(angle.grad.array, r.array)
    (found,) = gs.grad((to_polar(x, y)[0] * 3).sum(), [x])
    np.testing.assert_allclose(found.array, 3 * x.array / r.array)


def test_gradients_can_be_asked_for_with_respect_to_a_slot():
    x, y = leaves((3,), (3,))
    r, angle = to_polar(x, y)
    to_r, to_angle = gs.grad((r * r * angle).sum(), [r, angle])
    np.testing.assert_allclose(to_r.array, 2 * r.array * angle.array)
    np.testing.assert_allclose(to_angle.array, r.array * r.array)


def test_an_output_that_is_no_float_does_not_require_grad():
    (x,) = leaves((3,))
    square, same, sign = powers(x)
    assert (square.requires_grad, same.requires_grad, sign.requires_grad) == (True, True, False)


def test_a_joint_rule_may_give_none():
    x, y = leaves((3,), (3,))
    partly(x, y).sum().backward()
    assert y.grad is None
    np.testing.assert_array_equal(x.grad.array, y.array)


def test_a_second_pass_is_refused():
    x, y = leaves((3,), (3,))
    loss = (to_polar(x, y)[0] * 2).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_on_bare_arrays_several_outputs_are_arrays():
    assert to_polar(np.array([3.0]), np.array([4.0])).r == np.array([5.0])
    assert [part.tolist() for part in parts(np.eye(2))] == [[1.0, 0.0], [0.0, 1.0]]
    assert kept(np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]
