"""ATen ops, of which TorchScript and torch.export programs are made, as ops of the engine on symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from graphscope import engine as _engine
from graphscope.engine.core import dtypes
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import functional as _functional
from graphscope.static.graphs.symbols import Symbol, twin
from graphscope.static.sessions.functions import convert_to_tensor

# The engine speaks PyTorch's names and orders of arguments, so most ops are found by their names; the table has those
# whose ATen signature is another than that of Python's function.

DTYPES: Final = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", None, "complex64", "complex128",
    "bool",
)  # fmt: skip
"""ATen's numbers of dtypes."""


def dtype_of(code: Any) -> np.dtype | None:
    """A dtype from ATen's number or from torch's object."""
    if code is None:
        return None
    name = DTYPES[code] if isinstance(code, int) else str(code).removeprefix("torch.")
    return None if name is None else np.dtype(name)


def _of(name: str) -> Callable[..., Any]:
    function = getattr(_engine, name, None)
    if function is None or isinstance(function, type) or not callable(function):
        function = getattr(_functional, name, None) or getattr(Tensor, name, None)
    if function is None and name in OPS:
        function = OPS[name].call
    if function is None:
        raise KeyError(name)
    return twin(function)  # type: ignore[no-any-return]


def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float,
                *_: Any) -> Any:  # fmt: skip
    return _of("batch_norm")(x, mean, var, weight, bias, False, momentum, eps)


def _native_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    return [_batch_norm(x, weight, bias, mean, var, False, momentum, eps), None, None]


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    end = None if end is None or end >= (1 << 62) else end
    return x[(*[slice(None)] * (dim % x.ndim), slice(start, end, step))]


def _index(x: Any, indices: Sequence[Any]) -> Any:
    return x[tuple(slice(None) if index is None else index for index in indices)]


def _to(x: Any, *args: Any, **kwargs: Any) -> Any:
    wanted = kwargs.get("dtype")
    for arg in args:
        if isinstance(arg, Symbol):
            wanted = arg.dtype
        elif wanted is None and arg is not None and not isinstance(arg, bool):
            wanted = arg if str(arg).startswith("torch.") or isinstance(arg, int) else wanted
    dtype = wanted if isinstance(wanted, np.dtype) else dtype_of(wanted)
    return x if dtype is None or dtype == x.dtype else _of("to")(x, dtype)


def _softmax(name: str) -> Callable[..., Any]:
    return lambda x, dim, dtype=None: _of(name)(x if dtype in (None, False) else _to(x, dtype), dim)


def _convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                 output_padding: Any, groups: int, *_: Any) -> Any:  # fmt: skip
    rank = len(weight.shape) - 2
    if transposed:
        return _of(f"conv_transpose{rank}d")(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return _of(f"conv{rank}d")(x, weight, bias, stride, padding, dilation, groups)


def _mean(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return _of("mean")(x) if dim is None or dim == [] else _of("mean")(x, tuple(np.atleast_1d(dim)), keepdim)


def _sum(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return _of("sum")(x) if dim is None or dim == [] else _of("sum")(x, tuple(np.atleast_1d(dim).tolist()), keepdim)


def _full(size: Sequence[int], value: Any, *_: Any, dtype: Any = None, **__: Any) -> Any:
    return convert_to_tensor(np.full(tuple(size), value, dtype_of(dtype) or dtypes.get_default_dtype()))


def _arange(*ends: Any, dtype: Any = None, **_: Any) -> Any:
    return convert_to_tensor(np.arange(*ends, dtype=dtype_of(dtype)))


def _pool(name: str) -> Callable[..., Any]:
    def pool(x: Any, size: Any, stride: Any = None, *more: Any) -> Any:
        return _of(name)(x, size, stride or None, *more)

    return pool


def _attention(q: Any, k: Any, v: Any, mask: Any = None, dropout: float = 0.0, causal: bool = False, *_: Any,
               scale: Any = None, enable_gqa: bool = False) -> Any:  # fmt: skip
    return _of("scaled_dot_product_attention")(q, k, v, mask, 0.0, causal, scale=scale)


def _same(x: Any, *_: Any, **__: Any) -> Any:
    return x


ATEN: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout", "contiguous", "detach", "alias", "lift_fresh_copy",
                     "lift_fresh", "_assert_tensor_metadata", "dropout_", "detach_"), _same),
    "_log_softmax": lambda x, dim, half: _of("log_softmax")(x, dim),
    "_softmax": lambda x, dim, half: _of("softmax")(x, dim),
    "log_softmax": _softmax("log_softmax"),
    "softmax": _softmax("softmax"),
    "_native_batch_norm_legit_no_training": _native_norm,
    "_to_copy": _to,
    "to": _to,
    "type_as": _to,
    "_unsafe_view": lambda x, size: x.reshape(tuple(size)),
    "view": lambda x, size: x.reshape(tuple(size)),
    "reshape": lambda x, size: x.reshape(tuple(size)),
    "expand": lambda x, size, *, implicit=False: _of("expand")(x, *size),
    "permute": lambda x, dims: _of("permute")(x, tuple(dims)),
    "arange": _arange,
    "avg_pool1d": _pool("avg_pool1d"),
    "avg_pool2d": _pool("avg_pool2d"),
    "batch_norm": _batch_norm,
    "clone": lambda x, *_, **__: _of("clone")(x),
    "convolution": _convolution,
    "_convolution": _convolution,
    "div": lambda x, y, *, rounding_mode=None: _of("div")(x, y, rounding_mode=rounding_mode),
    "embedding": lambda weight, indices, *_: twin(_functional.embedding)(indices, weight),
    "full": _full,
    "group_norm": lambda x, groups, w=None, b=None, eps=1e-5, *_: _of("group_norm")(x, groups, w, b, eps),
    "index": _index,
    "layer_norm": lambda x, shape, weight=None, bias=None, eps=1e-5, *_: _of("layer_norm")(
        x, tuple(shape), weight, bias, eps
    ),
    "max_pool1d": _pool("max_pool1d"),
    "max_pool2d": _pool("max_pool2d"),
    "mean": _mean,
    "sum": _sum,
    "ones": lambda size, *_, dtype=None, **__: _full(size, 1, dtype=dtype),
    "zeros": lambda size, *_, dtype=None, **__: _full(size, 0, dtype=dtype),
    "scalar_tensor": lambda value, **given: _full((), value, dtype=given.get("dtype")),
    "scaled_dot_product_attention": _attention,
    "slice": _slice,
    "select": lambda x, dim, index: x[(*[slice(None)] * (dim % x.ndim), index)],
    "stack": lambda tensors, dim=0: _of("stack")(tensors, dim),
    "cat": lambda tensors, dim=0: _of("cat")(tensors, dim),
    "sym_size": lambda x, dim: x.shape[dim],
    "size": lambda x, dim=None: list(x.shape) if dim is None else x.shape[dim],
    "transpose": lambda x, one, other: x.transpose(one, other),
    "unsafe_split": lambda x, size, dim=0: list(_of("split")(x, size, dim)),
    "split": lambda x, size, dim=0: list(_of("split")(x, size, dim)),
    "split_with_sizes": lambda x, sizes, dim=0: list(_of("split")(x, list(sizes), dim)),
    "chunk": lambda x, chunks, dim=0: list(_of("chunk")(x, chunks, dim)),
    "unbind": lambda x, dim=0: list(_of("unbind")(x, dim)),
    "rsub": lambda x, y, alpha=1: y - x * alpha,
    "add": lambda x, y, alpha=1: x + y if alpha == 1 else x + y * alpha,
    "sub": lambda x, y, alpha=1: x - y if alpha == 1 else x - y * alpha,
    "hardtanh": lambda x, low=-1.0, high=1.0: x.clamp(low, high),
    "pow": lambda x, y: x**y,
}  # fmt: skip
"""ATen ops whose signature is another than that of the engine's function of the same name."""


class Table(Mapping[str, Callable[..., Any]]):
    """All ATen ops that can be mapped: those of ATEN, then the engine's own by name; `add_` as `add`."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        plain = name.split("::")[-1].split(".")[0]
        for each in (plain, plain.rstrip("_")):
            if each in ATEN:
                return ATEN[each]
            try:
                return _of(each)
            except KeyError:
                continue
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(ATEN)

    def __len__(self) -> int:
        return len(ATEN)
