"""The norm of all gradients that an optimizer took, of steps that are recorded or left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.torch import remote_measures, tensor_base
from graphscope.adapters.torch.distributed_tensors import adds_up, held
from graphscope.adapters.torch.remote_measures import MeasureKernels, kernels_for
from graphscope.adapters.torch.tensor_base import Own
from graphscope.adapters.torch.tensor_elements import distinct, in_one_row, is_remote, where_it_lies
from graphscope.adapters.torch.update_measures import KINDS, address
from graphscope.eventlog.appender import measure
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.values import unpack

_norm: Final[Any] = torch._C._linalg.linalg_vector_norm  # type: ignore[attr-defined]
_stack: Final[Any] = torch._C._VariableFunctions.stack
_SINGLE: Final = 4
_NUMBER: Final = 8
"""So many bytes a number of single precision has, and one of double precision."""


def gradient_norm(optimizer: Any) -> float | None:
    """Their 2-norm; None where there are none, or where some can't be read where they lie.

    Of distributed ones the parts are measured that this rank holds: no rank waits for others so that it is known.

    Modes of the program see no op of torch that computes it: of gradients on this machine there is none. Those on a
    device are measured there, and waited for once, all together.
    """
    squares: list[float | None]
    with torch._C.DisableTorchFunction():
        gradients = [tensor_base.gradient(each) for group in optimizer.param_groups for each in group["params"]]
        given = [each for each in gradients if each is not None]
        if {*map(type, given)} - {torch.Tensor}:
            if any(map(adds_up, given)):
                return None
            given = [held(each) for each in given]
        squares = [_square(each) for each in given]
        elsewhere = [each for each, square in zip(given, squares, strict=True) if square is None]
        if elsewhere:
            squares = [*(each for each in squares if each is not None), *_squares_elsewhere(elsewhere)]
    known = [each for each in squares if each is not None]
    return math.sqrt(sum(known)) if known and len(known) == len(squares) else None


def _square(gradient: torch.Tensor) -> float | None:
    """The sum of the squares of the elements, in whatever order they lie; NaN where one is NaN."""
    kind = KINDS.get(tensor_base.dtype(gradient))
    if measure is None or kind is None or not tensor_base.is_cpu(gradient):
        return None
    place = address(gradient) or address(gradient, torch.channels_last)
    if not place:
        return None if Own.numel(gradient) else 0.0
    told = unpack(measure(place, tensor_base.nbytes(gradient), kind), Own.numel(gradient))
    if told.nan or told.inf:
        return math.nan if told.nan else math.inf
    return told.count * (told.mean * told.mean + told.std * told.std)


def _squares_elsewhere(gradients: Sequence[torch.Tensor]) -> list[float | None]:
    """The same of gradients on a device, in any order."""
    if not all(is_remote(each) and tensor_base.dtype(each) in KINDS for each in gradients):
        return [None]
    kernels = [kernels_for(each) for each in gradients]
    ours = [each for each, found in zip(gradients, kernels, strict=True) if found is not None]
    others = [each for each, found in zip(gradients, kernels, strict=True) if found is None]
    here = next((found for found in kernels if found is not None), None)
    with torch._C._DisableTorchDispatch():
        try:
            norms = _norms(others)  # they are queued before something waits
            squares = _squared(here, ours) if here is not None else []
            return [*squares, *(norm * norm for each in norms for norm in Own.tolist(each))]
        except own(RuntimeError, TypeError, NotImplementedError):  # there is no memory, or the device refuses
            return [None]


def _squared(kernels: MeasureKernels, gradients: Sequence[torch.Tensor]) -> list[float]:
    """The same of those on the device that is current, after one wait.

    Raises:
        RuntimeError: Some can't be had.
    """
    rows = [_in_one_row(each) for each in gradients]
    memory = remote_measures.memory(gradients[0], _NUMBER * len(rows))
    start = Own.data_ptr(memory)
    table = [
        (Own.data_ptr(row), start + _NUMBER * place, Own.numel(row), KINDS[tensor_base.dtype(row)])
        for place, (row, _) in enumerate(rows)
    ]
    kernels.add_squares(np.array(table, remote_measures.ELEMENTS))
    sums = np.frombuffer(remote_measures.brought(memory)).tolist()
    return [total * times for total, (_, times) in zip(sums, rows, strict=True)]


def _in_one_row(gradient: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The elements of a gradient on a device without a gap, and how often each is there."""
    if address(gradient):
        return gradient, 1
    plain = where_it_lies(gradient)
    few, times = (None, 1) if plain is None else distinct(plain)
    row = None if few is None else in_one_row(few)
    if row is None:
        raise RuntimeError("a gradient can't be read where it lies")
    return row, times


def _norms(gradients: Sequence[torch.Tensor]) -> list[Any]:
    """The norms of what no kernel of ours measures, as on another device than the current one: a tensor for each.

    Raises:
        RuntimeError: Some can't be had.
    """
    found: dict[torch.device, list[Any]] = {}
    for each in gradients:
        plain = where_it_lies(each)
        if plain is None:
            raise RuntimeError("a gradient has no elements of its own")
        wide = torch.float32 if Own.element_size(plain) < _SINGLE else None
        found.setdefault(tensor_base.device(each), []).append(_norm(plain, dtype=wide))
    return list(map(_stack, found.values()))
