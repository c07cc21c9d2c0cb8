"""What the log keeps of a tensor: its elements, their statistics, or whether they are finite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from graphscope.adapters.kit.value_policy import is_read, unkept, wanted
from graphscope.adapters.torch import remote_values, tensor_base, tensor_elements
from graphscope.adapters.torch.compiled import Site
from graphscope.adapters.torch.distributed_tensors import held
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.eventlog.appender import measure
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.schema import DTYPES as DTYPES_BY_CODE
from graphscope.eventlog.template import Template
from graphscope.eventlog.values import pack, unpack


class Keeping(Site):
    """A template, and how the value of its rows is had from a tensor."""

    __slots__ = ("kept", "unkept")

    def __init__(self, template: Template, like: torch.Tensor | None = None) -> None:
        self.template = template
        if like is not None:
            self.shape, self.dtype = torch.Size(shape_of(like)), tensor_base.dtype(like)
        self.next = None
        """Another variant of the same call site."""
        self.slots: tuple[Keeping, ...] | None = None
        self.varying = 0
        self.kept, self.summary, self.floating = wanted(template)
        self.nbytes = template.nbytes
        self.ordered = self.kept and not self.summary
        """Whether it matters in which order the elements come."""
        self.unkept = unkept(template)
        """For a tensor whose elements can't be had."""
        self.awaiting: Template | None = None
        """For a tensor whose elements are to come later, once there was one."""
        self.wanted = is_read(template)
        """Whether the elements matter: to be kept, or to be told that they are not finite."""
        name = DTYPES_BY_CODE[template.fields[1]]
        is_measured = self.floating and not name.startswith("complex")  # statistics are those of its absolute values
        self.direct = bool(measure is not None and name and (is_measured or not self.summary))
        """Whether the elements can be read where they lie."""

    def is_for(self, tensor: torch.Tensor) -> bool:
        """Whether the rows are those of tensors of such a shape and dtype."""
        return bool(self.shape == shape_of(tensor) and self.dtype is tensor_base.dtype(tensor))

    def fits(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor has as many bytes as a row of this template tells of."""
        try:
            return tensor.__class__ in ORDINARY and tensor_base.nbytes(tensor) == self.nbytes
        except own(RuntimeError):  # a sparse one
            return False

    def read(self, tensor: torch.Tensor) -> tuple[Template, Any]:
        """The template and the value to append for a tensor: its address, where its elements lie in one row."""
        if not self.wanted:
            return self.template, None
        if self.direct and tensor.__class__ in ORDINARY and tensor_base.is_cpu(tensor):
            try:
                lies = Own.is_contiguous(tensor) and not tensor_base.is_nested(tensor)  # of which no shape tells
                address = tensor_elements.address(tensor) if lies else 0
                if address and not tensor_elements.is_lazy(tensor):
                    return self.template, measure(address, self.nbytes, self.floating) if self.summary else address
            except own(RuntimeError):  # a transform of `torch.func` hides it, compressed sparse tensors have none
                pass
        return self._elsewhere(tensor)

    def _elsewhere(self, tensor: torch.Tensor) -> tuple[Template, Any]:
        """The same for elements that lie apart, on another device, in a part of the tensor, or are not floating."""
        if tensor.__class__ not in ORDINARY and (part := held(tensor)) is not tensor:
            return self.read(part)
        if tensor_elements.is_remote(tensor):
            promised = remote_values.promise(self.template, self.floating, tensor)
            if promised is not None:
                self.awaiting = self.awaiting or self.template.awaiting()
                return self.awaiting, promised
            if self.summary or not self.kept:
                return self._of_remote(tensor)
        plain = tensor_elements.plainly(tensor)
        if plain is None:
            return self.unkept, None
        if not self.kept:  # they are looked at, whether they are finite
            return self.template, tensor_elements.array(tensor_elements.distinct(plain)[0])
        found = self._summary(plain) if self.summary else tensor_elements.array(plain)
        return (self.unkept, None) if found is None else (self.template, found)

    def _of_remote(self, tensor: torch.Tensor) -> tuple[Template, Any]:
        """The same for an accelerator's, of which a few numbers are wanted: they are computed there."""
        plain = tensor_elements.where_it_lies(tensor)
        if plain is None:
            return self.unkept, None
        if self.summary:
            told = tensor_elements.statistics(plain)
            return (self.unkept, None) if told is None else (self.template, pack(told))
        return (self.unkept if tensor_elements.is_finite(plain) else self.template.flagged()), None

    def _summary(self, plain: torch.Tensor) -> bytes | None:
        row, times = None, 1
        if self.direct:
            few, times = tensor_elements.distinct(plain)
            row = tensor_elements.in_one_row(few)
        if row is None or Own.numel(row) == 0:
            told = tensor_elements.statistics(plain)
            return None if told is None else pack(told)
        found: bytes = measure(Own.data_ptr(row), tensor_base.nbytes(row), self.floating)
        if times == 1:
            return found
        once = unpack(found, Own.numel(plain))
        return pack(replace(once, nan=once.nan * times, inf=once.inf * times, zero=once.zero * times))
