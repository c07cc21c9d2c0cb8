"""Help: what a region shows, every key and command, narrowed by what one types; and the tour of the first keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphscope.debugger.command_table import every
from graphscope.tui import key_table
from graphscope.tui.dialogs.help import Help, help_text, sections
from graphscope.tui.glyphs import UNICODE
from graphscope.tui.region_table import REGIONS
from graphscope.tui.tour import STOPS, Tour, is_first_time
from tests.tui.screens import Screen, drive

EVERYTHING = [*key_table.OF_COMMANDS, *key_table.OF_SCREEN]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "screen.md"


@pytest.mark.slow
def test_what_is_typed_narrows_the_help(product: Path) -> None:
    async def use(screen: Screen) -> None:
        for key in ("f1", "?"):
            await screen.press(key)
            await screen.shows("The tape")
            await screen.press(*"breakpoint")
            await screen.shows("b         Begin a breakpoint")
            assert "Narrow the map" not in screen.text
            await screen.press(*"zzz")
            await screen.shows("Nothing is said of 'breakpointzzz'")
            await screen.press("escape")
            await screen.shows("The tape")
            await screen.press("escape")
            await screen.until(lambda: screen.app.screen is screen.main, "the screen")

    drive(product, use)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["q", "?", "f1", "escape"])
def test_the_help_is_left_by_any_key_that_people_try(product: Path, key: str) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("?")
        await screen.until(lambda: isinstance(screen.app.screen, Help), "the help")
        await screen.press(key)
        await screen.until(lambda: screen.app.screen is screen.main, "the screen")
        assert screen.app.is_running

    drive(product, use)


@pytest.mark.slow
def test_help_in_a_region_begins_with_that_region(product: Path) -> None:
    async def use(screen: Screen) -> None:
        for widget, title in (("#source", "The source"), ("#tape", "The tape"), ("#array", "The inspector")):
            await screen.press("2")
            screen.main.query_one(widget).focus()
            await screen.pilot.pause()
            await screen.press("?")
            await screen.shows(title)
            first = next(region for region in REGIONS if region.title == title)
            told = screen.text
            assert all(region.title not in told or told.index(region.title) >= told.index(title) for region in REGIONS)
            assert " ".join(first.doc.split()[:5]) in told
            await screen.press("escape")

    drive(product, use)


def test_the_help_and_the_page_of_the_reference_say_the_same_of_each_region() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = help_text(sections(EVERYTHING, UNICODE)).plain
    for region in REGIONS:
        assert f"## {region.title}\n\n{region.doc}\n" in page
        assert f"{region.title}\n  {region.doc}\n" in told
        for binding in region.keys:
            assert f"`{binding.id}`" in page
    for binding in key_table.everywhere():
        assert (binding.tooltip or binding.description).removesuffix(".") in told


def test_every_region_has_its_entry(product: Path) -> None:
    async def use(screen: Screen) -> None:
        for region in REGIONS:
            assert screen.main.query_one(f"#{region.widget}"), region

    drive(product, use)


@pytest.mark.slow
def test_every_key_and_every_command_is_in_the_palette(product: Path) -> None:
    async def use(screen: Screen) -> None:
        offered = list(screen.app.get_system_commands(screen.main))
        titles = {command.title for command in offered}
        keys = [*EVERYTHING, *(each for region in REGIONS if not region.is_typed_in for each in region.keys)]
        for binding in keys:
            shown = binding.key_display or binding.key.split(",")[0]
            assert any(title.endswith(f"{binding.description.capitalize()} ({shown})") for title in titles), binding
        for command in every():
            assert command.usage in titles
        next(each for each in offered if each.title == "Theme graphscope-light").callback()
        assert screen.app.theme == "graphscope-light"
        await screen.press("end")
        last = screen.now
        await next(each for each in offered if each.title == "Tape: Beginning (home)").callback()
        await screen.until(lambda: screen.now < last, "the first line")

    drive(product, use)


@pytest.mark.slow
def test_the_tour_tells_ten_keys_one_after_another_and_each_works(training: Path) -> None:
    async def use(screen: Screen) -> None:
        tour = screen.main.query_one(Tour)
        assert not tour.display
        await screen.type("tour")
        await screen.shows("1 of 10", "#tour")
        assert len(STOPS) == 10
        before = screen.now
        for number, key in enumerate(("n", "p", "enter", ")", "o", "2", "y", "F", "/"), 2):
            await screen.press(key)
            await screen.app.workers.wait_for_complete()
            await screen.shows(f"{number} of 10", "#tour")
            if key == "n":
                await screen.at(before + 1)
        await screen.press("escape", "escape", "?")
        await screen.until(lambda: isinstance(screen.app.screen, Help), "the help")
        await screen.press("escape")
        assert not tour.display

    drive(training, use)


@pytest.mark.slow
def test_the_tour_can_be_skipped_and_is_in_the_way_of_no_key(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("tour")
        await screen.shows("1 of 10", "#tour")
        await screen.press("end")
        assert screen.now > 0
        await screen.press("escape")
        assert not screen.main.query_one(Tour).display
        await screen.press("q")
        assert not screen.app.is_running

    drive(product, use)


def test_the_tour_is_shown_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert is_first_time()
    assert not is_first_time()
    assert [each.name for each in (tmp_path / "config" / "graphscope").iterdir()] == ["tour-seen"]
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))  # nothing can be kept there
    assert not is_first_time()
