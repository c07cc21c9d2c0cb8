"""Tensors out of numbers: constants, ranges, identities, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import array_of, axes, listed, of_dtype, of_kinds, op, tensor, whole
from graphscope.static.words.told_shapes import told


def _full(shape: Any, number: Any) -> Any:
    """A number everywhere."""
    sizes = tuple(listed(shape))
    return op("expand", number, sizes) if isinstance(number, Tensor) else Tensor(np.full(sizes, number)[()])


@offer("zeros", type="Const", node="zeros", shape=told("shape"))
def zeros(shape: Any, dtype: Any = np.float32, name: Any = None) -> Any:
    """Zeros."""
    return _full(shape, np.zeros((), of_dtype(dtype)))


@offer("ones", type="Const", node="ones", shape=told("shape"))
def ones(shape: Any, dtype: Any = np.float32, name: Any = None) -> Any:
    """Ones."""
    return _full(shape, np.ones((), of_dtype(dtype)))


@offer("fill", type="Fill", shape=told("dims"))
def fill(dims: Any, value: Any, name: Any = None) -> Any:
    """A number everywhere."""
    return _full(dims, value if isinstance(value, Tensor) else array_of(value))


def _like(x: Any, dtype: Any, number: int) -> Any:
    wanted = x.dtype if dtype is None else of_dtype(dtype)
    if None not in x.shape:
        return Tensor(np.full(tuple(x.shape), number, wanted)[()])
    same = op("to", x, np.dtype(np.int32))
    return op("to", op("add", op("mul", same, 0), number), wanted)


@offer("zeros_like", type="ZerosLike", node="zeros_like")
def zeros_like(tensor: Any, dtype: Any = None, name: Any = None, optimize: bool = True) -> Any:
    """Zeros of the shape of another tensor."""
    return _like(of_kinds(tensor, "fiucb"), dtype, 0)


@offer("ones_like", type="OnesLike", node="ones_like")
def ones_like(tensor: Any, dtype: Any = None, name: Any = None, optimize: bool = True) -> Any:
    """Ones of the shape of another tensor."""
    return _like(of_kinds(tensor, "fiucb"), dtype, 1)


@offer("range", type="Range", node="range")
def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: Any = None) -> Any:
    """Numbers from `start` up to, and without, `limit`; from 0 where one alone is given."""
    first, last = (0, start) if limit is None else (start, limit)
    arrays = [np.asarray(each.item(), each.dtype) if isinstance(each, Tensor) else array_of(each)
              for each in (first, last, delta)]  # fmt: skip
    order = [np.dtype(each) for each in ("int32", "int64", "float32", "float64")]
    wanted = of_dtype(dtype) if dtype is not None else max((each.dtype for each in arrays), key=order.index)
    return Tensor(np.arange(*[each.item() for each in arrays]).astype(wanted))


@offer("linspace", "lin_space", type="LinSpace")
def linspace(start: Any, stop: Any, num: Any, name: Any = None) -> Any:
    """So many numbers, evenly from one to the other."""
    one = of_kinds(start, "f")
    return Tensor(np.linspace(one.item(), of_kinds(stop, "f").item(), whole(num), dtype=one.dtype))


@offer("eye", "linalg.eye", type="MatrixDiag", node="eye")
def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = np.float32, name: Any = None
) -> Any:
    """Ones on the diagonal."""
    one = np.eye(whole(num_rows), None if num_columns is None else whole(num_columns), dtype=of_dtype(dtype))
    return Tensor(np.broadcast_to(one, (*listed(batch_shape or []), *one.shape)).copy())


@offer("one_hot", type="OneHot", node="one_hot")
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
    name: Any = None,
) -> Any:  # fmt: skip
    """`on_value` at the place of each index in a new dim, and `off_value` elsewhere."""
    x = of_kinds(indices, "iu")
    given = [value for value in (on_value, off_value) if value is not None]
    wanted = of_dtype(dtype) if dtype is not None else array_of(given[0]).dtype if given else np.dtype(np.float32)
    on, off = (
        array_of(default if value is None else value, wanted).item()
        for value, default in ((on_value, np.ones((), wanted)), (off_value, np.zeros((), wanted)))
    )
    dim = x.ndim if axis is None or axis == -1 else axis
    shape = [1] * (x.ndim + 1)
    shape[dim] = -1
    classes = Tensor(np.arange(whole(depth), dtype=x.dtype).reshape(shape))
    here = op("to", op("eq", op("unsqueeze", x, dim), classes), np.dtype(wanted))
    if (on, off) == (1, 0) or wanted.kind == "b":
        return here
    return op("to", op("add", op("mul", here, on - off), off), wanted)


@offer("sequence_mask", type="Less", node="SequenceMask")
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = np.bool_, name: Any = None) -> Any:
    """True in the first so many places of a new dim."""
    x = of_kinds(lengths, "iu")
    most = max(np.ravel(whole(x)).tolist(), default=0) if maxlen is None else whole(maxlen)
    return op("to", op("gt", op("unsqueeze", x, -1), Tensor(np.arange(most, dtype=x.dtype))), of_dtype(dtype))


@offer("meshgrid", type="Mul", node="meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> Any:
    """For each vector its elements along a dim of their own, or (`indexing="xy"`) with the first two exchanged."""
    order = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs or order not in ("xy", "ij"):
        raise StaticError(f"meshgrid takes no {kwargs or order!r}", hint="indexing='xy' or 'ij'")
    vectors = [tensor(each) for each in args]
    places = list(range(len(vectors)))
    if order == "xy" and len(vectors) > 1:
        places[:2] = [1, 0]
    sizes = [1] * len(vectors)
    for place, vector in zip(places, vectors, strict=True):
        sizes[place] = vector.shape[0]
    found = []
    for place, vector in zip(places, vectors, strict=True):
        shape = [1] * len(vectors)
        shape[place] = -1
        found.append(op("clone", op("expand", op("reshape", vector, tuple(shape)), tuple(sizes))))
    return found


@offer("diag", "linalg.tensor_diag", type="Diag")
@offer("matrix_diag", "linalg.diag", type="MatrixDiagV3", node="MatrixDiag", arguments="diagonal, name=None")
def diag(diagonal: Any, name: Any = None) -> Any:
    """A matrix with these numbers on its diagonal, and 0 elsewhere."""
    x = tensor(diagonal)
    if x.ndim != 1:
        raise StaticError(f"diag takes a vector here, and was given {x.ndim} dims", hint="one vector at a time")
    return op("mul", op("unsqueeze", x, -1), Tensor(np.eye(x.shape[0], dtype=x.dtype)))


@offer("saturate_cast", type="Cast", node="saturate_cast")
def saturate_cast(value: Any, dtype: Any, name: Any = None) -> Any:
    """The elements as another dtype, and its nearest end where they are beyond it."""
    x, wanted = tensor(value), of_dtype(dtype)
    if wanted.kind in "iu":
        bounds = np.iinfo(wanted)
        x = op("clamp", x, bounds.min, bounds.max)
    return op("to", x, wanted)


@offer("invert_permutation", "math.invert_permutation", type="InvertPermutation")
def invert_permutation(x: Any, name: Any = None) -> Any:
    """For each number its place."""
    x = of_kinds(x, "i")
    return op("to", op("argsort", x, axes(0, 1)[0]), x.dtype)
