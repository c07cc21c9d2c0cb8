"""What a step of an optimizer does to its parameters; those on a CUDA device are waited for once, all together."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch

from graphscope.adapters.torch import tensor_base, tensor_elements
from graphscope.adapters.torch.distributed_tensors import adds_up, held, placing
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.remote_updates import RemoteStep
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.eventlog import samples
from graphscope.eventlog.appender import FLOATING
from graphscope.eventlog.interruptions import own

KINDS: Final[dict[torch.dtype, int]] = {
    dtype: FLOATING[log_dtype(dtype).name] for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
}


class Before(NamedTuple):
    """A parameter that a step is about to change."""

    sample: bytes
    gradient: int
    """Where its gradient lies; behind that, where it lies itself."""
    address: int
    nbytes: int
    floating: int


Sampled = dict[int, Before | RemoteStep]
"""What is known of parameters ahead of a step, by their identity: of those on a device the step itself knows it."""


def sampled(optimizer: Any) -> Sampled:
    """The parameters that a step is about to change, by identity; without those that can't be read where they lie."""
    found: Sampled = {}
    remote: RemoteStep | None = None
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            gradient = tensor_base.gradient(parameter)
            is_here = tensor_base.is_cpu(parameter)
            if gradient is None or not (is_here or tensor_base.is_cuda(parameter)):
                continue
            whose = id(parameter)
            if parameter.__class__ not in ORDINARY:
                if not _lie_alike(parameter, gradient):
                    continue
                parameter, gradient = held(parameter), held(gradient)
            dtype, place, pull = tensor_base.dtype(parameter), address(parameter), address(gradient)
            kind = KINDS.get(dtype)
            if not place or not pull or kind is None or tensor_base.dtype(gradient) is not dtype:
                continue
            nbytes = tensor_base.nbytes(parameter)
            if tensor_base.nbytes(gradient) != nbytes:
                continue
            if is_here:
                found[whose] = Before(samples.sample(place, nbytes, kind), pull, place, nbytes, kind)
                continue
            remote = remote or RemoteStep()
            if remote.add(parameter, gradient, place, pull, nbytes, kind):
                found[whose] = remote
    if remote is not None:
        remote.begin()
    return found


def measured(before: Before | RemoteStep | None, parameter: torch.Tensor, gradient: torch.Tensor) -> list[int]:
    """The bits of `samples.MEASURES` of a parameter that a step has changed; none where they can't be had."""
    if before is not None and parameter.__class__ not in ORDINARY:
        parameter, gradient = held(parameter), held(gradient)
    if type(before) is Before:  # quicker than `isinstance`: there are many parameters
        is_there = (address(parameter), address(gradient)) == (before.address, before.gradient)
        return samples.compare(*before) if is_there else []
    return before.measured(parameter) if isinstance(before, RemoteStep) else []


def _lie_alike(parameter: torch.Tensor, gradient: torch.Tensor) -> bool:
    """Whether the gradient of a parameter of a class of its own has the elements of it, in the same places."""
    return placing(parameter) == placing(gradient) and not adds_up(gradient)


def address(tensor: torch.Tensor, layout: torch.memory_format = torch.contiguous_format) -> int:
    """Where the elements lie in one row, in the order of a layout; 0 where they don't."""
    try:
        is_so = tensor.__class__ in ORDINARY and Own.is_contiguous(tensor, memory_format=layout)
        return tensor_elements.address(tensor) if is_so else 0
    except own(RuntimeError):  # a sparse one, or one that a transform of `torch.func` hides
        return 0
