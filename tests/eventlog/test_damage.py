"""Damaged, foreign and hostile logs: each opens in part or is refused with a reason. Never a hang or a crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphscope._version import __version__
from graphscope.errors import LogError
from graphscope.eventlog.reader import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a hang is told by an alarm")


def check(result: subprocess.CompletedProcess[str], count: int) -> None:
    assert (result.returncode, result.stderr) == (0, ""), "a negative status is a crash (or a hang, by its alarm)"
    found = json.loads(result.stdout)
    assert found["opened"] + found["refused"] == count
    assert found["opened"] > count // 3
    assert found["refused"] > count // 20


@pytest.mark.slow
def test_damaged_logs(program) -> None:
    check(program("damaged.py", 1, 0, 80), 80)


@pytest.mark.slow
def test_10000_damaged_logs(program) -> None:
    seed = int(os.environ.get("SEED", "2"))
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda part: program("damaged.py", seed, part * 500, 500, timeout=600), range(20)):
            check(result, 500)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x05\x06" + bytes(18), b"\x93NUMPY\x01\x00"])
def test_a_foreign_file(tmp_path, content: bytes) -> None:
    path = tmp_path / "file.zip"
    path.write_bytes(content)
    with pytest.raises(LogError, match=r"file\.zip is no"):
        load(path)


def test_the_beginning_of_a_zip(tmp_path) -> None:
    path = tmp_path / "file.zip"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(LogError, match=r"file\.zip is cut off"):
        load(path)


def test_nothing_there(tmp_path) -> None:
    with pytest.raises(LogError, match="there is no log at"):
        load(tmp_path / "nowhere")


def test_a_foreign_folder(tmp_path) -> None:
    with pytest.raises(LogError, match=r"is no log: there is no log\.json in it"):
        load(tmp_path)


def test_a_newer_format(tmp_path) -> None:
    (tmp_path / "log.json").write_text('{"format": 99, "version": "7.5"}')
    with pytest.raises(LogError, match=rf"has format 99; graphscope-debugger {__version__} reads up to 2") as caught:
        load(tmp_path)
    assert caught.value.hint == "graphscope-debugger 7.5, which wrote it, reads it: install that"
