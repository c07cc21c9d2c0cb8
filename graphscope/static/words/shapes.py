"""Functions of shapes: other sizes and orders of dims, joined, split, padded and cut."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.functional import pad as _pad
from graphscope.errors import StaticError
from graphscope.static.graphs.dynamic_shapes import length
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import axes, listed, of_dtype, of_kinds, op, tensor, whole
from graphscope.static.words.told_shapes import told

# What shapes are ------------------------------------------------------------------------------------------------------


@offer("shape", type="Shape")
def shape(input: Any, name: Any = None, out_type: Any = np.int32) -> Any:
    """The sizes, as they are when the graph runs."""
    x, wanted = tensor(input), of_dtype(out_type)
    if None not in x.shape:
        return Tensor(np.array(tuple(x.shape), wanted))
    sizes = [length(x, dim) for dim in range(x.ndim)]
    return op(
        "stack", [op("to", tensor(size, None if isinstance(size, Tensor) else wanted), wanted) for size in sizes], 0
    )


@offer("shape_n", type="ShapeN")
def shape_n(input: Any, out_type: Any = np.int32, name: Any = None) -> Any:
    """The shape of each."""
    return [shape(each, None, out_type) for each in input]


@offer("size", type="Size")
def size(input: Any, name: Any = None, out_type: Any = np.int32) -> Any:
    """How many elements there are."""
    return op("prod", shape(input, None, out_type), dtype=of_dtype(out_type))


@offer("rank", type="Rank")
def rank(input: Any, name: Any = None) -> Any:
    """How many dims there are."""
    return Tensor(np.int32(tensor(input).ndim))


@offer("ensure_shape", type="EnsureShape")
def ensure_shape(x: Any, shape: Any, name: Any = None) -> Any:
    """The tensor, if it has this shape."""
    x, wanted = tensor(x), [getattr(each, "value", each) for each in shape]
    if None in x.shape or any(w not in (None, s) for w, s in zip(wanted, x.shape, strict=True)):
        raise StaticError(f"shape {tuple(x.shape)} is not {wanted}", hint="x.set_shape(...) tells what is known of it")
    return op("clone", x)


# Other dims -----------------------------------------------------------------------------------------------------------


@offer("reshape", "manip.reshape", type="Reshape", shape=told("shape"))
def reshape(tensor: Any, shape: Any, name: Any = None) -> Any:
    """The same elements in another shape; one dim may be -1."""
    return op("reshape", of_kinds(tensor, "fiucb"), tuple(listed(shape)))


@offer("transpose", type="Transpose", node="transpose")
def transpose(a: Any, perm: Any = None, name: Any = None, conjugate: bool = False) -> Any:
    """The dims in another order; in reverse when none is given."""
    x = tensor(a)
    return op("permute", x, tuple(listed(perm)) if perm is not None else tuple(range(x.ndim)[::-1]))


@offer("matrix_transpose", "linalg.matrix_transpose", "linalg.transpose", type="Transpose", node="matrix_transpose")
def matrix_transpose(a: Any, name: Any = None, conjugate: bool = False) -> Any:
    """Rows for columns, in the last two dims."""
    return op("transpose", tensor(a), -1, -2)


@offer("expand_dims", type="ExpandDims")
def expand_dims(input: Any, axis: Any = None, name: Any = None, dim: Any = None) -> Any:
    """A new dim of size 1."""
    place = dim if axis is None else axis
    if place is None:
        raise StaticError("expand_dims needs an axis", hint="tf.expand_dims(x, 0)")
    return op("unsqueeze", tensor(input), whole(place))


@offer("squeeze", type="Squeeze")
def squeeze(input: Any, axis: Any = None, name: Any = None, squeeze_dims: Any = None) -> Any:
    """Without the dims of size 1, or without those of `axis`, which have that size."""
    x = tensor(input)
    told_dims = squeeze_dims if axis is None else axis
    if told_dims is None or told_dims == []:
        return op("squeeze", x)
    dims = axes(told_dims, x.ndim)
    for dim in dims:
        if x.shape[dim] not in (1, None):
            raise StaticError(
                f"dim {dim} has size {x.shape[dim]} and can't be squeezed", hint="only a dim of size 1 can"
            )
    return op("squeeze", x, dims)


@offer("broadcast_to", type="BroadcastTo")
def broadcast_to(input: Any, shape: Any, name: Any = None) -> Any:
    """The elements repeated along dims of size 1, up to this shape."""
    return op("clone", op("expand", tensor(input), tuple(listed(shape))))


# Joined and split -----------------------------------------------------------------------------------------------------


def _of_one_dtype(values: Any) -> list[Any]:
    known = next((each.dtype for each in values if isinstance(each, Tensor)), None)
    return [tensor(each, known) for each in values]


@offer("concat", type="ConcatV2", node="concat")
def concat(values: Any, axis: Any, name: Any = "concat") -> Any:
    """Several tensors one behind the other along a dim."""
    if not isinstance(values, list | tuple):
        values = [values]
    if isinstance(axis, list | tuple):
        raise StaticError("the axis of concat is a number", hint="the tensors come first: tf.concat([a, b], 1)")
    return op("cat", _of_one_dtype(values), whole(axis))


@offer("stack", type="Pack", node="stack")
def stack(values: Any, axis: int = 0, name: Any = "stack") -> Any:
    """Several tensors along a new dim."""
    return op("stack", _of_one_dtype(list(values) if isinstance(values, list | tuple) else _rows(tensor(values))), axis)


def _rows(x: Any) -> list[Any]:
    return list(op("unbind", x, 0))


@offer("unstack", type="Unpack", node="unstack")
def unstack(value: Any, num: Any = None, axis: int = 0, name: Any = "unstack") -> Any:
    """The slices along a dim, as a list."""
    x = tensor(value)
    (dim,) = axes(axis, x.ndim)
    if x.shape[dim] is None:
        raise StaticError(
            f"how many parts unstack gives along dim {dim} is not known before it runs",
            hint="give the placeholder that dim; tf.map_fn runs over rows of any number",
        )
    if num is not None and num != x.shape[dim]:
        raise StaticError(f"dim {dim} has size {x.shape[dim]}, not {num}", hint=f"num={x.shape[dim]}")
    return list(op("unbind", x, dim))


@offer("split", type="Split", node="split")
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: Any = "split") -> Any:
    """So many parts of equal size along a dim, or parts of these sizes, one of which may be -1."""
    x = tensor(value)
    parts = whole(num_or_size_splits)
    (dim,) = axes(axis, x.ndim)
    count = x.shape[dim]
    if isinstance(parts, list):
        if -1 in parts and count is not None:
            parts[parts.index(-1)] = count - sum(parts) - 1
        return list(op("split", x, parts, dim))
    if count is None or count % parts:
        what = "rows, of a number that is told when it runs," if count is None else f"{count} rows"
        raise StaticError(
            f"{what} can't be split into {parts} equal parts", hint="give the sizes of the parts: split(x, [2, 3])"
        )
    return list(op("split", x, count // parts, dim))


@offer("tile", "manip.tile", type="Tile")
def tile(input: Any, multiples: Any, name: Any = None) -> Any:
    """The whole repeated so many times along each dim."""
    x, times = tensor(input), listed(multiples)
    if len(times) != x.ndim:
        raise StaticError(f"{x.ndim} dims are tiled {len(times)} numbers of times", hint="give one for each dim")
    return op("repeat", x, tuple(times))


@offer("repeat", type="Reshape", node="Repeat")
def repeat(input: Any, repeats: Any, axis: Any = None, name: Any = None) -> Any:
    """Each element so many times, or each row along a dim."""
    x = tensor(input)
    if axis is None:
        x, axis = op("reshape", x, (-1,)), 0
    (dim,) = axes(axis, x.ndim)
    times = np.broadcast_to(np.array(listed(repeats)), (x.shape[dim],))
    return op("index_select", x, dim, Tensor(np.repeat(np.arange(x.shape[dim]), times)))


@offer("reverse", "reverse_v2", type="ReverseV2", node="ReverseV2")
def reverse(tensor: Any, axis: Any, name: Any = None) -> Any:
    """The elements from the other end, along these dims."""
    x = of_kinds(tensor, "fiucb")
    return op("flip", x, axes(axis, x.ndim))


@offer("roll", "manip.roll", type="Roll")
def roll(input: Any, shift: Any, axis: Any, name: Any = None) -> Any:
    """The elements moved along dims; what leaves at one end comes in at the other."""
    return op("roll", tensor(input), tuple(listed(shift)), tuple(listed(axis)))


@offer("pad", type="Pad")
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: Any = None, constant_values: Any = 0) -> Any:
    """More elements before and behind along each dim: a number, or mirrored ones."""
    x, around, kind = of_kinds(tensor, "fiucb"), whole(paddings), mode.upper()
    if len(around) != x.ndim:
        raise StaticError(f"{x.ndim} dims have {len(around)} paddings", hint="give [before, behind] for each dim")
    if kind == "CONSTANT":
        flat = tuple(each for before, behind in reversed(around) for each in (before, behind))
        return _pad(x, flat, "constant", constant_values)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise StaticError(f"mode={mode!r} is no padding", hint="CONSTANT, REFLECT or SYMMETRIC")
    for dim, (before, behind) in enumerate(around):
        mirrored: Any = kind.lower()
        places = np.pad(np.arange(x.shape[dim]), (before, behind), mode=mirrored)
        x = op("index_select", x, dim, Tensor(places))
    return x


# Parts ----------------------------------------------------------------------------------------------------------------


@offer("getitem", type="StridedSlice", node="strided_slice")
def getitem(x: Any, index: Any) -> Any:
    """Parts of a tensor, as NumPy's basic indices tell them."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, list | np.ndarray):
            raise StaticError(
                f"a tensor has no index {part!r}", hint="tf.gather(x, [0, 1]) takes rows by their numbers"
            )
    if isinstance(index, Tensor) and index.dtype == np.bool_:
        if index.ndim > x.ndim or any(
            None not in (a, b) and a != b for a, b in zip(index.shape, x.shape, strict=False)
        ):
            raise StaticError(
                f"a mask of shape {tuple(index.shape)} does not fit shape {tuple(x.shape)}",
                hint="tf.boolean_mask(x, mask)",
            )
        return x[index]
    return x[index]


@offer("slice", type="Slice")
def slice_(input_: Any, begin: Any, size: Any, name: Any = None) -> Any:
    """So many elements from a place on, along each dim; -1: all that follow."""
    x = tensor(input_)
    for dim, (start, count) in enumerate(zip(listed(begin), listed(size), strict=True)):
        x = x.narrow(dim, start, x.shape[dim] - start if count == -1 else count)
    return op("clone", x)


@offer("strided_slice", type="StridedSlice")
def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    """Elements from one place to another, along the first dims."""
    if begin_mask or end_mask or ellipsis_mask or new_axis_mask or shrink_axis_mask:
        raise StaticError("strided_slice takes no masks here", hint="write the slice: x[1:, ::2]")
    steps = [1] * len(listed(begin)) if strides is None else listed(strides)
    parts = zip(listed(begin), listed(end), steps, strict=True)
    return tensor(input_)[tuple(slice(*part) for part in parts)]


@offer("matrix_band_part", "linalg.band_part", type="MatrixBandPart")
def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: Any = None) -> Any:
    """The matrix with 0 farther from its diagonal than this; -1: all of that side is kept."""
    x, low, high = tensor(input), whole(num_lower), whole(num_upper)
    x = op("tril", x, high) if high >= 0 else x
    return op("triu", x, -low) if low >= 0 else op("clone", x)
