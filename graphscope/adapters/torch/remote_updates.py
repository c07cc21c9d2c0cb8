"""What a step of an optimizer does to parameters on a CUDA device: samples are taken there, and waited for once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from graphscope.adapters.torch import remote_measures, tensor_base
from graphscope.adapters.torch.remote_measures import MeasureKernels, kernels_for
from graphscope.adapters.torch.tensor_base import Own
from graphscope.adapters.torch.tensor_elements import address
from graphscope.eventlog import samples
from graphscope.eventlog.interruptions import own

_ALIGNED = 16


class Changing(NamedTuple):
    """A parameter that a step changes, and its gradient: both lie in one row, and are of one size and dtype."""

    parameter: torch.Tensor
    place: int
    """Where it lies; behind that, where its gradient does."""
    pull: int
    nbytes: int
    floating: int
    start: int
    """Where a sample of it begins among those of all."""
    end: int

    def is_there(self) -> bool:
        """Whether both lie where they did: the device must not look at memory that was given back."""
        gradient = tensor_base.gradient(self.parameter)
        return gradient is not None and (address(self.parameter), address(gradient)) == (self.place, self.pull)

    def stretches(self, place: int, to: int) -> tuple[int, ...]:
        """What is to be copied for a sample of what lies at a place, as `STRETCHES`."""
        size = Own.element_size(self.parameter)
        runs = samples.runs_of(self.nbytes // size)
        return place, to + self.start, runs.apart * size, runs.size * size, runs.number


class RemoteStep:
    """A step that an optimizer is about to make, of parameters on the device that is current."""

    def __init__(self) -> None:
        self._changing: dict[int, Changing] = {}
        self._kernels: MeasureKernels | None = None
        self._nbytes = 0
        """So many bytes the samples of all parameters take."""
        self._memory: Any = None
        """Samples of the parameters, of their gradients, and of what the parameters are behind the step."""
        self._told: bytes | None = None

    def add(
        self, parameter: torch.Tensor, gradient: torch.Tensor, place: int, pull: int, nbytes: int, floating: int
    ) -> bool:
        """Whether it is measured what the step does to a parameter: where the device can be asked for that."""
        kernels = kernels_for(parameter)
        if kernels is None or kernels_for(gradient) is not kernels:
            return False
        self._kernels = kernels
        start = self._nbytes
        end = start + min(nbytes, samples.MOST * Own.element_size(parameter))
        self._nbytes = -(-end // _ALIGNED) * _ALIGNED
        self._changing[id(parameter)] = Changing(parameter, place, pull, nbytes, floating, start, end)
        return True

    def begin(self) -> None:
        """All parameters are known: take samples of what they are."""
        changing = list(self._changing.values())
        if changing:
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
                try:
                    self._memory = remote_measures.memory(changing[0].parameter, 3 * self._nbytes)
                    to = Own.data_ptr(self._memory)
                    self._gather([each.stretches(each.place, to) for each in changing])
                except own(RuntimeError):  # there is no memory, or the device refuses
                    self._memory = None

    def measured(self, parameter: torch.Tensor) -> list[int]:
        """The bits of `samples.MEASURES` of a parameter that is, behind the step: who asks first waits for all."""
        if self._memory is not None:
            self._end(self._memory)
            self._memory = None
        one = self._changing.get(id(parameter))
        if one is None or self._told is None:
            return []
        starts = (part * self._nbytes for part in range(3))
        before, pull, after = (self._told[start + one.start : start + one.end] for start in starts)
        return samples.compare_samples(before, pull, after, one.nbytes, one.floating)

    def _end(self, memory: Any) -> None:
        self._changing = {key: each for key, each in self._changing.items() if each.is_there()}
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            try:
                to = Own.data_ptr(memory)
                wanted = [each.stretches(each.pull, to + self._nbytes) for each in self._changing.values()]
                wanted += [each.stretches(each.place, to + 2 * self._nbytes) for each in self._changing.values()]
                self._gather(wanted)
                self._told = remote_measures.brought(memory)
            except own(RuntimeError):
                pass

    def _gather(self, wanted: Sequence[tuple[int, ...]]) -> None:
        assert self._kernels is not None
        self._kernels.gather(np.array(wanted, remote_measures.STRETCHES))
