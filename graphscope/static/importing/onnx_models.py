"""ONNX models as graphs: the ops that networks are made of, mapped by one table to the engine's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.importing.aten import _of
from graphscope.static.importing.model import Examples, Model, call, example_of
from graphscope.static.sessions.default_graph import Graph
from graphscope.static.sessions.functions import _listed, convert_to_tensor, placeholder
from graphscope.static.sessions.variables import computed


def load(file: Path) -> Any:
    """What onnx reads."""
    import onnx

    return onnx.load(str(file))


def model_of(model: Any, examples: Examples | None = None) -> Model:
    """An `onnx.ModelProto` as a graph.

    Raises:
        StaticError: An op can't be mapped.
    """
    from onnx import helper, numpy_helper

    made = Model(Graph(model.graph.name or "onnx"))
    found: dict[str, Any] = {"": None}
    with made.graph.as_default():
        for each in model.graph.initializer:
            array = numpy_helper.to_array(each).copy()
            found[each.name] = array if array.dtype.kind != "f" else made.parameter(each.name, array)
        for each in model.graph.input:
            if each.name in found:
                continue
            kind = each.type.tensor_type
            shape = [dim.dim_value or None for dim in kind.shape.dim] if kind.HasField("shape") else None
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            shape, dtype = example_of(examples, each.name, shape, dtype)
            symbol = placeholder(dtype, shape, name=each.name)
            made.inputs.append(symbol)
            found[each.name] = symbol
        for node in model.graph.node:
            attributes = {each.name: _attribute(helper.get_attribute_value(each)) for each in node.attribute}
            scope, _, name = (node.name or node.output[0]).strip("/").rpartition("/")
            given = [found[name] for name in node.input]
            where = f"node {node.name!r} of the ONNX graph"
            if any(isinstance(each, Symbol) for each in given):
                with made.placed(name, scope, None):
                    results = _listed(call(where, ONNX, node.op_type, given, attributes))
            else:  # what is made of constants is known now: shapes, and what is made of them
                with Graph("constants").as_default():
                    found_now = _listed(call(where, ONNX, node.op_type, list(map(_operand, given)), attributes))
                    results = [computed(each, None) if isinstance(each, Symbol) else each for each in found_now]
            for output, value in zip(node.output, results, strict=False):
                found[output] = made.named[output] = value
        made.outputs = [_symbol(found[each.name]) for each in model.graph.output]
    return made


def _attribute(value: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value).copy()
    return value.decode() if isinstance(value, bytes) else list(value) if hasattr(value, "append") else value


def _symbol(value: Any) -> Any:
    return value if isinstance(value, Symbol) else convert_to_tensor(np.asarray(value))


def _numbers(value: Any) -> list[int]:
    """Whole numbers that say shapes and axes: they must be known when the graph is read."""
    if isinstance(value, Symbol):
        node = value.output.node
        if node.op != "constant":
            raise StaticError(
                f"{node.where} is computed, and is needed when the model is read", hint="export fixed shapes"
            )
        value = node.attributes["value"]
    return [int(each) for each in np.atleast_1d(value).tolist()]


def _operand(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, np.ndarray | np.generic) else value


def _plain(name: str) -> Callable[..., Any]:
    return lambda *given, **_: _of(name)(*map(_operand, given))


def _div(x: Any, y: Any) -> Any:
    x, y = _operand(x), _operand(y)
    whole = x.dtype is not None and x.dtype.kind in "iu"
    return _of("div")(x, y, rounding_mode="trunc" if whole else None)


def _pads(rank: int, pads: Sequence[int], auto: str, where: str) -> tuple[int, ...]:
    if auto not in ("", "NOTSET", "VALID"):
        raise StaticError(f"{where} with auto_pad={auto} is not mapped", hint="export explicit pads")
    low, high = tuple(pads[:rank]), tuple(pads[rank:])
    if low != high:
        raise StaticError(f"{where} with different pads at both ends is not mapped", hint="pad ahead of it")
    return low or (0,) * rank


def _conv(x: Any, weight: Any, bias: Any = None, *, strides: Any = None, pads: Any = (), dilations: Any = None,
          group: int = 1, auto_pad: str = "", **_: Any) -> Any:  # fmt: skip
    rank = len(weight.shape) - 2
    one = (1,) * rank
    padding = _pads(rank, pads, auto_pad, "Conv")
    return _of(f"conv{rank}d")(x, weight, bias, tuple(strides or one), padding, tuple(dilations or one), group)


def _pool(name: str) -> Callable[..., Any]:
    def pool(x: Any, *, kernel_shape: Any, strides: Any = None, pads: Any = (), auto_pad: str = "", ceil_mode: int = 0,
             count_include_pad: int = 0, **_: Any) -> Any:  # fmt: skip
        rank = len(kernel_shape)
        padding = _pads(rank, pads, auto_pad, name)
        size, stride = tuple(kernel_shape), tuple(strides or (1,) * rank)
        if name == "max_pool":
            return _of(f"max_pool{rank}d")(x, size, stride, padding, ceil_mode=bool(ceil_mode))
        return _of(f"avg_pool{rank}d")(x, size, stride, padding, bool(ceil_mode), bool(count_include_pad))

    return pool


def _gemm(a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float = 1.0, **transposed: int) -> Any:
    first, second = transposed.get("transA", 0), transposed.get("transB", 0)
    if second and not first and alpha == beta == 1.0:
        return _of("linear")(a, b, c)
    product = (a.t() if first else a) @ (b.t() if second else b)
    product = product if alpha == 1.0 else product * alpha
    return product if c is None else product + (c if beta == 1.0 else c * beta)


def _norm(x: Any, scale: Any, bias: Any, mean: Any, var: Any, *, epsilon: float = 1e-5, **_: Any) -> Any:
    return _of("batch_norm")(x, mean, var, scale, bias, False, 0.1, epsilon)


def _layer_norm(x: Any, scale: Any, bias: Any = None, *, axis: int = -1, epsilon: float = 1e-5, **_: Any) -> Any:
    return _of("layer_norm")(x, tuple(x.shape[axis:]), scale, bias, epsilon)


def _flatten(x: Any, *, axis: int = 1) -> Any:
    rest = x.shape[axis:]
    if None not in rest:
        return x.reshape((-1, int(np.prod(rest))))
    return x.flatten(axis)


def _reshape(x: Any, shape: Any, **_: Any) -> Any:
    wanted = _numbers(shape)
    return x.reshape(tuple(x.shape[place] if size == 0 else size for place, size in enumerate(wanted)))


def _reduce(name: str) -> Callable[..., Any]:
    def reduce(x: Any, axes: Any = None, *, keepdims: int = 1, **attributes: Any) -> Any:
        dims = attributes.get("axes") if axes is None else _numbers(axes)
        return _of(name)(x, tuple(dims if dims is not None else range(x.ndim)), bool(keepdims))

    return reduce


def _squeeze(x: Any, axes: Any = None, **attributes: Any) -> Any:
    dims = attributes.get("axes") if axes is None else _numbers(axes)
    dims = [place for place, size in enumerate(x.shape) if size == 1] if dims is None else dims
    index = tuple(0 if place in {dim % x.ndim for dim in dims} else slice(None) for place in range(x.ndim))
    return x[index]


def _unsqueeze(x: Any, axes: Any = None, **attributes: Any) -> Any:
    dims = list(attributes["axes"]) if axes is None else _numbers(axes)
    for dim in sorted(dim % (x.ndim + len(dims)) for dim in dims):
        x = x.unsqueeze(dim)
    return x


def _slice(x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    first, last = _numbers(starts), _numbers(ends)
    dims = _numbers(axes) if axes is not None else list(range(len(first)))
    by = _numbers(steps) if steps is not None else [1] * len(first)
    index = [slice(None)] * x.ndim
    for dim, low, high, step in zip(dims, first, last, by, strict=True):
        index[dim] = slice(low, None if abs(high) >= 1 << 31 else high, step)
    return x[tuple(index)]


def _gather(x: Any, indices: Any, *, axis: int = 0) -> Any:
    index = (*[slice(None)] * (axis % x.ndim), indices if isinstance(indices, Symbol) else np.asarray(indices)[()])
    return _operand(x)[index]


def _shape(x: Any, *, start: int = 0, end: int | None = None) -> Any:
    sizes = x.shape[start:end]
    if None in sizes:
        raise StaticError("the model asks for a size that is not known", hint="export it with fixed shapes")
    return np.array(sizes, np.int64)


def _split(x: Any, sizes: Any = None, *, axis: int = 0, num_outputs: int = 2, **attributes: Any) -> Any:
    parts = attributes.get("split") if sizes is None else _numbers(sizes)
    return list(_of("split")(x, list(parts) if parts else -(-x.shape[axis] // num_outputs), axis))


def _cast(x: Any, *, to: int, **_: Any) -> Any:
    from onnx import helper

    return _of("to")(x, helper.tensor_dtype_to_np_dtype(to))


def _clip(x: Any, low: Any = None, high: Any = None, **attributes: Any) -> Any:
    low, high = attributes.get("min", low), attributes.get("max", high)
    number = [None if each is None else float(_single(each)) for each in (low, high)]
    return _of("clamp")(x, *number)


def _filled(shape: Any, value: Any = None) -> Any:
    return np.full(_numbers(shape), np.float32(0) if value is None else value.reshape(-1)[0])


def _expand(x: Any, shape: Any) -> Any:
    return _of("expand")(_operand(x), *np.broadcast_shapes(tuple(x.shape), tuple(_numbers(shape))))


def _single(value: Any) -> Any:
    if isinstance(value, Symbol):
        held = value.output.node.attributes
        value = held["holder"][0].array if "holder" in held else held["value"]
    return np.asarray(value).reshape(-1)[0]


ONNX: Final[dict[str, Callable[..., Any]]] = {
    **{theirs: _plain(ours) for theirs, ours in (
        ("Add", "add"), ("Sub", "sub"), ("Mul", "mul"), ("Pow", "pow"), ("Neg", "neg"), ("Abs", "abs"),
        ("Sqrt", "sqrt"), ("Exp", "exp"), ("Log", "log"), ("Tanh", "tanh"), ("Floor", "floor"), ("Ceil", "ceil"),
        ("MatMul", "matmul"), ("Equal", "eq"), ("Less", "lt"), ("Where", "where"), ("Greater", "gt"),
        ("Not", "logical_not"), ("And", "logical_and"), ("Sin", "sin"), ("Cos", "cos"), ("Max", "maximum"),
        ("Min", "minimum"),
    )},
    **{theirs: lambda x, ours=ours, **_: _of(ours)(x) for theirs, ours in (
        ("Relu", "relu"), ("Sigmoid", "sigmoid"), ("Erf", "erf"), ("Softplus", "softplus"), ("HardSwish", "hardswish"),
        ("Reciprocal", "reciprocal"), ("Mish", "mish"), ("Sign", "sign"),
    )},
    **{f"Reduce{theirs}": _reduce(ours) for theirs, ours in (
        ("Mean", "mean"), ("Sum", "sum"), ("Max", "amax"), ("Min", "amin"), ("LogSumExp", "logsumexp"),
    )},
    "Div": _div,
    "AveragePool": _pool("avg_pool"),
    "BatchNormalization": _norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": lambda *parts, axis: _of("cat")(list(map(_operand, parts)), axis),
    "Constant": lambda **given: np.array(next(iter(given.values()))),
    "ConstantOfShape": _filled,
    "Conv": _conv,
    "Dropout": lambda x, *_, **__: x,
    "Elu": lambda x, alpha=1.0: _of("elu")(x, alpha),
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Gelu": lambda x, approximate="none": _of("gelu")(x, approximate=approximate),
    "Gemm": _gemm,
    "GlobalAveragePool": lambda x: _of("mean")(x, tuple(range(2, x.ndim)), True),
    "GlobalMaxPool": lambda x: _of("amax")(x, tuple(range(2, x.ndim)), True),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: (x * alpha + beta).clamp(0.0, 1.0),
    "Identity": lambda x: x,
    "LayerNormalization": _layer_norm,
    "LeakyRelu": lambda x, alpha=0.01: _of("leaky_relu")(x, alpha),
    "LogSoftmax": lambda x, axis=-1: _of("log_softmax")(x, axis),
    "MaxPool": _pool("max_pool"),
    "PRelu": lambda x, slope: _of("where")(x > 0, x, x * slope),
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Softmax": lambda x, axis=-1: _of("softmax")(x, axis),
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": lambda x, perm=None: _of("permute")(x, tuple(perm or range(x.ndim)[::-1])),
    "Unsqueeze": _unsqueeze,
}  # fmt: skip
"""What each op of ONNX does, on symbols; shapes and what is made of them are arrays, computed at once."""
