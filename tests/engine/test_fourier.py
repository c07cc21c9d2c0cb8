"""Fourier transforms against PyTorch's: values, dtypes, gradients of first and second order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:A window was not provided:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*stft with return_complex=False:UserWarning"),
]

ONE = ("fft", "ifft", "rfft", "irfft")
TWO = tuple(f"{name}2" for name in ONE)
SEVERAL = tuple(f"{name}n" for name in ONE)
CALLS = [
    *((name, attrs) for name in ONE for attrs in (
        {}, {"n": 3}, {"n": 7}, {"n": 8, "dim": 0}, {"norm": "ortho"}, {"norm": "forward", "dim": -2},
    )),
    *((name, attrs) for name in TWO for attrs in (
        {}, {"s": (4, 3)}, {"norm": "ortho", "dim": (0, 1)}, {"s": (-1, 6), "norm": "forward"},
    )),
    *((name, attrs) for name in SEVERAL for attrs in (
        {}, {"s": (3, 5)}, {"dim": (0, 2)}, {"dim": (1,), "norm": "ortho"}, {"s": (2, 7, 2), "dim": (2, 1, 0)},
    )),
]  # fmt: skip


def of(library, name, attrs, numbers, dtype):
    """The result and two orders of gradients, as arrays."""
    x = library.tensor(numbers, dtype=getattr(library, dtype), requires_grad=True)
    y = getattr(library.fft, name)(x, **attrs)
    weight = library.tensor(np.cos(np.arange(y.numel())).reshape(tuple(y.shape)), dtype=library.float64)
    loss = ((y * (1 + 2j)).real * weight).sum() + (y.abs() ** 3 / 9).sum()
    (first,) = library.autograd.grad(loss, x, create_graph=True)
    (second,) = library.autograd.grad((first.abs() ** 2).sum(), x)
    return [part.detach().resolve_conj().numpy() for part in (y, first, second)]


@pytest.mark.parametrize(("name", "attrs"), CALLS, ids=str)
def test_transforms_agree(name, attrs):
    numbers = np.random.default_rng(5).standard_normal((4, 3, 6)) / 2
    kinds = [("float64", numbers)]
    if not name.startswith("rfft"):
        kinds.append(("complex128", numbers + 0.4j * numbers[::-1]))
    for dtype, given in kinds:
        found, expected = of(gs, name, attrs, given, dtype), of(torch, name, attrs, given, dtype)
        for mine, theirs in zip(found, expected, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ONE)
def test_dtypes_are_those_of_torch(name):
    for dtype in ("float32", "int64", "bool", "complex64", "float16"):

        def result(library, dtype=dtype):
            given = library.ones(4, dtype=getattr(library, dtype))
            try:
                return str(getattr(library.fft, name)(given).dtype)
            except RuntimeError:
                return "refused"

        assert result(gs) == result(torch)


REFUSED = [
    "fft.fft(x, n=0)", "fft.fft(x, norm='half')", "fft.fft(x, dim=3)", "fft.fftn(x, dim=(0, 0))",
    "fft.rfft(x * 1j)", "fft.irfft(x[..., :1])", "fft.fftn(x, s=(2, 2), dim=(0,))", "fft.fft2(x, s=(2, -3))",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_torch_refuses_is_refused(text):
    for library in (torch, gs):
        with pytest.raises((RuntimeError, IndexError)):
            eval(text, {"fft": library.fft, "x": library.ones(2, 3)})


AGREEING = [
    "t.fft.fftfreq(5)", "t.fft.fftfreq(6, d=0.5)", "t.fft.rfftfreq(7)", "t.fft.rfftfreq(4, 2.0, dtype=t.float64)",
    "t.fft.fftshift(t.arange(5))", "t.fft.ifftshift(t.arange(5))", "t.fft.fftshift(t.arange(12).view(3, 4))",
    "t.fft.fftshift(t.arange(12).view(3, 4), dim=1)", "t.fft.ifftshift(t.arange(12).view(3, 4), dim=(0,))",
    "t.fft.fftn(t.ones(2, 2), dim=())",
]  # fmt: skip


@pytest.mark.parametrize("text", AGREEING)
def test_frequencies_and_shifts_agree(text):
    found, expected = (eval(text, {"t": library}) for library in (gs, torch))
    assert str(found.dtype) == str(expected.dtype)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


SPECTROGRAMS = [
    {"n_fft": 8}, {"n_fft": 8, "hop_length": 3, "normalized": True}, {"n_fft": 8, "win_length": 6, "window": "hann"},
    {"n_fft": 6, "hop_length": 2, "window": "hann", "center": False}, {"n_fft": 8, "onesided": False},
    {"n_fft": 8, "pad_mode": "constant", "window": "hamming", "win_length": 8},
]  # fmt: skip


def spectrogram(library, attrs, numbers):
    """The spectra of a signal, the signal again, and the gradient of both."""
    attrs = dict(attrs)
    if "window" in attrs:
        make = getattr(library, f"{attrs['window']}_window")
        attrs["window"] = make(attrs.get("win_length", attrs["n_fft"]), dtype=library.float64)
    x = library.tensor(numbers, requires_grad=True)
    spectra = x.stft(**attrs, return_complex=True)
    found = [spectra]
    attrs.pop("pad_mode", None)
    if attrs.get("center", True):
        found += [library.istft(spectra * 2, **attrs), library.istft(spectra, **attrs, length=numbers.shape[-1])]
    loss = sum((part.abs() ** 3).sum() for part in found)
    return [part.detach().numpy() for part in (*found, *library.autograd.grad(loss, x))]
