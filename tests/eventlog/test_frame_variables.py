"""Variables of running functions, read as Python itself reads them, and nothing of what they stand for is kept."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from graphscope.eventlog.frame_variables import local_variable, variable, variables


class Held:
    pass


def test_all_variables_of_a_function_are_those_that_python_shows() -> None:
    outer = Held()

    def inner(given: int, *more: int, shared: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
        unbound = 1
        del unbound
        count = len([outer for _ in more]) + len((lambda: shared)())
        frame = sys._getframe()
        found = {name: value for name, value in variables(frame) if value is not None and name not in frame.f_globals}
        return found, {**frame.f_locals, "count": count}

    found, shown = inner(1, 2, 3, shared=[4])
    assert {"given": 1, "more": (2, 3), "shared": [4], "count": 3}.items() <= found.items()
    assert found == {name: value for name, value in shown.items() if name in found}
    assert set(shown) - set(found) <= {"found"}


def test_names_of_a_function_come_before_those_of_its_module() -> None:
    sys = 5  # in the place of the module's
    frame = __import__("sys")._getframe()
    assert variable(frame, "sys") == sys == local_variable(frame, "sys")
    assert next(value for name, value in variables(frame) if name == "sys") == 5
    assert variable(frame, "weakref") is weakref
    assert variable(frame, "nowhere") is None


def test_what_was_read_may_go_at_once() -> None:
    held, other = Held(), Held()
    gone, frame = weakref.ref(held), sys._getframe()
    assert dict(variables(frame))["held"] is held
    assert variable(frame, "other") is other
    del held
    assert gone() is None
