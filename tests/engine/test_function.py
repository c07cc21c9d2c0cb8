"""Functions with a backward of their own: the same programs as in PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
import graphscope.autograd

torch = pytest.importorskip("torch")
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
