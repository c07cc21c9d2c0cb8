"""The paths that the map highlights: which they are, how far they go, how they look, and the key for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import INLINE_INPUTS, NODES, Flag, Kind, Pass
from graphscope.eventlog.writer import Writer
from graphscope.graph.paths import REACH, Descendants, Inputs, between
from graphscope.tui.dialogs.leaf_list import LeafDialog
from graphscope.tui.glyphs import ASCII, UNICODE
from graphscope.tui.map.boxes import sketch
from graphscope.tui.map.layers import neighbourhood
from graphscope.tui.map.map import Map
from graphscope.tui.map.path_targets import Leaf, leaves, to_leaf, to_loss
from tests.tui.screens import Screen, drive
from tests.tui.test_map import followed, joined

UPDATE = Flag.IN_PLACE | Flag.NO_GRAD


def edges(log: Log) -> set[tuple[int, int]]:
    """Every edge of the log that a gradient could flow along."""
    rows = (row for row in range(log.first, log.end) if log.event(row).kind in NODES)
    return {(source, row) for row in rows if log.event(row).flags & UPDATE != UPDATE for source, _ in log.inputs(row)}


def distances(start: int, edges: Collection[tuple[int, int]]) -> dict[int, int]:
    """How many edges each row is from one, breadth first."""
    after: dict[int, list[int]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        row = waiting.popleft()
        for other in after.get(row, ()):
            if other not in found:
                found[other] = found[row] + 1
                waiting.append(other)
    return found


def on_paths(start: int, end: int, edges: Collection[tuple[int, int]]) -> set[int]:
    """The rows on any path."""
    return set(distances(start, edges)) & set(distances(end, {(target, source) for source, target in edges}))


@pytest.fixture(scope="module")
def random_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three thousand ops, with up to six inputs among the fifty rows before."""
    path = tmp_path_factory.mktemp("random") / "random.gscope"
    random = np.random.default_rng(5)
    writer = Writer(path)
    op, value = writer.intern("ops", "cat", {"name": "cat"}), np.ones(2, np.float32)
    writer.append(writer.template(Kind.LEAF, shape=(2,), dtype=value.dtype), value)
    for row in range(1, 3000):
        sources = np.unique(random.integers(max(row - 50, 0), row, random.integers(1, 7))).tolist()
        made = writer.template(Kind.OP, op=op, shape=(2,), dtype=value.dtype, input_count=len(sources))
        if len(sources) <= INLINE_INPUTS:
            writer.append(made, value, 0, 0, 0, *sources)
        else:
            writer.append_wide(made, [(value, made.keep)], [(source, 0) for source in sources])
    writer.close()
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("start", "end"), [(0, 2999), (5, 1030), (1000, 1090), (1020, 2100), (2990, 2999)])
def test_ways_are_all_paths_that_there_are(random_log: Path, start: int, end: int) -> None:
    log = load(random_log)
    known = edges(log)
    wanted, far = on_paths(start, end, known), distances(start, known)
    users = Descendants(Inputs(log), start)
    users.look(end + 1)
    for paths in (users.paths(end), between(Inputs(log), start, end, start)):
        if end not in far:
            assert paths is None
            continue
        assert paths is not None
        assert set(paths.rows) == wanted
        assert paths.length == far[end]


def test_each_forward_node_leads_to_the_loss_of_its_step(training: Path) -> None:
    log = load(training)
    known = edges(log)
    marks = [row for row in range(log.end) if log.event(row).kind == Kind.BACKWARD_BEGIN]
    told = 0
    for node in log.graph.nodes:
        if node.graph_pass == "backward":
            continue
        found, far = to_loss(node), distances(node.row, known)
        root = next((root for begin in marks if begin > node.row for root, _ in log.inputs(begin) if root in far), None)
        if root is None:
            assert found.paths is None or node.row == found.paths.start
            continue
        told += 1
        assert found.paths is not None
        assert (found.goal, found.paths.start, found.paths.end) == ("loss", node.row, root)
        assert found.paths.length == far[root]
        assert set(found.paths.rows) == on_paths(node.row, root, known)
    assert told > 12


def test_each_backward_node_leads_back_to_its_loss(training: Path) -> None:
    log = load(training)
    known = edges(log)
    for node in log.graph.select("backward"):
        begin = max(row for row in range(node.row) if log.event(row).kind == Kind.BACKWARD_BEGIN)
        root = log.inputs(begin)[0][0]
        first = min(each.row for each in log.graph.node(root).backward)
        found = to_loss(node).paths
        assert found is not None
        assert (found.start, found.end) == (root, node.row)
        assert found.length == distances(first, known)[node.row] + 1
        assert set(found.rows) == {root} | on_paths(first, node.row, known)


def test_leaves_are_those_that_a_node_depends_on(training: Path) -> None:
    log = load(training)
    known = edges(log)
    back = {(target, source) for source, target in known}
    without_inputs = set(range(log.end)) - {target for _, target in known}
    for node in log.graph.nodes:
        found, bounded = leaves(node)
        assert not bounded
        if node.graph_pass == "forward":
            far = distances(node.row, back)
            assert {leaf.row for leaf in found} == set(far) & without_inputs - {node.row}
            assert all(leaf.length == far[leaf.row] for leaf in found)
        else:
            far = distances(node.row, known)
            kinds = {row: log.event(row) for row in far}
            sums = {row for row, event in kinds.items() if event.kind == Kind.ACCUMULATE} - {node.row}
            assert {leaf.row for leaf in found} == {
                row for row in sums if log.event(row).shape == (3, 3)
            }  # as W alone is
        for leaf in found:
            paths = to_leaf(node, leaf).paths
            assert paths is not None
            assert {paths.start, paths.end} == {node.row, leaf.row}
            assert paths.length == leaf.length
        assert [leaf.trained for leaf in found] == sorted((leaf.trained for leaf in found), reverse=True)


def test_without_a_backward_pass_the_newest_scalar_counts_and_the_search_says_where_it_ended(
    write_long: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    log = load(write_long(tmp_path / "long.gscope", REACH + 500))
    found = to_loss(log.graph.node(600))
    assert found.bounded is False
    assert found.goal == "scalar"
    assert found.paths is not None
    assert found.paths.end == log.end - 1
    found = to_loss(log.graph.node(10))
    assert found.bounded
    assert found.paths is not None
    assert found.paths.end == 10 + REACH - 1
    assert leaves(log.graph.node(log.end - 1)) == ([], True)


@pytest.mark.parametrize("radius", [1, 3])
def test_what_lies_on_a_path_stands_out(training: Path, radius: int) -> None:
    for node in list(load(training).graph.nodes)[::4]:
        paths = to_loss(node).paths
        layers = neighbourhood(node, radius)
        picture = sketch(layers, node.row, UNICODE, paths)
        assert joined(layers) <= followed(picture)
        rows = set(paths.rows) if paths is not None else set()
        wanted = {(one, other) for one, other in joined(layers) if {one, other} <= rows}
        assert wanted <= followed(picture, ("way",))
        for glyphs in (UNICODE, ASCII):
            picture = sketch(layers, node.row, glyphs, paths)
            for box in picture.boxes.values():
                frame = glyphs.strong_box if box.row in rows else glyphs.box
                assert picture.cells[box.y][box.x][0] == frame[0]
                assert picture.cells[box.y + 1][box.x][0] == frame[5]
            strong = {text for line in picture.cells for text, meaning in line if meaning == "way"} & set("#=V")
            assert glyphs is UNICODE or bool(wanted) <= ({"#", "V"} <= strong)


@pytest.mark.slow
def test_a_key_turns_from_the_loss_to_a_leaf_to_none(training: Path) -> None:
    log = load(training)
    forward = log.graph.select("op:log_softmax forward")[1]
    loss = to_loss(forward).paths
    assert loss is not None
    leaf = next(each for each in leaves(forward)[0] if each.name == "W")

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {forward.row}")
        await screen.at(forward.row)
        await screen.press("m", "minus")
        await screen.shows(f"loss #{loss.end}: 1 node on", "#map")
        assert screen.main.query_one(Map).target == "loss"
        await screen.press("P")
        await screen.until(lambda: isinstance(screen.app.screen, LeafDialog), "the list")
        await screen.shows("parameter")
        await screen.press("x")
        await screen.until(lambda: "parameter" not in screen.text, "a shorter list")
        await screen.press("backspace", "W", "enter")
        await screen.shows(f"W #{leaf.row}: {leaf.length} nodes back", "#map")
        found = screen.main.query_one(Map).target
        assert isinstance(found, Leaf)
        await screen.press("P")
        await screen.until(lambda: "nodes back" not in screen.part("#map"), "no path")
        assert "P path to the loss" in screen.part("#map")
        lines = screen.part("#map").split("\n")
        await screen.pilot.click("#map", offset=(lines[-1].index("P path"), len(lines) - 1))
        await screen.shows(f"loss #{loss.end}: 1 node on", "#map")

    drive(training, use, size=(120, 36))


@pytest.mark.slow
def test_in_backward_the_paths_lead_to_the_loss_and_to_leaves_behind(training: Path) -> None:
    log = load(training)
    node = log.graph.select("op:tanh backward")[0]
    assert node.event.graph_pass == Pass.BACKWARD
    loss = to_loss(node).paths
    (leaf,) = leaves(node)[0]
    assert loss is not None

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {node.row}")
        await screen.at(node.row)
        await screen.press("P")
        await screen.until(lambda: isinstance(screen.app.screen, LeafDialog), "the list")
        await screen.press("escape", "P", "minus")
        await screen.shows(f"loss #{loss.start}: {loss.length} nodes back", "#map")
        await screen.press("P")
        await screen.until(lambda: isinstance(screen.app.screen, LeafDialog), "the list")
        table = screen.app.screen.query_one("DataTable").region
        await screen.pilot.click(offset=(table.x + 2, table.y + 1))
        await screen.shows(f"W #{leaf.row}: {leaf.length} nodes on", "#map")

    drive(training, use, size=(120, 36))
