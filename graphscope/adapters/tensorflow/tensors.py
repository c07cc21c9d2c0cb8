"""Tensors: their elements for the log, and tensors of what a debugger puts in their place."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

EagerTensor: Final[Any] = ops.EagerTensor

_STRANGE: Final = (tf.string, tf.resource, tf.variant)
"""Dtypes of what is no array of numbers."""


def is_array(tensor: Any) -> bool:
    """Whether a value is a tensor whose elements are numbers."""
    return isinstance(tensor, EagerTensor) and tensor.dtype not in _STRANGE


def array_of(tensor: Any) -> np.ndarray:
    """The elements of a tensor, of a CPU's without a copy; gradients of a few rows laid out whole."""
    if isinstance(tensor, tf.IndexedSlices):
        tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype == tf.string:
        return np.broadcast_to(np.array(None, object), tuple(tensor.shape))
    return np.asarray(tensor)


def tensor_like(array: Any, tensor: Any) -> Any:
    """A tensor of an array, with the dtype and on the device of another one."""
    with tf.device(tensor.device):
        return tf.constant(array, tensor.dtype)
