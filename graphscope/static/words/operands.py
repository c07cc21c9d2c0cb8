"""What functions are given, as tensors: converted as TensorFlow converts it, and refused where it refuses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope import engine as _engine
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import functional as _functional
from graphscope.errors import StaticError
from graphscope.static.graphs import graph_builder
from graphscope.static.graphs.symbols import Symbol, stands_for, twin
from graphscope.static.graphs.trees import leaves_of
from graphscope.static.words.element_types import DType, as_numpy

# All but the last part of this module is called by functions that have twins, and has one itself: `Tensor` is a symbol
# there. Nothing promotes: where dtypes differ, TensorFlow refuses.

_CAST: Final = "convert one of them: tf.cast(x, tf.float32)"


def op(name: str, *args: Any, **kwargs: Any) -> Any:
    """What a function of the engine gives."""
    return _engines(name)(*args, **kwargs)


@stands_for(op)
def _op_of_symbols(name: str, *args: Any, **kwargs: Any) -> Any:
    return twin(_engines(name))(*args, **kwargs)


@functools.cache
def _engines(name: str) -> Callable[..., Any]:
    """A function of the engine by its name."""
    return getattr(_engine, name, None) or getattr(_functional, name, None) or OPS[name].call


def tensor(value: Any, dtype: Any = None) -> Any:
    """A tensor as it is; numbers, arrays and lists of either or of tensors, as one.

    Raises:
        StaticError: It is of another dtype, or holds no numbers.
    """
    wanted = None if dtype is None else as_numpy(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype is not None and value.dtype != wanted:
            raise StaticError(f"a tensor of {value.dtype} stands where one of {wanted} is needed", hint=_CAST)
        return value
    if isinstance(value, list | tuple) and any(isinstance(leaf, Tensor) for leaf in leaves_of(value)):
        known = next((leaf.dtype for leaf in leaves_of(value) if isinstance(leaf, Tensor)), None)
        return op("stack", [tensor(each, wanted or known) for each in value], 0)
    return Tensor(array_of(value, wanted)[()])


def rank_of(x: Any) -> int | None:
    """How many dims a tensor has; None where that is told when the graph runs."""
    return x.ndim  # type: ignore[no-any-return]


@stands_for(rank_of)
def _rank_of_symbol(x: Any) -> int | None:
    return None if x.output.shape is None else len(x.output.shape)


def pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of one dtype, one of them at least a tensor; a lone number stays one.

    Raises:
        StaticError: Their dtypes differ.
    """
    one = _ready(x, None)
    other = _ready(y, one.dtype)
    if one.dtype != other.dtype and None not in (one.dtype, other.dtype):
        raise StaticError(f"the operands are of {one.dtype} and {other.dtype}", hint=_CAST)
    if not isinstance(one, Tensor) and not isinstance(other, Tensor):
        return Tensor(one[()]), Tensor(other[()])
    return _lone(one), _lone(other)


def _ready(value: Any, dtype: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, list | tuple) and any(isinstance(leaf, Tensor) for leaf in leaves_of(value)):
        return tensor(value, dtype)
    return array_of(value, dtype)


def _lone(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    return value.item() if value.ndim == 0 and value.dtype.kind in "fi" else Tensor(value[()])


def of_kinds(x: Any, kinds: str, dtype: Any = None) -> Any:
    """A tensor whose elements are of one of NumPy's kinds of dtypes.

    Raises:
        StaticError: They are of another.
    """
    x = tensor(x, dtype)
    if x.dtype is not None and x.dtype.kind not in kinds:
        raise StaticError(f"it takes {_spelled(kinds)}, and was given {x.dtype}", hint="convert it: tf.cast(x, dtype)")
    return x


_KINDS: Final = {"f": "floating numbers", "c": "complex numbers", "i": "integers", "u": "", "b": "truth values"}


def _spelled(kinds: str) -> str:
    return " or ".join(_KINDS[kind] for kind in kinds if _KINDS[kind])


def whole(value: Any) -> Any:
    """Whole numbers that are known here: of a tensor those that it holds, in lists.

    Raises:
        NeedsValueError: They are told when the graph runs.
    """
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, list | tuple | np.ndarray):
        return [whole(each) for each in value]
    size = getattr(value, "value", value)
    return None if size is None else int(size)


def listed(value: Any) -> list[Any]:
    """As `whole`, and a lone number as a list of one."""
    found = whole(value if not hasattr(value, "as_list") else value.as_list())
    return found if isinstance(found, list) else [found]


def axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Dims, counted from the front; all where None is given.

    Raises:
        StaticError: There is no such dim.
    """
    if axis is None:
        return tuple(range(ndim))
    found = listed(axis)
    for each in found:
        if not -ndim <= each < ndim:
            raise StaticError(f"there is no dim {each}: the tensor has {ndim}", hint="dims are counted from 0")
    return tuple(each % ndim for each in found)


def of_dtype(dtype: Any) -> np.dtype:
    """NumPy's dtype for one as people give it.

    Raises:
        StaticError: It is none.
    """
    try:
        found = as_numpy(dtype)
    except TypeError:
        raise StaticError(f"{dtype!r} is no dtype", hint="tf.float32, tf.int32, tf.bool") from None
    if found.kind not in "fiubc":
        raise StaticError(f"graphscope.static has no tensors of {found}", hint="keep words in Python, and feed numbers")
    return found


def array_of(value: Any, dtype: Any = None) -> np.ndarray:
    """Numbers as an array: Python's are float32 and int32, NumPy's keep their dtype.

    Raises:
        StaticError: They are no numbers, or not of this dtype.
    """
    given = value.array if isinstance(value, Tensor) else getattr(value, "value", value)
    if hasattr(given, "as_list"):
        given = given.as_list()
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "fiubc":
        raise StaticError(f"{value!r} is no array of numbers", hint="give numbers, lists of numbers or arrays")
    if dtype is None:
        if hasattr(given, "dtype"):
            return array
        small = {"f": np.float32, "i": np.int32, "c": np.complex128}
        fits = array.dtype.kind != "i" or not array.size or abs(array).max() < 1 << 31
        return array.astype(small.get(array.dtype.kind, array.dtype)) if fits else array
    wanted = as_numpy(dtype)
    if not hasattr(given, "dtype") and array.size and _order(array.dtype) > _order(wanted):
        raise StaticError(
            f"{value!r} is {(array.dtype.kind == 'f' and 'floating') or 'no number'} and {wanted} is needed", hint=_CAST
        )
    if not hasattr(given, "dtype") and array.size and (array.dtype.kind == "b") != (wanted.kind == "b"):
        raise StaticError(f"{value!r} stands where {wanted} is needed", hint=_CAST)
    return array.astype(wanted)


def _order(dtype: np.dtype) -> int:
    return "biufc".index(dtype.kind) if dtype.kind != "u" else 1


# At the border between programs and functions -------------------------------------------------------------------------


def symbol_of(leaf: Any) -> Any:
    """An argument as functions take it: a tensor of the engine as one of the graph, and else as it is."""
    if isinstance(leaf, Tensor):
        here = graph_builder.current()
        return Symbol.of(here.operand(leaf), here)
    return leaf


def operand(other: Any, like: Any) -> Any:
    """The other operand of an operator, in the dtype of the first."""
    if isinstance(other, Symbol | Tensor) or like.dtype is None:
        return other
    if isinstance(other, list | tuple) and any(isinstance(leaf, Symbol | Tensor) for leaf in leaves_of(other)):
        return other
    dtype: DType = like.dtype
    return array_of(other, dtype)[()]
