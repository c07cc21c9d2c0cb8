"""Whether gradients are what finite differences say they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core.gradients import grad
from graphscope.engine.core.tensor import Tensor

_SEED: Final = 0

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
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the Jacobians of `func(*inputs)` by backward passes with those by central differences.

    Args:
        func: Takes `inputs` and returns a tensor, or several.
        inputs: A tensor, or several; those that require grad are checked. Differences want float64.
        eps: How far to move each element.
        atol: How far off a gradient may be,
        rtol: and how far in relation to its size.
        raise_exception: Raise when a gradient is wrong, rather than return False.
        nondet_tol: How far a second backward pass may be off the first.
        check_undefined_grad: Accepted: rules get zeros for outputs that nothing used.
        check_grad_dtypes: Also compare the dtypes of gradients and inputs.
        check_batched_grad: Accepted; there are no batched gradients.
        check_batched_forward_grad: Accepted, likewise.
        check_forward_ad: Accepted; there is no forward mode.
        check_backward_ad: Accepted: it is what is checked.
        fast_mode: Compare along one random direction in place of all elements.
        masked: Accepted; there are no sparse tensors.

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
    try:
        _compare(func, given, wanted, eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """As `gradcheck`, of the gradients themselves: second order.

    Args:
        func: As for `gradcheck`.
        inputs: As for `gradcheck`.
        grad_outputs: The cotangents of the outputs; random ones if they are left out.
        eps: As for `gradcheck`, as are the rest; those that are not there are accepted and change nothing.
        atol: How far off a gradient may be,
        rtol: and how far in relation to its size.
        gen_non_contig_grad_outputs: Give the random cotangents gaps in memory.
        raise_exception: Raise when a gradient is wrong, rather than return False.
        nondet_tol: How far a second backward pass may be off the first.
        check_undefined_grad: Accepted.
        check_grad_dtypes: Also compare the dtypes of gradients and inputs.
        check_batched_grad: Accepted.
        check_fwd_over_rev: Accepted.
        check_rev_over_rev: Accepted.
        fast_mode: Compare along one random direction in place of all elements.
        masked: Accepted.

    Returns:
        Whether all gradients are right.

    Raises:
        GradcheckError: A gradient is wrong; the message says which, and by how much.
        ValueError: No input requires grad.
    """
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    outputs = list(_outputs(func, given))
    if grad_outputs is None:
        numbers = np.random.default_rng(_SEED + 1)
        cotangents = [_cotangent(out, numbers, gen_non_contig_grad_outputs) for out in outputs]
    else:
        cotangents = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)

    def first(*values: Any) -> tuple[Tensor, ...]:
        arguments, weights = values[: len(given)], values[len(given) :]
        chosen = [value for value in arguments if isinstance(value, Tensor) and value.requires_grad]
        found = grad(list(_outputs(func, arguments)), chosen, weights, create_graph=True, allow_unused=True)
        return tuple(value for value in found if value is not None)

    return gradcheck(
        first,
        [*given, *cotangents],
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_grad_dtypes=check_grad_dtypes,
        fast_mode=fast_mode,
    )


def _cotangent(out: Tensor, numbers: np.random.Generator, gaps: bool) -> Tensor:
    values = numbers.standard_normal((*out.shape, 2)).astype(out.dtype)
    return Tensor(values[..., 0] if gaps and out.array.ndim else values[..., 0].copy()[()], requires_grad=True)


def _outputs(func: Callable[..., Any], given: Sequence[Any]) -> Iterator[Tensor]:
    """The results that have a gradient."""
    result = func(*given)
    for value in result if isinstance(result, tuple | list) else (result,):
        if isinstance(value, Tensor) and value.requires_grad:
            yield value


def _compare(
    func: Callable[..., Any],
    given: Sequence[Any],
    wanted: Sequence[Tensor],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_dtypes: bool,
    fast: bool,
) -> None:
    outputs = list(_outputs(func, given))
    numbers = np.random.default_rng(_SEED)
    ways = [[numbers.standard_normal(np.shape(out.array))] if fast else _units(out) for out in outputs]
    backward = _by_backward(outputs, wanted, ways, check_dtypes)
    for number, again in enumerate(_by_backward(outputs, wanted, ways, False)):
        for mine, other in zip(backward[number], again, strict=True):
            if np.max(np.abs(mine - other), initial=0.0) > nondet_tol:
                raise GradcheckError("Backward is not reentrant: a second pass gives another gradient")
    moves = [[numbers.standard_normal(np.shape(value.array))] if fast else _units(value) for value in wanted]
    differences = _by_differences(func, given, wanted, moves, ways, eps)
    for out, (told, real) in enumerate(zip(backward, differences, strict=True)):
        for place, (mine, other) in enumerate(zip(told, real, strict=True)):
            mine = np.array([np.sum(row * move) for move in moves[place] for row in mine]).reshape(other.shape)
            if not np.allclose(mine, other, rtol, atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian mismatch for output {out} with respect to input {place}, of shape "
                    f"{tuple(wanted[place].array.shape)}: off by up to {np.nanmax(np.abs(mine - other)):.3g}\n"
                    f"numerical: {other.tolist()}\nanalytical: {mine.tolist()}"
                )


def _units(value: Tensor) -> list[np.ndarray]:
    """For each element, an array that is 1 there and 0 elsewhere."""
    found = []
    for place in np.ndindex(np.shape(value.array)):
        unit = np.zeros(np.shape(value.array))
        unit[place] = 1
        found.append(unit)
    return found


def _by_backward(
    outputs: Sequence[Tensor], wanted: Sequence[Tensor], ways: Sequence[Sequence[np.ndarray]], check_dtypes: bool
) -> Jacobian:
    """For each output and input, the gradients along the ways of the output."""
    jacobian = []
    for out, of_output in zip(outputs, ways, strict=True):
        rows = []
        for way in of_output:
            cotangent = Tensor(way.astype(out.array.dtype)[()])
            rows.append(grad(out, wanted, cotangent, retain_graph=True, allow_unused=True))
        for gradient, value in ((row[place], value) for row in rows for place, value in enumerate(wanted)):
            if check_dtypes and gradient is not None and gradient.array.dtype != value.array.dtype:
                raise GradcheckError(f"the gradient has dtype {gradient.array.dtype}, its input {value.array.dtype}")
        jacobian.append(
            [
                np.array([np.zeros(np.shape(value.array)) if row[place] is None else row[place].array for row in rows])  # type: ignore[union-attr]
                for place, value in enumerate(wanted)
            ]
        )
    return jacobian


def _by_differences(
    func: Callable[..., Any],
    given: Sequence[Any],
    wanted: Sequence[Tensor],
    moves: Sequence[Sequence[np.ndarray]],
    ways: Sequence[Sequence[np.ndarray]],
    eps: float,
) -> Jacobian:
    """For each output and input, how the output changes when the input moves: a row a move, a column a way."""
    columns = []
    for value, of_input in zip(wanted, moves, strict=True):
        original = value.array
        rows = []
        for move in of_input:
            ends = []
            for sign in (1, -1):
                value.array = (original + sign * eps * move).astype(original.dtype)[()]
                ends.append([np.array(out.array, np.float64) for out in _outputs(func, given)])
            rows.append([(high - low) / (2 * eps) for high, low in zip(*ends, strict=True)])
        value.array = original
        columns.append(rows)
    return [
        [
            np.array([[np.sum(row[out] * way) for way in of_output] for row in rows]).reshape(len(rows), len(of_output))
            for rows in columns
        ]
        for out, of_output in enumerate(ways)
    ]
