"""Files that lie elsewhere for the editor than for the program, or for the machine that recorded it."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.dap.path_mappings import PathMappings
from tests.dap.conftest import CHAIN
from tests.dap.talking import ROOT, Client, Refused

Folders = tuple[Path, Path]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A folder of the editor's and one of the program's, each with the program in it."""
    for folder in (tmp_path / "here", tmp_path / "there"):
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "prog.py").write_text(CHAIN)
    return tmp_path / "here", tmp_path / "there"


def sources(found: Any) -> list[dict[str, Any]]:
    """All sources that messages tell of."""
    if isinstance(found, list):
        return [source for each in found for source in sources(each)]
    inside = found.items() if isinstance(found, dict) else ()
    told = {"source": lambda each: [each], "sources": list}
    return [source for key, each in inside for source in told.get(key, sources)(each)]


def breaking_at(client: Client, file: str | Path, *lines: int) -> Callable[[], None]:
    """What sets breakpoints at lines; the answer tells of them with the path that they were asked for by."""

    def configure() -> None:
        asked = {"source": {"path": str(file)}, "breakpoints": [{"line": line} for line in lines]}
        told = client.request("setBreakpoints", asked)["breakpoints"]
        assert [(each["verified"], each["source"]["path"]) for each in told] == [(True, str(file))] * len(lines)

    return configure


def record(program: Path, log: Path) -> None:
    command = [sys.executable, "-m", "graphscope", "record", "--log", str(log), str(program)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


@pytest.mark.slow
def test_a_program_that_runs_elsewhere_is_told_of_in_the_files_of_the_editor(client: Client, folders: Folders) -> None:
    here, there = folders
    file = here / "inner" / "prog.py"
    mappings = [{"localRoot": str(here), "remoteRoot": str(there)}]
    configure = breaking_at(client, file, 16)
    client.launch(there / "inner" / "prog.py", configure=configure, granularity="line", pathMappings=mappings)
    client.event("stopped")
    top = client.stack()[0]
    assert (top["line"], top["source"]) == (16, {"name": "prog.py", "path": str(file)})
    asked = {"source": {"path": str(file)}, "line": 12, "endLine": 14}
    assert [each["line"] for each in client.request("breakpointLocations", asked)["breakpoints"]] == [12, 13, 14]
    assert client.request("gotoTargets", {"source": {"path": str(file)}, "line": 13})["targets"]
    client.request("scopes", {"frameId": top["id"]})
    client.request("loadedSources")
    client.request("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert {source["path"] for source in sources(client.seen)} == {str(file)}
    assert any(found["body"].get("source") for found in client.seen if found.get("event") == "output")
    client.leave()


@pytest.mark.slow
def test_a_recording_of_another_machine_is_shown_in_the_files_of_this_one(client: Client, folders: Folders) -> None:
    here, there = folders
    record(there / "inner" / "prog.py", log := here / "it.gscope")
    (there / "inner" / "prog.py").unlink()
    client.initialize()
    client.request("attach", {"log": str(log), "pathMappings": [{"localRoot": str(here), "remoteRoot": str(there)}]})
    client.event("initialized")
    breaking_at(client, here / "inner" / "prog.py", 6)()
    client.request("configurationDone")
    client.event("stopped")
    client.move("continue")
    top = client.stack()[0]
    assert (top["line"], top["source"]) == (6, {"name": "prog.py", "path": str(here / "inner" / "prog.py")})
    client.leave()


def test_a_recording_of_windows_is_shown_in_the_files_of_this_machine(client: Client, tmp_path: Path) -> None:
    recorded = "C:\\Work\\project\\inner\\prog.py"
    linecache.cache[recorded] = (len(CHAIN), None, CHAIN.splitlines(keepends=True), recorded)
    with gs.record(tmp_path / "it.gscope"):
        exec(compile(CHAIN, recorded, "exec"), {"__name__": "__main__"})
    mappings = [
        {"localRoot": "/nowhere", "remoteRoot": "C:\\"},
        {"localRoot": str(tmp_path), "remoteRoot": "C:/Work/project/"},
    ]
    client.initialize()
    client.request("attach", {"log": str(tmp_path / "it.gscope"), "pathMappings": mappings})
    client.event("initialized")
    breaking_at(client, tmp_path / "inner" / "prog.py", 6)()
    client.request("configurationDone")
    client.event("stopped")
    client.move("continue")
    source = client.stack()[0]["source"]
    assert (source["name"], source["path"]) == ("prog.py", str(tmp_path / "inner" / "prog.py"))
    assert client.request("source", {"source": source, "sourceReference": 0})["content"] == CHAIN  # it is not there
    assert client.request("source", {"sourceReference": source["sourceReference"]})["content"] == CHAIN
    client.leave()


def test_an_editor_in_windows_names_its_files_in_any_case_and_with_either_slash() -> None:
    mappings = PathMappings((("c:\\Users\\me", "/srv/app"),))
    for written in ("C:\\Users\\Me\\inner\\prog.py", "c:/users/me/inner/prog.py"):
        asked = {"source": {"path": written}, "line": 3}
        assert mappings.from_client("gotoTargets", asked) == {"source": {"path": "/srv/app/inner/prog.py"}, "line": 3}
    told = mappings.for_client({"type": "event", "body": {"source": {"path": "/srv/app/inner/prog.py"}}})
    assert told["body"]["source"]["path"] == "c:\\Users\\me\\inner\\prog.py"


def test_mappings_that_are_none_are_refused_by_name(client: Client, tmp_path: Path) -> None:
    client.initialize()
    for wrong, name in ((["/here"], "pathMappings"), ([{"localRoot": "/here"}], "remoteRoot"), ("/here", "a list")):
        with pytest.raises(Refused, match=name):
            client.request("attach", {"log": str(tmp_path), "pathMappings": wrong})
    client.leave()
