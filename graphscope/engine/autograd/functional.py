"""Jacobians, Hessians, and their products with vectors: what `func` computes, at given inputs.

Each takes a tensor or a tuple of them; with `create_graph` the results can be differentiated, else they are constants.
Jv comes from two backward passes: the gradient of a vector-Jacobian product with respect to its vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphscope.engine import func as transforms
from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import enable_grad
from graphscope.engine.ops.like_others import ones_like, zeros_like

Function = Callable[..., Any]


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False) -> Any:
    """The output, and v times the Jacobian (`v` may be left out for an output of one element).

    Raises:
        RuntimeError: `v` is missing or of the wrong shape.
    """
    with enable_grad():
        out, pull = transforms.vjp(func, *_several(inputs))
        found = pull(*_vectors(v, out))
    return _result((out, _like(inputs, found)), create_graph)


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False) -> Any:
    """The output, and the Jacobian times v (`v` may be left out for an input of one element).

    Raises:
        RuntimeError: `v` is missing or of the wrong shape.
    """
    with enable_grad():
        out, pull = transforms.vjp(func, *_several(inputs))
        _, push = transforms.vjp(pull, *(zeros_like(value) for value in _several(out)))
        found = push(*_vectors(v, inputs))
    return _result((out, _like(out, found)), create_graph)


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    *,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for each output and input, a tensor of the shape of the output followed by that of the input.

    Args:
        func: Takes the inputs and returns a tensor, or several.
        inputs: A tensor, or a tuple of them.
        create_graph: Make the result differentiable.
        vectorize: Accepted: the rows are computed one after another in any case.
        strategy: Accepted: the result is the same.
    """
    with enable_grad():
        found = transforms.jacrev(func, _argnums(inputs))(*_several(inputs))
    return _result(found, create_graph)


def hessian(func: Function, inputs: Any, create_graph: bool = False, *, vectorize: bool = False) -> Any:
    """The Hessian of a function of one element: for each pair of inputs, a tensor of both their shapes.

    Raises:
        RuntimeError: The output has several elements.
    """
    return jacobian(transforms.grad(_of_one_element(func), _argnums(inputs)), inputs, create_graph)


def _several(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def _like(pattern: Any, values: tuple[Any, ...]) -> Any:
    """Several values, or the only one, where the pattern is but one."""
    return values if isinstance(pattern, tuple | list) else values[0]


def _argnums(inputs: Any) -> int | tuple[int, ...]:
    return tuple(range(len(inputs))) if isinstance(inputs, tuple | list) else 0


def _of_one_element(func: Function) -> Function:
    """The function with a result of no dims."""

    def scalar(*inputs: Any) -> Any:
        out = func(*inputs)
        if out.numel() != 1:
            raise RuntimeError(f"the function should return a single element, not a tensor of shape {tuple(out.shape)}")
        return out.reshape(())

    return scalar


def _vectors(v: Any, like: Any) -> tuple[Any, ...]:
    values = _several(like)
    if v is None and (len(values) != 1 or values[0].numel() != 1):
        raise RuntimeError("the vector v can be left out only where there is a single element")
    given = (ones_like(values[0]),) if v is None else _several(v)
    shapes, wanted = ([tuple(each.shape) for each in tensors] for tensors in (given, values))
    if shapes != wanted:
        raise RuntimeError(f"v has the shapes {shapes} and should have {wanted}")
    return given


def _result(values: Any, create_graph: bool) -> Any:
    return values if create_graph else transforms.of_leaves(values, lambda value: value.detach())


_answer_for(__name__)
