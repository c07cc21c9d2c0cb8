"""Recorded gradients of a framework's calls against central differences of what these compute."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag
from graphscope.static.replay import dependence, recorded_gradients
from graphscope.static.replay.differences import Differences, Element
from graphscope.static.replay.recorded_rows import reads_numbers, recorded, where
from graphscope.static.replay.stretches import Stretch, stretch_of

if TYPE_CHECKING:
    from graphscope.graph import Edge, Node

_MOST_ELEMENTS: Final = 256
"""Of larger inputs so many elements are looked at one by one."""

_MOST_WEIGHTS: Final = 64

_EPSILON: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}
_DOUBLE: Final = 2.0**-52
_ROUNDINGS: Final = 256
_ROUNDINGS_OF_HALF: Final = 16
"""A right gradient may be off by so many roundings of the largest sum that it adds up: thousands of terms do that."""

_DIFFERENCES: Final = 1e-7
"""By so much of the largest element differences themselves may be off."""


_BY_INTENT: Final = {
    "embedding": ("padding_idx", "scale_grad_by_freq"),
    "embedding_bag": ("padding_idx", "scale_grad_by_freq"),
}
"""Attributes of ops by which their gradients are others than those of what they compute."""


@dataclass(frozen=True)
class Judgement:
    """What comes of one input.

    Attributes:
        edge: The input.
        size: The norm of the recorded gradient; None where there is none.
        gap: How far it is from differences, in relation to the largest sum that it adds up; None where not known.
        agrees: Whether they are the same but for rounding; None where that can't be told.
        remark: What the element that is farthest off is and should be, or why it can't be told.
    """

    edge: Edge
    size: float | None = None
    gap: float | None = None
    agrees: bool | None = None
    remark: str = ""


def judge(node: Node) -> list[Judgement]:
    """Compare what backward gave for each input of a call with differences of its forward function.

    Raises:
        StaticError: It can't run again, or no backward pass has come by.
    """
    passed = recorded_gradients.newest(node)
    if passed is None or node.flags & Flag.NO_GRAD:
        raise StaticError(
            f"no gradient has reached {where(node)} up to now: there is nothing to check",
            hint="go on to behind the backward pass",
        )
    stretch = stretch_of(node)
    values = [recorded(node.graph.node(row), slot) for row, slot in stretch.inputs]
    _assert_repeats(node, stretch, values)
    precise = dataclasses.replace(stretch, precise=True)
    cotangents = [
        np.zeros(shape) if given is None else _doubled(given)
        for given, (shape, _) in zip(passed.cotangents, node.outputs, strict=True)
    ]
    differences = Differences(precise, [_doubled(value) for value in values], cotangents)
    reason = _by_intent(node) or _unjudgeable(node, differences)
    edges = {(edge.source.row, edge.slot): edge for edge in reversed(node.inputs)}
    found = []
    for number, place in enumerate(stretch.inputs):
        edge, gradient = edges[place], passed.gradients.get(place)
        why = _needs_none(edge, gradient) or passed.unknown.get(place, "") or reason
        found.append(Judgement(edge, remark=why) if why else _compared(edge, number, gradient, differences))
    return found


def _assert_repeats(node: Node, stretch: Stretch, values: Sequence[np.ndarray]) -> None:
    """See that a call gives what it gave."""
    for slot, found in enumerate(stretch.run(values)):
        if not _is_like(found, recorded(node, slot)):
            raise StaticError(
                f"{where(node)} does not give what was recorded when it runs again: it can't be judged",
                hint="it draws random numbers, or its inputs were written since",
            )


def _is_like(found: np.ndarray, value: np.ndarray) -> bool:
    """Whether a value is that which was recorded, but for rounding."""
    if found.shape != value.shape:
        return False
    scale = float(np.abs(value[np.isfinite(value)]).max(initial=0)) if value.dtype.kind in "fc" else 0.0
    return bool(np.allclose(found, value, rtol=2e-2, atol=2e-2 * scale, equal_nan=True))


def _unjudgeable(node: Node, differences: Differences) -> str:
    """Why no difference of a call says anything; empty where they do."""
    given = {edge.source.tensor for edge in node.inputs}
    steps = differences.stretch.steps
    if any(step.flags & Flag.IN_PLACE and step.tensor in given and step != node for step in steps):
        return "its forward function writes into what it was given"
    if reads_numbers(node):
        return "its forward function reads numbers out of a tensor: what hangs on them was not seen"
    if not all(_is_like(out, recorded(node, slot)) for slot, out in enumerate(differences.outputs)):
        return "in float64 it computes something else"
    if not differences.stretch.dtypes(differences.values).isdisjoint(_EPSILON):
        return "something of it is computed in less than float64"
    floating = [each for each in (*differences.values, *differences.outputs) if each.dtype.kind in "fc"]
    return (
        "" if all(np.isfinite(each).all() for each in (*floating, *differences.cotangents)) else "there is NaN or Inf"
    )


def _by_intent(node: Node) -> str:
    """Which attribute of a call asks for another gradient than that of what it computes; empty where none does."""
    given = node.arguments.attributes
    asking = next((name for name in _BY_INTENT.get(node.op, ()) if given.get(name) not in (None, False, -1)), None)
    return "" if asking is None else f"{asking} asks for another gradient than that of what it computes"


def _needs_none(edge: Edge, gradient: np.ndarray | None) -> str:
    """Why an input has no gradient; empty where one is due."""
    _, dtype = edge.source.outputs[edge.slot]
    if not dtype.startswith(("float", "bfloat", "complex")):
        return f"{dtype} has no gradient"
    return "needs no gradient" if gradient is None and not recorded_gradients.wants_gradient(edge) else ""


def _compared(edge: Edge, number: int, gradient: np.ndarray | None, differences: Differences) -> Judgement:
    """Judge one input by its elements, and large ones by sums of all of them, too."""
    value = differences.values[number]
    given = np.zeros(value.shape, value.dtype) if gradient is None else _doubled(gradient)
    size = None if gradient is None else float(np.linalg.norm(given.reshape(-1)))
    if given.shape != value.shape:
        return Judgement(edge, size, None, False, f"its shape is {given.shape}, that of the value {value.shape}")
    if not np.isfinite(given).all():
        return Judgement(edge, size, None, None, "it has NaN or Inf")
    elements = _chosen(given)
    slopes = np.array([differences.gradient(number, each) for each in elements])
    own = np.array([given[each] for each in elements], complex)
    gaps = np.abs(own - slopes)
    smooth, due = _smooth(differences, number, elements, own, slopes)
    room = due * (_rounding(differences) + _DIFFERENCES) + 1e-12
    sums = differences.off(number, given) if len(smooth) == len(elements) < given.size else 0.0
    gap = max(float(gaps[smooth].max(initial=0)), sums) / (due or 1.0)
    worst = max(smooth, key=lambda each: gaps[each], default=None)
    is_far = worst is not None and gaps[worst] > room
    if not is_far and len(smooth) < len(elements):
        remark = f"not differentiable at {len(elements) - len(smooth)} of {len(elements)} elements"
        return Judgement(edge, size, gap, None, remark)
    if not is_far and sums <= room * given.size**0.5:
        return Judgement(edge, size, gap, True, "" if gradient is not None else "it has none, and none is due")
    if not slopes[smooth].any() and dependence.is_by_steps(differences.stretch, differences.stretch.inputs[number]):
        return Judgement(edge, size, None, None, "what it computes changes by steps alone, and is flat here")
    if worst is None or not is_far:
        return Judgement(edge, size, gap, False, f"sums of all elements are off by {sums:.6g}")
    if gradient is None:
        return Judgement(edge, size, gap, False, f"backward gives None, differences {_number(slopes, worst)}")
    at = f"[{', '.join(map(str, elements[worst]))}] is" if given.ndim else "it is"
    return Judgement(edge, size, gap, False, f"{at} {_number(own, worst)}, by differences {_number(slopes, worst)}")


def _smooth(
    differences: Differences, number: int, elements: Sequence[Element], own: np.ndarray, slopes: np.ndarray
) -> tuple[list[int], float]:
    """Which of some elements lie at no kink, and the largest sum that the gradients of these add up."""
    smooth = list(range(len(elements)))
    while True:
        weights = [differences.weight(number, elements[each]) for each in smooth[:_MOST_WEIGHTS]]
        due = max([_largest(own[smooth]), _largest(slopes[smooth]), _subtracted(differences, number), *weights])
        room = due * (_rounding(differences) + _DIFFERENCES) + 1e-12
        far = [each for each in smooth if abs(own[each] - slopes[each]) > room]
        kinks = {each for each in far if differences.is_kink(number, elements[each])}
        if not kinks:
            return smooth, due
        smooth = [each for each in smooth if each not in kinks]


def _rounding(differences: Differences) -> float:
    """By how much a right gradient may be off: rounded as the least precise of what is computed was."""
    steps = differences.stretch.steps
    sources = [each.source for step in steps for each in step.inputs]
    dtypes = {dtype for each in (*steps, *sources) for _, dtype in each.outputs}
    epsilon = max((_EPSILON.get(dtype, _DOUBLE) for dtype in dtypes), default=_DOUBLE)
    return epsilon * (_ROUNDINGS if epsilon < 1e-5 else _ROUNDINGS_OF_HALF)


def _subtracted(differences: Differences, number: int) -> float:
    """What a rule like g * (1 - y²) subtracts from each other and rounds, however small that which remains."""
    weight = max((_largest(each) for each in differences.cotangents), default=0.0)
    outputs = max((_largest(each) for each in differences.outputs if each.dtype.kind in "fc"), default=0.0)
    return weight * outputs / max(1.0, _largest(differences.values[number])) / 16


def _largest(array: np.ndarray) -> float:
    return float(np.abs(array).max(initial=0))


def _chosen(array: np.ndarray) -> list[Element]:
    """All elements of an array, or some of a large one."""
    if array.size <= _MOST_ELEMENTS:
        return list(np.ndindex(array.shape))
    flat = np.sort(np.random.default_rng(0).choice(array.size, _MOST_ELEMENTS, replace=False))
    return [tuple(map(int, np.unravel_index(each, array.shape))) for each in flat]


def _doubled(value: np.ndarray) -> np.ndarray:
    kinds: dict[str, Any] = {"f": np.float64, "c": np.complex128}
    return value.astype(kinds.get(value.dtype.kind, value.dtype))


def _number(values: np.ndarray, place: int) -> str:
    value = complex(values[place])
    return f"{value.real:.6g}" if not value.imag else f"{value:.6g}"
