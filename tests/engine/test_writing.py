"""Writing in place, through views and their bases: values, gradients and refusals are those of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def view_of_intermediate(t, w, x):
    y = w * 2
    y[1:].mul_(x[1:])
    return y


def base_under_a_view(t, w, x):
    y = w * 2
    v = y[1:]
    y.mul_(x)
    return v


def both_in_turn(t, w, x):
    y = w * x
    v = y[0]
    v.add_(1.5)
    y.mul_(2)
    v.mul_(w[1])
    y += v.clone()
    return y * v


def several_views(t, w, x):
    y = w.clone()
    a, b, c = y[:2], y[1:], y.t()
    a.mul_(x[:2])
    b.add_(c[:, 1:].t())
    c.mul_(0.5)
    return a.sum() + (b * b).sum() + c.exp().sum()


def view_of_a_view(t, w, x):
    y = w * 1
    v = y[1:][:, :2]
    v.mul_(v.detach() + 1)
    return y.reshape(-1) * x.reshape(-1)


def a_buffer(t, w, x):
    out = t.zeros(3, 3)
    for i in range(3):
        out[i] = w[i] * x[i]
    return out * out


def rows_of_a_buffer(t, w, x):
    out = t.zeros(3, 3)
    for i in range(3):
        row = out[i]
        row += w[i] * x[i]
        row *= 2
    return out


def an_older_view_of_a_buffer(t, w, x):
    out = t.zeros(3, 3)
    flat, row = out.reshape(-1), out[1]
    out[1] = w[0] * x[2]
    return flat * 2 + row.sum()


def everything(t, w, x):
    y = w * 2
    y[...] = x * w
    return y


def a_column_in_steps(t, w, x):
    y = w * 2
    y[:, ::2] *= x[:, ::2]
    y[:, 0] = w[0]
    return y


def overlapping_expansion(t, w, x):
    y = w.clone()
    wide = y[0].expand(3, 3)
    y.mul_(x)
    return wide * x


def under_no_grad(t, w, x):
    y = w * 2
    v = y[1]
    with t.no_grad():
        v.add_(1)
        y.mul_(2)
    return y.sum() + v.sum()


def detached(t, w, x):
    y = w * 2
    d = y.detach()
    d.mul_(3)
    return y + d


def detached_with_gradient(t, w, x):
    d = (w * 2).detach()
    d += w
    return d


def saved_by_its_result(t, w, x):
    y = w * x
    y.mul_(2)
    z = y.exp()
    y.add_(1)
    return z + y


def transposed_base(t, w, x):
    y = w.t() * 1
    y.t()[0] = x[0]
    y[2].mul_(w[1])
    return y


def an_element(t, w, x):
    y = w * 2
    y[1, 1].mul_(x[0, 0])
    y[0][2] += w[1, 1]
    return y


def an_element_of_a_vector(t, w, x):
    y = w[0] * 2
    e = y[1]
    e.mul_(3)
    y.mul_(x[0])
    return y * e


def iterated(t, w, x):
    y = w * 2
    for row in [y[i] for i in range(3)]:
        row *= x[0]
    return y


def retained(t, w, x):
    y = w * 2
    y.retain_grad()
    y.mul_(x)
    (y * 3).sum().backward(retain_graph=True)
    w.grad = None
    return y * y.grad.detach()


PROGRAMS = [
    view_of_intermediate, base_under_a_view, both_in_turn, several_views, view_of_a_view, a_buffer, rows_of_a_buffer,
    an_older_view_of_a_buffer, everything, a_column_in_steps, overlapping_expansion, under_no_grad, detached,
    detached_with_gradient, saved_by_its_result, transposed_base, an_element, an_element_of_a_vector, iterated,
    retained,
]  # fmt: skip


def inputs(t):
    numbers = np.random.default_rng(3)
    w, x = (t.tensor(numbers.uniform(0.5, 2, (3, 3)).astype(np.float32)) for _ in range(2))
    return w.requires_grad_(), x


def outcome(t, program, record=None):
    w, x = inputs(t)
    try:
        out = program(t, w, x)
        value = np.array(out.detach().numpy())
        loss = (out * out).sum()
        (first,) = (t.grad if t is gs else t.autograd.grad)(loss, [w], create_graph=True)
        (second,) = (t.grad if t is gs else t.autograd.grad)((first * first).sum(), [w], allow_unused=True)
    except RuntimeError as error:
        return type(error)
    return [value, first.detach().numpy(), None if second is None else second.detach().numpy()]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_values_and_gradients_are_those_of_torch(program, recorded, tmp_path):
    expected = outcome(torch, program)
    if recorded:
        with gs.record(tmp_path / "a.gscope"):
            found = outcome(gs, program)
    else:
        found = outcome(gs, program)
    assert not isinstance(expected, type), expected
    assert not isinstance(found, type)
    for mine, other in zip(found, expected, strict=True):
        if other is None or mine is None:
            assert mine is None or not np.any(mine)
            assert other is None or not np.any(other)
        else:
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def leaf(t, w, x):
    w.mul_(2)


def view_of_a_leaf(t, w, x):
    w[0].mul_(2)


def leaf_at_an_index(t, w, x):
    w[0] = 1.0


def view_made_without_grad(t, w, x):
    y = w * 2
    with t.no_grad():
        v = y[0]
    v.mul_(2)


def one_of_several_views(t, w, x):
    y = w * 2
    y.unbind(0)[0].mul_(2)


def saved_then_written(t, w, x):
    y = w * x
    z = y * y
    y.add_(1)
    z.sum().backward()


def saved_then_written_through_a_view(t, w, x):
    y = w * x
    z = y.exp()
    z[0].zero_()
    z.sum().backward()


def saved_then_written_through_a_detached(t, w, x):
    y = w.exp()
    y.detach().zero_()
    y.sum().backward()


def itself(t, w, x):
    y = w * 1
    y.mul_(y)
    y.sum().backward()


def wrong_shape(t, w, x):
    y = t.zeros(3)
    y.add_(w)


def numpy_of_grad(t, w, x):
    (w * 1).numpy()


REFUSED = {
    leaf: "a leaf Variable that requires grad is being used in an in-place operation",
    view_of_a_leaf: "a view of a leaf Variable that requires grad is being used in an in-place operation",
    leaf_at_an_index: "a leaf Variable that requires grad is being used in an in-place operation",
    view_made_without_grad: "created in no_grad mode",
    one_of_several_views: "the output of a function that returns multiple views",
    saved_then_written: "has been modified by an inplace operation",
    saved_then_written_through_a_view: "has been modified by an inplace operation",
    saved_then_written_through_a_detached: "has been modified by an inplace operation",
    itself: "has been modified by an inplace operation",
    wrong_shape: ".",
    numpy_of_grad: "Can't call numpy\\(\\) on Tensor that requires grad",
}


@pytest.mark.parametrize(("program", "said"), REFUSED.items(), ids=lambda value: getattr(value, "__name__", None))
def test_what_torch_refuses_is_refused_in_its_words(program, said):
    with pytest.raises(RuntimeError, match=said):
        program(torch, *inputs(torch))
    with pytest.raises(RuntimeError, match=said):
        program(gs, *inputs(gs))


def test_the_error_names_both_lines_and_what_was_written(tmp_path):
    w, x = inputs(gs)
    with gs.record(tmp_path / "a.gscope"):
        y = w * x
        z = y.exp()
        z.add_(1)
        with pytest.raises(RuntimeError) as caught:
            z.sum().backward()
    message = str(caught.value)
    assert "add_ (at " in message
    assert "wrote into z before backward" in message
    assert "exp (at " in message
    places = [part.split(")")[0] for part in message.split("(at ")[1:]]
    assert int(places[1].rsplit(":", 1)[1]) == int(places[0].rsplit(":", 1)[1]) + 1
    assert all(place.rsplit(":", 1)[0] == __file__ for place in places)


def counters(t):
    y = t.zeros(3)
    d, v = y.detach(), y[1:]
    found = [y._version]
    y.add_(1)
    d.mul_(2)
    v.zero_()
    found += [y._version, d._version, v._version, d[0:1]._version, y.clone()._version]
    with t.no_grad():
        v[0] = 2.0
    return [*found, y._version]


def test_base_views_and_detached_tensors_count_writes_together():
    assert counters(gs) == counters(torch)


def test_names_of_nodes_after_a_write():
    def names(t):
        w, x = inputs(t)
        y = w * 2
        v, u = y[0], y[1]
        v.mul_(x[0])
        return [
            y.grad_fn.name().split(":")[-1],
            v.grad_fn.name(),
            u.grad_fn.name(),
            v._base is y,
            u.is_leaf,
            y._base is None,
        ]

    assert names(gs) == names(torch)


def test_a_write_through_a_view_is_told_in_full(tmp_path):
    w, x = inputs(gs)
    with gs.record(tmp_path / "a.gscope") as log:
        y = w * 2
        v = y[0]
        v.mul_(x[0])
        (y * v).sum().backward()
    graph = gs.Graph(gs.load(log.path))
    forward = [node for node in graph.nodes if node.kind == "op" and node.graph_pass == "forward"]
    assert [node.op for node in forward] == [
        "mul",
        "getitem",
        "getitem",
        "mul_",
        "copy_slices",
        "take_view",
        "mul",
        "sum",
    ]
    product = forward[-2]
    assert [edge.source.op for edge in product.inputs] == ["copy_slices", "take_view"]
    np.testing.assert_array_equal(product.inputs[0].source.value, y.array)
    back = {node.op for node in graph.nodes if node.kind == "grad"}
    assert back == {"mul", "getitem", "mul_", "copy_slices", "take_view", "sum"}
