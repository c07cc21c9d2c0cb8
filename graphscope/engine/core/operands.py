"""What a call is given: the tensors, the arrays that its op runs on, the numbers, and where gradients will go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphscope.engine.core import dtypes
from graphscope.engine.core.op import Op

Operands = tuple[Sequence[Any], list[Any], list[Any], list[Any], list[Any] | None]


def gather(op: Op, inputs: Sequence[Any], tensor: Any, track: bool) -> Operands:
    """The operands of a call, of fitting dtypes.

    Args:
        op: The op.
        inputs: Tensors and numbers.
        tensor: The class of tensors.
        track: Whether gradients are on.

    Returns:
        The inputs; the tensors among them; all of them as arrays and numbers; the numbers; and for each input the
        record or leaf that its gradient goes to, or None (None for all, where none wants a gradient).
    """
    tensors, arrays, constants, targets = [], [], [], []
    dtype = None
    mixed = tracked = False
    for value in inputs:
        target: Any = None
        if value.__class__ is tensor or isinstance(value, tensor):
            array = value.array
            tensors.append(value)
            if dtype is None:
                dtype = array.dtype
            elif array.dtype is not dtype:
                mixed = True
            if track:
                target = value.node
                if target is None and value.wants_grad:
                    target = value
                if target is not None:
                    tracked = True
        else:
            array = dtypes.operand(value)
            constants.append(array)
            if array.__class__ is complex:
                mixed = True
        arrays.append(array)
        targets.append(target)
    if op.floating and dtype is not None and dtype.kind in "biu":
        mixed = True
    # Numbers take the dtype of a floating tensor in NumPy as in PyTorch; what else is mixed is for the rules there.
    if (mixed or (constants and (dtype is None or dtype.kind != "f"))) and (op.promotes or not op.takes_bool):
        dtypes.check_alike(op, arrays)
        if tracked:
            inputs = dtypes.aligned(op, inputs)
            tensors = [value for value in inputs if isinstance(value, tensor)]
            targets = [_target(value) if isinstance(value, tensor) else None for value in inputs]
        arrays = dtypes.promoted(op, inputs)
    elif not op.takes_bool and (dtype is dtypes.bool_ or True in (value.__class__ is bool for value in constants)):
        dtypes.promoted(op, inputs)
    return inputs, tensors, arrays, constants, targets if tracked else None


def _target(tensor: Any) -> Any:
    return tensor.node or (tensor if tensor.wants_grad else None)
