"""Torch's own methods of tensors, whatever a program has put in their place or gave a class of its own."""

from __future__ import annotations

from typing import Any, Final

import torch

ORDINARY: Final = (torch.Tensor, torch.nn.Parameter)
"""Classes whose tensors answer for themselves, and most have their elements at `data_ptr`."""

Own: Final[Any] = torch._C.TensorBase
"""The class that torch writes in C: its methods are no program's."""

version: Final = Own._version.__get__
base: Final = Own._base.__get__
dtype: Final = Own.dtype.__get__
shape: Final = Own.shape.__get__
layout: Final = Own.layout.__get__
device: Final = Own.device.__get__
data: Final = Own.data.__get__
gradient: Final = Own.grad.__get__
grad_fn: Final = Own.grad_fn.__get__
nbytes: Final = Own.nbytes.__get__
requires_grad: Final = Own.requires_grad.__get__
is_leaf: Final = Own.is_leaf.__get__
hooks: Final = Own._backward_hooks.__get__
device_index: Final = Own.get_device
is_cpu: Final = Own.is_cpu.__get__
is_cuda: Final = Own.is_cuda.__get__
is_meta: Final = Own.is_meta.__get__
is_nested: Final = Own.is_nested.__get__
is_quantized: Final = Own.is_quantized.__get__
"""Its properties, as functions of a tensor."""

storage_bytes: Final[Any] = torch._C.StorageBase.nbytes  # type: ignore[attr-defined]
"""So many bytes a storage has."""
