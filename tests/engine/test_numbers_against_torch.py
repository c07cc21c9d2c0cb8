"""Python numbers beside tensors of every dtype: what an element cannot hold wraps or is refused, as in PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64")
CALLS = {
    "sum": lambda m, x, s: x + s,
    "difference": lambda m, x, s: s - x,
    "product": lambda m, x, s: x * s,
    "comparison": lambda m, x, s: x == s,
    "power": lambda m, x, s: s**x if isinstance(s, int) and s < 2**31 else x,
    "scaled sum": lambda m, x, s: m.add(x, x, alpha=s),
    "scaled difference": lambda m, x, s: m.sub(x, x, alpha=s),
    "scaled sum in place": lambda m, x, s: x.add_(x.clone(), alpha=s),
    "sum in place": lambda m, x, s: x.add_(s),
    "filled": lambda m, x, s: x.fill_(s),
    "full": lambda m, x, s: m.full((2,), s, dtype=x.dtype),
    "full like": lambda m, x, s: m.full_like(x, s),
    "new, full": lambda m, x, s: x.new_full((2,), s),
    "tensor": lambda m, x, s: m.tensor([s, 1], dtype=x.dtype),
    "new tensor": lambda m, x, s: x.new_tensor([s]),
    "tensor of a number": lambda m, x, s: m.scalar_tensor(s, dtype=x.dtype),
    "written": lambda m, x, s: (x.__setitem__(0, s), x)[1],
    "written by a list": lambda m, x, s: (x.__setitem__([0, 1], s), x)[1],
    "masked": lambda m, x, s: x.masked_fill(m.tensor([True, False, True]), s),
    "filled at an index": lambda m, x, s: x.index_fill(0, m.tensor([0]), s),
    "scattered": lambda m, x, s: x.scatter(0, m.tensor([0]), s),
    "chosen": lambda m, x, s: m.where(m.tensor([True, False, True]), x, s),
    "padded": lambda m, x, s: m.nn.functional.pad(x, (1, 1), value=s),
    "padded by the op": lambda m, x, s: m.constant_pad_nd(x, (1, 1), s),
    "clamped": lambda m, x, s: x.clamp(min=s),
    "clamped in place": lambda m, x, s: x.clamp_(max=s),
    "clamped from below": lambda m, x, s: x.clamp_min(s),
    "clamped from above": lambda m, x, s: x.clamp_max(s),
    "threshold": lambda m, x, s: m.nn.functional.threshold(x, s, 7),
    "hardtanh": lambda m, x, s: m.nn.functional.hardtanh(x, 0, s),
    "product added": lambda m, x, s: m.addcmul(x, x, x, value=s),
    "product added in place": lambda m, x, s: x.addcmul_(x.clone(), x.clone(), value=s),
    "matrix product added": lambda m, x, s: m.addmm(x[:, None], x[:, None], x[None, :], alpha=s),
}
NUMBERS = st.one_of(
    st.sampled_from([-1, -3, 127, 128, 255, 256, 300, -200, -255, -256, 40000, 2**31, -(2**31) - 1, 2**53 - 1]),
    st.sampled_from([0.5, 1.5, -1.5, 1e10, -1e10, 1e39, float("inf"), float("-inf"), 65504.0, 70000.0]),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False),
)


def outcome(m, dtype, name, number):
    """The result as an array; None where the call is refused."""
    x = m.tensor([3, 100, 120], dtype=getattr(m, dtype))
    try:
        out = CALLS[name](m, x, number)
    except (RuntimeError, TypeError, ValueError):  # no OverflowError of NumPy's
        return None
    return np.asarray(out.array if m is gs else out.numpy())


def known(name, dtype, number):
    """Where PyTorch has more than one way with halves, or checks in single precision what it computes in double."""
    half = dtype == "float16" and abs(number) > 65504
    return (half and name == "threshold") or (name in ("sum", "difference", "product") and dtype == "complex64")


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=12, derandomize=True, database=None, deadline=None)
@example(dtype="uint8", number=300)
@example(dtype="uint8", number=-1)
@example(dtype="uint8", number=-1.5)
@example(dtype="int8", number=200)
@example(dtype="float16", number=70000)
@example(dtype="float32", number=1e39)
@given(dtype=st.sampled_from(DTYPES), number=NUMBERS)
def test_a_number_is_taken_wrapped_or_refused(name, dtype, number):
    if known(name, dtype, number):
        return
    expected, found = outcome(torch, dtype, name, number), outcome(gs, dtype, name, number)
    assert (found is None) == (expected is None), (dtype, number, found, expected)
    if expected is not None:
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == "float16" else 1e-5)
