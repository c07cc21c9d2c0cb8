"""The same module of graphscope and of PyTorch, with the same weights, run on the same data."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")


def both(make, dtype="float64"):
    """The module that `make(gs)` and `make(torch)` return; both begin with the weights of the second."""
    theirs = make(torch).to(getattr(torch, dtype))
    mine = make(gs).to(getattr(gs, dtype))
    mine.load_state_dict({key: gs.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    return mine, theirs


def flat(value):
    """The tensors of a result."""
    if isinstance(value, tuple | list):
        return [part for piece in value for part in flat(piece)]
    return [] if value is None else [value]


def compare(modules, program, *data, rtol=1e-9):
    """Run `program(t, module, *tensors)` on both: what it returns must agree, and all gradients."""
    found = []
    for t, module in zip((gs, torch), modules, strict=True):
        module.zero_grad()
        given = [t.tensor(value, requires_grad=value.dtype.kind == "f") for value in data]
        out = flat(program(t, module, *given))
        total = 0
        for number, part in enumerate(out):
            if part.requires_grad:
                total = total + (part * part).sum() * (number + 1)
        if isinstance(total, t.Tensor):
            total.backward()
        leaves = [value for value in (*given, *module.parameters()) if value.requires_grad]
        gradients = [None if leaf.grad is None else np.array(leaf.grad.numpy()) for leaf in leaves]
        found.append([part.detach().numpy() for part in out] + gradients)
    for mine, other in zip(*found, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol / 10)
