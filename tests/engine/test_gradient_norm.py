"""The norm of all gradients of an optimizer is PyTorch's `get_total_norm`, whatever they hold; nothing warns."""

from __future__ import annotations

import math
import warnings

import pytest

import graphscope as gs
from graphscope.engine.core.training import gradient_norm

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

GRADIENTS = {
    "finite": [[3.0, 4.0], [12.0]],
    "one infinite": [[math.inf, 1.0], [2.0]],
    "infinite and nan": [[math.inf], [math.nan]],
    "nan": [[math.nan, 1.0], [2.0]],
    "squares overflow": [[1e30, 1e30], [1.0]],
    "zeros": [[0.0, 0.0], [0.0]],
}


@pytest.mark.parametrize("gradients", GRADIENTS.values(), ids=GRADIENTS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_norm_is_that_of_torch(gradients: list[list[float]], dtype: str) -> None:
    parameters = [gs.zeros(len(each), dtype=getattr(gs, dtype), requires_grad=True) for each in gradients]
    theirs = [torch.tensor(each, dtype=getattr(torch, dtype)) for each in gradients]
    for parameter, each in zip(parameters, theirs, strict=True):
        parameter.grad = gs.tensor(each.tolist(), dtype=getattr(gs, dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gradient_norm(gs.optim.SGD(parameters, lr=0.1))
    expected = float(torch.nn.utils.get_total_norm(theirs))
    assert found == pytest.approx(expected, rel=1e-3 if dtype == "float16" else 1e-6, nan_ok=True)
