"""What may be wrong around the extension in a real VS Code: each is said in a sentence, and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from graphscope._version import __version__
from tests.editors.code_server import ROOT, Installed, missing
from tests.editors.processes import check_none_left, running

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

CUBE: Final = """\
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x * x
y.backward()
print("slope", x.grad.item())
"""


def write_launch(folder: Path, **configuration: object) -> None:
    """The one configuration of a folder."""
    (folder / ".vscode").mkdir(exist_ok=True)
    told = {"type": "graphscope", "request": "launch", "name": "here", **configuration}
    (folder / ".vscode" / "launch.json").write_text(json.dumps({"version": "0.2.0", "configurations": [told]}))


def other_version(folder: Path) -> Path:
    """A Python whose graphscope is this one, under the name of another version."""
    package = folder / "other" / "graphscope"
    shutil.copytree(ROOT / "graphscope", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_version.py").write_text('__version__ = "0.0.9"\n')
    python = folder / "other" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{package.parent}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return python


def test_there_is_no_such_python(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "cube.py").write_text(CUBE)
    python = tmp_path / "no such" / "python"
    with installed.window(tmp_path, python=str(python)) as editor:
        editor.open("cube.py")
        editor.press("F5")
        editor.read(f"there is no Python {python}; choose another.")
        editor.picture("no-python")
        check_none_left(editor.name)


def test_another_version_where_the_program_runs(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "cube.py").write_text(CUBE)
    write_launch(tmp_path, program="${file}", python=str(other_version(tmp_path)), stopOnEntry=True)
    with installed.window(tmp_path) as editor:
        editor.open("cube.py")
        editor.press("F5")
        editor.stands("LIVE")
        editor.read(f"the program has graphscope 0.0.9, the editor {__version__}: install the same for both")
        editor.picture("other-version-program")
        editor.press("F5")
        editor.read("slope 12.0")
        check_none_left(editor.name)


def test_another_version_than_the_extension_is_made_for(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "cube.py").write_text(CUBE)
    with installed.window(tmp_path, python=str(other_version(tmp_path))) as editor:
        editor.open("cube.py")
        editor.press("F5")
        editor.stands("LIVE")
        editor.read(f"has version 0.0.9, and the extension is of {__version__}: install the same for both.")
        editor.picture("other-version")
        editor.press("F5")
        editor.read("slope 12.0")
        check_none_left(editor.name)


def test_a_folder_with_spaces_and_letters_of_all_kinds(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "é 数 folder"
    folder.mkdir()
    (folder / "naïve 数.py").write_text(CUBE)
    with installed.window(folder) as editor:
        editor.open("naïve 数.py")
        editor.add_breakpoint(4, "backward")
        editor.press("F5")
        editor.stands("LIVE")
        editor.press("F5")
        editor.stands("LIVE", "backward")
        editor.stands("Ln 4,")
        editor.command("graphscope: Show Graph")
        editor.read_graph("MulBackward")
        editor.picture("folder")
        editor.press("F5")
        editor.read("slope 12.0")
        check_none_left(editor.name)
        editor.command("graphscope: Record This File")
        editor.read("nothing is wrong in naïve 数.gscope")
        assert (folder / "naïve 数.gscope" / "log.json").exists()
        check_none_left(editor.name)


def test_of_two_folders_the_one_of_the_file_is_run_in(installed: Installed, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"of_{name}.py").write_text(f"import os\n{CUBE}print('in', os.path.basename(os.getcwd()))\n")
    workspace = tmp_path / "both.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"path": "one"}, {"path": "two"}]}))
    with installed.window(workspace) as editor:
        for name in ("two", "one"):
            editor.find(f"of_{name}.py")
            editor.press("F5")
            editor.stands("LIVE")
            editor.picture(f"folder-{name}")
            editor.press("F5")
            editor.read(f"in {name}")
            check_none_left(editor.name)


WAITS: Final = """\
import graphscope
import torch

graphscope.listen("127.0.0.1:0")
x = torch.tensor([2.0], requires_grad=True)
(x * x).backward()
print("slope", x.grad.item())
"""


@contextmanager
def waiting(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A program that waits at a port: it, its address and its token."""
    (folder / "waits.py").write_text(WAITS)
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "waits.py"], cwd=folder, env=environment, text=True, stdout=pipe, stderr=pipe
    ) as program:
        try:
            assert program.stderr is not None
            told = re.search(r"at (\S+) token (\S+)", program.stderr.readline())
            assert told is not None
            yield program, told[1], told[2]
        finally:
            program.kill()


def test_a_wrong_token_holds_nobody(installed: Installed, tmp_path: Path) -> None:
    """It is said, and the program waits on for who has the right one."""
    with waiting(tmp_path) as (program, address, token):
        write_launch(tmp_path, request="attach", address=address, token="not it")
        with installed.window(tmp_path) as editor:
            editor.open("waits.py")
            editor.press("F5")
            editor.read("the token may be wrong")
            editor.picture("wrong-token")
            check_none_left(editor.name)
            write_launch(tmp_path, request="attach", address=address, token=token)
            editor.press("Escape")
            editor.press("F5")
            assert program.stdout is not None
            assert program.stdout.read() == "slope 4.0\n"


def test_nobody_waits_at_a_port(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "cube.py").write_text(CUBE)
    with socket.socket() as taken:  # and does not listen
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        write_launch(tmp_path, request="attach", address=address)
        with installed.window(tmp_path) as editor:
            editor.open("cube.py")
            editor.press("F5")
            editor.read(f"Nobody waits at '{address}'")
            editor.picture("nobody")
            check_none_left(editor.name)


def test_a_closed_tab_ends_the_program(installed: Installed, tmp_path: Path) -> None:
    """And its adapter."""
    (tmp_path / "cube.py").write_text(CUBE)
    with installed.window(tmp_path) as editor:
        editor.open("cube.py")
        editor.press("F5")
        editor.stands("LIVE")
        assert [words for words in running(editor.name) if "debug" in words]
        editor.page.ask("Page.close")
        check_none_left(editor.name)
