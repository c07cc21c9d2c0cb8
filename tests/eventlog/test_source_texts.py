"""The text of source files is that which Python itself reads, and stays as it was at the first look."""

from __future__ import annotations

import importlib
import linecache
import zipfile
from pathlib import Path

import pytest

from graphscope.eventlog.source_texts import lines_of, source_text

PROGRAM = "x = 'π'\ny = x\n"


@pytest.mark.parametrize(
    "content",
    [
        PROGRAM.encode(),
        PROGRAM.rstrip().encode(),
        b"",
        b"x = 1\x0c\ny = '\x1c\xe2\x80\xa8'\n",
        PROGRAM.replace("\n", "\r\n").encode(),
        b"x = 1\ry = 2\r",
        b"\xef\xbb\xbf" + PROGRAM.encode(),
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '€'\n".encode("cp1252"),
        "\n\n# coding: latin-1\nx = 'π'\n".encode(),
        b"x = '\xff'\n",
    ],
)
def test_a_file_is_read_as_python_reads_it(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "program.py"
    file.write_bytes(content)
    assert source_text(str(file)) == "".join(linecache.getlines(str(file)))


def test_a_module_of_an_archive_is_asked_for_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("archived_program.py", PROGRAM)
    monkeypatch.syspath_prepend(archive)
    module = importlib.import_module("archived_program")
    assert source_text(str(module.__file__), vars(module)) == PROGRAM


def test_what_is_no_file_has_the_text_that_is_known_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(linecache.cache, "<known cell>", (len(PROGRAM), None, PROGRAM.splitlines(True), "<known cell>"))
    assert [source_text(name) for name in ("<cell>", "<known cell>", "missing.py")] == ["", PROGRAM, ""]


def test_a_file_that_is_edited_is_as_it_was_until_it_is_looked_at_anew(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("first\n")
    assert source_text(str(file)) == "first\n"
    file.write_text("second\n")
    assert source_text(str(file)) == "first\n"
    assert source_text(str(file), anew=True) == source_text(str(file)) == "second\n"
    assert [*lines_of(source_text(str(file)))] == ["second", ""]


@pytest.mark.parametrize("text", ["", "x", "\n", "a\nbπ\n\n\ud800c", "one\ntwo\nthree\n"])
def test_lines_are_those_between_the_ends_of_lines(text: str) -> None:
    lines, expected = lines_of(text), text.split("\n")
    assert [*lines] == expected
    assert [lines[place] for place in range(-len(expected), 0)] == expected
    for start in range(-1, 5):
        for stop in (None, *range(-1, 5)):
            assert lines[start:stop] == expected[start:stop]
