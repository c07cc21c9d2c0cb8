"""What a call of `tf.gradients` has made of a graph: rules, by the names of ops and tensors."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient, by the names of tensors: these keep no graph alive."""

    name: str
    rows: str = ""
    """Of a gradient of a few rows: the tensor that says which they are."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of an op."""

    op: str
    cotangents: tuple[Gradient | None, ...]
    """By output of the op."""
    contributions: tuple[Gradient | None, ...]
    """By input of the op: what the rule returns for it."""


@dataclass(slots=True)
class GradientCall:
    """One call of `tf.gradients`: its rules in the order in which they are due, and the ops that it made."""

    rules: list[Rule] = field(default_factory=list)
    made: frozenset[str] = frozenset()
    owners: dict[str, str] = field(default_factory=dict)
    """By the name of an op that a rule made: the op whose rule it is."""
