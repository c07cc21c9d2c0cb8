"""Breakpoints and checkpoints are there again; a file that somebody else wrote runs nothing and breaks nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Stop
from graphscope.debugger.session_file import FILE, restore, save
from graphscope.eventlog.reader import load


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "run.gscope"
    with gs.record(path):
        x = gs.ones(2)
        y = x * 2
        y.sum()
    return path


def again(log: Path) -> Debugger:
    made = Debugger(load(log))
    restore(made)
    return made


def test_what_was_set_up_is_there_again(log: Path) -> None:
    first = Debugger(load(log))
    for line in ("goto 1", "checkpoint here", "b op:mul forward", "b op:sum", "ignore 2 1", "disable 2"):
        interpreter.run(first, line)
    save(first)
    second = again(log)

    assert [(str(found), found.enabled, found.ignore) for found in second.breakpoints] == [
        ("op:mul forward", True, 0),
        ("op:sum", False, 1),
    ]
    assert second.checkpoints == {"here": 1}
    interpreter.run(second, "restart")
    stop = interpreter.run(second, "continue")
    assert isinstance(stop, Stop)
    assert stop.breakpoint is not None
    assert stop.breakpoint.number == 1

    interpreter.run(second, "clear 1")
    interpreter.run(second, "clear 2")
    second.checkpoints.clear()
    save(second)
    assert not (log / FILE).exists()


def test_python_in_the_file_waits_until_it_is_enabled(log: Path, tmp_path: Path) -> None:
    mine = Debugger(load(log))
    trap = tmp_path / "run"
    interpreter.run(mine, f"b op:mul, open({str(trap)!r}, 'w')")
    interpreter.run(mine, "b op:sum")
    interpreter.run(mine, "commands 2", [f"!open({str(trap)!r}, 'w')"])
    save(mine)
    other = again(log)
    interpreter.run(other, "restart")
    interpreter.run(other, "continue")

    assert not any(found.enabled for found in other.breakpoints)
    assert not trap.exists()
    (log / FILE).unlink()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["breakpoints", "checkpoints", "number", "spec", "commands"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=40)
@given(JSON, st.dictionaries(st.sampled_from(["number", "spec", "when", "ignore", "enabled", "commands"]), JSON))
def test_whatever_is_in_the_file_the_log_opens(log: Path, content: Any, fields: dict[str, Any]) -> None:
    sound = {
        "number": 1, "spec": "mul", "condition": "", "before": False, "temporary": False, "enabled": True, "ignore": 0,
        "commands": [], "when": "", "message": "", "graph_pass": None,
    }  # fmt: skip
    for text in (json.dumps(content), json.dumps({"breakpoints": [sound | fields], "checkpoints": {}}), "{", "\0"):
        (log / FILE).write_text(text, encoding="utf-8")
        opened = again(log)
        interpreter.answer(opened, "restart")
        interpreter.answer(opened, "continue")
    (log / FILE).unlink()
