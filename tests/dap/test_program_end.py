"""The end of a program's process: however long it takes to die, nothing of it is left behind."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from graphscope.dap import program
from graphscope.dap.program import Launch, Process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals")


def test_a_program_that_dies_slowly_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "PATIENCE", 0.0)  # no process dies within it
    script = tmp_path / "prog.py"
    script.write_text("import signal\nsignal.pause()\n")
    told: list[int] = []

    async def use() -> int:
        process = Process(lambda text, place: None, told.append)
        line = process.start(Launch((str(script),)))
        pid = process.pid
        await process.end(0.0)
        line.close()
        process.forget()
        return pid

    pid = asyncio.run(use())
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    assert len(told) == 1
