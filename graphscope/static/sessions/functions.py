"""What programs of sessions build graphs with, with TensorFlow 1's signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.graphs import effects
from graphscope.static.graphs.differentiation import gradients as differentiate
from graphscope.static.graphs.effects import dtype_of
from graphscope.static.graphs.graph import Node, Value
from graphscope.static.graphs.graph_builder import Builder
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.sessions.default_graph import builder
from graphscope.static.words.tensors import Operation

__all__ = [
    "Assert", "Print", "constant", "control_dependencies", "convert_to_tensor", "gradients", "group", "identity",
    "name_scope", "no_op", "ones", "placeholder", "placeholder_with_default", "py_func", "random_normal",
    "random_uniform", "stop_gradient", "truncated_normal", "zeros",
]  # fmt: skip


def placeholder(dtype: Any, shape: Sequence[int | None] | None = None, name: str | None = None) -> Symbol:
    """A tensor that each run is fed.

    Args:
        dtype: Of its elements.
        shape: A dim that may differ from run to run is None; a shape of None takes any.
        name: Its name in the graph.
    """
    here = builder()
    shape = None if shape is None else tuple(shape)
    node = here.append("input", (), {"shape": shape, "dtype": dtype_of(dtype)}, name=name or "placeholder")
    here.graph.inputs.append(node.outputs[0])
    return Symbol.of(node.outputs[0], here)


def placeholder_with_default(input: Any, shape: Sequence[int | None] | None, name: str | None = None) -> Symbol:
    """A tensor that a run may be fed, and is `input` otherwise."""
    return identity(input, name=name or "placeholder_with_default")


def constant(value: Any, dtype: Any = None, shape: Sequence[int] | None = None, name: str | None = None) -> Symbol:
    """A tensor that never changes; Python's floats become float32 and its integers int32, as in TensorFlow."""
    here = builder()
    array = _array(value, dtype)
    if shape is not None:
        array = np.broadcast_to(array, tuple(shape)).copy()
    return Symbol.of(here.append("constant", (), {"value": array[()]}, name=name or "constant").outputs[0], here)


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Symbol:
    """A tensor as it is; anything else as a constant."""
    return value if isinstance(value, Symbol) else constant(value, dtype, name=name)


def zeros(shape: Sequence[int], dtype: Any = dtypes.float32, name: str | None = None) -> Symbol:
    """A constant of zeros."""
    return constant(np.zeros(tuple(shape)), dtype, name=name or "zeros")


def ones(shape: Sequence[int], dtype: Any = dtypes.float32, name: str | None = None) -> Symbol:
    """A constant of ones."""
    return constant(np.ones(tuple(shape)), dtype, name=name or "ones")


# Gradients and order --------------------------------------------------------------------------------------------------


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients") -> list[Symbol | None]:
    """Nodes that compute the gradients of the sum of `ys` with respect to each of `xs`; None where there is none.

    Args:
        ys: A tensor, or several.
        xs: A tensor or variable, or several.
        grad_ys: The cotangents to begin with; ones where None.
        name: Accepted; gradient nodes are called `gradients/NODE/OP`.

    Raises:
        StaticError: No gradient goes through a node on the way.
    """
    here = builder()
    first, wanted = _values(here, ys), _values(here, xs)
    given = None if grad_ys is None else [None if g is None else _values(here, g)[0] for g in _listed(grad_ys)]
    if given is not None and len(given) != len(first):
        raise StaticError(f"there are {len(given)} grad_ys for {len(first)} ys", hint="give one, or None, for each")
    found = differentiate(here, first, wanted, given)
    return [None if value is None else Symbol.of(value, here) for value in found]


def stop_gradient(input: Any, name: str | None = None) -> Symbol:
    """The tensor itself, through which no gradient goes."""
    return _added("stop_gradient", (input,), {}, name)


def identity(input: Any, name: str | None = None) -> Symbol:
    """The tensor itself, under another name."""
    return _added("identity", (input,), {}, name)


@contextmanager
def control_dependencies(control_inputs: Iterable[Any] | None) -> Iterator[None]:
    """What is made inside runs behind these tensors and nodes; None begins anew, without those around."""
    here = builder()
    nodes = [_node(thing) for thing in control_inputs or ()]
    with _after(here, () if control_inputs is None else tuple(dict.fromkeys((*here.after, *nodes)))):
        yield


def group(*inputs: Any, name: str | None = None) -> Symbol:
    """A node that gives nothing: to run it runs these."""
    here = builder()
    nodes = tuple(_node(thing) for thing in inputs)
    with _after(here, (*here.after, *nodes)):
        return _added("group", (), {}, name)


def no_op(name: str | None = None) -> Symbol:
    """A node that gives nothing and does nothing."""
    return group(name=name or "no_op")


def tuple_(tensors: Sequence[Any], name: str | None = None, control_inputs: Iterable[Any] | None = None) -> list[Any]:
    """The tensors, none of which is there before all of them (and `control_inputs`) are."""
    with control_dependencies([*(each for each in tensors if each is not None), *(control_inputs or ())]):
        return [None if each is None else identity(each) for each in tensors]


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Iterator[str]:
    """Nodes made inside are called `NAME/...`, and belong to that scope in the log; a second one is `NAME_1`."""
    with builder().named(default_name if name is None and default_name is not None else name) as scope:
        yield scope


# What can be seen -----------------------------------------------------------------------------------------------------


def Print(  # noqa: N802 - TensorFlow's spelling
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Symbol:
    """The tensor itself; when it is computed, `data` is written to stderr, and to the log.

    Args:
        input_: The tensor.
        data: What to print.
        message: Ahead of it.
        first_n: So many times at most; None: always.
        summarize: So many elements of each tensor (3; -1: all).
        name: Its name in the graph.
    """
    attributes = {"message": message or "", "first_n": -1 if first_n is None else first_n, "summarize": summarize}
    return _added("print", (input_, *data), attributes, name)


def Assert(  # noqa: N802 - TensorFlow's spelling
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Symbol:
    """A node that stops the run, and says `data`, where the condition does not hold.

    It runs when it is fetched, or where something depends on it: `with control_dependencies([Assert(...)]): ...`.
    """
    return _added("assert", (condition, *data), {"summarize": summarize}, name)


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,  # noqa: N803 - TensorFlow's spelling
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """What a Python function makes of NumPy arrays; no gradient goes through it.

    Args:
        func: Takes an array for each of `inp`.
        inp: Tensors.
        Tout: The dtype of what it returns, or a list of dtypes; its shape is not known before it runs.
        stateful: Accepted: it always runs.
        name: Its name in the graph.
    """
    several = isinstance(Tout, list | tuple)
    told = tuple(dtype_of(dtype) for dtype in (Tout if several else [Tout]))
    here = builder()
    node = here.append("py_func", _values(here, list(inp)), {"function": func, "dtypes": told}, name=name)
    found = [Symbol.of(value, here) for value in node.outputs]
    return found if several else found[0]


# Random numbers -------------------------------------------------------------------------------------------------------


def _normal(op: str, doc: str) -> Callable[..., Symbol]:
    def draw(
        shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: Any = dtypes.float32,
        seed: int | None = None, name: str | None = None,
    ) -> Symbol:  # fmt: skip
        return _random(op, shape, mean, stddev, dtype, seed, name)

    draw.__name__, draw.__doc__ = op, doc
    return draw


random_normal = _normal("random_normal", "Numbers of a normal distribution, others in each run unless there is a seed.")
truncated_normal = _normal(
    "truncated_normal", "As `random_normal`, without what is farther from the mean than two standard deviations."
)


def random_uniform(
    shape: Sequence[int], minval: float = 0.0, maxval: float = 1.0, dtype: Any = dtypes.float32,
    seed: int | None = None, name: str | None = None,
) -> Symbol:  # fmt: skip
    """Numbers from `minval` to `maxval`, evenly distributed, others in each run unless there is a seed."""
    return _random("random_uniform", shape, minval, maxval - minval, dtype, seed, name)


def _random(op: str, shape: Any, shift: float, scale: float, dtype: Any, seed: int | None, name: str | None) -> Symbol:
    attributes = {"shape": tuple(shape), "shift": shift, "scale": scale, "dtype": dtype_of(dtype), "seed": seed}
    return _added(op, (), attributes, name)


# Inside ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _after(here: Builder, nodes: tuple[Node, ...]) -> Iterator[None]:
    before, here.after = here.after, nodes
    try:
        yield
    finally:
        here.after = before


def _added(op: str, inputs: Sequence[Any], attributes: dict[str, Any], name: str | None) -> Symbol:
    here = builder()
    node = here.append(op, _values(here, list(inputs)), attributes, name=name)
    return Symbol.of(node.outputs[0], here)


def _listed(things: Any) -> list[Any]:
    return list(things) if isinstance(things, list | tuple) else [things]


def _values(here: Builder, things: Any) -> list[Value]:
    """Tensors as values of the graph that is built here; numbers and arrays as constants of it."""
    found = []
    for thing in _listed(things):
        if isinstance(thing, Value):
            found.append(thing)
        elif isinstance(thing, Symbol):
            found.append(here.take(thing.output, thing.builder))
        elif isinstance(thing, Tensor):
            found.append(here.operand(thing))
        else:
            found.append(here.constant(_array(thing, None)))
    return found


def _node(thing: Any) -> Node:
    if isinstance(thing, Operation):
        return thing.node
    if isinstance(thing, Symbol):
        return thing.output.node
    if isinstance(thing, Value):
        return thing.node
    if isinstance(thing, Node):
        return thing
    raise StaticError(f"a {type(thing).__name__} is no node of a graph: {thing!r}", hint="give tensors or nodes")


def _array(value: Any, dtype: Any) -> np.ndarray:
    given = value.array if isinstance(value, Tensor) else value
    array = np.asarray(given)
    if dtype is None and not hasattr(given, "dtype") and array.dtype.kind in "fi":
        return array.astype(np.float32 if array.dtype.kind == "f" else np.int32)
    if array.dtype.kind not in "fiubc":
        raise StaticError(f"{value!r} is no array of numbers", hint="give numbers, lists of numbers or arrays")
    return array if dtype is None else array.astype(effects.dtype_of(dtype))
