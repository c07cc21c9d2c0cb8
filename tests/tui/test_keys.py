"""Every key on PyTorch programs, live and past; and what a mistake of ours costs: a message, never the session."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from graphscope.debugger.debugger import Debugger
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.tui import key_table
from graphscope.tui.app import GraphscopeApp
from graphscope.tui.main_screen import Main
from graphscope.tui.screen_session import RecordedSession
from graphscope.tui.tape.tape import Tape
from tests.tui import quiet
from tests.tui.screens import Screen, debug, drive

PROGRAM = """\
import torch

x = torch.linspace(-1, 1, 6, dtype=torch.{dtype}).reshape(2, 3)
w = torch.ones(3, dtype=torch.{dtype}, requires_grad=True)
for step in range(2):
    h = x * w
    loss = h.sum().abs()
    loss.backward()
"""

KEYS = [key for found in key_table.everywhere() for key in found.key.split(",") if key not in ("q", "ctrl+c")]


def program(folder: Path, dtype: str = "float32") -> Path:
    script = folder / "program.py"
    script.write_text(PROGRAM.format(dtype=dtype), encoding="utf-8")
    return script


async def press_all(screen: Screen) -> None:
    """Press each key, answer what it asks with a line that means something there, and leave its dialog."""
    for key in dict.fromkeys(KEYS):
        await screen.press(key)
        await screen.app.workers.wait_for_complete()
        focused = screen.app.focused
        if isinstance(focused, Input) and focused.value.startswith("set "):
            focused.value += f"{focused.value.split()[1]} * 2"
            await screen.press("enter")
        while len(screen.app.screen_stack) > 1:
            await screen.press("escape")
        await screen.press("escape")
        await screen.app.workers.wait_for_complete()
        assert screen.app.is_running, key
        assert not screen.app.mistakes, key


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("spec", ["op:mul forward", "op:mul backward"])
def test_every_key_does_something_on_a_program_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    monkeypatch.chdir(tmp_path)

    async def use(screen: Screen) -> None:
        await screen.shows("mul" if "forward" in spec else "Mul", "#heading")
        await press_all(screen)

    debug(program(tmp_path), use, breakpoints=(spec,), commands=("c",))


@pytest.mark.slow
@pytest.mark.torch
def test_every_key_does_something_on_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = program(tmp_path)
    with record(tmp_path / "past.gscope"):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    drive(tmp_path / "past.gscope", press_all)


@pytest.mark.torch
@pytest.mark.slow
def test_what_a_program_waits_with_is_edited_whatever_its_dtype(tmp_path: Path) -> None:
    dtypes = ("float32", "bfloat16", "float16", "complex64", "float64")
    script = tmp_path / "dtypes.py"
    script.write_text("".join(PROGRAM.format(dtype=dtype).replace("range(2)", "range(1)") for dtype in dtypes))

    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        for dtype in dtypes:
            for word in ("value", "grad"):
                await screen.press("c")
                await screen.shows("MulBackward" if word == "grad" else " mul ", "#heading")
                await screen.type(f"set {word} = {word} * 0 + 2")
                await screen.shows("✱", "#inspector")
                node = screen.main.scene.node
                edited = node.value if word == "value" else node.grad
                assert edited is not None, dtype
                assert (edited == 2).all()
                assert edited.shape == (2, 3)

    debug(script, use, breakpoints=("op:mul",))


@pytest.mark.torch
@pytest.mark.slow
def test_a_boolean_and_a_single_number_are_edited(tmp_path: Path) -> None:
    script = tmp_path / "mask.py"
    script.write_text("import torch\nx = torch.ones(3)\nmask = x > 2\ntotal = x.sum()\n", encoding="utf-8")

    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        for name, value in (("mask", True), ("total", 7.0)):
            await screen.press("n")
            await screen.shows(name, "#heading")
            await screen.type(f"set value = {value}")
            await screen.shows("✱", "#inspector")
            assert (screen.main.scene.node.value == value).all()

    debug(script, use)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["command", "key", "region", "dialog"])
def test_a_mistake_of_ours_is_told_and_the_keys_go_on(
    product: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def fail(*given: object, **named: object) -> None:
        raise TypeError("not [understood]")

    async def run() -> None:
        app = GraphscopeApp(load(product), RecordedSession(Debugger(load(product))))
        async with app.run_test(size=(100, 30)) as pilot:
            screen = Screen(app, pilot)
            await screen.until(lambda: screen.main.scene.node is not None, "the first node")
            with monkeypatch.context() as broken:
                if where == "command":
                    broken.setattr(RecordedSession, "carry_out", fail)
                elif where == "key":
                    broken.setattr(Main, "action_ask", fail)
                elif where == "region":
                    broken.setattr(Tape, "watch_scene", fail)
                else:
                    broken.setattr("graphscope.tui.dialogs.help.help_text", fail)
                await screen.press("?" if where == "dialog" else "n")
                await screen.until(lambda: app.mistakes, "the mistake")
            await screen.press("escape")
            await screen.shows("This failed inside graphscope: TypeError: not [understood]")
            now = screen.now
            await screen.press("n")
            await screen.at(now + 1)

    quiet.run(run())
