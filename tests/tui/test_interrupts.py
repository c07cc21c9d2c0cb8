"""A command over a recording is interrupted: it ends where it is, and nothing else is hit."""

from __future__ import annotations

import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, Stop
from graphscope.eventlog.reader import load
from graphscope.tui.screen_session import RecordedSession

PATIENCE = 120.0


@pytest.fixture
def session(tmp_path: Path) -> RecordedSession:
    with gs.record(tmp_path / "it.gscope"):
        (gs.ones(2) * 2).sum()
    found = RecordedSession(Debugger(load(tmp_path / "it.gscope")))
    found.begin()
    return found


@pytest.mark.slow
def test_an_interrupt_at_any_moment_is_an_answer(session: RecordedSession) -> None:
    chance = random.Random(1)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as worker:
            for _ in range(300):
                doing = worker.submit(session.carry_out, "goto 1")
                for _ in range(chance.randrange(60)):
                    session.interrupt()
                    if doing.done():
                        break
                (result,) = doing.result(PATIENCE)
                assert isinstance(result, Stop) or (isinstance(result, Message) and result.text == "Interrupted")
                assert worker.submit(sum, range(100)).result(PATIENCE) == 4950  # nothing comes after it
    finally:
        sys.setswitchinterval(before)


def test_an_interrupt_that_is_swallowed_is_repeated(session: RecordedSession) -> None:
    begun, swallowed, over = threading.Event(), threading.Event(), threading.Event()

    def spin() -> None:  # in a frame of its own: Python 3.13.0 leaves a loop in a `try` without its handler
        begun.set()
        while not over.is_set():
            pass

    class Stubborn:
        def __repr__(self) -> str:
            try:
                spin()
            except KeyboardInterrupt:  # as a callback of the collector does
                swallowed.set()
            spin()
            return "over"

    sys.modules["stubborn"] = Stubborn()  # type: ignore[assignment]
    try:
        with ThreadPoolExecutor(1) as worker:
            doing = worker.submit(session.carry_out, "p repr(__import__('sys').modules['stubborn'])")
            assert begun.wait(PATIENCE)
            session.interrupt()
            try:
                (result,) = doing.result(PATIENCE)
            finally:
                over.set()
    finally:
        del sys.modules["stubborn"]
    assert swallowed.is_set()
    assert isinstance(result, Message)
    assert result.text == "Interrupted"
