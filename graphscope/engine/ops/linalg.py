"""Products of matrices, vectors and batches of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.shape import reshape

__all__ = ["addmm", "baddbmm", "bmm", "dot", "inner", "matmul", "mm", "mv", "outer", "trace", "vdot"]

_ndarray = np.ndarray


def check_ranks(name: str, ranks: tuple[int, ...], *arrays: Any) -> None:
    """Refuse operands of other numbers of dims, and of different dtypes.

    Raises:
        ValueError: An operand has another number of dims; becomes a RuntimeError that tells all shapes.
    """
    kinds = {1: "a vector", 2: "a matrix", 3: "a batch of matrices (3 dims)"}
    for rank, array in zip(ranks, arrays, strict=True):
        if array.ndim != rank:
            raise ValueError(
                f"{name} takes {' and '.join(kinds[each] for each in ranks)}; matmul takes vectors and batches too"
            )


def check_square(name: str, x: Any) -> None:
    """Refuse what is no square matrix, or batch of such.

    Raises:
        RuntimeError: It is none.
    """
    if len(x.shape) < 2:
        raise RuntimeError(f"{name}: the input has {len(x.shape)} dims; it must have at least 2 to be a matrix")
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(f"{name}: a matrix must be square, but its last dims are {x.shape[-2]} and {x.shape[-1]}")


def constant(array: Any, like: Any) -> Any:
    """An array as rules can use it beside `like`: a tensor beside a tensor."""
    return Tensor(array) if isinstance(like, Tensor) else array


def _mm(x: Any, y: Any) -> Any:
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("mm takes two matrices; matmul takes vectors and batches too")
    return x.dot(y)


def _matmul(x: Any, y: Any) -> Any:
    if y.ndim == 2:
        if x.ndim == 2:
            return x.dot(y)  # far cheaper to call
        if x.ndim > 2 and x.size:
            return x.reshape(-1, x.shape[-1]).dot(y).reshape(*x.shape[:-1], y.shape[1])
    return np.matmul(x, y)


def _rows(x: Any) -> Any:
    """All but the last dim as one."""
    return reshape(x, (-1, x.shape[-1])) if len(x.shape) != 2 else x


def _matmul_left(g: Any, y: Any) -> Any:
    if y.__class__ is _ndarray and y.ndim == 2:
        if g.ndim == 2:
            return g.dot(y.T)
        if g.ndim > 2 and g.size:
            return g.reshape(-1, g.shape[-1]).dot(y.T).reshape(*g.shape[:-1], y.shape[0])
    rank, columns = len(g.shape), len(y.shape)
    if columns == 1:
        return g[..., None] * y if rank else g * y
    return (y @ g[..., None])[..., 0] if rank < columns else g @ y.mT  # a lesser rank: x is a vector


def _matmul_right(g: Any, x: Any, y_ndim: int) -> Any:
    if g.__class__ is _ndarray and x.ndim == 2 == y_ndim:
        return x.T.dot(g)
    if y_ndim == 2 and len(x.shape) > 1 and 0 not in (*g.shape, *x.shape):
        return _rows(x).T @ _rows(g)
    if len(x.shape) == 1:
        return g * x if y_ndim == 1 else x[:, None] * g[..., None, :]
    return (x.mT @ g[..., None])[..., 0] if y_ndim == 1 else x.mT @ g


mm = define(
    "mm", "Product of two matrices.", core_dims=2, multiplies=True,
    forward=_mm, accumulates=True,
    vjp=[lambda g, y: g @ y.T,
         lambda g, x: x.T @ g],
    shape=shapes.matmul,
    samples=[((2, 3), (3, 4)), ((2, 0), (0, 3))],
)  # fmt: skip

matmul = define(
    "matmul", "Product of matrices, vectors, or batches of matrices.", aliases=("__matmul__",),
    core_dims=2, multiplies=True, grad_name="MmBackward0",
    forward=_matmul, accumulates=True,
    vjp=[_matmul_left,
         _matmul_right],
    shape=shapes.matmul,
    samples=[((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((5, 2, 3), (3, 4)),
             ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((2, 1, 2, 3), (4, 3, 2))],
)  # fmt: skip


def _bmm(x: Any, y: Any) -> Any:
    check_ranks("bmm", (3, 3), x, y)
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"there are {x.shape[0]} matrices in the first batch and {y.shape[0]} in the second")
    return np.matmul(x, y)


bmm: Any = define(
    "bmm", "Products of two batches of matrices, pair by pair.", core_dims=3,
    forward=_bmm, accumulates=True,
    vjp=[lambda g, y: g @ y.mT,
         lambda g, x: x.mT @ g],
    shape=shapes.matmul,
    samples=[((2, 2, 3), (2, 3, 4)), ((2, 2, 0), (2, 0, 3))],
)  # fmt: skip


def _mv(x: Any, y: Any) -> Any:
    check_ranks("mv", (2, 1), x, y)
    return x.dot(y)


mv: Any = define(
    "mv", "Product of a matrix and a vector.", core_dims=2,
    forward=_mv, accumulates=True,
    vjp=[lambda g, y: reshape(g, (-1, 1)) * y,
         lambda g, x: x.T @ g],
    shape=shapes.matmul,
    samples=[((2, 3), (3,)), ((2, 0), (0,))],
)  # fmt: skip


def _dot(x: Any, y: Any) -> Any:
    check_ranks("dot", (1, 1), x, y)
    return x.dot(y)


dot = define(
    "dot", "Sum of the products of the elements of two vectors.", core_dims=1,
    forward=_dot, accumulates=True,
    vjp=[lambda g, y: g * y,
         lambda g, x: g * x],
    shape=shapes.scalar,
    samples=[((3,), (3,)), ((0,), (0,))],
)  # fmt: skip

vdot = define(
    "vdot", "Sum of the products of the elements of two vectors, of which the first is conjugated.",
    formula="out = Σ conj(x) · y", core_dims=1,
    forward=lambda x, y: _dot(x.conj(), y), accumulates=True,
    vjp=[lambda g, y: (g * y).conj(),
         lambda g, x: g * x.conj()],
    shape=shapes.scalar,
    samples=[((3,), (3,)), ((0,), (0,)), ("complex", (3,), (3,))],
)  # fmt: skip


def _outer(x: Any, y: Any) -> Any:
    check_ranks("outer", (1, 1), x, y)
    return x[:, None] * y


outer: Any = define(
    "outer", "Product of each element of a vector with each of another.",
    core_dims=1, grad_name="MulBackward0",
    forward=_outer,
    vjp=[lambda g, y: g @ y,
         lambda g, x: x @ g],
    shape=lambda x, y: x + y,
    samples=[((2,), (3,))],
)  # fmt: skip


def _inner_shape(x: Any, y: Any, **_: Any) -> Any:
    return x[:-1] + y[:-1] if x and y else shapes.broadcast(x, y)


@composite(
    "Sum of products over the last dim of two tensors.", formula="out[i, j] = Σ_k x[i, k] · y[j, k]",
    samples=[((2, 3), (4, 3)), ((3,), (3,)), ((2, 3), ()), ((2, 2, 3), (3,))], shape=_inner_shape, tensor_method=True,
)  # fmt: skip
def inner(input: Any, other: Any) -> Any:
    """Sum of products over the last dim of two tensors; with a tensor of no dims, the product.

    Raises:
        RuntimeError: The last dims differ.
    """
    if not len(input.shape) or not len(other.shape):
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner: operands of shape {tuple(input.shape)} and {tuple(other.shape)} do not fit: "
            f"the last dim is {input.shape[-1]} in the first and {other.shape[-1]} in the second"
        )
    out = reshape(input, (-1, input.shape[-1])) @ reshape(other, (-1, other.shape[-1])).T
    return reshape(out, tuple(input.shape[:-1]) + tuple(other.shape[:-1]))


def _to_added(input: Any, first: Any, second: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    return (input, first, second), {"beta": beta, "alpha": alpha}


def _scaled(value: Any, factor: float) -> Any:
    factor = dtypes.wide_element(factor, value.dtype)  # of integers an integer
    return value if factor == 1 else value * factor


def _added(name: str, ranks: tuple[int, int], product: Any) -> Any:
    def forward(x: Any, y: Any, z: Any, *, beta: float, alpha: float) -> Any:
        check_ranks(name, ranks, y, z)
        out = _scaled(product(y, z), alpha)
        if np.broadcast_shapes(x.shape, out.shape) != out.shape:
            raise ValueError(f"the first, of shape {x.shape}, can't be spread over the product, of shape {out.shape}")
        return out if beta == 0 else out + _scaled(x, beta)

    return forward


def _added_product(name: str, doc: str, forward: Any, rules: Any, shape: Any, samples: Any) -> Any:
    return define(
        name, doc,
        prepare=_to_added,
        forward=forward, accumulates=True,
        vjp=[lambda g, *, beta: _scaled(g, beta), *rules],
        shape=lambda x, y, z, **_: shape(y, z),
        samples=samples,
    )  # fmt: skip


addmm = _added_product(
    "addmm", "Product of the matrices y and z, added to x.",
    _added("addmm", (2, 2), np.matmul),
    [lambda g, z, *, alpha: _scaled(g @ z.mT, alpha),
     lambda g, y, *, alpha: _scaled(y.mT @ g, alpha)],
    shapes.matmul,
    [((2, 4), (2, 3), (3, 4)), ((4,), (2, 3), (3, 4), {"beta": 0.5, "alpha": 2.0}), ((), (2, 3), (3, 4))],
)  # fmt: skip

baddbmm = _added_product(
    "baddbmm", "Products of the matrices in y and z, added to those in x.",
    _added("baddbmm", (3, 3), np.matmul),
    [lambda g, z, *, alpha: _scaled(g @ z.mT, alpha),
     lambda g, y, *, alpha: _scaled(y.mT @ g, alpha)],
    shapes.matmul,
    [((2, 2, 4), (2, 2, 3), (2, 3, 4)), ((4,), (2, 2, 3), (2, 3, 4), {"beta": 0.5, "alpha": 2.0})],
)  # fmt: skip


def _trace(x: Any, *, _from: Any) -> Any:
    if x.ndim != 2:
        raise ValueError("trace takes a matrix")
    return np.trace(x, dtype=dtypes.int64 if x.dtype.kind in "biu" else x.dtype)


def _trace_rule(g: Any, *, _from: Any) -> Any:
    return g * constant(np.eye(*_from, dtype=g.dtype), g)


trace = define(
    "trace", "Sum of the diagonal of a matrix.",
    prepare=lambda input: ((input,), {"_from": tuple(input.shape)}),
    forward=_trace, accumulates=True,
    vjp=[_trace_rule],
    shape=shapes.scalar,
    samples=[((3, 3),), ((2, 3),)],
)  # fmt: skip
