"""Element types: PyTorch's names for NumPy's, and the promotion of operands of different types."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core.op import OPS, Op

try:
    from ml_dtypes import bfloat16 as _bfloat16
except ImportError:  # an extra: without it there is no such dtype
    _bfloat16 = None

float16: Final = np.dtype("float16")
float32: Final = np.dtype("float32")
float64: Final = np.dtype("float64")
int8: Final = np.dtype("int8")
int16: Final = np.dtype("int16")
int32: Final = np.dtype("int32")
int64: Final = np.dtype("int64")
uint8: Final = np.dtype("uint8")
bool_: Final = np.dtype("bool")
bfloat16: Final = None if _bfloat16 is None else np.dtype(_bfloat16)
"""Half precision with the range of float32, to keep numbers in; None without the package `ml_dtypes`."""

CATEGORY: Final = {"b": 0, "u": 1, "i": 1, "V": 2, "f": 2, "c": 3}
"""The order of the kinds of dtypes: an op's result is of the highest among its operands."""
_default: np.dtype = float32


def get_default_dtype() -> np.dtype:
    """The dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(dtype: np.dtype) -> None:
    """Set the dtype of tensors made from Python floats.

    Raises:
        TypeError: It is no floating dtype.
    """
    global _default
    if np.dtype(dtype).kind != "f":
        raise TypeError(f"the default dtype must be floating, not {dtype}: choose float32 or float64")
    _default = np.dtype(dtype)


def operand(value: Any) -> Any:
    """A tensor or Python number as it takes part in an op; NumPy scalars become numbers.

    Raises:
        TypeError: It is neither.
    """
    if hasattr(value, "wants_grad") or isinstance(value, float | int | complex) or value is None:
        return value
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(
        f"an operand is {type(value).__name__}, not a tensor or a number: wrap it in tensor(...)"
        if not isinstance(value, np.ndarray)
        else "an operand is a NumPy array: wrap it in from_numpy(...) or tensor(...)"
    )


def result_type(values: Any) -> np.dtype:
    """PyTorch's promotion: a tensor with dimensions decides over one without, and that over a Python number,
    unless the other is of a higher category (bool < integer < float < complex).

    Source: the page "Tensor Attributes" of PyTorch's documentation.
    """
    ranks: list[np.dtype | None] = [None, None, None]
    for value in values:
        if hasattr(value, "dtype"):
            dtype, rank = value.dtype, 0 if value.ndim else 1
        else:
            dtype, rank = _of_number(value), 2
        found = ranks[rank]
        ranks[rank] = dtype if found is None else wider(found, dtype)
    result: np.dtype | None = None
    for dtype in ranks:
        if dtype is not None and result is not None and result.kind == "f" and dtype.kind == "c":
            result = np.result_type(result, np.complex64)  # as wide as what decides, and complex
        elif dtype is not None and (result is None or CATEGORY[dtype.kind] > CATEGORY[result.kind]):
            result = dtype if result is None else wider(result, dtype)
    return result if result is not None else _default


def common(op: Op, values: Any) -> np.dtype:
    """The dtype that an op computes in, of what it is given."""
    dtype = result_type([value for value in values if value is not None])
    return _default if op.floating and dtype.kind in "biu" else dtype


def number(value: Any, dtype: Any) -> Any:
    """A Python number as it takes part beside elements of a dtype: an integer that it can't hold wraps around."""
    if value.__class__ is not int or dtype.kind not in "iu":
        return value
    size = 8 * dtype.itemsize
    held = value & (1 << size) - 1
    return held - (1 << size) if dtype.kind == "i" and held >> size - 1 else held


def element(value: Any, dtype: Any) -> Any:
    """A Python number as an element of a dtype: of unsigned integers a negative whole one counts from the end.

    Raises:
        RuntimeError: The dtype cannot hold it.
    """
    if value.__class__ is float and dtype.kind == "f" and abs(value) <= _range(dtype)[1]:  # by far the most frequent
        return value
    if not isinstance(value, int | float | complex) or isinstance(value, np.generic) or dtype.kind == "b":
        return value
    if not _holds(dtype, value):
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow: {value}")
    if dtype.kind not in "iu" or isinstance(value, complex):
        return value
    return number(int(value), dtype)


def wide_element(value: Any, dtype: Any) -> Any:
    """As `element`, where PyTorch rounds the number before it is written: what a half can't hold becomes infinite."""
    return element(value, float64 if dtype in (float16, bfloat16) else dtype)


def _holds(dtype: Any, value: Any) -> bool:
    if value.__class__ is complex:
        return dtype.kind == "c" and _holds(dtype, value.real) and _holds(dtype, value.imag)
    low, high = _range(dtype)
    if dtype.kind == "u" and value.__class__ is int:
        low = -high
    return bool(low <= value <= high or (dtype.kind not in "iu" and (value != value or value in (np.inf, -np.inf))))


@functools.cache
def _range(dtype: Any) -> tuple[Any, Any]:
    if dtype.kind in "iu":
        whole = np.iinfo(dtype)
        return int(whole.min), int(whole.max)
    largest = _LARGEST[dtype] if dtype in _LARGEST else float(np.finfo(dtype).max)
    return -largest, largest


_LARGEST: Final = {bfloat16: 255 * 2.0**120, float32: (2 - 2.0**-23) * 2.0**127, float64: sys.float_info.max}
"""The largest numbers of some dtypes: NumPy's first look at its own takes as long as some ops."""


PRODUCTS: Final = frozenset(
    ["addmm", "baddbmm", "bmm", "dot", "linear", "matmul", "mm", "mv", "vdot"]
    + [f"conv{kind}{rank}d" for kind in ("", "_transpose") for rank in (1, 2, 3)]
)
"""Ops of matrices, vectors and windows, which mix no dtypes."""


def check_alike(op: Op, arrays: Any) -> None:
    """See that a product of matrices, or a convolution, is one of a single dtype.

    Raises:
        RuntimeError: It is not.
    """
    if op.name in PRODUCTS and len(found := {value.dtype for value in arrays}) > 1:
        names = " and ".join(sorted(dtype.name for dtype in found))
        raise RuntimeError(
            f"{op.name}: expected operands of the same dtype, but got {names}: convert one, with x.to(y)"
        )


def aligned(op: Op, inputs: Any) -> Any:
    """The inputs of an op, with those that need a gradient brought to the op's dtype in the graph."""
    if not op.promotes or not any(op.vjps):
        return inputs
    found = {value.array.dtype for value in inputs if hasattr(value, "wants_grad")}
    if len(found) < 2 and not any(isinstance(value, complex) for value in inputs):
        return inputs
    return converted(inputs, common(op, [getattr(value, "array", value) for value in inputs]))


def converted(inputs: Any, dtype: np.dtype) -> list[Any]:
    """Tensors and numbers, of which those tensors that need a gradient are brought to a dtype in the graph."""
    return [
        OPS["to"].call(value, dtype)
        if hasattr(value, "wants_grad") and value.requires_grad and value.array.dtype != dtype
        else value
        for value in inputs
    ]


def promoted(op: Op, inputs: Any) -> list[Any]:
    """The arrays of an op's inputs, brought to one dtype where the op mixes its operands.

    Raises:
        RuntimeError: One is boolean, and the op takes none.
    """
    arrays = [value.array if hasattr(value, "identity") else value for value in inputs]
    if not op.takes_bool and any(_is_bool(array) for array in arrays):
        raise RuntimeError(
            f"{op.name}: booleans are no numbers here; convert them with x.int(), or use ~, ^, logical_not"
        )
    if not op.floating and (not op.promotes or len(arrays) == 1):
        return arrays
    first = arrays[0]
    if not op.floating and all(getattr(value, "dtype", None) is getattr(first, "dtype", 0) for value in arrays[1:]):
        return arrays
    dtype = common(op, arrays)
    return [
        (value if place and op.name in _CHECKING else number(value, dtype))
        if not hasattr(value, "dtype")
        else value
        if value.dtype == dtype
        else (value.astype(dtype) if value.ndim else dtype.type(value))
        for place, value in enumerate(arrays)
    ]


_CHECKING: Final = frozenset(("clamp_max", "clamp_min", "pow"))
"""Ops that look at a number themselves: they refuse one that the dtype can't hold, and a negative exponent."""


def in_floating(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays or numbers of one dtype that takes integers too, as floating numbers."""

    def convert(*given: Any, **attrs: Any) -> Any:
        if all(getattr(value, "dtype", int64).kind in "biu" for value in given):
            given = tuple([value.astype(_default) if hasattr(value, "dtype") else value for value in given])
        return forward(*given, **attrs)

    return convert


_KINDS: Final = {"b": "booleans", "i": "integers", "f": "floating numbers", "c": "complex numbers"}


def only(kinds: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that takes some kinds of numbers and refuses the others: `b`, `i`, `f`, `c`."""
    taken = " and ".join(_KINDS[kind] for kind in kinds)

    def checked(*values: Any, **attrs: Any) -> Any:
        for value in values:
            dtype = getattr(value, "dtype", None)
            if dtype is not None and dtype.kind.replace("u", "i") not in kinds:
                raise TypeError(f"it takes {taken}, not {dtype}")
        return forward(*values, **attrs)

    return checked


def wider(one: np.dtype, other: np.dtype) -> np.dtype:
    """The dtype that holds both: that of the higher kind, or the wider of one kind; of floating and complex, too."""
    if {one.kind, other.kind} == {"f", "c"}:
        return np.promote_types(one, other)
    if CATEGORY[one.kind] != CATEGORY[other.kind]:
        return one if CATEGORY[one.kind] > CATEGORY[other.kind] else other
    return np.promote_types(one, other)


def _is_bool(value: Any) -> bool:
    return value.__class__ is bool or getattr(value, "dtype", None) == bool_


def _of_number(value: Any) -> np.dtype:
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return np.result_type(_default, np.complex64) if isinstance(value, complex) else _default
