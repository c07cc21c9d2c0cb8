"""Why a gradient is None, as far as a tensor itself can tell: for programs that were not recorded."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, Step
from graphscope.eventlog.foreign_tensors import reader_of

RECORD: Final = "record the program to see the line: with gs.record(): ..., or `graphscope debug SCRIPT` and `why`"


def is_tensor(thing: object) -> bool:
    """Whether a thing knows how it was computed."""
    return hasattr(thing, "grad_fn") and hasattr(thing, "requires_grad")


def explain_tensor(tensor: Any, loss: Any = None) -> Explanation:
    """Why a tensor has the gradient that it has; `loss` is what `backward()` was called on."""
    name = getattr(tensor, "name", None) or "the tensor"
    name = name if isinstance(name, str) else "the tensor"
    here = (Step(None, name),)
    if not tensor.requires_grad:
        return Explanation("none", *_not_required(tensor, name), path=here)
    retained = bool(getattr(tensor, "retains_grad", False))
    if not tensor.is_leaf and not retained:
        verdict = (
            f"{name} is not a leaf (its grad_fn is {tensor.grad_fn.name()}): .grad keeps the gradients of leaves only"
        )
        return Explanation("none", "not a leaf", verdict, here, "call retain_grad() on it before backward")
    if tensor.grad is None:
        return _none(tensor, name, loss)
    gradient = numbers(tensor.grad)
    if gradient.size and not np.isfinite(gradient).all():
        return Explanation("nonfinite", "not recorded", f"{name}.grad is not finite", here, RECORD)
    if gradient.size and not np.count_nonzero(gradient):
        return Explanation("zero", "not recorded", f"{name}.grad is zero", here, RECORD)
    size = float(np.linalg.norm(gradient.astype(np.float64)))
    return Explanation(
        "fine", "fine", f"{name}.grad is neither None nor zero, and finite: its norm is {size:.4g}", here
    )


def gradient_of(tensor: Any) -> Any:
    """What a tensor holds in `.grad`; of one that keeps none it is not asked, as torch would warn."""
    return tensor.grad if tensor.is_leaf or getattr(tensor, "retains_grad", False) else None


def numbers(gradient: Any) -> np.ndarray:
    """The elements of a gradient that a program holds."""
    reader = reader_of(gradient)
    found = reader.array(gradient) if reader is not None else None
    if found is not None:
        return found
    try:
        return np.asarray(gradient)
    except (TypeError, RuntimeError):  # a dtype that NumPy lacks, another device, part of a graph itself
        return np.asarray(gradient.detach().cpu().to_dense().double())


def _not_required(tensor: Any, name: str) -> tuple[str, str]:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if not dtype.startswith(("float", "bfloat", "complex")):
        return "dtype", f"{name} is made of {dtype}: only floating point numbers have gradients"
    cuts = "of tensors that do not require it, under no_grad(), or by detach()"
    return "does not require grad", f"{name} does not require grad: it was made without requires_grad=True, {cuts}"


def _none(tensor: Any, name: str, loss: Any) -> Explanation:
    if loss is None:
        verdict = f"{name}.grad is None: backward() has not reached it, or it was cleared since"
        return Explanation(
            "none", "no backward yet", verdict, (Step(None, name),), f"give the loss, loss=...; or {RECORD}"
        )
    if not loss.requires_grad:
        cuts = "detach(), no_grad() or an op without a rule cut the way"
        verdict = f"the loss does not require grad, so that nothing flows back to {name}: {cuts}"
        return Explanation("none", "cut", verdict, (Step(None, name),), RECORD)
    way = _path(loss.grad_fn, tensor)
    if way is None:
        verdict = (
            f"the graph of the loss does not lead to {name}: it was not used, or detach() or no_grad() cut the way"
        )
        return Explanation("none", "not on a path to the loss", verdict, (Step(None, name),), RECORD)
    path = (Step(None, name), *(Step(None, function.name()) for function in way))
    verdict = f"{name} is on a path to the loss: backward() was not called on it yet, or {name}.grad was cleared since"
    return Explanation("none", "no backward yet", verdict, path, "call loss.backward()")


def _path(root: Any, tensor: Any) -> list[Any] | None:
    """The nodes of a graph from a tensor's up to the root, without recursion; None when none leads there."""
    waiting = [root] if root is not None else []
    came: dict[Any, Any] = {root: None}
    while waiting:
        function = waiting.pop(0)
        if getattr(function, "variable", None) is tensor or function == tensor.grad_fn:
            way = []
            step = function if function == tensor.grad_fn else came[function]
            while step is not None:
                way.append(step)
                step = came[step]
            return way
        for source, _ in function.next_functions:
            if source is not None and source not in came:
                came[source] = function
                waiting.append(source)
    return None
