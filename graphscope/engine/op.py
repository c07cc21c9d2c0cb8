"""What an op is, and the table of all ops. An op is defined once, in one block; everything else is derived."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

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
    text: str

    @classmethod
    def of(cls, rule: Rule) -> VJP:
        """Read off a rule's signature what it needs."""
        parameters = list(inspect.signature(rule).parameters.values())[1:]
        attrs = tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
        needs = tuple(parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY)
        return cls(rule, needs, attrs, _text(rule))


@dataclass(slots=True, eq=False)
class Op:
    """One op: its formula, its forward function on bare arrays, and one VJP for each input (None: no gradient)."""

    name: str
    doc: str
    formula: str
    forward: Callable[..., Any]
    vjps: tuple[VJP | None, ...]
    samples: tuple[Any, ...]
    in_place: bool
    view: bool
    promotes: bool
    """Whether operands of different dtypes are brought to one."""
    prepare: Callable[..., Any] | None
    """Turns the arguments of a call, as people write them, into (inputs, attributes)."""
    key: int = 0
    """Tells call sites of different ops apart."""
    call: Callable[..., Any] = field(default=lambda: None)
    plans: dict[Any, Any] = field(default_factory=dict)
    """Backward plans by which inputs need a gradient; see `tensor.Plan`."""

    @property
    def node_name(self) -> str:
        """The name of its backward nodes, as PyTorch would print it: `MulBackward`."""
        words = [word for word in self.name.rstrip("_").split("_") if word]
        return "".join(word[:1].upper() + word[1:] for word in words) + "Backward"

    def describe(self) -> dict[str, Any]:
        """The op as the log keeps it: text, never run."""
        return {
            "name": self.name,
            "formula": self.formula,
            "doc": self.doc,
            "vjp": [vjp.text if vjp else "no gradient" for vjp in self.vjps],
            "inputs": list(INPUT_NAMES[: len(self.vjps)]),
        }


OPS: Final[dict[str, Op]] = {}
"""Every op by name."""


def register(
    name: str,
    doc: str,
    *,
    formula: str,
    forward: Callable[..., Any],
    vjp: Sequence[Rule | None],
    samples: Sequence[Any] = (),
    in_place: bool = False,
    view: bool = False,
    promotes: bool = True,
    prepare: Callable[..., Any] | None = None,
) -> Op:
    """Add an op to OPS."""
    vjps = tuple(None if rule is None else VJP.of(rule) for rule in vjp)
    op = Op(name, doc, formula, forward, vjps, tuple(samples), in_place, view, promotes, prepare)
    op.key = (len(OPS) + 1) << 48  # above any address
    OPS[name] = op
    return op


def _text(rule: Rule) -> str:
    try:
        source = inspect.getsource(rule).strip()
    except (OSError, TypeError):
        return rule.__name__
    if "lambda" not in source:
        return source
    return " ".join(source[source.index("lambda") :].split()).rstrip(",]) ") if source.count("lambda") == 1 else source
