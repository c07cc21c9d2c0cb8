"""A launch that fails is shown by the editor, in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.dap.talking import Client


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"program": "none.py"}, "there is no script 'none.py'"),
        ({"program": "a.py", "python": "BARE"}, "graphscope is not installed for"),
        ({"program": "a.py", "python": "/none/python"}, "can't be started"),
        ({"program": "a.py", "console": "none"}, "(internalConsole, integratedTerminal or externalTerminal)"),
    ],
)
def test_an_editor_shows_why_a_launch_failed(client: Client, tmp_path: Path, wishes: dict[str, str], said: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    wishes = {name: str(bare) if value == "BARE" else value for name, value in wishes.items()}
    client.request("initialize", {"adapterID": "graphscope"})
    answer = client.answer(client.send("launch", {"cwd": str(tmp_path), **wishes}))
    assert not answer["success"]
    assert said in answer["body"]["error"]["format"]
    assert answer["body"]["error"]["showUser"]
