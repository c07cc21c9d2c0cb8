"""TensorFlow 1's names for what the engine has under PyTorch's: `reduce_sum(x, axis=1)` is `sum(x, 1)`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope import engine as _engine
from graphscope.engine.core.op import OPS
from graphscope.engine.nn import functional as _functional
from graphscope.errors import StaticError
from graphscope.static.graphs import dynamic_shapes
from graphscope.static.graphs.dynamic_shapes import length
from graphscope.static.graphs.effects import dtype_of
from graphscope.static.graphs.symbols import Symbol, twin
from graphscope.static.sessions.default_graph import builder
from graphscope.static.sessions.functions import convert_to_tensor
from graphscope.static.sessions.tensorflow_missing import absent

# Every other op of the engine is there by its own name; each takes a `name` for its node.


def op(name: str) -> Callable[..., Any]:
    """An op or function of the engine, on tensors of a graph; its node takes a `name`.

    Raises:
        AttributeError: The engine has none of that name; what to do, where it is one of TensorFlow's.
    """
    function = getattr(_engine, name, None) if not name.startswith("_") else None
    if function is None or not callable(function) or isinstance(function, type):
        function = getattr(_functional, name, None) or (OPS[name].call if name in OPS else None)
    if function is None or (name in OPS and OPS[name].in_place):
        raise absent(name)
    return named(twin(function), name, function)


def named(function: Callable[..., Any], spelling: str, engines: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The function with another keyword, `name`: that of the node that gives its result.

    Args:
        function: Takes tensors of a graph.
        spelling: What people call it by.
        engines: The same for tensors with values, where there is one: for sizes that are known only when it runs.
    """

    def call(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        graph = builder().graph
        begin = len(graph.nodes)
        given = [_taken(value) for value in args]
        if engines is None:
            found = function(*given, **kwargs)
        else:
            found = dynamic_shapes.or_deferred(function, engines, given, kwargs, Symbol)
        if name is not None and isinstance(found, Symbol) and len(graph.nodes) > begin:
            scope = builder().scope
            node, wanted = found.value.node, f"{scope}/{name}" if scope else name
            if node.name != wanted:
                node.name = graph.unique(wanted)
                node.origins = (node.name,)
        return found

    functools.update_wrapper(call, function, updated=())
    call.__name__ = call.__qualname__ = spelling
    return call


def _taken(value: Any) -> Any:
    """NumPy arrays and lists of numbers as constants of the graph."""
    return convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def _t(name: str) -> Callable[..., Any]:
    return twin(getattr(_engine, name, None) or getattr(_functional, name, None) or OPS[name].call)  # type: ignore[no-any-return]


def _documented(doc: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors, or of what becomes one, with a docstring."""
    function.__doc__ = doc
    return function


def _converted(values: Sequence[Any]) -> list[Symbol]:
    return [convert_to_tensor(each) for each in values]


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


# Functions whose arguments are others ---------------------------------------------------------------------------------


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False, keep_dims: bool = False) -> Any:
        x, keep = convert_to_tensor(input_tensor), keepdims or keep_dims
        if name == "mean" and x.dtype is not None and x.dtype.kind != "f":
            x = _cast(x, "float32")
        axis = tuple(range(x.ndim)) if axis is None and keep else _axes(axis)
        if axis is None:
            return _t({"amax": "max", "amin": "min"}.get(name, name))(x)
        if name in ("prod", "all", "any") and isinstance(axis, tuple):
            for place in sorted((place % x.ndim for place in axis), reverse=True):
                x = _t(name)(x, place, keep)
            return x
        return _t(name)(x, axis, keep)

    return _documented(f"`{name}` over the dims `axis` (all when it is None), which stay as 1 with `keepdims`.", reduce)


def _along(name: str, default: int | None = None) -> Callable[..., Any]:
    def call(input: Any, axis: Any = default) -> Any:
        x = convert_to_tensor(input)
        return _t(name)(x) if axis is None else _t(name)(x, _axes(axis))

    return _documented(f"`{name}` along `axis`{'' if default is not None else '; of all elements without one'}.", call)


def _joined(name: str) -> Callable[..., Any]:
    return _documented(
        f"As `{name}`: several tensors as one, along `axis`.",
        lambda values, axis=0: _t(name)(_converted(values), axis),
    )


def _cast(x: Any, dtype: Any) -> Any:
    """The tensor in another dtype."""
    return _t("to")(convert_to_tensor(x), dtype_of(dtype))


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The product of matrices, or of batches of them."""
    a, b = _converted([a, b])
    return _t("matmul")(a.transpose(-1, -2) if transpose_a else a, b.transpose(-1, -2) if transpose_b else b)


def _transpose(a: Any, perm: Sequence[int] | None = None) -> Any:
    """The dims in another order; in reverse when none is given."""
    return _t("permute")(a, tuple(perm) if perm is not None else tuple(range(a.ndim))[::-1])


def _one_hot(indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = None) -> Any:
    """A row for each index, with `on_value` at its place."""
    numbers = convert_to_tensor(np.arange(depth))
    here = _t("eq")(_t("unsqueeze")(_cast(indices, "int64"), -1), numbers)
    return _t("add")(_t("mul")(_cast(here, dtype or "float32"), on_value - off_value), off_value)


def _cross_entropy(labels: Any = None, logits: Any = None, dim: int = -1) -> Any:
    """-Σ labels · log softmax(logits), for each row: safe where a probability is 0."""
    return _t("neg")(_t("sum")(_t("mul")(labels, _t("log_softmax")(logits, dim)), dim))


def _sparse_cross_entropy(labels: Any = None, logits: Any = None) -> Any:
    """As `softmax_cross_entropy_with_logits`, of labels that are the numbers of classes."""
    return _t("cross_entropy")(logits, _cast(labels, "int64"), reduction="none")


def _sigmoid_cross_entropy(labels: Any = None, logits: Any = None) -> Any:
    """The cross entropy of independent yes-or-no answers."""
    return _t("binary_cross_entropy_with_logits")(logits, labels, reduction="none")


def _shape(input: Any, out_type: Any = np.int32) -> Any:
    """The shape as a tensor of one dim, with dims as they are when the graph runs."""
    x = convert_to_tensor(input)
    sizes = [length(x, dim) for dim in range(x.ndim)]
    if not any(isinstance(size, Symbol) for size in sizes):
        return convert_to_tensor(np.array(sizes, dtype_of(out_type)))
    return _t("stack")([_cast(size, out_type) for size in sizes])


def _size(input: Any, out_type: Any = np.int32) -> Any:
    """How many elements there are."""
    return _t("prod")(_shape(input, out_type), dtype=dtype_of(out_type))


def _rank(input: Any) -> Any:
    """How many dims there are."""
    return convert_to_tensor(np.int32(convert_to_tensor(input).ndim))


def _add_n(inputs: Sequence[Any]) -> Any:
    """The sum of several tensors of one shape."""
    return functools.reduce(_t("add"), _converted(inputs))


def _unstack(value: Any, num: int | None = None, axis: int = 0) -> Any:
    """The slices along a dim, as a list."""
    return list(_t("unbind")(convert_to_tensor(value), axis))


def _gather(params: Any, indices: Any, validate_indices: Any = None, axis: int = 0) -> Any:
    """The slices along `axis` at these indices, in their shape."""
    x, index = convert_to_tensor(params), _cast(indices, "int64")
    if index.ndim == 0:
        return _t("squeeze")(_t("index_select")(x, axis, _t("unsqueeze")(index, 0)), axis)
    found = _t("index_select")(x, axis, index if index.ndim == 1 else _t("reshape")(index, (-1,)))
    if index.ndim == 1:
        return found
    axis %= x.ndim
    return _t("reshape")(found, (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _split(value: Any, num_or_size_splits: Any, axis: int = 0) -> Any:
    """So many parts of equal size along `axis`, or parts of these sizes."""
    x, parts = convert_to_tensor(value), num_or_size_splits
    if isinstance(parts, int):
        if x.shape[axis] is None or x.shape[axis] % parts:
            what = "rows, of a number that is told when it runs," if x.shape[axis] is None else f"{x.shape[axis]} rows"
            raise StaticError(
                f"{what} can't be split into {parts} equal parts", hint="give the sizes of the parts: split(x, [2, 3])"
            )
        return list(_t("split")(x, x.shape[axis] // parts, axis))
    return list(_t("split")(x, list(parts), axis))


def _squared_difference(x: Any, y: Any) -> Any:
    """(x - y)², elementwise."""
    return _t("square")(_t("sub")(x, y))


def _moments(x: Any, axes: Any, keep_dims: bool = False, keepdims: bool = False) -> Any:
    """Mean and variance over these dims."""
    mean, keep = _reduction("mean"), keepdims or keep_dims
    variance = mean(_squared_difference(x, mean(x, axes, True)), axes, keep)
    return mean(x, axes, keep), variance


def _renamed(ours: str, doc: str, **parameters: Any) -> Callable[..., Any]:
    """A function of the engine by TensorFlow's names for its arguments, in order, with their defaults."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind, default=d) for name, d in parameters.items()])

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _t(ours)(*bound.args)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return _documented(doc, call)


_NO: Final = inspect.Parameter.empty
"""The default of an argument that has none."""

_SOFTMAX: Final[dict[str, Callable[..., Any]]] = {
    "softmax": _renamed("softmax", "exp(logits) over its sum along a dim.", logits=_NO, axis=-1),
    "log_softmax": _renamed("log_softmax", "The logarithm of `softmax`.", logits=_NO, axis=-1),
}

SPELLINGS: Final[dict[str, Callable[..., Any]]] = {
    **{f"reduce_{name}": _reduction(name) for name in ("sum", "mean", "prod", "all", "any", "logsumexp")},
    **_SOFTMAX,
    "reduce_max": _reduction("amax"),
    "reduce_min": _reduction("amin"),
    "argmax": _along("argmax"),
    "argmin": _along("argmin"),
    "cumsum": _along("cumsum", 0),
    "cumprod": _along("cumprod", 0),
    "reverse": _along("flip"),
    "squeeze": _along("squeeze"),
    "concat": _joined("cat"),
    "stack": _joined("stack"),
    "add_n": _add_n,
    "cast": _cast,
    "clip_by_value": _renamed(
        "clamp", "Each element, or the bound that it goes beyond.", t=_NO, clip_value_min=_NO, clip_value_max=_NO
    ),
    "expand_dims": _renamed("unsqueeze", "A new dim of size 1.", input=_NO, axis=_NO),
    "gather": _gather,
    "matmul": _matmul,
    "one_hot": _one_hot,
    "rank": _rank,
    "reshape": _renamed("reshape", "The same elements in another shape; one dim may be -1.", tensor=_NO, shape=_NO),
    "shape": _shape,
    "size": _size,
    "split": _split,
    "squared_difference": _squared_difference,
    "to_float": _documented("The tensor as float32.", lambda x: _cast(x, "float32")),
    "to_int32": _documented("The tensor as int32.", lambda x: _cast(x, "int32")),
    "transpose": _transpose,
    "unstack": _unstack,
    **{
        theirs: twin(OPS[ours].call)
        for theirs, ours in {
            "subtract": "sub", "multiply": "mul", "divide": "div", "truediv": "div", "negative": "neg", "equal": "eq",
            "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
            "floordiv": "div_floor",
            "floormod": "remainder", "mod": "remainder", "is_nan": "isnan", "is_inf": "isinf",
            "is_finite": "isfinite", "lgamma": "lgamma", "tile": "repeat",
        }.items()
    },
}  # fmt: skip
"""Functions of TensorFlow 1 that are spelled otherwise in the engine."""

NN: Final[dict[str, Callable[..., Any]]] = {
    **_SOFTMAX,
    "softmax_cross_entropy_with_logits": _cross_entropy,
    "softmax_cross_entropy_with_logits_v2": _cross_entropy,
    "sparse_softmax_cross_entropy_with_logits": _sparse_cross_entropy,
    "sigmoid_cross_entropy_with_logits": _sigmoid_cross_entropy,
    "bias_add": _renamed("add", "A bias for each column.", value=_NO, bias=_NO),
    "l2_loss": _documented("Half the sum of the squares.", lambda t: _t("div")(_t("sum")(_t("square")(t)), 2)),
    "embedding_lookup": _gather,
    "moments": _moments,
}
"""What `nn` has beside the engine's own functions."""
