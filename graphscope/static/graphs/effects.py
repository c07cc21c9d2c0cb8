"""Nodes that do more than compute: assignments, groups, prints, assertions, Python functions, random numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.generator import generator
from graphscope.engine.core.modes import here
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.eventlog.schema import Kind as Event
from graphscope.static.graphs import run_recorder
from graphscope.static.graphs.graph import Node, Value, spelled
from graphscope.static.graphs.node_kinds import Type, as_told, kind, of_first

SUMMARIZE: Final = 3
"""How many elements Print and Assert show of each tensor unless told otherwise, as in TensorFlow."""


def _nothing(node: Node) -> Sequence[Type]:
    return [(None, None)]


# Variables ------------------------------------------------------------------------------------------------------------


def _held(node: Node) -> Sequence[Type]:
    array = node.attributes["holder"][0].array
    return [(array.shape, array.dtype)]


@kind("read", "What a variable of sessions holds when a run first asks.", infer=_held, pure=False)
def _read(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    held: Tensor = node.attributes["holder"][0]
    if held.row >= here().since:  # this run assigned it
        return [held]
    made = Tensor(held.array)
    made.name, made.is_parameter, made.first_row = held.name, held.is_parameter, held.identity
    made.version_count = held.version_count
    return [made]


_COMBINE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "assign": lambda old, new: new,
    "assign_add": lambda old, new: old + new,
    "assign_sub": lambda old, new: old - new,
}
"""What each assignment makes of what a variable holds and what it is given."""


def _assigned(node: Node) -> Sequence[Type]:
    variable = node.attributes["variable"].outputs[0]
    (given,) = node.inputs
    shape = getattr(given, "shape", ())
    fits = shape is None or all(b in (None, a) for a, b in zip(variable.shape, shape, strict=False))
    if not fits or (shape is not None and len(shape) > len(variable.shape)):
        raise StaticError(
            f"{node.where} writes {spelled(given.shape, given.dtype)} into {variable.name!r}, "
            f"which is {spelled(variable.shape, variable.dtype)}",
            hint="assign a value of the variable's shape, or make the variable anew",
        )
    return [(variable.shape, variable.dtype)]


def _assign(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    holder = node.attributes["variable"].attributes["holder"]
    old, (given,) = holder[0], values
    new = _COMBINE[node.op](old.array, given.array if isinstance(given, Tensor) else given)
    holder[0] = changed(old, new)
    return [holder[0]]


def changed(old: Tensor, new: Any) -> Tensor:
    """The next version of what a variable holds; who has read the old one keeps it."""
    array = np.array(np.broadcast_to(new, old.array.shape), dtype=old.array.dtype)
    made = Tensor(array if array.ndim else array[()])
    made.name, made.is_parameter, made.first_row = old.name, old.is_parameter, old.identity
    made.version_count = old.version_count + 1
    return made


for _name, _doc in (
    ("assign", "A variable holds this value from now on."),
    ("assign_add", "This is added to a variable."),
    ("assign_sub", "This is taken from a variable."),
):
    kind(_name, _doc, infer=_assigned, pure=False)(_assign)


@kind("group", "Nothing but nodes that are to run: a fetch for what they do.", infer=_nothing, pure=False)
def _group(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [None]


@kind("identity", "The value itself.", infer=of_first, vjp=lambda builder, node, cotangents: list(cotangents))
def _identity(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [values[0]]


@kind("stop_gradient", "The value itself; no gradient goes through it.", infer=of_first, vjp=lambda *_: [None])
def _stop_gradient(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    (value,) = values
    return [value.detach() if isinstance(value, Tensor) and value.requires_grad else value]


# What can be seen -----------------------------------------------------------------------------------------------------


def _pass_on(builder: Any, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    return [cotangents[0], *[None] * (len(node.inputs) - 1)]


@kind(
    "print", "The first value, after the others have been written to stderr.", infer=of_first, vjp=_pass_on, pure=False
)
def _print(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    attributes = node.attributes
    count = attributes["count"] = attributes.get("count", 0) + 1
    if attributes["first_n"] < 0 or count <= attributes["first_n"]:
        shown = "".join(f"[{_shown(value, attributes['summarize'])}]" for value in values[1:])
        text = f"{attributes['message']}{shown}"
        print(text, file=sys.stderr)  # noqa: T201 - that is what it is for
        record.mark(Event.PRINT, text=text)
    return [values[0]]


@kind("say", "Nothing; words and values, as Python prints them.", infer=_nothing, pure=False)
def _say(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    given = iter(values)
    text = " ".join(str(next(given)) if word is None else word for word in node.attributes["words"])
    print(text)  # noqa: T201 - that is what it is for
    record.mark(Event.PRINT, text=text)
    return [None]


@kind("assert", "Nothing; an error, with values, where the condition does not hold.", infer=_nothing, pure=False)
def _assert(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    condition, *data = values
    if np.all(condition.array if isinstance(condition, Tensor) else condition):
        return [None]
    shown = " ".join(f"[{_shown(value, node.attributes['summarize'])}]" for value in data)
    text = f"{node.where} does not hold{': ' if data else ''}{shown}"
    record.mark(Event.ASSERTION, text=text)
    raise StaticError(text, hint=f"fetch {_names(node.inputs)} to see what it was given")


def _names(inputs: Sequence[Any]) -> str:
    return ", ".join(value.name for value in inputs if isinstance(value, Value)) or "its inputs"


def _shown(value: Any, count: int | None) -> str:
    flat = np.ravel(value.array if isinstance(value, Tensor) else value)
    most = len(flat) if count is not None and count < 0 else SUMMARIZE if count is None else count
    return " ".join(f"{part}" for part in flat[:most].tolist()) + ("..." if len(flat) > most else "")


# Python ---------------------------------------------------------------------------------------------------------------


def _told(node: Node) -> Sequence[Type]:
    return [(None, np.dtype(dtype)) for dtype in node.attributes["dtypes"]]


@kind("py_func", "What a Python function of arrays returns; no gradient goes through it.", infer=_told, pure=False,
      several=True, vjp=lambda builder, node, cotangents: [None] * len(node.inputs))  # fmt: skip
def _py_func(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    given = [np.asarray(value.array) if isinstance(value, Tensor) else value for value in values]
    with run_recorder.apart():
        found = node.attributes["function"](*given)
    wanted = node.attributes["dtypes"]
    results = list(found) if isinstance(found, tuple | list) else [] if found is None and not wanted else [found]
    if len(results) != len(wanted):
        raise StaticError(
            f"the function of {node.where} returned {len(results)} values, and {len(wanted)} were announced",
            hint=f"let it return {len(wanted)}, or change Tout",
        )
    return [Tensor(np.asarray(result, dtype=dtype)[()]) for result, dtype in zip(results, wanted, strict=True)]


# Random numbers -------------------------------------------------------------------------------------------------------


def _truncated(draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """A normal distribution without what is farther from 0 than twice its width, as in TensorFlow."""
    found: np.ndarray = draw.standard_normal(shape)
    while (far := np.abs(found) > 2).any():
        found[far] = draw.standard_normal(int(far.sum()))
    return found


DRAWS: Final[dict[str, Callable[[Any, tuple[int, ...]], Any]]] = {
    "random_normal": lambda draw, shape: draw.standard_normal(shape),
    "random_uniform": lambda draw, shape: draw.random(shape),
    "truncated_normal": _truncated,
}
"""How each distribution is drawn, before it is stretched (`scale`) and moved (`shift`)."""


def drawn(name: str, shape: tuple[int, ...], shift: float, scale: float, dtype: Any, seed: int | None) -> np.ndarray:
    """Random numbers of one of DRAWS: from a seed of their own, or from the engine's generator."""
    draw = np.random.default_rng(generator().integers(1 << 62) if seed is None else seed)
    return np.asarray(DRAWS[name](draw, shape) * scale + shift, dtype=dtype)


def _draw(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    attributes = node.attributes
    found = drawn(node.op, *(attributes[name] for name in ("shape", "shift", "scale", "dtype", "seed")))
    return [Tensor(found[()])]


for _name, _doc in (
    ("random_normal", "Numbers of a normal distribution, others in each run."),
    ("random_uniform", "Evenly distributed numbers, others in each run."),
    ("truncated_normal", "As random_normal, without what is farther from the mean than two standard deviations."),
):
    kind(_name, _doc, infer=as_told, pure=False)(_draw)


# Dtypes ---------------------------------------------------------------------------------------------------------------


def dtype_of(dtype: Any, default: np.dtype | None = None) -> np.dtype | None:
    """A dtype as people give it: NumPy's, the engine's, a name, or Python's `float`, `int` and `bool`."""
    python = {float: dtypes.float32, int: dtypes.int32, bool: dtypes.bool_}
    return default if dtype is None else np.dtype(python.get(dtype, dtype))
