"""Asking for gradients: `backward`, `grad`, hooks, and gradients that are kept."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphscope.engine.core.backward import run_backward
from graphscope.engine.core.hooks import hooks_behind
from graphscope.engine.core.node import RETAINED, Handle, hooks_of
from graphscope.engine.core.tensor import Tensor, method


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
        self.hooks = {}
    return Handle(self.hooks, hook)


@method
def register_post_accumulate_grad_hook(self: Tensor, hook: Any) -> Handle:
    """Call `hook(tensor)` when a backward pass has added to the `grad` of this leaf.

    Raises:
        RuntimeError: The tensor does not require grad, or is no leaf.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.node is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return Handle(hooks_behind(self), lambda leaf, _: hook(leaf))


@method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
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
    if inputs is not None:
        backward_of([self], [gradient], retain_graph, create_graph, inputs)
        return
    start = [_cotangent(self, gradient, create_graph, 0)]
    retain = create_graph if retain_graph is None else retain_graph
    run_backward([self], start, retain_graph=retain, create_graph=create_graph)


def backward_of(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of several tensors at once, and add them to the `grad` of the leaves.

    Args:
        tensors: Where to start.
        grad_tensors: Their cotangents; None for tensors of a single element.
        retain_graph: Keep the graph for another pass (default: as `create_graph`).
        create_graph: Make the gradients differentiable themselves.
        inputs: Accumulate into these tensors alone.

    Raises:
        RuntimeError: As `Tensor.backward`.
    """
    roots = _listed(tensors)
    wanted = None if inputs is None else _listed(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    start = _cotangents(roots, grad_tensors, create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    if wanted is None:
        run_backward(roots, start, retain_graph=retain, create_graph=create_graph)
        return
    found = run_backward(roots, start, retain_graph=retain, create_graph=create_graph, wanted=wanted)
    for tensor, value in zip(wanted, found, strict=True):
        if value is not None and tensor.node is not None:
            value = value if isinstance(value, Tensor) else Tensor(value)
            tensor.gradient = value if tensor.gradient is None else tensor.gradient + value


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `grad`.

    Args:
        outputs: A tensor, or several, of which the gradients are added up.
        inputs: A tensor, or several.
        grad_outputs: The cotangents of the outputs; None for those of a single element.
        retain_graph: Keep the graph for another pass (default: as `create_graph`).
        create_graph: Make the gradients differentiable themselves.
        only_inputs: Always so.
        allow_unused: Give None for an input that is not part of the graph; otherwise that is an error.
        is_grads_batched: Not offered.
        materialize_grads: Give zeros in the place of None.

    Raises:
        RuntimeError: An input was not used (and `allow_unused` is not set), there is none, or as `Tensor.backward`.
        ValueError: The flags contradict each other.
        NotImplementedError: `is_grads_batched` is set.
    """
    if is_grads_batched:
        raise NotImplementedError("is_grads_batched is not offered: call grad() for each row, or use func.jacrev")
    if materialize_grads and allow_unused is False:
        raise ValueError("allow_unused=False contradicts materialize_grads=True, which gives zeros for what is unused")
    roots, wanted = _listed(outputs), _listed(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    for number, tensor in enumerate(wanted):
        if not tensor.requires_grad:
            raise RuntimeError(f"One of the differentiated Tensors does not require grad: input {number} of grad()")
    start = _cotangents(roots, grad_outputs, create_graph)
    retain = create_graph if retain_graph is None else retain_graph
    found = run_backward(roots, start, retain_graph=retain, create_graph=create_graph, wanted=wanted, accumulate=False)
    for number, value in enumerate(found):
        if value is None and not allow_unused and not materialize_grads:
            raise RuntimeError(
                f"The differentiated Tensor at index {number} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
    if materialize_grads:
        found = [
            np.zeros_like(tensor.array)[()] if value is None else value
            for tensor, value in zip(wanted, found, strict=True)
        ]
    return tuple(value if value is None or isinstance(value, Tensor) else Tensor(_writable(value)) for value in found)


def _writable(value: Any) -> Any:
    """A gradient that a person may write into: NumPy's broadcast arrays are read-only."""
    return value if value.flags.writeable or not value.ndim else value.copy()


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _cotangents(roots: Sequence[Tensor], given: Any, create_graph: bool) -> list[Any]:
    cotangents = [None] * len(roots) if given is None else [given] if isinstance(given, Tensor) else list(given)
    if len(cotangents) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(cotangents)} gradients")
    return [
        _cotangent(root, cotangent, create_graph, number)
        for number, (root, cotangent) in enumerate(zip(roots, cotangents, strict=True))
    ]


def _cotangent(root: Tensor, gradient: Any, create_graph: bool, number: int) -> Any:
    if not root.requires_grad:
        raise RuntimeError(
            f"element {number} of tensors does not require grad and does not have a grad_fn: nothing that it was made "
            "of requires grad, or it was made under no_grad() or after detach()"
        )
    data = root.array
    if gradient is None:
        if data.size != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs: this tensor has shape {tuple(data.shape)}. "
                "Reduce it first, for example with .sum(), or pass a gradient of that shape."
            )
        if data.dtype.kind == "c":
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {data.dtype}: take its .real or "
                ".abs(), or pass a gradient"
            )
        value: Any = np.ones(data.shape, data.dtype) if data.ndim else data.dtype.type(1)
    else:
        if not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        value = gradient.array
        if value.shape != data.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {tuple(value.shape)} and output[{number}] "
                f"has a shape of {tuple(data.shape)}."
            )
        if create_graph:
            return gradient.to(data.dtype)
        if value.dtype != data.dtype:
            value = value.astype(data.dtype)
    return Tensor(value) if create_graph else value
