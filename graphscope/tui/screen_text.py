"""Text of programs and logs, made fit for cells: what does not print is written as its escape, long ones are cut."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from rich.cells import cell_len, set_cell_size

from graphscope.debugger.terminal_text import escape as escape


@lru_cache(maxsize=1 << 14)
def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Text in exactly `width` cells: cut with an ellipsis, or filled up with blanks."""
    shown = escape(text)
    if cell_len(shown) <= width:
        return set_cell_size(shown, width)
    return set_cell_size(shown, width - 1) + ellipsis if width > 0 else ""


@lru_cache(maxsize=1 << 14)
def fit_name(text: str, width: int, ellipsis: str = "…") -> str:
    """The same for a name: of a dotted one (`blocks.0.norm.weight`) the end tells more than the beginning."""
    if "." not in text or not text.isascii() or len(text) <= width or width < 1:
        return fit(text, width, ellipsis)
    return ellipsis + escape(text)[1 - width :] if width > 1 else ellipsis


@lru_cache(maxsize=1 << 14)
def fit_op(text: str, width: int, ellipsis: str = "…") -> str:
    """The same for an op: of `SafeSoftmaxBackward` the first word that is left out is the last one."""
    stem = text.removesuffix(_BACKWARD)
    return fit(stem + ellipsis if len(stem) < width < len(text) else text, width, ellipsis)


def fit_shape(text: str, width: int, times: str = "×", ellipsis: str = "…") -> str:
    """The same for a shape: what is left of it are whole lengths."""
    lengths = text.split(times)
    cut = (times.join([*lengths[:count], ellipsis]) for count in range(len(lengths) - 1, 0, -1))
    return fit(next((each for each in (text, *cut) if len(each) <= width), ""), width, ellipsis)


_BACKWARD: Final = "Backward"


def shape_text(shape: tuple[int, ...], times: str = "×") -> str:
    """A shape as people write it: `2×3`; of a scalar nothing."""
    return times.join(map(str, shape))


def number(value: float, digits: int = 4) -> str:
    """A number in a few characters."""
    if value != value:  # a NaN is what is not itself
        return "nan"
    return f"{value:.{digits}g}"
