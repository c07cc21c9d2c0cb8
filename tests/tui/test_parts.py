"""The parts of the screen that need no screen: slices, formulas, curves, keys, help, and what is loaded when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from textual.color import Color

from graphscope.debugger.command_table import COMMANDS
from graphscope.errors import CommandError
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.graph import Graph
from graphscope.graph.filled import replaced as fill
from graphscope.graph.outline import steps
from graphscope.tui import key_table
from graphscope.tui.ascii_text import OnlyAscii, in_ascii
from graphscope.tui.dialogs.help import help_text, sections
from graphscope.tui.glyphs import ASCII, UNICODE
from graphscope.tui.inspector.histogram import histogram, spark
from graphscope.tui.inspector.slices import plane, read_slice
from graphscope.tui.map.boxes import sketch
from graphscope.tui.map.layers import neighbourhood
from graphscope.tui.scene import title
from graphscope.tui.screen_text import escape, fit, fit_name, fit_op, fit_shape
from graphscope.tui.source.counts import Counts
from graphscope.tui.tape.magnitude import bar
from graphscope.tui.text_widgets import hanging
from graphscope.tui.timeline.curves import curves_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", ["[0, :, 3:7]", "1", "...", "[-1]", "::2", "2:, 1", "[1:3, ..., 0]", ""])
def test_slices_are_those_of_numpy(text: str) -> None:
    array = np.arange(4 * 5 * 8).reshape(4, 5, 8)
    inside = text.strip("[]") or "..."

    assert np.array_equal(array[read_slice(text)], eval(f"array[{inside}]"))


@pytest.mark.parametrize("text", ["x", "[0, x]", "1.5", "__import__('os')", "a:b"])
def test_what_is_no_slice_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="is no slice"):
        read_slice(text)


def test_a_plane_of_any_array() -> None:
    array = np.arange(24).reshape(2, 3, 4)

    assert np.array_equal(plane(array, ())[0], array[0])
    assert plane(array, ())[1] == "[0]"
    assert np.array_equal(plane(array, read_slice("1"))[0], array[1])
    assert plane(np.float32(3.0).reshape(()), ())[0].shape == (1, 1)
    assert plane(np.zeros((0, 3, 4)), ())[0].size == 0
    with pytest.raises(CommandError, match="No such slice of 2x3x4"):
        plane(array, read_slice("7"))


def test_formulas_are_filled_by_name_alone() -> None:
    values = {"x": "2", "y": "3", "out": "6", "g": "1"}

    assert fill("out = x · y", values) == "6 = 2 · 3"
    assert fill("g - g * out * out", values) == "1 - 1 * 6 * 6"
    assert fill("exp(x) + x.T", values) == "exp(2) + x.T"
    assert fill("out = max(x, 0)", {"x": ""}) == "out = max(x, 0)"


def test_bars_and_curves() -> None:
    assert [len(bar(size, 4, "╸━").rstrip()) for size in (0.0, 1e-9, 1.0, 1e9)] == [0, 1, 3, 4]
    assert spark([0.0, 1.0, 2.0], 3, "123") == "123"
    assert spark([1.0, float("nan")], 2, "123") == "1!"
    drawn = histogram(np.array([0.0, 0.0, 1.0, np.inf]), 10, 2, UNICODE.bars).plain
    assert "1 not finite" in drawn


def test_text_is_escaped_and_cut_by_cells() -> None:
    assert escape("a\x1b[31mb\u202e") == "a\\x1b[31mb\\u202e"
    assert escape("\tb") == "    b"
    assert fit("漢字漢字", 5) == "漢字…"
    assert fit("ab", 4) == "ab  "


def test_curves_are_the_losses_and_the_norms(training: Path) -> None:
    log = load(training)
    passes = steps(log)
    curves = curves_of(Graph(log), passes, log.first, log.end)

    for place, (begin, end) in enumerate(zip(passes.begins, passes.ends, strict=True)):
        loss = log.value(log.event(begin).inputs[0][0])
        gradients = [log.value(row) for row in range(begin, end) if log.event(row).kind.name == "ACCUMULATE"]
        assert curves.losses[place] == float(loss)
        assert curves.norms[place] == pytest.approx(
            np.sqrt(sum(float((g.astype(float) ** 2).sum()) for g in gradients))
        )


def test_the_norm_is_that_of_whole_gradients(recorded: Callable[[str, str], Path]) -> None:
    """What reaches one leaf by two ways, and what reaches a value on its way, are no gradients of leaves."""
    log = load(
        recorded(
            "twice",
            "import graphscope as torch\nw = torch.ones(4, requires_grad=True)\nh = w * 1.0\n"
            "loss = (h * 3.0 - h * 2.0 + w * 5.0 - w * 5.0).sum()\nloss.backward()\n",
        )
    )

    assert curves_of(Graph(log), steps(log), log.first, log.end).norms == [2.0]


def test_what_a_later_segment_repeats_was_not_made_by_the_line_that_uses_it(tmp_path: Path) -> None:
    """The same run counts the same, however its log is cut into segments."""
    script = tmp_path / "long.py"
    script.write_text(
        "import graphscope as torch\n"
        "x = torch.randn(512, requires_grad=True)\n"
        "y = x * 2.0\n"
        "for _ in range(200):\n"
        "    y = y + x\n"
    )
    found = []
    for budget in (1 << 30, 1 << 17):
        log = tmp_path / f"{budget}.gscope"
        with record(log, budget=budget, cap=1 << 20):
            exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
        counts = Counts(load(log))
        counts.extend()
        assert counts.of(str(script)) == {2: 1, 3: 1, 5: 200}
        found.append(len(list((log / "segments").iterdir())))
    assert found[0] < found[1]


def test_counts_by_line(training: Path) -> None:
    log = load(training)
    counts = Counts(log)
    while counts.extend(7):
        pass
    graph = log.graph
    sites = [log.site(node.event.site) for node in graph.nodes if node.event.site]
    by_line = counts.of(sites[0].file)

    assert by_line == {line: sum(site.line == line for site in sites) for line in {site.line for site in sites}}


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("radius", [1, 2, 4])
def test_the_map_has_a_box_for_each_neighbour_and_none_overlap(training: Path, radius: int, glyphs: object) -> None:
    graph = load(training).graph
    for node in list(graph.nodes)[::3]:
        layers = neighbourhood(node, radius)
        picture = sketch(layers, node.row, glyphs)
        taken: set[tuple[int, int]] = set()
        assert set(picture.boxes) == set(layers.nodes)
        for box in picture.boxes.values():
            cells = {(x, y) for x in range(box.x, box.x + box.width) for y in range(box.y, box.y + box.height)}
            assert not cells & taken
            assert picture.at(box.x, box.y) == box
            taken |= cells
            words = "".join(text for text, _ in picture.cells[box.y + 2][box.x : box.x + box.width])
            assert f"#{box.row}" in words


def test_every_key_means_one_thing_and_is_in_the_help() -> None:
    bindings = [*key_table.OF_COMMANDS, *key_table.OF_SCREEN]
    pressed = [binding.key for binding in bindings]
    told = help_text(sections(bindings, UNICODE)).plain

    assert len(pressed) == len(set(pressed))
    assert {entry.key for entry in COMMANDS.values() if entry.key} <= set(pressed)
    assert all(binding.id for binding in bindings)
    assert all(entry.usage in told for entry in COMMANDS.values())
    assert all((binding.key_display or binding.key) in told for binding in bindings)


def test_what_decides_whether_there_is_a_screen_loads_none() -> None:
    code = "import graphscope.tui.screen_entry, sys; sys.exit(bool({'textual', 'rich'} & sys.modules.keys()))"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=120).returncode == 0


@pytest.mark.slow
def test_a_screen_loads_nothing_that_draws() -> None:
    later = ("PIL", "graphscope.exporters", "graphscope.compare", "graphscope.engine", "graphscope.static")
    code = f"import graphscope.tui.app, sys; sys.exit(bool({set(later)} & sys.modules.keys()))"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=120).returncode == 0


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("short", ["short"]),
        ("a line of words that goes on", ["a line of words", "  that goes on"]),
        ("k  a value that is long and wraps", ["k  a value that is", "   long and wraps"]),
        ("", [""]),
    ],
)
def test_what_does_not_fit_goes_on_further_in(line: str, wanted: list[str]) -> None:
    width = max(map(len, wanted)) + 1
    assert [part.plain.rstrip() for part in hanging(Text(line), Console(), width)] == wanted


@given(st.text(alphabet="ab  \t\nα漢", max_size=60), st.integers(4, 30))
def test_wrapping_loses_no_character(text: str, width: int) -> None:
    for line in Text(text.replace("\t", " ")).split("\n", allow_blank=True):
        parts = hanging(line, Console(), width)
        assert "".join("".join(part.plain.split()) for part in parts) == "".join(line.plain.split())
        assert all(cell_len(part.plain.rstrip()) <= width for part in parts)


def test_signs_are_spelled_and_keep_their_styles() -> None:
    text = Text("out = ")
    text.append("√x · 2", "bold")
    told = in_ascii(text)

    assert told.plain == "out = sqrt x * 2"
    assert {told.plain[span.start : span.end] for span in told.spans} <= {"sqrt ", "x ", "*", " 2"}
    assert all(span.style == "bold" for span in told.spans)


@given(st.text(max_size=30))
def test_only_ascii_is_left_and_as_wide_as_before(text: str) -> None:
    shown = escape(text)
    (found,) = OnlyAscii().apply([Segment(shown)], Color(0, 0, 0))

    assert found.text.isascii()
    assert len(found.text) == cell_len(shown)


def test_of_a_dotted_name_the_end_is_kept() -> None:
    assert fit_name("blocks.0.attention.qkv.weight", 14) == "…on.qkv.weight"
    assert fit_name("a.b", 5) == "a.b  "
    assert fit_name("LogSoftmaxBackward", 10) == "LogSoftma…"


def test_where_an_op_or_a_shape_is_cut_no_word_and_no_length_is() -> None:
    assert fit_op("LogSoftmaxBackward", 18) == "LogSoftmaxBackward"
    assert fit_op("LogSoftmaxBackward", 14) == "LogSoftmax…   "
    assert fit_op("LogSoftmaxBackward", 9) == "LogSoftm…"
    assert fit_shape("8×4×12×12", 9) == "8×4×12×12"
    assert fit_shape("8×4×12×12", 7) == "8×4×…  "
    assert fit_shape("8×4×12×12", 2) == "  "
    assert fit_shape("1024", 3) == "   "


def test_what_adds_to_a_gradient_is_called_by_whose_it_is(recorded: Callable[[str, str], Path]) -> None:
    source = """\
import graphscope as gs
W = gs.ones(3, requires_grad=True)
optimizer = gs.optim.SGD([W], lr=0.1)
for turn in range(2):
    h = W * 2.0
    (h * h).sum().backward()
    optimizer.step()
"""
    graph = Graph(load(recorded("gradients", source)))
    titles = [title(graph.node(row)) for row in range(graph.log.end) if graph.log.event(row).kind.name == "ACCUMULATE"]

    assert set(titles) == {"grad of h", "W.grad +="}, "also when an update has written W"
