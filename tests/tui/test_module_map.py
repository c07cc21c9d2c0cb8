"""The map of modules: what its boxes say, how one walks it, and how it looks at each size."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.graph import Graph
from graphscope.graph.modules import Call, ModuleMap, module_map, step_rows
from graphscope.tui.glyphs import ASCII, UNICODE, Glyphs
from graphscope.tui.map.boxes import Sketch
from graphscope.tui.map.map import Map
from graphscope.tui.map.module_boxes import Standing, module_sketch
from tests.tui.programs import steady
from tests.tui.screens import Screen, drive
from tests.tui.test_map import followed

NETWORK = """\
import graphscope as torch
import graphscope.nn as nn
import graphscope.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.narrow(F.relu(self.wide(self.norm(x))))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.blocks = nn.Sequential(Block(4), Block(4), Block(4))
        self.head = nn.Linear(4, 3)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)).mean(1))


torch.manual_seed(0)
network = Network()
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
tokens, labels = torch.randint(0, 10, (6, 5)), torch.tensor([0, 1, 2, 0, 1, 2])
for step in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(network(tokens), labels)
    loss.backward()
    optimizer.step()
"""

FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((60, 16), (80, 24), (120, 40), (200, 50))
SCREENS: dict[str, tuple[str, ...]] = {
    "modules": ("m", "m"),
    "modules-backward": ("down", "down", "o"),
    "modules-inside": ("enter",),
    "modules-innermost": ("enter", "down"),
}
"""The keys that lead from each to the next."""
ROOMS = ((36, 7), (48, 15), (73, 27), (110, 40))
"""The windows that the map has at these sizes."""


def recorded(folder: Path) -> Path:
    """A log of the network, with times that are the same whenever it is made."""
    script, path = folder / "network.py", folder / "network.gscope"
    script.write_text(NETWORK, encoding="utf-8")
    with record(path):
        exec(compile(NETWORK, str(script), "exec"), {"__name__": "__main__"})
    return steady(path)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("network"))


def maps(path: Path) -> list[ModuleMap]:
    """The map of the program in its second step, and that of each module."""
    log = load(path)
    rows = step_rows(log, log.end - 1)
    waiting: list[tuple[Call, ...]] = [()]
    found = []
    while waiting:
        around = waiting.pop()
        made = module_map(Graph(log), rows, around)
        found.append(made)
        waiting += [(*around, box.calls[0]) for box in made.boxes if box.calls]
    return found


def text_of(picture: Sketch) -> str:
    return "\n".join("".join(text for text, _ in cells) for cells in picture.cells)


def drawn(shown: ModuleMap, room: tuple[int, int], here: Standing, glyphs: Glyphs = UNICODE) -> Sketch:
    return module_sketch(shown, here, [0] * len(shown.boxes), room, glyphs)


@pytest.mark.parametrize("room", ROOMS)
def test_every_flow_can_be_followed(network: Path, room: tuple[int, int]) -> None:
    for shown in maps(network):
        flows = {(flow.source, flow.target) for flow in shown.flows if not flow.is_carried}
        assert flows <= followed(drawn(shown, room, Standing()))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("room", ROOMS)
def test_boxes_leave_facts_out_but_cut_no_word(network: Path, room: tuple[int, int], glyphs: Glyphs) -> None:
    for shown in maps(network):
        for place, box in enumerate(shown.boxes):
            picture = drawn(shown, room, Standing(place), glyphs)
            lines = text_of(picture).split("\n")
            spot = picture.boxes[place]
            words = "\n".join(line[spot.x : spot.x + spot.width] for line in lines[spot.y : spot.y + spot.height])
            assert glyphs.ellipsis not in words.replace("..", "")
            name = (box.members or (box,))[0].name
            assert name in words or name.split(", ")[-1] in words or name.rpartition(".")[2] in words


def test_boxes_do_not_overlap(network: Path) -> None:
    for shown in maps(network):
        for room in ROOMS:
            cells = [
                (x, y)
                for box in drawn(shown, room, Standing()).boxes.values()
                for x in range(box.x, box.x + box.width)
                for y in range(box.y, box.y + box.height)
            ]
            assert len(cells) == len(set(cells))


# The screen ----------------------------------------------------------------------------------------------------------


def path_of(screen: Screen) -> str:
    return screen.main.query_one(Map).border_title or ""


def marked(screen: Screen) -> str:
    """The name of the box where one stands."""
    view = screen.main.query_one(Map).modules
    assert view.shown is not None
    return view.shown.boxes[view.here.box].name if view.here.box >= 0 else ""


async def press(screen: Screen, keys: Sequence[str]) -> None:
    for key in keys:
        await screen.press(key)
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()


@pytest.mark.slow
def test_m_shows_nodes_then_modules_then_neither(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m"])
        assert "radius" in path_of(screen)
        assert "m modules" in screen.part("#map")
        await press(screen, ["m"])
        assert path_of(screen).startswith("modules")
        assert "blocks" in screen.part("#map")
        await press(screen, ["m"])
        assert not screen.main.query_one(Map).display

    drive(network, use, size=(120, 40))


@pytest.mark.slow
def test_a_program_without_modules_has_the_map_of_nodes_alone(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m"])
        assert "modules" not in screen.part("#map")
        await press(screen, ["m"])
        assert not screen.main.query_one(Map).display

    drive(product, use, size=(120, 40))


@pytest.mark.slow
def test_enter_goes_in_and_backspace_out(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m", "m", "down"])
        while marked(screen) != "blocks":
            await press(screen, ["down"])
        for expected in ("blocks", "blocks ▸ 0"):
            await press(screen, ["enter"])
            assert path_of(screen).endswith(expected)
        await press(screen, ["right"])
        assert path_of(screen).endswith("blocks ▸ 0"), "a box that is alone has none beside it"
        await press(screen, ["backspace", "right"])
        assert path_of(screen).endswith("blocks")
        assert "1 of 0-2" in screen.part("#map")
        await press(screen, ["backspace", "backspace"])
        assert path_of(screen) == "modules"

    drive(network, use, size=(120, 40))


@pytest.mark.slow
def test_the_map_follows_where_one_stands(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m", "m", "down"])
        while marked(screen) != "blocks":
            await press(screen, ["down"])
        await press(screen, ["enter"])
        seen = set()
        for _ in range(40):
            seen.add((path_of(screen), marked(screen)))
            await press(screen, ["n"])
        assert {("modules ▸ blocks", "0-2"), ("modules", "head")} <= seen

    drive(network, use, size=(120, 40))


@pytest.mark.slow
def test_arrows_stay_in_the_pass_and_o_goes_to_the_other_half(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m", "m", "down"])
        while marked(screen) != "blocks":
            await press(screen, ["down"])
        forward = screen.now
        await press(screen, ["o"])
        assert marked(screen) == "blocks"
        assert screen.now > forward
        assert screen.main.query_one(Map).modules.here.is_backward
        await press(screen, ["o"])
        assert screen.now == forward
        await press(screen, ["o", "up"])
        assert marked(screen) == "embed"
        assert screen.main.scene.node is not None
        assert screen.main.scene.node.graph_pass == "backward"

    drive(network, use, size=(120, 40))


@pytest.mark.slow
def test_the_inspector_tells_of_the_module(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m", "m", "down"])
        while marked(screen) != "blocks":
            await press(screen, ["down"])
        await screen.shows("Sequential", "#inspector")
        await screen.shows("252 parameters", "#inspector")
        await press(screen, ["m"])
        await screen.until(lambda: "252 parameters" not in screen.part("#inspector"), "the node again")

    drive(network, use, size=(120, 40))


@pytest.mark.slow
def test_a_header_of_the_tape_has_an_inspector_of_its_own(network: Path) -> None:
    async def use(screen: Screen) -> None:
        for _ in range(20):
            if "84 parameters" in screen.part("#inspector"):
                break
            await press(screen, ["down"])
        await screen.shows("84 parameters in 6 tensors", "#inspector")
        assert "blocks.0" in screen.part("#inspector")
        await press(screen, ["n"])
        await screen.until(lambda: "84 parameters" not in screen.part("#inspector"), "the node")

    drive(network, use, size=(120, 40))


@pytest.mark.slow
def test_a_click_goes_to_the_box_that_it_meets(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await press(screen, ["m", "m"])
        lines = screen.part("#map").split("\n")
        y = next(number for number, line in enumerate(lines) if "head  Linear" in line)
        await screen.pilot.click("#map", offset=(lines[y].index("head  Linear"), y))
        await screen.until(lambda: marked(screen) == "head", "the box under the mouse")

    drive(network, use, size=(120, 40))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_keys_leave_the_map_where_one_stands(network: Path, seed: int) -> None:
    chance = random.Random(seed)
    keys = (
        "m",
        "enter",
        "backspace",
        "up",
        "down",
        "left",
        "right",
        "n",
        "p",
        "o",
        "home",
        "end",
        "z",
        "1",
        "2",
        "tab",
    )

    async def use(screen: Screen) -> None:
        for turn in range(120):
            await screen.press(chance.choice(keys))
            if turn % 30 == 0:
                await screen.pilot.resize_terminal(*chance.choice((*SIZES, (20, 6))))
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        shown = screen.main.query_one(Map)
        if shown.of_modules and shown.display and shown.modules.shown is not None:
            found = shown.modules.shown.at(screen.now)
            assert shown.modules.here.box == (-1 if found is None else found[0])

    drive(network, use, size=(120, 40))


# Pictures ------------------------------------------------------------------------------------------------------------


def shown_at(log: Path, size: tuple[int, int]) -> dict[str, str]:
    found: dict[str, str] = {}

    async def use(screen: Screen) -> None:
        for name, keys in SCREENS.items():
            await press(screen, keys)
            for _ in range(3):
                await screen.app.workers.wait_for_complete()
                await screen.pilot.pause()
            found[name] = "\n".join(line.rstrip() for line in screen.part("#side").split("\n")) + "\n"

    drive(log, use, size=size)
    return found


def file_of(name: str, size: tuple[int, int]) -> Path:
    return FOLDER / f"{name}-{size[0]}x{size[1]}.txt"


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_the_screens_are_as_they_were(network: Path, size: tuple[int, int]) -> None:
    for name, text in shown_at(network, size).items():
        assert text == file_of(name, size).read_text(encoding="utf-8"), name


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        log = recorded(Path(folder))
        for size in SIZES:
            for name, text in shown_at(log, size).items():
                file_of(name, size).write_text(text, encoding="utf-8")
