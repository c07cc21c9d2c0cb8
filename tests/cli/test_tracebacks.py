"""What is printed of an exception that a program did not handle is what Python prints of it unrecorded."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphscope
from graphscope.cli.tracebacks import hide_recorders


def by_recorder(call: Callable[[], Any]) -> Any:
    """As a wrapper of an adapter calls."""
    file = Path(graphscope.__file__).parent / "adapters" / "made" / "calls.py"
    names: dict[str, Any] = {}
    exec(compile("def wrapped(call):\n    return call()", str(file), "exec"), names)
    return names["wrapped"](call)


def directly(call: Callable[[], Any]) -> Any:
    return call()


def error_of(through: Callable[[Callable[[], Any]], Any]) -> BaseException:
    def inner() -> None:
        raise KeyError("first")

    def outer() -> None:
        try:
            through(inner)
        except KeyError as error:
            raise KeyboardInterrupt from error

    try:
        through(outer)
    except KeyboardInterrupt as error:
        return error
    raise AssertionError


def functions(error: BaseException | None) -> list[str]:
    return [] if error is None else [each.name for each in traceback.extract_tb(error.__traceback__)]


def test_frames_of_a_recorder_are_hidden_in_all_that_led_to_an_error() -> None:
    error = error_of(by_recorder)
    error.__context__.__context__ = error  # type: ignore[union-attr]  # a circle, as a program may make one
    assert functions(error) == ["error_of", "by_recorder", "wrapped", "outer"]
    hide_recorders(error)
    assert functions(error) == ["error_of", "by_recorder", "outer"]
    assert functions(error.__cause__) == ["outer", "by_recorder", "inner"]


def test_other_frames_stay() -> None:
    error = error_of(directly)
    before = functions(error), functions(error.__cause__)
    hide_recorders(error)
    assert (functions(error), functions(error.__cause__)) == before


def test_an_error_without_a_traceback_stays_without() -> None:
    error = SyntaxError("of a program that did not begin")
    hide_recorders(error)
    assert error.__traceback__ is None
