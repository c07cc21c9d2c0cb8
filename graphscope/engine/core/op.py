"""What an op is, and the table of all ops. An op is defined once, in one block; everything else is derived.

An op of several outputs gives their names, `outputs=("Q", "R")`, and its `forward` returns a tuple of arrays; callers
get a named tuple. With `outputs=()` they are any number without names, and callers get a tuple. Each rule's `g` is then
the tuple of the cotangents of all outputs (zeros for those that nothing used), and `out` the tuple of outputs.

One rule may serve all inputs: `vjp=[joint(rule), joint(rule)]`, where `rule` returns a gradient, or None, for each.

With `residuals=True`, `forward` returns (what it computes, what it hands its rules); a rule that has a parameter
`residuals` gets the second. They are constants to the second derivative: masks and indices, nothing that x flows into.

A rule asks for an op's first four inputs as x, y, z and w; of an op of more inputs, for all of them as `inputs`.
What a rule asks for is saved, and must not be written in place before the backward pass; of an input of which the
number of dims will do, it asks for `x_ndim` and so on.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np

from graphscope.engine.core.precision import in_single
from graphscope.engine.core.results import result_of
from graphscope.eventlog.source_blocks import function_block
from graphscope.eventlog.source_texts import lines_in
from graphscope.formulas.table import FORMULAS

Rule = Callable[..., Any]
"""A vector-Jacobian product: from the cotangent `g` and what its parameters name to the gradient of one input."""

INPUT_NAMES: Final = ("x", "y", "z", "w")
"""Names by which rules ask for the op's inputs; `out` is its output, `g` the cotangent, keywords its attributes."""


@dataclass(frozen=True, slots=True)
class VJP:
    """A rule, and what it needs: that alone is saved."""

    rule: Rule
    needs: tuple[str, ...]
    """Parameters after `g`, in order: names of inputs, or `out`."""
    attrs: tuple[str, ...]
    """Keyword-only parameters: the attributes of the call that it wants."""
    position: bool
    """Whether it also wants `position`: which of any number of inputs it is to differentiate by."""
    joint: Rule | None = None
    """The rule for all inputs at once, of which this is one input's share."""
    doc: str = ""
    """What it computes, in words, where that is not to be read from the rule."""

    @classmethod
    def of(cls, rule: Rule) -> VJP:
        """Read off a rule's signature what it needs."""
        whole = rule.rule if isinstance(rule, Joint) else None
        code = inspect.unwrap(whole or rule).__code__  # not its signature: it takes a tenth of the time to start
        needs = code.co_varnames[1 : code.co_argcount]
        attrs = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        position = "position" in attrs or whole is not None
        attrs = tuple(name for name in attrs if name != "position")
        return cls(rule, needs, attrs, position, whole)

    @property
    def text(self) -> str:
        """What it computes, for people; read from the rule when it is asked for: a program uses few of all ops."""
        return self.doc or _text(self.joint or self.rule)

    @property
    def is_function(self) -> bool:
        """Whether nothing but the lines of a function say what it computes."""
        code = getattr(inspect.unwrap(self.joint or self.rule), "__code__", None)
        return not self.doc and code is not None and code.co_name != "<lambda>"

    def bound(self, index: int) -> Rule:
        """The rule for the input at `index`."""
        return functools.partial(self.rule, position=index) if self.position else self.rule


@dataclass(frozen=True, slots=True)
class Joint:
    """One input's share of a rule that serves all inputs."""

    rule: Rule

    def __call__(self, *args: Any, position: int, **attrs: Any) -> Any:
        return self.rule(*args, **attrs)[position]


def joint(rule: Rule) -> Rule:
    """A rule that returns the gradients of all inputs: to be given for each of them."""
    return Joint(rule)


@dataclass(slots=True, eq=False)
class Op:
    """One op: its formula, its forward function on bare arrays, and one VJP for each input (None: no gradient)."""

    name: str
    doc: str
    formula: str
    forward: Callable[..., Any]
    vjps: tuple[VJP | None, ...]
    samples: tuple[Any, ...]
    element: str = ""
    """How one element is computed; see `Formula`."""
    in_place: bool = False
    view: bool = False
    wrapped: bool = False
    """Whether people reach it through a function of ours, one frame further up."""
    core_dims: int = 0
    """The last so many dims of its inputs are no part of broadcasting."""
    reduces: bool = False
    """Whether it takes one input of any shape to a single element: its rule's result is spread over that shape."""
    multiplies: bool = False
    """Whether of two matrices it is their product, `x.dot(y)`."""
    floating: bool = False
    """Whether integers become floating numbers first."""
    accumulates: bool = False
    """Whether it adds up many numbers: then it computes in single precision what is given in half."""
    promotes: bool = True
    """Whether operands of different dtypes are brought to one."""
    grad_name: str | Callable[..., str] | None = None
    """PyTorch's name of its backward nodes, where it is not made of the op's own; perhaps told by the attributes."""
    prepare: Callable[..., Any] | None = None
    """Turns the arguments of a call, as people write them, into (inputs, attributes)."""
    shape: Callable[..., Any] | None = None
    """The shape rule: from the shapes of the inputs and the attributes of the call to the shape of the output."""
    composite: bool = False
    """Whether it is made of other ops: `forward` is a function of tensors, and the log shows it as a scope."""
    torch: str | None = None
    """PyTorch's name of it, under `torch`, where it is another; None: PyTorch has none of these arguments."""
    takes_bool: bool = True
    """Whether booleans take part as numbers; else they are refused."""
    stated: Mapping[str, str] = field(default_factory=dict)
    """Rules as the table of formulas states them, by the names of inputs."""
    several: bool = False
    """Whether it has several outputs."""
    residuals: bool = False
    """Whether `forward` also returns what it hands its rules."""
    result: Callable[..., Any] = tuple
    """What callers get of several outputs."""
    key: int = 0
    """Tells call sites of different ops apart."""
    call: Callable[..., Any] = field(default=lambda: None)
    plans: dict[Any, Any] = field(default_factory=dict)
    """Backward plans by which inputs need a gradient; see `tensor.Plan`."""

    def node_name(self, attrs: Any) -> str:
        """The name of its backward node for a call with these attributes, as PyTorch would print it: `MulBackward0`."""
        if self.grad_name is not None:
            return self.grad_name if isinstance(self.grad_name, str) else str(self.grad_name(attrs))
        words = [word for word in self.name.rstrip("_").split("_") if word]
        return "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"

    def describe(self) -> dict[str, Any]:
        """The op as the log keeps it: text, never run."""
        return {
            "name": self.name,
            "formula": self.formula,
            "doc": self.doc,
            "vjp": [self._told(number, vjp) for number, vjp in enumerate(self.vjps)],
            "inputs": list(INPUT_NAMES[: len(self.vjps)]),
            **({"element": self.element} if self.element else {}),
        }

    def _told(self, number: int, vjp: VJP | None) -> str:
        """The text of a rule: of a function, for which the table of formulas has an expression, that expression."""
        if vjp is None:
            return "no gradient"
        stated = self.stated.get(INPUT_NAMES[number], "") if number < len(INPUT_NAMES) else ""
        return stated if stated and vjp.is_function and _of_inputs(stated) else vjp.text


def _of_inputs(rule: str) -> bool:
    """Whether a stated rule names nothing but inputs, `out` and `g`: settings may be called otherwise here."""
    # By the simplest of patterns: to compile those that tell all of it takes as long as some of a program's first ops.
    words = [(found[0], rule[: found.start()][-1:], rule[found.end() :][:3]) for found in re.finditer(r"\w+", rule)]
    names = {word for word, before, behind in words if not (word[0].isdigit() or before == "." or behind[:1] == "(")}
    set_here = {word for word, _, behind in words if behind == " = "}
    return names - set_here <= {"g", "out", *INPUT_NAMES, "where", "if", "else", "pi", "None"}


OPS: Final[dict[str, Op]] = {}
"""Every op by name."""


def register(
    name: str,
    doc: str,
    *,
    vjp: Sequence[Rule | None],
    samples: Sequence[Any] = (),
    outputs: tuple[str, ...] | None = None,
    **definition: Any,
) -> Op:
    """Add an op to OPS.

    Args:
        name: Its name.
        doc: What it computes, in one sentence.
        vjp: A rule for each input; the last serves further inputs, too.
        samples: Inputs for the tests; see `tests/engine/sampling.py`.
        outputs: Of an op of several outputs, their names.
        **definition: Fields of `Op`; a formula that is left out is that of the table FORMULAS.
    """
    known = FORMULAS.get(name)
    if known is not None:
        stated = known.calling(INPUT_NAMES)
        if definition.setdefault("formula", stated.text) == stated.text:
            definition.setdefault("element", stated.element)
            forward = definition["forward"]  # functions of NumPy's have no settings, and before 2.4 no signature
            settings = () if isinstance(forward, np.ufunc) else inspect.signature(forward).parameters
            if not any(f"{name}.{each}" in FORMULAS for each in settings):  # which make other functions of it
                definition.setdefault("stated", stated.rules)
    op = Op(
        name,
        doc,
        vjps=tuple(None if rule is None else VJP.of(rule) for rule in vjp),
        samples=tuple(samples),
        several=outputs is not None,
        result=result_of(name, outputs)._make if outputs else tuple,
        **{"torch": name, **definition},
    )
    if op.accumulates:
        op.forward = in_single(op.forward, residuals=op.residuals)
    op.key = (len(OPS) + 1) << 48  # above any address
    OPS[name] = op
    return op


@functools.cache
def arity(op: Op) -> int:
    """How many inputs the rules of an op know by name; one that was left out is None."""
    places = [INPUT_NAMES.index(name) + 1 for vjp in op.vjps if vjp for name in vjp.needs if name in INPUT_NAMES]
    return max(places, default=0)


def completed(op: Op, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a call with those that its rules want and that it may leave out."""
    return {"alpha": 1, **attrs} if any("alpha" in vjp.attrs for vjp in op.vjps if vjp) else attrs


def plain(op: Op) -> Callable[..., Any]:
    """The forward function of an op as it was written, which computes in the precision of what it is given."""
    return cast(Callable[..., Any], cast(Any, op.forward).__wrapped__) if op.accumulates else op.forward


def _text(rule: Rule) -> str:
    """What a rule computes, as it is written: of a lambda the expression, of a function its lines."""
    rule = inspect.unwrap(rule)
    code = getattr(rule, "__code__", None)
    if code is None:
        return str(getattr(rule, "__name__", rule))
    if code.co_name != "<lambda>":
        block = function_block(lines_in(code.co_filename), code.co_firstlineno)
        if block is not None and not any(quotes in line for line in block for quotes in ('"""', "'''")):
            return "\n".join(block).strip()
        try:
            return inspect.getsource(rule).strip()  # which takes longer, for it reads token by token
        except OSError:  # only the compiled modules were installed, or no file can be opened now
            return str(code.co_name)
    places = [place for place in code.co_positions() if None not in place and place[2] != place[3]]
    first = min([place[::2] for place in places])
    last = max([place[1::2] for place in places])
    lines = [line.encode() for line in lines_in(code.co_filename)[first[0] - 1 : last[0]]] or [b""]
    lines[-1] = lines[-1][: last[1]]  # columns count bytes
    lines[0] = lines[0][first[1] :]
    return " ".join(b" ".join(lines).decode().split())
