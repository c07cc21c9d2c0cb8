"""What a formula is. The words of rules are explained in docs/reference/formulas.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Formula:
    """What one op computes, and the gradient of each input.

    Rules are expressions of `g`, the gradient of `out`; broadcasting is undone behind them. What they abbreviate stands
    behind `where`: `g * s where s = sigmoid(x)`.
    """

    text: str
    """`out = x · y`."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """By the formula's name of an input; one that has none has no gradient."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What the formula calls an argument that the library calls otherwise, beside NAMES."""
    inputs: tuple[str, ...] = ()
    """Arguments in order, of an op that is no function with named arguments."""
    source: str = ""
    """Who says so, where it is no formula of ours."""
    element: str = ""
    """How one element is computed: `each` of those at its place, or an expression with `i`, `j`, ... for its place."""

    def name(self, argument: str) -> str:
        """What the formula calls an argument."""
        return self.names.get(argument) or NAMES.get(argument, argument)

    def calling(self, inputs: Sequence[str]) -> Formula:
        """The same, of a library that calls its inputs so, in their order."""
        called = dict(zip(self.rules, inputs, strict=False))
        words = re.compile(rf"(?<![\w.])({'|'.join(called) or 'x'})(?![A-Za-z0-9_(])")

        def renamed(text: str) -> str:
            return words.sub(lambda found: called.get(found[1], found[1]), text)

        rules = {called[name]: renamed(rule) for name, rule in self.rules.items() if name in called}
        return Formula(renamed(self.text), rules, element=renamed(self.element))


NAMES: Final = {"input": "x", "self": "x", "tensors": "x", "tensor": "x", "other": "y"}
"""What formulas call arguments that libraries call otherwise."""


def of(text: str, names: Mapping[str, str] | None = None, inputs: str = "", element: str = "", **rules: str) -> Formula:
    """A formula, with a rule for each input that has one."""
    return Formula(text, rules, names or {}, tuple(inputs.split()), element=element)


def each(text: str, names: Mapping[str, str] | None = None, inputs: str = "", **rules: str) -> Formula:
    """A formula that makes each element of those at its place."""
    return of(text, names, inputs, "each", **rules)
