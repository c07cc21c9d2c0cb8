"""`record`, `summary`, `pack` and `export` over logs of real programs."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import graphscope as gs
from graphscope.cli.parser import find_log
from graphscope.errors import UsageError
from graphscope.eventlog.reader import load

from .conftest import Run, run_in

PROGRAM = """
import graphscope as gs
gs.manual_seed(0)
w = gs.randn(4, 5, requires_grad=True)
for _ in range(3):
    loss = gs.mm(w, gs.ones(5, 2)).tanh().sum()
    loss.backward()
    gs.step()
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording of PROGRAM."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "train.py").write_text(PROGRAM)
    result = run_in(folder, "-m", "graphscope", "record", "train.py")
    assert result.returncode == 0, result.stderr
    assert "train.gscope" in result.stderr
    return folder


@pytest.fixture
def recorded(original: Path, tmp_path: Path) -> Path:
    """A copy of it, to write in."""
    return Path(shutil.copytree(original, tmp_path, dirs_exist_ok=True))


@pytest.mark.slow
def test_summary_counts_what_ran(recorded: Path, read: Run) -> None:
    result = read("summary", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    facts = json.loads(result.stdout)
    count = {(each["op"], each["graph_pass"], each["kind"]): each["count"] for each in facts["totals"]}
    assert count["mm", "forward", "op"] == count["tanh", "forward", "op"] == count["sum", "forward", "op"] == 3
    assert count["mm", "backward", "grad"] == count["tanh", "backward", "grad"] == 3
    assert (facts["steps"], facts["backward_passes"], facts["finished"]) == (3, 3, True)
    assert facts["nonfinite"] is None
    memory = {(each["op"], each["kind"]): each["bytes"] for each in facts["totals"]}
    assert memory["mm", "op"] == 3 * 4 * 2 * 4
    assert memory["sum", "op"] == 3 * 4


def test_summary_as_tables(recorded: Path, read: Run) -> None:
    text = read("summary").stdout
    for word in ("forward", "backward", "mm", "tanh", "train.gscope", "first non-finite value: none"):
        assert word in text


@pytest.mark.slow
def test_summary_names_a_value_that_is_not_finite_and_harms_nothing(graphscope: Run, read: Run, tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(
        "import graphscope as gs\nx = gs.ones(2, requires_grad=True)\nx.sum().backward()\ngs.tensor([-1.0]).sqrt()\n"
    )
    graphscope("record", "shown.py")
    found = json.loads(read("summary", "--json").stdout)
    assert found["nonfinite"] is None
    log = load(tmp_path / "shown.gscope")
    assert log.op(log.event(found["harmless"]).op).name == "sqrt"
    result = read("summary")
    assert result.returncode == 0
    assert f"none that spoilt a loss, a gradient or a parameter; #{found['harmless']} is not finite" in result.stdout


@pytest.mark.slow
def test_summary_finds_the_first_non_finite_value(graphscope: Run, read: Run, tmp_path: Path) -> None:
    (tmp_path / "nan.py").write_text(
        "import graphscope as gs\nx = gs.zeros(3, requires_grad=True)\ny = x.log()\nz = y * 0\n(z.sum()).backward()\n"
    )
    graphscope("record", "nan.py")
    result = read("summary", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)["nonfinite"]
    assert (found["names"], found["line"], found["cause"]) == (["y"], 3, "log of zero")
    assert "log of 0 (3 of 3 elements)" in found["verdict"]
    assert "first non-finite value: #" in read("summary").stdout


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "none"])
def test_infinities_of_a_mask_are_no_finding_of_a_summary(
    graphscope: Run, read: Run, tmp_path: Path, values: str
) -> None:
    lines = "import graphscope as gs\nscores, hide = gs.ones(2), gs.tensor([True, False])\n"
    masked = "scores.masked_fill(hide, float('-inf')).softmax(-1)\n"
    (tmp_path / "mask.py").write_text(lines + masked)
    (tmp_path / "more.py").write_text(lines + masked + "scores.log().log()\n")
    for name, status in (("mask", 0), ("more", 1)):
        graphscope("record", "--values", values, f"{name}.py")
        result = read("summary", f"{name}.gscope", "--json")
        assert (result.returncode, bool(json.loads(result.stdout)["nonfinite"])) == (status, bool(status))


@pytest.mark.slow
def test_summary_tells_of_an_exception(graphscope: Run, read: Run, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("import graphscope as gs\nx = gs.ones(3)\nraise ValueError('[bold]no[/bold]')\n")
    assert graphscope("record", "fails.py").returncode == 1
    result = read("summary")
    assert result.returncode == 1
    assert "ValueError: [bold]no[/bold]" in result.stdout


@pytest.mark.slow
def test_the_newest_log_is_the_default(recorded: Path, graphscope: Run, read: Run) -> None:
    (recorded / "other.py").write_text("import graphscope as gs\ngs.ones(3).exp()\n")
    graphscope("record", "other.py")
    past = time.time() - 100
    os.utime(recorded / "train.gscope" / "log.json", (past, past))
    os.utime(recorded / "train.gscope", (past, past))
    assert json.loads(read("summary", "--json").stdout)["log"] == "other.gscope"


@pytest.mark.slow
def test_a_run_of_several_ranks_goes_by_its_name(recorded: Path) -> None:
    for rank in (10, 2):
        shutil.copytree(recorded / "train.gscope", recorded / f"all-rank{rank}.gscope")
    assert find_log(recorded / "all.gscope").name == "all-rank2.gscope"
    assert find_log(recorded / "all-rank10.gscope").name == "all-rank10.gscope"
    with pytest.raises(UsageError, match="there is no log"):
        find_log(recorded / "al.gscope")


@pytest.mark.slow
@pytest.mark.parametrize("values", ["summary", "none"])
def test_values_by_policy(recorded: Path, graphscope: Run, read: Run, values: str) -> None:
    graphscope("record", "--values", values, "--log", "b.gscope", "train.py")
    facts = json.loads(read("summary", "b.gscope", "--json").stdout)
    assert facts["values"] == values


@pytest.mark.parametrize("kind", ["by hand", "begun"])
def test_the_summary_counts_the_steps_that_are_tables_rows(kind: str, tmp_path: Path, read: Run) -> None:
    pytest.importorskip("duckdb")
    with gs.record(tmp_path / "run.gscope"):
        w = gs.tensor([1.0, 2.0], requires_grad=True)
        for number in range(3):
            (w * w).sum().backward()
            if kind == "begun" and number < 2:
                gs.step()
    facts = json.loads(read("summary", "--json").stdout)
    counted = json.loads(read("query", "run.gscope", "select step from steps", "--json").stdout)
    assert facts["steps"] == len(counted["rows"]) == 3


@pytest.mark.slow
def test_steps_keep_the_newest(graphscope: Run, tmp_path: Path) -> None:
    result = graphscope("record", "--keep-last", "0", "missing.py")
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_pack_keeps_every_row_and_value(recorded: Path, read: Run) -> None:
    result = read("pack")
    assert (result.returncode, result.stderr) == (0, "")
    folder, packed = load(recorded / "train.gscope"), load(recorded / "train.gscope.zip")
    assert (packed.first, packed.end, packed.closed) == (folder.first, folder.end, True)
    for row in range(folder.first, folder.end):
        assert packed.event(row) == folder.event(row)
        np.testing.assert_array_equal(packed.value(row), folder.value(row))
    assert packed.rare().tolist() == folder.rare().tolist()
    used = sum(file.stat().st_size for file in (recorded / "train.gscope").rglob("*.npy"))
    assert (recorded / "train.gscope.zip").stat().st_size < used / 20
    again = read("pack", "train.gscope")
    assert again.returncode == 2
    assert "train.gscope.zip exists" in again.stderr


def test_a_packed_log_serves_as_the_folder_does(recorded: Path, read: Run) -> None:
    read("pack", "train.gscope", "-o", "sent.zip")
    ours, theirs = (json.loads(read("summary", log, "--json").stdout) for log in ("train.gscope", "sent.zip"))
    assert {**ours, "log": "", "disk_bytes": 0} == {**theirs, "log": "", "disk_bytes": 0}
    for log, out in (("train.gscope", "a.dot"), ("sent.zip", "b.dot")):
        assert read("export", log, "-o", out).returncode == 0
    assert (recorded / "a.dot").read_bytes() == (recorded / "b.dot").read_bytes()


@pytest.mark.parametrize("out", ["g.svg", "g.dot", "g.json", "g.png", "g.html"])
def test_export_writes_every_kind(recorded: Path, read: Run, out: str) -> None:
    result = read("export", "-o", out)
    assert (result.returncode, result.stderr) == (0, "")
    content = (recorded / out).read_bytes()
    magic = {"g.svg": b"<?xml", "g.dot": b"digraph", "g.json": b"{", "g.png": b"\x89PNG", "g.html": b"<!"}
    assert content.startswith(magic[out])


def test_pdf_is_written_or_refused_with_the_cure(recorded: Path, read: Run) -> None:
    result = read("export", "-o", "g.pdf")
    if result.returncode == 0:
        assert (recorded / "g.pdf").read_bytes().startswith(b"%PDF")
    else:
        assert (result.returncode, result.stdout) == (2, "")
        assert "install Graphviz" in result.stderr
        assert not (recorded / "g.pdf").exists()


def test_export_draws_what_is_chosen(recorded: Path, read: Run) -> None:
    def nodes(*words: str) -> list[dict[str, object]]:
        result = read("export", "-o", "g.json", *words)
        assert result.returncode == 0, result.stderr
        found: list[dict[str, object]] = json.loads((recorded / "g.json").read_text())["nodes"]
        return found

    assert {node["pass"] for node in nodes("--pass", "backward")} == {"backward"}
    assert {node["op"] for node in nodes("--select", "op:tanh forward")} == {"tanh"}
    assert len(nodes("--at", "4")) <= 5


@pytest.mark.slow
def test_export_folds_a_loop(graphscope: Run, read: Run, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text("import graphscope as gs\nx = gs.ones(3)\nfor _ in range(9):\n    x = x.exp()\n")
    graphscope("record", "loop.py")
    read("export", "-o", "g.json", "--fold", "repeats")
    nodes = json.loads((tmp_path / "g.json").read_text())["nodes"]
    assert sorted((node["op"], node["count"]) for node in nodes if node["kind"] == "op") == [("exp", 9)]


def test_export_has_the_options_of_the_exporters(recorded: Path, read: Run) -> None:
    result = read("export", "-o", "g.svg", "--rankdir", "LR", "--overlay")
    assert (result.returncode, result.stderr) == (0, "")
    assert ElementTree.parse(recorded / "g.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "g.xyz"], ".xyz"),
        (["-o", "no/such/folder/g.svg"], "folder"),
        (["-o", "g.svg", "--select", "op:"], "op:"),
        (["-o", "g.svg", "--fold", "all"], "'all'"),
        (["-o", "g.json", "--rankdir", "LR"], "rankdir"),
        (["-o", "g.svg", "--rankdir", "XX"], "XX"),
        ([], "-o"),
    ],
)
def test_export_refuses_with_a_reason(recorded: Path, read: Run, words: list[str], message: str) -> None:
    result = read("export", *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
