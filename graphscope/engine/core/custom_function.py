"""Functions with a backward of their own: a class with `forward` and `backward`, and one node for each call."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from copy import copy
from sys import _getframe
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes, slots, tracing, writes
from graphscope.engine.core.modes import Context, here
from graphscope.engine.core.module_scopes import scope
from graphscope.engine.core.node import ATTRS, FREED, OUTPUTS, SAVED, ActiveRule, Plan, Record
from graphscope.engine.core.op import VJP, Op
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog.typed import Other

_keys: Final = itertools.count(1 << 20)


class FunctionCtx:
    """What a call of a Function hands from `forward` to `backward`; both may put attributes of their own on it."""

    needs_input_grad: tuple[bool, ...] = ()
    """For each argument of `forward`, whether a gradient is wanted."""
    materialize_grads: bool = True

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._constant: tuple[Any, ...] = ()
        self._record: Record | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs, outputs or other tensors for `backward`, where they are `saved_tensors`."""
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Accepted for PyTorch's sake: there is no forward mode here."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs `forward` wrote in place; it must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (or else None) for outputs that nothing used."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given.

        Raises:
            RuntimeError: One of them was written in place since.
        """
        return tuple(kept.taken(self._record) if isinstance(kept, _Kept) else kept for kept in self._saved)


class _Kept:
    """A tensor that was saved, and the version that it had; of an output, its slot (it would hold itself otherwise)."""

    def __init__(self, tensor: Tensor, slot: int | None, number: int, name: str) -> None:
        self.tensor = tensor if slot is None else None
        self.array = tensor.array
        self.slot = slot
        self.number = number
        self.name = name
        self.moment = next(writes.moments)

    def taken(self, node: Record | None) -> Tensor:
        """The tensor, with its place in the graph."""
        written = writes.since(self.array, self.moment) if isinstance(self.array, np.ndarray) else None
        if written is not None:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"{self.name} had saved tensor {self.number} of shape {tuple(self.array.shape)}, and {written[0]} "
                "wrote into it before backward. Use the op without the underscore, or clone() the tensor first."
            )
        if self.tensor is not None:
            return self.tensor
        out = Tensor(self.array)
        if node is not None and self.slot is not None and self.array.dtype.kind in "fc":
            out.node = slots.slot_record(node, self.slot)
            out.row = slots.row_of(out.node)
        return out


class Function:
    """Base of functions with a backward of their own. Call `apply`; `forward` and `backward` are static methods.

    `forward(ctx, *args)` computes; or `forward(*args)`, and `setup_context(ctx, inputs, output)` says what to keep.
    `backward(ctx, *gradients)` gets a gradient for each output and returns one (or None) for each argument.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """What to compute.

        Raises:
            NotImplementedError: The subclass has none.
        """
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        """What to keep for `backward`, where `forward` takes no `ctx`.

        Raises:
            NotImplementedError: The subclass has none.
        """
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments, from those of the outputs.

        Raises:
            NotImplementedError: The subclass has none.
        """
        raise NotImplementedError(
            "You must implement the backward function for custom autograd.Function to use it with backward."
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run `forward` on the arguments, and remember the way back.

        Raises:
            RuntimeError: An output that was marked is none of the tensors concerned.
        """
        writer = recording.writer
        frame: Any = _getframe(1)
        given = [value for value in args if isinstance(value, Tensor)]
        start = 0
        if writer is not None:
            for argument, value in enumerate(args):
                if isinstance(value, Tensor) and value.row < writer.low:
                    tracing.input_row(writer, value, frame, argument + 1)  # 0 is the class
            start = writer.clock()
        edges = [tracing.edge(value) for value in given]
        enabled = here().grad_enabled
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(value, Tensor) and value.requires_grad for value in args)
        tracked = enabled and any(ctx.needs_input_grad)
        with scope(cls.__name__, "function"), modes.grad_mode(False):
            if cls.setup_context is not Function.setup_context:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
            else:
                result = cls.forward(ctx, *args)
        several = isinstance(result, tuple | list)
        values: list[Any] = list(result) if several else [result]
        outs = [_output(value, ctx, args) for value in values]
        op = _op_of(cls, len(args))
        tensors = [out for out in outs if isinstance(out, Tensor)]
        site, row = None, -1
        if writer is not None and tensors:
            site, row = slots.record_call(writer, op, edges, tensors, (_operands(args), None), frame, start)
        if tracked:
            _join(cls, op, ctx, args, values, outs, row, site)
        return type(result)(outs) if several else outs[0]


def _operands(args: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments of a call as the log tells of them: of an object of the program, its type."""
    plain = [value if isinstance(value, _PLAIN) else Other(type(value).__name__, "") for value in args]
    return tracing.operands_of(plain, Tensor)


_PLAIN: Final = (Tensor, bool, int, float, complex, str, type(None), np.dtype)


def _output(value: Any, ctx: FunctionCtx, args: Sequence[Any]) -> Any:
    """An output as callers get it: an input that was written stays itself, all else is a tensor of its own."""
    if not isinstance(value, Tensor) or any(value is each for each in ctx._dirty):
        return value
    out = Tensor(value.array)
    if any(value is each for each in args):
        out.base = value if value.base is None else value.base
    return out


def _join(
    cls: type[Function],
    op: Op,
    ctx: FunctionCtx,
    args: Sequence[Any],
    values: Sequence[Any],
    outs: Sequence[Any],
    row: int,
    site: Any,
) -> None:
    """Give the outputs of a call their way back."""
    constant = {id(value) for value in ctx._constant}
    wanted = [index for index, needs in enumerate(ctx.needs_input_grad) if needs]
    plan = copy(_plan_of(op, cls, tuple(wanted)))
    targets = tuple(args[index].node or args[index] for index in wanted)
    shapes = tuple(args[index].array.shape for index in wanted)
    tensors = [(value, out) for value, out in zip(values, outs, strict=True) if isinstance(out, Tensor)]
    attrs = {
        slots.HOOKS_OF_SLOTS: [{} for _ in tensors],
        OUTPUTS: [(out.array.shape, out.array.dtype) for _, out in tensors],
        "_places": [isinstance(out, Tensor) for out in outs],
    }
    node: Record = [plan, targets, ctx, next(writes.moments), shapes, attrs, row, site, None, None]
    for slot, (value, out) in enumerate(tensors):
        next(writes.moments)
        if id(value) in constant or out.array.dtype.kind not in "fc":
            continue
        if out is value:
            _take_over(out, ctx, op)
        out.node = slots.slot_record(node, slot)
        out.wants_grad = False
    identities = {id(value): slot for slot, (value, _) in enumerate(tensors) if not any(value is arg for arg in args)}
    identities |= {id(value): slot for slot, (value, out) in enumerate(tensors) if out is value}
    ctx._saved = tuple(
        _Kept(kept, identities.get(id(kept)), number, op.name) if isinstance(kept, Tensor) else kept
        for number, kept in enumerate(ctx._saved)
    )
    plan.freed = FREED if ctx._saved else ctx
    ctx._dirty = ctx._constant = ()


def _take_over(tensor: Tensor, ctx: FunctionCtx, op: Op) -> None:
    """An input that `forward` wrote goes on as an output."""
    if tensor.wants_grad and tensor.node is None:
        raise RuntimeError(
            f"{op.name}: a leaf Variable that requires grad is being used in an in-place operation. "
            "Do it under no_grad(), or return a new tensor."
        )
    if tensor.base is not None:
        raise RuntimeError(f"{op.name}: a view was marked dirty, and gradients flow through it: clone() it first")


class FunctionPlan(Plan):
    """How the node of a Function goes backward: the class's own `backward` runs."""

    __slots__ = ("function",)

    def __init__(self, op: Op, function: type[Function], wanted: Sequence[int]) -> None:
        super().__init__(op, (), 0)
        self.function = function
        self.rules = tuple(ActiveRule(index, function.backward, (), ()) for index in wanted)
        self.special = True
        self.custom = self.run

    def arguments(self, saved: Any) -> tuple[tuple[Any, ...], ...]:
        return ((),) * len(self.rules)

    def run(self, record: Record, found: slots.Cotangents, row: int, tensors: bool) -> Sequence[Any]:
        """The gradients that `backward` gives, one for each input that wants one."""
        ctx: FunctionCtx = record[SAVED]
        name = f"{self.function.__name__}Backward"
        given = slots.whole(record, found, True)
        if not ctx.materialize_grads:
            given = tuple(value if slot in found else None for slot, value in enumerate(given))
        told = iter(given)
        gradients = [next(told) if is_tensor else None for is_tensor in record[ATTRS]["_places"]]
        for gradient in gradients[:1]:
            if gradient is not None and gradient.row < 0 <= row:
                gradient.row = row
        mode = here()
        before = mode.context
        mode.context = Context(before.scope, max(row, 0), before.grad_enabled)
        ctx._record = record
        try:
            with modes.grad_mode(tensors), scope(name, "function"):
                answer = self.function.backward(ctx, *gradients)
        finally:
            mode.context = before
            ctx._record = None
        results = answer if isinstance(answer, tuple | list) else (answer,)
        count = len(ctx.needs_input_grad)
        if len(results) > count and all(value is None for value in results[count:]):
            results = results[:count]
        if len(results) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got {len(results)})"
            )
        for index, value in enumerate(results):
            if value is not None and not isinstance(value, Tensor):
                raise RuntimeError(
                    f"function {name} returned a {type(value).__name__} at index {index}: gradients are tensors or None"
                )
        return [
            _checked(results[rule.index], shape, name, rule.index, tensors)
            for rule, shape in zip(self.rules, record[4], strict=True)
        ]


def _plan_of(op: Op, function: type[Function], wanted: tuple[int, ...]) -> FunctionPlan:
    """What the nodes of a Function begin with: making it takes longer than most calls."""
    plan: FunctionPlan | None = op.plans.get((function, wanted))
    if plan is None:
        plan = op.plans[function, wanted] = FunctionPlan(op, function, wanted)
    return plan


def _checked(gradient: Any, shape: tuple[int, ...], name: str, index: int, tensors: bool) -> Any:
    if gradient is None:
        return None
    got = gradient.array.shape
    back = list(zip(reversed(got), reversed(shape), strict=False))
    if len(got) < len(shape) or any(mine != size and size != 1 for mine, size in back):
        raise RuntimeError(
            f"Function {name} returned an invalid gradient at index {index} - got {list(got)} but expected shape "
            f"compatible with {list(shape)}"
        )
    return gradient if tensors else gradient.array


def _op_of(cls: type[Function], count: int) -> Op:
    """What the log says of a Function; made once for each class."""
    op: Op | None = cls.__dict__.get("_op")
    if op is None:
        doc = (inspect.getdoc(cls) if cls.__doc__ is not Function.__doc__ else None) or "A function of the program."
        op = Op(
            cls.__name__,
            doc.splitlines()[0],
            f"out = {cls.__name__}.apply(...)",
            cls.forward,
            (_described(cls.backward),) * max(count, 1),
            (),
            grad_name=f"{cls.__name__}Backward",
            several=True,
        )
        op.key = next(_keys) << 48
        cls._op = op  # type: ignore[attr-defined]
    return op


def _described(backward: Callable[..., Any]) -> VJP:
    try:
        text = inspect.getsource(backward)
    except (OSError, TypeError):
        text = "backward(ctx, ...)"
    return VJP(backward, (), (), False, doc=inspect.cleandoc(text))


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `backward` whose result can't be differentiated again: it runs with gradients off."""

    @functools.wraps(function)
    def wrapped(ctx: Any, *gradients: Any) -> Any:
        with modes.grad_mode(False):
            answer = function(ctx, *gradients)
        if not here().grad_enabled or not any(isinstance(g, Tensor) and g.requires_grad for g in gradients):
            return answer
        results = answer if isinstance(answer, tuple | list) else (answer,)
        refused = tuple(_Refused.apply(value) if isinstance(value, Tensor) else value for value in results)
        return refused if isinstance(answer, tuple | list) else refused[0]

    return wrapped


class _Refused(Function):
    """Stands behind a gradient that can't be differentiated."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        (value,) = args
        out = super().apply(Tensor(value.array, requires_grad=True))
        out.row = value.row
        return out

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return Tensor(value.array)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
