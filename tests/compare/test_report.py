"""What people read of two runs: in 80 columns, whatever lines and names the programs have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.compare import Difference, Distance, Fact, Parting, Side
from graphscope.compare.difference import PAIR
from graphscope.compare.report_lines import lines_of

A = Side(5, "layer_norm", "y", "a.py", 6, "y = layer_norm(h, eps=1e-5)", "encoder.0.norm", (4, 64), "float32")
B = replace(A, file="src/b.py", line=36, source="y = layer_norm(h, eps=1e-12)", scope="layers.0.ln1")
FAR = Distance(256, 250, 1.2e-5, 2.3e-6, 52, (3, 17), (1.0234501, 1.0234552))
PARTING = Parting(
    "forward", 1, A, B, "attribute", "layer_norm is given another eps", True, (Fact("eps", "1e-05", "1e-12"),), FAR, 214
)
REPORT = """\
They part in the forward pass of step 1: layer_norm at a.py:6 and b.py:36.

   a  a.py:6      | y = layer_norm(h, eps=1e-5)
   b  src/b.py:36 | y = layer_norm(h, eps=1e-12)
                                             ^^

   layer_norm is given another eps. What came in was the same.

   eps     1e-05 | 1e-12
   module  encoder.0.norm | layers.0.ln1
   worst   1.0234501 | 1.0234552 at [3, 17]
   apart   1.2e-05 absolute, 2.3e-06 relative, 52 ULPs
           250 of 256 elements differ

   and 214 nodes that follow from it

Without a counterpart: 3 nodes of a, 1 node of b.
b (b.gscope) is not finished."""


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Difference:
    logs = []
    for name in "ab":
        path = tmp_path_factory.mktemp("runs") / f"{name}.gscope"
        with gs.record(path):
            gs.ones(3).exp()
        logs.append(gs.load(path))
    pairs, alone = np.zeros(1234, PAIR), np.arange(3)
    remarks = ("b (b.gscope) is not finished.",)
    return Difference(*logs, "parted", (PARTING,), pairs, alone, alone[:1], 3, None, "values", remarks)


def test_where_two_runs_part(parted: Difference, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert repr(parted) == REPORT


@pytest.mark.parametrize("width", [30, 60, 80, 120])
def test_no_line_is_longer_than_the_terminal_is_wide(parted: Difference, width: int) -> None:
    long = replace(B, source=f"y = layer_norm({'h + ' * 60}h)", scope="layers." * 30, name="long_" * 3)
    far = replace(FAR, values=(float("nan"), 1.0), ulps=float("inf"), index=(1, 2, 3, 4, 5, 6, 7))
    facts = (Fact("weight of the layer " * 3, "float32 of [768, 3072]" * 4, ""),)
    found = replace(parted, partings=(replace(PARTING, b=long, distance=far, facts=facts, verdict="word " * 40),))
    assert max(len(line.text) for line in lines_of(found, width)) <= width


def test_a_place_that_leaves_no_room_stands_above_the_line(parted: Difference) -> None:
    deep = replace(B, file=f"/{'deep/' * 12}b.py")
    lines = [line.text for line in lines_of(replace(parted, partings=(replace(PARTING, b=deep),)))]
    place = lines.index(f"   b  /{'deep/' * 12}b.py:36")
    assert lines[place - 2 :][:4] == [
        "   a  a.py:6",
        "      y = layer_norm(h, eps=1e-5)",
        lines[place],
        "      y = layer_norm(h, eps=1e-12)",
    ]


def test_what_only_one_side_has(parted: Difference) -> None:
    found = replace(parted, partings=(replace(PARTING, b=None, inputs_agree=False, distance=None, facts=()),))
    told = repr(found)
    assert "layer_norm at a.py:6, which b has not." in " ".join(told.split())
    assert "   b         | (nothing belongs to it)" in told.splitlines()
    assert "What came in differed already." in told


def test_what_is_longer_on_one_side_is_marked_there(parted: Difference) -> None:
    a, b = replace(A, source="y = f(h, scale=0.5)"), replace(B, file="b.py", source="y = f(h)")
    lines = [line.text for line in lines_of(replace(parted, partings=(replace(PARTING, a=a, b=b),)))]
    at = lines.index("   a  a.py:6  | y = f(h, scale=0.5)")
    assert lines[at + 1] == "                       ^^^^^^^^^^^"
    assert lines[at + 2] == "   b  b.py:36 | y = f(h)"


def test_a_leaf_is_called_by_its_name(parted: Difference) -> None:
    leaf = replace(A, op="uniform_", name="fc.weight", source="fc = nn.Linear(3, 4)")
    found = replace(parted, steps=1, partings=(replace(PARTING, a=leaf, b=leaf),))
    assert repr(found).splitlines()[0] == "They part in the forward pass: fc.weight (uniform_) at a.py:6."


def test_others_that_do_not_follow_from_the_first(parted: Difference) -> None:
    others = [replace(PARTING, a=replace(A, line=line), b=None, verdict="b does not") for line in range(10, 17)]
    told = repr(
        replace(parted, partings=(PARTING, *others), alone_a=parted.alone_a[:0], alone_b=parted.alone_a[:0], remarks=())
    )
    assert told.splitlines()[-7:] == [
        "7 more places where they part, not because of that:",
        *(f"   layer_norm at a.py:{line}, which b has not: b does not" for line in range(10, 15)),
        "   and 2 more",
    ]


def test_the_same(parted: Difference) -> None:
    none = np.zeros(0, np.int64)
    same = replace(parted, verdict="same", partings=(), alone_a=none, alone_b=none, remarks=(), largest=1.25e-7)
    assert repr(same) == "The same: 3 steps, 1,234 nodes, at most 1.2e-07 apart (relative)."
    assert repr(replace(same, largest=0.0, steps=1)) == "The same: 1 step, 1,234 nodes, equal bit for bit."
    assert repr(replace(same, pairs=parted.pairs[:0])) == "There is nothing to compare."


def test_runs_of_unlike_programs(parted: Difference) -> None:
    assert "these are runs of unlike programs" in " ".join(repr(replace(parted, verdict="unlike", partings=())).split())


def test_a_notebook_shows_text_of_programs_as_text(parted: Difference) -> None:
    found = replace(parted, partings=(replace(PARTING, b=replace(B, source="y = <script>")),))
    shown = found._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
