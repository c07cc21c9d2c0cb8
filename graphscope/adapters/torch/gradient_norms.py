"""The norm of all gradients that an optimizer took, of steps that are recorded or left out."""

from __future__ import annotations

import math
from typing import Any

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.tensor_base import Own
from graphscope.adapters.torch.update_measures import KINDS, address
from graphscope.eventlog.appender import measure
from graphscope.eventlog.values import unpack


def gradient_norm(optimizer: Any) -> float | None:
    """Their 2-norm; None where there are none, or where some can't be read where they lie.

    No op of torch computes it: modes of the program would see that.
    """
    with torch._C.DisableTorchFunction():
        gradients = [tensor_base.gradient(each) for group in optimizer.param_groups for each in group["params"]]
        squares = [_square(each) for each in gradients if each is not None]
    known = [each for each in squares if each is not None]
    return math.sqrt(sum(known)) if known and len(known) == len(squares) else None


def _square(gradient: torch.Tensor) -> float | None:
    """The sum of the squares of the elements, in whatever order they lie; NaN where one is NaN."""
    kind = KINDS.get(tensor_base.dtype(gradient))
    if measure is None or kind is None or not tensor_base.is_cpu(gradient):
        return None
    place = address(gradient) or address(gradient, torch.channels_last)
    if not place:
        return None
    told = unpack(measure(place, tensor_base.nbytes(gradient), kind), Own.numel(gradient))
    if told.nan or told.inf:
        return math.nan if told.nan else math.inf
    return told.count * (told.mean * told.mean + told.std * told.std)
