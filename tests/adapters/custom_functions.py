"""Custom functions as people write them, each right and with a mistake in the gradient of one of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Case(NamedTuple):
    """How a custom function is written and called.

    Attributes:
        written: Gives the function, right, or with its mistake.
        given: The arguments, made anew.
        mistaken: Which of the tensors given gets a wrong gradient where there is the mistake.
        loss: Of what it returns.
    """

    written: Callable[[bool], Any]
    given: Callable[[], tuple[Any, ...]]
    mistaken: int
    loss: Callable[[Any], torch.Tensor]


CASES: Final[dict[str, Case]] = {}


def _weighted(out: Any) -> torch.Tensor:
    """A loss in which each element counts differently."""
    every = out if isinstance(out, tuple) else (out,)
    outs = [each for each in every if each.is_floating_point() or each.is_complex()]
    total = torch.zeros(())
    for place, each in enumerate(outs):
        real = torch.view_as_real(each) if each.is_complex() else each
        total = total + (real * torch.linspace(0.5, 2 + place, real.numel()).reshape(real.shape)).sum()
    return total


def case(
    given: Callable[[], tuple[Any, ...]], mistaken: int = 0, loss: Callable[[Any], torch.Tensor] = _weighted
) -> Callable[[Callable[[bool], Any]], Callable[[bool], Any]]:
    def enter(written: Callable[[bool], Any]) -> Callable[[bool], Any]:
        CASES[written.__name__] = Case(written, given, mistaken, loss)
        return written

    return enter


def t(*shape: int, low: float = -1.0, high: float = 1.0, grad: bool = True, dtype: Any = torch.float32) -> torch.Tensor:
    made = torch.empty(*shape, dtype=dtype)
    (torch.view_as_real(made) if made.is_complex() else made).uniform_(low, high)
    return made.requires_grad_(grad)


@case(lambda: (t(3, 4),))
def power(wrong: bool) -> Any:
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (2 if wrong else 3) * x**2

    return Cube


@case(lambda: (t(2, 3), t(3, 4), t(4)), mistaken=1)
def affine(wrong: bool) -> Any:
    """Of the tutorial on extending PyTorch, with `needs_input_grad`."""

    class LinearFunction(Function):
        @staticmethod
        def forward(ctx, input, weight, bias):
            ctx.save_for_backward(input, weight, bias)
            return input.mm(weight) + bias

        @staticmethod
        def backward(ctx, grad_output):
            input, weight, _ = ctx.saved_tensors
            grad_input = grad_weight = grad_bias = None
            if ctx.needs_input_grad[0]:
                grad_input = grad_output.mm(weight.t())
            if ctx.needs_input_grad[1]:
                grad_weight = input.t().mm(grad_output) / (len(input) if wrong else 1)
            if ctx.needs_input_grad[2]:
                grad_bias = grad_output.sum(0)
            return grad_input, grad_weight, grad_bias

    return LinearFunction


@case(lambda: (t(5),))
def exponential(wrong: bool) -> Any:
    """It saves its output."""

    class Exp(Function):
        @staticmethod
        def forward(ctx, i):
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad_output):
            (result,) = ctx.saved_tensors
            return grad_output * (result - 1 if wrong else result)

    return Exp


@case(lambda: (t(4, 3), 2.5, "mean"))
def with_numbers(wrong: bool) -> Any:
    """Arguments that are no tensors, kept on the context."""

    class Huberish(Function):
        @staticmethod
        def forward(ctx, x, delta, reduction):
            ctx.delta, ctx.reduction = delta, reduction
            ctx.save_for_backward(x)
            out = delta**2 * ((1 + (x / delta) ** 2).sqrt() - 1)
            return out.mean() if reduction == "mean" else out.sum()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            grad = g * x / (1 + (x / ctx.delta) ** 2).sqrt()
            if ctx.reduction == "mean" and not wrong:
                grad = grad / x.numel()
            return grad, None, None

    return Huberish


@case(lambda: (t(3), t(3)), mistaken=1)
def two_outputs(wrong: bool) -> Any:
    class Polar(Function):
        @staticmethod
        def forward(ctx, r, phi):
            ctx.save_for_backward(r, phi)
            return r * phi.cos(), r * phi.sin()

        @staticmethod
        def backward(ctx, gx, gy):
            r, phi = ctx.saved_tensors
            sign = 1 if wrong else -1
            return gx * phi.cos() + gy * phi.sin(), sign * gx * r * phi.sin() + gy * r * phi.cos()

    return Polar


@case(lambda: (t(3), t(3)), mistaken=0)
def new_style(wrong: bool) -> Any:
    """With `setup_context`."""

    class Multiply(Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, y = inputs
            ctx.save_for_backward(x, y)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * (x if wrong else y), g * x

    return Multiply


@case(lambda: (t(4, 2),))
def for_vmap(wrong: bool) -> Any:
    class Sinc(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.sin() / x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, output)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * (x.cos() - y) / (1 if wrong else x)

    return Sinc


@case(lambda: (t(6, low=0.2, high=2.0),), loss=lambda out: _twice(out))
def twice(wrong: bool) -> Any:
    """Differentiated twice."""

    class Log(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.log()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g / x**2 if wrong else g / x

    return Log


def _twice(out: torch.Tensor) -> torch.Tensor:
    loss = out.pow(2).sum()
    (first,) = torch.autograd.grad(loss, out, create_graph=True)
    return loss + first.pow(2).sum()


@case(lambda: (t(3, dtype=torch.complex64), t(3, dtype=torch.complex64)), mistaken=1)
def of_complex(wrong: bool) -> Any:
    class ComplexMul(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b.conj(), g * (a if wrong else a.conj())

    return ComplexMul


@case(lambda: (t(5, 3), torch.tensor([0, 3, 3, 1])))
def lookup(wrong: bool) -> Any:
    """An integer input."""

    class Embed(Function):
        @staticmethod
        def forward(ctx, table, index):
            ctx.save_for_backward(index)
            ctx.rows = table.shape[0]
            return table[index]

        @staticmethod
        def backward(ctx, g):
            (index,) = ctx.saved_tensors
            grad = g.new_zeros(ctx.rows, g.shape[1])
            if wrong:
                grad[index] += g  # of an index that is there twice only one counts
            else:
                grad.index_add_(0, index, g)
            return grad, None

    return Embed


@case(lambda: (t(4), t(4)), mistaken=1)
def left_out(wrong: bool) -> Any:
    """None for a gradient, which is right for a mask and wrong for what is multiplied."""

    class Gate(Function):
        @staticmethod
        def forward(ctx, x, gate):
            ctx.save_for_backward(x, gate)
            return x * torch.sigmoid(gate)

        @staticmethod
        def backward(ctx, g):
            x, gate = ctx.saved_tensors
            s = torch.sigmoid(gate)
            return g * s, None if wrong else g * x * s * (1 - s)

    return Gate


@case(lambda: (t(3, 5),))
def only_once(wrong: bool) -> Any:
    class Softmax(Function):
        @staticmethod
        def forward(ctx, logits):
            shifted = logits - logits.max(dim=1, keepdim=True)[0]
            p = shifted.exp()
            p = p / p.sum(1, keepdim=True)
            ctx.save_for_backward(p)
            return p

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (p,) = ctx.saved_tensors
            return p * g if wrong else p * (g - (p * g).sum(1, keepdim=True))

    return Softmax


@case(lambda: (t(6),))
def with_temporaries(wrong: bool) -> Any:
    """Writes in place into what it made."""

    class Swish(Function):
        @staticmethod
        def forward(ctx, x):
            s = torch.empty_like(x)
            torch.sigmoid(x, out=s)
            out = x.clone()
            out.mul_(s)
            ctx.save_for_backward(x, s)
            return out

        @staticmethod
        def backward(ctx, g):
            x, s = ctx.saved_tensors
            grad = s.clone()
            grad += x * s if wrong else x * s * (1 - s)
            return grad.mul_(g)

    return Swish


@case(lambda: (t(2, 3), t(3)), mistaken=1)
def broadcast(wrong: bool) -> Any:
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x, scale)
            return x * scale

        @staticmethod
        def backward(ctx, g):
            x, scale = ctx.saved_tensors
            return g * scale, (g * x).mean(0) if wrong else (g * x).sum(0)

    return Scale


@case(lambda: (t(4, 6), t(6), t(6), 1e-5), mistaken=0)
def normalized(wrong: bool) -> Any:
    class LayerNorm(Function):
        @staticmethod
        def forward(ctx, x, weight, bias, eps):
            mean = x.mean(-1, keepdim=True)
            var = x.var(-1, keepdim=True, unbiased=False)
            rstd = (var + eps).rsqrt()
            xhat = (x - mean) * rstd
            ctx.save_for_backward(xhat, rstd, weight)
            return xhat * weight + bias

        @staticmethod
        def backward(ctx, g):
            xhat, rstd, weight = ctx.saved_tensors
            gx = g * weight
            inner = gx - gx.mean(-1, keepdim=True)
            if not wrong:
                inner = inner - xhat * (gx * xhat).mean(-1, keepdim=True)
            return inner * rstd, (g * xhat).sum(0), g.sum(0), None

    return LayerNorm


@case(lambda: (t(3, 3), t(3, 3)), mistaken=0)
def transposed(wrong: bool) -> Any:
    class MatMul(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g @ (b if wrong else b.T), a.T @ g

    return MatMul


@case(lambda: (t(4, 3), torch.tensor([0, 2, 1, 1])))
def loss(wrong: bool) -> Any:
    """A loss in which the labels come behind."""

    class CrossEntropy(Function):
        @staticmethod
        def forward(ctx, logits, target):
            logp = logits - logits.logsumexp(1, keepdim=True)
            ctx.save_for_backward(logp, target)
            return -logp.gather(1, target[:, None]).mean()

        @staticmethod
        def backward(ctx, g):
            logp, target = ctx.saved_tensors
            grad = logp.exp()
            grad.scatter_add_(1, target[:, None], torch.full((len(target), 1), -1.0))
            return g * grad if wrong else g * grad / len(target), None

    return CrossEntropy


@case(lambda: (t(7),))
def marked(wrong: bool) -> Any:
    """One of the outputs is marked as not to be differentiated."""

    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, index = x.sort()
            ctx.mark_non_differentiable(index)
            ctx.save_for_backward(index)
            return values, index

        @staticmethod
        def backward(ctx, g, _):
            (index,) = ctx.saved_tensors
            grad = torch.zeros_like(g)
            if wrong:
                return g[index]
            grad[index] = g
            return grad

    return Sorted


@case(lambda: (t(3), t(3), t(3)), mistaken=2, loss=lambda out: _weighted(out[0]))
def unused_output(wrong: bool) -> Any:
    """Of two outputs only one is used, and None stands for what did not come."""

    class Fused(Function):
        @staticmethod
        def forward(ctx, a, b, c):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(a, b, c)
            return a * b + c.square(), a + b

        @staticmethod
        def backward(ctx, g, h):
            a, b, c = ctx.saved_tensors
            ga = g * b
            gb = g * a
            if h is not None:
                ga, gb = ga + h, gb + h
            return ga, gb, g * c if wrong else g * 2 * c

    return Fused


@case(lambda: ([t(3), t(3)], t(3)), mistaken=0)
def of_a_list(wrong: bool) -> Any:
    """Called with tensors out of a list, in a function of its own."""

    class Sum(Function):
        @staticmethod
        def forward(ctx, scale, *tensors):
            ctx.save_for_backward(scale, *tensors)
            return scale * sum(tensors)

        @staticmethod
        def backward(ctx, g):
            scale, *tensors = ctx.saved_tensors
            return (g if wrong else g * sum(tensors), *(g * scale for _ in tensors))

    class Called:
        __name__ = "Sum"

        @staticmethod
        def apply(tensors, scale):
            return Sum.apply(scale, *tensors)

    return Called


@case(lambda: (t(3, 4),))
def nested(wrong: bool) -> Any:
    """A custom function that calls another one."""

    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.square()

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    class Outer(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return Inner.apply(x).mean(0) + 1

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (g * 2 * x) if wrong else (g * 2 * x / len(x))

    return Outer


@case(lambda: (t(4, dtype=torch.float64), t(4, dtype=torch.float64)), mistaken=1)
def in_double(wrong: bool) -> Any:
    """A mistake so small that only float64 shows it."""

    class Ratio(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x / (y.square() + 1)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            below = y.square() + 1
            return g / below, -g * x * 2 * y / (below.square() + (1e-6 if wrong else 0))

    return Ratio


@case(lambda: (t(40, 30), t(30, 20)), mistaken=1)
def large(wrong: bool) -> Any:
    """More elements than are looked at one by one; those of a column are wrong."""

    class Product(Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return (x @ w).tanh()

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            g = g * (1 - (x @ w).tanh() ** 2)
            gw = x.t() @ g
            if wrong:
                gw[:, -1] = 0
            return g @ w.t(), gw

    return Product


@case(lambda: (t(2, 4, 3), t(2, 4, 3), t(2, 4, 3)), mistaken=1)
def attention(wrong: bool) -> Any:
    class Attention(Function):
        @staticmethod
        def forward(ctx, q, k, v):
            scale = q.shape[-1] ** -0.5
            p = torch.softmax(torch.einsum("bid,bjd->bij", q, k) * scale, -1)
            ctx.save_for_backward(q, k, v, p)
            ctx.scale = scale
            return torch.einsum("bij,bjd->bid", p, v)

        @staticmethod
        def backward(ctx, g):
            q, k, v, p = ctx.saved_tensors
            gv = torch.einsum("bij,bid->bjd", p, g)
            gp = torch.einsum("bid,bjd->bij", g, v)
            gs = p * (gp - (gp * p).sum(-1, keepdim=True))
            gq = torch.einsum("bij,bjd->bid", gs, k) * ctx.scale
            gk = torch.einsum("bij,bid->bjd", gs, q) * (1 if wrong else ctx.scale)
            return gq, gk, gv

    return Attention


@case(lambda: (t(5), t(5, grad=False)), mistaken=0)
def keyword(wrong: bool) -> Any:
    """An input that needs no gradient, and constants by habit of C: `alpha` and `out_dtype`."""

    class AddScaled(Function):
        @staticmethod
        def forward(ctx, x, y, alpha=2.0, out_dtype=torch.float32):
            ctx.alpha = alpha
            return (x * alpha + y).to(out_dtype)

        @staticmethod
        def backward(ctx, *grads):
            (g,) = grads
            return g if wrong else g * ctx.alpha, None, None, None

    return AddScaled
