"""What stands between the brackets of `x[...]`, as NumPy takes it. Where PyTorch means something else, that."""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np


def plain(index: Any) -> Any:
    """An index in which tensors and lists are arrays, and integer tensors of no dims integers.

    Raises:
        IndexError: A part can be no index.
        ValueError: A slice goes backward.
    """
    kind = index.__class__
    if kind is list and len(index) < 32 and any(_makes_tuple(part) for part in index):
        index, kind = tuple(index), tuple  # as NumPy once did, and PyTorch still does
    if kind is int or kind is np.ndarray:
        return index if kind is int else _array(index)
    if kind is tuple:
        return tuple([part if part.__class__ is int else _plain_part(part) for part in index])
    return _plain_part(index)


def _makes_tuple(part: Any) -> bool:
    return part is None or part is Ellipsis or isinstance(part, slice | list | tuple) or hasattr(part, "wants_grad")


def _plain_part(part: Any) -> Any:
    if part is None or part is Ellipsis or isinstance(part, bool | np.bool_):
        return part
    if isinstance(part, slice):
        step = _number(part.step)
        if step is not None and step <= 0:
            raise ValueError(f"step must be greater than zero, not {step}: use flip to go backward")
        return slice(_number(part.start), _number(part.stop), step)
    if hasattr(part, "wants_grad"):
        return _array(part.array)
    if isinstance(part, list | tuple | range):
        return _array(np.asarray(_values(part))) if len(part) else np.zeros(0, np.int64)
    if isinstance(part, np.ndarray | np.generic):
        return _array(part)
    try:
        return part.__index__()
    except AttributeError:
        raise IndexError(
            f"{type(part).__name__} is no index: only integers, slices (`:`), ellipsis (`...`), None and long or byte "
            "Variables are valid indices"
        ) from None


def _number(bound: Any) -> int | None:
    return bound if bound is None or bound.__class__ is int else operator.index(bound)


def _values(part: Any) -> Any:
    """The numbers of nested lists, in which tensors may stand."""
    if isinstance(part, list | tuple | range):
        return [_values(value) for value in part]
    return part.array if hasattr(part, "wants_grad") else part


def _array(array: Any) -> Any:
    kind = array.dtype.kind
    if array.dtype.type is np.uint8 and array.ndim:
        return array.astype(bool)  # as PyTorch did before it had booleans, and still does
    if kind not in "iub":
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, not {array.dtype}")
    return array if array.ndim or kind == "b" else int(array)


def is_basic(index: Any) -> bool:
    """Whether an index takes a view: it is made of integers, slices, None and ellipsis."""
    for part in index if index.__class__ is tuple else (index,):
        if part.__class__ is not int and part.__class__ is not slice and isinstance(part, _NO_VIEW):
            return False
    return True


_NO_VIEW: Final = (np.ndarray, bool, np.bool_)


def has_repeats(index: Any) -> bool:
    """Whether an index can name a place twice: by integers in arrays it can, by masks it can't."""
    return any(isinstance(part, np.ndarray) and part.dtype.kind != "b" for part in _parts(index))


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def in_two_steps(index: Any) -> tuple[Any, Any] | None:
    """An index of integers and arrays that are apart, as two: what takes a view, and then the arrays.

    NumPy takes an integer beside arrays for one more array, and puts the dim of the arrays first when they are apart:
    `x[0, :, [1, 2]]`. In PyTorch the integer is taken first, and does not count.
    """
    if index.__class__ is not tuple:
        return None
    kinds = ["a" if isinstance(part, np.ndarray) else "i" if part.__class__ is int else "-" for part in index]
    if "a" not in kinds or "i" not in kinds or "-" not in "".join(kinds).strip("-"):
        return None
    basic: list[Any] = []
    arrays: list[Any] = []
    for part in index:
        if isinstance(part, np.ndarray):
            basic += [slice(None)] * (part.ndim if part.dtype.kind == "b" else 1)
            arrays.append(part)
            continue
        basic.append(part)
        if part.__class__ is not int:
            arrays.append(part if part is Ellipsis else slice(None))
    return tuple(basic), tuple(arrays)


def alone(index: Any) -> tuple[Any, int] | None:
    """The only array of an index that has nothing else but whole slices before it, and the dim that it stands at."""
    if index.__class__ is not tuple:
        return (index, 0) if isinstance(index, np.ndarray) else None
    *before, last = index or (None,)
    if isinstance(last, np.ndarray) and all(part == slice(None) for part in before if not isinstance(part, np.ndarray)):
        return None if any(isinstance(part, np.ndarray) for part in before) else (last, len(before))
    return None
