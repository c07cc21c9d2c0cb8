"""Hooks on tensors and nodes, kept gradients, and the ways to ask for gradients: the same programs as in PyTorch."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import graphscope as gs
from graphscope import autograd as ours  # noqa: F401 - so that gs.autograd is there

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def inputs(t):
    numbers = np.random.default_rng(7)
    return tuple(t.tensor(numbers.uniform(0.5, 1.5, (2, 3)), requires_grad=True) for _ in range(2))


def listed(value):
    """Gradients as nested lists; None stays."""
    if isinstance(value, tuple | list):
        return [listed(part) for part in value]
    return value if value is None else np.round(value.detach().numpy(), 10).tolist()


def tensor_hooks(t, x, y, seen):
    z = x * y
    z.register_hook(lambda g: seen.append(listed(g)))
    z.register_hook(lambda g: g * 2)
    z.register_hook(lambda g: seen.append(listed(g)))
    x.register_hook(lambda g: g + 1)
    (z * z).sum().backward()


def removed_hooks(t, x, y, seen):
    z = x * y
    first = z.register_hook(lambda g: g * 2)
    second = z.register_hook(lambda g: g * 3)
    first.remove()
    first.remove()
    with x.register_hook(lambda g: g * 100):
        pass
    z.sum().backward(retain_graph=True)
    second.remove()
    z.sum().backward()


def node_hooks(t, x, y, seen):
    z = x * y
    z.grad_fn.register_hook(lambda inputs, outputs: seen.append([listed(inputs), listed(outputs)]))
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2, inputs[1]))
    z.grad_fn.register_prehook(lambda outputs: (outputs[0] * 3,))
    z.grad_fn.register_prehook(lambda outputs: seen.append(listed(outputs)))
    handle = z.grad_fn.register_prehook(lambda outputs: (outputs[0] * 0,))
    handle.remove()
    (z + z).sum().backward()


def hooks_of_one_sided_nodes(t, x, y, seen):
    z = x.exp() * 2.0
    z.grad_fn.register_hook(lambda inputs, outputs: seen.append([listed(inputs), listed(outputs)]))
    z.grad_fn.next_functions[0][0].register_hook(lambda inputs, outputs: (inputs[0] * 2,))
    z.sum().backward()


def leaf_hooks(t, x, y, seen):
    x.register_post_accumulate_grad_hook(lambda p: seen.append(listed(p.grad)))
    handle = y.register_post_accumulate_grad_hook(lambda p: seen.append("never"))
    handle.remove()
    (x * y).sum().backward()
    (x * y).sum().backward()


def stepping_in_the_backward_pass(t, x, y, seen):
    def step(p):
        with t.no_grad():
            p.add_(p.grad, alpha=-0.1)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * y).sum().backward()
    seen += [listed(x), x.grad]


def kept_gradients(t, x, y, seen):
    z = x * y
    z.retain_grad()
    w = z.exp()
    w.retain_grad()
    x.retain_grad()
    seen.append([z.retains_grad, w.retains_grad, x.retains_grad])
    w.sum().backward(retain_graph=True)
    seen += [listed(z.grad), listed(w.grad)]
    w.sum().backward()
    seen += [listed(z.grad), listed(w.grad)]


def hooks_with_create_graph(t, x, y, seen):
    z = x * y
    z.register_hook(lambda g: g * x)
    (g,) = t.autograd.grad((z * z).sum(), x, create_graph=True)
    seen.append(listed(g))
    g.sum().backward()


def with_inputs(t, x, y, seen):
    z = x * y
    (z * x).sum().backward(inputs=[x], retain_graph=True)
    (z + y).sum().backward(inputs=y, retain_graph=True)


def several_roots(t, x, y, seen):
    a, b = (x * y).sum(), x.exp()
    t.autograd.backward([a, b], [None, t.ones_like(b) * 2])
    t.autograd.backward((x * y).sum())
    seen.append(listed(t.autograd.grad([x * x, (x * y).sum()], [x, y], [y, None])))


def pieces(t, x, y, seen):
    z = x * 2
    seen.append(listed(t.autograd.grad((z * y).sum(), [z, x])))
    seen.append(listed(t.autograd.grad((x * 2).sum(), [x, y], allow_unused=True)))
    seen.append(listed(t.autograd.grad((x * 2).sum(), [x, y], materialize_grads=True)))
    seen.append(listed(t.autograd.grad(x.sum(), x)))
    seen.append(listed(t.autograd.grad(x, x, grad_outputs=y)))


def only_what_is_asked_for(t, x, y, seen):
    z = x.exp()
    w = y.exp()
    loss = (z * w).sum()
    t.autograd.grad(loss, x, retain_graph=True)
    w.sum().backward()
    y.register_hook(lambda g: seen.append("never"))
    x2 = z.detach().requires_grad_()
    seen.append(listed(t.autograd.grad((x2 * y).sum(), x2)))


def saves_nothing(t, x, y, seen):
    loss = (x + y).sum()
    loss.backward()
    loss.backward()


def accumulated(t, x, y, seen):
    (x * y).sum().backward()
    kept = x.grad
    (x * x).sum().backward()
    seen += [listed(kept), x.grad is kept]
    x.grad = None
    (x * y).sum().backward(create_graph=True)
    seen.append(x.grad.requires_grad)


def again(t, y):
    with t.enable_grad():
        return t.autograd.grad((y * y).sum(), y)


def nested_passes(t, x, y, seen):
    z = x * y
    z.register_hook(lambda g: seen.append(listed(again(t, y))))
    z.sum().backward()


def grad_modes(t, x, y, seen):
    with t.no_grad():
        a = x * 2
        with t.enable_grad():
            b = x * 2
        with t.set_grad_enabled(True):
            c = x * 2
    with t.inference_mode():
        d = x * 2
        inside = t.is_inference_mode_enabled()
        with t.inference_mode(False):
            e = x * 2
    seen += [v.requires_grad for v in (a, b, c, d, e)]
    seen += [inside, t.is_inference_mode_enabled(), t.is_grad_enabled()]

    @t.inference_mode()
    def evaluate(v):
        return v * x

    seen.append(evaluate(x).requires_grad)
    with t.autograd.set_grad_enabled(False):
        seen.append((x * y).requires_grad)
    (b * c).sum().backward()


def flags(t, x, y, seen):
    z = x * y
    seen += [z.requires_grad, z.is_leaf, x.is_leaf]
    z.requires_grad_()
    d = z.detach().requires_grad_()
    seen += [d.is_leaf, d.grad_fn is None]
    (d * d).sum().backward()
    seen.append(listed(d.grad))
    d.requires_grad = False
    seen.append((d * 2).requires_grad)


PROGRAMS = [
    tensor_hooks, removed_hooks, node_hooks, hooks_of_one_sided_nodes, leaf_hooks, stepping_in_the_backward_pass,
    kept_gradients, hooks_with_create_graph, with_inputs, several_roots, pieces, only_what_is_asked_for, saves_nothing,
    accumulated, nested_passes, grad_modes, flags,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
def test_what_hooks_and_gradients_are_is_what_they_are_in_torch(program):
    def outcome(t):
        x, y = inputs(t)
        seen = []
        program(t, x, y, seen)
        return [seen, listed(x.grad), listed(y.grad)]

    assert outcome(gs) == outcome(torch)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
def test_recording_changes_nothing(program, tmp_path):
    def outcome():
        x, y = inputs(gs)
        seen = []
        program(gs, x, y, seen)
        return [seen, listed(x.grad), listed(y.grad)]

    plain = outcome()
    with gs.record(tmp_path / "a.gscope"):
        assert outcome() == plain


def second_pass(t, x, y):
    loss = (x * y).sum()
    loss.backward()
    loss.backward()


def not_scalar(t, x, y):
    (x * y).backward()


def other_shape(t, x, y):
    (x * y).backward(t.ones(3))


def no_graph(t, x, y):
    (x * y).detach().sum().backward()


def unused(t, x, y):
    t.autograd.grad((x * 2).sum(), [x, y])


def no_grad_needed(t, x, y):
    t.autograd.grad((x * 2).sum(), [x, t.ones(2)])


def no_inputs(t, x, y):
    t.autograd.grad((x * 2).sum(), [])


def empty_inputs(t, x, y):
    (x * 2).sum().backward(inputs=[])


def contradiction(t, x, y):
    t.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)


def no_gradient_tensor(t, x, y):
    (x * 2).backward(3)


def retain_without_grad(t, x, y):
    t.ones(2).retain_grad()


def hook_without_grad(t, x, y):
    t.ones(2).register_hook(print)


def hook_behind_no_leaf(t, x, y):
    (x * 2).register_post_accumulate_grad_hook(print)


def change_the_flag_of_no_leaf(t, x, y):
    (x * 2).requires_grad_(False)


def integers_that_require_grad(t, x, y):
    t.tensor([1, 2]).requires_grad_()


def item_of_many(t, x, y):
    x.item()


def bool_of_many(t, x, y):
    bool(x)


def float_of_many(t, x, y):
    float(x.detach())


def numpy_with_grad(t, x, y):
    x.numpy()


def copy_of_no_leaf(t, x, y):
    copy.deepcopy(x * 2)


def iterated_scalar(t, x, y):
    for _ in x.sum():
        pass


def length_of_a_scalar(t, x, y):
    len(x.sum())


def index_of_a_float(t, x, y):
    [1, 2][x.sum().detach()]


def index_of_a_scalar(t, x, y):
    x.sum()[0]


REFUSED = {
    second_pass: "second time", not_scalar: "grad can be implicitly created only for scalar outputs",
    other_shape: "Mismatch in shape", no_graph: "does not require grad and does not have a grad_fn",
    unused: "The differentiated Tensor at index 1 appears to not have been used in the graph",
    no_grad_needed: "One of the differentiated Tensors does not require grad", no_inputs: "cannot be empty",
    empty_inputs: "cannot be empty", contradiction: "materialize_grads",
    no_gradient_tensor: ".",
    retain_without_grad: "can't retain_grad on Tensor that has requires_grad=False",
    hook_without_grad: "cannot register a hook on a tensor that doesn't require gradient",
    hook_behind_no_leaf: "post accumulate grad hooks cannot be registered on non-leaf tensors",
    change_the_flag_of_no_leaf: "you can only change requires_grad flags of leaf variables",
    integers_that_require_grad: "floating", item_of_many: "elements cannot be converted to Scalar",
    bool_of_many: "Boolean value of Tensor with more than one value is ambiguous",
    float_of_many: ".", numpy_with_grad: "Can't call numpy\\(\\) on Tensor that requires grad",
    copy_of_no_leaf: ".", iterated_scalar: "iteration over a 0-d tensor",
    length_of_a_scalar: "len\\(\\) of a 0-d tensor",
    index_of_a_float: "only integer tensors of a single element can be converted to an index",
    index_of_a_scalar: "invalid index of a 0-dim tensor",
}  # fmt: skip


@pytest.mark.parametrize(("program", "said"), REFUSED.items(), ids=lambda value: getattr(value, "__name__", None))
def test_what_torch_refuses_is_refused_in_its_words(program, said):
    with pytest.raises(Exception, match=said) as theirs:
        program(torch, *inputs(torch))
    with pytest.raises(theirs.type, match=said) as mine:
        program(gs, *inputs(gs))
    assert mine.type is theirs.type


def test_only_leaves_are_pickled():
    x, y = inputs(gs)
    again = pickle.loads(pickle.dumps(x))
    assert again.tolist() == x.tolist()
    assert again.requires_grad
    with pytest.raises(RuntimeError, match="detach"):
        pickle.dumps(x * y)


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_anomaly_is_told_with_its_op_and_line(create_graph):
    x = gs.tensor([0.0, 1.0], requires_grad=True)
    with gs.autograd.detect_anomaly():
        root = x.sqrt()
        loss = (root * 0.0).sum()
        with pytest.raises(RuntimeError) as caught:
            loss.backward(create_graph=create_graph)
    assert "Function 'SqrtBackward0' returned nan values in its 0th output" in str(caught.value)
    assert f"{__file__}:" in str(caught.value)
    assert not gs.autograd.is_anomaly_enabled()
    (x.sqrt() * 0.0).sum().backward()
    assert np.isnan(x.grad.array).any()


@pytest.mark.parametrize("write", ["v.mul_(2)", "v[0].mul_(2)", "v[1] = 3.0"])
def test_a_hook_on_a_view_is_called_no_more_when_it_was_written(write):
    torch = pytest.importorskip("torch")
    found = []
    for t in (gs, torch):
        x = t.tensor([[1.0, 2.0]], requires_grad=True)
        y = x * 3
        v = y.squeeze()
        v.register_hook(lambda g: g * 10)
        exec(write, {"v": v})
        (y * y).sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]
