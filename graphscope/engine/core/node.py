"""The way back: what an op leaves behind so that gradients can be sent through it.

On the hot path a node is a plain list, made in one go and taken apart in one go (an object with attributes costs three
times as much); `Node` is the face that it shows to people, as `tensor.grad_fn`.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, ClassVar, Final, Self, cast

import numpy as np

from graphscope.engine.core.op import INPUT_NAMES, Op

PLAN, TARGETS, SAVED, MOMENT, SHAPES, ATTRS, ROW, SITE, HOOKS, RETAINED = range(10)
"""Places in a record: the plan; for each of its rules the record or leaf that its gradient goes to; what the rules need
(FREED afterwards); when it was made; the shapes of its inputs where they may have been broadcast; the attributes of the
call; its row in the log and its call site (-1 and None when it was not recorded); hooks; who retains its gradient."""

Record = list[Any]

_PLACES: Final = {"out": 0, "x": 1, "y": 2, "x.ndim": -1, "y.ndim": -2}
"""How a recipe names the output and the first two inputs of a call; below 0 their numbers of dims."""

OUTPUTS: Final = "_outputs"
"""A node of several outputs keeps shape and dtype of each beside the attributes of the call, under this name."""

FREED: Final = object()
"""Stands for what was saved, once a backward pass has used it."""


class ActiveRule:
    """One rule of a plan: for which input, and what it takes."""

    __slots__ = ("attrs", "index", "needs", "rule")

    def __init__(self, index: int, rule: Callable[..., Any], needs: tuple[str, ...], attrs: tuple[str, ...]) -> None:
        self.index = index
        self.rule = rule
        self.needs = needs
        self.attrs = attrs


class Plan:
    """How one op goes backward when a given set of its inputs needs a gradient: which rules run, what they save.

    With one rule (`alone`), a record holds the target itself and nothing, the argument itself, or the tuple of the
    arguments; else a tuple of targets and, for each rule, the tuple of its arguments. `freed` takes the place of what
    was saved when a backward pass has used it. `run` takes the cotangent, what was saved and the attributes of the
    call, and gives the gradient, or one for each rule; a rule that takes the cotangent alone (`bare`), or it and one
    saved value (`single`), is called as it is, and so are two rules that take no attributes (`pair`).

    A plan that is `special` is of an op of several outputs, or of one of their slots (`slot`; see `slots`), or has a
    function of its own that finds the gradients (`custom`, called with the record, the cotangent, its row and whether
    on tensors), or hooks. `joint` is the one rule for all inputs, where there is one.

    `recipe` says what `save` does, as numbers of _PLACES for each rule; None where that does not say it.
    """

    __slots__ = (
        "alone",
        "bare",
        "custom",
        "freed",
        "gradients",
        "joint",
        "op",
        "pair",
        "recipe",
        "rules",
        "save",
        "single",
        "slot",
        "special",
        "wanted",
    )

    hooked: ClassVar[bool] = False
    """Whether the node has hooks of its own: see `hooks`."""

    def __init__(self, op: Op, active: tuple[int, ...], count: int) -> None:
        self.op = op
        vjps = [(index, op.vjps[min(index, len(op.vjps) - 1)]) for index in active]
        self.rules = tuple(ActiveRule(index, vjp.bound(index), vjp.needs, vjp.attrs) for index, vjp in vjps if vjp)
        self.wanted = tuple([rule.index for rule in self.rules])
        joint = {vjp.joint for _, vjp in vjps if vjp and vjp.joint}
        self.joint = joint.pop() if joint else None
        self.slot = -1
        self.custom: Callable[..., Sequence[Any]] | None = None
        self.special = op.several
        self.alone = alone = len(self.rules) == 1 and not self.special and self.joint is None
        only = self.rules[0] if alone and not self.rules[0].attrs else None
        self.bare = only.rule if only and not only.needs else None
        self.single = only.rule if only and len(only.needs) == 1 else None
        both = self.rules if len(self.rules) == 2 and not (self.special or self.joint) else ()
        self.pair = tuple(rule.rule for rule in both) if both and not (both[0].attrs or both[1].attrs) else None
        self.gradients = self._spelled_out()
        all_inputs = count > len(INPUT_NAMES) or any("inputs" in rule.needs for rule in self.rules)
        names = ("*inputs",) if all_inputs else INPUT_NAMES[:count]
        spelled = {f"{name}_ndim": f"{name}.ndim" for name in INPUT_NAMES}
        if op.residuals:
            spelled |= {"out": "out[0]", "residuals": "out[1]"}
        needed = [[spelled.get(name, name) for name in rule.needs] for rule in self.rules]
        saved = ["(" + "".join(f"{name}, " for name in each) + ")" for each in needed]
        text = "(" + "".join(f"{part}, " for part in saved) + ")"
        self.freed: Any = FREED if any(needed) else None if alone else ((),) * len(saved)
        if alone:
            text = "None" if not needed[0] else needed[0][0] if len(needed[0]) == 1 else saved[0]
        # One small function that picks what the rules need is worth its building: it runs for every node.
        self.save = eval(f"lambda out, {', '.join(names)}: {text}")  # noqa: S307 - names from rule signatures
        told = all(name in _PLACES for names in needed for name in names)
        self.recipe = tuple([tuple([_PLACES[name] for name in names]) for names in needed]) if told else None

    def _spelled_out(self) -> Callable[[Any, Any, Any], Any]:
        """The rules as one function, written out for this plan: in a loop they would cost twice as much to call."""
        calls = []
        for place, rule in enumerate(self.rules):
            held = "saved" if self.alone else f"saved[{place}]"
            each = range(len(rule.needs))
            given = [held] if self.alone and len(each) == 1 else [f"{held}[{number}]" for number in each]
            told = [f"{name}=attrs[{name!r}]" for name in rule.attrs]
            calls.append(f"({', '.join(['g', *given, *told])})")
        names: dict[str, Any] = {f"rule_{place}": rule.rule for place, rule in enumerate(self.rules)}
        if self.joint is not None and calls:
            names |= {"joint": self.joint, "picked": itemgetter(*(rule.index for rule in self.rules))}
            text = f"picked(joint{calls[0]})" if len(calls) > 1 else f"(picked(joint{calls[0]}),)"
        else:
            text = "".join(f"rule_{place}{call}, " for place, call in enumerate(calls))
            text = text[:-2] if self.alone else f"({text})"
        made = eval(f"lambda g, saved, attrs: {text}", names)  # noqa: S307 - as `save`
        return cast(Callable[[Any, Any, Any], Any], made)

    def arguments(self, saved: Any) -> tuple[tuple[Any, ...], ...]:
        """What each rule takes, from what was saved."""
        if not self.alone:
            return cast(tuple[tuple[Any, ...], ...], saved)
        count = len(self.rules[0].needs)
        return ((saved,),) if count == 1 else (saved,) if count else ((),)

    def targets(self, record: Record) -> tuple[Any, ...]:
        """Where the gradient of each rule goes, as a record or a leaf."""
        return (record[TARGETS],) if self.alone else cast(tuple[Any, ...], record[TARGETS])


def plan_for(op: Op, wanting: tuple[bool, ...]) -> Plan:
    """The plan of an op for the inputs that need a gradient and have a rule."""
    plan = op.plans.get(wanting)
    if plan is None:
        last = len(op.vjps) - 1
        active = tuple(index for index, wants in enumerate(wanting) if wants and op.vjps[min(index, last)] is not None)
        plan = op.plans[wanting] = Plan(op, active, len(wanting))
    return cast(Plan, plan)


class Node:
    """A backward node, as people see it: `<MulBackward0>`. Two are equal when they stand for the same step."""

    __slots__ = ("record",)

    def __init__(self, record: Record) -> None:
        self.record = record if record[PLAN].slot < 0 else record[TARGETS]

    def name(self) -> str:
        """The name as PyTorch would print it."""
        return str(self.record[PLAN].op.node_name(self.record[ATTRS]))

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Where its gradients go, one for each input, as (node, 0); a leaf stands as `AccumulateGrad`."""
        plan = self.record[PLAN]
        active = {rule.index: target for rule, target in zip(plan.rules, plan.targets(self.record), strict=True)}
        count = max(len(plan.op.vjps), *(index + 1 for index in active)) if active else len(plan.op.vjps)
        return tuple((_face(active.get(index)), _slot(active.get(index))) for index in range(count))

    @property
    def _input_metadata(self) -> list[SimpleNamespace]:
        """Shape and dtype of each output, where there are several; PyTorch has the name."""
        outputs = (self.record[ATTRS] or {}).get(OUTPUTS, ())
        return [SimpleNamespace(shape=shape, dtype=dtype) for shape, dtype in outputs]

    def output_shape(self, sources: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
        """The shape of what the op computed, for a picture; None where nothing is left to tell it.

        A record keeps no shape (that would cost every op). A recorded op has it in its call site; else the op runs on
        zeros of the shapes of its inputs.

        Args:
            sources: For each of `next_functions`, the shape of what it computed; None where there is no function.
        """
        record = self.record
        if record[PLAN].op.several:
            return None  # `_input_metadata` tells
        if record[SITE] is not None:
            return cast(tuple[int, ...], record[SITE].shape)
        plan: Plan = record[PLAN]
        shapes = dict(enumerate(sources))
        if record[SAVED] is not FREED:
            for rule, arguments in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
                known = {name: np.shape(value) for name, value in zip(rule.needs, arguments, strict=True)}
                if "out" in known:
                    return cast(tuple[int, ...], known["out"])
                shapes |= {INPUT_NAMES.index(name): shape for name, shape in known.items() if name in INPUT_NAMES}
        if record[SHAPES] is None and not plan.op.core_dims:
            shapes = {index: () if shape is None else shape for index, shape in shapes.items()}
        return shape_after(plan.op, list(shapes.values()), record[ATTRS])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.record is self.record

    def __hash__(self) -> int:
        return id(self.record)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


class AccumulateGrad:
    """Where a gradient ends: it is added to `variable.grad`."""

    __slots__ = ("variable",)
    next_functions: tuple[()] = ()

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def name(self) -> str:
        """The name as PyTorch would print it."""
        return "AccumulateGrad"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self) -> int:
        return id(self.variable)

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


class Handle:
    """A registered hook; `remove()` takes it back."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self.id = next(_numbers)
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook back."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


_numbers = itertools.count()


def shape_after(op: Op, shapes: Sequence[tuple[int, ...] | None], attrs: Any) -> tuple[int, ...] | None:
    """The shape that an op makes of inputs of these shapes; None when one is not known, or it takes any number."""
    code = getattr(inspect.unwrap(op.forward), "__code__", None)
    if None in shapes or (code is not None and code.co_flags & CO_VARARGS):
        return None
    zeros = [np.broadcast_to(np.float32(0), shape) for shape in shapes if shape is not None]
    try:
        with np.errstate(all="ignore"):
            return tuple(op.forward(*zeros, **(attrs or {})).shape)
    except Exception:  # noqa: BLE001 - zeros may be no valid operand of an op; then its picture has no shape
        return None


def spread(rule: ActiveRule, count: int) -> Sequence[str]:
    """The names of what a rule takes; where it takes all inputs as they come, those of the inputs."""
    return rule.needs if len(rule.needs) == count else INPUT_NAMES[:count]


def hooks_of(record: Record) -> dict[int, Any]:
    """The hooks on the tensor that a record's op made; the table is made when it is first asked for."""
    if record[HOOKS] is None:
        record[HOOKS] = {}
    return cast(dict[int, Any], record[HOOKS])


def _slot(target: Any) -> int:
    return max(target[PLAN].slot, 0) if target.__class__ is list else 0


def _face(target: Any) -> Any:
    if target is None:
        return None
    return Node(target) if target.__class__ is list else AccumulateGrad(target)
