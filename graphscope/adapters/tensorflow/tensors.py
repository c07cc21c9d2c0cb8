"""Tensors: their elements for the log, and tensors of what a debugger puts in their place."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

EagerTensor: Final[Any] = ops.EagerTensor

_TEXT: Final = tf.string.as_datatype_enum
_RESOURCE: Final = tf.resource.as_datatype_enum
_NO_NUMBERS: Final = frozenset({_TEXT, _RESOURCE, tf.variant.as_datatype_enum})
"""Dtypes of what is no array of numbers."""


def is_array(tensor: Any) -> bool:
    """Whether a value is a tensor whose elements are numbers."""
    return isinstance(tensor, EagerTensor) and tensor._datatype_enum() not in _NO_NUMBERS


def is_resource(tensor: Any) -> bool:
    """Whether a tensor is the handle of a variable, or of something like it."""
    return bool(tensor._datatype_enum() == _RESOURCE)


def array_of(tensor: Any) -> np.ndarray:
    """The elements of a tensor, of a CPU's without a copy; gradients of a few rows laid out whole."""
    if tensor.__class__ is not EagerTensor and isinstance(tensor, tf.IndexedSlices):
        tensor = tf.convert_to_tensor(tensor)
    if tensor._datatype_enum() == _TEXT:
        return np.broadcast_to(np.array(None, object), tuple(tensor.shape))
    return np.asarray(tensor)


def tensor_like(array: Any, tensor: Any) -> Any:
    """A tensor of an array, with the dtype and on the device of another one."""
    with tf.device(tensor.device):
        return tf.constant(array, tensor.dtype)
