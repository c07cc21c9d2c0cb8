"""The screens over a program that is being debugged, and over a log that grows, one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer
from graphscope.tui.messages import CommandRequested
from graphscope.tui.prompt.prompt import Line
from tests.tui.screens import Screen, debug, drive

See = Callable[[Screen], Awaitable[dict[str, str]]]
"""What is kept of a screen."""

PROGRAM = """\
import graphscope as torch

scale = float(input("scale? "))
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
for step in range(2):
    h = (w * scale).tanh()
    loss = h.sum()
    loss.backward()
    print("step", step, "loss", round(loss.item(), 4))
if scale > 1:
    raise ValueError(f"a scale of {scale} is too much")
"""


@dataclass(frozen=True)
class Stage:
    """How one comes to a screen from the one before, and what is waited for."""

    name: str
    steps: tuple[str, ...] = ()
    """Keys; what begins with a colon is a line for the prompt."""
    awaited: tuple[tuple[str, str], ...] = ()
    """Texts, each with the region where it is to appear."""


STAGES: Sequence[Stage] = (
    Stage("asks", (), (("running", "#heading"), ("program ?", "#tabs"))),
    Stage("terminal", ("t",), (("scale?", "#output"),)),
    Stage("first", ("1", "enter", "ctrl+t"), (("LIVE", "#heading"), ("#0 w", "#heading"))),
    Stage(
        "forward",
        (":b op:tanh forward", ":b op:tanh backward, abs(grad).max() > 0.5", "c"),
        (("#2 tanh h", "#heading"),),
    ),
    Stage("stopped", ("c", "t"), (("TanhBackward", "#heading"), ("scale? 1", "#output"))),
    Stage("gradient-edited", ("ctrl+t", "3", ":set grad = 2 * grad"), (("✱", "#inspector"), ("2", "#array"))),
    Stage("breakpoint-list", ("1", "B"), (("enabled", ""),)),
    Stage("ended", ("escape", "c", "c", "c"), ((" ended ", "#heading"), ("program 2", "#tabs"))),
    Stage("again", (":clear 1", ":clear 2", ":restart"), (("program ?", "#tabs"),)),
    Stage("begun-again", ("t", "2", "enter", "ctrl+t"), (("LIVE", "#heading"), ("#0 w", "#heading"))),
    Stage("crashed", ("c",), ((" failed ", "#heading"), ("raised at", "#transcript"))),
)


async def come(screen: Screen, stage: Stage) -> None:
    """Come to a screen, and wait until nothing moves on it."""
    for step in stage.steps:
        if len(step) > 1 and step[0] == ":":
            screen.main.post_message(CommandRequested(step[1:]))
            await screen.pilot.pause()
        else:
            await screen.press(step)
        await screen.app.workers.wait_for_complete()
    for text, region in stage.awaited:
        await screen.shows(text, region)
    await settle(screen)


async def settle(screen: Screen) -> None:
    """Wait until all that is recorded is read, and drawing again changes nothing."""
    screen.main._grow()  # now, and not when its time has come
    index, drawn = screen.main.log_index, ""
    while drawn != screen.text or not (index.lines.complete and index.counts.complete):
        drawn = screen.text
        for _ in range(3):
            await screen.app.workers.wait_for_complete()
            await screen.pilot.pause()


def debugged(folder: Path, size: tuple[int, int], see: See) -> dict[str, dict[str, str]]:
    """What is kept of the screens over the program."""
    script = folder / "scale.py"
    script.write_text(PROGRAM, encoding="utf-8")
    found: dict[str, dict[str, str]] = {}

    async def use(screen: Screen) -> None:
        screen.main.query_one(Line).cursor_blink = False
        for stage in STAGES:
            await come(screen, stage)
            found[f"live-{stage.name}"] = await see(screen)

    debug(script, use, size=size)
    return found


def followed(folder: Path, size: tuple[int, int], see: See) -> dict[str, dict[str, str]]:
    """What is kept of the screen over a log to which another row is added while it is looked at."""
    writer = Writer(folder / "growing.gscope")
    relu = writer.intern("ops", "relu", {"name": "relu", "formula": "out = max(x, 0)", "inputs": ["x"]})
    leaf = writer.template(Kind.LEAF, shape=(4,), dtype=np.dtype("f4"))
    op = writer.template(Kind.OP, op=relu, shape=(4,), dtype=np.dtype("f4"), input_count=1)
    writer.append(leaf, np.array([1.0, -2.0, 3.0, -4.0], np.float32))
    found: dict[str, dict[str, str]] = {}

    async def use(screen: Screen) -> None:
        for row, stage in ((1, Stage("grown", (), (("relu", "#tape"),))), (2, Stage("followed", ("n", "n")))):
            writer.append(op, np.array([1.0, 0.0, 3.0, 0.0], np.float32), 0, 0, 0, row - 1)
            await come(screen, stage)
            await screen.until(lambda row=row: screen.main.log_index.log.end > row, f"row {row}")
            await settle(screen)
            found[f"live-{stage.name}"] = await see(screen)

    drive(folder / "growing.gscope", use, size=size)
    writer.close()
    return found
