"""A packed log that lies elsewhere is read like one that lies here; of its values only what is looked at is fetched.

The servers are Python's own with ranges, and moto's S3 (`pip install "moto[server]" s3fs`); both count what they give.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import graphscope as gs
from graphscope.cli import main
from graphscope.errors import LogError
from graphscope.eventlog.pack import pack
from graphscope.eventlog.reader import Log, load
from graphscope.loading import load as open_any

fsspec = pytest.importorskip("fsspec")
SIZE = 60_000


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    with gs.record(folder / "run.gscope"):
        weight = gs.tensor(np.linspace(1, 2, SIZE, dtype="f4"), requires_grad=True)
        for number in range(40):
            (weight * float(number)).sum().backward()
    pack(folder / "run.gscope", folder / "same.zip")
    return pack(folder / "run.gscope", folder / "run.gscope.zip")


class Ranges(SimpleHTTPRequestHandler):
    """Gives a part of a file where one is asked for."""

    given: ClassVar[list[int]] = []
    whole_only = False

    def do_GET(self) -> None:
        content = Path(self.translate_path(self.path)).read_bytes()
        asked = self.headers.get("Range")
        if asked is None or self.whole_only:
            part, status = content, 200
        else:
            low, high = asked.removeprefix("bytes=").split("-")
            part, status = content[int(low) : int(high) + 1], 206
        self.given.append(len(part))
        self.send_response(status)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def server(packed: Path) -> Iterator[ThreadingHTTPServer]:
    pytest.importorskip("aiohttp")
    Ranges.given.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Ranges, directory=str(packed.parent))) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def address(server: ThreadingHTTPServer, name: str = "run.gscope.zip") -> str:
    return f"http://127.0.0.1:{server.server_port}/{name}"


def same(one: Log, other: Log) -> None:
    assert (one.first, one.end, one.closed) == (other.first, other.end, other.closed)
    for row in range(one.first, one.end):
        assert one.event(row) == other.event(row)
        mine, theirs = one.value(row), other.value(row)
        assert (mine is None) == (theirs is None)
        assert mine is None or np.array_equal(mine, theirs)


@pytest.fixture
def stored(packed: Path) -> Iterator[str]:
    store = fsspec.filesystem("memory")
    store.pipe("/logs/run.gscope.zip", packed.read_bytes())
    yield "memory://logs/run.gscope.zip"
    store.rm("/logs", recursive=True)


@pytest.mark.slow
def test_it_is_read_like_one_that_lies_here(packed: Path, stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = open_any(stored)
    same(load(packed), log)
    assert str(log.path) == stored
    same_one = str(packed.with_name("same.zip"))
    for command in (["summary", "--json"], ["doctor", "--json"], ["diff", "--json", str(packed)]):
        local = main([*command, same_one]), capsys.readouterr().out
        assert (main([*command, stored]), capsys.readouterr().out.replace(stored, same_one)) == local
        assert local[0] == 0


def test_what_lies_elsewhere_is_packed(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack", stored]) == 2
    assert f"{stored} is packed already" in capsys.readouterr().err


def test_values_are_fetched_as_they_are_looked_at(packed: Path, stored: str) -> None:
    log = load(stored)
    file = log.files._content
    size = packed.stat().st_size
    opened = file.fetched
    assert opened < size / 10
    row = next(row for row in range(log.first, log.end) if log.op(log.event(row).op).name == "mul")
    assert np.array_equal(log.value(row), load(packed).value(row))
    assert SIZE * 4 <= file.fetched - opened < SIZE * 4 + (3 << 17)
    held = file.fetched
    assert log.value(row) is not None
    assert file.fetched == held


@pytest.mark.slow
def test_a_server_is_asked_for_a_part(packed: Path, server: ThreadingHTTPServer, capsys) -> None:
    assert main(["summary", "--json", address(server)]) == 0
    there = capsys.readouterr().out.replace(address(server), str(packed))
    assert main(["summary", "--json", str(packed)]) == 0
    assert there == capsys.readouterr().out
    # Where the compiled parts are missing nothing tells what is finite, and a summary has to look.
    if load(packed).metadata["nonfinite"] == "flagged":
        assert sum(Ranges.given) < packed.stat().st_size / 5


@pytest.mark.slow
def test_a_server_that_gives_whole_files_only(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranges, "whole_only", True)
    with pytest.raises(LogError, match=r"gave .* bytes where .* were asked for") as told:
        load(address(server))
    assert "fetch it" in str(told.value.hint)


@pytest.mark.slow
def test_a_store_that_goes_away_in_the_middle(server: ThreadingHTTPServer, packed: Path) -> None:
    log = load(address(server))
    server.shutdown()
    server.server_close()
    with pytest.raises(LogError, match=r"run.gscope.zip can't be read: ClientConnect"):
        [log.value(row) for row in range(log.first, log.end)]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory://logs/nothing.zip", r"there is nothing at memory://logs/nothing.zip"),
        ("memory://logs/cut.zip", r"memory://logs/cut.zip is cut off"),
        ("memory://logs/empty.zip", r"memory://logs/empty.zip is no packed log"),
        ("memory://logs", r"memory://logs is no (file|packed log)"),
        ("nobody://knows.zip", r"nobody://knows.zip can't be read: ValueError: Protocol not known"),
    ],
)
def test_what_can_not_be_read_is_said(packed: Path, stored: str, url: str, said: str) -> None:
    store = fsspec.filesystem("memory")
    store.pipe("/logs/cut.zip", packed.read_bytes()[:-40_000])
    store.pipe("/logs/empty.zip", b"")
    with pytest.raises(LogError, match=said):
        load(url)


def test_a_server_that_is_not_there_is_named(server: ThreadingHTTPServer) -> None:
    url = address(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(LogError, match=r"http://127.*run.gscope.zip can't be read: ClientConnectorError: "):
        load(url)


def test_a_server_that_refuses_is_not_said_to_have_nothing() -> None:
    pytest.importorskip("aiohttp")
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever).start()
        with pytest.raises(LogError, match=r"run.gscope.zip can't be read: ClientResponseError: 403") as told:
            load(address(server))
        server.shutdown()
    assert "that you may read it" in str(told.value.hint)


class Refusing(SimpleHTTPRequestHandler):
    """Lets nobody read anything."""

    def do_GET(self) -> None:
        self.send_error(403)

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_a_file_of_this_machine_by_its_url(packed: Path) -> None:
    assert len(load(packed.as_uri())) == len(load(packed))


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(LogError, match=r"s3://b/run.zip can't be read: import of fsspec.core") as told:
        load("s3://b/run.zip")
    assert "graphscope-debugger[remote]" in str(told.value.hint)


@pytest.mark.slow
def test_of_s3_a_part_is_fetched(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs")
    moto_server = pytest.importorskip("moto.server")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {"ENDPOINT_URL": f"http://{host}:{port}", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b",
                            "DEFAULT_REGION": "us-east-1"}.items():  # fmt: skip
            monkeypatch.setenv(f"AWS_{name}", value)
        store = fsspec.filesystem("s3")
        store.mkdir("bucket")
        store.put_file(str(packed), "bucket/run.gscope.zip")
        log = load("s3://bucket/run.gscope.zip")
        assert log.files._content.fetched < packed.stat().st_size / 10
        same(load(packed), log)
        with pytest.raises(LogError, match=r"there is nothing at s3://bucket/other.zip"):
            load("s3://bucket/other.zip")
    finally:
        server.stop()
    with pytest.raises(LogError, match=r"s3://bucket/third.zip can't be read"):
        load("s3://bucket/third.zip")
