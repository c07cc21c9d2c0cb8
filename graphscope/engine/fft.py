"""Fourier transforms under the names of `torch.fft`.

`n` and `s` say how long the transformed dims are to be: inputs are cut, or zeros put behind them. `norm` is `backward`
(the inverse divides by the number of elements; the default), `forward` (the other does) or `ortho` (both do, by its
root).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core import dims as dims_of
from graphscope.engine.core import dtypes
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.complex_numbers import COMPLEX_OF
from graphscope.engine.ops.create import made
from graphscope.engine.ops.fourier import c2c, c2r, r2c
from graphscope.engine.ops.pad import padded
from graphscope.engine.ops.rearrange import roll

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft", "irfft2", "irfftn",
    "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_POWERS: Final = {
    None: (0.0, -1.0), "backward": (0.0, -1.0), "forward": (-1.0, 0.0), "ortho": (-0.5, -0.5),
}  # fmt: skip
"""To which power of the number of elements a transform and its inverse are scaled."""

_Sizes = Sequence[int] | None


def _scale(norm: str | None, count: int, inverse: bool) -> float:
    if norm not in _POWERS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}": it is backward, forward or ortho')
    return math.pow(count, _POWERS[norm][inverse])


def _placed(input: Tensor, s: _Sizes, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """The dims to transform, counted from the front, and how long each is to be."""
    rank = input.ndim
    if s is not None and dim is None:
        dim = range(rank - len(s), rank)
    places = () if isinstance(dim, Sequence) and not dim else dims_of.several(dim, rank)
    sizes = [input.shape[place] for place in places] if s is None else list(s)
    if len(sizes) != len(places):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    sizes = [input.shape[place] if size == -1 else size for place, size in zip(places, sizes, strict=True)]
    for size in sizes:
        if size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return places, sizes


def _resized(input: Tensor, places: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Cut, or with zeros behind, so that the dims are as long as asked for."""
    more = [0] * input.ndim
    for place, size in zip(places, sizes, strict=True):
        more[place] = size - input.shape[place]
    return padded(input, [(0, size) for size in more]) if any(more) else input


def _floating(input: Tensor) -> Tensor:
    if input.array.dtype.kind in "biu":
        return input.to(dtypes.get_default_dtype())  # type: ignore[no-any-return]
    if input.array.dtype.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {input.dtype}: transforms take float32, float64 and complex numbers")
    return input


def _complex(input: Tensor) -> Tensor:
    input = _floating(input)
    return input if input.array.dtype.kind == "c" else input.to(COMPLEX_OF[input.array.dtype.name])


def _transform(input: Tensor, s: _Sizes, dim: Any, norm: str | None, inverse: bool) -> Any:
    places, sizes = _placed(input, s, dim)
    scale = _scale(norm, math.prod(sizes), inverse)
    given = _resized(_complex(input), places, sizes)
    return c2c(given, dims=places, scale=scale, inverse=inverse) if places else given


def _to_half(input: Tensor, s: _Sizes, dim: Any, norm: str | None) -> Any:
    if input.array.dtype.kind == "c":
        raise RuntimeError(f"rfft expects a real input tensor, but got {input.dtype}")
    places, sizes = _placed(input, s, dim)
    if not places:
        raise RuntimeError("rfft must transform at least one axis")
    scale = _scale(norm, math.prod(sizes), False)
    return r2c(_resized(_floating(input), places, sizes), dims=places, scale=scale)


def _from_half(input: Tensor, s: _Sizes, dim: Any, norm: str | None) -> Any:
    places, sizes = _placed(input, s, dim)
    if not places:
        raise RuntimeError("irfft must transform at least one axis")
    size = 2 * (sizes[-1] - 1) if s is None or s[-1] == -1 else sizes[-1]
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    scale = _scale(norm, math.prod(sizes[:-1]) * size, True)
    given = _resized(_complex(input), places, [*sizes[:-1], size // 2 + 1])
    return c2r(given, dims=places, scale=scale, size=size)


def _of_one(transform: Callable[..., Any], summary: str) -> Any:
    """The function of one dim of a transform of several."""

    def function(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return transform(input, None if n is None else (n,), (dim,), norm)

    return _told(function, summary, "along one dim")


def _of_two(transform: Callable[..., Any], summary: str) -> Any:
    def function(input: Tensor, s: _Sizes = None, dim: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
        return transform(input, s, dim, norm)

    return _told(function, summary, "over two dims")


def _of_several(transform: Callable[..., Any], summary: str) -> Any:
    def function(input: Tensor, s: _Sizes = None, dim: Any = None, norm: str | None = None) -> Any:
        return transform(input, s, dim, norm)

    return _told(function, summary, "over several dims, or all")


def _told(function: Callable[..., Any], summary: str, where: str) -> Callable[..., Any]:
    function.__doc__ = f"{summary}, {where}."
    return function


_FAMILIES: Final[dict[str, tuple[Callable[..., Any], str]]] = {
    "fft": (
        lambda x, s, dim, norm: _transform(x, s, dim, norm, False),
        "Fourier transform, of complex or real numbers",
    ),
    "ifft": (lambda x, s, dim, norm: _transform(x, s, dim, norm, True), "Inverse Fourier transform"),
    "rfft": (_to_half, "Half the Fourier transform of real numbers"),
    "irfft": (_from_half, "Inverse of `rfft`, to real numbers"),
}

fft, fft2, fftn = (make(*_FAMILIES["fft"]) for make in (_of_one, _of_two, _of_several))
ifft, ifft2, ifftn = (make(*_FAMILIES["ifft"]) for make in (_of_one, _of_two, _of_several))
rfft, rfft2, rfftn = (make(*_FAMILIES["rfft"]) for make in (_of_one, _of_two, _of_several))
irfft, irfft2, irfftn = (make(*_FAMILIES["irfft"]) for make in (_of_one, _of_two, _of_several))
for _name, _function in list(globals().items()):
    if _name in __all__:
        _function.__name__ = _function.__qualname__ = _name


def _spaced(numbers: np.ndarray, length: float, dtype: Any) -> Any:
    wanted = np.dtype(dtype or dtypes.get_default_dtype())
    return numbers.astype(wanted) * wanted.type(1 / length)


def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """The frequencies of the elements of a transform of `n` numbers, `d` apart: first those of at least 0."""
    values = _spaced(np.fft.ifftshift(np.arange(-(n // 2), (n + 1) // 2)), n * d, dtype)
    return made(values, requires_grad, "fft_fftfreq", device, how)


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """The frequencies of the elements of half a transform of `n` real numbers, `d` apart."""
    values = _spaced(np.arange(n // 2 + 1), n * d, dtype)
    return made(values, requires_grad, "fft_rfftfreq", device, how)


def _rolled(input: Tensor, dim: Any, sign: int) -> Any:
    places = dims_of.several(dim, input.ndim)
    shifts = [sign * (input.shape[place] // 2) % max(input.shape[place], 1) for place in places]
    return roll(input, shifts, places)


def fftshift(input: Tensor, dim: Any = None) -> Any:
    """A spectrum with the frequency 0 in the middle, along dims or all."""
    return _rolled(input, dim, 1)


def ifftshift(input: Tensor, dim: Any = None) -> Any:
    """Inverse of `fftshift`."""
    return _rolled(input, dim, -1)


_answer_for(__name__)
