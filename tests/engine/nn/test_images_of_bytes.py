"""Images of bytes made larger and smaller: to the last bit as PyTorch, which counts in fixed point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SIZES = st.integers(2, 12)  # of 1 PyTorch 2.13 takes one layout for another at times, or stops at an assertion
IMAGES = arrays.arrays(np.uint8, st.tuples(st.integers(1, 2), st.integers(1, 6), SIZES, SIZES))
HOW_LARGE = st.one_of(
    st.builds(lambda *sizes: {"size": sizes}, SIZES, SIZES),
    st.builds(lambda *factors: {"scale_factor": factors}, st.floats(1.0, 3.0), st.floats(1.0, 3.0)),
)


@pytest.mark.slow
@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(image=IMAGES, mode=st.sampled_from(["bilinear", "bicubic"]), corners=st.booleans(), how_large=HOW_LARGE)
def test_bytes_are_those_of_pytorch(image, mode, corners, how_large):
    how = {"mode": mode, "align_corners": corners, **how_large}
    expected = torch.nn.functional.interpolate(torch.from_numpy(image.copy()), **how).numpy()
    found = gs.nn.functional.interpolate(gs.tensor(image), **how).array
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("dtype", "shape", "mode"),
    [("int64", (1, 1, 4, 4), "bilinear"), ("int64", (1, 1, 4, 4), "nearest"), ("uint8", (1, 1, 4), "linear"),
     ("uint8", (1, 1, 4, 4), "area"), ("uint8", (1, 1, 4, 4, 4), "trilinear"), ("bool", (1, 1, 4, 4), "nearest")],
)  # fmt: skip
def test_other_whole_numbers_are_refused(dtype, shape, mode):
    for m in (torch, gs):
        with pytest.raises((NotImplementedError, RuntimeError)):
            m.nn.functional.interpolate(m.ones(shape, dtype=getattr(m, dtype)), 2, mode=mode)


def test_adaptive_pooling_of_whole_numbers_is_refused():
    for m in (torch, gs):
        with pytest.raises(NotImplementedError):
            m.nn.functional.adaptive_avg_pool2d(m.ones(1, 1, 4, 4, dtype=m.int64), 2)
