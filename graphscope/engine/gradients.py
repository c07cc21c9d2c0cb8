"""Asking for gradients: `backward`, `grad`, hooks, and gradients that are kept."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphscope.engine.autograd import run_backward
from graphscope.engine.node import RETAINED, Handle, hooks_of
from graphscope.engine.tensor import Tensor, method


@method
def retain_grad(self: Tensor) -> None:
    """Keep the gradient that passes through this tensor in its `grad`.

    Raises:
        RuntimeError: It does not require grad.
    """
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.node is not None:
        self.retains_grad = True
        self.node[RETAINED] = weakref.ref(self)


@method
def register_hook(self: Tensor, hook: Any) -> Handle:
    """Call `hook(gradient)` when the gradient of this tensor is whole; what it returns takes the gradient's place.

    Raises:
        RuntimeError: The tensor does not require grad.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.node is not None:
        return Handle(hooks_of(self.node), hook)
    if self.hooks is None:
        self.hooks = []
    return Handle(self.hooks, hook)


@method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
) -> None:
    """Compute the gradients of this tensor, and add them to the `grad` of the leaves that it was made of.

    Args:
        gradient: The cotangent to begin with; may be left out for a single element.
        retain_graph: Keep the graph for another pass (default: as `create_graph`).
        create_graph: Make the gradients differentiable themselves.
        inputs: Accumulate into these tensors alone.

    Raises:
        RuntimeError: There is no graph, it was freed, or `gradient` is missing or of the wrong shape.
    """
    start = [_cotangent(self, gradient, create_graph)]
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        run_backward([self], start, retain_graph=retain, create_graph=create_graph)
        return
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    found = run_backward([self], start, retain_graph=retain, create_graph=create_graph, wanted=wanted, accumulate=False)
    for leaf, value in zip(wanted, found, strict=True):
        if value is not None:
            value = value if isinstance(value, Tensor) else Tensor(value)
            leaf.grad = value if leaf.grad is None else leaf.grad + value


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `grad`.

    Raises:
        RuntimeError: An input was not used (and `allow_unused` is False), or as `backward`.
    """
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, Tensor) or grad_outputs is None else list(grad_outputs)
    given += [None] * (len(roots) - len(given))
    for number, tensor in enumerate(wanted):
        if not tensor.requires_grad:
            raise RuntimeError(f"input {number} of grad() does not require grad")
    start = [_cotangent(root, gradient, create_graph) for root, gradient in zip(roots, given, strict=True)]
    retain = create_graph if retain_graph is None else retain_graph
    found = run_backward(roots, start, retain_graph=retain, create_graph=create_graph, wanted=wanted, accumulate=False)
    for number, value in enumerate(found):
        if value is None and not allow_unused:
            raise RuntimeError(
                f"One of the differentiated Tensors appears to not have been used in the graph: input {number} of "
                "grad(). Set allow_unused=True if this is the desired behavior."
            )
    return tuple(value if value is None or isinstance(value, Tensor) else Tensor(value) for value in found)


def _cotangent(root: Tensor, gradient: Any, create_graph: bool) -> Any:
    if not root.requires_grad:
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn: nothing that it was made of "
            "requires grad, or it was made under no_grad() or after detach()"
        )
    data = root.data
    if gradient is None:
        if data.size != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs: this tensor has shape {tuple(data.shape)}. "
                "Reduce it first, for example with .sum(), or pass a gradient of that shape."
            )
        value: Any = np.ones(data.shape, data.dtype) if data.ndim else data.dtype.type(1)
    else:
        value = gradient.data if isinstance(gradient, Tensor) else np.asarray(gradient)
        if value.shape != data.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output has a shape of {tuple(value.shape)} and output has a shape of "
                f"{tuple(data.shape)}"
            )
        if create_graph and isinstance(gradient, Tensor):
            return gradient.to(data.dtype)
        if value.dtype != data.dtype:
            value = value.astype(data.dtype)
    return Tensor(value) if create_graph else value
