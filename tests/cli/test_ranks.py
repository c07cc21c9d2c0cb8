"""`graphscope ranks`, as a person runs it, on logs that are written by hand."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from graphscope.adapters.kit.value_policy import unkept
from graphscope.eventlog.schema import Kind
from tests.graph.conftest import Tape

from .conftest import Run
from .test_json import told

Step = tuple[int, int]
"""Size of what is exchanged, and the line where that is."""


def write(folder: Path, *ranks: Sequence[Step], waits: Sequence[int] = (), name: str = "run") -> None:
    """Write logs of ranks that come to these collectives; some wait in their last."""
    for rank, met in enumerate(ranks):
        tape = Tape(folder / f"{name}-rank{rank}.gscope")
        for number, (size, line) in enumerate(met):
            x = tape.leaf(np.ones(size), line=2)
            facts = {"group": "all", "number": number, "ranks": [*range(len(ranks))]}
            come(tape, Kind.WAIT, size, line, **facts)
            if rank not in waits or number < len(met) - 1:
                come(tape, Kind.OP, size, line, x, **facts)
        if rank not in waits:
            tape.op("tanh", tape.leaf(1.0), line=9)
        tape.writer.close()


def come(tape: Tape, kind: Kind, size: int, line: int, *inputs: int, **facts: object) -> None:
    writer = tape.writer
    op = writer.intern("ops", "all_reduce", {"name": "all_reduce"})
    template = writer.template(
        kind, op=op, site=tape.site(line), shape=(size,), dtype=np.dtype("float32"), attrs=writer.attributes(facts),
        input_count=len(inputs),
    )  # fmt: skip
    writer.append_many(unkept(template), None, inputs, writer.clock(), 5)


ALIKE = [(2, 6), (3, 7), (2, 6), (3, 7), (2, 6), (3, 7)]


def verdict(read: Run, *words: str) -> tuple[str, int]:
    done = read("ranks", *words, "--json")
    (found,) = told("ranks", done.stdout)["findings"]
    assert done.returncode == 1
    return found["verdict"], found["line"]


@pytest.mark.slow
def test_ranks_that_do_the_same_are_listed(tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE, ALIKE)
    done = read("ranks")
    assert done.returncode == 0
    assert done.stdout.startswith("nothing found in 60 events of run.gscope (3 ranks)")
    assert [line.split()[:4] for line in done.stdout.splitlines()[-3:]] == [
        [str(rank), "ended", "20", "0"] for rank in range(3)
    ]
    assert read("ranks", ".").stdout == read("ranks", "run-rank1.gscope").stdout == done.stdout


@pytest.mark.parametrize(
    ("ranks", "said", "line"),
    [
        ((ALIKE, ALIKE, ALIKE[:2] + ALIKE[3:]), "rank 2 leaves out all_reduce of .* at model.py:6", 6),
        ((ALIKE[:1] + ALIKE[2:], ALIKE, ALIKE), "rank 0 leaves out all_reduce of .* at model.py:7", 7),
        ((ALIKE, [*ALIKE[:2], (9, 8), *ALIKE[2:]], ALIKE), "rank 1 comes to all_reduce of .9. at model.py:8 too", 8),
    ],
)  # fmt: skip
def test_a_collective_that_one_rank_leaves_out_or_has_alone(
    ranks: Sequence[Sequence[Step]], said: str, line: int, tmp_path: Path, read: Run
) -> None:
    write(tmp_path, *ranks)
    said_of, place = verdict(read)
    assert re.match(said, said_of), said_of
    assert place == line


def test_the_rank_that_others_wait_for_is_named_with_the_line_where_it_is(tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE, ALIKE[:5], ALIKE, waits=(0, 1, 3))
    said_of, place = verdict(read)
    assert said_of.startswith("rank 2 did not come to all_reduce at model.py:7, where ranks 0, 1 and 3 wait: ")
    assert place == 9


@pytest.mark.slow
def test_of_many_ranks_those_that_matter_have_a_row(tmp_path: Path, read: Run) -> None:
    write(tmp_path, *(ALIKE if rank != 37 else ALIKE[:5] for rank in range(40)), waits=[*range(37), 38, 39])
    shown = read("ranks").stdout
    rows = [line.split()[0] for line in shown[shown.index("rank   ") :].splitlines()[2:] if line.strip()]
    assert rows == ["0", "1", "37", "37"]
    assert "37 more" in shown
    assert "where ranks 0, 1, 2, 3, 4, 5, 6 and 32 more wait" in " ".join(shown.split())


def test_the_page_needs_nothing_else(tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE[:5], waits=(0,))
    assert read("ranks", "-o", "ranks.html").returncode == 1
    page = (tmp_path / "ranks.html").read_text(encoding="utf-8")
    assert "rank 1 did not come to" in page
    assert re.findall(r"(?:src|href)=\"(?!data:)", page) == []


@pytest.mark.parametrize("command", ["ranks", "runs"])
@pytest.mark.parametrize("name", ["ranks.pdf", "ranks", ""])
def test_a_page_is_written_to_a_file_that_is_called_one(command: str, name: str, tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE)
    done = read(command, "-o", name)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"graphscope: a page is HTML, and {name!r} does not end in .html",
        "hint: name a file that ends in .html",
    ]
    assert not (tmp_path / name).is_file()


def segment(folder: Path) -> Path:
    return folder / "run-rank1.gscope" / "segments" / f"{0:012d}"


def blank(tables: Path) -> None:
    """Leave zeros in place of a table's entries, as where the machine lost its power before they were written."""
    whole = (tables / "sites-000.npy").read_bytes()
    (tables / "sites-000.npy").write_bytes(whole[:128] + bytes(len(whole) - 128))


def rename(folder: Path, about: Callable[[dict[str, object]], object]) -> None:
    path = folder / "run-rank1.gscope" / "log.json"
    facts = json.loads(path.read_text())
    about(facts)
    path.write_text(json.dumps(facts))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: shutil.rmtree(folder / "run-rank1.gscope"), "rank 1: it took part, and there is no log of it"),
        (
            lambda folder: rename(folder, lambda facts: facts.update(argv=["other.py"])),
            "rank 1: ran other.py, the others",
        ),
        (lambda folder: rename(folder, lambda facts: facts.update(format=99)), "rank 1: .*format 99"),
        (
            lambda folder: rename(folder, lambda facts: facts.update(argv=[*facts["argv"][:1], "--seed", "3"])),
            "rank 1: given `--seed 3`, the others .*: are they of the same run?",
        ),
        (
            lambda folder: rename(folder, lambda facts: facts.update(created=1e9, finished=1e9 + 5)),
            "rank 1: recorded at another time than the others: is it of the same run?",
        ),
        (
            lambda folder: (folder / "run-rank1.gscope" / "tables" / "ops-000.npy").unlink(),
            "rank 1: its tables/ops-000.npy is gone:",
        ),
        (
            lambda folder: rename(folder, lambda facts: facts.update(format=1)),
            "rank 1: logs of format 1, the others of 2",
        ),
        (
            lambda folder: rename(folder, lambda facts: facts.pop("finished")),
            "the end of rank 1: the recording is not finished",
        ),
        (
            lambda folder: os.truncate(segment(folder) / "events.npy", 1_000),
            "rank 1: its segments/0+/events.npy is cut:",
        ),
        (
            lambda folder: os.truncate(segment(folder) / "values.npy", 1_000),
            "rank 1: its segments/0+/values.npy is cut:",
        ),
        (lambda folder: (segment(folder) / "events.npy").unlink(), "rank 1: its segments/0+/events.npy is gone:"),
        (lambda folder: shutil.rmtree(segment(folder)), "rank 1: its segments are gone: compared as far as it goes"),
        (
            lambda folder: shutil.rmtree(folder / "run-rank1.gscope" / "tables"),
            "rank 1: its tables/ops-000.npy is gone:",
        ),
        (lambda folder: blank(folder / "run-rank1.gscope" / "tables"), "rank 1: its table of sites is cut or gone"),
        (
            lambda folder: (folder / "run-rank1.gscope" / "log.json").write_text(""),
            "rank 1: .* is no log: its log.json",
        ),
    ],
)
def test_what_is_no_whole_run_is_said(change: Callable[[Path], object], said: str, tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE, ALIKE)
    change(tmp_path)
    done = read("ranks")
    assert done.returncode == 0
    assert re.search(said, " ".join(done.stdout.split())), done.stdout
    assert len(json.loads(read("ranks", "--json").stdout)["unjudged"]) == 1


def test_packed_logs_are_ranks_as_well(tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE[:5], waits=(0,))
    for rank in range(2):
        log = tmp_path / f"run-rank{rank}.gscope"
        assert read("pack", log.name).returncode == 0
        shutil.rmtree(log)
    for words in (["."], ["run"], ["run.gscope"], ["run-rank1.gscope.zip"], []):
        assert verdict(read, *words)[0].startswith("rank 1 did not come")
    os.truncate(tmp_path / "run-rank1.gscope.zip", 1_000)
    said = " ".join(read("ranks").stdout.split())
    assert "rank 1: run-rank1.gscope.zip is cut off" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run-rank0.gscope", "run-rank0.gscope"], "'run-rank0.gscope' is named twice"),
        (["alone"], "is the log of one process alone"),
        (["empty"], "there is no recording (*.gscope) in"),
        (["gone.gscope"], "there is no log 'gone.gscope'"),
        (["notes.txt"], "notes.txt is no packed log"),
        ([".", "other"], "'.' has a run of several ranks, and is named beside others"),
        (["other", "alone"], "'other' has a run of several ranks, and is named beside others"),
        (["--with", "dust"], "invalid choice: 'dust'"),
    ],
)
def test_what_can_not_be_compared_is_refused(words: list[str], said: str, tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE)
    for name in ("alone", "empty", "other"):
        (tmp_path / name).mkdir()
    write(tmp_path / "alone", ALIKE)
    write(tmp_path / "other", ALIKE, ALIKE)
    (tmp_path / "notes.txt").write_text("no log")
    done = read("ranks", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_where_no_log_can_be_read_there_is_nothing_to_compare(tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE)
    for rank in range(2):
        (tmp_path / f"run-rank{rank}.gscope" / "log.json").write_text("?")
    done = read("ranks")
    assert done.returncode == 2
    assert "nothing to judge" in done.stdout


def test_logs_of_any_names_are_ranks_in_the_order_they_are_named_in(tmp_path: Path, read: Run) -> None:
    write(tmp_path, ALIKE, ALIKE[:5], waits=(0,))
    for rank, name in enumerate(("b", "a")):
        (tmp_path / f"run-rank{rank}.gscope").rename(tmp_path / f"{name}.gscope")
    assert verdict(read, "b.gscope", "a.gscope")[0].startswith("rank 1 did not come")
