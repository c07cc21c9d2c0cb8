"""Tensor, and the one place where an op runs: compute, tell the log, remember the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import _getframe
from typing import Any, Final, cast

import numpy as np

from graphscope.engine import dtypes, modes, tracing, writes
from graphscope.engine.errors import explain_failure
from graphscope.engine.modes import modes as mode
from graphscope.engine.op import INPUT_NAMES, Op, register
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace

_ndarray = np.ndarray
_new = object.__new__
_next_moment = writes.moments.__next__
NUMBERS: Final = frozenset({float, int, bool})


class Tensor:
    """An n-dimensional array that remembers how it was made.

    Attributes:
        data: The elements: a NumPy array, or a NumPy scalar for a tensor of no dimensions.
        grad: What backward passes have accumulated here: a Tensor of the same shape, or None.
        node: The backward node of the op that made it; None for a leaf.
        name: What to call it in the log; by default the variable that it is assigned to.
    """

    data: Any
    grad: Tensor | None = None
    node: Node | None = None
    requires_grad: bool = False
    name: str | None = None
    base: Tensor | None = None
    hooks: Any = None
    retains_grad: bool = False
    is_parameter: bool = False
    version_count: int = 0
    row: int = -1
    identity: int = -1
    site: int = 0
    accumulate_template: Any = None

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        self.data = data
        if requires_grad:
            self.requires_grad = True

    @property
    def version(self) -> int:
        """How often its memory was written in place."""
        return (self.base or self).version_count

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.data, dtype=dtype)


class Node:
    """A step of the way back: the op that ran, where its gradients go, and what its rules need."""

    plan: Plan
    targets: tuple[Node | Tensor, ...]
    saved: Any
    moment: int
    shapes: tuple[tuple[int, ...], ...] | None = None
    attrs: dict[str, Any] | None = None
    row: int = -1
    site: Any = None
    hooks: Any = None
    retained: Any = None

    def name(self) -> str:
        """The name as PyTorch would print it."""
        return self.plan.op.node_name

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that its gradients go to, as (node, 0); a leaf stands as `AccumulateGrad`."""
        active = {rule.index: target for rule, target in zip(self.plan.rules, self.targets, strict=True)}
        pairs = (active.get(index) for index in range(len(self.plan.op.vjps)))
        return tuple(
            (None, 0) if target is None else (AccumulateGrad(target), 0) if isinstance(target, Tensor) else (target, 0)
            for target in pairs
        )

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook(cotangent)` before the rule runs; a tensor that it returns takes the cotangent's place."""
        if self.hooks is None:
            self.hooks = []
        return Handle(self.hooks, hook)

    def __repr__(self) -> str:
        return f"<{self.name()}0>"


class AccumulateGrad:
    """Where a gradient ends: it is added to `variable.grad`."""

    next_functions: tuple[()] = ()

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable

    def name(self) -> str:
        """The name as PyTorch would print it."""
        return "AccumulateGrad"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self) -> int:
        return hash(id(self.variable))

    def __repr__(self) -> str:
        return "<AccumulateGrad>"


class Handle:
    """A registered hook; `remove()` takes it back."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks = hooks
        self._hook = hook
        hooks.append(hook)

    def remove(self) -> None:
        """Take the hook back."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


class ActiveRule:
    """One rule of a plan: for which input, and what it takes."""

    __slots__ = ("attrs", "index", "needs", "rule")

    def __init__(self, index: int, rule: Callable[..., Any], needs: tuple[str, ...], attrs: tuple[str, ...]) -> None:
        self.index = index
        self.rule = rule
        self.needs = needs
        self.attrs = attrs


class Plan:
    """How one op goes backward when a given set of its inputs needs a gradient: which rules run, what they save."""

    __slots__ = ("op", "rules", "save", "wants_attrs")

    def __init__(self, op: Op, active: tuple[int, ...], count: int) -> None:
        self.op = op
        vjps = [(index, op.vjps[min(index, len(op.vjps) - 1)]) for index in active]
        self.rules = tuple(ActiveRule(index, vjp.rule, vjp.needs, vjp.attrs) for index, vjp in vjps if vjp)
        self.wants_attrs = any(rule.attrs for rule in self.rules)
        names = INPUT_NAMES[:count] if count <= len(INPUT_NAMES) else ("*inputs",)
        saved = "".join("(" + "".join(f"{name}, " for name in rule.needs) + "), " for rule in self.rules)
        # One small function that picks what the rules need is worth its building: it runs for every node.
        self.save = eval(f"lambda out, {', '.join(names)}: ({saved})")  # noqa: S307 - names from rule signatures


def plan_for(op: Op, wanting: tuple[bool, ...]) -> Plan:
    """The plan of an op for the inputs that need a gradient and have a rule."""
    plan = op.plans.get(wanting)
    if plan is None:
        last = len(op.vjps) - 1
        active = tuple(index for index, wants in enumerate(wanting) if wants and op.vjps[min(index, last)] is not None)
        plan = op.plans[wanting] = Plan(op, active, len(wanting))
    return cast(Plan, plan)


def apply(op: Op, inputs: Sequence[Any], attrs: dict[str, Any] | None = None, depth: int = 2) -> Tensor:
    """Run an op on tensors and Python numbers, of any number and kind.

    Args:
        op: The op.
        inputs: Tensors, or numbers that take part as they are.
        attrs: Keyword arguments of its forward function.
        depth: How many frames up the caller's program is.

    Raises:
        RuntimeError: The shapes or dtypes do not fit; the message says which and how.
    """
    writer = recording.writer
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    constants = [value for value in inputs if not isinstance(value, Tensor)]
    start = 0
    frame: Any = None
    if writer is not None:
        frame = _getframe(depth)
        for argument, value in enumerate(inputs):
            if isinstance(value, Tensor) and value.row < writer.low:
                tracing.input_row(writer, value, frame, argument)
        if writer.gate is not None and writer.gate.wants_before:
            tracing.ahead(writer, op, tensors, frame)
        start = writer.clock()
    arrays = dtypes.promoted(op, inputs)
    try:
        result = op.forward(*arrays, **attrs) if attrs else op.forward(*arrays)
    except (ValueError, TypeError, IndexError, np.exceptions.AxisError) as error:
        raise explain_failure(op, arrays, attrs, error) from error
    out = _new(Tensor)
    site = None
    if op.view:
        out.base = tensors[0].base or tensors[0]
    if writer is not None:
        end = writer.clock()
        rows = [tensor.row for tensor in tensors]
        described = {**(attrs or {}), **({"operands": constants} if len(constants) > 1 else {})}
        constant = constants[0] if len(constants) == 1 else None
        site = tracing.call_site(writer, frame, op, result, constant, described, len(rows))
        if len(rows) <= 3:
            row = writer.append(site.template, result, end, end - start, mode.backward_row, *rows)
        else:
            edges = [(row, 0) for row in rows]
            keep = [(result, site.template.keep)]
            row = writer.append_wide(site.template, keep, edges, end, end - start, mode.backward_row)
        out.row = out.identity = row
        if writer.gate is not None:
            answer = tracing.pause(writer, row, result, frame)
            if answer.__class__ is Replace:
                result = answer.value
    out.data = result
    if mode.grad_enabled:
        wanting = tuple(isinstance(value, Tensor) and value.requires_grad for value in inputs)
        if any(wanting) and result.dtype.kind in "fc":
            plan = plan_for(op, wanting)
            if plan.rules:
                attach(out, plan, [inputs[rule.index] for rule in plan.rules], plan.save(result, *arrays), site)
                node = cast(Node, out.node)
                node.shapes = tuple(inputs[rule.index].data.shape for rule in plan.rules)
                node.attrs = attrs
    return out


def attach(out: Tensor, plan: Plan, inputs: Sequence[Tensor], saved: Any, site: Any) -> None:
    """Give a result its backward node."""
    node = _new(Node)
    node.plan = plan
    node.targets = tuple(value.node or value for value in inputs)
    node.saved = saved
    node.moment = _next_moment()
    if site is not None:
        node.site = site
        node.row = out.row
    out.node = node
    out.requires_grad = True


def _binary(op: Op) -> Callable[..., Any]:
    """The call of an op of two inputs and no attributes: `apply`, with everything that it does in a straight line."""
    forward = op.forward
    both, left, right = (plan_for(op, wanting) for wanting in ((True, True), (True, False), (False, True)))
    key = op.key

    def call(input: Any, other: Any) -> Any:
        x, y = input, other
        if x.__class__ is not Tensor and not isinstance(x, Tensor):
            if not isinstance(y, Tensor):
                return forward(x, y)
            return apply(op, (dtypes.operand(x), y))
        a = x.data
        constant = None
        shapes = None
        if (y.__class__ is float or y.__class__ is int) and (a.__class__ is not _ndarray or a.dtype.kind == "f"):
            b = constant = y
        elif y.__class__ is Tensor:
            b = y.data
            if a.__class__ is _ndarray and a.__class__ is b.__class__ and a.dtype is b.dtype:
                if a.shape != b.shape:
                    shapes = True
            elif a.__class__ is not b.__class__ or a.__class__ is _ndarray:
                return apply(op, (x, y))
        else:
            return apply(op, (x, dtypes.operand(y)))
        writer = recording.writer
        if writer is not None:
            frame = _getframe(1)
            if x.row < writer.low:
                tracing.input_row(writer, x, frame, 0)
            if constant is None and y.row < writer.low:
                tracing.input_row(writer, y, frame, 1)
            gate = writer.gate
            if gate is not None:
                if gate.wants_before:
                    tracing.ahead(writer, op, [x] if constant is not None else [x, y], frame)
                a = x.data
                b = constant if constant is not None else y.data
            start = writer.clock()
        try:
            result = forward(a, b)
        except ValueError as error:
            raise explain_failure(op, (a, b), None, error) from error
        out = _new(Tensor)
        if writer is not None:
            end = writer.clock()
            site = writer.sites.get(id(frame.f_code) + frame.f_lasti + key)
            if (
                site.__class__ is not tracing.CallSite
                or site.kind is not result.__class__
                or (site.kind is _ndarray and (site.shape != result.shape or site.dtype is not result.dtype))
                or site.constant is not constant
                or site.scope is not mode.scope
                or mode.backward_row
                or site.backward
                or site.ident != tracing.get_ident()
            ):
                count = 1 if constant is not None else 2
                site = tracing.call_site(writer, frame, op, result, constant, None, count)
            if constant is None:
                row = writer.append(site.template, result, end, end - start, mode.backward_row, x.row, y.row)
            else:
                row = writer.append(site.template, result, end, end - start, mode.backward_row, x.row)
            out.row = out.identity = row
            if gate is not None:
                answer = tracing.pause(writer, row, result, frame)
                if answer.__class__ is Replace:
                    result = answer.value
        out.data = result
        if x.requires_grad:
            if modes.ever_disabled and not mode.grad_enabled:
                return out
            node = _new(Node)
            if constant is None and y.requires_grad:
                node.plan = both
                node.targets = (x.node or x, y.node or y)
                node.saved = both.save(result, a, b)
                if shapes:
                    node.shapes = (a.shape, b.shape)
            else:
                node.plan = left
                node.targets = (x.node or x,)
                node.saved = left.save(result, a, b)
                if shapes:
                    node.shapes = (a.shape,)
        elif constant is None and y.requires_grad:
            if modes.ever_disabled and not mode.grad_enabled:
                return out
            node = _new(Node)
            node.plan = right
            node.targets = (y.node or y,)
            node.saved = right.save(result, a, b)
            if shapes:
                node.shapes = (b.shape,)
        else:
            return out
        node.moment = _next_moment()
        if writer is not None:
            node.site = site
            node.row = row
        out.node = node
        out.requires_grad = True
        return out

    return call


def _unary(op: Op) -> Callable[..., Any]:
    """The call of an op of one input and no attributes, in a straight line."""
    forward = op.forward
    plan = plan_for(op, (True,))
    key = op.key
    view = op.view

    def call(input: Any) -> Any:
        x = input
        if x.__class__ is not Tensor and not isinstance(x, Tensor):
            return forward(x)
        a = x.data
        writer = recording.writer
        if writer is not None:
            frame = _getframe(1)
            if x.row < writer.low:
                tracing.input_row(writer, x, frame, 0)
            gate = writer.gate
            if gate is not None:
                if gate.wants_before:
                    tracing.ahead(writer, op, [x], frame)
                a = x.data
            start = writer.clock()
        result = forward(a)
        out = _new(Tensor)
        if view:
            out.base = x.base or x
        if writer is not None:
            end = writer.clock()
            site = writer.sites.get(id(frame.f_code) + frame.f_lasti + key)
            if (
                site.__class__ is not tracing.CallSite
                or site.kind is not result.__class__
                or (site.kind is _ndarray and (site.shape != result.shape or site.dtype is not result.dtype))
                or site.scope is not mode.scope
                or mode.backward_row
                or site.backward
                or site.ident != tracing.get_ident()
            ):
                site = tracing.call_site(writer, frame, op, result, None, None, 1)
            row = writer.append(site.template, result, end, end - start, mode.backward_row, x.row)
            out.row = out.identity = row
            if gate is not None:
                answer = tracing.pause(writer, row, result, frame)
                if answer.__class__ is Replace:
                    result = answer.value
        out.data = result
        if x.requires_grad and not (modes.ever_disabled and not mode.grad_enabled):
            node = _new(Node)
            node.plan = plan
            node.targets = (x.node or x,)
            node.saved = plan.save(result, a)
            node.moment = _next_moment()
            if writer is not None:
                node.site = site
                node.row = row
            out.node = node
            out.requires_grad = True
        return out

    return call


def _general(op: Op) -> Callable[..., Any]:
    """The call of any other op: `prepare` reads the arguments, `apply` runs it."""
    prepare = op.prepare
    forward = op.forward

    def call(*args: Any, **kwargs: Any) -> Any:
        if prepare is not None:
            inputs, attrs = prepare(*args, **kwargs)
        else:
            inputs, attrs = args, kwargs
        for value in inputs:
            if isinstance(value, Tensor):
                return apply(op, [dtypes.operand(value) for value in inputs], attrs)
        return forward(*inputs, **attrs)

    return call


def define(name: str, doc: str, *, tensor_method: bool = True, aliases: Sequence[str] = (), **definition: Any) -> Any:
    """Define an op: register it, and return the function that people call.

    Args:
        name: The op's name, and that of the function.
        doc: What it computes, in one sentence.
        tensor_method: Whether tensors have it as a method.
        aliases: Other names of the method, such as `__add__`.
        **definition: formula, forward, vjp, samples, and what else `op.register` takes.
    """
    op = register(name, doc, **definition)
    count = len(op.vjps)
    make = _general
    if op.prepare is None and not op.in_place:
        make = {1: _unary, 2: _binary}.get(count, _general)
    call = make(op)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{doc}\n\n{op.formula}"
    op.call = call
    for method in ((name,) if tensor_method else ()) + tuple(aliases):
        setattr(Tensor, method, call)
    return call
