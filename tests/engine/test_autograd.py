"""Backward: what is accumulated where, what is kept and freed, hooks, graphs of any depth."""

from __future__ import annotations

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import graphscope as gs


def leaf(*values):
    return gs.tensor(list(values), requires_grad=True)


def test_gradients_accumulate_until_they_are_forgotten():
    x = leaf(1.0, 2.0)
    for times in (1, 2, 3):
        (x * 3).sum().backward()
        assert x.grad.tolist() == [3.0 * times] * 2
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_tensor_used_several_times():
    x = leaf(2.0)
    y = x * x
    (y * y + y * x).sum().backward()
    assert x.grad.tolist() == [4 * 8.0 + 3 * 4.0]


def test_an_accumulated_gradient_is_no_alias():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + y).sum().backward()
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0]


def test_a_gradient_given_to_backward_is_no_alias():
    x = leaf(1.0, 2.0)
    given = gs.tensor([5.0, 6.0])
    (x + 0).backward(given)
    x.grad.zero_()
    assert given.tolist() == [5.0, 6.0]


def test_a_leaf_alone():
    x = gs.tensor(3.0, requires_grad=True)
    x.backward()
    assert x.grad.item() == 1.0


def test_retain_graph():
    x = leaf(2.0)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    assert x.grad.tolist() == [8.0]


def test_what_saves_nothing_goes_backward_twice():
    x = leaf(1.0)
    loss = (x + 1).sum()
    loss.backward()
    loss.backward()
    assert x.grad.item() == 2.0


def test_retain_grad():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    z = y * 3
    z.retain_grad()
    z.sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]
    assert z.grad.tolist() == [1.0, 1.0]
    assert (x * 1).grad is None


def test_retain_grad_follows_a_tensor_written_in_place():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [10.0, 10.0]


def test_backward_into_some_leaves_alone():
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    z.sum().backward(inputs=[y])
    assert x.grad is None
    assert y.grad.tolist() == [1.0]


def test_grad_touches_no_leaf():
    x, y = leaf(2.0), leaf(3.0)
    middle = x * y
    found = gs.grad((middle * middle).sum(), [x, middle, y])
    assert [g.item() for g in found] == [36.0, 12.0, 24.0]
    assert x.grad is None
    assert y.grad is None


def test_grad_of_several_outputs():
    x = leaf(1.0, 2.0)
    found = gs.grad([x * 2, (x * x).sum()], [x], [gs.tensor([1.0, 10.0]), None])
    assert found[0].tolist() == [4.0, 24.0]


def test_third_order():
    x = gs.tensor(2.0, requires_grad=True, dtype=gs.float64)
    value = x**4
    for expected in (32.0, 48.0, 48.0):
        (value,) = gs.grad(value, x, create_graph=True)
        assert value.item() == pytest.approx(expected)


def test_create_graph_in_backward_makes_a_gradient_that_can_be_differentiated():
    x = leaf(3.0)
    (x * x * x).sum().backward(create_graph=True)
    assert x.grad.requires_grad
    first = x.grad
    x.grad = None
    first.sum().backward()
    assert x.grad.tolist() == [18.0]


def test_ordinary_gradients_require_none():
    x = leaf(3.0)
    (x * x).sum().backward()
    assert not x.grad.requires_grad
    assert x.grad.is_leaf


def test_detach_in_place_makes_a_leaf():
    x = gs.tensor([2.0, 3.0], requires_grad=True)
    hidden = x * x
    assert hidden.detach_() is hidden
    assert (hidden.is_leaf, hidden.requires_grad, hidden.grad_fn) == (True, False, None)
    (hidden * x).sum().backward()
    assert x.grad.tolist() == [4.0, 9.0]
    with pytest.raises(RuntimeError, match="use detach"):
        (x * 1)[0].detach_()


def test_detach_in_place_cuts_the_recorded_graph():
    with gs.record() as log:
        x = gs.tensor([2.0], requires_grad=True)
        hidden = (x * x).detach_()
        (hidden * x).sum().backward()
    (cut,) = log.graph.select("op:detach")
    assert [edge.target.op for edge in cut.users] == ["mul"]


def test_detach_stops_gradients():
    x = leaf(2.0)
    (x * x.detach()).sum().backward()
    assert x.grad.tolist() == [2.0]
    assert x.detach().array is x.array


def test_comparisons_and_indices_carry_no_gradient():
    x = leaf(1.0, 2.0)
    assert not (x > 1.5).requires_grad
    assert not x.argmax().requires_grad


def test_a_hook_sees_and_replaces_the_gradient_of_a_leaf():
    x = leaf(1.0, 2.0)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()))
    double = x.register_hook(lambda g: g * 2)
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]
    assert x.grad.tolist() == [6.0, 6.0]
    handle.remove()
    double.remove()
    (x * 3).sum().backward()
    assert len(seen) == 1
    assert x.grad.tolist() == [9.0, 9.0]


def test_a_hook_on_a_result_comes_before_its_rule_and_sees_the_whole():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.register_hook(lambda g: g * 10)
    (y * 3 + y * 4).sum().backward()
    assert seen == [7.0]
    assert x.grad.item() == 140.0


def test_a_hook_on_a_backward_node():
    x = leaf(1.0)
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (outputs[0] * 0, None))
    y.sum().backward()
    assert x.grad.item() == 0.0


def test_a_hook_that_returns_another_shape():
    x = leaf(1.0)
    x.register_hook(lambda g: gs.ones(3))
    with pytest.raises(RuntimeError, match=r"shape \(3,\) for one of shape \(1,\)"):
        (x * 2).sum().backward()


def test_a_hook_that_raises_leaves_the_mode_alone():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 2).sum().backward()
    assert gs.is_grad_enabled()
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.item() == 2.0


def test_hooks_on_what_requires_no_grad():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        gs.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        gs.ones(2).retain_grad()


def test_grad_fn_as_people_know_it():
    a, b = leaf(1.0), leaf(2.0)
    c = (a * b + 1).tanh()
    assert str(c.grad_fn) == "<TanhBackward0>"
    assert c.grad_fn.name() == "TanhBackward0"
    ((add, slot), *_) = c.grad_fn.next_functions
    assert (str(add), slot) == ("<AddBackward0>", 0)
    (first, _), (second, _) = add.next_functions[0][0].next_functions
    assert first.variable is a
    assert second.variable is b
    assert a.grad_fn is None
    assert c.grad_fn == c.grad_fn


@pytest.mark.slow
@pytest.mark.parametrize("count", [20_000, 100_000])
def test_depth_is_no_limit(count):
    x = gs.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(count):
        y = y + 0.5
    assert sys.getrecursionlimit() < count
    y.backward(retain_graph=True)
    assert x.grad.item() == 1.0
    del y
    gc.collect()


def test_a_deep_graph_that_is_never_used_can_be_dropped():
    y = gs.ones(2, requires_grad=True)
    for _ in range(100_000):
        y = y.tanh()
    watched = weakref.ref(y)
    del y
    assert watched() is None


def test_second_order_through_a_deep_graph():
    x = gs.tensor(1.0, requires_grad=True, dtype=gs.float64)
    y = x
    for _ in range(2_000):
        y = y * 1.0
    (first,) = gs.grad(y * y, x, create_graph=True)
    (second,) = gs.grad(first, x)
    assert second.item() == 2.0


def test_memory_is_freed_by_backward():
    x = gs.ones(1000, requires_grad=True)
    y = x * 2
    saved = weakref.ref(y.array)
    loss = (y * y).sum()
    del y
    assert saved() is not None
    loss.backward()
    assert saved() is None


def test_an_op_keeps_only_what_its_rules_need():
    x = gs.ones(1000, requires_grad=True)
    constant, other = gs.ones(1000), gs.ones(1000)
    kept, dropped = weakref.ref(constant.array), weakref.ref(other.array)
    out = x * constant + other
    del constant, other
    assert kept() is not None
    assert dropped() is None
    assert out.requires_grad


def test_a_graph_is_freed_without_the_garbage_collector():
    gc.disable()
    try:
        x = gs.ones(10, requires_grad=True)
        y = (x * 2).tanh()
        watched = weakref.ref(y)
        data = weakref.ref(y.array)
        y.sum().backward()
        del y
        assert watched() is None
        assert data() is None
    finally:
        gc.enable()


def test_versions_and_views():
    x = gs.zeros(2, 3)
    assert x._version == 0
    x.add_(1)
    view = x.t()
    view.mul_(2)
    assert x._version == view._version == 2
    assert x.tolist() == [[2.0] * 3] * 2
    assert x.reshape(6).tolist() == [2.0] * 6


def test_indexing_shares_memory_as_numpy_does():
    x = gs.zeros(3, 2)
    x[1].add_(1)
    x[0, 1] = 5.0
    x[gs.tensor([2])] += 7
    assert x.tolist() == [[0.0, 5.0], [1.0, 1.0], [7.0, 7.0]]
    assert x[gs.tensor([0])]._version == 0


def test_setting_elements_is_differentiable():
    x, y = leaf(1.0, 2.0, 3.0), leaf(5.0)
    z = x * 2
    z[1:2] = y
    (z * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 200.0]
    assert y.grad.tolist() == [10.0]


def test_gradients_reach_an_operand_of_an_in_place_op():
    x, w = leaf(2.0, 3.0), leaf(4.0, 5.0)
    y = x * 1
    y *= w
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 5.0]
    assert w.grad.tolist() == [2.0, 3.0]


def test_a_result_that_begins_to_require_grad_in_place():
    total, x = gs.zeros(2), leaf(1.0, 2.0)
    for _ in range(3):
        total += x * x
    total.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_numbers_stay_of_their_kind():
    x = gs.tensor(2.0, requires_grad=True)
    (x * 3).backward()
    assert isinstance(x.grad.item(), float)
    assert x.grad.shape == ()
    assert x.grad.dtype == np.float32


def test_a_write_in_place_keeps_no_memory():
    y = gs.zeros(1000)
    y.add_(1)
    memory = weakref.ref(y.array)
    del y
    assert memory() is None


def test_numbers_written_in_place_keep_their_way_back():
    x = gs.tensor(3.0, requires_grad=True)
    y = x * 1
    y *= x
    y += 1
    y.backward()
    assert y.item() == 10.0
    assert x.grad.item() == 6.0


def test_a_number_that_was_saved_and_then_written_is_told():
    x = gs.tensor(3.0, requires_grad=True)
    y = x * 1
    out = y * y
    y += 1
    with pytest.raises(RuntimeError, match=r"mul( \(at .*\))? had saved its input . of shape \(\), and add_"):
        out.backward()
    y = x * 1
    y *= y
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    y = x * 1
    out = y * y
    y.view(1).mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_a_number_has_memory_as_soon_as_somebody_shares_it():
    x = gs.tensor([1.0, 2.0, 3.0])
    first = x[0]
    x.detach()[0] = 5
    assert first.item() == 5
    first += 1
    assert x.tolist() == [6, 2, 3]
    y = gs.tensor(2.0)
    seen, apart, elements = y.view(1), y.detach(), y.numpy()
    y.mul_(3)
    y.data.add_(1)
    assert (seen.tolist(), apart.item(), elements.item()) == ([7], 7, 7)
    assert gs.tensor(2.0).sum(0).shape == ()
    leaf = gs.tensor(2.0, requires_grad=True)
    out = leaf**3
    leaf.detach()
    (slope,) = gs.autograd.grad(out, leaf, create_graph=True)
    slope.backward()
    assert leaf.grad.item() == 12


@pytest.mark.parametrize("op", ["flip", "sum", "roll", "tile", "index_select", "cumsum", "sort", "max"])
def test_a_result_shares_no_memory_with_a_number(op):
    x = gs.tensor(2.0)
    x.view(1)
    more = {"roll": (1,), "flip": (0,), "tile": ((),), "index_select": (0, gs.tensor([0])), "sum": (0,)}
    out = getattr(x, op)(*more.get(op, (0,)))
    out = out if isinstance(out, gs.Tensor) else out[0]
    out.add_(1)
    assert x.item() == 2


def test_a_write_is_remembered_however_many_follow():
    x = gs.ones(2, requires_grad=True)
    y = x * 2
    out = (y * y).sum()
    y.add_(1)
    others = [gs.zeros(1).add_(1) for _ in range(10_000)]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
    assert len(others) == 10_000


@pytest.mark.parametrize("yes", [1, np.True_, "yes"])
def test_what_counts_as_true_is_true(yes):
    x = gs.tensor([1.0, 2.0], requires_grad=yes)
    out = (x * x).sum()
    out.backward(retain_graph=yes)
    out.backward()
    assert x.grad.tolist() == [4, 8]
    y = gs.ones(2)
    y.requires_grad = yes
    assert gs.exp(y).requires_grad
    with gs.no_grad(), gs.set_grad_enabled(yes):
        assert (x * 2).requires_grad


def test_threads_go_back_through_one_graph_while_it_is_freed():
    with gs.record() as log:
        for _ in range(3):
            x = gs.ones(200, 200, requires_grad=True)
            y = x
            for _ in range(10):
                y = y * 0.5 + x * y
            out = y.sum()
            with ThreadPoolExecutor(4) as pool:
                runs = [pool.submit(out.backward, retain_graph=keep) for keep in (True, True, True, False)]
            errors = [run.exception() for run in runs]
            assert all(error is None or "a second time" in str(error) for error in errors)
            assert errors.count(None) > 0
    log.refresh()
    assert log.end > 100
