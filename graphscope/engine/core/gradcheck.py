"""Whether gradients are what finite differences say they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core.gradients import grad
from graphscope.engine.core.tensor import Tensor

_SEED: Final = 1

Jacobian = list[list[np.ndarray]]
"""For each output and input: a row for each element of the input, a column for each of the output."""


class GradcheckError(RuntimeError):
    """A gradient is not what differences say."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the Jacobians of `func(*inputs)` by backward passes with those by central differences.

    Args:
        func: Takes `inputs` and returns a tensor, or several.
        inputs: A tensor, or several; those that require grad are checked. Differences want float64.
        eps: How far to move each element.
        atol: How far off a gradient may be,
        rtol: and how far in relation to its size.
        raise_exception: Raise when a gradient is wrong, rather than return False.

    Returns:
        Whether all gradients are right.

    Raises:
        GradcheckError: A gradient is wrong; the message says which, and by how much.
        ValueError: No input requires grad.
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    wanted = [value for value in given if isinstance(value, Tensor) and value.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for number, value in enumerate(wanted):
        if value.array.dtype != np.float64:
            warnings.warn(
                f"Input #{number} requires gradient and is not a double precision floating point: it is "
                f"{value.array.dtype}, for which differences of {eps:g} are too coarse. Pass float64, or larger eps "
                "and tolerances.",
                stacklevel=2,
            )
    backward = _by_backward(list(_outputs(func, given)), wanted)
    differences = _by_differences(func, given, wanted, eps)
    for out, (told, real) in enumerate(zip(backward, differences, strict=True)):
        for place, (mine, other) in enumerate(zip(told, real, strict=True)):
            if other.size and not np.allclose(mine, other, rtol, atol, equal_nan=True):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {out} with respect to input {place}, of shape "
                    f"{tuple(wanted[place].array.shape)}: off by up to {np.nanmax(np.abs(mine - other)):.3g}\n"
                    f"numerical: {other.tolist()}\nanalytical: {mine.tolist()}"
                )
    return True


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **how: Any) -> bool:
    """As `gradcheck`, of the gradients themselves: second order.

    Args:
        func: As for `gradcheck`.
        inputs: As for `gradcheck`.
        grad_outputs: The cotangents of the outputs; random ones if they are left out.
        **how: The other arguments of `gradcheck`.

    Returns:
        Whether all gradients are right.
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if grad_outputs is None:
        numbers = np.random.default_rng(_SEED)
        cotangents = [
            Tensor(np.asarray(numbers.standard_normal(out.shape), out.dtype)[()], requires_grad=True)
            for out in _outputs(func, given)
        ]
    else:
        cotangents = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)

    def first(*values: Any) -> tuple[Tensor, ...]:
        arguments, weights = values[: len(given)], values[len(given) :]
        chosen = [value for value in arguments if isinstance(value, Tensor) and value.requires_grad]
        found = grad(list(_outputs(func, arguments)), chosen, weights, create_graph=True, allow_unused=True)
        return tuple(value for value in found if value is not None)

    return gradcheck(first, [*given, *cotangents], **how)


def _outputs(func: Callable[..., Any], given: Sequence[Any]) -> Iterator[Tensor]:
    """The results that have a gradient."""
    result = func(*given)
    for value in result if isinstance(result, tuple | list) else (result,):
        if isinstance(value, Tensor) and value.requires_grad:
            yield value


def _units(value: Tensor) -> Iterator[Any]:
    """For each element, an array that is 1 there and 0 elsewhere."""
    for place in np.ndindex(np.shape(value.array)):
        unit = np.zeros(np.shape(value.array), value.dtype)
        unit[place] = 1
        yield unit[()]


def _by_backward(outputs: Sequence[Tensor], wanted: Sequence[Tensor]) -> Jacobian:
    jacobian = []
    for out in outputs:
        rows = [grad(out, wanted, Tensor(unit), retain_graph=True, allow_unused=True) for unit in _units(out)]
        jacobian.append([_matrix([row[place] for row in rows], value).T for place, value in enumerate(wanted)])
    return jacobian


def _matrix(gradients: Sequence[Tensor | None], value: Tensor) -> np.ndarray:
    return np.array([np.zeros(value.array.size) if g is None else np.ravel(g.array) for g in gradients])


def _by_differences(func: Callable[..., Any], given: Sequence[Any], wanted: Sequence[Tensor], eps: float) -> Jacobian:
    jacobian: Jacobian = [[] for _ in _outputs(func, given)]
    for value in wanted:
        original = value.array
        rows = []
        for unit in _units(value):
            ends = []
            for step in (eps, -eps):
                value.array = (original + step * unit).astype(original.dtype)[()]
                ends.append([np.array(out.array, np.float64).reshape(-1) for out in _outputs(func, given)])
            rows.append([(high - low) / (2 * eps) for high, low in zip(*ends, strict=True)])
        value.array = original
        for number, found in enumerate(jacobian):
            found.append(np.array([row[number] for row in rows]))
    return jacobian
