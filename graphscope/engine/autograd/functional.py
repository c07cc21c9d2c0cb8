"""Jacobians, Hessians, and their products with vectors: of a function, at given inputs.

Jv comes from two backward passes: the gradient of a vector-Jacobian product with respect to its vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.gradients import grad
from graphscope.engine.core.modes import enable_grad
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor

Function = Callable[..., Any]
Tensors = tuple[Tensor, ...]


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output, and v times the Jacobian (`v` may be left out for an output of one element).

    Raises:
        RuntimeError: `v` is missing or of the wrong shape; with `strict`, an output depends on no input.
    """
    with enable_grad():
        given, single = _prepared(inputs, create_graph)
        out, out_single = _called(func, given, strict)
        weights = _vectors(v, out, "v")
        found = _gradients(out, given, weights, create_graph, strict)
    return _result(out, out_single, create_graph), _result(found, single, create_graph)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output, and the Jacobian times v (`v` may be left out for an input of one element).

    Raises:
        RuntimeError: `v` is missing or of the wrong shape; with `strict`, an output depends on no input.
    """
    with enable_grad():
        given, _ = _prepared(inputs, create_graph)
        vectors = _vectors(v, given, "v")
        out, out_single = _called(func, given, strict)
        dummies = tuple(_zeros(value, True) for value in out)
        back = _gradients(out, given, dummies, True, strict)
        found = _gradients(back, dummies, vectors, create_graph, strict)
    return _result(out, out_single, create_graph), _result(found, out_single, create_graph)


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for each output and input, a tensor of the shape of the output followed by that of the input.

    Args:
        func: Takes the inputs and returns a tensor, or several.
        inputs: A tensor, or a tuple of them.
        create_graph: Make the result differentiable.
        strict: Refuse outputs that depend on no input (else they give zeros).
        vectorize: Accepted: the rows are computed one after another in any case.
        strategy: Accepted: the result is the same.

    Raises:
        RuntimeError: With `strict`, an output depends on no input.
    """
    with enable_grad():
        given, single = _prepared(inputs, create_graph)
        out, out_single = _called(func, given, strict)
        rows = tuple(_rows(value, given, create_graph, strict) for value in out)
    shaped = tuple(
        tuple(row.reshape(tuple(value.shape) + tuple(each.shape)) for row, each in zip(of_one, given, strict=True))
        for value, of_one in zip(out, rows, strict=True)
    )
    nested = tuple(of_one[0] if single else of_one for of_one in shaped)
    found = nested[0] if out_single else nested
    return found if create_graph else _detached(found)


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function of one element: for each pair of inputs, a tensor of both their shapes.

    Raises:
        RuntimeError: The output has several elements; with `strict`, it depends on no input.
    """

    def gradient(*given: Tensor) -> Any:
        (out,), _ = _called(func, given, strict)
        _single_element(out, "hessian")
        found = _gradients((out,), given, None, True, strict)
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph, strict)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output (one element), and v times the Hessian.

    Raises:
        RuntimeError: The output has several elements, `v` is missing or of the wrong shape; see also `strict`.
    """
    with enable_grad():
        given, single = _prepared(inputs, create_graph)
        vectors = _vectors(v, given, "v")
        out, out_single = _called(func, given, strict)
        _single_element(out[0], "vhp")
        first = _gradients(out, given, None, True, strict)
        found = _gradients(first, given, vectors, create_graph, strict)
    return _result(out, out_single, create_graph), _result(found, single, create_graph)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output (one element), and the Hessian times v: for smooth functions the same as `vhp`.

    Raises:
        RuntimeError: As `vhp`.
    """
    with enable_grad():
        given, single = _prepared(inputs, create_graph)
        vectors = _vectors(v, given, "v")
        out, out_single = _called(func, given, strict)
        _single_element(out[0], "hvp")
        first = _gradients(out, given, None, True, strict)
        dummies = tuple(_zeros(value, True) for value in given)
        back = _gradients(first, given, dummies, True, strict)
        found = _gradients(back, dummies, vectors, create_graph, strict)
    return _result(out, out_single, create_graph), _result(found, single, create_graph)


def _prepared(inputs: Any, create_graph: bool) -> tuple[Tensors, bool]:
    """The inputs as tensors that require grad, cut off from where they came from unless that is wanted."""
    given = inputs if isinstance(inputs, tuple | list) else (inputs,)
    for value in given:
        if not isinstance(value, Tensor):
            raise TypeError(f"the inputs of a function to differentiate are tensors, not {type(value).__name__}")
    if create_graph:
        ready = tuple(value * 1 if value.requires_grad else value.detach().requires_grad_() for value in given)
    else:
        ready = tuple(value.detach().requires_grad_() for value in given)
    return ready, not isinstance(inputs, tuple | list)


def _called(func: Function, given: Sequence[Tensor], strict: bool) -> tuple[Tensors, bool]:
    result = func(*given)
    single = not isinstance(result, tuple | list)
    out = (result,) if single else tuple(result)
    for number, value in enumerate(out):
        if not isinstance(value, Tensor):
            raise TypeError(f"the function to differentiate returned {type(value).__name__}, no tensor")
        if strict and not value.requires_grad:
            raise RuntimeError(f"Output {number} of the user-provided function does not require gradients: it depends "
                               "on no input, which strict=True does not allow.")  # fmt: skip
    return out, single


def _vectors(v: Any, like: Sequence[Tensor], name: str) -> Tensors:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"the vector {name} can be left out only where there is a single element")
        return (Tensor(np.ones(like[0].shape, like[0].dtype)[()]),)
    given = tuple(v) if isinstance(v, tuple | list) else (v,)
    if len(given) != len(like):
        raise RuntimeError(f"{name} has {len(given)} tensors, there are {len(like)} to go with")
    for number, (vector, value) in enumerate(zip(given, like, strict=True)):
        if tuple(vector.shape) != tuple(value.shape):
            raise RuntimeError(f"{name}[{number}] has shape {tuple(vector.shape)} and should have {tuple(value.shape)}")
    return given


def _gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], weights: Sequence[Tensor] | None, again: bool, strict: bool
) -> Tensors:
    """Gradients, with zeros where nothing depends on an input."""
    chosen = [number for number, value in enumerate(outputs) if value.requires_grad]
    found: Sequence[Tensor | None] = [None] * len(inputs)
    if chosen:
        roots = [outputs[number] for number in chosen]
        cotangents = None if weights is None else [weights[number] for number in chosen]
        found = grad(roots, inputs, cotangents, retain_graph=True, create_graph=again, allow_unused=True)
    if strict and any(value is None for value in found):
        raise RuntimeError("an output of the user-provided function is independent of an input (strict=True)")
    return tuple(_zeros(value, False) if each is None else each for each, value in zip(found, inputs, strict=True))


def _rows(output: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """For each input, the gradients of the elements of an output, one above the other."""
    rows = []
    for place in np.ndindex(tuple(output.shape)):
        one = np.zeros(output.shape, output.dtype)
        one[place] = 1
        rows.append(_gradients((output,), inputs, (Tensor(one[()]),), create_graph, strict))
    if not rows:
        return tuple(Tensor(np.zeros((0, *value.shape), value.dtype)) for value in inputs)
    return tuple(OPS["stack"].call([row[number] for row in rows]) for number in range(len(inputs)))


def _zeros(value: Tensor, requires_grad: bool) -> Tensor:
    return Tensor(np.zeros_like(value.array)[()], requires_grad=requires_grad)


def _single_element(out: Tensor, name: str) -> None:
    if out.numel() != 1:
        raise RuntimeError(
            f"The function given to {name} should return a single element, not a tensor of shape {tuple(out.shape)}"
        )


def _result(values: Tensors, single: bool, create_graph: bool) -> Any:
    found = values if create_graph else _detached(values)
    return found[0] if single else found


def _detached(values: Any) -> Any:
    return tuple(map(_detached, values)) if isinstance(values, tuple) else values.detach()


_answer_for(__name__)
