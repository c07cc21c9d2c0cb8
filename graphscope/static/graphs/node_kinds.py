"""What a node of a graph may be: an op of the engine's table, or a kind that only graphs have."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope import engine as _engine  # fills OPS
from graphscope.engine.core import dtypes
from graphscope.engine.core.op import OPS
from graphscope.errors import StaticError

# Both answer the same questions: what shapes and dtypes come out, how it runs, how gradients go through it, whether it
# may be left out, merged or moved. An op of the engine answers them from its entry in OPS; a `Kind` is an entry of
# KINDS.

if TYPE_CHECKING:
    from graphscope.static.graphs.graph import Node

Type = tuple[Any, Any]
"""A shape and a dtype; None for what is not known."""

assert _engine.OPS is OPS


@dataclass(frozen=True)
class Kind:
    """A node that is no op of the engine."""

    name: str
    doc: str
    infer: Callable[[Node], Sequence[Type]]
    """From a node to the shape and dtype of each of its outputs."""
    run: Callable[..., Sequence[Any]]
    """`run(node, values)`: from the tensors and numbers that it takes to those that it gives."""
    vjp: Callable[..., Sequence[Any]] | None = None
    """`vjp(builder, node, cotangents)`: the gradient (or None) for each input, as values."""
    pure: bool = True
    """Whether it gives the same each time and does nothing else."""
    several: bool = False


_CURES: Final = {
    "matmul": "transpose one of them with .t(), or give it another shape with reshape",
    "reshape": "keep the number of elements; one size may be -1, which is found",
    "cat": "give tensors that differ in the size of that dim alone",
    "stack": "give tensors of one shape",
}
"""What to do about inputs of the wrong shape, by op, where it is not what ops do that broadcast."""

KINDS: Final[dict[str, Kind]] = {}
"""Every kind by name."""

RANDOM: Final = frozenset(
    {"bernoulli", "multinomial", "poisson", "uniform_", "normal_", "exponential_", "random_",
     "bernoulli_"}
)  # fmt: skip
"""Ops that draw numbers: each run draws its own."""


def kind(name: str, doc: str, **fields: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a kind to KINDS: a decorator of its `run`."""

    def decorate(run: Callable[..., Any]) -> Callable[..., Any]:
        KINDS[name] = Kind(name, doc, run=run, **fields)
        return run

    return decorate


def is_several(name: str) -> bool:
    """Whether nodes of this op have any number of outputs."""
    return KINDS[name].several if name in KINDS else name in OPS and OPS[name].several


def is_pure(node: Node) -> bool:
    """Whether a node gives the same each time and does nothing else: then it may be folded, merged or left out."""
    if node.op in KINDS:
        return KINDS[node.op].pure
    return node.op not in RANDOM


def has_effects(node: Node) -> bool:
    """Whether a node does something, so that a whole run needs it though nothing takes what it gives."""
    return node.op not in ("input", "variable") and not is_pure(node)


def infer(node: Node) -> Sequence[Type]:
    """Shape and dtype of each output of a node.

    Raises:
        StaticError: There is no such op, or the inputs do not fit.
    """
    if node.op in KINDS:
        return KINDS[node.op].infer(node)
    if node.op not in OPS or OPS[node.op].composite:
        raise StaticError(f"{node.where}: there is no op {node.op!r}", hint="see graphscope.OPS for those that are")
    if OPS[node.op].in_place:
        return [(node.inputs[0].shape, node.inputs[0].dtype)]
    types = tuple(_type(value) for value in node.inputs)
    try:
        return _of_op(node.op, types, _Attributes(node.attributes))
    except (RuntimeError, ValueError, TypeError, IndexError, ZeroDivisionError, np.exceptions.AxisError) as error:
        given = ", ".join(_spelled(value) for value in node.inputs)
        raise StaticError(
            f"{node.where} does not fit what it is given ({given}): {str(error).splitlines()[0]}",
            hint=_CURES.get(node.op, "change the shapes of its inputs; a dim of size 1 broadcasts"),
        ) from None


# Of the engine's ops --------------------------------------------------------------------------------------------------


class _Attributes(dict[str, Any]):
    """Attributes as a key: alike when their texts are (arrays by their elements)."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and frozen(self) == frozen(other)


def frozen(value: Any) -> Any:
    """A value made of tuples alone, that can be compared and hashed; NaN equals itself, 1 is not 1.0."""
    if isinstance(value, dict):
        return tuple((name, frozen(each)) for name, each in value.items())
    if isinstance(value, tuple | list):
        return (value.__class__, *map(frozen, value))
    if isinstance(value, np.ndarray | np.generic):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, slice):
        return (slice, value.start, value.stop, value.step)
    if isinstance(value, float):
        return (float, value.hex())
    return (value.__class__, value)


def _type(value: Any) -> Any:
    return (value.shape, value.dtype) if hasattr(value, "slot") else (_NUMBER, value.__class__, value)


_NUMBER: Final = "number"


@functools.lru_cache(1 << 14)
def _of_op(name: str, types: tuple[Any, ...], attributes: Any) -> Sequence[Type]:
    op = OPS[name]
    numbers = [each[0] == _NUMBER for each in types]
    given = [(() if number else each[0]) for each, number in zip(types, numbers, strict=True)]
    absent = [number and each[2] is None for each, number in zip(types, numbers, strict=True)]
    known = None not in given
    attrs = dict(attributes)
    if known and attrs.get("_from") is not None:
        attrs["_from"] = given[0]
    _check_products(name, given)
    shapes: Any = None
    if known and op.shape is not None:
        used = [shape for shape, gone in zip(given, absent, strict=True) if not gone]
        shapes = op.shape(*used, **attrs)
        shapes = list(shapes) if op.several else [shapes]
    if known and name == "index" and types[1][1] == np.bool_:  # so many as there are where it holds
        dim = attrs["dim"]
        shapes = [(*given[0][:dim], None, *given[0][dim + len(given[1]) :])]
    complete = known and all(None not in shape for shape in given)
    if any(not number and each[1] is None for each, number in zip(types, numbers, strict=True)):
        found: Any = None
    else:
        found = _tried(name, types, attrs, complete and (shapes is None or _small(given)))
    told_when_it_runs = shapes is not None and any(None in shape for shape in shapes)
    if found is not None and complete and not told_when_it_runs and (shapes is None or _small(given)):
        return tuple(found)
    if shapes is None:
        return tuple((None, dtype) for _, dtype in found) if found else ((None, _promoted(types)),)
    each = [dtype for _, dtype in found] if found else [_promoted(types)] * len(shapes)
    return tuple((tuple(shape), dtype) for shape, dtype in zip(shapes, each, strict=False))


PRODUCTS: Final = {"matmul": -2, "mm": -2, "bmm": -2, "mv": -1, "dot": -1, "linear": -1}
"""Ops that sum products over the last dim of their first input, and the dim of the second that has to be as long."""


def _check_products(name: str, given: Sequence[Any]) -> None:
    """Refuse factors that do not fit, also where other dims are not known or the matrices too large to be tried."""
    if name not in PRODUCTS or not given[0] or not given[1]:
        return
    one, other = given[0][-1], given[1][max(PRODUCTS[name], -len(given[1]))]
    if None not in (one, other) and one != other:
        raise RuntimeError(f"the last dim of the first factor is {one}, that of the second {other}")


_MOST: Final = 1 << 14


def _small(shapes: Sequence[Any]) -> bool:
    return all(math.prod(shape) <= _MOST for shape in shapes)


def _tried(name: str, types: Any, attrs: Any, exact: bool) -> Any:
    """What comes out when the op runs on ones: of the shapes given, or (for the dtypes alone) of small ones."""
    arrays = []
    for each in types:
        if each[0] == _NUMBER:
            arrays.append(each[2])
            continue
        shape = each[0] if exact else tuple(min(size or 2, 2) for size in each[0] or ())
        one = np.ones(shape, each[1])
        arrays.append(one if one.ndim else one[()])
    op = OPS[name]
    try:
        with np.errstate(all="ignore"):
            if op.promotes or op.floating:
                dtype = dtypes.common(op, arrays)
                arrays = [value.astype(dtype) if hasattr(value, "dtype") else value for value in arrays]
            found = op.forward(*arrays, **attrs)
    except Exception:
        if exact and op.shape is None:
            raise
        return None  # ones of another shape may be no operands; the shape rule has said what it has to say
    if op.residuals:
        found = found[0]
    return [(np.shape(part), np.asarray(part).dtype) for part in (found if op.several else (found,))]


def _promoted(types: Any) -> Any:
    arrays = [each[2] if each[0] == _NUMBER else np.empty((0,) * len(each[0] or ()), each[1]) for each in types
              if each[0] != _NUMBER or each[2] is not None]  # fmt: skip
    return dtypes.result_type(arrays) if arrays else None


def _spelled(value: Any) -> str:
    if not hasattr(value, "slot"):
        return repr(value)
    from graphscope.static.graphs.graph import spelled

    return f"{value.name}: {spelled(value.shape, value.dtype)}"


# What only graphs have ------------------------------------------------------------------------------------------------


def of_first(node: Node) -> Sequence[Type]:
    """That of its first input."""
    return [(node.inputs[0].shape, node.inputs[0].dtype)]


def as_told(node: Node) -> Sequence[Type]:
    """What its attributes say."""
    return [(node.attributes["shape"], node.attributes["dtype"])]


def _of_array(node: Node) -> Sequence[Type]:
    value = node.attributes["value"]
    return [(np.shape(value), np.asarray(value).dtype)]


def _of_tensor(node: Node) -> Sequence[Type]:
    array = node.attributes["tensor"].array
    return [(array.shape, array.dtype)]


@kind("input", "What a run is given.", infer=as_told, pure=False)
def _input(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    raise StaticError(
        f"{node.where} was not fed", hint=f"give it a value: feed_dict={{{node.name}: ...}}, or as an argument"
    )


@kind("constant", "An array that never changes.", infer=_of_array)
def _constant(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [_engine.Tensor(node.attributes["value"])]


@kind(
    "variable", "A tensor that lives beside the graph: each run reads what it holds then.", infer=_of_tensor, pure=False
)
def _variable(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [node.attributes["tensor"]]
