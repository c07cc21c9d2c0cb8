"""A chain of a hundred thousand ops through the commands: none recurses, and what they say is what the chain is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import graphscope as gs

from .conftest import run_in

pytestmark = pytest.mark.slow

LENGTH = 100_000
FACTOR = 1.00001


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("deep") / "chain.gscope"
    with gs.record(path):
        x = gs.ones(2, requires_grad=True)
        y = x
        for _ in range(LENGTH):
            y = y * FACTOR
        y.sum().backward()
    assert sys.getrecursionlimit() < LENGTH
    assert x.grad.tolist() == pytest.approx([FACTOR**LENGTH] * 2, rel=1e-2)
    return path


def said(folder: Path, *arguments: str | Path, status: int = 0, typed: str = "") -> str:
    """What a command prints; where it refuses, its error."""
    done = run_in(folder, "-m", "graphscope", *map(str, arguments), stdin=typed)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if status < 2 else done.stderr


def test_a_summary_counts_every_op_of_both_passes(chain: Path, tmp_path: Path) -> None:
    totals = json.loads(said(tmp_path, "summary", "--json", chain))["totals"]
    counts = {(each["op"], each["graph_pass"]): each["count"] for each in totals}
    assert counts["mul", "forward"] == counts["mul", "backward"] == LENGTH
    assert counts["sum", "forward"] == counts["sum", "backward"] == 1


def test_the_doctor_finds_nothing(chain: Path, tmp_path: Path) -> None:
    assert json.loads(said(tmp_path, "doctor", "--json", chain))["findings"] == []


def test_a_part_is_drawn_and_the_whole_is_refused(chain: Path, tmp_path: Path) -> None:
    said(tmp_path, "export", chain, "--select", "#50000", "--radius", "3", "-o", tmp_path / "part.json")
    nodes = json.loads((tmp_path / "part.json").read_text("utf-8"))["nodes"]
    assert {row for node in nodes for row in node["rows"]} >= {*range(49_997, 50_004)}
    assert "200,004 nodes are too many" in said(tmp_path, "export", chain, "-o", tmp_path / "whole.svg", status=2)


def test_the_console_goes_to_any_node_and_tells_why_its_gradient_is_what_it_is(chain: Path, tmp_path: Path) -> None:
    text = said(tmp_path, "open", "--console", chain, typed="goto #90000\nwhere\np value\nwhy #0\nn\nrn\n")
    (value,) = re.findall(r"array\(\[([\d.]+), ", text)
    (norm,) = re.findall(r"its norm is ([\d.]+)", text)
    (left_out,) = re.findall(r"\.\.\. ([\d,]+) more", text)
    assert float(value) == pytest.approx(FACTOR**90_000, rel=1e-2)
    assert float(norm) == pytest.approx(2**0.5 * FACTOR**LENGTH, rel=1e-2)
    assert int(left_out.replace(",", "")) == LENGTH + 2 - 8  # x, the products and the sum, but for those shown
    assert text.count("> #90000 mul") == 2
    assert text.count("> #90001 mul") == 1
