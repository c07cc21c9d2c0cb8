"""The extension for VS Code: what it does with and without a launch.json, and says where graphscope is missing."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.dap.talking import ROOT, Client

FOLDER = ROOT / "editors" / "vscode"


def extension(python: str = "", chosen: str = "", language: str = "python") -> dict[str, Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    words = [
        node,
        str(Path(__file__).parent / "client" / "vscode.js"),
        str(FOLDER / "extension.js"),
        python,
        chosen,
        language,
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_without_a_launch_json_the_file_in_the_editor_is_run() -> None:
    found = extension(python=sys.executable)
    assert found["resolved"] == {
        "type": "graphscope",
        "request": "launch",
        "name": "graphscope: this file",
        "program": "${file}",
        "cwd": "/work",
        "stopOnEntry": True,
    }
    assert found["given"] == {"type": "graphscope", "request": "attach", "log": "a"}
    assert found["adapter"] == {"command": sys.executable, "args": ["-m", "graphscope", "dap"]}
    assert not found["shown"]


def test_without_a_python_file_it_says_what_to_do() -> None:
    found = extension(python=sys.executable, language="")
    assert found["resolved"] is None
    assert "open the Python file" in found["shown"][0]


def test_the_python_that_is_chosen_in_the_editor_is_taken() -> None:
    assert extension(chosen=sys.executable)["adapter"]["command"] == sys.executable


def test_a_python_without_graphscope_is_told(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    for python, said in ((str(bare), "is not installed for"), (str(tmp_path / "none"), "there is no")):
        found = extension(python=python)
        assert said in found["error"]
        assert found["shown"] == [found["error"]]
        assert "adapter" not in found


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


def test_the_packed_extension_holds_what_its_manifest_says(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("vsix", FOLDER / "vsix.py")
    assert spec is not None
    assert spec.loader is not None
    vsix = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(vsix)
    with zipfile.ZipFile(vsix.pack(tmp_path)) as archive:
        manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        about = json.loads(archive.read("extension/package.json"))
        assert f"extension/{Path(about['main']).name}" in archive.namelist()
    names = {"s": "http://schemas.microsoft.com/developer/vsx-schema/2011"}
    identity = manifest.find("s:Metadata/s:Identity", names)
    assert identity is not None
    assert (identity.get("Id"), identity.get("Version")) == (about["name"], about["version"])
