"""Spectrograms: Fourier transforms of windows that move along a signal, and the signal again.

Source: Griffin and Lim, "Signal Estimation from Modified Short-Time Fourier Transform", 1984.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.complex_numbers import COMPLEX_OF, view_as_real
from graphscope.engine.ops.fourier import c2c, c2r, r2c
from graphscope.engine.ops.pad import pad, padded
from graphscope.engine.ops.pixels import fold

__all__ = ["istft", "stft"]


def _window(name: str, window: Tensor | None, length: int, n_fft: int, like: Tensor) -> Tensor:
    """The window in the middle of a frame; ones where there is none."""
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length} and n_fft={n_fft}")
    if window is None:
        window = Tensor(np.ones(length, like.array.real.dtype))
    if tuple(window.shape) != (length,):
        raise RuntimeError(f"{name}: expected a 1D window of {length} elements, but got shape {tuple(window.shape)}")
    before = (n_fft - length) // 2
    return padded(window, [(before, n_fft - length - before)])  # type: ignore[no-any-return]


@method
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The spectra of frames of signals (time) or (batch, time): (batch, frequency, frame), complex.

    Args:
        input: The signals.
        n_fft: How long a frame is.
        hop_length: From one frame to the next; a quarter of `n_fft` where left out.
        win_length: How long the window is; `n_fft` where left out.
        window: What each frame is multiplied by; ones where left out.
        center: Whether frames are centered at their times: then the signal is made longer at both ends.
        pad_mode: By what: see `pad`.
        normalized: Whether spectra are divided by the root of `n_fft`.
        onesided: Whether to give half of each spectrum; of real numbers the default.
        return_complex: False gives a last dim of two real numbers. Of real signals it must be said.
        align_to_window: Not offered.

    Raises:
        RuntimeError: Sizes that do not fit, or `return_complex` is not given.
        NotImplementedError: `align_to_window` is set.
    """
    is_complex = input.array.dtype.kind == "c" or (window is not None and window.array.dtype.kind == "c")
    if return_complex is None and not is_complex:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs")
    if align_to_window:
        raise NotImplementedError("stft: align_to_window is not offered")
    if input.ndim not in (1, 2) or input.array.dtype.kind not in "fc":
        raise RuntimeError(f"stft: expected 1 or 2 dims of floating numbers, not {input.dtype} of {tuple(input.shape)}")
    hop = n_fft // 4 if hop_length is None else hop_length
    frame = _window("stft", window, n_fft if win_length is None else win_length, n_fft, input)
    signals = input if input.ndim == 2 else input[None]
    if center:
        signals = pad(signals[:, None], (n_fft // 2, n_fft // 2), pad_mode)[:, 0]
    if not 0 < n_fft <= signals.shape[-1] or hop < 1:
        raise RuntimeError(
            f"stft: expected 0 < n_fft <= {signals.shape[-1]} and a hop_length of 1 at least, not {n_fft} and {hop}"
        )
    frames = signals.unfold(-1, n_fft, hop) * frame
    scale = n_fft**-0.5 if normalized else 1.0
    if (not is_complex) if onesided is None else onesided:
        if is_complex:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        spectra = r2c(frames, dims=(2,), scale=scale)
    else:
        spectra = c2c(_as_complex(frames), dims=(2,), scale=scale, inverse=False)
    found = spectra.transpose(1, 2)
    found = found if input.ndim == 2 else found[0]
    return found if return_complex or is_complex else view_as_real(found)


@method
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signals (batch, time) whose spectra `stft` gave: frames added up, divided by the sum of their windows.

    Args:
        input: Spectra (batch, frequency, frame), or of one signal (frequency, frame), complex.
        n_fft: As for `stft`; so are `hop_length`, `win_length`, `window`, `center`, `normalized` and `onesided`.
        hop_length: From one frame to the next.
        win_length: How long the window is.
        window: What each frame was multiplied by.
        center: Whether the signal had been made longer.
        normalized: Whether spectra had been divided.
        onesided: Whether they are half spectra; where left out, their size tells.
        length: Of the signals; where left out, as long as the frames reach.
        return_complex: Whether the signals are complex.

    Raises:
        RuntimeError: Sizes that do not fit, or windows that leave out parts of the signal.
    """
    if input.array.dtype.kind != "c" or input.ndim not in (2, 3):
        raise RuntimeError(f"istft: expected complex numbers of 2 or 3 dims, not {input.dtype} of {tuple(input.shape)}")
    hop = n_fft // 4 if hop_length is None else hop_length
    spectra = (input if input.ndim == 3 else input[None]).transpose(1, 2)
    half = spectra.shape[2] != n_fft if onesided is None else onesided
    if spectra.shape[2] != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError(f"istft: spectra of {spectra.shape[2]} frequencies do not go with n_fft={n_fft}")
    if return_complex and half:
        raise RuntimeError("istft: half spectra are of real signals: return_complex needs onesided=False")
    frame = _window("istft", window, n_fft if win_length is None else win_length, n_fft, spectra)
    scale = n_fft**-0.5 if normalized else 1 / n_fft
    if half:
        frames = c2r(spectra, dims=(2,), scale=scale, size=n_fft)
    else:
        frames = c2c(spectra, dims=(2,), scale=scale, inverse=True)
        frames = frames if return_complex else frames.real
    reach = n_fft + hop * (spectra.shape[1] - 1)
    total = _added(frames * frame, reach, hop)
    weight = _added((frame * frame).expand(1, spectra.shape[1], n_fft), reach, hop)
    begin = n_fft // 2 if center else 0
    end = begin + length if length is not None else reach - begin
    total, weight = total[:, begin:end], weight[:, begin:end]
    if not weight.numel() or float(np.abs(weight.array).min()) < 1e-11:
        raise RuntimeError(
            "window overlap add min: 1: the windows leave out parts of the signal: see center and window"
        )
    out = total / weight
    if length is not None and out.shape[1] < length:
        out = padded(out, [(0, 0), (0, length - out.shape[1])])
    return out if input.ndim == 3 else out[0]


def _as_complex(frames: Tensor) -> Tensor:
    dtype = frames.array.dtype
    return frames if dtype.kind == "c" else frames.to(COMPLEX_OF[dtype.name])


def _added(frames: Tensor, reach: int, hop: int) -> Tensor:
    """Frames (batch, frame, time) added up where they lie in a signal."""
    found = fold(frames.transpose(1, 2), (1, reach), (1, frames.shape[2]), stride=(1, hop))
    return found[:, 0, 0]  # type: ignore[no-any-return]
