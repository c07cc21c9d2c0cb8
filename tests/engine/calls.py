"""Lines of code run by PyTorch and by us on the same numbers, and whether they agree in all that can be seen.

In a line `t` is the library and `F` its `nn.functional`; the names of NUMBERS are tensors, and those that are floating
require grad. A line with `=` or `;` is run, and its result is `out`; there x, v, c, q and s are no leaves, so that they
can be written in place.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import graphscope as gs
from graphscope.engine.core.tensor import Tensor

_numbers = np.random.default_rng(0)


def _distinct(*shape: int) -> np.ndarray:
    size = int(np.prod(shape))
    return np.asarray(_numbers.permutation(size).reshape(shape) * 0.37 - 1.1, np.float32)


def _with(array: np.ndarray, value: float, *places: Any) -> np.ndarray:
    array = array.copy()
    for place in places:
        array[place] = value
    return array


NUMBERS: dict[str, np.ndarray] = {
    "x": _distinct(3, 4),
    "y": _distinct(3, 4),
    "v": _distinct(5),
    "w": _distinct(4),
    "s": _distinct(),
    "c": _distinct(2, 3, 4),
    "q": _distinct(3, 3),
    "z": _distinct(1, 3, 1),
    "one": _distinct(1, 1),
    "ties": _numbers.integers(0, 3, (3, 4)).astype(np.float32),
    "i": _numbers.integers(0, 3, (3, 4)),
    "row": _numbers.integers(0, 3, 4),
    "square": _numbers.integers(0, 3, (2, 2)),
    "number": np.array(1),
    "m": _numbers.random((3, 4)) > 0.5,
    "columns": np.array([True, False, True, True]),
    "rows": np.array([True, False, True]),
    "empty": np.zeros(0, np.float32),
    "none": np.zeros((0, 3), np.float32),
}
NUMBERS |= {
    "nan": _with(NUMBERS["x"], np.nan, (0, 2), (2, 1)),
    "zero": _with(NUMBERS["v"], 0, 1),
    "zeros": _with(NUMBERS["x"], 0, (0, 1), (1, 1), (1, 3)),
    "inf": _with(NUMBERS["v"], -np.inf, 1),
}
WRITTEN = ("x", "v", "c", "q", "s")


def _ours(array: np.ndarray) -> Any:
    return Tensor(array.copy() if array.ndim else array[()], requires_grad=array.dtype.kind == "f")


def _theirs(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array.copy()).requires_grad_(array.dtype.kind == "f")


def _outcome(line: str, library: Any, functional: Any, make: Any) -> tuple[Any, ...]:
    """The error that a line raises; or its results, which of them require grad, and gradients of both orders."""
    leaves = {name: make(array) for name, array in NUMBERS.items()}
    names = {**leaves, "t": library, "F": functional}
    try:
        if re.match(r"[a-z0-9_, ]+(\[.*?\])? [-+*/]?= ", line) or ";" in line:
            names |= {name: leaves[name] * 1 for name in WRITTEN}
            exec(line.replace("; ", "\n"), names)
            out = names["out"]
        else:
            out = eval(line, names)
        outs = [part for part in _flat(out) if hasattr(part, "requires_grad")]
        gradients = _gradients(library, outs, [leaf for leaf in leaves.values() if leaf.requires_grad], make)
    except Exception as error:
        return type(error), str(error)
    return [_shown(part) for part in _flat(out)], [part.requires_grad for part in outs], *gradients


def _flat(value: Any) -> list[Any]:
    return [part for each in value for part in _flat(each)] if isinstance(value, tuple | list) else [value]


def _shown(value: Any) -> Any:
    if hasattr(value, "requires_grad"):
        return np.asarray(value.detach().numpy())
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def _gradients(library: Any, outs: list[Any], leaves: list[Any], make: Any) -> list[list[Any]]:
    """Of a number made of the results, and of a number made of its gradients."""
    found = []
    total: Any = None
    for out in outs:
        if out.requires_grad:
            weights = make(np.linspace(0.5, 1.5, out.numel(), dtype=np.float32).reshape(tuple(out.shape))).detach()
            part = (out * out * weights + out * weights).sum()
            total = part if total is None else total + part
    for order in range(2):
        if total is None or not total.requires_grad:
            break
        gradients = library.autograd.grad([total], leaves, create_graph=not order, allow_unused=True)
        found.append([None if gradient is None else _shown(gradient) for gradient in gradients])
        parts = [(gradient * gradient).sum() for gradient in gradients if gradient is not None]
        total = sum(parts[1:], start=parts[0]) if parts else None
    return found


def assert_agree(line: str) -> None:
    """Run a line with both libraries, and hold what comes of ours to what comes of PyTorch."""
    import torch

    theirs = _outcome(line, torch, torch.nn.functional, _theirs)
    ours = _outcome(line, gs, gs.nn.functional, _ours)
    if isinstance(theirs[0], type) or isinstance(ours[0], type):
        assert theirs[0] == ours[0], f"PyTorch: {theirs[:2]}, we: {ours[:2]}"
        return
    for kind, (expected, found) in enumerate(zip(theirs[0], ours[0], strict=True)):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), kind
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert ours[1] == theirs[1], "which results require grad"
    _assert_same(theirs[2] if len(theirs) > 2 else [], ours[2] if len(ours) > 2 else [], unused_is_zero=False)
    _assert_same(theirs[3] if len(theirs) > 3 else [], ours[3] if len(ours) > 3 else [], unused_is_zero=True)


def _assert_same(theirs: list[Any], ours: list[Any], *, unused_is_zero: bool) -> None:
    count = max(len(theirs), len(ours))
    for expected, found in zip(theirs or [None] * count, ours or [None] * count, strict=True):
        if unused_is_zero and (expected is None or found is None):
            assert all(array is None or not np.nan_to_num(array).any() for array in (expected, found))
        elif expected is None or found is None:
            assert expected is found
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
