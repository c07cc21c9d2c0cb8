"""How a tensor prints: as PyTorch prints it, letter for letter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine.core import dtypes

if TYPE_CHECKING:
    from graphscope.engine.core.tensor import Tensor

__all__ = ["set_printoptions"]


@dataclass(frozen=True, slots=True)
class Options:
    """How tensors print: what `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES: Final = {
    "default": Options(), "short": Options(precision=2, edgeitems=2), "full": Options(threshold=math.inf)
}  # fmt: skip
_chosen = PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors print.

    Args:
        precision: Digits after the point.
        threshold: Tensors of more elements are cut in the middle.
        edgeitems: Of a dim that is cut, so many elements are shown at either end.
        linewidth: Where lines end.
        profile: Begin with `default`, `short` or `full`.
        sci_mode: Whether numbers are written with an exponent; None: where they differ much.

    Raises:
        ValueError: There is no such profile.
    """
    global _chosen
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"there is no profile {profile!r}: choose {', '.join(PROFILES)}")
    begun = _chosen if profile is None else PROFILES[profile]
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _chosen = replace(begun, sci_mode=sci_mode, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


_PREFIX: Final = "tensor("


def tensor_repr(tensor: Tensor) -> str:
    """`tensor([1., 2.], requires_grad=True)` and the like: four digits, long dims cut in the middle."""
    data = np.asarray(tensor.array)
    ordinary = {dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_}
    if dtypes.get_default_dtype() == np.float32:
        ordinary.add(np.dtype("complex64"))
    notes = []
    if not data.size:
        body = "[]"
        ordinary = {dtypes.get_default_dtype()}
        if data.ndim != 1:
            notes.append(f"size={data.shape}")
    else:
        cut = data.size > _chosen.threshold
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
        self.parts = (_Format(data.real), _Format(data.imag)) if data.dtype.kind == "c" else None
        if not self.floating:
            self.width = max(len(self._text(value)) for value in values)
            return
        found = [value for value in values if math.isfinite(value) and value]
        if found:
            sizes = [abs(value) for value in found]
            low, high = min(sizes), max(sizes)
            self.whole = all(value == math.ceil(value) for value in found)
            self.scientific = high / low > 1000 or high > 1e8 or (not self.whole and low < 1e-4)
        if _chosen.sci_mode is not None:
            self.scientific = _chosen.sci_mode
        if found:
            self.width = max(len(self._text(value)) for value in found)

    def _text(self, value: Any) -> str:
        if self.parts is not None:
            real, imag = self.parts
            sign = "+" if imag._text(value.imag)[0] not in "-+" else ""
            return f"{real._text(value.real)}{sign}{imag._text(value.imag)}j"
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{_chosen.precision}e}"
        if self.whole:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{_chosen.precision}f}"

    def __call__(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


def _nested(data: np.ndarray, indent: int, cut: bool, write: _Format) -> str:
    if data.ndim == 0:
        return write(data.item())
    parts = list(_ends(data)) if cut and len(data) > 2 * _chosen.edgeitems else list(data)
    if data.ndim == 1:
        words = [" ..." if part is None else write(part.item()) for part in parts]
        per_line = max(1, (_chosen.linewidth - indent) // (write.width + 2))
        lines = [", ".join(words[start : start + per_line]) for start in range(0, len(words), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    blocks = ["..." if part is None else _nested(part, indent + 1, cut, write) for part in parts]
    return "[" + ("," + "\n" * (data.ndim - 1) + " " * (indent + 1)).join(blocks) + "]"


def _ends(data: np.ndarray) -> Iterator[Any]:
    yield from data[: _chosen.edgeitems]
    yield None
    yield from data[len(data) - _chosen.edgeitems :]


def _shown(data: np.ndarray) -> np.ndarray:
    """The elements that remain when long dims are cut."""
    for dim, length in enumerate(data.shape):
        if length > 2 * _chosen.edgeitems:
            ends = [*range(_chosen.edgeitems), *range(length - _chosen.edgeitems, length)]
            data = data.take(np.array(ends, np.int64), dim)
    return data


def _with_notes(text: str, notes: list[str]) -> str:
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if used + len(note) + 2 > _chosen.linewidth:
            text += ",\n" + " " * len(_PREFIX) + note
            used = len(_PREFIX) + len(note)
        else:
            text += ", " + note
            used += len(note) + 2
    return text + ")"
