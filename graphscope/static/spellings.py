"""TensorFlow 1's spellings of what the engine has under PyTorch's: `reduce_sum(x, axis=1)` is `sum(x, 1)`.

Every other op of the engine is there by its own name; each takes a `name` for its node.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope import engine as _engine
from graphscope.engine.op import OPS
from graphscope.errors import StaticError
from graphscope.nn import functional as _functional
from graphscope.static import late
from graphscope.static.absent import NeedsValueError
from graphscope.static.defaults import builder
from graphscope.static.effects import dtype_of
from graphscope.static.functions import convert_to_tensor
from graphscope.static.symbols import Symbol, twin


def op(name: str) -> Callable[..., Any]:
    """An op or function of the engine, on tensors of a graph; its node takes a `name`.

    Raises:
        AttributeError: The engine has none of that name.
    """
    function = getattr(_engine, name, None) if not name.startswith("_") else None
    if function is None or not callable(function) or isinstance(function, type):
        function = getattr(_functional, name, None) or (OPS[name].call if name in OPS else None)
    if function is None or (name in OPS and OPS[name].in_place):
        raise AttributeError(f"graphscope.static has no {name!r}")
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
        try:
            found = function(*given, **kwargs)
        except late.WAITS_FOR as error:
            known = engines is not None and late.may_wait(given, kwargs, Symbol)
            if not known or (isinstance(error, StaticError) and not isinstance(error, NeedsValueError)):
                raise
            del graph.nodes[begin:]
            assert engines is not None
            found = late.call(engines, given, kwargs, Symbol)
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


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False, keep_dims: bool = False) -> Any:
        x = convert_to_tensor(input_tensor)
        if name == "mean" and x.dtype is not None and x.dtype.kind != "f":
            x = _t("to")(x, np.dtype("float32"))
        axis = tuple(axis) if isinstance(axis, list) else axis
        if axis is None:
            axis = tuple(range(x.ndim)) if keepdims or keep_dims else None
        if axis is None:
            return _t({"amax": "max", "amin": "min"}.get(name, name))(x)
        if name in ("prod", "all", "any") and isinstance(axis, tuple):
            for place in sorted((place % x.ndim for place in axis), reverse=True):
                x = _t(name)(x, place, keepdims or keep_dims)
            return x
        return _t(name)(x, axis, keepdims or keep_dims)

    reduce.__doc__ = f"`{name}` over the dims `axis` (all when it is None), which stay as 1 with `keepdims`."
    return reduce


def _cast(x: Any, dtype: Any) -> Any:
    """The tensor in another dtype."""
    return _t("to")(convert_to_tensor(x), dtype_of(dtype))


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The product of matrices, or of batches of them."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    return _t("matmul")(a.transpose(-1, -2) if transpose_a else a, b.transpose(-1, -2) if transpose_b else b)


def _clip(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Each element, or the bound that it goes beyond."""
    return _t("clamp")(t, clip_value_min, clip_value_max)


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


def _argmax(input: Any, axis: int | None = None) -> Any:
    """The place of the largest element along a dim."""
    return _t("argmax")(input, axis)


def _reshape(tensor: Any, shape: Sequence[int]) -> Any:
    """The same elements in another shape; one dim may be -1."""
    return _t("reshape")(tensor, tuple(shape))


def _joined(name: str) -> Callable[..., Any]:
    def join(values: Sequence[Any], axis: int = 0) -> Any:
        return _t(name)([convert_to_tensor(each) for each in values], axis)

    join.__doc__ = f"As `{name}`: several tensors as one, along `axis`."
    return join


def _softmax(logits: Any, axis: int = -1) -> Any:
    """exp(logits) over its sum along a dim."""
    return _t("softmax")(logits, axis)


def _log_softmax(logits: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax`."""
    return _t("log_softmax")(logits, axis)


def _l2_loss(t: Any) -> Any:
    """Half the sum of the squares."""
    return _t("div")(_t("sum")(_t("square")(t)), 2)


def _bias_add(value: Any, bias: Any) -> Any:
    """A bias for each column."""
    return _t("add")(value, bias)


def _expand_dims(input: Any, axis: int) -> Any:
    """A new dim of size 1."""
    return _t("unsqueeze")(input, axis)


SPELLINGS: Final[dict[str, Callable[..., Any]]] = {
    **{f"reduce_{name}": _reduction(name) for name in ("sum", "mean", "prod", "all", "any", "logsumexp")},
    "reduce_max": _reduction("amax"),
    "reduce_min": _reduction("amin"),
    "argmax": _argmax,
    "cast": _cast,
    "clip_by_value": _clip,
    "concat": _joined("cat"),
    "stack": _joined("stack"),
    "expand_dims": _expand_dims,
    "log_softmax": _log_softmax,
    "matmul": _matmul,
    "one_hot": _one_hot,
    "reshape": _reshape,
    "softmax": _softmax,
    "transpose": _transpose,
    **{
        theirs: twin(OPS[ours].call)
        for theirs, ours in {
            "subtract": "sub", "multiply": "mul", "divide": "div", "truediv": "div", "negative": "neg", "equal": "eq",
            "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
            "is_nan": "isnan", "is_inf": "isinf", "is_finite": "isfinite", "lgamma": "lgamma", "tile": "repeat",
        }.items()
    },
}  # fmt: skip
"""Functions of TensorFlow 1 that are spelled otherwise in the engine."""

NN: Final[dict[str, Callable[..., Any]]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "softmax_cross_entropy_with_logits": _cross_entropy,
    "softmax_cross_entropy_with_logits_v2": _cross_entropy,
    "sparse_softmax_cross_entropy_with_logits": _sparse_cross_entropy,
    "sigmoid_cross_entropy_with_logits": _sigmoid_cross_entropy,
    "bias_add": _bias_add,
    "l2_loss": _l2_loss,
}
"""What `nn` has beside the engine's own functions."""
