"""The marks of calls that decide how a program trains: objects have numbers, and each is described once."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, Final

from graphscope.eventlog import arguments
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.template import Template
from graphscope.eventlog.writer import Writer

_MOST_FORMS: Final = 4096


class TrainingMarks:
    """Appends CALL rows.

    Args:
        writer: Where they go.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._count = 0
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._forms: dict[tuple[Any, ...], tuple[Template, weakref.ref[CodeType] | None]] = {}
        """The templates of marks by line and what is told, and the code that the line is of."""

    def number(self, owner: Any) -> int:
        """The number of an object in this log: an optimizer, a scheduler, a module."""
        key = id(owner)
        found = self._numbers.get(key)
        if found is not None and found[0]() is owner:
            return found[1]
        self._count += 1
        # No Python runs when an object goes: its exceptions would be lost.
        self._numbers[key] = weakref.ref(owner, functools.partial(self._numbers.pop, key)), self._count
        return self._count

    def append(self, call: str, owner: int, frame: FrameType, key: tuple[Any, ...], facts: dict[str, Any]) -> None:
        """Append the mark of a call that may come again from the same line, with the same `key` for the same facts."""
        self._append(Kind.CALL, frame, (call, owner, *key), {"call": call, "object": owner, **facts}, None)

    def append_numbers(self, call: str, owner: int, frame: FrameType, numbers: Mapping[str, Sequence[float]]) -> None:
        """The same of a call that tells of numbers, which lie in the row."""
        key = (call, owner, *[len(each) for each in numbers.values()])
        self._append(Kind.CALL, frame, key, {"call": call, "object": owner}, numbers)

    def assign(self, what: str, value: bool | None, tensors: tuple[int, ...], frame: FrameType, *inputs: int) -> None:
        """Append the mark of a line that sets of some tensors what is no value: `grad`, `requires_grad`.

        Args:
            what: Which of them.
            value: To what; None of a gradient.
            tensors: The numbers of the tensors.
            frame: The line.
            inputs: The row of what became the gradient.
        """
        facts = {"set": what, "to": value, "tensors": tensors}
        self._append(Kind.ASSIGN, frame, (what, value, len(inputs), *tensors), facts, None, inputs)

    def introduced(self, call: str, owner: int, site: int, facts: dict[str, Any]) -> None:
        """Append the mark of the call that made an object."""
        told = self._description(call, owner, site, facts)
        self._writer.mark(Kind.CALL, site=site, **told)

    def describe(self, call: str, owner: int, facts: dict[str, Any]) -> None:
        """Say of an object what is no moment of the program: an entry of `attrs` that is no row's."""
        self._writer.attributes(self._description(call, owner, 0, facts))

    def _description(self, call: str, owner: int, site: int, facts: dict[str, Any]) -> dict[str, Any]:
        """What describes an object: its entry says all, also where the row is gone."""
        return {"call": call, "object": owner, "site_number": site, **facts}

    def _append(
        self, kind: Kind, frame: FrameType, key: tuple[Any, ...], facts: dict[str, Any],
        numbers: Mapping[str, Sequence[float]] | None, inputs: Sequence[int] = (),
    ) -> None:  # fmt: skip
        code = frame.f_code
        place = (id(code) + frame.f_lasti, kind, *key)
        kept = self._forms.get(place)
        values = [arguments.bits(each) for named in numbers.values() for each in named] if numbers else []
        if kept is None or kept[1]() is not code:  # type: ignore[misc]
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()
            told = facts
            if numbers:
                named = {name: tuple(each) for name, each in numbers.items()}
                told = facts | arguments.entry(None, named, range(len(values)))
            form = self._writer.template(
                kind,
                site=site_number(self._writer, frame),
                attrs=self._writer.attributes(told),
                input_count=len(inputs),
                number_count=len(values),
            )
            kept = self._forms[place] = form, weakref.ref(code)
        self._writer.append_many(kept[0], None, [*inputs, *values], self._writer.clock())
