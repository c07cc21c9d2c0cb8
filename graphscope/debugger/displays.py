"""Expressions that are shown at every stop where they have changed."""

from __future__ import annotations

from collections.abc import Iterator

from graphscope.debugger.expressions import RAISED, Expression, Lookup, describe
from graphscope.debugger.results import Display


class Displays(dict[int, Expression]):
    """Expressions by their numbers, and what each of them was when it was shown last."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[int, str] = {}

    def add(self, expression: Expression, lookup: Lookup) -> Display:
        """Begin to show an expression."""
        number = max(self, default=0) + 1
        self[number] = expression
        self._shown[number] = text = text_of(expression, lookup)
        return Display(number, expression.text, text)

    def changed(self, lookup: Lookup) -> Iterator[Display]:
        """Those that are to be shown."""
        for number, expression in self.items():
            text = text_of(expression, lookup)
            if self._shown.get(number) != text:
                self._shown[number] = text
                yield Display(number, expression.text, text)


def text_of(expression: Expression, lookup: Lookup) -> str:
    """What an expression is, as text; what it raises is text too."""
    try:
        return repr(expression.evaluate(lookup))
    except RAISED as error:  # a person's expression may raise anything
        return f"** raised {describe(error)} **"
