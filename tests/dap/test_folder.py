"""Folders of logs that nobody named: they go with the adapter, those of killed ones when the next one comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from graphscope.eventlog.folder import Folder, remove_forgotten
from tests.dap.talking import ROOT, Client

ELSEWHERE = """\
import subprocess, sys, time
from graphscope.eventlog.folder import Folder

folder = Folder()
if sys.argv[1] == "inherited":  # as a program that outlives its adapter does
    subprocess.Popen([sys.executable, "-c", "input()"], pass_fds=[folder.lock.number], stdout=subprocess.DEVNULL)
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("use", ["alone", "inherited"])
def test_a_folder_goes_when_nobody_uses_it_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = Folder()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", ELSEWHERE, use]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, env=environment) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().decode().strip())
        young = Path(tempfile.mkdtemp(prefix="graphscope-run-"))
        for path in (mine.path, theirs):
            os.utime(path, (0, 0))
        remove_forgotten()
        assert mine.path.is_dir()
        assert theirs.is_dir()
        other.send_signal(signal.SIGKILL)
        other.wait()
        remove_forgotten()
        assert theirs.is_dir() == (use == "inherited")
        assert mine.path.is_dir()
        assert young.is_dir()
    mine.remove()
    assert not mine.path.exists()


@pytest.mark.slow
def test_a_session_leaves_no_log_that_nobody_named(
    client: Client, chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client.launch(chain, "op:tanh")
    client.event("stopped")
    log = Path(client.position()["log"])
    assert tmp_path in log.parents
    assert client.leave() == 0
    assert not log.parent.exists()


RECORDING = """\
import graphscope as gs

recording = gs.record()
log = recording.__enter__()
gs.tensor(1.0) * 2
print(log.path.parent, flush=True)
input()
"""


@pytest.mark.slow
def test_a_recording_in_memory_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-c", RECORDING]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().decode().strip())
        os.utime(theirs, (0, 0))
        remove_forgotten()
        assert (theirs / "memory.gscope").is_dir()  # in use
        other.send_signal(signal.SIGKILL)
    os.utime(theirs, (0, 0))
    remove_forgotten()
    assert not theirs.exists()
