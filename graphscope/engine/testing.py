"""`assert_close`: two tensors, or structures of them, hold nearly the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.tensor import Tensor

__all__ = ["assert_close"]

TOLERANCES: Final[dict[str, tuple[float, float]]] = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""By dtype, PyTorch's relative and absolute tolerance; others have to be equal."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Tell where two tensors, numbers, or sequences or mappings of them differ.

    Args:
        actual: What was found.
        expected: What should have been.
        allow_subclasses: Accepted; there is one class of tensors.
        rtol: How far they may be apart, relative to `expected`; by default as the dtype allows. Needs `atol`.
        atol: How far they may be apart whatever the size.
        equal_nan: NaN equals NaN.
        check_device: Accepted; there is the CPU.
        check_dtype: The dtypes have to be the same.
        check_layout: Accepted; there is one layout.
        check_stride: The strides have to be the same.
        msg: What to say instead, or a function of what would be said.

    Raises:
        AssertionError: They differ in shape, dtype, strides or numbers, or in their structure.
        ValueError: One tolerance is given without the other.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified, but only one is given")
    found = _difference(actual, expected, "", (rtol, atol), equal_nan, check_dtype, check_stride)
    if found is not None:
        raise AssertionError(found if msg is None else msg if isinstance(msg, str) else msg(found))


def _difference(actual: Any, expected: Any, place: str, *how: Any) -> str | None:
    """The first difference in two structures."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"The keys of the mappings do not match: {sorted(actual)} and {sorted(expected)}{place}"
        pairs: Any = ((key, actual[key], expected[key]) for key in expected)
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{place}"
        pairs = ((index, *pair) for index, pair in enumerate(zip(actual, expected, strict=True)))
    else:
        return _apart(actual, expected, place, *how)
    told = (_difference(left, right, f"{place or ', at '}[{key!r}]", *how) for key, left, right in pairs)
    return next((what for what in told if what is not None), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _apart(
    actual: Any,
    expected: Any,
    place: str,
    tolerances: tuple[float | None, float | None],
    equal_nan: bool,
    check_dtype: bool,
    check_stride: bool,
) -> str | None:
    """How two tensors or numbers differ."""
    left, right = (np.asarray(value.array if isinstance(value, Tensor) else value) for value in (actual, expected))
    numbers = not isinstance(actual, Tensor) and not isinstance(expected, Tensor)
    if left.shape != right.shape:
        return f"The values for attribute 'shape' do not match: {left.shape} != {right.shape}{place}"
    if check_dtype and left.dtype != right.dtype and not numbers:
        return f"The values for attribute 'dtype' do not match: {left.dtype} != {right.dtype}{place}"
    if check_stride and left.strides != right.strides:
        return f"The strides do not match: {left.strides} != {right.strides} (in bytes){place}"
    relative, absolute = (max(pair) for pair in zip(*(_allowed(array.dtype) for array in (left, right)), strict=True))
    relative = relative if tolerances[0] is None else tolerances[0]
    absolute = absolute if tolerances[1] is None else tolerances[1]
    wide = np.result_type(left.dtype, right.dtype, np.float64) if left.dtype.kind not in "iub" else left.dtype
    close = np.isclose(left.astype(wide), right.astype(wide), relative, absolute, equal_nan)
    if close.all():
        return None
    worst = np.abs(np.subtract(left, right, dtype=np.result_type(wide, np.float64)))
    index = np.unravel_index(int(np.argmax(np.where(close, -1, worst))), worst.shape)
    return (
        f"{'Scalars' if numbers else 'Tensor-likes'} are not close!\n\n"
        f"Mismatched elements: {int((~close).sum())} / {close.size} ({(~close).mean():.1%})\n"
        f"Greatest absolute difference: {worst[index]} at index {tuple(map(int, index))} (up to {absolute} allowed, "
        f"and {relative} of the expected value){place}"
    )


def _allowed(dtype: Any) -> tuple[float, float]:
    return TOLERANCES.get(np.dtype(dtype).name, (0.0, 0.0))


_answer_for(__name__)
