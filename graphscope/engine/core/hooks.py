"""Hooks on nodes of the way back: before a node's rules run and after, as PyTorch has them.

A node with such hooks gets a plan of its own in the place of the one that all calls of its op share: other nodes pay
nothing for there being hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from graphscope.engine.core import modes
from graphscope.engine.core.cotangents import unbroadcast
from graphscope.engine.core.node import FREED, PLAN, SAVED, SHAPES, TARGETS, AccumulateGrad, Handle, Node, Plan, Record
from graphscope.engine.core.tensor import Tensor

Gradients = tuple[Any, ...]


class HookedPlan(Plan):
    """The plan of one node, with the hooks that it bears."""

    __slots__ = ("after", "before")
    hooked = True

    def __init__(self, plan: Plan, record: Record) -> None:
        for name in Plan.__slots__:
            setattr(self, name, getattr(plan, name))
        self.before: dict[int, Any] = {}
        self.after: dict[int, Any] = {}
        # The general form of a record: a tuple of targets, and for each rule the tuple of its arguments.
        if record[SAVED] is not FREED:
            record[SAVED] = plan.arguments(record[SAVED])
        record[TARGETS] = plan.targets(record)
        self.alone = False
        self.special = True

    def ahead(self, gradient: Any, tensors: bool) -> Any:
        """The cotangent, or cotangents, as the hooks want them."""
        whole: Gradients = gradient if isinstance(gradient, tuple) else (gradient,)
        for hook in list(self.before.values()):
            with modes.grad_mode(tensors):
                answer = hook(_shown(whole))
            if answer is not None:
                whole = _taken(answer, len(whole), tensors, "a pre-hook of a node")
        return whole if isinstance(gradient, tuple) else whole[0]

    def behind(self, record: Record, results: Sequence[Any], gradient: Any, tensors: bool) -> Sequence[Any]:
        """The gradients of the inputs, as the hooks want them."""
        shapes = record[SHAPES]
        found: dict[int, Any] = {}
        for place, (rule, result) in enumerate(zip(self.rules, results, strict=True)):
            if result is not None and shapes is not None:
                result = unbroadcast(result, shapes[place])
            found[rule.index] = result
        count = max(len(self.op.vjps), *(index + 1 for index in found))
        inputs: Gradients = tuple(found.get(index) for index in range(count))
        outputs = _shown(gradient if isinstance(gradient, tuple) else (gradient,))
        for hook in list(self.after.values()):
            with modes.grad_mode(tensors):
                answer = hook(_shown(inputs), outputs)
            if answer is not None:
                inputs = _taken(answer, count, tensors, "a hook of a node")
        return [inputs[rule.index] for rule in self.rules]


def _shown(gradients: Gradients) -> Gradients:
    return tuple(value if value is None or isinstance(value, Tensor) else Tensor(value) for value in gradients)


def _taken(answer: Any, count: int, tensors: bool, who: str) -> Gradients:
    given: Gradients = tuple(answer) if isinstance(answer, tuple | list) else (answer,)
    if len(given) != count:
        raise RuntimeError(f"{who} returned {len(given)} gradients in the place of {count}")
    return given if tensors else tuple(value.array if isinstance(value, Tensor) else value for value in given)


def _own_plan(record: Record) -> HookedPlan:
    if not record[PLAN].hooked:
        record[PLAN] = HookedPlan(record[PLAN], record)
    return cast(HookedPlan, record[PLAN])


def register_hook(self: Node, hook: Callable[..., Any]) -> Handle:
    """Call `hook(grad_inputs, grad_outputs)` after the node ran; a tuple that it returns replaces `grad_inputs`."""
    return Handle(_own_plan(self.record).after, hook)


def register_prehook(self: Node, hook: Callable[..., Any]) -> Handle:
    """Call `hook(grad_outputs)` before the node runs; a tuple that it returns takes their place."""
    return Handle(_own_plan(self.record).before, hook)


def hooks_behind(leaf: Tensor) -> dict[int, Any]:
    """The hooks that see a leaf when its gradient was added; the tables of both kinds are made together."""
    if leaf.hooks is None:
        leaf.hooks = {}
    if leaf.hooks_behind is None:
        leaf.hooks_behind = {}
    return cast(dict[int, Any], leaf.hooks_behind)


def _leaf_hook(self: AccumulateGrad, hook: Callable[..., Any]) -> Handle:
    """Call `hook((), (gradient,))` after the gradient was added to the leaf's."""
    return Handle(hooks_behind(self.variable), lambda _, gradient: hook((), (gradient,)))


def _leaf_prehook(self: AccumulateGrad, hook: Callable[..., Any]) -> Handle:
    """Call `hook((gradient,))` before the gradient is added to the leaf's."""

    def adapted(gradient: Tensor) -> Any:
        answer = hook((gradient,))
        return answer[0] if isinstance(answer, tuple) else answer

    hooks_behind(self.variable)
    return Handle(self.variable.hooks, adapted)


MEMBERS: dict[type, dict[str, Any]] = {
    Node: {"register_hook": register_hook, "register_prehook": register_prehook},
    AccumulateGrad: {"register_hook": _leaf_hook, "register_prehook": _leaf_prehook},
}
"""What nodes can do besides telling what they are."""

for _class, _members in MEMBERS.items():
    for _name, _member in _members.items():
        setattr(_class, _name, _member)
