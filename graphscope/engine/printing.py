"""How a tensor prints: as PyTorch prints it, letter for letter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine import dtypes

if TYPE_CHECKING:
    from graphscope.engine.tensor import Tensor

_DIGITS: Final = 4
_MOST_ELEMENTS: Final = 1000
_EDGE: Final = 3
"""Of a dim that is cut, so many elements are shown at either end."""
_LINE: Final = 80
_PREFIX: Final = "tensor("


def tensor_repr(tensor: Tensor) -> str:
    """`tensor([1., 2.], requires_grad=True)` and the like: four digits, long dims cut in the middle."""
    data = np.asarray(tensor.array)
    ordinary = {dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_}
    notes = []
    if not data.size:
        body = "[]"
        ordinary = {dtypes.get_default_dtype()}
        if data.ndim != 1:
            notes.append(f"size={data.shape}")
    else:
        cut = data.size > _MOST_ELEMENTS
        body = _nested(data, len(_PREFIX), cut, _Format(_shown(data) if cut else data))
    if data.dtype not in ordinary:
        notes.append(f"dtype=torch.{data.dtype.name}")
    if tensor.node is not None:
        notes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    return ("Parameter containing:\n" if tensor.is_parameter else "") + _with_notes(_PREFIX + body, notes)


class _Format:
    """How the elements of one tensor are written, so that they line up."""

    def __init__(self, data: np.ndarray) -> None:
        self.floating = data.dtype.kind == "f"
        self.whole = True
        self.scientific = False
        self.width = 1
        values: list[Any] = data.ravel().tolist()
        if not self.floating:
            self.width = max(len(str(value)) for value in values)
            return
        found = [value for value in values if math.isfinite(value) and value]
        if found:
            sizes = [abs(value) for value in found]
            low, high = min(sizes), max(sizes)
            self.whole = all(value == math.ceil(value) for value in found)
            self.scientific = high / low > 1000 or high > 1e8 or (not self.whole and low < 1e-4)
            self.width = max(len(self._text(value)) for value in found)

    def _text(self, value: Any) -> str:
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{_DIGITS}e}"
        if self.whole:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{_DIGITS}f}"

    def __call__(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


def _nested(data: np.ndarray, indent: int, cut: bool, write: _Format) -> str:
    if data.ndim == 0:
        return write(data.item())
    parts = list(_ends(data)) if cut and len(data) > 2 * _EDGE else list(data)
    if data.ndim == 1:
        words = [" ..." if part is None else write(part.item()) for part in parts]
        per_line = max(1, (_LINE - indent) // (write.width + 2))
        lines = [", ".join(words[start : start + per_line]) for start in range(0, len(words), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    blocks = ["..." if part is None else _nested(part, indent + 1, cut, write) for part in parts]
    return "[" + ("," + "\n" * (data.ndim - 1) + " " * (indent + 1)).join(blocks) + "]"


def _ends(data: np.ndarray) -> Iterator[Any]:
    yield from data[:_EDGE]
    yield None
    yield from data[-_EDGE:]


def _shown(data: np.ndarray) -> np.ndarray:
    """The elements that remain when long dims are cut."""
    for dim, length in enumerate(data.shape):
        if length > 2 * _EDGE:
            data = np.concatenate([data.take(range(_EDGE), dim), data.take(range(length - _EDGE, length), dim)], dim)
    return data


def _with_notes(text: str, notes: list[str]) -> str:
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if used + len(note) + 2 > _LINE:
            text += ",\n" + " " * len(_PREFIX) + note
            used = len(_PREFIX) + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text + ")"
