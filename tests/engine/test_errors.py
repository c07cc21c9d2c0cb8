"""What people do wrong, and what they are told."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs


def leaf(*size):
    return gs.ones(*size, requires_grad=True)


def test_shapes_of_a_product_that_do_not_fit():
    with pytest.raises(
        RuntimeError, match=r"mm: .*\(2, 3\) and \(4, 5\).* last dim of the first is 3, dim 0 of the second is 4"
    ):
        gs.mm(gs.ones(2, 3), gs.ones(4, 5))
    with pytest.raises(RuntimeError, match=r"matmul: .*\(2, 3\) and \(4,\)"):
        gs.ones(2, 3) @ gs.ones(4)
    with pytest.raises(RuntimeError, match="mm takes two matrices"):
        gs.mm(gs.ones(2, 3), gs.ones(3))


def test_shapes_that_do_not_broadcast():
    with pytest.raises(RuntimeError, match=r"add: .*dim -1 is 3 in the first and 4 in the second, and neither is 1"):
        gs.ones(2, 3) + gs.ones(4)
    with pytest.raises(RuntimeError, match=r"mse_loss: .*dim -1"):
        gs.nn.functional.mse_loss(gs.ones(2, 3), gs.ones(4))


def test_a_shape_that_does_not_hold_the_elements():
    with pytest.raises(RuntimeError, match=r"reshape: .*\(2, 3\).*shape=\(4, 2\)"):
        gs.ones(2, 3).reshape(4, 2)


def test_a_dim_that_is_not_there():
    with pytest.raises((RuntimeError, IndexError), match=r"softmax: .*dim=2"):
        gs.ones(2, 3).softmax(2)
    with pytest.raises(IndexError, match="getitem"):
        gs.ones(2, 3)[5]


def test_backward_twice():
    x = leaf(3)
    loss = (x * x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match=r"Trying to backward through the graph a second time: .*retain_graph=True"):
        loss.backward()


def test_backward_of_several_elements():
    with pytest.raises(RuntimeError, match=r"only for scalar outputs: this tensor has shape \(3,\)"):
        (leaf(3) * 2).backward()


def test_backward_without_a_graph():
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        gs.ones(1).backward()
    with gs.no_grad():
        out = leaf(1) * 2
    with pytest.raises(RuntimeError, match="no_grad"):
        out.backward()


def test_a_gradient_of_another_shape():
    with pytest.raises(
        RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of \(2,\) and output\[0\]"
    ):
        (leaf(3) * 2).backward(gs.ones(2))


def test_a_leaf_changed_in_place():
    x = leaf(3)
    with pytest.raises(RuntimeError, match="add_: a leaf Variable that requires grad is being used in an in-place"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x += 1
    with gs.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 2.0, 2.0]
    assert x.is_leaf


def test_a_saved_tensor_changed_in_place():
    x = leaf(3)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"modified by an inplace operation: mul( \(at .*\))? had saved its input . of shape \(3,\), and add_",
    ):
        z.sum().backward()


def test_a_saved_output_changed_in_place():
    x = leaf(3)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"exp( \(at .*\))? had saved its output"):
        y.sum().backward()


def test_what_an_op_itself_saved_and_wrote():
    y = leaf(3) * 2
    y *= y
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_saved_view_changed_through_its_base():
    base = gs.ones(2, 3)
    out = (base[0] * leaf(3)).sum()
    base.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_an_in_place_write_that_nobody_saved_is_no_fault():
    x = leaf(3)
    y = x + 1
    y.add_(1).mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


def test_an_in_place_result_of_another_shape_or_type():
    x = gs.ones(3)
    with pytest.raises(RuntimeError, match="add_: "):
        x.add_(gs.ones(2, 3))
    with pytest.raises(RuntimeError, match="add_: "):
        gs.tensor([1, 2]).add_(0.5)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_an_input_that_was_not_used():
    x, y = leaf(2), leaf(2)
    out = (x * 2).sum()
    with pytest.raises(RuntimeError, match="at index 1 appears to not have been used in the graph"):
        gs.grad(out, [x, y], retain_graph=True)
    assert gs.grad(out, [x, y], allow_unused=True)[1] is None


def test_gradients_of_what_asks_for_none():
    with pytest.raises(RuntimeError, match="does not require grad"):
        gs.grad(leaf(1), [gs.ones(1)])


@pytest.mark.parametrize(
    "make", [lambda: gs.tensor([1, 2], requires_grad=True), lambda: gs.tensor([1]).requires_grad_()]
)
def test_integers_that_require_grad(make):
    with pytest.raises(RuntimeError, match="floating"):
        make()


def test_requires_grad_of_a_result():
    y = leaf(2) * 2
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad_(False)


def test_operands_that_are_none():
    with pytest.raises(TypeError, match=r"from_numpy\(...\)"):
        gs.ones(2) + np.ones(2)
    with pytest.raises(TypeError, match=r"str, not a tensor or a number: wrap it in tensor"):
        gs.ones(2) + "a"


def test_uneven_lists():
    with pytest.raises(ValueError, match="one length at each depth"):
        gs.tensor([[1, 2], [3]])


def test_a_tensor_where_a_number_is_wanted():
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to Scalar"):
        gs.ones(2).item()
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(gs.ones(2))
    with pytest.raises(TypeError):
        len(gs.tensor(1.0))
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        leaf(2).numpy()


def test_classes_that_are_none():
    logits = gs.ones(2, 3)
    with pytest.raises((RuntimeError, IndexError), match=r"nll_loss: .*5"):
        gs.nn.functional.cross_entropy(logits, gs.tensor([0, 5]))
    with pytest.raises(ValueError, match=r"input batch_size \(2\) to match target batch_size \(3\)"):
        gs.nn.functional.cross_entropy(logits, gs.tensor([0, 1, 2]))
    with pytest.raises(RuntimeError, match="class numbers"):
        gs.nn.functional.nll_loss(logits, gs.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="'median' is not a valid value for reduction"):
        gs.nn.functional.mse_loss(logits, logits, reduction="median")


def test_a_failure_leaves_the_graph_usable():
    x = leaf(3)
    with pytest.raises(RuntimeError):
        x + gs.ones(4)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert gs.is_grad_enabled()


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda: gs.tensor([0.0]).log(), -np.inf),
        (lambda: gs.tensor([1000.0]).exp(), np.inf),
        (lambda: gs.tensor([1.0]) / 0, np.inf),
        (lambda: gs.tensor(-1.0).sqrt(), np.nan),
        (lambda: gs.tensor([-1000.0]).sigmoid(), 0.0),
        (lambda: gs.tensor([1e30]) * 1e30, np.inf),
        (lambda: gs.tensor([np.inf, -np.inf]).sum(), np.nan),
        (lambda: gs.tensor([np.inf]).softmax(0), np.nan),
    ],
)
def test_what_leaves_the_numbers_is_a_value_and_no_warning(run, expected):
    np.testing.assert_array_equal(run().array, expected)


def test_warnings_of_numpy_itself_stay_the_users():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(1))


def test_memory_that_several_elements_share_is_not_written_into():
    with pytest.raises(
        RuntimeError, match=r"add_: .* tensor of shape \(3, 4\) refers to a single memory location.*clone"
    ):
        gs.ones(3, 1).expand(3, 4).add_(1)
    array = np.ones(3)
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match=r"array of shape \(3,\) .* is read-only"):
        gs.from_numpy(array).add_(1)
