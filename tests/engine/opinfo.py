"""PyTorch's own samples of its ops, its OpInfo database, run by it and by the engine: values and first gradients."""

from __future__ import annotations

import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import graphscope as gs

TOLERANCE = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-4, "complex64": 2e-4, "float16": 4e-3, "bfloat16": 3e-2}
"""How far two results may be apart: relative to an element, and to the largest one where that is less than 1."""
_LEAST = 1e-2
"""Smaller than this is no size that an error is told by."""
_SEEDED = "wrapper_set_seed"
"""PyTorch's database calls this for what depends on its random numbers."""
_UNFORESEEN = {"new_empty", "empty", "empty_like", "normal", "normal.number_mean", "normal.in_place", "bernoulli",
               "multinomial"}  # fmt: skip
"""Others whose elements nobody foresees: only dtype and shape are compared."""


def ours_of(info: Any) -> Callable[..., Any] | None:
    """Our function, or method, of the name that the database has for an op; None where the engine has none."""
    found: Any = gs
    for part in info.name.split("."):
        found = getattr(found, part, None)
    found = found if callable(found) else getattr(gs.Tensor, info.name, None)
    return found and (_in_our_words(info.op) if getattr(info.op, "__name__", "") == "<lambda>" else found)


def _in_our_words(function: Any) -> Any:
    """A function of the database with graphscope in the place of PyTorch."""
    if not isinstance(function, types.FunctionType):
        return function
    names = {**function.__globals__, "torch": gs}
    return types.FunctionType(function.__code__, names, None, function.__defaults__, function.__closure__)


OURS = [(info, ours) for info in op_db if (ours := ours_of(info)) is not None]
"""What we have of the database."""


def array_of(value: Any) -> Any:
    """The elements of a tensor of either kind."""
    if isinstance(value, gs.Tensor):
        return np.asarray(value.detach().array)
    value = value.detach().resolve_conj().resolve_neg()
    if value.dtype is torch.bfloat16:
        return value.contiguous().view(torch.int16).numpy().view(np.dtype(gs.bfloat16))
    return value.numpy(force=True)


class Translation:
    """What PyTorch is given as what we are given: the same elements, no memory shared."""

    def __init__(self) -> None:
        self.leaves: list[tuple[Any, Any]] = []
        """Pairs of tensors that require grad: theirs, ours."""

    def __call__(self, value: Any) -> Any:
        """Translate one argument."""
        if isinstance(value, torch.Tensor):
            ours = gs.Tensor(array_of(value).copy(order="K")[()]).requires_grad_(value.requires_grad)
            if value.requires_grad:
                self.leaves.append((value, ours))
            return ours
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return getattr(gs, str(value).removeprefix("torch."))
        return gs.device(str(value)) if isinstance(value, torch.device) else value


def differences(info: Any, ours: Any, dtype: Any, count: int | None = None) -> Iterator[str]:
    """What the engine says of an op otherwise than PyTorch, sample by sample.

    Args:
        info: The op, as PyTorch's database describes it.
        ours: Our function.
        dtype: That of the samples.
        count: How many samples; None is all.
    """
    tracks = info.supports_autograd and dtype is not torch.bfloat16 and dtype in info.supported_backward_dtypes("cpu")
    torch.manual_seed(zlib.crc32(info.name.encode()))
    for place, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=tracks)):
        if place == count:
            return
        translated = Translation()
        given = (sample.input, sample.args, sample.kwargs)
        mine, args, kwargs = pytree.tree_map(translated, given)
        expected = info.op(sample.input, *sample.args, **sample.kwargs)
        try:
            found = ours(mine, *args, **kwargs)
        except Exception as error:
            said = f"raises {type(error).__name__}: {error}"
        else:
            process = sample.output_process_fn_grad
            said = _unlike(pytree.tree_leaves(expected), pytree.tree_leaves(found), _is_random(info))
            said = said or _gradients_unlike(translated.leaves, process, expected, found, _is_random(info))
        if said:
            told = pytree.tree_map(lambda value: _told(value), given)
            yield f"{info.full_name} {str(dtype)[6:]}: {said} (sample {place}: {told})"


def _is_random(info: Any) -> bool:
    return info.full_name in _UNFORESEEN or _SEEDED in getattr(getattr(info.op, "__code__", None), "co_names", ())


def _unlike(expected: list[Any], found: list[Any], random: bool) -> str | None:
    """How results differ; None where they do not."""
    if len(expected) != len(found):
        return f"{len(found)} results, not {len(expected)}"
    said = (_one_unlike(one, other, random) for one, other in zip(expected, found, strict=True))
    return next(filter(None, said), None)


def _one_unlike(expected: Any, found: Any, random: bool) -> str | None:
    if not isinstance(expected, torch.Tensor):
        same = np.isclose(found, expected, 1e-4, 1e-5) if isinstance(expected, float | complex) else None
        return None if same or str(found) == str(expected) else f"{found}, not {expected}"
    if not isinstance(found, gs.Tensor):
        return f"{found!r}, no tensor"
    expected, found = array_of(expected), array_of(found)
    for what in ("dtype", "shape"):
        if getattr(expected, what) != getattr(found, what):
            return f"{what} {getattr(found, what)}, not {getattr(expected, what)}"
    return None if random else elements_unlike(expected, found)


def elements_unlike(expected: Any, found: Any) -> str | None:
    """How the elements of two arrays of one shape and dtype differ; None where they do not."""
    tolerance = TOLERANCE.get(expected.dtype.name)
    if tolerance is None:
        wrong = found != expected
    else:
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        one, other = found.astype(wide), expected.astype(wide)
        sizes = np.abs(other)
        size = min(max(sizes[np.isfinite(sizes)].max(initial=0.0), _LEAST), 1.0)
        wrong = ~np.isclose(one, other, tolerance, tolerance * size, equal_nan=True)
    if not wrong.any():
        return None
    place = tuple(int(index[0]) for index in np.nonzero(np.atleast_1d(wrong)))
    return f"{np.atleast_1d(found)[place]}, not {np.atleast_1d(expected)[place]}, at {place} of {expected.shape}"


def _gradients_unlike(leaves: list[Any], process: Any, expected: Any, found: Any, random: bool) -> str | None:
    """How the gradients of the inputs differ; one that is None is one of zeros."""
    theirs = _differentiable(process(expected), torch.Tensor)
    ours = _differentiable(_in_our_words(process)(found), gs.Tensor)
    if not leaves or not theirs:
        return None
    inputs, mine = zip(*leaves, strict=True)
    given = [_cotangent(value, number) for number, value in enumerate(theirs)]
    expected = torch.autograd.grad(theirs, inputs, given, allow_unused=True)
    if len(ours) != len(theirs):
        flows = any(g is not None and g.any() for g in expected)
        return f"gradients flow to {len(ours)} results, not {len(theirs)}" if flows else None
    try:
        found = gs.autograd.grad(ours, mine, [gs.Tensor(array_of(g)[()]) for g in given], allow_unused=True)
    except Exception as error:
        return f"gradient raises {type(error).__name__}: {error}"
    expected = [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(expected, inputs, strict=True)]
    found = [gs.zeros_like(leaf) if g is None else g for g, leaf in zip(found, mine, strict=True)]
    said = _unlike(expected, found, random)
    return said and f"gradient {said}"


def _differentiable(result: Any, tensor: Any) -> list[Any]:
    return [
        value
        for value in pytree.tree_leaves(result)
        if isinstance(value, tensor) and value.requires_grad and value.numel()
    ]


def _cotangent(value: Any, number: int) -> Any:
    random = np.random.default_rng(number)
    g = random.uniform(0.5, 1.5, tuple(value.shape))
    return torch.from_numpy(np.asarray(g + 1j * g[..., ::-1] if value.is_complex() and g.ndim else g)).to(value.dtype)


def _told(value: Any) -> Any:
    return f"{str(value.dtype)[6:]}{list(value.shape)}" if isinstance(value, torch.Tensor) else value
