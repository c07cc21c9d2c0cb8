"""What was set up is there again; a file that somebody else wrote runs nothing, and none breaks anything."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.cli import main
from graphscope.debugger import interpreter
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, Stop
from graphscope.debugger.session_file import FILE, Session, restore, save
from graphscope.debugger.setup import setup_of
from graphscope.eventlog.reader import load


@pytest.fixture(scope="module", autouse=True)
def person(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Somebody with a home of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield patch


@pytest.fixture(autouse=True)
def nobody_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "run.gscope"
    with gs.record(path):
        x = gs.ones(2)
        y = x * 2
        y.sum()
    return path


def again(log: Path) -> tuple[Debugger, Session]:
    made = Debugger(load(log))
    return made, restore(made)


LINES = (
    "goto 0", "goto 1", "goto 2", "checkpoint here", "checkpoint", "b op:mul forward", "b op:sum, value.max() > 1",
    "tbreak mul", "b nan", "b #1", "ignore 1 3", "disable 1", "condition 1 grad is None", "clear 1", "watch x * 2",
    "watch value", "unwatch 1", "display x.sum()", 'display "\u2713 (\\"é)"', "undisplay 1", "alias two n ;; n",
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.sampled_from(LINES), max_size=12), st.dictionaries(st.text(max_size=4), st.integers()))
def test_whatever_was_set_up_is_there_again(log: Path, lines: list[str], screen: dict[str, Any]) -> None:
    first = Debugger(load(log))
    interpreter.run(first, "restart")
    for line in lines:
        interpreter.answer(first, line)
    if len(first.breakpoints):
        interpreter.run(first, f"commands {first.breakpoints.last}", ["p value", "c"])
    save(first, screen)
    second, kept = again(log)

    assert setup_of(second).uncounted == setup_of(first).uncounted
    assert second.aliases == first.aliases
    assert second.checkpoints == first.checkpoints
    assert (kept.row, kept.screen, kept.said) == (first.now, screen, ())
    watched = set(second.watches)
    interpreter.run(second, "watch x + 1")
    assert len(second.watches) == len(watched) + 1

    save(second)  # by who has no screen
    assert again(log)[1].screen == screen


def test_breakpoints_that_are_there_again_stop(log: Path) -> None:
    first = Debugger(load(log))
    interpreter.run(first, "restart")
    interpreter.run(first, "b op:sum, value.max() > 1")
    save(first)
    second, _ = again(log)
    interpreter.run(second, "restart")
    stop = interpreter.run(second, "continue")
    assert isinstance(stop, Stop)
    assert stop.breakpoint is not None
    assert stop.row == 2


def test_python_of_somebody_else_waits_until_it_is_enabled(log: Path, tmp_path: Path) -> None:
    trap = tmp_path / "run"
    code = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
        theirs = Debugger(load(log))
        for line in ("goto 0", f"b op:mul, {code}", "b op:sum", "b #0", f"watch {code}", f"display {code}"):
            interpreter.run(theirs, line)
        interpreter.run(theirs, "commands 2", [f"!{code}"])
        interpreter.run(theirs, f"alias n !{code}")
        save(theirs, {"panel": "grad"})
    trap.unlink()
    mine, kept = again(log)
    for line in ("restart", "continue", "rc", "n", "display", "watch"):
        interpreter.run(mine, line)

    assert not trap.exists()
    assert [found.enabled for found in mine.breakpoints] == [False, False, True]
    assert (mine.watches, mine.displays, mine.aliases) == ({}, {}, {})
    (said,) = kept.said
    assert "was not written by you" in said
    assert "`enable 1`" in said
    assert said.count(code) == 2


def test_a_changed_signature_is_nobodys(log: Path) -> None:
    mine = Debugger(load(log))
    interpreter.run(mine, "b op:mul, value.max() > 0")
    save(mine)
    file = log / FILE
    file.write_text(file.read_text().replace("> 0", "> 1"))
    changed, kept = again(log)
    assert [found.enabled for found in changed.breakpoints] == [False]
    assert kept.said


def test_a_home_that_cannot_be_written_to_costs_nothing_but_trust(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        mine = Debugger(load(log))
        interpreter.run(mine, "b op:mul")
        save(mine)
        assert [str(found) for found in again(log)[0].breakpoints] == ["op:mul"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["session", "breakpoints", "checkpoints", "number", "spec", "row"]), inner)
    ),
    max_leaves=12,
)
SOUND = {
    "breakpoints": [
        {
            "number": 1, "spec": "mul", "condition": "", "before": False, "temporary": False, "enabled": True,
            "ignore": 0, "commands": [], "when": "", "message": "", "graph_pass": None,
        }
    ],
    "watches": [{"number": 1, "expression": "x", "row": None, "condition": "", "when": ""}],
    "displays": [[1, "x"]], "aliases": {}, "checkpoints": {}, "row": 0, "screen": {},
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(JSON, st.sampled_from([*SOUND, *SOUND["breakpoints"][0], *SOUND["watches"][0]]), JSON)
def test_whatever_is_in_the_file_the_log_opens(log: Path, content: Any, name: str, value: Any) -> None:
    session = json.loads(json.dumps(SOUND))
    for fields in (session, session["breakpoints"][0], session["watches"][0]):
        if name in fields:
            fields[name] = value
    deep = "[" * 100_000
    for text in (json.dumps(content), json.dumps({"session": session, "signature": ""}), "{", "\0", deep):
        (log / FILE).write_text(text, encoding="utf-8")
        opened, kept = again(log)
        assert all(len(said.splitlines()) == 1 for said in kept.said)
        for line in ("restart", "continue"):
            found = interpreter.answer(opened, line)
            assert not isinstance(found, Message) or not found.error
    (log / FILE).unlink()


@pytest.mark.parametrize("damage", ["{", "[]", '{"session": {}, "signature": ""}', "\udcff"])
def test_a_damaged_file_is_said_in_a_sentence(log: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    (log / FILE).write_bytes(damage.encode("utf-8", "surrogateescape"))
    assert main(["open", "--console", str(log)]) == 0
    said = capsys.readouterr().out
    assert said.count("is damaged") == 1
    assert "#0 " in said
    (log / FILE).unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["run", "a run", "run.v1.2", "läuft ✓", "-x", "run.gscope", "a'b"])
def test_a_log_of_any_name_opens_where_one_stood(
    log: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(log, name)
    debugger, _ = again(Path(name))
    interpreter.run(debugger, "goto 1")
    save(debugger)
    given = f"./{name}" if name.startswith("-") else name
    for spelling in (given, f"{given}/", str(tmp_path / name)):
        assert main(["open", "--console", spelling]) == 0
        said = capsys.readouterr().out
        assert "#1 mul" in said
        assert "where you left" in said


def test_a_packed_log_says_once_that_nothing_is_kept(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "run.gscope.zip"
    assert main(["pack", str(log), "-o", str(packed)]) == 0
    before = packed.read_bytes()
    assert main(["open", "--console", str(packed)]) == 0
    assert capsys.readouterr().out.count("is not kept") == 1
    assert packed.read_bytes() == before
