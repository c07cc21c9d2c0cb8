"""Functions with a backward of their own, checkpoints, and functional derivatives: the same programs as in PyTorch."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import graphscope as gs
import graphscope.func
import graphscope.utils.checkpoint
from graphscope import autograd

torch = pytest.importorskip("torch")
importlib.import_module("torch.utils.checkpoint")
pytestmark = pytest.mark.torch


def functions(t):
    """Classes of both libraries, made by the same lines."""
    base = t.autograd.Function

    class Cube(base):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    class Exp(base):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx, g):
            (out,) = ctx.saved_tensors
            return g * out

    class Scaled(base):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.factor = factor
            ctx.save_for_backward(x, y)
            assert ctx.needs_input_grad == (x.requires_grad, False, y.requires_grad)
            return x * y * factor

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return (g * y * ctx.factor if ctx.needs_input_grad[0] else None), None, g * x * ctx.factor

    class Both(base):
        @staticmethod
        def forward(x, y):
            return x * y, x + y, (x > y).long()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.mark_non_differentiable(output[2])

        @staticmethod
        def backward(ctx, g, h, _):
            x, y = ctx.saved_tensors
            return g * y + h, g * x + h

    class Sparse(base):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            assert h is None
            return g * 2

    class Doubled(base):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Straight(base):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, g):
            return g

    class Once(base):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once(t)
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    class Same(base):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return -g

    return {each.__name__: each for each in (Cube, Exp, Scaled, Both, Sparse, Doubled, Straight, Once, Same)}


def once(t):
    from torch.autograd.function import once_differentiable as theirs

    from graphscope.autograd.function import once_differentiable as ours

    return ours if t is gs else theirs


PROGRAMS = {
    "cube": lambda t, f, x, y: f["Cube"].apply(x * y),
    "nested": lambda t, f, x, y: f["Cube"].apply(f["Exp"].apply(x)) * y,
    "an output saved": lambda t, f, x, y: f["Exp"].apply(x * y),
    "an argument that is no tensor": lambda t, f, x, y: f["Scaled"].apply(x, 2.5, y),
    "an input that needs none": lambda t, f, x, y: f["Scaled"].apply(x.detach(), 2.5, y),
    "several outputs": lambda t, f, x, y: (lambda p, s, c: p * s * (c + 1))(*f["Both"].apply(x, y)),
    "one of several outputs": lambda t, f, x, y: f["Both"].apply(x, y)[1] ** 2,
    "nothing for what is unused": lambda t, f, x, y: f["Sparse"].apply(x * y)[0],
    "in place": lambda t, f, x, y: f["Doubled"].apply(x * y) * x,
    "straight through": lambda t, f, x, y: f["Straight"].apply(x * 3) * y,
    "an input returned": lambda t, f, x, y: f["Same"].apply(x) * y,
    "broadcast outside": lambda t, f, x, y: f["Cube"].apply(x).sum() * f["Exp"].apply(y),
}


def inputs(t):
    numbers = np.random.default_rng(5)
    return tuple(t.tensor(numbers.uniform(0.5, 1.5, 4), requires_grad=True) for _ in range(2))


def derivatives(t, out, wanted):
    grad = t.autograd.grad
    first = grad((out * out).sum(), wanted, create_graph=True, allow_unused=True)
    second = grad(sum((g * g).sum() for g in first if g is not None), wanted, allow_unused=True)
    return [g if g is None else g.detach().numpy() for g in (*first, *second)]


def same(found, expected):
    for mine, other in zip(found, expected, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_a_function_gives_what_it_gives_in_torch(program, recorded, tmp_path):
    def outcome(t):
        x, y = inputs(t)
        out = program(t, functions(t), x, y)
        return [out.detach().numpy().copy(), *derivatives(t, out, (x, y))]

    expected = outcome(torch)
    if recorded:
        with gs.record(tmp_path / "a.gscope"):
            same(outcome(gs), expected)
    else:
        same(outcome(gs), expected)


def wrong_count(t, f):
    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g

    x, y = inputs(t)
    Wrong.apply(x, y).sum().backward()


def wrong_shape(t, f):
    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g[:3]

    Wrong.apply(inputs(t)[0]).sum().backward()


def saved_and_written(t, f):
    x = inputs(t)[0] * 1
    out = f["Cube"].apply(x)
    x.add_(1)
    out.sum().backward()


def twice(t, f):
    out = f["Cube"].apply(inputs(t)[0]).sum()
    out.backward()
    out.backward()


def differentiated_twice(t, f):
    x, _ = inputs(t)
    (g,) = t.autograd.grad((f["Once"].apply(x) ** 2).sum(), x, create_graph=True)
    g.sum().backward()


def a_leaf_made_dirty(t, f):
    f["Doubled"].apply(inputs(t)[0])


REFUSED = {
    wrong_count: "returned an incorrect number of gradients",
    wrong_shape: "returned an invalid gradient at index 0 - got \\[3\\] but expected shape compatible with \\[4\\]",
    saved_and_written: "has been modified by an inplace operation",
    twice: "second time",
    differentiated_twice: "differentiate twice",
    a_leaf_made_dirty: "leaf Variable that requires grad",
}


@pytest.mark.parametrize(("program", "said"), REFUSED.items(), ids=lambda value: getattr(value, "__name__", None))
def test_what_a_function_may_not_do(program, said):
    for t in (torch, gs):
        with pytest.raises(RuntimeError, match=said):
            program(t, functions(t))


def test_a_function_is_a_node_of_its_own_and_a_scope(tmp_path):
    x, y = inputs(gs)
    with gs.record(tmp_path / "a.gscope") as log:
        (functions(gs)["Cube"].apply(x) * y).sum().backward()
    graph = gs.Graph(gs.load(log.path))
    (node,) = graph.select("op:Cube forward")
    assert node.label == "Cube"
    assert [edge.source.name for edge in node.inputs] == ["x"]
    assert [edge.target.op for edge in node.users] == ["mul"]
    inside = [each for each in graph.nodes if each.scope == "Cube" and each.kind == "op"]
    assert [each.op for each in inside] == ["pow"]
    rule = [each for each in graph.nodes if each.scope == "CubeBackward" and each.kind == "op"]
    assert [each.op for each in rule] == ["mul", "mul", "mul"]
    assert all(each.forward.op == "Cube" and each.graph_pass == "backward" for each in rule)


def dropped(t, x):
    return t.nn.functional.dropout(x, 0.5)


SEGMENTS = {
    "a chain": lambda t, x, w: (x * w).tanh().exp(),
    "a closure": lambda t, x, w: (x.sin() * w).sum() * x,
    "several outputs": lambda t, x, w: (x * w, (x + w).exp()),
    "in place": lambda t, x, w: (x * w).add_(1).mul_(x).exp(),
    "views": lambda t, x, w: (x * w).reshape(2, 2).t().exp() @ w.reshape(2, 2),
    "nested": lambda t, x, w: t.utils.checkpoint.checkpoint(lambda v: (v * w).exp(), x, use_reentrant=False).tanh(),
}


@pytest.mark.parametrize("segment", SEGMENTS.values(), ids=SEGMENTS)
@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_a_checkpoint_changes_no_gradient(segment, recorded, tmp_path):
    def outcome(t, wrap):
        x, w = inputs(t)
        out = t.utils.checkpoint.checkpoint(segment, t, x, w, use_reentrant=False) if wrap else segment(t, x, w)
        parts = out if isinstance(out, tuple) else (out,)
        loss = sum((part * part).sum() for part in parts)
        first = t.autograd.grad(loss, (x, w), retain_graph=True)
        loss.backward()
        return [g.detach().numpy() for g in (*first, x.grad, w.grad)]

    expected = outcome(torch, True)
    if recorded:
        with gs.record(tmp_path / "a.gscope"):
            same(outcome(gs, True), expected)
    else:
        same(outcome(gs, True), expected)
        same(outcome(gs, False), expected)


def test_a_checkpoint_runs_again_in_the_backward_pass_and_the_log_says_so(tmp_path):
    x, w = inputs(gs)
    calls = []

    def part(value):
        calls.append(value)
        return (value * w).exp()

    with gs.record(tmp_path / "a.gscope") as log:
        out = gs.utils.checkpoint.checkpoint(part, x)
        assert len(calls) == 1
        out.sum().backward()
    assert len(calls) == 2
    graph = gs.Graph(gs.load(log.path))
    again = [node for node in graph.nodes if node.scope == "checkpoint"]
    assert [(node.op, node.graph_pass) for node in again if node.kind == "op"] == [
        ("mul", "backward"),
        ("exp", "backward"),
    ]


def test_a_checkpoint_that_does_something_else_is_told():
    (x, w), state = inputs(gs), [0]

    def part(value):
        state[0] += 1
        return (value * w).exp() if state[0] == 1 else value * w

    out = gs.utils.checkpoint.checkpoint(part, x)
    with pytest.raises(gs.utils.checkpoint.CheckpointError, match="must do the same both times"):
        out.sum().backward()


def test_a_checkpoint_draws_the_same_random_numbers():
    x, _ = inputs(gs)
    gs.manual_seed(3)
    out = gs.utils.checkpoint.checkpoint(lambda v: gs.rand(4) * v * v, x)
    gs.rand(7)
    out.sum().backward()
    np.testing.assert_allclose(x.grad.data, 2 * out.data / x.data, rtol=1e-6)


def two(x, y):
    return (x * x * y).sum(), x * y.exp()


def one(x):
    return (x**3).sum() * x[0]


def many(x):
    return x * x.sum()


FUNCTIONAL = {
    "jacobian": (lambda a, x, y: a.jacobian(many, x)),
    "jacobian of several": (lambda a, x, y: a.jacobian(two, (x, y))),
    "hessian": (lambda a, x, y: a.hessian(one, x)),
    "hessian of several": (lambda a, x, y: a.hessian(lambda x, y: two(x, y)[0], (x, y))),
    "vjp": (lambda a, x, y: a.vjp(many, x, y)),
    "vjp of several": (lambda a, x, y: a.vjp(two, (x, y), (x.sum(), y))),
    "jvp": (lambda a, x, y: a.jvp(many, x, y)),
    "jvp of several": (lambda a, x, y: a.jvp(two, (x, y), (y, x))),
    "vhp": (lambda a, x, y: a.vhp(one, x, y)),
    "hvp": (lambda a, x, y: a.hvp(one, x, y)),
    "hvp of several": (lambda a, x, y: a.hvp(lambda x, y: two(x, y)[0], (x, y), (y, x))),
    "independent": (lambda a, x, y: a.jacobian(lambda x: x.detach() * 2, x)),
    "differentiable": (lambda a, x, y: a.jacobian(lambda v: v * x, x, create_graph=True)),
}


def leaves_of(value):
    return [leaf for part in value for leaf in leaves_of(part)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("program", FUNCTIONAL.values(), ids=FUNCTIONAL)
def test_functional_derivatives_are_those_of_torch(program):
    found = leaves_of(program(autograd.functional, *inputs(gs)))
    expected = leaves_of(program(torch.autograd.functional, *inputs(torch)))
    for mine, other in zip(found, expected, strict=True):
        assert tuple(mine.shape) == tuple(other.shape)
        assert mine.requires_grad == other.requires_grad
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", ["jacobian", "vjp", "jvp"])
def test_strict_refuses_what_depends_on_nothing(name):
    for a in (torch.autograd.functional, autograd.functional):
        x = inputs(torch if a is torch.autograd.functional else gs)[0]
        with pytest.raises(RuntimeError, match="does not require gradients"):
            getattr(a, name)(lambda v: v.detach() * 2, x, **({} if name == "jacobian" else {"v": x}), strict=True)


def weighted(tree, x):
    return (tree["w"] * x).tanh().sum() + tree["b"][0] ** 2


FUNC = {
    "grad": lambda f, x, y: f.grad(one)(x),
    "grad of grad": lambda f, x, y: f.grad(lambda v: f.grad(one)(v).sum())(x),
    "grad by another argument": lambda f, x, y: f.grad(lambda a, b: (a * b * b).sum(), argnums=1)(x, y),
    "grad by both": lambda f, x, y: f.grad(lambda a, b: (a * b * b).sum(), argnums=(0, 1))(x, y),
    "grad of a tree": lambda f, x, y: tuple(
        (found["w"], found["b"][0]) for found in [f.grad(weighted)({"w": y, "b": [x[0]]}, x)]
    ),
    "grad and value": lambda f, x, y: f.grad_and_value(one)(x),
    "grad with more": lambda f, x, y: f.grad(lambda v: (one(v), v * 2), has_aux=True)(x),
    "vjp": lambda f, x, y: (lambda out, pull: (out, pull(y)))(*f.vjp(many, x)),
    "vjp of two": lambda f, x, y: (lambda out, pull: (out, pull((x.sum(), y))))(*f.vjp(two, x, y)),
    "jacrev": lambda f, x, y: f.jacrev(many)(x),
    "jacrev by both": lambda f, x, y: f.jacrev(lambda a, b: a * b.sum(), argnums=(0, 1))(x, y),
    "jacfwd": lambda f, x, y: f.jacfwd(many)(x),
    "hessian": lambda f, x, y: f.hessian(one)(x),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("program", FUNC.values(), ids=FUNC)
def test_functions_of_functions_are_those_of_torch(program, requires_grad):
    def outcome(t):
        x, y = (value.detach().requires_grad_(requires_grad) for value in inputs(t))
        return leaves_of(program(t.func, x, y))

    for mine, other in zip(outcome(gs), outcome(torch), strict=True):
        assert tuple(mine.shape) == tuple(other.shape)
        assert mine.requires_grad == other.requires_grad
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-9)
